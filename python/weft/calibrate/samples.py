# SPDX-License-Identifier: LGPL-2.1-only
"""Times by message size, taken from a table and checked.

Measured times carry noise, so a larger message may come out quicker than a smaller one, and a
single row may be far off. Where the times as a whole do not rise with the size, that is no noise:
the table is mixed, or the column is another. They are held against the nearest rising curve.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np
import numpy.typing as npt

from weft.calibrate.tables import (
    Rows,
    Table,
    TableRow,
    part,
    read_table,
    seconds_per_unit,
    size_column,
    time_column,
)

Floats = npt.NDArray[np.float64]
# From the nearest rising curve, the mean |ln|. Single calls (MPI_Send and MPI_Recv apart) have 0.17
# in data/p2p_taurus_ethernet.csv, the noisiest table that there is.
_FARTHEST_FROM_RISING = 0.3
_SEND, _RECEIVE = "MPI_Send", "MPI_Recv"


@dataclass(frozen=True)
class Samples:
    """What one kind of message took, by rising sizes."""

    table: Table
    column: str
    bytes: Floats
    seconds: Floats

    def of(self, rows: Rows) -> "Samples":
        """Return every second row, or all."""
        taken = part(rows)
        return Samples(self.table, self.column, self.bytes[taken], self.seconds[taken])

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

    def of(self, rows: Rows) -> "PingPong":
        """Return every second row, or all."""
        sends = self.send_seconds
        return PingPong(self.one_way.of(rows), None if sends is None else sends[part(rows)])

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
    """Prove that times are positive and rise, but for noise."""
    times = [table.number(row, column) for row in rows]
    for row, time in zip(rows, times, strict=True):
        if time == 0:
            table.fail(row.line, column, "found 0; a message takes some time")
    logs = np.log(times)
    rising = _nearest_rising(logs)
    if np.abs(logs - rising).mean() <= _FARTHEST_FROM_RISING:
        return
    worst = int(np.argmax(rising - logs))
    table.fail(
        rows[worst].line,
        column,
        f"found {times[worst]:g}, and {np.exp(rising[worst]):.4g} would be in line with the rows"
        " around it: times that do not rise with the size cannot be fitted; mixed tables, or"
        " another column?",
    )


def _nearest_rising(values: Floats) -> Floats:
    """Return the curve that never falls with the least deviations (pool adjacent violators)."""
    pools: list[list[float]] = []
    for value in values.tolist():
        pool = [value]
        while pools and median(pools[-1]) > median(pool):
            pool = pools.pop() + pool
        pools.append(pool)
    return np.concatenate([np.full(len(pool), median(pool)) for pool in pools])


def check_count(samples: Samples, needed: int, why: str, rows: Rows = "all") -> None:
    """Prove that there are rows enough."""
    found = len(samples.bytes)
    if found < needed:
        table = samples.table
        taken = f"the table ends after {found} rows" if rows == "all" else f"{found} {rows} rows"
        table.fail(table.rows[-1].line, samples.column, f"{taken}, and {why} need {needed}")
