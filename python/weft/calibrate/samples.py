# SPDX-License-Identifier: LGPL-2.1-only
"""Times by message size, taken from a table and checked.

Measured times carry noise, so a larger message may come out a little quicker than a smaller one.
One that falls far behind is no noise: the table is mixed, or the column is another. How far depends
on what was timed: means of many messages, or single calls (MPI_Send and MPI_Recv apart), which vary
by factors.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np
import numpy.typing as npt

from weft.calibrate.tables import (
    Table,
    TableRow,
    read_table,
    seconds_per_unit,
    size_column,
    time_column,
)

Floats = npt.NDArray[np.float64]
_MEANS_FALL_TO = 0.7
_CALLS_FALL_TO = 0.25
_CALLS_BEFORE = 5
_SEND, _RECEIVE = "MPI_Send", "MPI_Recv"


@dataclass(frozen=True)
class Samples:
    """What one kind of message took, by rising sizes."""

    table: Table
    column: str
    bytes: Floats
    seconds: Floats

    def by_size(self) -> dict[int, float]:
        """Return the times in microseconds, as `weft.base.measured` compares them."""
        return {
            int(size): seconds * 1e6 for size, seconds in zip(self.bytes, self.seconds, strict=True)
        }


@dataclass(frozen=True)
class PingPong:
    """One-way times and, where the benchmark timed it apart, what MPI_Send took of them."""

    one_way: Samples
    send_seconds: Floats | None = None

    @property
    def source(self) -> str:
        """Say in one line where the numbers are from."""
        table = self.one_way.table
        return f"{table.path.name} ({table.form}), column {self.one_way.column}"


def read_pingpong(path: Path, column: str | None = None) -> PingPong:
    """Read a ping-pong of any of the formats."""
    table = read_table(path, "PingPong")
    if "op" not in table.names:
        return PingPong(read_samples(table, column))
    for row in table.rows:
        if (found := table.cell(row, "op")) not in (_SEND, _RECEIVE):
            table.fail(row.line, "op", f"found '{found}'; allowed are {_SEND} and {_RECEIVE}")
    send, receive = (read_samples(table, column, op) for op in (_SEND, _RECEIVE))
    if not np.array_equal(send.bytes, receive.bytes):
        odd = int(min(set(send.bytes) ^ set(receive.bytes)))
        line = next(row.line for row in table.rows if table.number(row, "bytes") == odd)
        table.fail(line, "bytes", f"{odd} B stands for only one of {_SEND} and {_RECEIVE}")
    one_way = Samples(table, send.column, send.bytes, (send.seconds + receive.seconds) / 2)
    return PingPong(one_way, send.seconds)


def read_allreduce(path: Path, column: str | None = None) -> Samples:
    """Read the times of an Allreduce by size."""
    return read_samples(read_table(path, "Allreduce"), column)


def read_samples(table: Table, column: str | None, op: str | None = None) -> Samples:
    """Take sizes and times of one operation, all of them where there is no such column."""
    rows = [row for row in table.rows if op is None or table.cell(row, "op") == op]
    times = time_column(table, column)
    if not rows:
        table.fail(table.rows[-1].line, "op", f"there is no row of {op}")
    scale = seconds_per_unit(table, times)
    sizes = check_sizes(table, rows)
    check_times(table, rows, times)
    return Samples(
        table,
        times,
        np.array([table.number(row, sizes) for row in rows]),
        np.array([table.number(row, times) * scale for row in rows]),
    )


def check_sizes(table: Table, rows: Sequence[TableRow]) -> str:
    """Prove that sizes are whole and rise, and return their column."""
    column = size_column(table)
    last = -1.0
    for row in rows:
        size = table.number(row, column)
        if size != int(size):
            table.fail(
                row.line, column, f"found '{table.cell(row, column)}'; sizes are whole bytes"
            )
        if size <= last:
            table.fail(
                row.line,
                column,
                f"{size:.0f} B follows {last:.0f} B; sizes must rise: mixed tables?",
            )
        last = size
    return column


def check_times(table: Table, rows: Sequence[TableRow], column: str) -> None:
    """Prove that times are positive and do not fall behind."""
    before: list[float] = []
    for row in rows:
        time = table.number(row, column)
        if time == 0:
            table.fail(row.line, column, "found 0; a message takes some time")
        if before and time < (least := _least(before, single_calls="op" in table.names)):
            table.fail(
                row.line,
                column,
                f"found {time:g}, and after the smaller messages above at least {least:g} is due:"
                " times that do not rise with the size cannot be fitted; mixed tables, or another"
                " column?",
            )
        before.append(time)


def _least(before: Sequence[float], *, single_calls: bool) -> float:
    if single_calls:
        return _CALLS_FALL_TO * median(before[-_CALLS_BEFORE:])
    return _MEANS_FALL_TO * max(before)


def check_count(samples: Samples, needed: int, why: str) -> None:
    """Prove that there are rows enough."""
    found = len(samples.bytes)
    if found < needed:
        table = samples.table
        table.fail(
            table.rows[-1].line,
            samples.column,
            f"the table ends after {found} rows, and {why} need {needed}",
        )
