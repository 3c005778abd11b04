# SPDX-License-Identifier: LGPL-2.1-only
"""Wire format of Protocol Buffers: the subset in Chakra's messages.

A message is a sequence of fields: a varint with the field's number and wire type, then the value
(https://protobuf.dev/programming-guides/encoding). Files are sequences of messages, each preceded
by its length as a varint.
"""

import struct
from collections.abc import Iterator

from weft.training.formats.source import BLOCK, Source

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
_LONGEST_MESSAGE = 1 << 30
_LONGEST_VARINT = 10

Value = int | bytes
"""Varint or fixed-width value as an unsigned integer; bytes for all other wire types."""


class WireError(Exception):
    """Bytes that are not a valid message."""


def varint(data: bytes, at: int) -> tuple[int, int]:
    """Return the varint at an offset, and the offset after it. Raises `WireError`."""
    value = shift = 0
    try:
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            if byte < 128:
                return value, at
            shift += 7
            if shift >= 7 * _LONGEST_VARINT:
                raise WireError
    except IndexError:
        raise WireError from None


def fields(data: bytes) -> Iterator[tuple[int, Value]]:
    """Yield the number and value of each field of a message. Raises `WireError`."""
    at, end = 0, len(data)
    while at < end:
        key = data[at]
        at += 1
        if key >= 128:
            key, at = varint(data, at - 1)
        wire = key & 7
        if wire == VARINT:
            value = data[at] if at < end else 128
            at += 1
            if value >= 128:
                value, at = varint(data, at - 1)
            yield key >> 3, value
            continue
        if wire == BYTES:
            size, at = varint(data, at)
        elif wire == FIXED64:
            size = 8
        elif wire == FIXED32:
            size = 4
        else:
            raise WireError
        if at + size > end or key < 8:
            raise WireError
        part = data[at : at + size]
        at += size
        yield key >> 3, part if wire == BYTES else int.from_bytes(part, "little")


def packed(data: bytes) -> list[int]:
    """Return the varints of a packed list. Raises `WireError`."""
    if not data or max(data) < 128:
        return list(data)
    values = []
    value = shift = 0
    for byte in data:
        value |= (byte & 127) << shift
        if byte < 128:
            values.append(value)
            value = shift = 0
        else:
            shift += 7
    if shift:
        raise WireError
    return values


def signed(value: int) -> int:
    """Decode a varint as int32 or int64."""
    return value - (1 << 64) if value >> 63 else value


def zigzag(value: int) -> int:
    """Decode a varint as sint32 or sint64."""
    return (value >> 1) ^ -(value & 1)


def real(value: int, width: int) -> float:
    """Return the float or double with the given bits. Raises `WireError`."""
    form = "<d" if width == 8 else "<f"
    if value >> 8 * width:
        raise WireError
    number: float = struct.unpack(form, value.to_bytes(width, "little"))[0]
    return number


def messages(source: Source) -> Iterator[bytes]:
    """Yield the messages of a file; the first may be empty, later empty messages are padding."""
    buffer, at, count = b"", 0, 0
    while True:
        if len(buffer) - at < _LONGEST_VARINT:
            buffer, at = buffer[at:] + source.read(), 0
            if not buffer:
                return
        try:
            size, start = varint(buffer, at)
        except WireError:
            _refuse(source, count)
        if size > _LONGEST_MESSAGE:
            source.refuse(
                f"message {count} would have {size:,} bytes: this is not a Chakra execution trace",
                "name files that Chakra's converter has written",
            )
        while len(buffer) - start < size:
            more = source.read(max(BLOCK, size))
            if not more:
                _refuse(source, count)
            buffer, start = buffer[start:] + more, 0
        at = start + size
        if size or not count:
            yield buffer[start:at]
        count += 1


def _refuse(source: Source, count: int) -> None:
    source.refuse(f"truncated: the file ends within message {count}")
