# SPDX-License-Identifier: LGPL-2.1-only
"""Errors of time resolutions: random crowds at each resolution, compared with exact updates."""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np

from studies.crowds.simulated import Crowd, compiled, run
from studies.study import DOCS, read_table, write_table

TABLE = DOCS / "crowd-errors.csv"
RESOLUTIONS = ("automatic", "30ns", "100ns", "300ns", "1us", "3us")
KINDS = {
    "long": "ends of messages of 1 kB and more",
    "short": "ends of messages of 8 B",
    "last": "end of the last message",
    "alltoallv": "time of a linear Alltoallv",
    "program": "time of a program",
    "gain": "gain by offloading in it",
}
CASES = {"ends": 100, "alltoallv": 40, "program": 60}
_SHORT = 512
_ALLOWED = "network.coarse_resolution=allowed"


@dataclass(frozen=True)
class Error:
    """Relative errors of one case."""

    case: int
    what: str
    """Key of `KINDS`."""
    resolution: str
    number: int
    mean: float
    worst: float


def measure() -> None:
    """Run all cases at all resolutions."""
    draws = random.Random(1)
    kinds = [kind for kind, number in CASES.items() for _ in range(number)]
    rows: list[Error] = []
    with compiled() as program:
        for number, kind in enumerate(kinds):
            times = partial(_TIMES[kind], program, _drawn(kind, draws))
            exact = dict(times("0"))
            for resolution in RESOLUTIONS:
                for what, found in times(resolution):
                    rows.append(_error(number, what, resolution, found, exact[what]))
    write_table(TABLE, [asdict(row) for row in rows])


def _drawn(kind: str, draws: random.Random) -> Crowd:
    fabric = draws.choice(("fat tree", "fat tree, 4:1", "dragonfly", "torus"))
    ranks = draws.choice((64, 96, 128, 200, 256))
    size = draws.choice((0, 8, 1000, 10_000, 100_000))
    seed = str(draws.randrange(1 << 15))
    if kind == "ends":
        pattern = draws.choice(("shifts", "random", "any", "skewed"))
        return Crowd(fabric, ranks, ("ends", pattern, str(2048 // ranks), str(size), seed))
    if kind == "alltoallv":
        part = draws.choice(("1", "9"))
        return Crowd(fabric, draws.choice((64, 96)), ("alltoallv", str(size or 2000), part, seed))
    return Crowd(fabric, draws.choice((64, 96)), ("program", str(size), seed))


def _ends(program: Path, crowd: Crowd, resolution: str) -> Iterator[tuple[str, Sequence[float]]]:
    result = run(program, crowd, *_changes(resolution))
    ends = result.ends
    size = int(crowd.words[3])
    if size > 0:  # with random sizes, long and short messages would be mixed
        kind = "short" if size < _SHORT else "long"
        yield kind, [ends[receive] for receive in sorted(ends)]
    yield "last", [max(ends.values())]


def _alltoallv(
    program: Path, crowd: Crowd, resolution: str
) -> Iterator[tuple[str, Sequence[float]]]:
    changes = _changes(resolution)
    result = run(program, crowd, *changes, fallback="alltoallv=basic_linear")
    yield "alltoallv", [result.end]


def _program(program: Path, crowd: Crowd, resolution: str) -> Iterator[tuple[str, Sequence[float]]]:
    changes = _changes(resolution)
    hosts = run(program, crowd, *changes).end
    yield "program", [hosts]
    yield "gain", [hosts / run(program, crowd, *changes, offload="auto").end]


def _changes(resolution: str) -> tuple[str, ...]:
    return (f"network.resolution={resolution}", _ALLOWED)


_TIMES: Mapping[str, Callable[[Path, Crowd, str], Iterator[tuple[str, Sequence[float]]]]] = {
    "ends": _ends,
    "alltoallv": _alltoallv,
    "program": _program,
}


def _error(
    case: int, what: str, resolution: str, found: Sequence[float], exact: Sequence[float]
) -> Error:
    errors = np.abs(np.array(found) / np.array(exact) - 1)
    return Error(case, what, resolution, len(errors), float(errors.mean()), float(errors.max()))


def read() -> list[Error]:
    """Read the table."""
    return [
        Error(
            int(row["case"]),
            row["what"],
            row["resolution"],
            int(row["number"]),
            float(row["mean"]),
            float(row["worst"]),
        )
        for row in read_table(TABLE)
    ]
