# SPDX-License-Identifier: LGPL-2.1-only
"""Times of Bcast, Allgather, and Allgather concurrent with Reduce-Scatter, by mode and size.

A mode is an offload mode (`multicast`, `stream`, `message`), an algorithm that the shipped program
implements with point-to-point messages (`ring`, `knomial`, …), or a value of `weft run --fallback`:
a selection (`openmpi-5.0`), an algorithm of the hosts, or SMPI's as `smpi:NAME`. Each mode and size
is a separate run, so its record shows the bytes per link.
"""

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from weft import _core
from weft.base import paths
from weft.base.errors import WeftError, named
from weft.base.output import whole_file
from weft.base.process import work_directory
from weft.runs import launch, offload_modes
from weft.runs.options import DEFAULT_FALLBACK
from weft.runs.record import Record
from weft.runs.record_data import LinkPart
from weft.runs.request import Request
from weft.runs.simgrid import SimGrid
from weft.runs.site import choose_ppn, load_fabric
from weft.runs.toolchain import compile_c
from weft.study.bench import quantiles
from weft.study.bench.checks import Progress, check_memory, check_mode
from weft.study.bench.modes import MechanismRow, Way, way_taken

COLUMNS = (
    "fabric",
    "collective",
    "mode",
    "path",
    "reason",
    "ranks",
    "ppn",
    "bytes",
    "latency_us",
    "max_us",
    "receive_Bps",
    "port_bytes",
)
_INT_BYTES = 4
# Saves memory at thousands of ranks: ranks share the pages of their buffers.
_SHARED = ("smpi/auto-shared-malloc-thresh:1", "smpi/shared-malloc:local")
_Received = Callable[[int, int], int]


@dataclass(frozen=True)
class Collective:
    """One measured collective, or combination of collectives."""

    name: str
    title: str
    written_out: tuple[str, ...]
    """Algorithms implemented by the shipped program."""
    default_modes: tuple[str, ...]
    called: tuple[str, ...]
    """Names of the collectives in the record."""
    received: _Received
    """Bytes that a rank receives from other ranks, by bytes per rank and number of ranks."""
    buffers: Callable[[int], int]
    """Number of buffers of a rank by number of ranks, in units of the bytes per rank
    (collective_times.c).
    """


COLLECTIVES = {
    one.name: one
    for one in (
        Collective(
            "bcast",
            "MPI_Bcast",
            ("knomial", "sag-knomial", "binary-tree"),
            ("multicast", "stream", "knomial", "sag-knomial", "binary-tree"),
            ("bcast",),
            lambda size, _ranks: size,
            lambda _ranks: 1,
        ),
        Collective(
            "allgather",
            "MPI_Allgather",
            ("ring",),
            ("multicast", "stream", "ring", DEFAULT_FALLBACK),
            ("allgather",),
            lambda size, ranks: size * (ranks - 1),
            lambda ranks: 1 + ranks,
        ),
        Collective(
            "ag+rs",
            "MPI_Iallgather with MPI_Ireduce_scatter_block",
            ("ring",),
            ("multicast", "stream", "ring", DEFAULT_FALLBACK),
            ("iallgather", "ireduce_scatter"),
            lambda size, ranks: size * ranks,
            lambda ranks: 4 + 2 * ranks,
        ),
    )
}


@dataclass(frozen=True)
class CollectivesBench:
    """Parameters of the benchmark."""

    collective: Collective
    fabric: str
    ranks: int
    sizes: Sequence[int]
    """Bytes contributed by one rank; for `bcast`, by the root."""
    modes: Sequence[str]
    ppn: int | None = None
    iterations: int = 1
    unchecked: bool = False
    """True if all ranks share the memory of their buffers, whose contents are then not checked."""
    changes: tuple[str, ...] = ()
    """Changes to the fabric file, each as TABLE.KEY=VALUE."""
    percentiles: tuple[float, ...] = ()
    """Percentiles of single calls."""
    strict: bool = False
    """True to refuse values outside the measured ranges."""


@dataclass(frozen=True)
class CollectiveTime(MechanismRow):
    """One line of the CSV."""

    collective: str
    mode: str
    ranks: int
    ppn: int
    bytes: int
    latency_us: float
    """Mean over iterations and ranks; for `bcast`, over receiving ranks only."""
    max_us: float
    receive_Bps: float  # noqa: N815 (the file's name for it)
    """Bytes received by a rank divided by the latency."""
    port_bytes: float
    """Sum over all switch ports in both directions, including traffic between timed iterations."""
    times_us: Sequence[float] = field(default=(), compare=False)
    """Mean time of each rank."""
    fabric: str = ""
    way: Way = field(default=Way("", ""), compare=False)
    """Executor that was actually simulated for this mode."""
    percentiles_us: Mapping[float, float] = field(default_factory=dict, compare=False)
    """Percentiles over all calls of the ranks averaged in `latency_us`, if requested."""
    calls_us: Sequence[Sequence[float]] = field(default=(), compare=False)
    """Times of all calls of each of these ranks, if percentiles are requested."""


