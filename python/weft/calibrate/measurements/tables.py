# SPDX-License-Identifier: LGPL-2.1-only
"""Readers of measurement tables: OSU, SKaMPI, IMB, nccl-tests, perftests and plain CSV.

A reader turns a file into one `Table`: columns with names and units, and rows with their line
numbers. Each error names file, line and column.

The formats:

- OSU micro-benchmarks: `# OSU MPI …`, `# Size  Latency (us)`, then columns.
- IMB: blocks `# Benchmarking NAME`, `#bytes #repetitions t[usec] …`; the block is chosen by its
  name.
- SKaMPI 5: blocks `# begin result "NAME"` of lines `count= 1 4 12.3 …`: parameter, bytes, time in
  microseconds; the block is chosen by its name.
- nccl-tests, ucc_perftest, ucx_perftest, perftest (`weft.benchmarks.output`): the table has the
  columns `bytes` and `time_us` or `stream_GBps`; the benchmark is chosen by its name.
- CSV: comments with `#`, a line of names, rows. The name ends with the unit: `bytes`, `median_us`.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, NoReturn

from weft.base.errors import WeftError, named, suggestion
from weft.base.user_files import UnreadableError, looks_like_json, read_text
from weft.benchmarks.bytes_of import BYTES_OF
from weft.benchmarks.methods import METHODS, Method, method_in, method_named
from weft.benchmarks.output import Measured, is_output, read
from weft.benchmarks.placement import Placement

SECONDS = {"ns": 1e-9, "us": 1e-6, "usec": 1e-6, "ms": 1e-3, "s": 1.0, "sec": 1.0}
SIZE_NAMES = ("bytes", "size")
_PREFERRED = ("median", "t", "latency", "avg latency", "t_avg", "time", "mean", "avg")
_OSU_HEADER = r"#\s*Size\b"
_ROUND_TRIP = ("rtt", "round_trip", "roundtrip")


Rows = Literal["all", "even", "odd"]
"""Selection of rows; the second, fourth, … are the even ones."""
ROWS: tuple[Rows, ...] = ("all", "even", "odd")


def part(which: Rows) -> slice:
    """Return the slice of a selection: all rows, or every second."""
    return {"all": slice(None), "even": slice(1, None, 2), "odd": slice(0, None, 2)}[which]


@dataclass(frozen=True)
class TableRow:
    """One line of cells."""

    line: int
    cells: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """Table of a file; column names are as in the file."""

    path: Path
    form: str
    names: tuple[str, ...]
    rows: tuple[TableRow, ...]
    halved: bool = False
    """True if times are round trips, which are halved to one way."""
    lines: tuple[str, ...] = ()
    """All lines of the file."""
    placement: Placement | None = None
    """Ranks of the call, if the reader of the format knows them."""

    def method(self, given: str | None = None) -> Method:
        """Return the benchmark that produced the table, or `given` if the file does not name it."""
        if self.form in METHODS and self.form not in ("osu", "imb"):
            lines = [f"# benchmark: {self.form}"]
            return method_in(self.path, lines, given) if given else method_named(self.form)
        return method_in(self.path, self.lines, given)

    def fail(self, line: int, column: str, problem: str) -> NoReturn:
        """Raise an error about a cell of the file."""
        raise WeftError(f"{self.path}: line {line}: column '{column}': {problem}")

    def cell(self, row: TableRow, column: str) -> str:
        """Return the text of a row in an existing column."""
        return row.cells[self.names.index(column)]

    def number(self, row: TableRow, column: str) -> float:
        """Return a finite, non-negative number."""
        text = self.cell(row, column)
        try:
            value = float(text)
        except ValueError:
            value = float("nan")
        if not 0 <= value < float("inf"):
            self.fail(row.line, column, f"found '{text}'; allowed is a number, zero or more")
        return value

    @property
    def header_line(self) -> int:
        """Line above the first row, for errors about columns."""
        return self.rows[0].line - 1


def read_table(path: Path, benchmark: str) -> Table:
    """Read a file in any of the formats; `benchmark` selects the block if there are several."""
    try:
        text = read_text(path)
    except UnreadableError as error:
        raise WeftError(f"{path}: {error}; give a table of measurements") from None
    if looks_like_json(text):
        raise WeftError(
            f"{path}: is JSON; allowed is a table of measurements: CSV, or what osu_latency, IMB,"
            " SKaMPI or nccl-tests print"
        )
    lines = text.splitlines()
    table = _reader(lines)(path, lines, benchmark)
    if not table.rows:
        table.fail(max(1, len(lines)), table.names[0], "there are no rows below it")
    for row in table.rows:
        _check_width(table, row)
    return replace(table, lines=tuple(lines))


Reader = Callable[[Path, Sequence[str], str], Table]


def _reader(lines: Sequence[str]) -> Reader:
    for line in lines:
        if re.match(_OSU_HEADER, line):
            return _read_osu
        if re.match(r"#\s*Benchmarking\b", line):
            return _read_imb
        if re.match(r"#?\s*begin result\b", line):
            return _read_skampi
    return _read_output if is_output(lines) else _read_csv


def _check_width(table: Table, row: TableRow) -> None:
    found, wanted = len(row.cells), len(table.names)
    if found < wanted:
        table.fail(row.line, table.names[found], f"is missing: {found} of {wanted} columns")
    if found > wanted:
        table.fail(
            row.line,
            table.names[-1],
            f"{found} columns, and the header names {wanted}; are these two tables?",
        )


def _read_csv(path: Path, lines: Sequence[str], _benchmark: str) -> Table:
    rows = [
        TableRow(number, tuple(cell.strip() for cell in line.split(",")))
        for number, line in enumerate(lines, 1)
        if line.strip() and not line.startswith("#")
    ]
    if not rows:
        raise WeftError(f"{path}: line 1: column 'bytes': the file holds no table")
    header, *body = rows
    if len(header.cells) == 1 and ";" in header.cells[0]:
        raise WeftError(
            f"{path}: line {header.line}: its columns are separated by ';'; allowed is ',' (and '.'"
            " in numbers)"
        )
    for name in header.cells:
        if header.cells.count(name) > 1:
            raise WeftError(
                f"{path}: line {header.line}: column '{name}': appears twice; rename one"
            )
    table = Table(path, "CSV", header.cells, tuple(body))
    for row in body:
        if not any(_is_number(cell) for cell in row.cells):
            table.fail(
                row.line, header.cells[0], "a second header; put each table into its own file"
            )
    return table


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _read_osu(path: Path, lines: Sequence[str], _benchmark: str) -> Table:
    headers = [
        (number, line) for number, line in enumerate(lines, 1) if re.match(_OSU_HEADER, line)
    ]
    if len(headers) > 1:
        number = headers[1][0]
        raise WeftError(
            f"{path}: line {number}: column 'Size': a second header; put each table"
            " into its own file"
        )
    names = re.split(r"\s{2,}", headers[0][1].lstrip("# ").strip())
    return Table(path, "OSU", tuple(names), _plain_rows(lines))


def _plain_rows(lines: Sequence[str], first: int = 1) -> tuple[TableRow, ...]:
    return tuple(
        TableRow(number, tuple(line.split()))
        for number, line in enumerate(lines, first)
        if line.strip() and not line.lstrip().startswith("#")
    )


@dataclass
class _Block:
    """One benchmark of a file that contains several."""

    name: str
    first: int
    lines: list[str] = field(default_factory=list)


def _blocks(lines: Sequence[str], start: str) -> list[_Block]:
    blocks: list[_Block] = []
    for number, line in enumerate(lines, 1):
        if match := re.match(start, line):
            blocks.append(_Block(match[1], number + 1))
        elif blocks:
            blocks[-1].lines.append(line)
    return blocks


def _choose(path: Path, blocks: Sequence[_Block], benchmark: str) -> _Block:
    key = benchmark.lower()
    chosen = [block for block in blocks if re.match(rf"{key}(\b|_)", block.name.lower())]
    if not blocks:
        raise WeftError(
            f"{path}: none of its blocks has a name; give the original output of the benchmark"
        )
    if not chosen:
        names = [block.name for block in blocks]
        raise WeftError(
            f"{path}: line {blocks[0].first - 1}: column 'benchmark': no {benchmark} in this file;"
            f" {suggestion(benchmark, names)}"
        )
    if len(chosen) > 1:
        raise WeftError(
            f"{path}: line {chosen[1].first - 1}: column 'benchmark': a second {benchmark}:"
            " mixed tables; leave one in the file"
        )
    return chosen[0]


def _read_imb(path: Path, lines: Sequence[str], benchmark: str) -> Table:
    block = _choose(path, _blocks(lines, r"#\s*Benchmarking\s+(\S+)"), benchmark)
    header = next((line for line in block.lines if re.match(r"\s*#bytes\b", line)), None)
    if header is None:
        raise WeftError(f"{path}: line {block.first}: column 'bytes': there is no line `#bytes …`")
    names = tuple(name.lstrip("#") for name in header.split())
    return Table(path, "IMB", names, _plain_rows(block.lines, block.first))


def _read_skampi(path: Path, lines: Sequence[str], benchmark: str) -> Table:
    block = _choose(path, _blocks(lines, r'#?\s*begin result\s+"([^"]+)"'), benchmark)
    rows = tuple(
        TableRow(number, tuple(line.split()[2:4]))
        for number, line in enumerate(block.lines, block.first)
        if re.match(r"\w+=", line)
    )
    # Pingpong_… measures the whole round trip (SKaMPI-5, measure_Pingpong_Send_Recv).
    halved = block.name.startswith("Pingpong")
    return Table(path, "SKaMPI", ("bytes", "time_us"), rows, halved)


_MESSAGES = {"pingpong": "latency", "bandwidth": "bw"}


def _read_output(path: Path, _lines: Sequence[str], benchmark: str) -> Table:
    found = read(path)
    name = _MESSAGES.get(benchmark.lower(), benchmark.lower())
    chosen = [one for one in found if one.benchmark == name]
    if not chosen:
        first = found[0]
        first.fail(
            first.line,
            f"found {', '.join(dict.fromkeys(one.benchmark for one in found))} of {first.suite};"
            f" wanted is {name}",
        )
    if len(chosen) > 1:
        chosen[1].fail(
            chosen[1].line, f"a second {name} (line {chosen[0].line}); leave one in the file"
        )
    return _of_measured(chosen[0])


def _of_measured(one: Measured) -> Table:
    if one.memory != "HOST":
        one.fail(one.line, f"buffers in {one.memory} memory; give a measurement of host memory")
    if "groups" in one.options:
        one.fail(one.line, f"{one.options['groups']} communicators at the same time; give one's")
    timed = one.unit == "us"
    rows = tuple(
        TableRow(row.line, (str(row.bytes), repr(row.value if timed else row.value / 1e3)))
        for row in one.rows
    )
    names = ("bytes", "time_us" if timed else "stream_GBps")
    place = one.placement if one.benchmark in BYTES_OF else None
    return Table(one.path, one.suite, names, rows, placement=place)


# ---- Columns and their units ---------------------------------------------------------------------


def split_unit(name: str) -> tuple[str, str]:
    """Return quantity and unit of a column such as `median_us`, `t[usec]` or `Avg Latency(us)`."""
    match = re.fullmatch(r"(.*?)\s*(?:\[(\w+)\]|\((\w+)\))", name)
    if match:
        return match[1].lower(), match[2] or match[3]
    what, _, unit = name.rpartition("_")
    return (what.lower(), unit) if what else (name.lower(), "")


def size_column(table: Table, allowed: Sequence[str] = SIZE_NAMES) -> str:
    """Return the column of message sizes."""
    for name in table.names:
        if name.lower() in allowed:
            return name
    table.fail(
        table.header_line,
        table.names[0],
        f"no column of message sizes; allowed names are {' and '.join(allowed)}, in bytes",
    )


def time_column(table: Table, wanted: str | None) -> str:
    """Return the column of times: the one named by the user, else the conventional one."""
    if wanted is not None:
        if wanted not in table.names:
            table.fail(
                table.header_line, wanted, f"there is none; {suggestion(wanted, table.names)}"
            )
        seconds_per_unit(table, wanted)
        return wanted
    timed = [name for name in table.names if split_unit(name)[1] in SECONDS]
    for usual in _PREFERRED:
        for name in timed:
            if split_unit(name)[0] == usual:
                return name
    if len(timed) == 1:
        return timed[0]
    several = f"several columns of times; choose one with {named('column')}"
    problem = several if timed else _no_times()
    table.fail(table.header_line, ", ".join(timed or table.names), problem)


def _no_times() -> str:
    names = ", ".join(f"time_{unit}" for unit in SECONDS)
    return f"none is a time; names of times end in their unit: {names}"


def seconds_per_unit(table: Table, column: str) -> float:
    """Return the one-way seconds per unit of a column."""
    what, unit = split_unit(column)
    if unit not in SECONDS:
        table.fail(
            table.header_line,
            column,
            f"unknown unit '{unit}'; allowed are {', '.join(SECONDS)}: write for example time_us",
        )
    halved = table.halved or what.startswith(_ROUND_TRIP)
    return SECONDS[unit] * (0.5 if halved else 1.0)
