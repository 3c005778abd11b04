# SPDX-License-Identifier: LGPL-2.1-only
"""CPU time of a point-to-point message in the simulator: the halo exchange of a stencil.

Each rank sends four messages of 1 KiB per exchange, without offloading: on a star whose ranks share
hosts and cables, and on a fat tree with one rank per host.
"""

from dataclasses import replace
from pathlib import Path

from allreduce import Key, checked
from measure import Case

from weft.base import paths
from weft.runs import launch
from weft.runs.record import Record
from weft.runs.request import Request
from weft.runs.toolchain import compile_c

_BENCHMARK = "halo exchange of 4 x 1 KiB"
_SIDES = 4
_CASES = {
    Key("off", 512, 8, f"{_BENCHMARK}, star, a message"): ("tofino-64x64", 1, 21),
    Key("off", 4096, 64, f"{_BENCHMARK}, star, a message"): ("tofino-64x64", 1, 4),
    Key("off", 512, 1, f"{_BENCHMARK}, fat tree, a message"): ("fat-tree-1024", 1, 21),
    Key("off", 4096, 1, f"{_BENCHMARK}, fat tree, a message"): ("fat-tree-65536", 1, 4),
}


def cases(work: Path) -> dict[Key, Case]:
    """Compile the example and return the cases to run."""
    program = work / "halo_exchange"
    compile_c(paths.example("halo_exchange.c"), program)
    return {key: _case(key, program, *how) for key, how in _CASES.items()}


def _case(key: Key, program: Path, fabric: str, few: int, many: int) -> Case:
    request = Request.of(
        fabric=fabric,
        ranks=key.ranks,
        program=str(program),
        ppn=key.ppn,
        privatize=False,
        offload="off",
    )
    plan = launch.prepare(request)

    def run(exchanges: int) -> Record:
        arguments = request.changed(arguments=(str(exchanges), "1024"))
        return checked(launch.run(replace(plan, request=arguments), lambda _: None))

    return Case(run, _SIDES * key.ranks, few, many)
