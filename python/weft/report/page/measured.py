# SPDX-License-Identifier: LGPL-2.1-only
"""Measurements beside simulations: which table of data/ is of which fabric, how near it must be.

data/checks.toml says which fabric each measured table is of. A measurement is shown beside runs on
that fabric and on others with the same devices: one switch, host, NIC, messages, cables and switch
equal, whatever the number of hosts. A key that a campaign gives another value makes another device.
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
"""What a table of one collective has measured."""
_COLUMN = "collective"
_NODES = "nodes"
_TO_ALL = "alltoall"
"""Benchmarks count its bytes for each receiver, and weft for all of them together."""


@dataclass(frozen=True)
class Point:
    """A measured time of one call."""

    bytes: int
    ranks: int
    ppn: int
    time_s: float


@dataclass(frozen=True)
class Measurement:
    """A column of a measured table, and what weft's own check of it says."""

    check: Check
    collective: str
    points: Sequence[Point]
    same_fabric: bool
    """Of this very fabric; else of one with the same devices and another number of hosts."""

    @property
    def label(self) -> str:
        """What a chart calls it."""
        return f"measured: {self.check.column.removesuffix('_us')} ({self.check.stem})"

    @property
    def accuracy(self) -> str:
        """Say how near the simulation must be to it."""
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
    """Return what has been measured of a fabric's devices; nothing where it cannot be read."""
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
    """Return the checks of collectives on shipped fabrics, with what was measured."""
    return tuple(
        (one, _points(one))
        for one in read_checks()
        if one.fabric and one.mode not in (PING_PONG, BANDWIDTH)
    )


@cache
def _devices(fabric: str, changes: tuple[str, ...]) -> Mapping[str, Any] | None:
    """Return what a fabric is made of, but how many hosts it has; None for several switches."""
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
    """Tell whether a row is of a collective; a table that names none is of one alone."""
    return _COLUMN not in table.names or table.cell(row, _COLUMN) == collective


def _whole(table: Table, row: TableRow, name: str) -> int:
    return int(table.number(row, name)) if name in table.names else 0
