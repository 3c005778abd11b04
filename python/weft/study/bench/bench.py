# SPDX-License-Identifier: LGPL-2.1-only
"""Latency of a collective by message size, for several modes.

A mode is an offload mode (`stream`, `message`) or an algorithm of the hosts (`openmpi-5.0`,
`recursive_doubling`, `smpi:rdb`). The shipped benchmark is compiled once and run once per mode.
"""

import csv
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from weft.base import paths
from weft.base.errors import WeftError, named, suggestion
from weft.base.inputs import OutputIsInputError
from weft.base.output import whole_file
from weft.base.process import work_directory
from weft.base.units import format_size, join_sizes
from weft.runs import launch, offload_modes
from weft.runs.launch import PreparedRun
from weft.runs.options import DEFAULT_FALLBACK
from weft.runs.record import Record
from weft.runs.request import Request
from weft.runs.simgrid import SimGrid
from weft.runs.site import choose_ppn, load_fabric
from weft.runs.toolchain import compile_c
from weft.study.bench import quantiles
from weft.study.bench.modes import MechanismRow, Way, way_taken
from weft.study.comparison.compare import BEST

COLUMNS = (
    *("fabric", "collective", "mode", "path", "reason"),
    *("ranks", "ppn", "bytes", "latency_us"),
)
_OFFLOADING = (*offload_modes.SWITCHES, "auto")
_INT_BYTES = 4
_EACH = "each"  # the program's keyword for times of single calls
_NO_TIME_TO_LOOK = ("smpi/wtime:0",)  # the clock is free, so timed loops are not longer

Progress = Callable[[str, int], object]
"""Called with mode and bytes when a size is done."""


@dataclass(frozen=True)
class Bench:
    """Parameters of the benchmark."""

    fabric: str
    ranks: int
    sizes: Sequence[int]
    modes: Sequence[str] = ("stream", "message", DEFAULT_FALLBACK, BEST)
    ppn: int | None = None
    iterations: int = 10
    privatize: bool = False
    """The shipped benchmark has no global variables."""
    config: tuple[str, ...] = ()
    """SimGrid settings, each KEY:VALUE."""
    changes: tuple[str, ...] = ()
    """Changes to the fabric file, each TABLE.KEY=VALUE."""
    percentiles: tuple[float, ...] = ()
    """Percentiles of single calls, which are then timed individually."""


@dataclass(frozen=True)
class AllreduceTime(MechanismRow):
    """One line of the CSV."""

    collective: str
    mode: str
    ranks: int
    ppn: int
    bytes: int
    latency_us: float
    fabric: str = ""
    way: Way = field(default=Way("", ""), compare=False)
    """Outcome of this mode: what was actually simulated."""
    percentiles_us: Mapping[float, float] = field(default_factory=dict, compare=False)
    """Percentiles over all calls of all ranks, if requested."""


def check(bench: Bench) -> None:
    """Check the parameters before anything is compiled or run."""
    odd = [size for size in bench.sizes if size % _INT_BYTES]
    if odd:
        raise WeftError(
            f"{named('sizes')}:"
            f" found {odd[0]} bytes; an MPI_INT has {_INT_BYTES}: give multiples of that"
        )
    check_memory(max(bench.sizes), 2 * bench.ranks)
    simgrid = SimGrid()
    for mode in bench.modes:
        check_mode("modes", mode, _OFFLOADING, simgrid)
    choose_ppn(load_fabric(bench.fabric, bench.changes), bench.ranks, bench.ppn)


def check_mode(parameter: str, mode: str, own: Sequence[str], simgrid: SimGrid) -> None:
    """Check that a mode is one of a study's own, or a valid choice of host algorithms."""
    if mode in own:
        return
    try:
        launch.check_fallback(named(parameter), mode, simgrid)
    except OutputIsInputError:
        raise
    except WeftError as error:
        if os.path.exists(mode):  # a selection file with an error, not a mistyped mode
            raise
        raise WeftError(f"{error.message}; of the other modes {suggestion(mode, own)}") from None


