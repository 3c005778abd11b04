# SPDX-License-Identifier: LGPL-2.1-only
"""CPU time of simulating in-network collectives, relative to an Allreduce, at 4,096 ranks.

The fabric is a Tofino star whose switch supports all of these collectives. The vector of each rank,
or the sum of its parts, is 16 KiB. Cases with 1 KiB show the overhead of non-blocking calls and
their completion, without the cost of data.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from allreduce import Key, Standard, checked
from measure import Case, Cost, ratio

from weft.base import paths
from weft.runs import launch
from weft.runs.record import Record
from weft.runs.request import Request
from weft.runs.toolchain import compile_c

RANKS, PPN = 4096, 64
_COLLECTIVES = (
    "allreduce",
    "reduce",
    "bcast",
    "barrier",
    "allgather",
    "allgatherv",
    "reduce_scatter",
    "iallreduce",
    "ibarrier",
)
_LARGE, _SMALL = "16 KiB", "1 KiB, all-collectives"
_BYTES = {_LARGE: 16384, _SMALL: 1024}
_CALLS = {_LARGE: (1, 21), _SMALL: (1, 201)}
_ALL = """
[[switch.offload]]
collectives = ["all"]
datatypes = ["all"]
operations = ["all"]
"""
LIMIT = 1.5


def cases(work: Path) -> dict[Key, Case]:
    """Compile the benchmark and return the cases to run, the Allreduce first."""
    program, fabric = work / "in_network", work / "all-collectives.toml"
    compile_c(Path(__file__).with_name("in_network.c"), program)
    shipped = paths.installed("fabrics", "tofino-64x64.toml").read_text(encoding="utf-8")
    fabric.write_text(shipped + _ALL, encoding="utf-8")
    request = Request.of(
        fabric=str(fabric),
        ranks=RANKS,
        program=str(program),
        ppn=PPN,
        privatize=False,
    )
    named = [
        *((name, _LARGE) for name in _COLLECTIVES),
        *((name, _SMALL) for name in ("allreduce", "iallreduce", "persistent allreduce")),
    ]
    return {_key(*names): _case(request, *names) for names in named}


def _key(collective: str, size: str) -> Key:
    return Key("stream", RANKS, PPN, f"{collective}, {size}")


def _case(request: Request, collective: str, size: str) -> Case:
    plan = launch.prepare(request)

    def run(calls: int) -> Record:
        arguments = (collective, str(calls), str(_BYTES[size]))
        return checked(
            launch.run(replace(plan, request=request.changed(arguments=arguments)), _ignore)
        )

    return Case(run, RANKS, *_CALLS[size])


def _ignore(_line: str) -> None:
    pass


def standards(costs: Mapping[Key, Cost]) -> list[Standard]:
    """Compare the CPU time and memory of each collective with the Allreduce's."""
    allreduce = costs[_key("allreduce", _LARGE)]
    held = []
    for name in _COLLECTIVES[1:]:
        cost = costs[_key(name, _LARGE)]
        memory = cost.peak_memory_bytes / allreduce.peak_memory_bytes
        held += [
            Standard(f"{name} / allreduce, CPU", ratio(cost, allreduce), LIMIT, at_most=True),
            Standard(f"{name} / allreduce, memory", memory, LIMIT, at_most=True),
        ]
    small = ratio(costs[_key("iallreduce", _SMALL)], costs[_key("allreduce", _SMALL)])
    held.append(Standard("iallreduce / allreduce, 1 KiB, CPU", small, LIMIT, at_most=True))
    planned = ratio(costs[_key("persistent allreduce", _SMALL)], costs[_key("iallreduce", _SMALL)])
    held.append(Standard("persistent allreduce / iallreduce, 1 KiB, CPU", planned, 1, at_most=True))
    return held
