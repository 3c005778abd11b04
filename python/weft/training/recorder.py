# SPDX-License-Identifier: LGPL-2.1-only
"""Programs that record their operations, for readers of the operations."""

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Operation:
    """Operation of a recorded program; fields that do not apply to its type are empty."""

    type: str
    stream: int
    name: str
    after: tuple[int, ...] = ()
    amount: float = 0.0
    """Seconds or bytes."""
    kind: int = -1
    collective: str = ""
    peer: int = 0
    tag: int = 0


@dataclass
class Recorder:
    """Program that records its operations."""

    in_order: bool = True
    operations: list[Operation] = field(default_factory=list)
    host_streams: set[int] = field(default_factory=set)

    def _add(self, operation: Operation) -> int:
        self.operations.append(operation)
        return len(self.operations) - 1

    def compute(
        self, stream: int, seconds: float, after: Sequence[int] = (), name: str = ""
    ) -> int:
        """Add a computation."""
        return self._add(Operation("compute", stream, name, tuple(after), seconds))

    def collective(
        self,
        stream: int,
        kind: int,
        collective: str,
        size: float,
        after: Sequence[int] = (),
        name: str = "",
    ) -> int:
        """Add a collective of the rank's group of the given kind."""
        return self._add(
            Operation("collective", stream, name, tuple(after), size, kind, collective)
        )

    def send(
        self,
        stream: int,
        peer: int,
        size: float,
        tag: int = 0,
        after: Sequence[int] = (),
        name: str = "",
    ) -> int:
        """Add a message."""
        return self._add(Operation("send", stream, name, tuple(after), size, peer=peer, tag=tag))

    def receive(
        self,
        stream: int,
        peer: int,
        size: float,
        tag: int = 0,
        after: Sequence[int] = (),
        name: str = "",
    ) -> int:
        """Add the receive of a message."""
        return self._add(Operation("receive", stream, name, tuple(after), size, peer=peer, tag=tag))

    def host_stream(self, stream: int) -> None:
        """Declare that a stream is a CPU thread."""
        self.host_streams.add(stream)
