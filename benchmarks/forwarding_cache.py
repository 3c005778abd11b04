# SPDX-License-Identifier: LGPL-2.1-only
"""CPU time of simulating a cache lookup for every hop of every message.

Two all-to-alls of MPI_Sendrecv run among the 256 ranks of a four-dimensional torus, 130,560
messages of 64 B in total. The switches have either a TCAM, whose delay is constant, or a cache in
front of it, in which weft looks up each hop. The measurement excludes start-up, a thirtieth of such
a run.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from allreduce import Key, Standard, checked
from measure import Case, Cost, ratio

from weft.runs import launch
from weft.runs.record import Record
from weft.runs.request import Request
from weft.runs.toolchain import compile_c

RANKS, TIMES = 256, 2
LIMIT = 1.10
_CACHE = ("switch.forwarding.kind=cache", "switch.forwarding.hit_latency=1ns")
_LOOKUPS: dict[str, tuple[str, ...]] = {
    "TCAM": (),
    "cache, hash of the torus": _CACHE,
    "cache, hash of the torus, interval": (*_CACHE, "switch.forwarding.interval=0.72ns"),
    "cache, CRC": (*_CACHE, "switch.forwarding.hash=crc"),
}


def _key(lookup: str) -> Key:
    return Key("off", RANKS, 1, f"all-to-alls on a torus, {lookup}, a message")


def cases(work: Path) -> dict[Key, Case]:
    """Compile the program and return the cases to run, the TCAM first."""
    program = work / "forwarding_cache"
    compile_c(Path(__file__).with_name("forwarding_cache.c"), program)
    return {_key(lookup): _case(program, changes) for lookup, changes in _LOOKUPS.items()}


def _case(program: Path, changes: tuple[str, ...]) -> Case:
    request = Request.of(
        fabric="torus-4x4x4x4",
        ranks=RANKS,
        program=str(program),
        offload="off",
        changes=changes,
    )
    plan = launch.prepare(request)

    def run(times: int) -> Record:
        arguments = request.changed(arguments=(str(times),))
        return checked(launch.run(replace(plan, request=arguments), lambda _: None))

    return Case(run, RANKS * (RANKS - 1), 0, TIMES)


def standards(costs: Mapping[Key, Cost]) -> list[Standard]:
    """Compare each kind of lookup with the TCAM."""
    tcam = costs[_key("TCAM")]
    return [
        Standard(f"{lookup} / TCAM", ratio(costs[_key(lookup)], tcam), LIMIT, at_most=True)
        for lookup in list(_LOOKUPS)[1:]
    ]
