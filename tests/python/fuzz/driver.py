# SPDX-License-Identifier: LGPL-2.1-only
"""Drives the targets in a child process; its parent detects crashes, hangs and memory use.

The child tries one input after another. The number of the current input is in memory shared with
the parent, and the input files are on a memory file system, so that most of the time is spent on
reading them.
"""

import mmap
import os
import random
import re
import resource
import shutil
import signal
import struct
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import click

from tests.python.fuzz import options
from tests.python.fuzz.files import Target, targets
from tests.python.fuzz.mutate import mutated
from weft import _core
from weft.base.errors import WeftError

HANG_S = 20
MEMORY_BYTES = 6 << 30
_HEAD = struct.Struct("<qq")
"""Number and size of an input."""
_MOST_INPUT = 1 << 20
_REFUSALS = (WeftError, _core.UserError, click.ClickException)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_PYTHON = re.compile(
    r"Traceback|object at 0x|NoneType|invalid literal|could not convert|unexpected keyword"
    r"|index out of range|codec can't|not subscriptable|unhashable|has no attribute|<class '"
    r"|std::|basic_string|vector::|bad_alloc"
)


@dataclass
class Finding:
    """Input with the problem that it caused."""

    target: str
    content: bytes
    problem: str


class _Slate:
    """Current input of a child, in memory shared with its parent."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, _HEAD.size + _MOST_INPUT)

    def begin(self, number: int) -> None:
        self._memory[: _HEAD.size] = _HEAD.pack(number, 0)

    def hold(self, content: bytes) -> None:
        number, _ = _HEAD.unpack_from(self._memory)
        content = content[:_MOST_INPUT]
        self._memory[_HEAD.size : _HEAD.size + len(content)] = content
        self._memory[: _HEAD.size] = _HEAD.pack(number, len(content))

    @property
    def number(self) -> int:
        return int(_HEAD.unpack_from(self._memory)[0])

    @property
    def content(self) -> bytes:
        _, length = _HEAD.unpack_from(self._memory)
        return bytes(self._memory[_HEAD.size : _HEAD.size + length])


class _Oddity(Exception):  # noqa: N818 (what it is, not what went wrong)
    """Behaviour that no user should see."""


def judge(read: Callable[[], str]) -> None:
    """Read an input that must be accepted or refused with one error message; raise otherwise."""
    try:
        said = read()
    except _REFUSALS as error:
        message = error.format_message() if isinstance(error, click.ClickException) else str(error)
        if not message.strip() and not isinstance(error, WeftError):
            raise _Oddity("an empty message") from None
        if found := _PYTHON.search(re.sub(r"'[^']*'|\"[^\"]*\"", "", message)):
            raise _Oddity(f"{found[0]} in the message: {message[:300]}") from None
        if len(message) > 100_000:
            raise _Oddity("a message of more than 100 kB") from None
        return
    except OSError as error:
        if error.strerror is None:
            raise
        return
    if found := _CONTROL.search(said):
        raise _Oddity(f"{found[0]!r} in the output")


def fuzz(name: str, count: int, seed: int, seconds: float = 1e9) -> tuple[int, list[Finding]]:
    """Try `count` inputs on a target within a time limit; return number tried and findings."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    place = Path(tempfile.mkdtemp(prefix="weft-fuzz-", dir=memory))
    slate = _Slate()
    findings: list[Finding] = []
    all_ = {one.name: one for one in targets(place)}  # once: children inherit it
    done, end = 0, time.monotonic() + seconds
    try:
        while done < count and time.monotonic() < end and len(findings) < 20:
            work = place / "work"
            shutil.rmtree(work, ignore_errors=True)
            work.mkdir()
            slate.begin(done)
            child = os.fork()
            if child == 0:
                _child(all_, name, work, slate, (done, count), seed, end)
            status = _watch(child, work, slate)
            if status != 0:
                findings.append(Finding(name, slate.content, _problem(work, status)))
            done = slate.number + 1
    finally:
        shutil.rmtree(place, ignore_errors=True)
    return done, findings


