# SPDX-License-Identifier: LGPL-2.1-only
"""Operations of ranks as traces tell them, before they become programs.

Readers name process groups by their ranks and messages by both ends; programs name kinds of groups
and relative peers (`weft.training.formats.assembly`).
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, NoReturn

from weft.base.errors import WeftError, printable

COMPUTE: Final = "compute"
COLLECTIVE: Final = "collective"
SEND: Final = "send"
RECEIVE: Final = "receive"
Kind = Literal["compute", "collective", "send", "receive"]

ALLREDUCE, ALLGATHER, REDUCE_SCATTER = "allreduce", "allgather", "reduce_scatter_block"
ALLTOALL, BROADCAST, REDUCE = "alltoall", "bcast", "reduce"

BARRIER_BYTES = 4
"""Size of the Allreduce that a barrier is in NCCL (torch/csrc/distributed/c10d)."""
_LONGEST_NAME = 60


@dataclass(frozen=True, slots=True)
class Group:
    """A process group."""

    name: str
    ranks: tuple[int, ...]
    description: str = field(default="", compare=False)
    """Purpose of the group, as the trace names it."""


@dataclass(slots=True)
class Operation:
    """One operation of a rank."""

    kind: Kind
    stream: int
    amount: float
    """Seconds, or bytes."""
    after: list[int] = field(default_factory=list)
    """Indexes of operations of the same rank that must have ended before."""
    name: str = ""
    node: int = -1
    """Number in the trace, for messages to users."""
    collective: str = ""
    group: Group | None = None
    peer: int = -1
    """Other rank of a message, counted from 0 in the job."""
    tag: int = 0


@dataclass
class RankTrace:
    """Operations of a rank."""

    rank: int
    path: Path
    operations: list[Operation]
    in_order: bool
    """Streams execute their operations in the order of the list."""
    host_streams: set[int] = field(default_factory=set)
    item: str = "node"
    """Word for an operation of the trace, in messages to users."""

    def place(self, one: Operation) -> str:
        """Return file, rank, number and name of an operation."""
        name = printable(one.name[:_LONGEST_NAME])
        named = f" ({name})" if name else ""
        number = f" {one.node}" if one.node >= 0 else ""
        return f"{self.path}: rank {self.rank}: {self.item}{number}{named}"

    def refuse(self, one: Operation, what: str) -> NoReturn:
        """Raise the error for an operation that cannot be simulated."""
        raise WeftError(f"trace: {self.place(one)}: {what}")


def total_size(collective: str, size: float, ranks: int) -> float:
    """Return the bytes of an Allgather's result, from those that one rank contributes."""
    return size * ranks if collective == ALLGATHER else size
