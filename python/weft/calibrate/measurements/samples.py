# SPDX-License-Identifier: LGPL-2.1-only
"""Times by message size, extracted from a table and checked.

Measurements are noisy, so a larger message may be faster than a smaller one, and a single row may
be far off. If the times as a whole do not rise with the size, the cause is not noise: the table is
mixed, or the wrong column was chosen. Times are therefore compared with the nearest rising curve.

A table with columns `source` and `target` contains a ping-pong per pair of hosts, all with the same
sizes; the result is the median over the pairs, or one of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median

import numpy as np
import numpy.typing as npt

from weft.base.errors import WeftError, named, suggestion
from weft.calibrate.measurements.tables import (
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
# Largest mean |ln| from the nearest rising curve. Single calls (MPI_Send and MPI_Recv timed
# separately) reach 0.17 in data/p2p_taurus_ethernet.csv, the noisiest available table.
_FARTHEST_FROM_RISING = 0.3
_SEND, _RECEIVE = "MPI_Send", "MPI_Recv"
_SOURCE, _TARGET = "source", "target"

Pair = tuple[str, str]
"""The two hosts of a ping-pong."""


@dataclass(frozen=True)
class Samples:
    """Times of one kind of message, by increasing size."""

    table: Table
    column: str
    bytes: Floats
    seconds: Floats

    def of(self, rows: Rows) -> "Samples":
        """Return a selection of the rows."""
        taken = part(rows)
        return Samples(self.table, self.column, self.bytes[taken], self.seconds[taken])

    def by_size(self) -> dict[int, float]:
        """Return the times in microseconds by size, as compared by `weft.base.measured`."""
        return {
            int(size): seconds * 1e6 for size, seconds in zip(self.bytes, self.seconds, strict=True)
        }


@dataclass(frozen=True)
class PingPong:
    """One-way times and, if the benchmark timed it separately, the time spent in MPI_Send."""

    one_way: Samples
    send_seconds: Floats | None = None
    between: Mapping[Pair, Floats] = field(default_factory=dict)
    """One-way times by measured pair of hosts; empty if the table names none."""

    def of(self, rows: Rows) -> "PingPong":
        """Return a selection of the rows."""
        sends = self.send_seconds
        taken = part(rows)
        return PingPong(
            self.one_way.of(rows),
            None if sends is None else sends[taken],
            {pair: seconds[taken] for pair, seconds in self.between.items()},
        )

    @property
    def source(self) -> str:
        """Source of the numbers, in one line."""
        table = self.one_way.table
        return f"{table.path.name} ({table.form}), column {self.one_way.column}"


def parse_pair(text: str) -> Pair:
    """Parse a pair of hosts written as SOURCE:TARGET."""
    source, _, target = text.partition(":")
    if not source or not target or source == target:
        raise WeftError(
            f"{named('pair')}: found '{text}'; write two hosts as SOURCE:TARGET, such as"
            " node-1:node-2"
        )
    return source, target


def read_pingpong(path: Path, column: str | None = None, pair: Pair | None = None) -> PingPong:
    """Read a ping-pong in any of the formats, for one pair of hosts or for all pairs."""
    table = read_table(path, "PingPong")
    if _SOURCE in table.names and _TARGET in table.names:
        return _of_pairs(table, column, pair)
    found = _of_two_hosts(table, column)
    if pair is None:
        return found
    return PingPong(found.one_way, found.send_seconds, {pair: found.one_way.seconds})


def _of_pairs(table: Table, column: str | None, pair: Pair | None) -> PingPong:
    """Return the ping-pong of one pair, or the median over all pairs at each size."""
    rows: dict[Pair, list[TableRow]] = {}
    for row in table.rows:
        key = (table.cell(row, _SOURCE), table.cell(row, _TARGET))
        if key[0] == key[1]:
            table.fail(
                row.line, _TARGET, f"found the source, '{key[1]}'; a ping-pong has two hosts"
            )
        rows.setdefault(key, []).append(row)
    if pair is not None:
        if pair not in rows:
            names = [":".join(one) for one in rows]
            raise WeftError(
                f"{named('pair')}: {table.path} has no rows of {':'.join(pair)};"
                f" {suggestion(':'.join(pair), names)}"
            )
        found = _of_two_hosts(replace(table, rows=tuple(rows[pair])), column)
        return PingPong(found.one_way, found.send_seconds, {pair: found.one_way.seconds})
    if "op" in table.names:
        table.fail(table.header_line, "op", f"has {len(rows)} pairs; name one by {named('pair')}")
    all_found = {
        key: read_samples(replace(table, rows=tuple(own)), column) for key, own in rows.items()
    }
    first, *others = all_found.items()
    for key, samples in others:
        if not np.array_equal(samples.bytes, first[1].bytes):
            table.fail(
                rows[key][0].line,
                "bytes",
                f"{':'.join(key)} has other sizes than {':'.join(first[0])}; all pairs must have"
                " the same",
            )
    between = {key: samples.seconds for key, samples in all_found.items()}
    seconds = np.median(np.array([*between.values()]), axis=0)
    one_way = Samples(table, first[1].column, first[1].bytes, seconds)
    return PingPong(one_way, None, between)


def _of_two_hosts(table: Table, column: str | None) -> PingPong:
    if "op" not in table.names:
        return PingPong(read_samples(table, column))
    for row in table.rows:
        if (found := table.cell(row, "op")) not in (_SEND, _RECEIVE):
            table.fail(row.line, "op", f"found '{found}'; allowed are {_SEND} and {_RECEIVE}")
    send, receive = (read_samples(table, column, op) for op in (_SEND, _RECEIVE))
    if not np.array_equal(send.bytes, receive.bytes):
        odd = int(min(set(send.bytes) ^ set(receive.bytes)))
        line = next(row.line for row in table.rows if table.number(row, "bytes") == odd)
        table.fail(line, "bytes", f"{odd} B has only one of {_SEND} and {_RECEIVE}")
    one_way = Samples(table, send.column, send.bytes, (send.seconds + receive.seconds) / 2)
    return PingPong(one_way, send.seconds)


def read_allreduce(path: Path, column: str | None = None) -> Samples:
    """Read the times of an Allreduce by size."""
    return read_samples(read_table(path, "Allreduce"), column)


def read_samples(table: Table, column: str | None, op: str | None = None) -> Samples:
    """Return sizes and times of one operation, or of all rows if `op` is None."""
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
    """Check that sizes are increasing integers, and return their column."""
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
                f"{size:.0f} B follows {last:.0f} B; sizes must increase; are these two tables?",
            )
        last = size
    return column


def check_times(table: Table, rows: Sequence[TableRow], column: str) -> None:
    """Check that times are positive and increase, apart from noise."""
    times = [table.number(row, column) for row in rows]
    for row, time in zip(rows, times, strict=True):
        if time == 0:
            table.fail(row.line, column, "found 0; times must be above zero")
    logs = np.log(times)
    rising = _nearest_rising(logs)
    if np.abs(logs - rising).mean() <= _FARTHEST_FROM_RISING:
        return
    worst = int(np.argmax(rising - logs))
    table.fail(
        rows[worst].line,
        column,
        f"found {times[worst]:g}, and {np.exp(rising[worst]):.4g} would be in line with the rows"
        " around it: times must increase with the size; are these two tables, or is it another"
        " column?",
    )


def _nearest_rising(values: Floats) -> Floats:
    """Return the non-decreasing curve with the least deviations (pool adjacent violators)."""
    pools: list[list[float]] = []
    for value in values.tolist():
        pool = [value]
        while pools and median(pools[-1]) > median(pool):
            pool = pools.pop() + pool
        pools.append(pool)
    return np.concatenate([np.full(len(pool), median(pool)) for pool in pools])


def check_count(samples: Samples, needed: int, why: str, rows: Rows = "all") -> None:
    """Check that there are enough rows."""
    found = len(samples.bytes)
    if found < needed:
        table = samples.table
        taken = f"the table ends after {found} rows" if rows == "all" else f"{found} {rows} rows"
        table.fail(table.rows[-1].line, samples.column, f"{taken}, and {why} need {needed}")
