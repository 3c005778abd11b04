# SPDX-License-Identifier: LGPL-2.1-only
"""Sizes of parallel jobs, from archives in the Standard Workload Format (SWF).

Feitelson, Tsafrir, Krakov: "Experience with using the Parallel Workloads Archive", J. Parallel
Distrib. Comput. 74(10), 2014: one job per line with 18 numbers, comments begin with ';'. Field 5 is
the number of allocated processors, field 8 the number requested; -1 means unknown.
"""

import csv
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from weft.base import paths
from weft.base.errors import WeftError
from weft.base.user_files import UnreadableError, read_text

SHIPPED = "job_sizes_swf.csv"
_FIELDS = 18
_MOST = 1 << 53
"""Limit above every count and time in an archive; rejects `inf`, `nan` and typos."""
_ALLOCATED, _REQUESTED = 4, 7

Sizes = dict[str, Counter[int]]
"""Number of jobs by number of processors, for each archive name."""


def read_jobs(path: Path) -> Sizes:
    """Read an archive, optionally gzipped, or a table of job sizes like the shipped one (.csv)."""
    try:
        lines = read_text(path, old=path.suffix != ".csv").splitlines()
    except UnreadableError as error:
        raise WeftError(f"{path}: {error}") from None
    sizes = (
        _read_table(path, lines)
        if path.suffix == ".csv"
        else {path.name: Counter(_swf(path, lines))}
    )
    if not sizes or not all(jobs.total() for jobs in sizes.values()):
        raise WeftError(f"{path}: has no job of a known size")
    return sizes


def read_all(paths: Sequence[Path]) -> Sizes:
    """Read several files; archives with the same name are distinguished by their paths."""
    twice = [path for path, times in Counter(paths).items() if times > 1]
    if twice:
        raise WeftError(f"{twice[0]}: named twice; name each file once")
    read = [(path, read_jobs(path)) for path in paths]
    names = Counter(name for _, sizes in read for name in sizes)
    return {
        name if names[name] == 1 else _with_path(name, path): jobs
        for path, sizes in read
        for name, jobs in sizes.items()
    }


def _with_path(name: str, path: Path) -> str:
    return str(path) if name == path.name else f"{name} ({path})"


def shipped_jobs() -> Sizes:
    """Return the job sizes shipped with weft."""
    return read_jobs(paths.data(SHIPPED))


def _swf(path: Path, lines: list[str]) -> list[int]:
    jobs = (
        _processors(path, number, line)
        for number, line in enumerate(lines, start=1)
        if line.strip() and not line.lstrip().startswith(";")
    )
    return [processors for processors in jobs if processors > 0]


def _processors(path: Path, number: int, line: str) -> int:
    fields = line.split()
    try:
        numbers = [float(field) for field in fields]
    except ValueError:
        numbers = []
    if len(numbers) != _FIELDS or not all(abs(number) <= _MOST for number in numbers):
        raise WeftError(
            f"{path}:{number}: found '{line.strip()[:60]}'; allowed: a job of {_FIELDS} numbers"
            " (SWF), or a comment that begins with ';'"
        )
    allocated = int(numbers[_ALLOCATED])
    return allocated if allocated > 0 else int(numbers[_REQUESTED])


def _read_table(path: Path, lines: list[str]) -> Sizes:
    numbered = [
        (n, line)
        for n, line in enumerate(lines, start=1)
        if line.strip() and not line.startswith("#")
    ]
    sizes: Sizes = {}
    rows = csv.DictReader(line for _, line in numbered)
    for (number, line), row in zip(numbered[1:], rows, strict=False):
        try:
            procs, count = int(row["procs"]), int(row["jobs"])
            if not (0 < procs <= _MOST and 0 <= count <= _MOST and row["trace"]):
                raise ValueError
            sizes.setdefault(row["trace"], Counter())[procs] += count
        except (KeyError, TypeError, ValueError):
            raise WeftError(
                f"{path}:{number}: found '{line[:60]}'; allowed: a table with the columns trace,"
                " procs (at least 1) and jobs, the last two whole numbers"
            ) from None
    return sizes


def distribution(jobs: Counter[int]) -> dict[int, float]:
    """Return the cumulative fraction of jobs by number of processors."""
    total = jobs.total()
    shares: dict[int, float] = {}
    below = 0
    for processors in sorted(jobs):
        below += jobs[processors]
        shares[processors] = below / total
    return shares