def check_memory(size: int, buffers: int) -> None:
    """Check that the buffers fit into memory, and that MPI can count their elements as int."""
    has = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    most = min(has // buffers, _INT_BYTES * (2**31 - 1))
    if size > most:
        raise WeftError(
            f"{named('sizes')}:"
            f" found {format_size(size)}; allowed are at most {format_size(most)} on this"
            f" machine, whose memory ({format_size(has)}) holds {buffers} buffers of that size"
        )


def run(bench: Bench, progress: Progress | None = None) -> list[AllreduceTime]:
    """Measure all modes; rows are ordered by mode, then by size."""
    check(bench)
    rows: list[AllreduceTime] = []
    with work_directory() as work:
        program = work / "allreduce_latency"
        compile_c(paths.example("allreduce_latency.c"), program)
        for mode in bench.modes:
            rows += _run_mode(bench, program, mode, progress or _no_progress)
    return rows


def _no_progress(mode: str, size: int) -> None:
    pass


def _run_mode(bench: Bench, program: Path, mode: str, progress: Progress) -> list[AllreduceTime]:
    plan = launch.prepare(_request(bench, program, mode))
    rows: list[AllreduceTime] = []
    times_us: list[float] = []  # times of the calls of the next row

    def take(line: str) -> None:
        if line.startswith(_EACH):
            times_us.extend(map(float, line.split()[3:]))
        elif not line.startswith("#"):
            found = quantiles.percentiles_of(times_us, bench.percentiles)
            rows.append(replace(_row(plan, mode, line), percentiles_us=found))
            times_us.clear()
            progress(mode, rows[-1].bytes)

    record = launch.run(plan, take)
    _check_ended(mode, record)
    way = way_taken(record, mode, ("allreduce",), offloading=mode in _OFFLOADING)
    rows = [replace(row, fabric=record.fabric.label, way=way) for row in rows]
    if not way.several or len(rows) == 1:
        return rows
    return [replace(row, way=_way_of(bench, program, mode, row.bytes, way)) for row in rows]


def _way_of(bench: Bench, program: Path, mode: str, size: int, of_all: Way) -> Way:
    """Return the way taken by calls of one size, which the record of all sizes does not show."""
    alone = replace(bench, sizes=(size,), percentiles=())
    record = launch.run(launch.prepare(_request(alone, program, mode)), lambda _line: None)
    _check_ended(mode, record)
    way = way_taken(record, mode, ("allreduce",), offloading=mode in _OFFLOADING)
    return replace(way, message=of_all.message)


def _request(bench: Bench, program: Path, mode: str) -> Request:
    return Request.of(
        fabric=bench.fabric,
        changes=bench.changes,
        ranks=bench.ranks,
        ppn=bench.ppn,
        program=str(program),
        arguments=(join_sizes(bench.sizes), str(bench.iterations), *_each(bench)),
        privatize=bench.privatize,
        config=(*(_NO_TIME_TO_LOOK if bench.percentiles else ()), *bench.config),
        **_mode_options(mode),
    )


def _each(bench: Bench) -> tuple[str, ...]:
    return (_EACH,) if bench.percentiles else ()


def _mode_options(mode: str) -> dict[str, Any]:
    return {"offload": mode} if mode in _OFFLOADING else {"offload": "off", "fallback": mode}


def _row(plan: PreparedRun, mode: str, line: str) -> AllreduceTime:
    size, latency_us = line.split()[:2]
    return AllreduceTime(
        "allreduce",
        mode,
        plan.request.placement.ranks,
        plan.site.ppn or 1,
        int(size),
        float(latency_us),
    )


def _check_ended(mode: str, record: Record) -> None:
    if record.failed:
        raise WeftError(f"bench: mode {mode}: {record.outcome.message}", record.exit_status)


def latencies(rows: Sequence[AllreduceTime], mode: str) -> dict[int, float]:
    """Return the latency by size in one mode."""
    return {row.bytes: row.latency_us for row in rows if row.mode == mode}


def write_csv(rows: Sequence[AllreduceTime], target: Path, option: str = named("csv")) -> None:
    """Write the long table atomically."""
    with whole_file(option, target) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*COLUMNS, *quantiles.columns([row.percentiles_us for row in rows])])
        writer.writerows(
            [*(getattr(row, column) for column in COLUMNS), *row.percentiles_us.values()]
            for row in rows
        )
