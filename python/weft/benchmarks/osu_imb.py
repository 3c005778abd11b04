# SPDX-License-Identifier: LGPL-2.1-only
"""Reader for the output of the OSU micro-benchmarks and IMB.

A benchmark begins at `# OSU MPI Allreduce Latency Test v5.6.2` or `# Benchmarking Allreduce`, its
column header at `# Size …` or `#bytes …`, and its rows are the numeric lines that follow. Other
lines are ignored, but a numeric line that does not match the columns is an error. Times are
converted to microseconds and rates to 10^6 bytes/s according to the units in the column names.
"""

import re
from collections.abc import Iterator, Sequence

from weft.benchmarks.measurement import Block, Measured, MeasuredRow, Suite, Unit, number
from weft.benchmarks.names import IMB_NAMES, osu_name
from weft.benchmarks.placement import Header, PlacementSource, settled

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
# Candidates for the value column in order of preference, without their unit.
_VALUES = (
    *("avg latency", "avg lat", "latency", "overall", "overall latency", "bandwidth"),
    *("t_avg", "t", "t_ovrl", "t_pure", ""),
)
_UNIT = re.compile(r"(.*?)\s*(?:\(([^)]*)\)|\[([^\]]*)\])\s*$")
# IMB's megabyte was 2^20 bytes up to IMB 2017 (IMB user guide, "throughput"), 10^6 since 2018.
_IMB_MEGABYTES = (1e6, 1024.0**2)
_SAME = 0.02
_ROUNDED = 1024


def begins(line: str) -> bool:
    """Return True for the first line of a benchmark."""
    return bool(_OSU_TITLE.match(line) or _IMB_BENCHMARK.match(line))


def measured(block: Block) -> list[Measured]:
    """Return the benchmark, or nothing if it never printed its columns."""
    benchmark = _Benchmark(block)
    header = benchmark.header()
    return [] if header is None else [benchmark.measured(header)]


class _Benchmark:
    """Block of one benchmark."""

    def __init__(self, block: Block) -> None:
        self.block = block
        before, after = block.lines[: block.start - 1], block.lines[block.start : block.end]
        title = block.lines[block.start - 1]
        if osu := _OSU_TITLE.match(title):
            self.suite: Suite = "OSU"
            self.version, self.name = osu[3], osu_name(osu[2])
            self.options = {"memory": osu[1]} if osu[1] else {}
        else:
            imb = _IMB_BENCHMARK.match(title)
            assert imb is not None
            name = imb[1].lower()
            self.suite, self.name = "IMB", IMB_NAMES.get(name, name)
            self.version = _imb_version(before)
            self.options = dict(_options(before))
        self.options |= dict(_options(after))

    def measured(self, header: int) -> Measured:
        """Return the benchmark whose columns are named by the line `header`."""
        block = self.block
        names = _column_names(block.lines[header - 1])
        rows, unit = self._rows(header, names)
        if not rows:
            block.fail(header, f"{self.name}: there are no rows below it; leave out the file")
        self._check_sizes(rows)
        self._check_rates(header, rows, names)
        if block.command is not None:
            self.options["command"] = block.command
        place = settled(block.path, self.name, self._placing_header(), block.said, block.named)
        return Measured(
            *(block.path, block.start, self.suite, self.version, self.name, unit, tuple(rows)),
            *(place, self.options),
        )

    def header(self) -> int | None:
        """Return the number of the line that names the columns; None without such a line."""
        wanted = _OSU_COLUMNS if self.suite == "OSU" else _IMB_COLUMNS
        return next((line for line, text in self.block.numbered[1:] if wanted.match(text)), None)

    def _placing_header(self) -> Header:
        """Return the header's rank counts; surplus IMB processes wait in a barrier."""
        path = self.block.path
        active, waiting, world = None, 0, None
        for line, text in self.block.numbered:
            if match := _IMB_PROCESSES.match(text):
                active = int(match[1])
                world = PlacementSource(path, line, text.strip(), {"ranks": active})
            elif match := _IMB_WAITING.match(text):
                waiting = int(match[1])
            elif match := _PAIRS.match(text):
                world = PlacementSource(path, line, text.strip(), {"ranks": 2 * int(match[1])})
        if world and active and waiting:
            world = PlacementSource(world.path, world.line, world.text, {"ranks": active + waiting})
        return Header(self.block.start, active, world)

    def _rows(self, header: int, names: Sequence[str]) -> tuple[list[MeasuredRow], Unit]:
        column, scale, unit = self._value_column(header, names)
        sized = names[0].lower() in ("size", "bytes")
        rows: list[MeasuredRow] = []
        for line, text in self.block.numbered[header + 1 - self.block.start :]:
            cells = text.split()
            if not cells or number(cells[0]) is None:
                continue
            if len(cells) > 1 and number(cells[1]) is None:
                continue  # job output that begins with a number
            if len(cells) != len(names):
                self.block.fail(
                    line,
                    f"found {len(cells)} columns, and line {header} names {len(names)}: is the"
                    " file cut off, or are these two tables?",
                )
            its = dict(zip(names, cells, strict=True))
            numbers = {
                name: value for name, cell in its.items() if (value := number(cell)) is not None
            }
            if unit == "MB/s" and numbers.get(column) == 0 and not (sized and numbers[names[0]]):
                continue  # zero-byte message: the rate is zero
            value = self.block.check_value(line, column, its[column])
            size = self.block.check_size(line, cells[0]) if sized else 0
            rows.append(MeasuredRow(size, value * scale, line, numbers))
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
            self.block.fail(
                header, f"column '{name}': unknown unit '{unit}'; allowed are {allowed}"
            )
        self.block.fail(
            header,
            f"{self.name}: found the columns {', '.join(names)}; none is a time or a rate with its"
            " unit, such as 'Latency (us)' or 'Bandwidth (MB/s)'",
        )

    def _check_sizes(self, rows: Sequence[MeasuredRow]) -> None:
        last = None
        for row in rows:
            if last is not None and row.bytes <= last.bytes:
                again = "stands twice" if row.bytes == last.bytes else f"follows {last.bytes} B"
                self.block.fail(
                    row.line,
                    f"{row.bytes} B {again} (line {last.line}); sizes must increase; are these two"
                    " tables?",
                )
            last = row

    def _check_rates(self, header: int, rows: Sequence[MeasuredRow], names: Sequence[str]) -> None:
        """Check a column of rates against the adjacent times or message rates."""
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
                self.block.fail(
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
