# SPDX-License-Identifier: LGPL-2.1-only
"""Timed traces of other tools, written as weft's own calls (docs/trace-files.md, `calls.gz`).

A reader adds the calls of each rank in program order, with their start and end times. The time
between two calls becomes a `sleep`. A call whose words depend on later events, such as a receive
from any rank, is added when it starts and completed later.
"""

import gzip
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path

from weft import _core
from weft.base.errors import WeftError, printable
from weft.trace.calls import check_of
from weft.trace.folder import Folder

_MOST = (1 << 31) - 1
_BYTES_OF_DOUBLE = 8
_SHORTEST_WAIT = 1e-9
_REDUCED = ((8, "MPI_DOUBLE"), (4, "MPI_FLOAT"), (2, "MPI_SHORT"), (1, "MPI_SIGNED_CHAR"))
WORLD = 0
"""Number of MPI_COMM_WORLD."""
SELF = "self"


@dataclass(slots=True)
class Call:
    """Call of a rank; calls without words are omitted."""

    words: str = ""


def data(amount: int) -> str:
    """Return the words for a buffer of bytes: counts are ints."""
    if amount <= _MOST:
        return f"{amount} MPI_BYTE"
    return f"{-(-amount // _BYTES_OF_DOUBLE)} MPI_DOUBLE"


def element_of(amounts: Sequence[int]) -> tuple[int, str]:
    """Return size and name of the largest type whose size divides a reduction's byte amounts."""
    return next(one for one in _REDUCED if all(amount % one[0] == 0 for amount in amounts))


def summed(amount: int) -> str:
    """Return the words for the bytes of a reduction whose type the trace does not state."""
    size, name = element_of([amount])
    return f"{amount // size} {name} MPI_SUM"


def listed(numbers: Sequence[int]) -> str:
    """Return a list as one word."""
    return ",".join(map(str, numbers)) or "-"


@dataclass
class Timeline:
    """Calls of one rank."""

    calls: list[Call] = field(default_factory=list)
    free: list[int] = field(default_factory=list)
    """Numbers of completed requests."""
    requests: int = 0

    def add(self, words: str = "") -> Call:
        """Add a call."""
        call = Call(words)
        self.calls.append(call)
        return call

    def wait(self, seconds: float) -> None:
        """Add time between calls."""
        if seconds >= _SHORTEST_WAIT:
            self.add(f"sleep {seconds:.9f}")

    def open_request(self) -> int:
        """Return a number for a new request."""
        if self.free:
            return self.free.pop()
        self.requests += 1
        return self.requests - 1

    def complete(self, numbers: Sequence[int]) -> None:
        """Wait for requests."""
        if numbers:
            self.add(f"Waitall {listed(numbers)}")
            self.free.extend(reversed(numbers))


@dataclass
class Recording:
    """Calls of all ranks."""

    ranks: list[Timeline]
    communicators: list[tuple[int, ...]] = field(default_factory=list)
    """Members of communicators 1, 2, …, as ranks of MPI_COMM_WORLD."""
    makes_communicators: bool = True
    """True if ranks create their communicators at the start, False if their calls create them."""

    def lines(self) -> Iterator[str]:
        """Yield the lines of the file."""
        yield f"weft-calls 2 {len(self.ranks)}"
        count = 0
        for number, members in enumerate(self.communicators, start=1):
            yield f"communicator {number} {listed(members)}"
            for rank in members if self.makes_communicators else ():
                yield f"{rank} Comm_create_group 0 {listed(members)} {number} {number}"
                count += 1
        # Interleaved: the replayer buffers the lines that it reads ahead.
        for row in zip_longest(*(one.calls for one in self.ranks)):
            for rank, call in enumerate(row):
                if call is not None and call.words:
                    yield f"{rank} {call.words}"
                    count += 1
        yield from (f"{rank} Finalize" for rank in range(len(self.ranks)))
        count += len(self.ranks)
        yield f"end {count}"


@dataclass(frozen=True)
class RecordedTrace(Folder):
    """Translated timed trace of another tool."""

    packed: bytes = b""

    @property
    def form(self) -> str:
        """Format of the lines for the replayer."""
        return "calls"

    @property
    def lines(self) -> Path:
        """File that the user named."""
        return self.path

    def unpack(self, target: Path) -> Path:
        """Write the lines for the replayer."""
        target.write_bytes(gzip.decompress(self.packed))
        return target


def packed(path: Path, recording: Recording) -> bytes:
    """Check the lines of a recording, and compress them."""
    check = check_of(len(recording.ranks))
    into = io.BytesIO()
    try:
        with gzip.GzipFile(mode="wb", compresslevel=1, fileobj=into, mtime=0) as file:
            for line in recording.lines():
                text = (line + "\n").encode("ascii")
                check.add(text)
                file.write(text)
        check.end()
    except _core.UserError as error:
        raise WeftError(
            f"trace: {path}: cannot be replayed: {printable(str(error))}; check that it is whole"
        ) from None
    return into.getvalue()
