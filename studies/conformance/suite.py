# SPDX-License-Identifier: LGPL-2.1-only
"""Code shared by both suites: tests, test lists, and compiled programs.

Each directory contains a `testlist`; each of its lines is a program, a number of ranks and
`key=value` pairs (README and `runtests` of both suites). SimGrid comments out tests that SMPI
cannot pass. weft ignores `xfail` (a program that is expected to fail still passes only if its
output says so), `mem`, and `mpiversion` (no line requires functions that weft lacks). As `runtests`
does for other libraries, weft omits lines with `strict=false`, whose programs test MPICH
extensions.
"""

import fcntl
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from studies.study import ROOT
from weft.runs.simgrid import SimGrid

BUILD = ROOT / "build" / "conformance"

_DEFAULT_RANKS = 2  # $np_default of `runtests`
# Lists request up to 1,200 s; programs that pass here take a few seconds.
_TIME_LIMIT_S = 60.0
# Tests disabled in SimGrid may hang.
_DISABLED_TIME_LIMIT_S = 20.0
_DISABLED = re.compile(r"#\s*([\w-]+(?:\s+\d+)(?:\s+\w+=\S+)*)\s*$")


@dataclass(frozen=True)
class Test:
    """One line of a testlist."""

    __test__ = False  # not a pytest class

    directory: str
    program: str
    ranks: int = _DEFAULT_RANKS
    arguments: tuple[str, ...] = ()
    time_limit_s: float = _TIME_LIMIT_S
    environment: tuple[tuple[str, str], ...] = ()
    must_fail: bool = False
    """True if the test passes by exiting with an error (resultTest=TestStatus, TestErrFatal)."""
    disabled: bool = False
    """True if the line is commented out in SimGrid's list."""

    @property
    def name(self) -> str:
        """Unique name within the directory."""
        return " ".join([self.program, str(self.ranks), *self.arguments])


@dataclass(frozen=True)
class CannotBuild:
    """Program that the compiler rejects."""

    said: str


class Under(StrEnum):
    """Simulator: plain SimGrid, or weft with collectives executed by switches or hosts."""

    STOCK = "stock"
    WEFT = "weft"
    HOSTS = "hosts"
    MPICH = "hosts as MPICH"


class Builder(Protocol):
    """Compiles programs; reuses existing binaries."""

    def build(self, directory: str, program: str) -> Path | CannotBuild:
        """Return the compiled program of a directory."""


@dataclass(frozen=True)
class Suite:
    """Version of MPICH's test programs."""

    name: str
    origin: str
    """Origin of the programs, for the table."""
    summary: Path
    """Table written by the study."""
    ways: Sequence[Under]
    """Simulators that run each program."""
    tests: Callable[[], list[Test]]
    make_builder: Callable[[SimGrid, bool], Builder]
    """Return the builder with SimGrid's compilers, or weft's if the second argument is true."""


def unpack_once(target: Path, unpack: Callable[[Path], None]) -> Path:
    """Return a directory; if it does not exist, fill it under another name first.

    All test processes call this to list the tests: one process unpacks while all others wait.
    """
    BUILD.mkdir(parents=True, exist_ok=True)
    with locked(BUILD / "lock"):
        if not target.is_dir():
            unfinished = BUILD / "unpacking"
            shutil.rmtree(unfinished, ignore_errors=True)
            unpack(unfinished)
            unfinished.rename(target)
    return target


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a file lock, which other processes respect."""
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def read_list(path: Path, directory: str, *, with_disabled: bool = False) -> list[Test]:
    """Return the tests in a directory's list, including lines that name a subdirectory."""
    lines = path.read_text(encoding="utf-8").splitlines()
    tests = (_parse(directory, line) for line in lines)
    return [test for test in tests if test and (with_disabled or not test.disabled)]


def _parse(directory: str, line: str) -> Test | None:
    commented = _DISABLED.match(line)
    words = (commented[1] if commented else line.partition("#")[0]).split()
    if not words or words[0].startswith("!"):
        return None
    pairs = [word.partition("=")[::2] for word in words[2:]]
    values = dict(pairs)
    if values.get("strict", "").lower() == "false":
        return None
    return Test(
        directory=directory,
        program=words[0],
        ranks=int(words[1]) if len(words) > 1 else _DEFAULT_RANKS,
        arguments=tuple(value.strip('"') for key, value in pairs if key == "arg"),
        time_limit_s=_DISABLED_TIME_LIMIT_S if commented else _TIME_LIMIT_S,
        environment=tuple(
            (name, setting)
            for key, value in pairs
            if key == "env"
            for name, _, setting in (value.partition("="),)
        ),
        must_fail=values.get("resultTest") in ("TestStatus", "TestErrFatal"),
        disabled=commented is not None,
    )
