# SPDX-License-Identifier: LGPL-2.1-only
"""Measurements shown with simulations: tables of data/ that match a fabric, and their accuracy.

data/checks.toml maps each measured table to a fabric. A measurement is shown with runs on this
fabric and on fabrics with the same devices: equal switch, host, NIC, messages and cables, and a
single switch, with any number of hosts. A key changed by a campaign makes the device a different
one.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from weft import _core
from weft.base import paths
from weft.base.errors import WeftError
from weft.calibrate.measurements.tables import Table, TableRow, read_table, seconds_per_unit
from weft.study.validation.validate import BANDWIDTH, PING_PONG, RATE, Check, read_checks

_COLLECTIVE = "allreduce"
"""Collective of tables that do not name one."""
_COLUMN = "collective"
_NODES = "nodes"
_TO_ALL = "alltoall"
"""Collective whose bytes benchmarks count per receiver, and weft for all receivers together."""


@dataclass(frozen=True)
class Point:
    """A measured time of one call."""

    bytes: int
    ranks: int
    ppn: int
    time_s: float


@dataclass(frozen=True)
class Measurement:
    """A column of a measured table, with weft's own check of it."""

    check: Check
    collective: str
    points: Sequence[Point]
    same_fabric: bool
    """True if measured on this fabric; False for a fabric with the same devices and other hosts."""

    @property
    def label(self) -> str:
        """Name in charts."""
        return f"measured: {self.check.column.removesuffix('_us')} ({self.check.stem})"

    @property
    def accuracy(self) -> str:
        """Accuracy of the simulation required by the check, in words."""
        check = self.check
        limits = [
            f"{word} error at most {bound:.1%}".replace("%", " %")
            for word, bound in (("mean", check.mean), ("worst", check.worst))
            if bound is not None
        ]
        rows = "" if check.rows == "all" else f" ({check.rows} rows)"
        near = ", ".join(limits) or "no bound is promised"
        where = "" if self.same_fabric else f", on {check.fabric}: the same devices"
        return (
            f"{check.what} of {check.table}{rows}, {check.mode}{where}: {near};"
            f" fitted to it: {check.fitted}"
        )


def measurements(fabric: str, changes: Sequence[str]) -> list[Measurement]:
    """Return the measurements of a fabric's devices; empty if it cannot be read."""
    try:
        own = _devices(fabric, tuple(changes))
    except (_core.UserError, WeftError):
        return []
    return [
        Measurement(check, check.collective or _COLLECTIVE, points, check.fabric == fabric)
        for check, points in _checks()
        if own is not None and own == _devices(check.fabric or "", check.changes)
    ]


@cache
def _checks() -> tuple[tuple[Check, Sequence[Point]], ...]:
    """Return the checks of collectives on shipped fabrics, with the measured points."""
    return tuple(
        (one, _points(one))
        for one in read_checks()
        if one.fabric and one.mode not in (PING_PONG, BANDWIDTH)
    )


@cache
def _devices(fabric: str, changes: tuple[str, ...]) -> Mapping[str, Any] | None:
    """Return the components of a fabric except for its number of hosts."""
    found = _core.load_fabric(fabric, list(changes))
    if len(found.switches) != 1:
        return {"file": found.file, "changes": found.changes}
    cables = {(one["bandwidth_Bps"], one["latency_s"]) for one in found.cables()}
    return {
        "host": found.host,
        "nic": found.nic,
        "mpi": found.mpi,
        "messages": found.point_to_point,
        "switch": found.switches[0],
        "shared": found.shared,
        "cables": sorted(cables),
        "noise": found.noise_seed,
    }


def _points(check: Check) -> tuple[Point, ...]:
    if check.column.endswith(RATE):
        return ()
    return tuple(_read(check, read_table(paths.data(check.table), "Allreduce")))


def _read(check: Check, table: Table) -> Iterator[Point]:
    scale = seconds_per_unit(table, check.column)
    for row in table.rows:
        if check.collective and not _is_of(check.collective, table, row):
            continue
        ranks = _whole(table, row, "ranks") or check.ranks
        nodes = _whole(table, row, _NODES) or ranks // check.ppn
        ppn = _whole(table, row, "ppn") or ranks // nodes
        size = check.bytes or _whole(table, row, "bytes")
        size *= ranks if check.collective == _TO_ALL else 1
        yield Point(size, ranks, ppn, table.number(row, check.column) * scale)


def _is_of(collective: str, table: Table, row: TableRow) -> bool:
    """Return True if a row belongs to a collective; a table without names contains only one."""
    return _COLUMN not in table.names or table.cell(row, _COLUMN) == collective


def _whole(table: Table, row: TableRow, name: str) -> int:
    return int(table.number(row, name)) if name in table.names else 0
