# SPDX-License-Identifier: LGPL-2.1-only
"""Meaning of `bytes` in tables of collectives by OSU, IMB and weft.

OSU micro-benchmarks 5.6.2 and 7.4 (mpi/collective/osu_*.c) and the IMB user guide (2021.x, "MPI-1
benchmarks") agree for each collective below that both provide; `weft
bench` follows them.
"""

from dataclasses import dataclass
from typing import Literal

Meaning = Literal["nothing", "vector", "block", "split"]
"""`vector`: the whole vector of a rank. `block`: the block a rank sends to one other rank, or
contributes to all. `split`: the whole vector of a rank, of which each rank receives one part.
"""

BYTES_OF: dict[str, Meaning] = {
    "barrier": "nothing",
    **dict.fromkeys(("bcast", "reduce", "allreduce", "scan", "exscan"), "vector"),
    **dict.fromkeys(("reduce_scatter", "reduce_scatter_block"), "split"),
    **dict.fromkeys(("gather", "gatherv", "scatter", "scatterv"), "block"),
    **dict.fromkeys(("allgather", "allgatherv"), "block"),
    **dict.fromkeys(("alltoall", "alltoallv", "alltoallw"), "block"),
}
LARGEST = 1 << 40
"""Upper limit of the bytes in a row: more than any host's memory, but feasible to simulate."""
FLOAT_BYTES = 4
"""Size of MPI_FLOAT, the default datatype of reductions in both suites."""


@dataclass(frozen=True)
class Elements:
    """Count passed to the call, and the size of one element."""

    count: int
    element_bytes: int


def elements_of(collective: str, bytes_: int, ranks: int) -> Elements:
    """Return the count and element size for these bytes: MPI_FLOAT for reductions, else MPI_BYTE.

    Reductions use at least one element, or one per rank if the vector is split.
    """
    if "reduce" not in collective:
        return Elements(bytes_, 1)
    parts = ranks if BYTES_OF[collective] == "split" else 1
    return Elements(max(bytes_ // parts // FLOAT_BYTES, 1), FLOAT_BYTES)
