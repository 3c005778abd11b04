# SPDX-License-Identifier: LGPL-2.1-only
"""CPU time of simulating a point-to-point message, with weft's transport and with SMPI's.

The patterns are the halo exchange of a stencil (four messages of 1 KiB per rank), the rows of NAS
CG, random pairs, and servers that receive from any source. All run without offloading, on a star
whose ranks share hosts and cables, and on a fat tree with one rank per host.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from allreduce import Key, Standard, checked
from measure import Case, Cost, ratio

from weft.base import paths
from weft.runs import launch
from weft.runs.record import Record
from weft.runs.request import Request
from weft.runs.toolchain import compile_c

_TRANSPORTS = ("weft", "smpi")
_MOST = 0.25  # limit on weft's CPU time per message, as a fraction of SMPI's


@dataclass(frozen=True)
class _Pattern:
    name: str
    program: str
    arguments: tuple[str, ...]  # without the number of iterations, for which N is a placeholder
    messages: float  # per rank and iteration


_HALO = _Pattern("halo exchange of 4 x 1 KiB", "halo_exchange", ("N", "1024"), 4)
# A product and two scalar products on 32 x 32 ranks take 5 + 1 + 2 x 5 exchanges; the program adds
# 11.
_CG = _Pattern("CG of 2,048 rows", "cg", ("2048", "N", "25"), 25 * 16 + 11)
_PAIRS = _Pattern("random pairs", "messages", ("pairs", "N"), 1)
_SERVERS = _Pattern("servers with MPI_ANY_SOURCE", "messages", ("servers", "N"), 2 * 63 / 64)


@dataclass(frozen=True)
class _Place:
    pattern: _Pattern
    fabric: str
    ranks: int
    ppn: int
    few: int
    many: int

    def key(self, transport: str) -> Key:
        shape = "star" if self.fabric == "tofino-64x64" else "fat tree"
        name = f"{self.pattern.name}, {shape}, a message"
        return Key(transport, self.ranks, self.ppn, name)


_PLACES = (
    _Place(_HALO, "tofino-64x64", 512, 8, 1, 41),
    _Place(_HALO, "tofino-64x64", 4096, 64, 1, 6),
    _Place(_HALO, "fat-tree-1024", 512, 1, 1, 41),
    _Place(_HALO, "fat-tree-65536", 4096, 1, 1, 6),
    _Place(_CG, "fat-tree-1024", 1024, 1, 1, 2),
    _Place(_PAIRS, "fat-tree-1024", 1024, 1, 1, 101),
    _Place(_SERVERS, "fat-tree-1024", 1024, 1, 1, 51),
)
_LARGE = _Place(_HALO, "fat-tree-65536", 65536, 1, 1, 3)


def cases(work: Path) -> dict[Key, Case]:
    """Compile the programs and return the cases to run."""
    _compile(work)
    return _cases(work, _PLACES)


def large(work: Path) -> dict[Key, Case]:
    """Return the cases of 65,536 ranks; cases() has been called."""
    return _cases(work, (_LARGE,))


def standards(costs: Mapping[Key, Cost]) -> list[Standard]:
    """Compare the figures with the standards."""
    return [
        Standard(
            f"weft / smpi, {place.pattern.name}, {place.ranks:,} ranks, {place.fabric}",
            ratio(*(costs[place.key(transport)] for transport in _TRANSPORTS)),
            _MOST,
            at_most=True,
        )
        for place in (*_PLACES, _LARGE)
    ]


def _compile(work: Path) -> None:
    for name in ("halo_exchange", "cg"):
        compile_c(paths.example(f"{name}.c"), work / name)
    compile_c(Path(__file__).with_name("messages.c"), work / "messages")


def _cases(work: Path, places: tuple[_Place, ...]) -> dict[Key, Case]:
    return {
        place.key(transport): _case(work, place, transport)
        for place in places
        for transport in _TRANSPORTS
    }


def _case(work: Path, place: _Place, transport: str) -> Case:
    pattern = place.pattern
    request = Request.of(
        fabric=place.fabric,
        ranks=place.ranks,
        program=str(work / pattern.program),
        ppn=place.ppn,
        privatize=False,
        offload="off",
        point_to_point=transport,
    )
    plan = launch.prepare(request)

    def run(iterations: int) -> Record:
        arguments = tuple(str(iterations) if one == "N" else one for one in pattern.arguments)
        changed = request.changed(arguments=arguments)
        return checked(launch.run(replace(plan, request=changed), lambda _: None))

    return Case(run, round(pattern.messages * place.ranks), place.few, place.many)
