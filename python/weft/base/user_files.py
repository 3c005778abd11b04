# SPDX-License-Identifier: LGPL-2.1-only
"""Bounded, strict reading of text files from users.

Every Python reader starts here (src/base/option_file.cpp reads fabrics), so that weft's own errors
report unusable files: endless devices, gigabytes, bytes that are not text, JSON with numbers that
JSON does not allow, names with terminal control characters.
"""

import gzip
import io
import json
import re
import tomllib
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

from weft.base.errors import WeftError, printable

MOST_BYTES = 1 << 28
"""Size limit, above any table, plan or record; only trace actions are larger, and are streamed."""
_GZIP = b"\x1f\x8b"
"""Magic number (RFC 1952, section 2.3.1)."""
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


class UnreadableError(WeftError):
    """Reason why a file is unusable, as a clause that the caller puts into context."""


def read_text(path: Path, *, old: bool = False) -> str:
    """Return a file's text with line feeds as its only line ends. Raises `UnreadableError`.

    `old` also admits gzip compression, and comments in another encoding, for archived files.
    """
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise UnreadableError(f"cannot be read: {error.strerror}") from None
    if old and content.startswith(_GZIP):
        content = _decompressed(content)
    if len(content) > MOST_BYTES:
        raise UnreadableError(f"has more than {MOST_BYTES >> 20} MiB; allowed: a text file")
    try:
        text = content.decode("utf-8-sig", errors="replace" if old else "strict")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UnreadableError(f"is not text: line {line} is not UTF-8") from None
    if not old and (found := _CONTROL.search(text)):
        line = text.count("\n", 0, found.start()) + 1
        raise UnreadableError(
            f"is not text: line {line} has the control character {printable(found[0])}"
        )
    return text.replace("\r\n", "\n")


def _decompressed(content: bytes) -> bytes:
    """Return the decompressed content, cut one byte above the limit."""
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
            return file.read(MOST_BYTES + 1)
    except (OSError, EOFError, zlib.error):
        raise UnreadableError("is a damaged gzip file") from None


def looks_like_json(text: str) -> bool:
    """Return true if a text begins as weft's JSON files do."""
    return text.lstrip()[:1] in ("{", "[")


def read_json(path: Path) -> Any:
    """Return the content of a JSON file. Raises `UnreadableError`."""
    text = read_text(path)
    try:
        found = json.loads(text, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise UnreadableError(f"is not valid JSON: error at {place}") from None
    except RecursionError:
        raise UnreadableError("is nested too deeply") from None
    except ValueError:
        raise UnreadableError("has a number that is not finite") from None
    _refuse_controls(found)
    return found


def read_toml(path: Path) -> dict[str, Any]:
    """Return the content of a TOML file. Raises `UnreadableError`."""
    try:
        found = tomllib.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        raise UnreadableError(f"invalid TOML: {printable(str(error))}") from None
    _refuse_controls(found)
    return found


def _refuse_controls(found: Any) -> None:
    for said in _texts(found):
        if control := _CONTROL.search(said):
            raise UnreadableError(
                f"holds the control character {printable(control[0])}; names must not have any"
            )


def _no_number(_text: str) -> NoReturn:
    raise ValueError


def _texts(found: Any) -> Iterator[str]:
    """Yield the single-line strings of a JSON document, keys included."""
    waiting = [found]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            if "\n" not in one:  # an embedded file, checked by its own reader
                yield one
        elif isinstance(one, dict):
            waiting += [*one, *one.values()]
        elif isinstance(one, list):
            waiting += one


def described(value: Any) -> str:
    """Return a description of a value for error messages."""
    if isinstance(value, str):
        return f"'{printable(value[:40])}'"
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    return json.dumps(value)[:40]
