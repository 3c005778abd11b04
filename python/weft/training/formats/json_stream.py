# SPDX-License-Identifier: LGPL-2.1-only
"""Long arrays in JSON files, decoded block by block.

A block is cut after an object that ends at the array's own level. The same text may also occur at a
deeper level or in a string, but then the text before it is not a valid JSON array, decoding fails,
and the previous cut is tried.
"""

import re
from collections.abc import Iterator
from typing import Any, TypeVar

import msgspec

from weft.training.formats.source import Source

T = TypeVar("T")

_BETWEEN = re.compile(rb"\}\s*,\s*(?=\{)")
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{}]', re.DOTALL)
_LONGEST_HEAD = 1 << 27
_CUT_WINDOW = 1 << 17
_CUTS = 16


class ArrayReader:
    """Objects of one array of a JSON file, and the document without the array."""

    def __init__(self, source: Source, key: str) -> None:
        """Read up to the array, which is a member of the document or the whole document."""
        self._source = source
        self.around: dict[str, Any] = {}
        """Members of the document before the array; all members after the last object."""
        head, start = self._head(key.encode())
        if start:
            self.around = self._object(head[:start] + b"]}", key)
        self._rest = head[start or head.index(b"[") + 1 :]
        self._whole = not start

    def _head(self, key: bytes) -> tuple[bytes, int]:
        """Return the first bytes, and the offset of the array's content in them."""
        named = re.compile(rb'"' + key + rb'"\s*:\s*\[')
        head = b""
        while len(head) < _LONGEST_HEAD:
            block = self._source.read()
            head += block
            if head.lstrip()[:1] == b"[":
                return head, 0
            if match := named.search(head):
                return head, match.end()
            if not block:
                break
        self._source.refuse(
            f"found no array '{key.decode()}'", "name a trace, or record it again: it may be cut"
        )

    def objects(self, decoder: "msgspec.json.Decoder[list[T]]") -> Iterator[list[T]]:
        """Yield the objects of the array in batches."""
        buffer = self._rest
        self._rest = b""
        while True:
            block = self._source.read()
            if not block:
                break
            found = self._cut(buffer, decoder)
            if found is not None:
                objects, end = found
                yield objects
                buffer = buffer[end:]
            buffer += block
        yield from self._last(buffer, decoder)

    def _cut(
        self, buffer: bytes, decoder: "msgspec.json.Decoder[list[T]]"
    ) -> tuple[list[T], int] | None:
        """Decode all objects up to the last valid cut of a buffer; None if there is none."""
        first = max(0, len(buffer) - _CUT_WINDOW)
        cuts = [match for match in _BETWEEN.finditer(buffer, first)][-_CUTS:]
        for cut in reversed(cuts):
            try:
                return _decoded(decoder, b"[" + buffer[: cut.start() + 1] + b"]"), cut.end()
            except msgspec.ValidationError as error:
                self._refuse(error)
            except msgspec.DecodeError:
                continue
        return None

    def _last(self, buffer: bytes, decoder: "msgspec.json.Decoder[list[T]]") -> Iterator[list[T]]:
        end = _end_of_array(buffer)
        if end is None:
            self._source.refuse("truncated: the JSON text ends within an array")
        try:
            yield _decoded(decoder, b"[" + buffer[:end] + b"]")
        except msgspec.DecodeError as error:
            self._refuse(error)
        rest = buffer[end + 1 :].strip()
        if not self._whole:
            self.around |= self._object(b'{"":0' + rest, "")
            self.around.pop("", None)

    def _object(self, text: bytes, key: str) -> dict[str, Any]:
        try:
            found = _decoded(msgspec.json.Decoder(), text)
        except msgspec.DecodeError as error:
            self._refuse(error)
        if not isinstance(found, dict):
            self._source.refuse("found no JSON object", "name a trace")
        found.pop(key, None)
        return found

    def _refuse(self, error: Exception) -> None:
        self._source.refuse(f"is not valid JSON of a trace ({error})")


def _decoded(decoder: "msgspec.json.Decoder[T]", text: bytes) -> T:
    """Decode JSON; bytes of kernel names that are not UTF-8 become replacement characters."""
    try:
        return decoder.decode(text)
    except UnicodeDecodeError:
        return decoder.decode(text.decode(errors="replace"))


def _end_of_array(buffer: bytes) -> int | None:
    """Return the offset of the bracket that closes the array at whose content a buffer begins."""
    depth = 0
    for match in _TOKEN.finditer(buffer):
        token = match[0]
        if token in (b"[", b"{"):
            depth += 1
        elif token in (b"]", b"}"):
            depth -= 1
            if depth < 0:
                return match.start()
    return None
