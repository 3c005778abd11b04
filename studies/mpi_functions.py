# SPDX-License-Identifier: LGPL-2.1-only
"""docs/compiling.md: MPI functions that programs can call, by chapter of the standard.

src/compilers/mpi-calls lists the standard's functions, and the study marks the missing ones in it.
A function is available if weft's library exports it, or if SimGrid's library exports it and
src/mpi/procedures does not mark it as missing: some functions that SimGrid exports only end the
run. A function is tested if a program of tests/ calls it.
"""

import re
import subprocess
from functools import cache
from pathlib import Path

from studies.study import DOCS, ROOT, Study, markdown
from weft.base import paths
from weft.base.output import whole_file

_CALLS = ROOT / "src" / "compilers" / "mpi-calls"
_PROCEDURES = ROOT / "src" / "mpi" / "procedures"
_SOURCES = ("*.c", "*.cpp", "*.h", "*.f", "*.f90", "*.F90")


def chapters() -> dict[str, list[str]]:
    """Return the standard's functions, without MPI_, by chapter."""
    found: dict[str, list[str]] = {}
    names: list[str] = []
    for line in _CALLS.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        head, colon, rest = line.rpartition(":")
        if colon:
            names = found.setdefault(head, [])
        names += [name.removeprefix("-") for name in rest.split()]
    return found


def marked() -> str:
    """Return src/compilers/mpi-calls with a - before each function that is not available."""
    parts = []
    for line in _CALLS.read_text(encoding="utf-8").splitlines(keepends=True):
        head, colon, rest = ("", "", line) if line.startswith("#") else line.rpartition(":")
        if not line.startswith("#"):
            rest = re.sub(r"-?(\w+)", lambda name: _mark(name[1]) + name[1], rest)
        parts.append(head + colon + rest)
    return "".join(parts)


def _mark(name: str) -> str:
    return "" if name in there() else "-"


def mark_calls() -> None:
    """Mark the unavailable functions in src/compilers/mpi-calls."""
    text = marked()
    with whole_file("mpi-calls", _CALLS) as file:
        file.write(text)


def _exported(library: Path) -> set[str]:
    command = ["nm", "-D", "--defined-only", str(library)]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return set(re.findall(r" [TW] P?MPI_(\w+)$", printed, re.MULTILINE))


@cache
def there() -> set[str]:
    """Return the functions that programs can call."""
    rows = _PROCEDURES.read_text(encoding="utf-8")
    missing = set(re.findall(r"^- (\w+)", rows, re.MULTILINE))
    theirs = _exported(paths.simgrid_prefix() / "lib" / "libsimgrid.so")
    return (theirs - missing) | _exported(paths.platform_library())


@cache
def called_by_tests() -> set[str]:
    """Return the functions called by programs of tests/, in lower case."""
    sources: list[Path] = []
    for pattern in _SOURCES:
        sources += (ROOT / "tests").rglob(pattern)
    called: set[str] = set()
    for source in sources:
        text = source.read_text(encoding="utf-8", errors="replace").lower()
        called.update(re.findall(r"\bmpi_(\w+)", text))
    return called


def _row(chapter: str, names: list[str]) -> tuple[str, ...]:
    present = [name for name in names if name in there()]
    tested = sum(name.lower() in called_by_tests() for name in present)
    missing = ", ".join(f"`{name}`" for name in names if name not in there()) if present else "all"
    return (chapter, str(len(names)), str(len(present)), str(tested), missing)


def texts() -> dict[str, str]:
    """Return the table of the page."""
    rows = [_row(chapter, names) for chapter, names in sorted(chapters().items())]
    total = ("all", *(str(sum(int(row[column]) for row in rows)) for column in (1, 2, 3)), "")
    head = ("chapter of MPI 5.0", "functions", "there", "tested", "missing, without `MPI_`")
    lines = markdown(head, [*rows, total]).splitlines()
    lines[1] = "|---|---:|---:|---:|---|"
    return {"table: functions of MPI": "\n".join(lines) + "\n"}


STUDY = Study(
    "mpi-functions",
    "which of MPI's functions programs can call",
    measure=mark_calls,
    page=DOCS / "compiling.md",
    texts=texts,
)
