# SPDX-License-Identifier: LGPL-2.1-only
"""Parser for the output of the OSU micro-benchmarks and IMB.

A file may hold several benchmarks, separated by other job output; each becomes a `Measured`. A
benchmark begins at `# OSU MPI Allreduce Latency Test v5.6.2` or `# Benchmarking Allreduce`, its
column header at `# Size …` or `#bytes …`, and its rows are the numeric lines that follow. Other
lines are ignored, but a numeric line that does not match the columns is an error. Times are
converted to microseconds and rates to 10^6 bytes/s according to the units in the column names.

`weft.benchmarks.placement` determines where ranks are placed.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NoReturn

from weft.base.errors import WeftError
from weft.base.units import format_size
from weft.base.user_files import UnreadableError, read_text
from weft.benchmarks.bytes_of import LARGEST
from weft.benchmarks.names import IMB_NAMES, osu_name
from weft.benchmarks.placement import (
    Header,
    Placement,
    PlacementSource,
    lines_said,
    said_in_name,
    settled,
)

Suite = Literal["OSU", "IMB"]
Unit = Literal["us", "MB/s"]

_OSU_TITLE = re.compile(r"#\s*OSU MPI(?:-(\S+))?(?:\s+|(?=_))(.*?)\s*v(\d[\w.]*)\s*$")
_OSU_COLUMNS = re.compile(r"#\s*(Size\b|Avg Lat|Overall ?\(|Latency|Bandwidth).*")
_IMB_SUITE = re.compile(r"#\s*Intel\s*\(R\)\s*MPI Benchmarks?\s*(.*?),?\s*(MPI-\S+ part)?\s*$")
_IMB_BENCHMARK = re.compile(r"#\s*Benchmarking\s+(\S+)\s*$")
_IMB_PROCESSES = re.compile(r"#\s*#processes\s*=\s*(\d+)")
_IMB_WAITING = re.compile(r"#\s*\(\s*(\d+) additional process")
_IMB_COLUMNS = re.compile(r"\s*#(bytes|repetitions)\b.*")
_OPTION = re.compile(
    r"#\s*(Datatype|Window creation|Synchronization|MPI_Datatype(?: for reductions)?|MPI_Op)"
    r"\s*:\s*(.*?)\.?\s*$"
)
_PAIRS = re.compile(r"#\s*\[\s*pairs:\s*(\d+)\s*\]\s*\[\s*window size:\s*([^\]\s]+)\s*\]")
_MEMORY = re.compile(r"#\s*Send Buffer on (\S+)")

_SECONDS = {"ns": 1e-3, "us": 1.0, "usec": 1.0, "ms": 1e3, "msec": 1e3, "s": 1e6, "sec": 1e6}
_RATES = {
    **{name: 1.0 for name in ("MB/s", "MBytes/s", "Mbytes/sec", "MB/sec")},
    **{name: 1024.0**2 / 1e6 for name in ("MiB/s", "MiB/sec")},
    **{name: 1e3 for name in ("GB/s", "GB/sec")},
    **{name: 1024.0**3 / 1e6 for name in ("GiB/s", "GiB/sec")},
    **{name: 1e-3 for name in ("KB/s", "kB/s")},
    **{name: 0.125 for name in ("Mb/s", "Mbps", "Mbit/s")},
    **{name: 125.0 for name in ("Gb/s", "Gbps", "Gbit/s")},
}
# Candidate value columns in order of preference, named without their unit.
_VALUES = (
    *("avg latency", "avg lat", "latency", "overall", "overall latency", "bandwidth"),
    *("t_avg", "t", "t_ovrl", "t_pure", ""),
)
_UNIT = re.compile(r"(.*?)\s*(?:\(([^)]*)\)|\[([^\]]*)\])\s*$")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*([eE][+-]?\d+)?|nan|inf)$", re.IGNORECASE)
# IMB's megabyte was 2^20 bytes up to IMB 2017 (IMB user guide, "throughput"), 10^6 since 2018.
_IMB_MEGABYTES = (1e6, 1024.0**2)
_SAME = 0.02
_ROUNDED = 1024


class NoBenchmarkError(WeftError):
    """Raised if a file contains no benchmark output."""


@dataclass(frozen=True)
class MeasuredRow:
    """One row of a benchmark."""

    bytes: int
    """Size as printed by the benchmark; 0 for benchmarks without sizes."""
    value: float
    """Value in the benchmark's unit."""
    line: int
    columns: Mapping[str, float] = field(default_factory=dict, compare=False)
    """All numbers of the row by column name as in the file, each in the column's own unit."""


@dataclass(frozen=True)
class Measured:
    """One benchmark of one file."""

    path: Path
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

    def fail(self, line: int, problem: str) -> NoReturn:
        """Raise an error that cites a line of the file."""
        raise WeftError(f"{self.path}: line {line}: {problem}")


