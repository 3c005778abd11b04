# SPDX-License-Identifier: LGPL-2.1-only
"""Children that never outlive weft."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from weft.base import memory
from weft.base.errors import Interrupted, WeftError
from weft.base.machine import Machine
from weft.base.process import ChildExit, run_child, work_directory


def shell(script: str, **options: Any) -> ChildExit:
    return run_child(["/bin/sh", "-c", script], dict(os.environ), **options)


def alive(pid: int) -> bool:
    """Return true if a process runs; one that has ended may remain as a zombie."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def test_the_end_is_told_as_it_was() -> None:
    assert shell("exit 3").returncode == 3
    assert shell("kill -SEGV $$").returncode == -signal.SIGSEGV


def test_lines_come_one_by_one() -> None:
    lines: list[str] = []
    ended = shell("printf 'a\\nb c\\n\\377d'", on_line=lines.append)
    assert lines[:2] == ["a", "b c"]
    assert len(lines) == 3
    assert ended.returncode == 0


def test_times_and_memory_are_the_childs_own() -> None:
    ended = run_child(
        [sys.executable, "-c", "x = bytearray(50_000_000); sum(range(3_000_000))"], os.environ
    )
    assert 0 < ended.cpu_time_s <= ended.wall_time_s * 1.5
    assert 50e6 < ended.peak_memory_bytes < 500e6


def test_what_weft_itself_holds_is_not_a_childs() -> None:
    """Linux initialises a child's peak RSS from its parent's RSS."""
    parent = (
        "import os, sys; from weft.base.process import run_child; large = bytearray(300_000_000);"
        "child = 'import time; x = bytearray(50_000_000); time.sleep(0.2)';"
        "print(run_child([sys.executable, '-c', child], os.environ).peak_memory_bytes)"
    )
    result = subprocess.run([sys.executable, "-c", parent], check=True, capture_output=True)
    assert 50e6 < int(result.stdout) < 150e6


def test_a_child_that_takes_too_long_is_killed() -> None:
    start = time.monotonic()
    ended = shell("sleep 60", timeout_s=0.2)
    assert ended.timed_out
    assert time.monotonic() - start < 10


LEAVER = "for i in 1 2; do setsid sleep 600 & echo $!; done; sh -c 'sleep 600 & echo $!'"


@pytest.mark.parametrize(
    "end", ["true", "kill -9 $$", "sleep 600", "interrupt"], ids=["end", "crash", "timeout", "stop"]
)
def test_what_a_child_has_started_ends_with_it(end: str) -> None:
    """This includes processes in other sessions, and orphans."""
    pids: list[int] = []

    def note(line: str) -> None:
        pids.append(int(line))
        assert alive(pids[-1])
        if len(pids) == 3 and end == "interrupt":
            raise Interrupted(signal.SIGINT)

    # The sleep keeps the pipe of standard output open: weft must kill it instead of waiting.
    script = LEAVER.replace("600", "600 >/dev/null") + "; exec >&-; " + end
    if end == "interrupt":
        with pytest.raises(Interrupted):
            shell(script.replace(end, "sleep 600"), on_line=note)
    else:
        shell(script, on_line=note, timeout_s=1)
    assert len(pids) == 3
    assert not any(map(alive, pids))


EATER = """
import sys, time
held = []
for _ in range(int(sys.argv[1])):
    held.append(bytearray(b"x") * 2**20)
    time.sleep(0.001)
time.sleep(float(sys.argv[2]))
"""


def eat(*programs: tuple[int, float], limit: int) -> ChildExit:
    """Run programs concurrently, each of which allocates a number of MiB for some seconds."""
    words = [f"{sys.executable} -c '{EATER}' {mib} {stay} &" for mib, stay in programs]
    return shell(" ".join(words) + " wait", memory_bytes=limit << 20)


def test_a_child_that_holds_too_much_memory_is_ended() -> None:
    ended = eat((2000, 60), limit=200)
    assert (ended.over_memory, ended.returncode) == (True, -signal.SIGKILL)
    assert 200 << 20 < ended.peak_memory_bytes < 1000 << 20
    assert ended.wall_time_s < 20


def test_children_of_the_child_count_together() -> None:
    assert eat((120, 60), (120, 60), limit=200).over_memory
    assert not eat((120, 0.2), limit=200).over_memory


SHARES = """
import mmap, os, time
pages = os.memfd_create("shared")
os.ftruncate(pages, 64 << 20)
maps = [mmap.mmap(pages, 64 << 20) for _ in range(40)]
for one in maps:
    one[:: 4096] = bytes(len(one[:: 4096]))
print("mapped", flush=True)
time.sleep(60)
"""


