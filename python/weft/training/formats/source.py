# SPDX-License-Identifier: LGPL-2.1-only
"""Trace files, read in blocks and decompressed on the fly.

Traces can be gigabytes, so no reader loads a whole file. Progress counts the bytes read from disk,
before decompression.
"""

import gzip
import io
import zlib
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, NoReturn, Self, cast

from weft.base.errors import WeftError

BLOCK = 1 << 22
"""Bytes read at once."""
_GZIP = b"\x1f\x8b"
"""Magic number (RFC 1952, section 2.3.1)."""

Progress = Callable[[str], object]
"""Displays a line of progress."""


def quiet(_text: str) -> None:
    """Show nothing."""


class Source:
    """Trace file, plain or gzip-compressed."""

    def __init__(self, path: Path, progress: Progress = quiet) -> None:
        """Open a file. Raises `WeftError`."""
        self.path = path
        self._progress = progress
        try:
            self._file = path.open("rb")
            self._bytes = path.stat().st_size
            head = self._file.read(len(_GZIP))
            self._file.seek(0)
        except OSError as error:
            raise WeftError(f"trace: {path} cannot be read: {error.strerror}") from None
        self._packed = head == _GZIP
        if path.suffix == ".gz" and not self._packed:
            self._file.close()
            found = "is empty" if not head else "begins otherwise"
            raise WeftError(
                f"trace: {path} is not a gzip file, as its name says: it {found}; "
                "rename it, or copy it again"
            )
        self._stream = cast(
            BinaryIO, gzip.GzipFile(fileobj=self._file) if head == _GZIP else self._file
        )

    def __enter__(self) -> Self:
        """Return the source itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the file."""
        self._file.close()

    def read(self, most: int = BLOCK) -> bytes:
        """Return the next bytes; empty at the end. Raises `WeftError` for damaged files."""
        try:
            block = self._stream.read(most)
        except EOFError:
            self.refuse("the gzip file is truncated")
        except (gzip.BadGzipFile, zlib.error):
            self.refuse("the gzip file is damaged")
        except OSError as error:
            raise WeftError(f"trace: {self.path} cannot be read: {error.strerror}") from None
        if self._bytes > BLOCK:
            share = self._file.tell() / self._bytes
            self._progress(f"{self.path.name}: {min(share, 1.0):.0%} of {self._bytes:,} bytes")
        return block

    def refuse(self, what: str, remedy: str = "copy it again, or record it again") -> NoReturn:
        """Raise the error for a file that cannot be used."""
        raise WeftError(f"trace: {self.path}: {what}; {remedy}")


def head_of(path: Path, most: int) -> bytes:
    """Return the first bytes of a file, decompressed; empty if it cannot be read."""
    try:
        with path.open("rb") as file:
            start = file.read(most)
        if not start.startswith(_GZIP):
            return start
        with gzip.GzipFile(fileobj=io.BytesIO(start)) as packed:
            return _readable(packed, most)
    except OSError:
        return b""


def _readable(packed: gzip.GzipFile, most: int) -> bytes:
    """Decompress a truncated stream as far as possible: a head ends in the middle of a stream."""
    found = bytearray()
    try:
        while len(found) < most and (block := packed.read1(1 << 16)):
            found += block
    except (EOFError, OSError, zlib.error):
        pass
    return bytes(found[:most])