def check(study: CollectivesBench) -> None:
    """Check the parameters before anything is compiled or run."""
    odd = [size for size in study.sizes if size % _INT_BYTES]
    if odd:
        raise WeftError(
            f"{named('sizes')}:"
            f" found {odd[0]} bytes; an MPI_INT has {_INT_BYTES}: give multiples of that"
        )
    parts = study.collective.buffers(study.ranks)
    check_memory(max(study.sizes), parts if study.unchecked else parts * study.ranks)
    simgrid = SimGrid()
    for mode in study.modes:
        check_mode("modes", mode, _own_modes(study.collective), simgrid)
    choose_ppn(load_fabric(study.fabric, study.changes), study.ranks, study.ppn)


def _own_modes(collective: Collective) -> list[str]:
    return [*offload_modes.WAYS, *collective.written_out]


def run(study: CollectivesBench, progress: Progress | None = None) -> list[CollectiveTime]:
    """Measure all modes; rows are ordered by mode, then by size."""
    check(study)
    with work_directory() as work:
        program = work / "collective_times"
        compile_c(paths.example("collective_times.c"), program)
        return list(_rows(study, program, progress))


def _rows(
    study: CollectivesBench, program: Path, progress: Progress | None
) -> Iterator[CollectiveTime]:
    for mode in study.modes:
        for size in study.sizes:
            yield measure(study, program, mode, size)[0]
            if progress is not None:
                progress(mode, size)


def measure(
    study: CollectivesBench, program: Path, mode: str, size: int
) -> tuple[CollectiveTime, Record]:
    """Run one mode and size with the compiled program."""
    times: dict[int, list[float]] = {}  # mean, maximum and, if requested, single calls

    def take(line: str) -> None:
        rank, *numbers = line.split()
        times[int(rank)] = list(map(float, numbers))

    plan = launch.prepare(_request(study, program, mode, size))
    record = launch.run(plan, take)
    if record.failed:
        message = f"bench: mode {mode}: {record.outcome.message}"
        raise WeftError(message, record.exit_status)
    return _row(study, mode, size, times, record), record


def _request(study: CollectivesBench, program: Path, mode: str, size: int) -> Request:
    algorithm = mode if mode in study.collective.written_out else "mpi"
    arguments = [study.collective.name, algorithm, str(size), str(study.iterations)]
    return Request.of(
        fabric=study.fabric,
        changes=study.changes,
        ranks=study.ranks,
        program=str(program),
        arguments=(
            *arguments,
            *(["unchecked"] if study.unchecked else []),
            *(["each"] if study.percentiles else []),
        ),
        ppn=study.ppn,
        privatize=False,
        config=_SHARED if study.unchecked else (),
        strict=study.strict,
        **_options(study.collective, mode),
    )


def _options(collective: Collective, mode: str) -> dict[str, Any]:
    if mode in offload_modes.WAYS:
        return {"offload": mode}
    own = mode in collective.written_out
    return {"offload": "off", **({} if own else {"fallback": mode})}


def _row(
    study: CollectivesBench,
    mode: str,
    size: int,
    times: dict[int, list[float]],
    record: Record,
) -> CollectiveTime:
    receiving = [
        rank for rank in sorted(times) if study.collective.name != "bcast" or rank or len(times) < 2
    ]
    means = [times[rank][0] for rank in receiving]
    calls = [times[rank][2:] for rank in receiving]
    latency_us = sum(means) / len(means)
    return CollectiveTime(
        study.collective.name,
        mode,
        study.ranks,
        record.ppn,
        size,
        latency_us,
        max(times[rank][1] for rank in receiving),
        study.collective.received(size, study.ranks) / latency_us * 1e6,
        port_bytes(load_fabric(study.fabric, study.changes), record.links),
        means,
        record.fabric.label,
        way_taken(record, mode, study.collective.called, offloading=mode in offload_modes.WAYS),
        quantiles.percentiles_of([time for its in calls for time in its], study.percentiles),
        calls,
    )


def port_bytes(fabric: _core.Fabric, links: Sequence[LinkPart]) -> float:
    """Return the bytes received and sent by switch ports; a link has one or two such ports."""
    hosts = set(fabric.hosts)
    return sum(link.bytes * _switch_ports(link.name, hosts) for link in links)


def _switch_ports(link: str, hosts: set[str]) -> int:
    ends = link.rpartition(".")[0].split("--")
    return 1 if any(end in hosts for end in ends) else 2


def values(rows: Sequence[CollectiveTime], mode: str, column: str) -> dict[int, float]:
    """Return a column by size in one mode."""
    return {row.bytes: getattr(row, column) for row in rows if row.mode == mode}


def write_csv(rows: Sequence[CollectiveTime], target: Path, option: str = named("csv")) -> None:
    """Write the long table atomically."""
    with whole_file(option, target) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*COLUMNS, *quantiles.columns([row.percentiles_us for row in rows])])
        writer.writerows(map(_cells, rows))


def _cells(row: CollectiveTime) -> list[object]:
    return [
        f"{value:.9g}" if isinstance(value, float) else value
        for value in (
            *(getattr(row, column) for column in COLUMNS),
            *row.percentiles_us.values(),
        )
    ]
