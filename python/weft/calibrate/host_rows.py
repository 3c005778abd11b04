# SPDX-License-Identifier: LGPL-2.1-only
"""Measured collectives of hosts with several ranks, for the fit of the hosts, and their simulation.

A table is CSV with the columns `collective`, `ranks`, `ppn`, `bytes` and a time; rows that are
there more than once (several runs) count as their geometric mean. Bytes are as the OSU
micro-benchmarks count them: the vector of a Bcast, Reduce, Allreduce or Reduce_scatter_block, and
what a rank has for one other in an Allgather, Alltoall, Gather and Scatter.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from weft import _core
from weft.base.errors import WeftError, named, suggestion
from weft.base.process import work_directory
from weft.base.units import plural
from weft.calibrate.simulated import Program
from weft.calibrate.tables import (
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
    *("barrier", "bcast", "reduce", "allreduce", "reduce_scatter_block"),
    *("gather", "scatter", "allgather", "alltoall"),
)
MOST_FITTED = 6
"""Rows that are fitted to."""
_FLOAT_BYTES = 4
_NEEDED = ("collective", "ranks", "ppn")
# Buffers are not real: one memory for all ranks and no copies.
_SHARED = ("smpi/auto-shared-malloc-thresh:1", "smpi/shared-malloc:local", "smpi/wtime:0")


@dataclass(frozen=True, order=True)
class HostRow:
    """One measured call."""

    collective: str
    ranks: int
    ppn: int
    bytes: int

    @property
    def sums(self) -> bool:
        """Whether it adds up vectors, of MPI_FLOAT as in the benchmarks."""
        return "reduce" in self.collective


Times = Mapping[HostRow, float]
"""Seconds."""


def read_rows(path: Path, column: str | None = None) -> dict[HostRow, float]:
    """Read a table."""
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
            table.fail(row.line, times, "found 0; a collective takes some time")
        logs[_row(table, row, sizes)].append(math.log(seconds))
    return {row: math.exp(sum(some) / len(some)) for row, some in logs.items()}


def _row(table: Table, row: TableRow, sizes: str) -> HostRow:
    collective = table.cell(row, "collective")
    if collective not in COLLECTIVES:
        table.fail(
            row.line, "collective", f"found '{collective}'; {suggestion(collective, COLLECTIVES)}"
        )
    ranks, ppn, size = (_whole(table, row, name) for name in ("ranks", "ppn", sizes))
    if not ranks or not ppn or ranks % ppn:
        table.fail(row.line, "ppn", f"{ranks} ranks are no hosts of {ppn} ranks each")
    return HostRow(collective, ranks, ppn, size)


def _whole(table: Table, row: TableRow, column: str) -> int:
    number = table.number(row, column)
    if number != int(number):
        table.fail(
            row.line, column, f"found '{table.cell(row, column)}'; allowed are whole numbers"
        )
    return int(number)


def choose(times: Times, count: int = MOST_FITTED) -> list[HostRow]:
    """Return the rows to fit to: of each collective the same number, spread over its sizes."""
    kinds: dict[tuple[str, int, int], list[HostRow]] = defaultdict(list)
    for row in sorted(times):
        kinds[row.collective, row.ranks, row.ppn].append(row)
    each, more = divmod(count, len(kinds)) if len(kinds) <= count else (1, 0)
    chosen = []
    for number, rows in enumerate(list(kinds.values())[:count]):
        wanted = min(len(rows), each + (number < more))
        chosen += [rows[int((2 * one + 1) * len(rows) / (2 * wanted))] for one in range(wanted)]
    return chosen


def named_rows(times: Times, texts: Sequence[str]) -> list[HostRow]:
    """Return the rows that `COLLECTIVE:BYTES` names."""
    found = []
    for text in texts:
        rows = [row for row in times if f"{row.collective}:{row.bytes}" == text]
        if not rows:
            known = [f"{row.collective}:{row.bytes}" for row in times]
            raise WeftError(f"{named('fit')}: no row is {text}; {suggestion(text, known)}")
        found += rows
    if len(found) > MOST_FITTED:
        raise WeftError(f"{named('fit')}: found {len(found)} rows; allowed are {MOST_FITTED}")
    return found


def check_fits(fabric: "Fabric", times: Times, asked_by: str = named("base")) -> None:
    """Prove that the fabric has hosts and cores enough; `asked_by` named it."""
    for row in times:
        hosts = row.ranks // row.ppn
        if hosts > len(fabric.hosts) or row.ppn > fabric.host["cores"]:
            raise WeftError(
                f"{asked_by}: {fabric.name} has {plural(len(fabric.hosts), 'host')} of"
                f" {plural(fabric.host['cores'], 'core')}, and the table has"
                f" {plural(hosts, 'host')} of {plural(row.ppn, 'rank')}"
            )


def predict_rows(
    fabric: str, rows: Sequence[HostRow], fallback: str | None
) -> dict[HostRow, float]:
    """Return what the schedules take by themselves on a fabric of this text, in seconds."""
    with work_directory() as work:
        file = work / "fabric.toml"
        file.write_text(fabric, encoding="utf-8")
        loaded = _core.load_fabric(str(file))
    calls = []
    for row in rows:
        whole = (row.bytes // _FLOAT_BYTES or 1, _FLOAT_BYTES) if row.sums else (row.bytes, 1)
        calls.append((row.collective, row.ranks, row.ppn, *whole))
    times = _core.predicted_times(loaded, fallback or "", calls)
    return dict(zip(rows, times, strict=True))


def simulate_rows(
    program: Program, fabric: str, rows: Sequence[HostRow], fallback: str | None
) -> dict[HostRow, float]:
    """Return what a fabric of this text gives for the rows, in seconds."""
    options = {} if fallback is None else {"fallback": fallback}
    times: dict[HostRow, float] = {}
    for row in rows:  # each a run of its own: what one row leaves behind is no other's
        asked = f"{row.collective}:{row.bytes}"
        lines, _ = program.run(
            fabric, [asked], row.ranks, ppn=row.ppn, offload="off", config=_SHARED, **options
        )
        times[row] = float(lines[0][1]) * 1e-6
    return times
