# SPDX-License-Identifier: LGPL-2.1-only
"""What each in-network collective costs the simulator beside an Allreduce, at 4,096 ranks.

On a Tofino star whose switch does all of them; every rank's vector, or all parts together, has
16 KiB.
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
_CALLS = (1, 21)
_ALL = """
[[switch.offload]]
collectives = ["all"]
datatypes = ["all"]
operations = ["all"]
"""
LIMIT = 1.5


def cases(work: Path) -> dict[Key, Case]:
    """Compile the benchmark and return what to run, the Allreduce first."""
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
    return {_key(name): _case(request, name) for name in _COLLECTIVES}


def _key(collective: str) -> Key:
    return Key("stream", RANKS, PPN, f"{collective}, 16 KiB")


def _case(request: Request, collective: str) -> Case:
    plan = launch.prepare(request)

    def run(calls: int) -> Record:
        arguments = request.changed(arguments=(collective, str(calls)))
        return checked(launch.run(replace(plan, request=arguments), _ignore))

    return Case(run, RANKS, *_CALLS)


def _ignore(_line: str) -> None:
    pass


def standards(costs: Mapping[Key, Cost]) -> list[Standard]:
    """Hold CPU time and memory of each against the Allreduce's."""
    allreduce = costs[_key("allreduce")]
    held = []
    for name in _COLLECTIVES[1:]:
        cost = costs[_key(name)]
        memory = cost.peak_memory_bytes / allreduce.peak_memory_bytes
        held += [
            Standard(f"{name} / allreduce, CPU", ratio(cost, allreduce), LIMIT, at_most=True),
            Standard(f"{name} / allreduce, memory", memory, LIMIT, at_most=True),
        ]
    return held
