# SPDX-License-Identifier: LGPL-2.1-only
"""Simulations of both sides of pairs whose gain was measured."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from weft import _core
from weft.base import paths
from weft.base.errors import WeftError
from weft.calibrate.measurements.simulated import compiled
from weft.calibrate.measurements.tables import Table, TableRow, read_table, size_column
from weft.runs import offload_modes
from weft.study.bench.bench import Bench
from weft.study.validation.gain import Gain, GainResult, Pair, Times
from weft.study.validation.validate import CHECKS, ITERATIONS, Progress, latencies, time_us

# Simulated buffers: one block of memory for all ranks, and no copies.
_SHARED = ("smpi/auto-shared-malloc-thresh:1", "smpi/shared-malloc:local", "smpi/wtime:0")


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
    simulated = _simulated(gain, gain.ranks, gain.ppn, tuple(sizes))
    pairs = (
        Pair(key, _measured(gain, table, row, key), simulated[key]) for key, row in sizes.items()
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
        simulated = _simulated(gain, ranks, ranks // nodes, (gain.bytes,))
        yield Pair(ranks, _measured(gain, table, row, gain.bytes), simulated[gain.bytes])


def _measured(gain: Gain, table: Table, row: TableRow, size: int) -> Times:
    return Times(*(time_us(table, row, column, size) for column in (gain.offloaded, gain.hosts)))


def _simulated(gain: Gain, ranks: int, ppn: int, sizes: tuple[int, ...]) -> dict[int, Times]:
    def simulate(fabric: str, mode: str) -> Mapping[int, float]:
        asked = Bench(
            *(fabric, ranks, sizes, (mode,), ppn, ITERATIONS),
            config=gain.settings,
            changes=gain.changes,
        )
        return (
            latencies(asked) if gain.collective == "allreduce" else _other(gain.collective, asked)
        )

    offloaded = simulate(gain.fabric, gain.mode)
    alone = simulate(gain.hosts_fabric or gain.fabric, gain.fallback)
    return {size: Times(offloaded[size], alone[size]) for size in sizes}


@cache
def _other(collective: str, request: Bench) -> Mapping[int, float]:
    """Return times of a collective other than Allreduce in one mode."""
    (mode,) = request.modes
    text = Path(_core.load_fabric(request.fabric).file).read_text(encoding="utf-8")
    asked = ",".join(f"{collective}:{size}" for size in request.sizes)
    by_switches = mode in offload_modes.OFFLOADS
    way = {"offload": mode} if by_switches else {"offload": "off", "fallback": mode}
    with compiled("collective_latency") as program:
        lines, _ = program.run(
            text,
            [asked, str(ITERATIONS)],
            request.ranks,
            ppn=request.ppn,
            changes=request.changes,
            config=(*_SHARED, *request.config),
            **way,
        )
    return {size: float(line[1]) for size, line in zip(request.sizes, lines, strict=True)}