def test_looking_at_memory_that_is_mapped_many_times_takes_little() -> None:
    """Each poll walks all mappings: 64 MiB mapped forty times, as SMPI maps shared memory."""
    with subprocess.Popen([sys.executable, "-c", SHARES], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        gauge = memory.Gauge(child.pid)
        assert 64 << 20 < gauge.held(200 << 20) < 200 << 20
        looks, start, cpu = 0, time.monotonic(), time.thread_time()
        while time.monotonic() < start + 2:
            gauge.held(200 << 20)
            looks += 1
            time.sleep(0.01)
        share = (time.thread_time() - cpu) / (time.monotonic() - start)
        child.kill()
    assert looks > 20
    assert share < 0.2


def test_own_memory_over_the_bound_is_found_however_long_looks_take(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(memory, "_proportional", lambda _: pytest.fail("asked"))
    block = b"x" * (64 << 20)
    assert memory.Gauge(os.getpid()).held(32 << 20) > len(block) // 2


@pytest.mark.parametrize("takes_mib", [120, 60])
def test_who_has_taken_nearly_all_memory_is_ended(
    takes_mib: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A child with less than half of the initial memory survives, as others used the rest."""
    left = iter([200 << 20])
    monkeypatch.setattr(Machine, "memory", lambda _: (next(left, 1 << 20), "this machine"))
    ended = shell(f"exec {sys.executable} -c '{EATER}' {takes_mib} 1")
    starves = takes_mib > 100
    assert ended.starved == ("this machine had 1 MiB left" if starves else "")
    assert ended.returncode == (-signal.SIGKILL if starves else 0)


@pytest.mark.parametrize("own_mib", [120, 0])
def test_memory_that_is_mapped_many_times_counts_once(
    own_mib: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The child's RSS is 2.5 GiB, but only 64 MiB and its private memory count."""
    left = iter([300 << 20])
    monkeypatch.setattr(Machine, "memory", lambda _: (next(left, 1 << 20), "this machine"))
    program = f"own = b'x' * ({own_mib} << 20)\n{SHARES.replace('60', '1')}"
    ended = run_child([sys.executable, "-c", program], os.environ)
    assert ended.returncode == (-signal.SIGKILL if own_mib else 0)
    assert bool(ended.starved) == (own_mib > 0)
    assert 150 < ended.starved_bytes >> 20 < 250 if own_mib else ended.starved_bytes == 0


def test_an_exception_on_the_way_ends_the_child_and_its_children() -> None:
    pids: list[int] = []

    def stop(line: str) -> None:
        pids.append(int(line))
        if len(pids) == 2:
            raise Interrupted(signal.SIGINT)

    with pytest.raises(Interrupted):
        shell("sleep 60 & echo $$; echo $!; wait", on_line=stop)
    deadline = time.monotonic() + 5
    while any(map(alive, pids)) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not any(map(alive, pids))


INTERRUPTED_START = """
import os, signal, subprocess, sys
from weft.base.errors import Interrupted
from weft.base.process import raise_on_signals, run_child

class Interrupting(subprocess.Popen):
    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        print(self.pid, flush=True)
        os.kill(os.getpid(), int(sys.argv[1]))

subprocess.Popen = Interrupting
# Under nohup, SIGHUP is ignored, and would stay so.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
raise_on_signals()
try:
    run_child(["sleep", "60"], os.environ)
except Interrupted as error:
    print(error.signum)
"""


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_while_the_child_starts_ends_it(signum: int) -> None:
    command = [sys.executable, "-c", INTERRUPTED_START, str(int(signum))]
    result = subprocess.run(command, text=True, capture_output=True, timeout=30, check=True)
    child, said = map(int, result.stdout.split())
    assert said == signum
    assert not alive(child)


def test_under_nohup_a_hangup_stays_ignored() -> None:
    script = """
import os, signal
from weft.base.process import raise_on_signals
signal.signal(signal.SIGHUP, signal.SIG_IGN)
raise_on_signals()
os.kill(os.getpid(), signal.SIGHUP)
print("goes on")
"""
    command = [sys.executable, "-c", script]
    result = subprocess.run(command, text=True, capture_output=True, timeout=30, check=True)
    assert result.stdout == "goes on\n"


def test_a_command_that_cannot_start_is_named() -> None:
    with pytest.raises(WeftError, match="cannot start /nonexistent/smpimain: No such file"):
        run_child(["/nonexistent/smpimain"], {})


def test_the_work_directory_goes_with_all_that_is_in_it() -> None:
    with work_directory() as work:
        (work / "sub").mkdir()
        (work / "sub" / "file").touch()
    assert not work.exists()


@pytest.mark.parametrize("name", ["with blank", "with,comma", "with:colon"])
def test_the_work_directory_has_a_name_that_simgrid_takes(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    script = "from weft.base.process import work_directory\nwith work_directory() as w: print(w)"
    result = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "TMPDIR": str(tmp_path / name)},
        text=True,
        capture_output=True,
        check=True,
    )
    assert not set(result.stdout.strip()) & set(" ,:")
