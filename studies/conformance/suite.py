# SPDX-License-Identifier: LGPL-2.1-only
"""Test programs of SimGrid's source distribution, and the expectations in its lists.

Each directory has a `testlist`; a line of it is a program, a number of ranks and `key=value` pairs
(README and `runtests` of the suite, teshsuite/smpi/mpich3-test). SimGrid comments out tests that
SMPI cannot pass. As in `runtests`, two keys are ignored: `xfail` (a program that is expected to
fail still passes only if its output says so), and `mpiversion` (SMPI claims 3.1, and no line
requires more).
"""

import fcntl
import re
import shutil
import struct
import subprocess
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "conformance"
SUITE = "teshsuite/smpi/mpich3-test"

# Defaults of `runtests`: $np_default, $defaultTimeLimit.
_DEFAULT_RANKS = 2
_DEFAULT_TIME_LIMIT_S = 180.0
# Tests disabled in SimGrid may hang; those that pass take about a second.
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
    time_limit_s: float = _DEFAULT_TIME_LIMIT_S
    must_fail: bool = False
    """True if the test passes by ending with an error (resultTest=TestStatus, TestErrFatal)."""
    disabled: bool = False
    """True if the line is commented out in SimGrid's list."""

    @property
    def name(self) -> str:
        """Unique name within the directory."""
        return " ".join([self.program, str(self.ranks), *self.arguments])


def source_tree() -> Path:
    """Return the suite's directory, unpacked from the tarball that the set-up keeps.

    All test processes call this to list the tests: one unpacks, the others wait.
    """
    target = BUILD / "source"
    BUILD.mkdir(parents=True, exist_ok=True)
    with (BUILD / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not target.is_dir():
            unfinished = BUILD / "unpacking"
            shutil.rmtree(unfinished, ignore_errors=True)
            with tarfile.open(_tarball()) as archive:
                archive.extractall(unfinished, members=_members(archive), filter="data")
            _configure(unfinished)
            unfinished.rename(target)
    return target


def _tarball() -> Path:
    command = [str(ROOT / "setup" / "simgrid"), "source"]
    answer = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return Path(answer.stdout.splitlines()[-1])


def _members(archive: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    """Yield the suite's files, with leading directories stripped."""
    for member in archive:
        _, found, path = member.name.partition(f"/{SUITE}/")
        if found:
            yield member.replace(name=path)


def _configure(root: Path) -> None:
    """Generate the one file that CMake configures: it defines the size of an address in Fortran."""
    template = root / "f77" / "datatype" / "typeaints.h.in"
    text = template.read_text(encoding="utf-8")
    made = text.replace("@CMAKE_SIZEOF_VOID_P@", str(struct.calcsize("P")))
    template.with_suffix("").write_text(made, encoding="utf-8")


def read_tests(root: Path) -> list[Test]:
    """Return the tests of all directories, in the order of the lists."""
    lists = sorted(root.rglob("testlist"))
    return [test for path in lists for test in read_list(root, path.parent)]


def read_list(root: Path, directory: Path) -> list[Test]:
    """Return the tests of one directory, without the lines that name subdirectories."""
    name = str(directory.relative_to(root))
    lines = (directory / "testlist").read_text(encoding="utf-8").splitlines()
    tests = [test for line in lines if (test := _parse(name, line))]
    return [test for test in tests if not (directory / test.program).is_dir()]


def _parse(directory: str, line: str) -> Test | None:
    commented = _DISABLED.match(line)
    words = (commented[1] if commented else line.partition("#")[0]).split()
    if not words or words[0].startswith("!"):
        return None
    pairs = [word.partition("=")[::2] for word in words[2:]]
    values = dict(pairs)
    return Test(
        directory=directory,
        program=words[0],
        ranks=int(words[1]) if len(words) > 1 else _DEFAULT_RANKS,
        arguments=tuple(value.strip('"') for key, value in pairs if key == "arg"),
        time_limit_s=_DISABLED_TIME_LIMIT_S
        if commented
        else float(values.get("timeLimit", _DEFAULT_TIME_LIMIT_S)),
        must_fail=values.get("resultTest") in ("TestStatus", "TestErrFatal"),
        disabled=commented is not None,
    )
