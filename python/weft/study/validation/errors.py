# SPDX-License-Identifier: LGPL-2.1-only
"""Errors of all measured calls, as the table from which answers take their certainty.

`weft validate --errors data/errors.csv` writes it, one row per measured call, and one more for each
call of data/hosts_left_out.csv: the same collectives, predicted with values of hosts that were
fitted to other clusters. weft.benchmarks.measured reads it.
"""

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

from weft import _core
from weft.base import paths
from weft.base.errors import named
from weft.base.measured import read_rows
from weft.base.output import whole_file
from weft.benchmarks.measured import COLUMNS, HOSTS, SWITCHES, machine_of
from weft.calibrate.measurements.tables import read_table
from weft.runs import offload_modes
from weft.study.validation.validate import BANDWIDTH, PING_PONG, Result, by_collective

_HEAD = """\
# Simulated and measured times of collectives, from `weft validate --errors`: one row per measured
# call of data/*.csv, whose first lines name their sources. side: who carried the call out. device:
# presets of switch and NIC, or those of the hosts. unfitted: 1 if no value of the side
# was fitted to this machine. Rows "… left out" are of data/hosts_left_out.csv, predicted with other
# clusters' hosts. Source: the tables, and weft.
"""
LEFT_OUT = "hosts_left_out.csv"


def write(target: Path, results: Sequence[Result]) -> None:
    """Write the table, atomically."""
    with whole_file(named("errors"), target) as file:
        file.write(_HEAD)
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for one in results:
            if one.check.rows == "all" and one.check.mode not in (PING_PONG, BANDWIDTH):
                writer.writerows(_rows(one))
        writer.writerows(_left_out())


def _rows(result: Result) -> Iterator[list[object]]:
    check = result.check
    assert check.fabric is not None
    fabric = _core.load_fabric(check.fabric, check.changes)
    side = SWITCHES if check.mode in offload_modes.OFFLOADS else HOSTS
    machine = machine_of(fabric)
    device = machine.devices[side]
    placed = _placed(result)
    for point in result.points:
        ranks, ppn = placed.get(point.key, (check.ranks, check.ppn))
        size = check.bytes if result.by == "ranks" else point.key
        yield [
            *(side, Path(check.table).stem, device.name, check.collective or "allreduce"),
            *(size, ranks, ppn, machine.switches(ranks // ppn), f"{device.rate_Bps * 8e-9:g}"),
            *(f"{point.simulated_us:.6g}", f"{point.measured_us:.6g}"),
            int(check.unfitted),
        ]


def _left_out() -> Iterator[list[object]]:
    """Return the rows of hosts whose values were fitted to other clusters."""
    rows = read_rows(paths.data(LEFT_OUT))
    machines = {
        name: machine_of(_core.load_fabric(name)) for name in {row["fabric"] for row in rows}
    }
    for row in rows:
        machine = machines[row["fabric"]]
        ranks, ppn = int(row["ranks"]), int(row["ppn"])
        yield [
            *(HOSTS, row["table"], f"{row['fabric']} left out", row["collective"], row["bytes"]),
            *(ranks, ppn, machine.switches(ranks // ppn)),
            f"{machine.devices[HOSTS].rate_Bps * 8e-9:g}",
            *(row["predicted_us"], row["measured_us"], 1),
        ]


def _placed(result: Result) -> dict[int, tuple[int, int]]:
    """Return ranks and ranks per host of the rows of a table that has them."""
    check = result.check
    if check.collective is not None:
        return {row.bytes: (row.ranks, row.ppn) for row in by_collective(check)}
    if result.by == "bytes":
        return {}
    table = read_table(paths.data(check.table), "Allreduce")
    rows = [[int(table.number(row, name)) for name in ("ranks", "nodes")] for row in table.rows]
    return {ranks: (ranks, ranks // nodes) for ranks, nodes in rows}
