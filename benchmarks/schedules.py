# SPDX-License-Identifier: LGPL-2.1-only
"""What collectives on the hosts cost the simulator: weft's schedules, and SMPI's beside one.

Small messages of crowded hosts, of hosts with one rank each, a ring, an Alltoall, and a call that
does not block.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from allreduce import Key, Standard, checked
from measure import Case, Cost, ratio

from weft.runs import launch
from weft.runs.record import Record
from weft.runs.request import Request
from weft.runs.toolchain import compile_c

# Small stacks without guard pages: a rank of the benchmark needs little.
_CONFIG = ("contexts/stack-size:64", "contexts/guard-size:0")


@dataclass(frozen=True)
class Scheduled:
    """One row: a call, where, by what, and how many calls the two runs make."""

    collective: str
    bytes: int
    size: str
    fabric: str
    ranks: int
    ppn: int
    fallback: str
    calls: tuple[int, int]
    messages: int = 0
    """That a rank sends in a call; where the standard is for one of them."""

    @property
    def key(self) -> Key:
        """Return its name in the table."""
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
# What is compared with each other runs one after the other.
_ALL = (CROWDED, CROWDED_SMPI, ALONE, RING, ALLTOALL, NONBLOCKING)


def cases(work: Path) -> dict[Key, Case]:
    """Compile the benchmark and return what to run."""
    program = work / "schedules"
    compile_c(Path(__file__).with_name("schedules.c"), program)
    return {one.key: _case(one, program) for one in _ALL}


def _case(one: Scheduled, program: Path) -> Case:
    request = Request.of(
        fabric=one.fabric,
        ranks=one.ranks,
        ppn=one.ppn,
        program=str(program),
        privatize=False,
        offload="off",
        fallback=one.fallback,
        config=_CONFIG,
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
    """Hold the figures against the standards."""
    crowded, smpi = costs[CROWDED.key], costs[CROWDED_SMPI.key]
    alone = costs[ALONE.key].median_us
    whole_s = costs[NONBLOCKING.key].median_us * NONBLOCKING.ranks / 1e6
    return [
        Standard("recursive doubling, 64 x 64", crowded.median_us, 10, at_most=True, unit=" us"),
        Standard("smpi:rdb / recursive doubling, 64 x 64", ratio(smpi, crowded), 40, at_most=False),
        Standard("recursive doubling, 4,096 x 1", alone, 40, at_most=True, unit=" us"),
        _per_message("ring, 1,024 ranks, a message", RING, costs, 1),
        _per_message("Alltoall, 1,024 ranks, a message", ALLTOALL, costs, 1.5),
        Standard("Iallreduce, 1,024 ranks, in all", whole_s, 1, at_most=True, unit=" s"),
    ]


def _per_message(what: str, one: Scheduled, costs: Mapping[Key, Cost], limit_us: float) -> Standard:
    figure = costs[one.key].median_us / one.messages
    return Standard(what, figure, limit_us, at_most=True, unit=" us")
