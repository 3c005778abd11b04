# SPDX-License-Identifier: LGPL-2.1-only
"""Workloads: programs of operations that the core executes on a GPU fabric."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol


class Program(Protocol):
    """Operations of a rank, or of several equal ranks; each call returns an index from 0.

    `after` lists operations that must have ended. Operations of one stream execute sequentially.
    """

    def compute(
        self, stream: int, seconds: float, after: Sequence[int] = (), name: str = ""
    ) -> int:
        """Add a computation."""

    def collective(
        self,
        stream: int,
        kind: int,
        collective: str,
        size: float,
        after: Sequence[int] = (),
        name: str = "",
    ) -> int:
        """Add a collective of the rank's group of the given kind.

        `size` is the bytes of the larger buffer of an allgather or reduce_scatter_block, of the
        vector of an allreduce, or of the whole send buffer of an alltoall.
        """

    def send(
        self,
        stream: int,
        peer: int,
        size: float,
        tag: int = 0,
        after: Sequence[int] = (),
        name: str = "",
    ) -> int:
        """Add a message to the rank at offset `peer`."""

    def receive(
        self,
        stream: int,
        peer: int,
        size: float,
        tag: int = 0,
        after: Sequence[int] = (),
        name: str = "",
    ) -> int:
        """Add the receive of a message from the rank at offset `peer`."""

    def host_stream(self, stream: int) -> None:
        """Declare that a stream is a CPU thread."""


NewProgram = Callable[[bool], Program]
"""Factory for an empty program.

True: each stream executes its operations in insertion order. False: it executes the ready operation
with the lowest index.
"""


DETAILS = {
    "slice": "all that NCCL sends",
    "step": "one for each step of rings",
    "call": "and a flow for each call",
}
"""Executed messages, by detail."""


@dataclass(frozen=True)
class Workload:
    """Programs, the program of each rank, and the groups of ranks."""

    programs: Sequence[Program]
    program_of: Sequence[int]
    """Index of the program of each rank."""
    groups: Sequence[tuple[str, list[list[int]]]]
    """Name of each group kind, and the ranks of its disjoint groups."""
    sms: int = 0
    """Multiprocessors of a GPU; each NCCL channel takes one of them from computation.

    0: collectives do not slow down computation, because its times were recorded with collectives
    running.
    """
