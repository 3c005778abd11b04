# SPDX-License-Identifier: LGPL-2.1-only
"""Campaigns: runs defined by a file, execution of missing runs, and invalid files."""

import contextlib
import csv
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest

from tests.support import simulated
from tests.support.campaign_files import LATENCY, Write, head, weft
from weft.base import paths
from weft.base.errors import Interrupted, WeftError
from weft.base.process import raise_on_signals
from weft.campaign import campaign as api
from weft.campaign.execution.local import Memory
from weft.campaign.execution.work import carry_out
from weft.campaign.file import file as files
from weft.campaign.file.axes import Grid
from weft.campaign.store.store import Store

HEAD = head()
RUNS = """
[[runs]]
program = "latency"
fabric = ["tofino-4", "tofino-16"]
ranks = 4
offload = ["stream", "off"]
bytes = ["1KiB", "64KiB"]
switch.slots = [64, 256]
leave_out = [{ offload = "off", "switch.slots" = 64 }]
"""


def results(file: Path) -> set[Path]:
    return set((file.with_suffix(".runs") / "runs").glob("*/*.json"))


def group(number: int) -> list[int]:
    """Return the processes of a process group that are still running."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _, own = stat.read_text().rpartition(")")[2].split()[:3]
            if int(own) == number and state != "Z":
                found.append(int(stat.parent.name))
    return found


# ---- Definition of runs


def test_all_values_meet_but_those_that_are_zipped_or_left_out() -> None:
    grid = Grid(
        {"a": [1, 2], "b": ["x", "y"], "c": [10, 20]},
        zipped=[["a", "c"]],
        left_out=[{"a": [2], "b": ["x"]}],
    )
    assert grid.size == 4
    assert list(grid.points()) == [
        {"a": 1, "b": "x", "c": 10},
        {"a": 1, "b": "y", "c": 10},
        {"a": 2, "b": "y", "c": 20},
    ]


def test_a_file_is_read_as_it_is_written(write: Write) -> None:
    found = files.read(
        write(HEAD + RUNS + 'repetition = [1, 2]\nppn = [1]\nzip = [["ranks", "ppn"]]')
    )
    points = list(found.points())
    assert len(points) == 2 * 3 * 2 * 2
    assert points[0] == {
        "program": "latency",
        "fabric": "tofino-4",
        "ranks": 4,
        "offload": "stream",
        "bytes": "1KiB",
        "switch.slots": 64,
        "repetition": 1,
        "ppn": 1,
    }


# ---- Execution


def test_a_campaign_is_run_once_and_its_table_has_what_single_runs_have(write: Write) -> None:
    file = write(HEAD + RUNS)
    assert "small: 12 runs: 0 done, 12 to do" in weft("plan", str(file)).stdout
    ran = weft("run", str(file))
    assert (ran.status, ran.stdout) == (0, "small: 12 runs: 12 done\n")
    before = {path: path.stat().st_mtime_ns for path in results(file)}
    assert weft("run", str(file)).stdout == ran.stdout
    assert {path: path.stat().st_mtime_ns for path in results(file)} == before

    table = file.with_suffix(".csv")
    weft("export", str(file), "-o", str(table))
    rows = list(csv.DictReader(table.read_text(encoding="utf-8").splitlines()))
    assert len(rows) == 12
    wanted = {"fabric": "tofino-16", "offload": "stream", "bytes": "64KiB", "switch.slots": "64"}
    (row,) = [one for one in rows if wanted.items() <= one.items()]
    single = file.with_suffix(".json")
    program = next((file.with_suffix(".runs") / "programs").glob("*/latency"))
    options = ["--no-privatize", "--set", "switch.slots=64", "--json", str(single)]
    command = [*simulated.WEFT, "run", "--fabric", "tofino-16", "-n", "4", *options]
    assert simulated.run_command([*command, "--", str(program), "65536", "2"]).status == 0
    record = json.loads(single.read_text(encoding="utf-8"))
    assert float(row["simulated_time_s"]) == record["simulated_time_s"]
    assert int(row["offloaded_calls"]) == 3
    assert weft("status", str(file)).status == 0


def test_paths_of_a_campaign_start_from_its_folder_wherever_it_is_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "inner"
    folder.mkdir()
    shutil.copy(LATENCY, folder / "latency.c")
    text = (HEAD + RUNS).replace(str(LATENCY), "latency.c")
    (folder / "small.toml").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    prepared = api.prepare(Path("inner/small.toml"))
    assert all(Path(run.request.workload.program).is_file() for run in prepared.runs)
    assert {path.name for path in folder.iterdir()} == {"latency.c", "small.toml", "small.runs"}


def test_what_is_added_or_changed_is_run_and_nothing_else(write: Write, tmp_path: Path) -> None:
    fabric = tmp_path / "own.toml"
    shutil.copy(Path(paths.installed("fabrics", "tofino-4.toml")), fabric)
    text = HEAD + RUNS.replace('"tofino-16"', '"own.toml"')
    file = write(text)
    weft("run", str(file))
    assert len(results(file)) == 6  # both fabrics are identical
    assert weft("status", str(file)).stdout == "small: 12 runs: 12 done\n"
    weft("run", str(write(text.replace("256]", "256, 128]"))))
    assert len(results(file)) == 10
    fabric.write_text("# a comment decides nothing\n" + fabric.read_text())
    assert "20 runs: 20 done" in weft("status", str(file)).stdout
    fabric.write_text(fabric.read_text().replace('"100Gbps"', '"50Gbps"'))
    changed = weft("plan", str(file)).stdout
    assert "20 runs: 10 done, 10 to do" in changed


def test_results_of_others_are_taken_over(write: Write, tmp_path: Path) -> None:
    file = write(HEAD + RUNS)
    other = tmp_path / "others"
    weft("run", str(file), "--store", str(other))
    weft("plan", str(file))
    shutil.copytree(other / "runs", file.with_suffix(".runs") / "runs", dirs_exist_ok=True)
    assert weft("status", str(file)).stdout == "small: 12 runs: 12 done\n"


def test_failures_are_results_and_impossible_runs_are_named(write: Write) -> None:
    text = HEAD.replace('"2"', '"{iterations}"') + RUNS.replace('"tofino-16"', '"nowhere"')
    file = write(text + "iterations = [2, -1]")
    ran = weft("run", str(file))
    assert ran.status == 1
    said = "small: 12 runs: 6 done, 6 failed, 12 combinations cannot be run\n"
    assert ran.stdout == said
    assert "no shipped fabric has that name" in ran.stderr
    assert "rank 0 ended with exit status 2" in ran.stderr
    before = {path: path.stat().st_mtime_ns for path in results(file)}
    assert weft("run", str(file)).stdout == ran.stdout
    assert {path: path.stat().st_mtime_ns for path in results(file)} == before
    assert weft("run", str(file), "--again").stdout == ran.stdout
    made = [path for path in results(file) if path.stat().st_mtime_ns != before[path]]
    assert len(made) == 6  # the failed runs


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_campaign_that_is_stopped_goes_on(write: Write, how: signal.Signals) -> None:
    file = write(HEAD + RUNS.replace("[64, 256]", str(list(range(8, 108)))))
    command = [*simulated.WEFT, "campaign", "run", str(file), "-j", "2"]
    with subprocess.Popen(
        command, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as child:
        until = time.monotonic() + 60
        while len(results(file)) < 20 and time.monotonic() < until:
            time.sleep(0.02)
        child.send_signal(how)  # only to the command, whose workers end with it
        _, said = child.communicate(timeout=30)
        assert child.returncode == (-how if how == signal.SIGKILL else 128 + how)
        assert b"Traceback" not in said
        until = time.monotonic() + 30
        while group(child.pid) and time.monotonic() < until:
            time.sleep(0.05)
        assert group(child.pid) == []
    before = {path: path.stat().st_mtime_ns for path in results(file)}
    assert 20 <= len(before) < 800
    for path in before:
        json.loads(path.read_text(encoding="utf-8"))
    # The remaining runs are not executed here: only existing results count.
    assert f" {len(before)} done" in weft("status", str(file)).stdout


def test_two_at_a_time_share_the_work(write: Write) -> None:
    file = write(HEAD + RUNS)
    weft("plan", str(file))  # compiles the program once
    command = [*simulated.WEFT, "campaign", "run", str(file), "-j", "1"]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    for child in both:
        out, _ = child.communicate(timeout=120)
        assert child.returncode == 0 or "to do" in out  # the other command executes the last run
    assert "12 runs: 12 done" in weft("status", str(file)).stdout


def test_what_runs_need_is_learned(write: Write, tmp_path: Path) -> None:
    prepared = api.prepare(write(HEAD + RUNS.replace("ranks = 4", "ranks = [4, 16]")))
    tasks = {run.request.placement.ranks: api._task(prepared, run) for run in prepared.runs}
    memory = Memory()
    assert memory.need(tasks[16]) > memory.need(tasks[4]) > 0
    memory.learn(tasks[4], 1000)
    assert (memory.need(tasks[4]), memory.need(tasks[16])) == (1000, 4000)
    memory.learn(tasks[16], 1500)
    assert memory.need(tasks[16]) == 1500


# ---- Wrong input


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("ranks = 4", "ranks = 0", "[[runs]] ranks: found 0; allowed is a whole number from 1"),
        ("ranks = 4", "", "[[runs]] ranks: is missing"),
        ("offload = [", "ofload = [", "ofload: no such key, and no argument has {ofload}; did you"),
        ('"off"]', '"of"]', "offload: found 'of'; allowed are stream"),
        ('bytes = ["1KiB", "64KiB"]', "", "bytes: is missing; the arguments of latency have"),
        ("[64, 256]", "[]", "switch.slots: found an empty list"),
        ("[64, 256]", "[64, 64]", "which has a value twice"),
        ("{ offload", "{ offlad", "leave_out: found 'offlad'; did you mean offload?"),
        ('"off", "switch.slots" = 64', '["off", "stream"]', "has no runs: leave_out removes"),
        ('program = "latency"', 'program = "latencx"', "found 'latencx'; did you mean latency?"),
        ('name = "small"', "", "[campaign] name: is missing"),
        (
            'name = "small"',
            'name = "small"\nmost_runs = 5',
            "makes 16 combinations; allowed are at",
        ),
        ("source =", "sorce =", "[programs.latency] sorce: no such key; did you mean source"),
        ("[[runs]]", "[runs]", "write [[runs]] tables"),
        ("ranks = 4", 'ranks = 4\nzip = [["bytes", "ranks"]]', "bytes has 2, ranks has 1"),
    ],
)
def test_wrong_files_are_refused_in_one_message(
    write: Write, old: str, new: str, said: str
) -> None:
    text = HEAD + RUNS
    assert old in text
    with pytest.raises(WeftError) as caught:
        files.read(write(text.replace(old, new, 1)))
    assert said in str(caught.value)
    assert str(caught.value).startswith(str(write(text)))


def test_a_program_that_does_not_compile_is_the_compilers_words(
    write: Write, tmp_path: Path
) -> None:
    (tmp_path / "bad.c").write_text("int main(void) { return nothing; }\n", encoding="utf-8")
    ran = weft("run", str(write(HEAD.replace(str(LATENCY), "bad.c") + RUNS)))
    assert ran.status == 2
    assert "program latency:" in ran.stderr
    assert "nothing" in ran.stderr


def test_a_store_is_of_one_campaign_and_of_a_version_that_is_known(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    Store(folder, "one")
    with pytest.raises(WeftError, match="belongs to the campaign 'one', and this is 'two'"):
        Store(folder, "two")
    about = folder / "store.json"
    about.write_text(about.read_text().replace('"version": 1', '"version": 9'))
    with pytest.raises(WeftError, match="has version 9, and this weft knows 1"):
        Store(folder, "one")
    (tmp_path / "file").write_text("x")
    with pytest.raises(WeftError, match="is a folder with other files"):
        Store(tmp_path, "one")


def test_an_interrupt_ends_a_campaign_whose_runs_do_not_end(write: Write, tmp_path: Path) -> None:
    """Only the signal wakes the command, and polars has replaced the handler of SIGINT."""
    source = tmp_path / "endless.c"
    file = write(head(source=source) + RUNS)
    source.write_text(
        "#include <mpi.h>\nint main(int argc, char** argv) { int a = 1, b; MPI_Init(&argc, &argv);"
        " for (;;) MPI_Allreduce(&a, &b, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); }\n"
    )
    command = [*simulated.WEFT, "campaign", "run", str(file), "-j", "2"]
    with subprocess.Popen(
        command, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as child:
        until = time.monotonic() + 60
        while len(group(child.pid)) < 3 and time.monotonic() < until:  # the command and two workers
            time.sleep(0.1)
        time.sleep(1)
        child.send_signal(signal.SIGINT)
        _, said = child.communicate(timeout=30)
        assert child.returncode == 128 + signal.SIGINT
        assert said.endswith(b"weft: interrupted\n")


@pytest.mark.parametrize("part", ["runs", "claims", "runs/3f"])
def test_a_store_with_a_link_to_elsewhere_is_refused(tmp_path: Path, part: str) -> None:
    store, other = tmp_path / "store", tmp_path / "other"
    Store(store, "one")
    Store(tmp_path / "through", "one")
    other.mkdir()
    if (store / part).exists():
        (store / part).rmdir()
    (store / part).symlink_to(other)
    with pytest.raises(WeftError, match=f"store: {part} is a symbolic link to {other}, where"):
        Store(store, "one")
    with pytest.raises(WeftError, match="is a symbolic link"):
        Store(store, "one", look=True)
    assert list(other.iterdir()) == []
    (tmp_path / "link").symlink_to(tmp_path / "through")
    Store(tmp_path / "link", "one")  # the store's own name may be a link


def test_a_signal_while_a_result_is_written_leaves_no_unfinished_file(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared = api.prepare(write(HEAD + RUNS), tmp_path / "store")
    task = api._task(prepared, prepared.runs[0])
    make_file = tempfile.mkstemp

    def stop_once_made(*args: Any, **named: Any) -> tuple[int, str]:
        made = make_file(*args, **named)
        os.kill(os.getpid(), signal.SIGTERM)
        return made

    stopping = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {signum: signal.getsignal(signum) for signum in stopping}
    raise_on_signals()
    try:
        monkeypatch.setattr(tempfile, "mkstemp", stop_once_made)
        with pytest.raises(Interrupted):
            carry_out(task)
    finally:
        for signum, handler in before.items():
            signal.signal(signum, handler)
    names = {path.name for path in (tmp_path / "store" / "runs").glob("*/*")}
    assert names == {f"{task.digest}.json"}
