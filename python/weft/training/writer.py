# SPDX-License-Identifier: LGPL-2.1-only
"""Writer of a rank's program: streams, and dependencies of the next computation."""

from collections.abc import Sequence

from weft.training.parallelism import GROUPS
from weft.training.workload import Program

(
    COMPUTE,
    TENSOR_STREAM,
    CONTEXT_STREAM,
    EXPERT_STREAM,
    DATA_STREAM,
    SEND_ACTIVATIONS,
    SEND_GRADIENTS,
    RECEIVE_ACTIVATIONS,
    RECEIVE_GRADIENTS,
    SEND_KEYS,
    RECEIVE_KEYS,
) = range(11)
"""Streams: computation with the collectives that it awaits immediately; collectives that overlap
computation, by group kind; messages, by direction.
"""
STREAMS = (
    "computation",
    "tensor",
    "context",
    "expert",
    "data",
    "activations sent",
    "gradients sent",
    "activations received",
    "gradients received",
    "keys sent",
    "keys received",
)
"""Names of the streams, in order."""

_COLLECTIVES = {"reduce_scatter_block": "reduce-scatter"}


class Writer:
    """Adds operations to a program, and tracks the dependencies among its streams."""

    def __init__(self, program: Program) -> None:
        """Start with an empty program."""
        self.program = program
        self._last: dict[int, int] = {}
        """Last operation of each stream."""
        self._stream_of: list[int] = []
        self._waits: set[int] = set()
        self._ordered: dict[int, int] = {}
        """Last collective of each kind that must start in the same order on all ranks."""

    @property
    def size(self) -> int:
        """Number of operations."""
        return len(self._stream_of)

    def wait(self, *operations: int | None) -> None:
        """Make the next operation of the computation stream wait for the given operations."""
        self._waits.update(one for one in operations if one is not None)

    def done(self) -> tuple[int, ...]:
        """Return the last computation, and the pending dependencies of the next one."""
        found = {*self._waits, *([self._last[COMPUTE]] if COMPUTE in self._last else [])}
        self._waits.clear()
        return tuple(sorted(found))

    @property
    def computed(self) -> tuple[int, ...]:
        """Last operation of the computation stream, if any."""
        return (self._last[COMPUTE],) if COMPUTE in self._last else ()

    @property
    def last_of_data(self) -> tuple[int, ...]:
        """Last operation of the stream of data parallel collectives, if any."""
        return (self._last[DATA_STREAM],) if DATA_STREAM in self._last else ()

    def compute(self, name: str, seconds: float) -> int:
        """Add a computation."""
        after = self._after(COMPUTE, ())
        return self._added(COMPUTE, self.program.compute(COMPUTE, seconds, after, name))

    def collective(
        self,
        kind: int,
        collective: str,
        size: float,
        *,
        stream: int = COMPUTE,
        after: Sequence[int] = (),
    ) -> int:
        """Add a collective. Collectives of one kind on several streams start in insertion order."""
        earlier = (self._ordered[kind],) if kind in self._ordered else ()
        name = f"{GROUPS[kind]} {_COLLECTIVES.get(collective, collective)}"
        found = self.program.collective(
            stream, kind, collective, size, self._after(stream, (*after, *earlier)), name
        )
        self._ordered[kind] = found
        return self._added(stream, found)

    def send(
        self, stream: int, peer: int, size: float, tag: int, after: Sequence[int], name: str
    ) -> int:
        """Add a message to the rank at the given distance."""
        found = self.program.send(stream, peer, size, tag, self._after(stream, after), name)
        return self._added(stream, found)

    def receive(
        self, stream: int, peer: int, size: float, tag: int, after: Sequence[int], name: str
    ) -> int:
        """Add the receive of a message from the rank at the given distance."""
        found = self.program.receive(stream, peer, size, tag, self._after(stream, after), name)
        return self._added(stream, found)

    def _after(self, stream: int, after: Sequence[int]) -> list[int]:
        """Return an operation's dependencies, without predecessors on its own stream."""
        waits = set(after)
        if stream == COMPUTE:
            waits |= self._waits
            self._waits.clear()
        return sorted(one for one in waits if self._stream_of[one] != stream)

    def _added(self, stream: int, index: int) -> int:
        if index != len(self._stream_of):
            raise ValueError(f"operation {len(self._stream_of)} has the index {index}")
        self._stream_of.append(stream)
        self._last[stream] = index
        return index
