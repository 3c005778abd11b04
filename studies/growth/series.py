# SPDX-License-Identifier: LGPL-2.1-only
"""Series of runs: one number grows in each series, and all other parameters are constant.

The numbers are ranks on the same 64 hosts, hosts with one rank each, message sizes, communicators
and calls; with collectives in the network (`stream`, `message`, `multicast`) and on the hosts.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from weft.runs.request import Request

STAR, TREE = "tofino-64x64", "fat-tree-65536"
HOSTS = 64
AXES = {
    "ranks": "ranks on 64 hosts",
    "hosts": "hosts, one rank each",
    "bytes": "bytes of a message",
    "communicators": "communicators",
    "calls": "calls",
}
_KIB = 1024
_POD = 256
"""Hosts below a second-level switch."""


@dataclass(frozen=True)
class Series:
    """Runs of one program, with one growing number."""

    axis: str
    name: str
    most: int
    """Largest number; the other numbers are a half of it, a quarter and so on."""
    arguments: tuple[object, ...]
    """Arguments of the program; `X` is a placeholder for the growing number."""
    base: str = ""
    """Series on the same axis without the work under study, whose cost is subtracted; if empty, the
    smallest run is subtracted.
    """
    options: dict[str, Any] = field(default_factory=dict)
    globals_: bool = False
    """True if the program has a global variable, so that each rank gets a copy."""
    halvings: int = 4
    """Number of halvings of the largest number: more than four if the series is the base of others.
    """

    @property
    def numbers(self) -> tuple[int, ...]:
        """Numbers by halving, preceded by the number whose run is subtracted."""
        halves = {self.most >> k for k in range(self.halvings + 1)}
        return tuple(sorted(halves if self.base else {self.smallest, *halves}))

    @property
    def smallest(self) -> int:
        """Number whose run is subtracted; for hosts, whole pods."""
        return max(1, self.most >> 8, _POD if self.axis == "hosts" else 1)

    def request(self, programs: "Programs", number: int) -> Request:
        """Return the run with a given number."""
        arguments = tuple(str(number if one == "X" else one) for one in self.arguments)
        ranks = self.options.get("ranks", number if self.axis in ("ranks", "hosts") else HOSTS)
        program = programs.with_variable if self.globals_ else programs.plain
        return Request.of(
            program=str(program),
            arguments=arguments,
            **_place(self.axis, number, ranks),
            **{key: value for key, value in self.options.items() if key != "ranks"},
        )


@dataclass(frozen=True)
class Programs:
    """The program, compiled with and without a global variable."""

    plain: Path
    with_variable: Path


def _place(axis: str, number: int, ranks: int) -> dict[str, Any]:
    if axis != "hosts":
        ppn = -(-ranks // HOSTS)
        return {"fabric": STAR, "ranks": ranks, "ppn": ppn, "changes": (f"host.cores={ppn}",)}
    tree = (f"topology.down=[16, 16, {number // _POD}]", "topology.up=[1, 16, 16]")
    return {"fabric": TREE, "ranks": ranks, "ppn": 1, "changes": tree}


START = ("none", 0, 0)
STREAM = {"offload": "stream"}
MESSAGE = {"offload": "message"}
MULTICAST = {"offload": "multicast"}
OFF = {"offload": "off"}

SERIES: Sequence[Series] = (
    Series("ranks", "start and end", 65536, START, halvings=9),
    Series("ranks", "start and end, program copied", 4096, START, globals_=True),
    Series("ranks", "Allreduce, stream", 16384, ("allreduce", _KIB, 80), "start and end", STREAM),
    Series("ranks", "Allreduce, message", 4096, ("allreduce", _KIB, 16), "start and end", MESSAGE),
    Series("ranks", "Bcast, multicast", 4096, ("bcast", 4096, 8), "start and end", MULTICAST),
    Series("ranks", "Allreduce, hosts", 8192, ("allreduce", _KIB, 24), "start and end", OFF),
    Series("ranks", "messages", 4096, ("halo", _KIB, 16), "start and end", OFF),
    Series("ranks", "Comm_dup", 4096, ("none", 0, 0, "dup", 16), "start and end", OFF),
    Series("ranks", "Comm_split", 2048, ("none", 0, 0, "split", 8), "start and end", OFF),
    Series("hosts", "fabric, 16 ranks", 16384, START, options={"ranks": 16}),
    Series("hosts", "start and end", 16384, START, halvings=6),
    Series("hosts", "Allreduce, stream", 8192, ("allreduce", _KIB, 100), "start and end", STREAM),
    Series("hosts", "Bcast, multicast", 4096, ("bcast", 4096, 2), "start and end", MULTICAST),
    Series("hosts", "Allreduce, hosts", 8192, ("allreduce", _KIB, 24), "start and end", OFF),
    Series("bytes", "Allreduce, stream", 1 << 20, ("allreduce", "X", 40), options=STREAM),
    Series("bytes", "Allreduce, message", 1 << 19, ("allreduce", "X", 40), options=MESSAGE),
    Series("bytes", "Bcast, multicast", 1 << 20, ("bcast", "X", 64), options=MULTICAST),
    Series("bytes", "Allreduce, hosts", 1 << 20, ("allreduce", "X", 40), options=OFF),
    Series("bytes", "messages", 1 << 20, ("halo", "X", 64), options=OFF),
    Series(
        *("communicators", "dup, Allreduce, stream", 1024),
        *(("allreduce", _KIB, 1, "dup", "X"), "", STREAM),
    ),
    Series(
        *("communicators", "dup, Bcast, multicast", 256),
        *(("bcast", 4096, 4, "dup", "X"), "", MULTICAST),
    ),
    Series(
        *("communicators", "dup, Allreduce, hosts", 512),
        *(("allreduce", _KIB, 1, "dup", "X"), "", OFF),
    ),
    Series(
        *("communicators", "dup and free, Allreduce, stream", 1024),
        *(("allreduce", _KIB, 1, "again", "X"), "", STREAM),
    ),
    Series("calls", "Allreduce, stream", 16384, ("allreduce", _KIB, "X"), options=STREAM),
    Series("calls", "Allreduce, message", 1024, ("allreduce", _KIB, "X"), options=MESSAGE),
    Series("calls", "Bcast, multicast", 512, ("bcast", 4096, "X"), options=MULTICAST),
    Series("calls", "Allreduce, hosts", 8192, ("allreduce", _KIB, "X"), options=OFF),
    Series("calls", "messages", 2048, ("halo", _KIB, "X"), options=OFF),
)
