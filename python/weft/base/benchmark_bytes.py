# SPDX-License-Identifier: LGPL-2.1-only
"""The meaning of `bytes` in tables of collectives: OSU's, IMB's, and weft's own.

OSU micro-benchmarks 5.6.2 and 7.4 (mpi/collective/osu_*.c) and the IMB user guide (2021.x, "MPI-1
benchmarks") agree for every collective below that they have; examples/collective_latency.c and
`weft bench` follow them.
"""

from dataclasses import dataclass
from typing import Literal

Meaning = Literal["nothing", "vector", "block", "split"]
"""`vector`: the whole vector of a rank. `block`: what a rank has for one other, or gives to all.
`split`: the whole vector of a rank, of which each rank gets the part."""

BYTES_OF: dict[str, Meaning] = {
    "barrier": "nothing",
    **dict.fromkeys(("bcast", "reduce", "allreduce", "scan", "exscan"), "vector"),
    **dict.fromkeys(("reduce_scatter", "reduce_scatter_block"), "split"),
    **dict.fromkeys(("gather", "gatherv", "scatter", "scatterv"), "block"),
    **dict.fromkeys(("allgather", "allgatherv"), "block"),
    **dict.fromkeys(("alltoall", "alltoallv", "alltoallw"), "block"),
}
LARGEST = 1 << 40
"""Bytes of a row: more than any host of a benchmark has, and few enough to simulate."""
FLOAT_BYTES = 4
"""MPI_FLOAT, in which both suites sum by default."""


@dataclass(frozen=True)
class Elements:
    """The count that the call gets, and the bytes of one element."""

    count: int
    element_bytes: int


def elements_of(collective: str, bytes_: int, ranks: int) -> Elements:
    """Return what a call with these bytes passes to MPI: MPI_FLOAT for sums, MPI_BYTE otherwise.

    Sums have at least one element (for each rank, where the vector is split).
    """
    if "reduce" not in collective:
        return Elements(bytes_, 1)
    parts = ranks if BYTES_OF[collective] == "split" else 1
    return Elements(max(bytes_ // parts // FLOAT_BYTES, 1), FLOAT_BYTES)
