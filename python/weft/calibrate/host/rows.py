# SPDX-License-Identifier: LGPL-2.1-only
"""Measured collectives with several ranks per host: input of the host fit, and their simulation.

A prediction executes the schedule of one call that all ranks enter at the same time, which is cheap
enough for a search. A simulation executes the loop of the benchmark that measured the rows.

A table is CSV with the columns `collective`, `ranks`, `ppn`, `bytes` and a time. Repeated rows
(several runs) are replaced by their geometric mean. Bytes are counted as by the OSU
micro-benchmarks (`weft.benchmarks.bytes_of`).
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft import _core
from weft.base.errors import WeftError, named, suggestion
from weft.base.units import format_size, plural
from weft.benchmarks.bytes_of import LARGEST, elements_of
from weft.benchmarks.methods import Method
from weft.calibrate.measurements.simulated import Calls, compiled, simulate_calls
from weft.calibrate.measurements.tables import (
    Table,
    TableRow,
    read_table,
    seconds_per_unit,
    size_column,
    time_column,
)

if TYPE_CHECKING:
    from weft._core import Fabric

COLLECTIVES = (
    *("barrier", "bcast", "reduce", "allreduce", "reduce_scatter", "reduce_scatter_block"),
    *("gather", "scatter", "allgather", "alltoall"),
)
# Default limit of rows to fit to: the cost of about a hundred rows of 64 ranks, whose schedules
# have up to ranks^2 messages, but never fewer than the minimum.
_MOST_WORK, _LEAST_ROWS = 100 * 64**2, 12
# Collectives that SMPI implements with another collective, which runs therefore execute (SimGrid
# 4.1, smpi_pmpi_coll.cpp).
_EXECUTED = {"reduce_scatter_block": "reduce_scatter"}
_NEEDED = ("collective", "ranks", "ppn")


@dataclass(frozen=True, order=True)
class HostRow:
    """One measured call."""

    collective: str
    ranks: int
    ppn: int
    bytes: int


Times = Mapping[HostRow, float]
"""Seconds by row."""


def read_rows(path: Path, column: str | None = None) -> dict[HostRow, float]:
    """Read a table of measured collectives."""
    table = read_table(path, "Allreduce")
    for name in _NEEDED:
        if name not in table.names:
            problem = f"there is none; needed are {', '.join(_NEEDED)}, bytes and a time"
            table.fail(table.header_line, name, problem)
    times, sizes = time_column(table, column), size_column(table)
    scale = seconds_per_unit(table, times)
    logs: dict[HostRow, list[float]] = defaultdict(list)
    for row in table.rows:
        if (seconds := table.number(row, times) * scale) == 0:
            table.fail(row.line, times, "found 0; times must be above zero")
        logs[_row(table, row, sizes)].append(math.log(seconds))
    return {row: math.exp(sum(some) / len(some)) for row, some in logs.items()}


def read_method(path: Path, benchmark: str | None = None) -> Method:
    """Return the benchmark that produced a table of measured collectives."""
    return read_table(path, "Allreduce").method(benchmark)


def _row(table: Table, row: TableRow, sizes: str) -> HostRow:
    collective = table.cell(row, "collective")
    if collective not in COLLECTIVES:
        table.fail(
            row.line, "collective", f"found '{collective}'; {suggestion(collective, COLLECTIVES)}"
        )
    ranks, ppn, size = (_whole(table, row, name) for name in ("ranks", "ppn", sizes))
    if not ranks or not ppn or ranks % ppn:
        table.fail(row.line, "ppn", f"{ranks} ranks are not a multiple of {ppn} ranks each")
    if size > LARGEST:
        table.fail(
            row.line, sizes, f"found {size} bytes; allowed are at most {format_size(LARGEST)}"
        )
    return HostRow(collective, ranks, ppn, size)


def _whole(table: Table, row: TableRow, column: str) -> int:
    number = table.number(row, column)
    if number != int(number):
        table.fail(
            row.line, column, f"found '{table.cell(row, column)}'; allowed are whole numbers"
        )
    return int(number)


def choose(times: Times, count: int | None = None) -> list[HostRow]:
    """Return rows to fit to, spread over the sizes of each collective and number of ranks.

    A threshold is located only as finely as the sizes around it, so sizes are spread evenly over
    each series, including its ends. By default all rows are used, unless they are too expensive.
    """
    series: dict[tuple[str, int, int], list[HostRow]] = defaultdict(list)
    for row in sorted(times):
        series[row.collective, row.ranks, row.ppn].append(row)
    if count is None:
        work = sum(row.ranks**2 for row in times)
        count = max(_LEAST_ROWS, math.floor(len(times) * min(1.0, _MOST_WORK / work)))
    every = list(series.values())
    if count < len(every):  # spread the picks over collectives and ranks
        places = [round(one * (len(every) - 1) / max(count - 1, 1)) for one in range(count)]
        every = [every[place] for place in places]
    wanted = [0] * len(every)
    for _ in range(min(count, sum(map(len, every)))):
        open_ = [place for place, rows in enumerate(every) if wanted[place] < len(rows)]
        wanted[min(open_, key=lambda place: wanted[place])] += 1
    return [
        row for rows, number in zip(every, wanted, strict=True) for row in _spread(rows, number)
    ]


def _spread(rows: Sequence[HostRow], count: int) -> list[HostRow]:
    if count == 1:
        return [rows[len(rows) // 2]]
    return [rows[round(one * (len(rows) - 1) / (count - 1))] for one in range(count)]


def named_rows(times: Times, texts: Sequence[str]) -> list[HostRow]:
    """Return the rows named as `COLLECTIVE:BYTES`."""
    found = []
    for text in texts:
        rows = [row for row in times if f"{row.collective}:{row.bytes}" == text]
        if not rows:
            known = [f"{row.collective}:{row.bytes}" for row in times]
            raise WeftError(f"{named('fit')}: no row is {text}; {suggestion(text, known)}")
        found += rows
    return found


def check_fits(fabric: "Fabric", times: Times, asked_by: str = named("base")) -> None:
    """Check that the fabric has enough hosts and cores; errors name `asked_by`."""
    for row in times:
        hosts = row.ranks // row.ppn
        if hosts > len(fabric.hosts) or row.ppn > fabric.host["cores"]:
            raise WeftError(
                f"{asked_by}: {fabric.name} has {plural(len(fabric.hosts), 'host')} of"
                f" {plural(fabric.host['cores'], 'core')}, and the table has"
                f" {plural(hosts, 'host')} of {plural(row.ppn, 'rank')}"
            )


def predict_in(
    work: Path, fabric: str, rows: Sequence[HostRow], fallback: str | None
) -> dict[HostRow, float]:
    """Predict rows in a work directory that is shared by many predictions."""
    file = work / "fabric.toml"
    file.write_text(fabric, encoding="utf-8")
    loaded = _core.load_fabric(str(file))
    calls = []
    for row in rows:
        passed = elements_of(row.collective, row.bytes, row.ranks)
        executed = _EXECUTED.get(row.collective, row.collective)
        calls.append((executed, row.ranks, row.ppn, passed.count, passed.element_bytes))
    times = _core.predicted_times(loaded, fallback or "", calls)
    return dict(zip(rows, times, strict=True))


def simulate_as_measured(
    fabric: str, methods: Mapping[HostRow, Method], fallback: str | None
) -> dict[HostRow, float]:
    """Return the simulated seconds of rows, each timed by its own benchmark."""
    rows: dict[Method, list[HostRow]] = defaultdict(list)
    for row, method in methods.items():
        rows[method].append(row)
    found: dict[HostRow, float] = {}
    for method, some in rows.items():
        found |= simulate_rows(fabric, some, method, fallback=fallback)
    return {row: found[row] for row in methods}


def simulate_rows(
    fabric: str,
    rows: Sequence[HostRow],
    method: Method,
    **options: Any,
) -> dict[HostRow, float]:
    """Return the simulated seconds of rows on a fabric text, timed with the given method."""
    options.setdefault("offload", "off")
    series: dict[tuple[str, int, int], list[HostRow]] = defaultdict(list)
    for row in rows:
        series[row.collective, row.ranks, row.ppn].append(row)
    times: dict[HostRow, float] = {}
    with compiled("benchmark_collectives") as program:
        for (collective, ranks, ppn), some in series.items():
            calls = Calls(collective, ranks, ppn, method)
            found = simulate_calls(program, fabric, calls, [row.bytes for row in some], **options)
            times.update({row: found[row.bytes] * 1e-6 for row in some})
    return times
