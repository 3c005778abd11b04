# SPDX-License-Identifier: LGPL-2.1-only
"""Workloads: programs of operations, which the core executes on a fabric of GPUs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol


class Program(Protocol):
    """Operations of a rank, or of all ranks that do the same; each call returns an index from 0.

    `after` names operations that must have ended. Operations of one stream follow each other.
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
        """Add a collective of the rank's group of a kind.

        `size` in bytes is that of the larger buffer of an allgather or reduce_scatter_block, of the
        vector of an allreduce, and of the whole send buffer of an alltoall.
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
        """Add a message to the rank whose number is higher by `peer`."""

    def receive(
        self,
        stream: int,
        peer: int,
        size: float,
        tag: int = 0,
        after: Sequence[int] = (),
        name: str = "",
    ) -> int:
        """Add the receipt of a message from the rank whose number is higher by `peer`."""

    def host_stream(self, stream: int) -> None:
        """Declare that a stream is a CPU thread."""


NewProgram = Callable[[bool], Program]
"""Returns an empty program; the argument: streams execute operations in the order of addition.

Otherwise a stream executes the operation with the lowest index among those that are ready.
"""


DETAILS = {
    "slice": "all that NCCL sends",
    "step": "one for each step of rings",
    "call": "and a flow for each call",
}
"""Messages that are executed, by detail."""


@dataclass(frozen=True)
class Workload:
    """Programs, which of them each rank executes, and the groups of ranks."""

    programs: Sequence[Program]
    program_of: Sequence[int]
    """Index of each rank's program."""
    groups: Sequence[tuple[str, list[list[int]]]]
    """Name of each kind of group, and the ranks of its groups, which are disjoint."""
    sms: int = 0
    """Multiprocessors of a GPU, of which NCCL's channels take one each from computation.

    0: computation does not notice collectives, as where its times were recorded beside them.
    """
