# SPDX-License-Identifier: LGPL-2.1-only
"""Operations of ranks as read from traces, before conversion to programs.

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
"""Size of the Allreduce that implements a barrier in NCCL (torch/csrc/distributed/c10d)."""
_LONGEST_NAME = 60


@dataclass(frozen=True, slots=True)
class Group:
    """Process group."""

    name: str
    ranks: tuple[int, ...]
    description: str = field(default="", compare=False)
    """Purpose of the group, as named in the trace."""


@dataclass(slots=True)
class Operation:
    """Operation of a rank."""

    kind: Kind
    stream: int
    amount: float
    """Seconds, or bytes."""
    after: list[int] = field(default_factory=list)
    """Indices of operations of the same rank that must end before this operation."""
    name: str = ""
    node: int = -1
    """Number in the trace, for error messages."""
    collective: str = ""
    group: Group | None = None
    peer: int = -1
    """Peer rank of a message, numbered within the job."""
    tag: int = 0


@dataclass
class RankTrace:
    """Operations of a rank."""

    rank: int
    path: Path
    operations: list[Operation]
    in_order: bool
    """True if streams execute their operations in list order."""
    host_streams: set[int] = field(default_factory=set)
    item: str = "node"
    """Word for an operation of the trace, for error messages."""

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
    """Return the total bytes of an Allgather from the bytes that each rank contributes."""
    return size * ranks if collective == ALLGATHER else size
