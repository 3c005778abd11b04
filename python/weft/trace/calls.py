# SPDX-License-Identifier: LGPL-2.1-only
"""Files of calls: what weft itself records of a run (src/trace/calls.hpp), packed with gzip.

They are looked through before each replay, which would wait for ever for what a cut file lacks.
"""

import gzip
import shutil
import zlib
from pathlib import Path

from weft import _core
from weft.base.errors import WeftError, printable
from weft.trace.actions import UnfitError
from weft.trace.datatypes import DATATYPES, OPERATIONS

CALLS = "calls.gz"
_CHUNK = 1 << 20
_LEVEL = 6
"""Levels above it take much longer, for a few percent."""


def pack(raw: Path, ranks: int, target: Path) -> int:
    """Check what a run has written, and pack it; return the number of lines of ranks.

    Raises an `UnfitError` that says why it cannot be replayed.
    """
    check = _check(ranks)
    try:
        with raw.open("rb") as lines, target.open("wb") as file:
            # Without name and time, so that the same run gives the same file.
            with gzip.GzipFile(
                filename="", mode="wb", compresslevel=_LEVEL, fileobj=file, mtime=0
            ) as packed:
                while chunk := lines.read(_CHUNK):
                    check.add(chunk)
                    packed.write(chunk)
            return check.end()
    except _core.UserError as error:
        raise UnfitError(str(error)) from None


def unpack(packed: Path, target: Path) -> None:
    """Write the lines where the replayer reads them."""
    with gzip.open(packed, "rb") as lines, target.open("wb") as file:
        shutil.copyfileobj(lines, file, _CHUNK)


def look_through(packed: Path, ranks: int) -> None:
    """Prove that a packed file can be replayed."""
    check = _check(ranks)
    try:
        with gzip.open(packed, "rb") as lines:
            while chunk := lines.read(_CHUNK):
                check.add(chunk)
        check.end()
    except _core.UserError as error:
        raise _unusable(packed, str(error)) from None
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise _unusable(packed, f"it is damaged ({error})") from None


def _check(ranks: int) -> _core.CallCheck:
    return _core.CallCheck(ranks, set(DATATYPES) - {""}, set(OPERATIONS))


def _unusable(packed: Path, reason: str) -> WeftError:
    return WeftError(
        f"trace: {packed}: {printable(reason)}; record it again with `weft run --record`"
    )