def _problem(work: Path, status: int) -> str:
    if (work / "problem").exists():
        return (work / "problem").read_text()
    return f"ended by {signal.Signals(-status).name}" if status < 0 else f"ended with {status}"


def _watch(child: int, work: Path, slate: _Slate) -> int:
    """Wait for the child; kill it if it hangs on an input."""
    at, since = -1, 0.0
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        now = slate.number
        if now != at:
            at, since = now, _cpu_seconds(child)
        elif _cpu_seconds(child) - since > HANG_S:
            (work / "problem").write_text(f"more than {HANG_S} s of CPU time")
            os.kill(child, signal.SIGKILL)
        time.sleep(0.05)


def _cpu_seconds(child: int) -> float:
    """Return the CPU time of a child, which does not depend on other load."""
    words = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def _child(
    all_: dict[str, Target],
    name: str,
    work: Path,
    slate: _Slate,
    numbers: tuple[int, int],
    seed: int,
    end: float,
) -> None:
    """Try one input after another; exit at the first problem."""
    status = 0
    try:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        os.dup2(os.open(os.devnull, os.O_RDWR), 2)
        lines = name == "options"
        try_one = _lines(all_, work, slate) if lines else _reader(all_[name], work, slate)
        for number in range(*numbers):
            slate.begin(number)
            if time.monotonic() > end:
                break
            try_one(random.Random(f"{seed} {name} {number}"))
    except BaseException:
        (work / "problem").write_text(traceback.format_exc()[-3000:])
        status = 1
    os._exit(status)


def _reader(target: Target, work: Path, slate: _Slate) -> Callable[[random.Random], None]:
    place = work / "in"
    place.mkdir()
    path = place / target.file

    def try_one(dice: random.Random) -> None:
        content = mutated(dice.choice(target.seeds), target.seeds, dice)
        slate.hold(content)
        path.write_bytes(content)
        judge(lambda: target.read(path))

    return try_one


def _lines(files: dict[str, Target], work: Path, slate: _Slate) -> Callable[[random.Random], None]:
    here = work / "here"
    here.mkdir()
    texts = {
        "f.toml": files["fabric"].seeds[0], "t.csv": files["pingpong"].seeds[3],
        "p.json": files["plan"].seeds[0], "r.json": files["record"].seeds[0],
        "trace/manifest.json": files["manifest"].seeds[0],
        "trace/actions.txt": files["actions"].seeds[0],
    }  # fmt: skip
    options.prepare(here, texts)
    before = {path.name for path in here.iterdir()}
    commands = sorted(options.commands())
    stubs = options.stubbed()
    stubs.__enter__()  # stays active for `try_one`, because the child never returns

    def try_one(dice: random.Random, _stubs: object = stubs) -> None:
        given = options.line(dice.choice(commands), dice)
        slate.hold("\n".join(given).encode(errors="surrogateescape"))
        try:
            judge(lambda: options.run(given))
        finally:
            left = {path.name for path in here.iterdir()} - before
            for one in left:
                _remove(here / one)
        if odd := [one for one in left if one.startswith((".", "weft-"))]:
            raise _Oddity(f"left behind: {odd}")
        for one, text in texts.items():
            if (here / one).read_text() != text:
                (here / one).write_text(text)
                if not _only_written(given, one):
                    raise _Oddity(f"{one} was overwritten")

    return try_one


def _only_written(given: list[str], name: str) -> bool:
    """Return true if a command line names a file only as an option's value, as for outputs."""
    return given.count(name) == 1 and given[given.index(name) - 1].startswith("-")


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


NAMES = (
    *("options", "fabric", "engine", "inventory", "plan", "record", "manifest", "actions", "calls"),
    *("selection", "rules", "campaign", "runs", "cluster", "pingpong", "allreduce", "probe"),
    *("swf", "jobs", "platform", "checks", "words"),
)
