# SPDX-License-Identifier: LGPL-2.1-only
"""Timelines of an iteration: all operations of some ranks for Perfetto, and a picture.

**Perfetto** (Chrome's trace event format). A process for each listed rank, a track for each of its
streams. Computation is a slice; what communicates is one from its begin at the rank to its end,
with the time for which the rank waited for others as an argument.

**Picture.** How a rank of each pipeline stage spends the iteration, moment by moment. The iteration
is cut into columns of equal length. A column shows one of the uses that it contains, by the
definition of the parts of an iteration: a rank computes, or else communicates, or else waits for
others, or else is idle. Time that a column does not show counts in the next ones, so that uses
shorter than a column have as many columns as their share of the time.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from weft import _core
from weft.base.errors import named
from weft.base.models import Model
from weft.base.output import whole_file
from weft.iterations.iteration import MESSAGES, Iteration
from weft.training.build import Summary

_MICROSECONDS = 1e6


def write_timeline(its: Iteration, target: Path, option: str = named("timeline")) -> None:
    """Write the operations of the listed ranks."""
    ranks = sorted({one["rank"] for one in its.listed})
    names = [
        {"ph": "M", "name": "process_name", "pid": rank, "args": {"name": f"rank {rank}"}}
        for rank in ranks
    ]
    with whole_file(option, target) as file:
        file.write('{"displayTimeUnit": "ms", "traceEvents": [\n')
        events = [*names, *map(_event, sorted(its.listed, key=lambda one: one["begin_s"]))]
        file.write(",\n".join(json.dumps(event) for event in events))
        file.write("\n]}\n")


def _event(work: "_core.TimedWork") -> dict[str, object]:
    begin, end = work["begin_s"], work["end_s"]
    return {
        "ph": "X",
        "pid": work["rank"],
        "tid": work["stream"],
        "name": work["name"] or work["kind"],
        "cat": work["kind"],
        "ts": begin * _MICROSECONDS,
        "dur": (end - begin) * _MICROSECONDS,
        "args": {
            "operation": work["operation"],
            "waited_us": (work["active_s"] - begin) * _MICROSECONDS,
        },
    }


# ---- Picture

COLUMNS = 240
_MOST_RANKS = 16
_MOST_OPERATIONS = 50_000
"""Operations that are listed for a picture; each takes half a kilobyte."""
COMPUTATION, WAITING, IDLE = "computation", "waiting", "idle"
_COLLECTIVES = "collectives"
"""Use of collectives whose name does not begin with that of a kind of group."""
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


class RankUses(Model):
    """Uses of a rank's time: a letter for each column."""

    rank: int
    columns: str


class Uses(Model):
    """Picture of an iteration."""

    names: list[str]
    """Meaning of the letters: `a` is the first one."""
    ranks: list[RankUses]


def listed_ranks(summary: Summary) -> tuple[int, ...]:
    """Return the first rank of each stage; of as many stages as the picture can have."""
    stages = len(summary.operations)
    most = max(summary.operations)
    count = min(stages, _MOST_RANKS, _MOST_OPERATIONS // max(most, 1))
    chosen = sorted({stages * k // count for k in range(count)}) if count else []
    return tuple(stage * (summary.ranks // stages) for stage in chosen)


def uses_of(its: Iteration) -> Uses | None:
    """Return the picture of the listed ranks; None if there are none."""
    by_rank: dict[int, list[_core.TimedWork]] = defaultdict(list)
    for work in its.listed:
        by_rank[work["rank"]].append(work)
    if not by_rank or not its.time_s:
        return None
    kinds = [*its.kinds, _COLLECTIVES]
    names = [COMPUTATION, *(f"exposed {kind}" for kind in kinds), WAITING, IDLE]
    rows = {
        rank: _columns(list(_intervals(works, kinds)), len(names), its.time_s)
        for rank, works in sorted(by_rank.items())
    }
    seen = sorted({use for row in rows.values() for use in row})
    letters = {use: _LETTERS[at] for at, use in enumerate(seen)}
    return Uses(
        names=[names[use] for use in seen],
        ranks=[
            RankUses(rank=rank, columns="".join(letters[use] for use in row))
            for rank, row in rows.items()
        ],
    )


_Interval = tuple[float, float, int]
"""Begin, end and use."""


def _intervals(works: "Sequence[_core.TimedWork]", kinds: Sequence[str]) -> Iterator[_Interval]:
    """Yield the activity of a rank at some times; the use with the lowest number counts."""
    waiting = 1 + len(kinds)
    for work in works:
        if work["kind"] == COMPUTATION:
            yield work["begin_s"], work["end_s"], 0
            continue
        yield work["begin_s"], work["active_s"], waiting
        yield work["active_s"], work["end_s"], 1 + kinds.index(_kind_of(work, kinds))


def _kind_of(work: "_core.TimedWork", kinds: Sequence[str]) -> str:
    if work["kind"] in ("send", "receive"):
        return MESSAGES
    named = [kind for kind in kinds if work["name"].startswith(f"{kind} ")]
    return max(named, key=len, default=_COLLECTIVES)


def _columns(intervals: Sequence[_Interval], uses: int, end_s: float) -> list[int]:
    """Return the use that each column shows; the last one is idle."""
    changes = [(begin, use, 1) for begin, end, use in intervals if end > begin]
    changes += [(end, use, -1) for begin, end, use in intervals if end > begin]
    changes.sort()
    filled = [[0.0] * uses for _ in range(COLUMNS)]
    counts = [0] * uses
    before = 0.0
    for at, use, step in [*changes, (end_s, 0, 0)]:
        if at > before:
            now = next((one for one in range(uses) if counts[one]), uses - 1)
            _fill(filled, before, at, now, end_s)
            before = at
        counts[use] += step
    owed = [0.0] * uses
    shown = []
    for column in filled:
        owed = [before + now for before, now in zip(owed, column, strict=True)]
        there = [use for use in range(uses) if column[use] > 0] or [uses - 1]
        shown.append(max(there, key=owed.__getitem__))
        owed[shown[-1]] -= end_s / COLUMNS
    return shown


def _fill(filled: list[list[float]], begin: float, end: float, use: int, end_s: float) -> None:
    """Add a stretch of time to the columns that it crosses."""
    width = end_s / COLUMNS
    first, last = int(begin / width), min(int(end / width), COLUMNS - 1)
    for column in range(first, last + 1):
        part = min(end, (column + 1) * width) - max(begin, column * width)
        filled[column][use] += max(part, 0.0)
