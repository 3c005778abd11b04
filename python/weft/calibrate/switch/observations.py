# SPDX-License-Identifier: LGPL-2.1-only
"""Measured Allreduces for the switch fit: by message size, or by ranks and hosts."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from weft.base.errors import named
from weft.calibrate.measurements.samples import Floats, check_sizes, check_times
from weft.calibrate.measurements.tables import (
    Rows,
    Table,
    TableRow,
    part,
    read_table,
    seconds_per_unit,
    time_column,
)
from weft.calibrate.switch.switch import Observations

_MIN_ROWS = 3


def read_observations(
    path: Path,
    column: str | None,
    rows: Rows,
    size: int | None,
    ppn: int,
    hosts: int = 1,
    benchmark: str | None = None,
) -> Observations:
    """Read a table: rows by ranks with `size` bytes, or rows by size with `ppn` and `hosts`.

    `benchmark` names the benchmark that produced the table, if the file does not.
    """
    table = read_table(path, "Allreduce")
    method = table.method(benchmark)
    name = time_column(table, column)
    scale = seconds_per_unit(table, name)
    check_times(table, table.rows, name)
    chosen = table.rows[part(rows)]
    if len(chosen) < _MIN_ROWS:
        found = f"the table ends after {len(table.rows)} rows, {len(chosen)} of them taken"
        table.fail(table.rows[-1].line, name, f"{found}, and a fit needs {_MIN_ROWS}")
    sizes, ranks, nodes = (
        _by_ranks(table, chosen, size)
        if "ranks" in table.names
        else (*_by_size(table, chosen, ppn), np.full(len(chosen), float(hosts)))
    )
    seconds = np.array([table.number(row, name) * scale for row in chosen])
    return Observations(path.name, sizes, ranks, seconds, nodes, method=method)


def _by_size(table: Table, rows: Sequence[TableRow], ppn: int) -> tuple[Floats, Floats]:
    column = check_sizes(table, table.rows)
    sizes = np.array([table.number(row, column) for row in rows])
    if sizes[0] == 0:
        table.fail(rows[0].line, column, "found 0; empty Allreduces are not offloaded")
    return sizes, np.full(len(rows), float(ppn))


def _by_ranks(
    table: Table, rows: Sequence[TableRow], size: int | None
) -> tuple[Floats, Floats, Floats]:
    if size is None:
        table.fail(
            table.header_line,
            "ranks",
            f"no message size in the table: give it with {named('bytes')}",
        )
    if "nodes" not in table.names:
        table.fail(table.header_line, "ranks", "a table by ranks needs the column 'nodes' as well")
    ranks_a_host, hosts = [], []
    for row in rows:
        ranks, nodes = table.number(row, "ranks"), table.number(row, "nodes")
        if nodes == 0 or ranks % nodes:
            table.fail(
                row.line, "nodes", f"{ranks:.0f} ranks cannot be divided evenly among {nodes:.0f}"
            )
        ranks_a_host.append(ranks / nodes)
        hosts.append(nodes)
    return np.full(len(rows), float(size)), np.array(ranks_a_host), np.array(hosts)
