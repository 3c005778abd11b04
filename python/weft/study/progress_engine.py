# SPDX-License-Identifier: LGPL-2.1-only
"""Tables of a progress engine's throughput for multicast chunks, and of its memory capacity."""

import csv
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from weft import _core
from weft.base.errors import WeftError, named
from weft.base.output import whole_file
from weft.base.units import format_size

if TYPE_CHECKING:
    from weft._core import ProgressEngine

TRANSPORTS = ("ud", "uc")
UD_LARGEST_BYTES = 4096
"""Largest datagram: InfiniBand's largest MTU (Khalilov et al., SC '24, section II-B)."""
PSN_BITS = range(10, 33)
"""The chunk number is part of the 32 bits of a completion's immediate data (section III-A)."""


@dataclass(frozen=True)
class Case:
    """Parameters; each combination of values is a row."""

    engine: str
    transports: Sequence[str] = TRANSPORTS
    threads: Sequence[int] = ()
    """Numbers of threads; if empty, powers of two up to all threads."""
    chunks_bytes: Sequence[int] = (4096,)
    buffers_bytes: Sequence[int] = ()
    """Buffer sizes; if empty, steady-state throughput."""
    link_bytes_per_s: float = math.inf


@dataclass(frozen=True)
class Throughput:
    """Row of the throughput table."""

    engine: str
    transport: str
    chunk_bytes: int
    buffer_bytes: int | None
    threads: int
    link_bytes_per_s: float
    chunks_per_s: float
    """Processing rate of the threads, regardless of the link rate."""
    bytes_per_s: float
    """Throughput, limited by the link rate."""


@dataclass(frozen=True)
class Memory:
    """Row of the memory table: a receive buffer whose chunks `psn_bits` can number."""

    engine: str
    psn_bits: int
    chunk_bytes: int
    buffer_bytes: int
    bitmap_bytes: int
    memory_bytes: float
    communicators: int


def throughput(case: Case) -> list[Throughput]:
    """Compute all rows, ordered by transport, chunk, buffer and threads."""
    _check_chunks(case)
    engine = _core.load_progress_engine(case.engine)
    threads = case.threads or _powers_of_two(engine.cores * engine.threads)
    return [
        _throughput(case, engine, transport, chunk, buffer, count)
        for transport in case.transports
        for chunk in case.chunks_bytes
        for buffer in case.buffers_bytes or (None,)
        for count in threads
    ]


def _check_chunks(case: Case) -> None:
    large = [size for size in case.chunks_bytes if size > UD_LARGEST_BYTES]
    if "ud" in case.transports and large:
        raise WeftError(
            f"{named('chunk')}: found {format_size(large[0])}; a UD datagram has at most"
            f" {format_size(UD_LARGEST_BYTES)}: use smaller chunks, or"
            f" {named('transport')} uc alone"
        )


def _powers_of_two(most: int) -> list[int]:
    return [1 << k for k in range(most.bit_length())]


def _throughput(
    case: Case,
    engine: "ProgressEngine",
    transport: str,
    chunk: int,
    buffer: int | None,
    threads: int,
) -> Throughput:
    link = case.link_bytes_per_s
    rate = engine.receive_chunks_per_s(transport, chunk, threads)
    if buffer is None:
        reached = min(rate * chunk, link)
    else:
        reached = buffer / engine.receive_time_s(transport, chunk, buffer, threads, link)
    return Throughput(case.engine, transport, chunk, buffer, threads, link, rate, reached)


def memory(engine: str, chunk_bytes: int) -> list[Memory]:
    """Compute the addressable buffer and its memory requirement for each number of bits."""
    loaded = _core.load_progress_engine(engine)
    return [_memory(engine, loaded, bits, chunk_bytes) for bits in PSN_BITS]


def _memory(name: str, engine: "ProgressEngine", bits: int, chunk: int) -> Memory:
    chunks = 1 << bits
    bitmap = int(_core.bitmap_bytes(chunks))
    fit = engine.communicators(chunks)
    return Memory(name, bits, chunk, chunks * chunk, bitmap, engine.memory_bytes, fit)


def addressable_bytes(row: Memory) -> float:
    """Return the receive buffer whose bitmap fills the memory: 8 chunks per byte."""
    return row.memory_bytes * 8 * row.chunk_bytes


def write_csv(
    rows: Sequence[Throughput | Memory], target: Path, option: str = named("csv")
) -> None:
    """Write a table atomically; unlimited values are `inf`."""
    with whole_file(option, target) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(field.name for field in fields(rows[0]))
        writer.writerows(list(_cells(row)) for row in rows)


def _cells(row: Throughput | Memory) -> Iterator[object]:
    for field in fields(row):
        value = getattr(row, field.name)
        yield f"{value:.9g}" if isinstance(value, float) else value
