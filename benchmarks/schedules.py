# SPDX-License-Identifier: LGPL-2.1-only
"""CPU time of simulating host collectives: weft's schedules, and SMPI's for one collective.

The cases are small messages between hosts with many ranks or with one rank each, a ring, an
Alltoall, a non-blocking call, and nearly all collectives on hosts with 256 ranks each.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from allreduce import LARGE, Key, Standard, checked
from measure import Case, Cost, ratio

from weft.base import paths
from weft.runs import launch
from weft.runs.record import Record
from weft.runs.request import Request
from weft.runs.toolchain import compile_c


@dataclass(frozen=True)
class Scheduled:
    """Row of the table: call, placement, algorithm, and the call counts of the two runs."""

    collective: str
    bytes: int
    size: str
    fabric: str
    ranks: int
    ppn: int
    fallback: str
    calls: tuple[int, int]
    messages: int = 0
    """Messages sent per rank and call, for standards per message."""

    @property
    def key(self) -> Key:
        """Name of the row in the table."""
        return Key(
            self.fallback, self.ranks, self.ppn, f"{self.collective}, {self.size}, {self.fabric}"
        )


_DOUBLING = "recursive_doubling"
CROWDED = Scheduled(
    "allreduce", 1024, "1 KiB", "tofino-64x64", 4096, 64, f"allreduce={_DOUBLING}", (1, 41)
)
CROWDED_SMPI = replace(CROWDED, fallback="allreduce=smpi:rdb", calls=(1, 2))
ALONE = replace(CROWDED, fabric="fat-tree-65536", ppn=1, calls=(1, 9))
RING = Scheduled(
    *("allreduce", 1 << 20, "1 MiB", "fat-tree-1024", 1024, 1, "allreduce=ring", (1, 2)),
    messages=2 * 1023,
)
ALLTOALL = Scheduled(
    *("alltoall", 1024, "1 KiB", "fat-tree-1024", 1024, 1, "alltoall=pairwise", (1, 2)),
    messages=1023,
)
NONBLOCKING = Scheduled(
    "iallreduce", 1024, "1 KiB", "fat-tree-1024", 1024, 1, "openmpi-5.0", (1, 21)
)
_MANY_CORES = "tofino-64x256"
VERY_CROWDED = tuple(
    Scheduled(name, size, text, _MANY_CORES, 16384, 256, "openmpi-4.1", (1, 3))
    for name, size, text in (
        ("barrier", 0, "0 B"),
        ("bcast", 8, "8 B"),
        ("bcast", 65536, "64 KiB"),
        ("reduce", 8, "8 B"),
        ("allreduce", 8, "8 B"),
        ("allreduce", 1024, "1 KiB"),
        ("allreduce", 65536, "64 KiB"),
        ("gather", 8, "8 B"),
        ("scatter", 8, "8 B"),
        ("scan", 8, "8 B"),
        ("exscan", 8, "8 B"),
        ("reduce_scatter_block", 8, "8 B"),
        ("allgather", 8, "8 B"),
        ("alltoall", 4, "4 B"),
    )
)
# Cases that are compared with each other are adjacent.
_ALL = (CROWDED, CROWDED_SMPI, ALONE, RING, ALLTOALL, NONBLOCKING)


def cases(work: Path) -> dict[Key, Case]:
    """Compile the benchmark and return the cases to run."""
    program = work / "schedules"
    compile_c(Path(__file__).with_name("schedules.c"), program)
    return {one.key: _case(one, program, one.fabric) for one in _ALL}


def very_crowded(work: Path) -> dict[Key, Case]:
    """Return the cases with 256 ranks per host, which are too expensive for several rounds."""
    program = work / "very_crowded"
    compile_c(Path(__file__).with_name("schedules.c"), program)
    fabric = work / f"{_MANY_CORES}.toml"
    shipped = paths.installed("fabrics", f"{CROWDED.fabric}.toml").read_text(encoding="utf-8")
    fabric.write_text(
        shipped.replace("cores = 64", "cores = 256").replace(CROWDED.fabric, _MANY_CORES),
        encoding="utf-8",
    )
    return {one.key: _case(one, program, str(fabric)) for one in VERY_CROWDED}


def _case(one: Scheduled, program: Path, fabric: str) -> Case:
    request = Request.of(
        fabric=fabric,
        ranks=one.ranks,
        ppn=one.ppn,
        program=str(program),
        privatize=False,
        offload="off",
        fallback=one.fallback,
    )
    plan = launch.prepare(request)

    def run(calls: int) -> Record:
        arguments = (one.collective, str(one.bytes), str(calls))
        changed = replace(plan, request=request.changed(arguments=arguments))
        return checked(launch.run(changed, _ignore))

    return Case(run, one.ranks, *one.calls)


def _ignore(_line: str) -> None:
    pass


def standards(costs: Mapping[Key, Cost]) -> list[Standard]:
    """Compare the figures with the standards."""
    crowded, smpi = costs[CROWDED.key], costs[CROWDED_SMPI.key]
    alone = costs[ALONE.key].median_us
    memory = costs[CROWDED.key].peak_memory_bytes / costs[LARGE].peak_memory_bytes
    slowest = max(VERY_CROWDED, key=lambda one: costs[one.key].median_us)
    return [
        Standard("recursive doubling, 64 x 64", crowded.median_us, 10, at_most=True, unit=" us"),
        Standard("smpi:rdb / recursive doubling, 64 x 64", ratio(smpi, crowded), 40, at_most=False),
        Standard("recursive doubling, 4,096 x 1", alone, 40, at_most=True, unit=" us"),
        _per_message("ring, 1,024 ranks, a message", RING, costs, 1),
        _per_message("Alltoall, 1,024 ranks, a message", ALLTOALL, costs, 1.5),
        Standard(
            "Iallreduce, 1,024 ranks, in all", _s(NONBLOCKING, costs), 1, at_most=True, unit=" s"
        ),
        Standard(
            f"{slowest.collective}, 64 x 256, in all: the slowest of {len(VERY_CROWDED)}",
            *(_s(slowest, costs), 10),
            at_most=True,
            unit=" s",
        ),
        Standard("memory of 64 x 64, recursive doubling / stream", memory, 1.2, at_most=True),
    ]


def _s(one: Scheduled, costs: Mapping[Key, Cost]) -> float:
    return costs[one.key].median_us * one.ranks / 1e6


def _per_message(what: str, one: Scheduled, costs: Mapping[Key, Cost], limit_us: float) -> Standard:
    figure = costs[one.key].median_us / one.messages
    return Standard(what, figure, limit_us, at_most=True, unit=" us")
