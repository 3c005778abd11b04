# SPDX-License-Identifier: LGPL-2.1-only
"""Errors of all measured calls: the table on which the certainty of gains is based.

`weft validate --errors data/errors.csv` writes the table, with one row per measured call of the
checks, of hosts in gains without a check, and of data/hosts_left_out.csv: the same collectives,
predicted with host values that were fitted to other clusters. weft.benchmarks.measured reads the
table.
"""

import csv
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from weft import _core
from weft.base import paths
from weft.base.errors import named
from weft.base.measured import read_rows
from weft.base.output import whole_file
from weft.benchmarks.measured import COLUMNS, HOSTS, SWITCHES, Machine, algorithm, machine_of
from weft.calibrate.measurements.tables import read_table
from weft.runs import offload_modes
from weft.study.validation.gain import GainResult
from weft.study.validation.validate import BANDWIDTH, PING_PONG, Result, by_collective

_HEAD = """\
# Simulated and measured times of collectives, from `weft validate --errors`: one row per measured
# call of data/*.csv, whose first lines name their sources. side: who carried the call out. device:
# presets of switch and NIC, or those of the hosts. executor: mechanism of the switches, or
# algorithm of the hosts. changes: values that replace those of the presets. unfitted: 1 if no value
# of the side was fitted to this machine. Rows "… left out" are of data/hosts_left_out.csv,
# predicted with other clusters' hosts, and once more as if nobody had named the processors.
# Source: the tables, and weft.
"""
LEFT_OUT = "hosts_left_out.csv"


def write(target: Path, results: Sequence[Result], gains: Sequence[GainResult]) -> None:
    """Write the table, atomically."""
    with whole_file(named("errors"), target) as file:
        file.write(_HEAD)
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        checked = set()
        for one in results:
            if one.check.rows == "all" and one.check.mode not in (PING_PONG, BANDWIDTH):
                writer.writerows(_rows(one))
                checked.add((one.check.table, one.check.column))
        writer.writerows(_hosts_of(gains, checked))
        writer.writerows(_left_out())


@dataclass(frozen=True)
class _Simulated:
    """Simulation of a table's calls by one side."""

    table: str
    fabric: str
    changes: tuple[str, ...]
    collective: str
    mode: str
    unfitted: bool

    @cached_property
    def loaded(self) -> _core.Fabric:
        """Return the fabric, which is loaded once for all rows."""
        return _core.load_fabric(self.fabric, self.changes)

    @cached_property
    def machine(self) -> Machine:
        """Return the devices of the fabric."""
        return machine_of(self.loaded)

    def row(self, size: int, ranks: int, ppn: int, times_us: tuple[float, float]) -> list[object]:
        """Return the row of a call, from its simulated and its measured time."""
        side = SWITCHES if self.mode in offload_modes.OFFLOADS else HOSTS
        machine = self.machine
        device = machine.devices[side]
        executor = self.mode
        if side == HOSTS:
            executor = algorithm(self.loaded, self.mode, self.collective, (size, ranks, ppn))
        return [
            *(side, Path(self.table).stem, device.name, self.collective, executor),
            *(size, ranks, ppn, machine.switches(ranks // ppn), f"{device.rate_Bps * 8e-9:g}"),
            *(f"{time:.6g}" for time in times_us),
            " ".join(machine.changes.get(side, ())),
            int(self.unfitted),
        ]


def _rows(result: Result) -> Iterator[list[object]]:
    check = result.check
    assert check.fabric is not None
    simulated = _Simulated(
        *(check.table, check.fabric, check.changes, check.collective or "allreduce"),
        *(check.mode, check.unfitted),
    )
    placed = _placed(result)
    for point in result.points:
        ranks, ppn = placed.get(point.key, (check.ranks, check.ppn))
        size = (check.bytes or 0) if result.by == "ranks" else point.key
        yield simulated.row(size, ranks, ppn, (point.simulated_us, point.measured_us))


def _hosts_of(
    gains: Sequence[GainResult], checked: Container[tuple[str, str]]
) -> Iterator[list[object]]:
    """Yield the host rows of gains once each, except columns that the checks cover."""
    seen = set()
    for one in gains:
        gain = one.gain
        key = (gain.table, gain.hosts, tuple(gain.rows.items()))
        if key[:2] in checked or key in seen:
            continue
        seen.add(key)
        simulated = _Simulated(
            *(gain.table, gain.hosts_fabric or gain.fabric, (), gain.collective),
            *(gain.fallback, gain.unfitted),
        )
        for pair in one.pairs:
            times_us = (pair.simulated.hosts_us, pair.measured.hosts_us)
            yield simulated.row(pair.bytes, pair.ranks, pair.ppn, times_us)


def _left_out() -> Iterator[list[object]]:
    """Yield the rows of hosts predicted with values fitted to other clusters."""
    rows = read_rows(paths.data(LEFT_OUT))
    fabrics = {name: _core.load_fabric(name) for name in {row["fabric"] for row in rows}}
    machines = {name: machine_of(fabric) for name, fabric in fabrics.items()}
    for row in rows:
        machine = machines[row["fabric"]]
        size, ranks, ppn = (int(row[name]) for name in ("bytes", "ranks", "ppn"))
        collective = row["collective"]
        yield [
            *(HOSTS, row["table"], f"{row['fabric']} left out", collective),
            algorithm(fabrics[row["fabric"]], row["fallback"], collective, (size, ranks, ppn)),
            *(size, ranks, ppn, machine.switches(ranks // ppn)),
            f"{machine.devices[HOSTS].rate_Bps * 8e-9:g}",
            *(row["predicted_us"], row["measured_us"], row["changes"], 1),
        ]


def _placed(result: Result) -> dict[int, tuple[int, int]]:
    """Return ranks and ranks per host by row, for a table that contains them."""
    check = result.check
    if check.collective is not None:
        return {row.bytes: (row.ranks, row.ppn) for row in by_collective(check)}
    if result.by == "bytes":
        return {}
    table = read_table(paths.data(check.table), "Allreduce")
    rows = [[int(table.number(row, name)) for name in ("ranks", "nodes")] for row in table.rows]
    return {ranks: (ranks, ranks // nodes) for ranks, nodes in rows}
