# SPDX-License-Identifier: LGPL-2.1-only
"""Measured benchmarks of a file, and the block of lines that contains each benchmark."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NoReturn

from weft.base.errors import WeftError
from weft.base.units import format_size
from weft.benchmarks.bytes_of import LARGEST
from weft.benchmarks.placement import Placement, PlacementSource

Suite = Literal["OSU", "IMB", "nccl-tests", "ucc_perftest", "ucx_perftest", "perftest"]
"""Programs that print measurements; `perftest` covers `ib_write_bw` and its siblings."""
BELOW_MPI: tuple[Suite, ...] = ("ucx_perftest", "perftest")
"""Suites that measure messages of a layer below the MPI library."""
Unit = Literal["us", "MB/s"]
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*([eE][+-]?\d+)?|nan|inf)$", re.IGNORECASE)


class NoBenchmarkError(WeftError):
    """Raised if a file contains no benchmark output."""


@dataclass(frozen=True)
class MeasuredRow:
    """One row of a benchmark."""

    bytes: int
    """Size as OSU counts it (`weft.benchmarks.bytes_of`); 0 for benchmarks without sizes."""
    value: float
    """Value in the benchmark's unit."""
    line: int
    columns: Mapping[str, float] = field(default_factory=dict, compare=False)
    """All numbers of the row by column name as in the file, each in the column's own unit."""


@dataclass(frozen=True)
class _OfFile:
    """Line references into a file."""

    path: Path

    def fail(self, line: int, problem: str) -> NoReturn:
        """Raise an error that cites a line of the file."""
        raise WeftError(f"{self.path}: line {line}: {problem}")


@dataclass(frozen=True)
class Measured(_OfFile):
    """Benchmark result from a file."""

    line: int
    """Number of the line that names the benchmark."""
    suite: Suite
    version: str
    benchmark: str
    """OSU's name without `osu_`: `latency`, `mbw_mr`, `allreduce`, `iallreduce`."""
    unit: Unit
    rows: tuple[MeasuredRow, ...]
    placement: Placement
    options: Mapping[str, str]
    """`datatype`, `window`, `pairs`, `memory`, `command`, …, if present in the file."""
    notes: tuple[str, ...] = ()
    """Differences between the measured call and its MPI equivalent, in sentences."""

    @property
    def ranks(self) -> int | None:
        """Ranks of the call, if known."""
        return self.placement.ranks

    @property
    def ppn(self) -> int | None:
        """Ranks per host, if known."""
        return self.placement.ppn

    @property
    def hosts(self) -> int | None:
        """Hosts, if known."""
        return self.placement.hosts

    @property
    def memory(self) -> str:
        """Memory of the buffers: `HOST` unless the file names device memory."""
        said = self.options.get("memory", "HOST")
        return "HOST" if said == "H" else said

    @property
    def seconds(self) -> dict[int, float]:
        """Times by size in seconds; raises `ValueError` for rates."""
        if self.unit != "us":
            raise ValueError(self.unit)
        return {row.bytes: row.value * 1e-6 for row in self.rows}


@dataclass(frozen=True)
class Block(_OfFile):
    """Lines of a file from the start of one benchmark to the start of the next."""

    lines: Sequence[str]
    """All lines of the file, without launcher prefixes."""
    start: int
    """Number of the first line."""
    end: int
    """Number of the last line."""
    before: int
    """Number of the first line of the previous block, or 0."""
    said: Sequence[PlacementSource]
    """Statements about ranks up to this block."""
    named: Sequence[PlacementSource]
    """Statements about ranks in the names of file and folders."""

    @property
    def numbered(self) -> list[tuple[int, str]]:
        """Lines of the block with their numbers."""
        return [(number, self.lines[number - 1]) for number in range(self.start, self.end + 1)]

    @property
    def head(self) -> list[tuple[int, str]]:
        """Lines from the previous block's start to this block's start, with their numbers."""
        return [
            (number, self.lines[number - 1]) for number in range(self.before + 1, self.start + 1)
        ]

    @property
    def command(self) -> str | None:
        """Last launcher's command before the benchmark."""
        return next((one.text for one in reversed(self.said) if one.is_command), None)

    def check_value(self, line: int, column: str, text: str) -> float:
        """Return a time or rate, which must be a number above zero."""
        value = number(text)
        if value is None or not 0 < value < math.inf:
            self.fail(line, f"column '{column}': found '{text}'; allowed is a number above zero")
        return value

    def check_size(self, line: int, text: str) -> int:
        """Return a size in whole bytes."""
        size = number(text)
        if size is None or not (0 <= size <= LARGEST and size == int(size)):
            allowed = f"whole bytes up to {format_size(LARGEST)}"
            self.fail(line, f"found '{text}' bytes; allowed are {allowed}")
        return int(size)


def number(text: str) -> float | None:
    """Parse a cell as a number; None if it is not a number, such as `N/A`."""
    return float(text) if _NUMBER.match(text) else None


def in_series(rows: Sequence[MeasuredRow]) -> list[tuple[MeasuredRow, ...]]:
    """Split rows where sizes stop rising, which they do where a benchmark is repeated."""
    found: list[list[MeasuredRow]] = []
    for row in rows:
        if not found or row.bytes <= found[-1][-1].bytes:
            found.append([])
        found[-1].append(row)
    return [tuple(some) for some in found]
