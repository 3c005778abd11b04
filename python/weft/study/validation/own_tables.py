# SPDX-License-Identifier: LGPL-2.1-only
"""Users' own tables of measurements, as checks of `weft validate`.

Tables are read by weft.calibrate.measurements.tables and contain one of these sets of columns; the
name of a time column ends with its unit (`time_us`, `median_ms`):

- `bytes` and a time: MPI_Allreduce by size, with one rank per host; or, in the modes `pingpong` and
  `bandwidth`, messages between two hosts; `bandwidth` uses a rate in GB/s (`stream_GBps`).
- `ranks`, `nodes` and a time: MPI_Allreduce of one size, by number of ranks.
- `collective`, `ranks`, `ppn`, `bytes` and a time: any collectives (weft.calibrate.host.rows).

Errors in a table name file, line and column, and are reported before any run.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from weft import _core
from weft.base.errors import WeftError, named, suggestion
from weft.calibrate.host.rows import read_rows
from weft.calibrate.measurements.samples import check_sizes, read_pingpong
from weft.calibrate.measurements.simulated import MOST_SIZES
from weft.calibrate.measurements.tables import Rows, Table, TableRow, part, read_table, time_column
from weft.runs import offload_modes
from weft.runs.simgrid import SimGrid
from weft.runs.site import choose_ppn
from weft.study.bench.checks import check_mode
from weft.study.validation.validate import BANDWIDTH, PING_PONG, RATE, Check

_MESSAGES = (PING_PONG, BANDWIDTH)
_INT_BYTES = 4


@dataclass(frozen=True)
class TableSimulation:
    """Simulation with which the tables are compared."""

    mode: str
    """`stream`, `message`, a fallback of the hosts, `pingpong` or `bandwidth`."""
    fabric: str
    column: str | None = None
    """Measured column; by default the conventional column."""
    ranks: int = 4
    """Number of ranks, one per host, for Allreduces by size."""
    bytes: int | None = None
    """Message size, for Allreduces by ranks."""
    rows: Rows = "all"
    benchmark: str | None = None
    """Benchmark that produced the tables of collectives, if the tables do not name it."""
    mean: float | None = None
    """Upper bounds of the logarithmic errors, as fractions."""
    worst: float | None = None


def own_checks(tables: Sequence[Path], asked: TableSimulation) -> list[Check]:
    """Read and check the tables; return the comparisons to be run."""
    check_mode("mode", asked.mode, (*offload_modes.SWITCHES, *_MESSAGES), SimGrid())
    stems = [path.stem for path in tables]
    for path in tables:
        if stems.count(path.stem) > 1:
            raise WeftError(f"{named('tables')}: two have the name '{path.stem}'; rename one")
    return [check for path in tables for check in _checks(path, asked)]


def _checks(path: Path, asked: TableSimulation) -> list[Check]:
    table = read_table(path, "PingPong" if asked.mode in _MESSAGES else "Allreduce")
    if asked.mode in _MESSAGES:
        column = _of_messages(table, asked)
        _check_taken(table, asked, len(table.rows))
        return [_check(table, asked, column)]
    table.method(asked.benchmark)
    if "collective" in table.names:
        return _of_collectives(table, asked)
    column = _measured(table, asked.column)
    if "ranks" in table.names:
        _check_ranks(table, asked)
    else:
        _check_placement(table, asked)
        _check_bytes(table, asked)
    _check_positive(table, column)
    _check_taken(table, asked, len(table.rows))
    return [_check(table, asked, column)]


def _check_taken(table: Table, asked: TableSimulation, rows: int) -> None:
    if not range(rows)[part(asked.rows)]:
        raise WeftError(f"{named('rows')}: {table.path} has {rows} row: none is {asked.rows}")


def _check(
    table: Table, asked: TableSimulation, column: str, collective: str | None = None
) -> Check:
    return Check(
        table=str(table.path.absolute()),
        column=column,
        mode=asked.mode,
        fitted="unknown",
        rows=asked.rows,
        fabric=asked.fabric,
        collective=collective,
        bytes=asked.bytes,
        ranks=asked.ranks,
        benchmark=asked.benchmark,
        mean=asked.mean,
        worst=asked.worst,
    )


def _measured(table: Table, column: str | None) -> str:
    """Return the measured column: a time, or by ranks a rate that the user named."""
    by_ranks = "ranks" in table.names
    if column is not None and by_ranks and column in table.names and column.endswith(RATE):
        return column
    return time_column(table, column)


def _of_messages(table: Table, asked: TableSimulation) -> str:
    if asked.mode == PING_PONG:
        return read_pingpong(table.path, asked.column).one_way.column
    check_sizes(table, table.rows)
    rates = [name for name in table.names if name.endswith(RATE)]
    column = asked.column or (rates[0] if rates else "")
    if column not in rates:
        table.fail(
            table.header_line,
            column or table.names[-1],
            f"no rate in GB/s; its name ends in {RATE}, as in stream{RATE}",
        )
    _check_positive(table, column)
    return column


def _of_collectives(table: Table, asked: TableSimulation) -> list[Check]:
    if asked.mode in offload_modes.SWITCHES:
        raise WeftError(
            f"{named('mode')}: found '{asked.mode}'; a table with the column 'collective' is"
            " compared with what the hosts do: openmpi-5.0, mpich-4, ..."
        )
    column = time_column(table, asked.column)
    measured = read_rows(table.path, column)
    collectives = dict.fromkeys(row.collective for row in measured)
    for one in collectives:
        own = [row for row in measured if row.collective == one]
        if len({(row.ranks, row.ppn) for row in own}) > 1:
            problem = f"{one} has several numbers of ranks; put each into its own file"
            table.fail(table.header_line, "ranks", problem)
        _check_taken(table, asked, len(own))
    return [_check(table, asked, column, one) for one in collectives]


def _check_placement(table: Table, asked: TableSimulation) -> None:
    """Compare the ranks that a table states with those to simulate, one per host."""
    place = table.placement
    if place is None:
        return
    if place.ppn is not None and place.ppn > 1:
        raise WeftError(
            f"{table.path}: was measured with {place.ppn} ranks per host, and a table by size is"
            " compared with one; use `weft bench --like`"
        )
    if place.ranks is not None and place.ranks != asked.ranks:
        raise WeftError(
            f"{named('ranks')}: found {asked.ranks}, and {table.path} was measured with"
            f" {place.ranks}; give {place.ranks}"
        )


def _check_ranks(table: Table, asked: TableSimulation) -> None:
    if asked.bytes is None:
        raise WeftError(
            f"{named('bytes')}: {table.path} is by ranks and does not state the size of the"
            " Allreduces; give it"
        )
    if "nodes" not in table.names:
        problem = f"there is none; {suggestion('nodes', table.names)}: on how many hosts they were"
        table.fail(table.header_line, "nodes", problem)
    fabric = _core.load_fabric(asked.fabric)
    known: set[int] = set()
    for row in table.rows:
        ranks, nodes = (_whole(table, row, name) for name in ("ranks", "nodes"))
        if ranks % nodes:
            table.fail(
                row.line, "nodes", f"{ranks} ranks cannot be divided evenly among {nodes} hosts"
            )
        if nodes > len(fabric.hosts):
            found = f"{nodes} hosts, and {fabric.name} has {len(fabric.hosts)}"
            table.fail(row.line, "nodes", found)
        choose_ppn(fabric, ranks, ranks // nodes, f"{table.path}: line {row.line}: column 'ranks'")
        if ranks in known:
            table.fail(
                row.line,
                "ranks",
                f"a second row of {ranks} ranks; put each table into its own file",
            )
        known.add(ranks)


def _check_bytes(table: Table, asked: TableSimulation) -> None:
    fabric = _core.load_fabric(asked.fabric)
    if asked.ranks > len(fabric.hosts):
        raise WeftError(
            f"{named('ranks')}: found {asked.ranks}, one on each host, and {fabric.name} has"
            f" {len(fabric.hosts)} hosts"
        )
    column = check_sizes(table, table.rows)
    if len(table.rows) > MOST_SIZES:
        problem = f"{len(table.rows)} sizes; allowed are {MOST_SIZES} in a file"
        table.fail(table.rows[MOST_SIZES].line, column, problem)
    for row in table.rows:
        size = _whole(table, row, column)
        if size % _INT_BYTES:
            table.fail(
                row.line, column, f"found {size}; Allreduces are of MPI_INT, {_INT_BYTES} B each"
            )


def _whole(table: Table, row: TableRow, column: str) -> int:
    number = table.number(row, column)
    if number != int(number) or number == 0:
        found = table.cell(row, column)
        table.fail(row.line, column, f"found '{found}'; allowed are whole numbers, at least 1")
    return int(number)


def _check_positive(table: Table, column: str) -> None:
    for row in table.rows:
        if table.number(row, column) == 0:
            table.fail(row.line, column, "found 0; allowed is more")
