# SPDX-License-Identifier: LGPL-2.1-only
"""Simulations of both sides of pairs with measured gains."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from weft import _core
from weft.base import paths
from weft.base.errors import WeftError
from weft.benchmarks.measured import (
    HOSTS,
    SWITCHES,
    Call,
    ErrorRow,
    Machine,
    algorithm,
    error_rows,
    machine_of,
)
from weft.calibrate.measurements.simulated import Calls
from weft.calibrate.measurements.tables import Table, TableRow, read_table, size_column
from weft.study.comparison.certainty import combined, of_side
from weft.study.validation.gain import Gain, GainResult, Pair, Times
from weft.study.validation.validate import CHECKS, Progress, latencies, time_us


def run(gains: Sequence[Gain], progress: Progress | None = None) -> list[GainResult]:
    """Simulate both sides of all pairs."""
    results = []
    for gain in gains:
        if progress is not None:
            progress(gain.name)
        results.append(_run(gain))
    return results


def _run(gain: Gain) -> GainResult:
    table = read_table(paths.data(gain.table), "Allreduce")
    rows = list(_rows(gain, table))
    if not rows:
        raise WeftError(f"{CHECKS}: {gain.name}: no row is selected")
    if "ranks" in table.names and "ranks" not in gain.rows:
        return GainResult(gain, "ranks", tuple(_by_ranks(gain, table, rows)))
    size = size_column(table)
    sizes = {int(table.number(row, size)): row for row in rows}
    simulated = _simulated(gain, table, gain.ranks, gain.ppn, tuple(sizes))
    pairs = (
        _pair(gain, key, (key, gain.ranks, gain.ppn), _measured(gain, table, row, key), times)
        for (key, row), times in zip(sizes.items(), simulated.values(), strict=True)
    )
    return GainResult(gain, "bytes", tuple(pairs))


def _rows(gain: Gain, table: Table) -> Iterator[TableRow]:
    for row in table.rows:
        if any(table.number(row, name) != value for name, value in gain.rows.items()):
            continue
        if gain.bytes is None:
            size = table.number(row, size_column(table))
            if size < gain.least or (gain.most is not None and size > gain.most):
                continue
        yield row


def _by_ranks(gain: Gain, table: Table, rows: Sequence[TableRow]) -> Iterator[Pair]:
    if gain.bytes is None:
        raise WeftError(f"{CHECKS}: {gain.name}: a table by ranks needs bytes")
    for row in rows:
        ranks, nodes = (int(table.number(row, name)) for name in ("ranks", "nodes"))
        placed = (gain.bytes, ranks, ranks // nodes)
        simulated = _simulated(gain, table, *placed[1:], (gain.bytes,))
        measured = _measured(gain, table, row, gain.bytes)
        yield _pair(gain, ranks, placed, measured, simulated[gain.bytes])


def _measured(gain: Gain, table: Table, row: TableRow, size: int) -> Times:
    return Times(*(time_us(table, row, column, size) for column in (gain.offloaded, gain.hosts)))


def _pair(
    gain: Gain, key: int, placed: tuple[int, int, int], measured: Times, simulated: Times
) -> Pair:
    """Return a pair with the widths of its interval; `placed`: bytes, ranks, ranks per host."""
    size, ranks, ppn = placed
    widths = []
    for unseen in (False, True):
        sides = []
        for side, name, mode in (
            (SWITCHES, gain.fabric, gain.mode),
            (HOSTS, gain.hosts_fabric or gain.fabric, gain.fallback),
        ):
            machine = _machine(name, gain.changes)
            executor = mode
            if side == HOSTS:
                executor = algorithm(_core.load_fabric(name), mode, gain.collective, placed)
            switches = machine.switches(ranks // ppn)
            call = Call(gain.collective, size, ranks, ppn, switches, executor)
            rows = _others(gain, call) if unseen else None
            sides.append(of_side(side, machine, [call], rows))
        widths.append(combined(sides))
    return Pair(key, *placed, measured, simulated, *widths)


def _others(gain: Gain, call: Call) -> list[ErrorRow]:
    """Return the errors that would remain known without the measurement of a call."""
    known = [row for row in error_rows() if row.call != call]
    return [row for row in known if row.table != gain.stem] if gain.unfitted else known


@cache
def _machine(fabric: str, changes: tuple[str, ...]) -> Machine:
    return machine_of(_core.load_fabric(fabric, changes))


def _simulated(
    gain: Gain, table: Table, ranks: int, ppn: int, sizes: tuple[int, ...]
) -> dict[int, Times]:
    calls = Calls(gain.collective, ranks, ppn, table.method())

    def simulate(fabric: str, mode: str) -> Mapping[int, float]:
        return latencies(fabric, mode, calls, sizes, gain.settings, gain.changes)

    offloaded = simulate(gain.fabric, gain.mode)
    alone = simulate(gain.hosts_fabric or gain.fabric, gain.fallback)
    return {size: Times(offloaded[size], alone[size]) for size in sizes}
