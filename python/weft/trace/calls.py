# SPDX-License-Identifier: LGPL-2.1-only
"""Files of calls: weft's own recording of a run (src/trace/calls.hpp), gzip-compressed.

weft checks a file before each replay, which would hang on a truncated file.
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
"""Higher levels take much longer for a few percent."""


def pack(raw: Path, ranks: int, target: Path) -> int:
    """Check and compress the recording of a run; return the number of rank lines.

    Raises an `UnfitError` if it cannot be replayed.
    """
    check = check_of(ranks)
    try:
        with raw.open("rb") as lines, target.open("wb") as file:
            # Without name and time, the same run produces the same file.
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
    """Decompress the lines for the replayer."""
    with gzip.open(packed, "rb") as lines, target.open("wb") as file:
        shutil.copyfileobj(lines, file, _CHUNK)


def look_through(packed: Path, ranks: int) -> None:
    """Check that a compressed file is replayable."""
    check = check_of(ranks)
    try:
        with gzip.open(packed, "rb") as lines:
            while chunk := lines.read(_CHUNK):
                check.add(chunk)
        check.end()
    except _core.UserError as error:
        raise _unusable(packed, str(error)) from None
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise _unusable(packed, f"it is damaged ({error})") from None


def check_of(ranks: int) -> _core.CallCheck:
    """Return a checker, to which lines are added in order."""
    return _core.CallCheck(ranks, set(DATATYPES) - {""}, set(OPERATIONS))


def _unusable(packed: Path, reason: str) -> WeftError:
    return WeftError(
        f"trace: {packed}: {printable(reason)}; record it again with `weft run --record`"
    )