def read(path: Path, root: Path | None = None) -> tuple[Measured, ...]:
    """Return the benchmarks of a file in file order.

    Ranks per host may also be encoded in the file's name, or in the names of its folders below
    `root`.

    Raises:
        NoBenchmarkError: The file contains no benchmark.
        WeftError: A row does not match the columns, or sources of rank counts contradict each
            other.
    """
    try:
        lines = read_text(path, old=True).splitlines()
    except UnreadableError as error:
        raise NoBenchmarkError(f"{path}: {error}; give outputs of OSU or IMB") from None
    starts = [number for number, line in enumerate(lines, 1) if _begins(line)]
    if not starts:
        raise NoBenchmarkError(
            f"{path}: has no output of the OSU micro-benchmarks or IMB: no line begins with"
            " '# OSU MPI' or '# Benchmarking'"
        )
    ends = [*(start - 1 for start in starts[1:]), len(lines)]
    named = said_in_name(path, root)
    head = lines_said(path, lines[: starts[0] - 1], 1)
    found = []
    said = head
    for start, end in zip(starts, ends, strict=True):
        block = _Block(path, lines, start, end)
        if measured := block.measured(said, named):
            found.append(measured)
        # A command echoed after a benchmark belongs to the next one.
        said = _replaced(said, lines_said(path, lines[start:end], start + 1))
    if not found:
        raise NoBenchmarkError(
            f"{path}: ends before any result: line {starts[-1]} names a benchmark, but no columns"
            " follow; leave out the file"
        )
    return tuple(found)


def _begins(line: str) -> bool:
    return bool(_OSU_TITLE.match(line) or _IMB_BENCHMARK.match(line))


def _replaced(
    said: Sequence[PlacementSource], later: Sequence[PlacementSource]
) -> list[PlacementSource]:
    """Merge placements in file order: a later command replaces an earlier one."""
    if any(one.is_command for one in later):
        said = [one for one in said if not one.is_command]
    return [*said, *later]


class _Block:
    """Lines of one benchmark."""

    def __init__(self, path: Path, lines: Sequence[str], start: int, end: int) -> None:
        self.path, self.lines, self.start, self.end = path, lines, start, end
        title = lines[start - 1]
        if osu := _OSU_TITLE.match(title):
            self.suite: Suite = "OSU"
            self.version, self.name = osu[3], osu_name(osu[2])
            self.options = {"memory": osu[1]} if osu[1] else {}
        else:
            imb = _IMB_BENCHMARK.match(title)
            assert imb is not None
            name = imb[1].lower()
            self.suite, self.name = "IMB", IMB_NAMES.get(name, name)
            self.version = _imb_version(lines[: start - 1])
            self.options = dict(_options(lines[: start - 1]))
        self.options |= dict(_options(lines[start:end]))

    def fail(self, line: int, problem: str) -> NoReturn:
        raise WeftError(f"{self.path}: line {line}: {problem}")

    def measured(
        self, said: Sequence[PlacementSource], named: Sequence[PlacementSource]
    ) -> Measured | None:
        """Return the benchmark, or None if it never printed its columns."""
        header = self._header()
        if header is None:
            return None
        names = _column_names(self.lines[header - 1])
        rows, unit = self._rows(header, names)
        if not rows:
            self.fail(header, f"{self.name}: there are no rows below it; leave out the file")
        self._check_sizes(rows)
        self._check_rates(header, rows, names)
        command = next((one.text for one in reversed(said) if one.is_command), None)
        if command is not None:
            self.options["command"] = command
        place = settled(self.path, self.name, self._placing_header(), said, named)
        return Measured(
            *(self.path, self.start, self.suite, self.version, self.name, unit, tuple(rows)),
            *(place, self.options),
        )

    def _header(self) -> int | None:
        wanted = _OSU_COLUMNS if self.suite == "OSU" else _IMB_COLUMNS
        for number in range(self.start + 1, self.end + 1):
            if wanted.match(self.lines[number - 1]):
                return number
        return None

    def _placing_header(self) -> Header:
        """Return the header's rank counts; surplus IMB processes wait in a barrier."""
        active, waiting, world = None, 0, None
        for number in range(self.start, self.end + 1):
            line = self.lines[number - 1]
            if match := _IMB_PROCESSES.match(line):
                active = int(match[1])
                world = PlacementSource(self.path, number, line.strip(), {"ranks": active})
            elif match := _IMB_WAITING.match(line):
                waiting = int(match[1])
            elif match := _PAIRS.match(line):
                world = PlacementSource(
                    self.path, number, line.strip(), {"ranks": 2 * int(match[1])}
                )
        if world and active and waiting:
            world = PlacementSource(world.path, world.line, world.text, {"ranks": active + waiting})
        return Header(self.start, active, world)

    def _rows(self, header: int, names: Sequence[str]) -> tuple[list[MeasuredRow], Unit]:
        column, scale, unit = self._value_column(header, names)
        sized = names[0].lower() in ("size", "bytes")
        rows: list[MeasuredRow] = []
        for number in range(header + 1, self.end + 1):
            cells = self.lines[number - 1].split()
            if not cells or not _NUMBER.match(cells[0]):
                continue
            if len(cells) > 1 and not _NUMBER.match(cells[1]):
                continue  # # job output that begins with a number
            if len(cells) != len(names):
                self.fail(
                    number,
                    f"found {len(cells)} columns, and line {header} names {len(names)}: is the"
                    " file cut off, or are these two tables?",
                )
            numbers = {
                name: float(cell)
                for name, cell in zip(names, cells, strict=True)
                if _NUMBER.match(cell)
            }
            value = numbers.get(column, math.nan)
            size = numbers[names[0]] if sized else 0.0
            if unit == "MB/s" and value == size == 0:
                continue  # # zero-byte message: the rate is zero
            if not 0 < value < math.inf:
                self.fail(
                    number,
                    f"column '{column}': found '{cells[names.index(column)]}'; allowed is a number"
                    " above zero",
                )
            if not (0 <= size <= LARGEST and size == int(size)):
                allowed = f"whole bytes up to {format_size(LARGEST)}"
                self.fail(number, f"found '{cells[0]}' bytes; allowed are {allowed}")
            rows.append(MeasuredRow(int(size), value * scale, number, numbers))
        return rows, unit

    def _value_column(self, header: int, names: Sequence[str]) -> tuple[str, float, Unit]:
        found: dict[str, tuple[str, str]] = {}
        for name in names:
            match = _UNIT.match(name)
            what, unit = (match[1].lower(), match[2] or match[3]) if match else ("", name)
            if match is None and name not in _RATES:
                continue
            found.setdefault("" if match is None else what, (name, unit))
        for what in _VALUES:
            if what not in found:
                continue
            name, unit = found[what]
            if unit in _SECONDS:
                return name, _SECONDS[unit], "us"
            if unit in _RATES:
                return name, _RATES[unit], "MB/s"
            allowed = ", ".join([*_SECONDS, *_RATES])
            self.fail(header, f"column '{name}': unknown unit '{unit}'; allowed are {allowed}")
        self.fail(
            header,
            f"{self.name}: found the columns {', '.join(names)}; none is a time or a rate with its"
            " unit, such as 'Latency (us)' or 'Bandwidth (MB/s)'",
        )

    def _check_sizes(self, rows: Sequence[MeasuredRow]) -> None:
        last = None
        for row in rows:
            if last is not None and row.bytes <= last.bytes:
                again = "stands twice" if row.bytes == last.bytes else f"follows {last.bytes} B"
                self.fail(
                    row.line,
                    f"{row.bytes} B {again} (line {last.line}); sizes must increase; are these two"
                    " tables?",
                )
            last = row

    def _check_rates(self, header: int, rows: Sequence[MeasuredRow], names: Sequence[str]) -> None:
        """Check a column of rates against the times or the message rate beside it."""
        rate = next((name for name in names if name in _RATES), None)
        messages = "Messages/s" in names
        if rate is None or not (messages or (self.suite == "IMB" and self.name == "latency")):
            return
        megabytes = _IMB_MEGABYTES if self.suite == "IMB" else (1e6,)
        for row in rows:
            if row.bytes < _ROUNDED or not row.columns.get(rate):
                continue
            said = row.columns[rate] * _RATES[rate]
            if messages:
                rate_of_messages = row.columns.get("Messages/s", 0.0)
                real = rate_of_messages * row.bytes
                text = f"{rate_of_messages:g} messages/s of {row.bytes} B"
            else:
                real = row.bytes / (row.value * 1e-6)
                text = f"{row.value:g} us for {row.bytes} B"
            if not real or all(abs(said * one / real - 1) > _SAME for one in megabytes):
                self.fail(
                    row.line,
                    f"units disagree: {row.columns[rate]:g} {rate} and {text}, which is"
                    f" {real / 1e6:.4g} MB/s; correct the units in line {header}",
                )


def _column_names(line: str) -> list[str]:
    text = line.strip().lstrip("#").strip()
    if re.match(r"(bytes|repetitions)\b", text):
        return [name.lstrip("#") for name in text.split()]
    return re.split(r"\s{2,}", text)


def _imb_version(lines: Sequence[str]) -> str:
    for line in reversed(lines):
        if match := _IMB_SUITE.match(line):
            return match[1].removeprefix("Suite ").strip(" ,V")
    return ""


def _options(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    for line in lines:
        if match := _OPTION.match(line):
            yield match[1].lower().replace(" ", "_").removeprefix("mpi_"), match[2]
        elif match := _PAIRS.match(line):
            yield from (("pairs", match[1]), ("window", match[2]))
        elif match := _MEMORY.match(line):
            yield "memory", match[1]
