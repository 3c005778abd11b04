# SPDX-License-Identifier: LGPL-2.1-only
"""OSU's micro-benchmarks on a simulated fabric, for several modes and ranks per host.

All sizes of a mode are measured in one run, as in OSU. The simulator is deterministic, so a few
iterations are as good as OSU's thousands: by default 10 after a warm-up of 2. Rates use a window of
64 messages, as OSU's do. If different executors handled the sizes of a mode, each size is rerun
separately to determine its executor.
"""

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from weft import _core
from weft.base import paths
from weft.base.errors import WeftError, named
from weft.base.output import whole_file
from weft.base.process import work_directory
from weft.base.units import format_size, plural
from weft.calibrate.measurements.simulated import FREE_CLOCK, SHARED
from weft.runs import launch, offload_modes
from weft.runs.options import DEFAULT_FALLBACK
from weft.runs.record import Record
from weft.runs.request import Request
from weft.runs.simgrid import SimGrid
from weft.runs.site import choose_ppn, load_fabric
from weft.runs.toolchain import compile_c
from weft.study.bench import benchmarks, quantiles
from weft.study.bench.benchmarks import TYPES, Benchmark
from weft.study.bench.checks import Progress, check_memory, check_mode
from weft.study.bench.modes import MechanismRow, Way, labels, way_taken
from weft.study.comparison.compare import BEST

ITERATIONS = 10
WARM_UP = 2
WINDOW, MOST_WINDOW = 64, 65536
MESSAGES = "messages"
"""Mode of benchmarks without a collective."""
_EACH = "each"  # keyword of the programs for times of single calls
_MOST_INT = 2**31 - 1


@dataclass(frozen=True)
class Study:
    """Benchmark with all of its parameters."""

    benchmark: Benchmark
    fabric: str
    ranks: Sequence[int]
    """Numbers of ranks, one per number of ranks per host."""
    ppn: Sequence[int | None]
    sizes: Sequence[int]
    modes: Sequence[str] = ()
    iterations: int = ITERATIONS
    warm_up: int = WARM_UP
    window: int = WINDOW
    type: str = "char"
    op: str = "sum"
    percentiles: tuple[float, ...] = ()
    """Percentiles of the times of single calls."""
    changes: tuple[str, ...] = ()
    """Changes to the fabric file, each as TABLE.KEY=VALUE."""
    config: tuple[str, ...] = ()
    """SimGrid settings, each as KEY:VALUE."""
    back_to_back: bool = False
    """True to omit OSU's barriers between blocking collectives."""
    strict: bool = False
    """True to refuse values outside the measured ranges."""
    in_place: bool = False
    """True for MPI_IN_PLACE, as used by the NCCL benchmarks."""

    @property
    def runs(self) -> list[tuple[str, int, int | None]]:
        """Mode, ranks and ranks per host of each run."""
        modes = self.modes or (MESSAGES,)
        placed = list(zip(self.ranks, self.ppn, strict=True))
        return [(mode, ranks, ppn) for ranks, ppn in placed for mode in modes]


@dataclass(frozen=True)
class Time(MechanismRow):
    """Results for one size in one mode."""

    collective: str
    """Name of the benchmark."""
    mode: str
    ranks: int
    ppn: int
    bytes: int
    figures: Mapping[str, float]
    """Figures by column key."""
    fabric: str = ""
    way: Way = field(default=Way("", ""), compare=False)
    """Executor of the calls of this mode."""
    percentiles_us: Mapping[float, float] = field(default_factory=dict, compare=False)
    """Percentiles over all calls of all ranks, if requested."""

    @property
    def figure(self) -> float:
        """Value of the benchmark's main figure."""
        return next(iter(self.figures.values()))


def default_modes(benchmark: Benchmark) -> tuple[str, ...]:
    """Return the modes compared by default."""
    if not benchmark.collective:
        return ()
    if benchmark.name == "allreduce":
        return ("stream", "message", DEFAULT_FALLBACK, BEST)
    hosts = (DEFAULT_FALLBACK, BEST)
    return ("stream", *hosts) if benchmark.offloaded else hosts


def placed(
    benchmark: Benchmark,
    fabric: _core.Fabric,
    ranks: int | None,
    nodes: int | None,
    ppn: Sequence[int],
) -> tuple[list[int], list[int | None]]:
    """Return ranks and ranks per host of each run, derived from the user's options."""
    if nodes is None:
        if ranks is None:
            ranks = _ranks(benchmark)
        return [ranks] * max(len(ppn), 1), list(ppn) or [None]
    if ranks is not None:
        raise WeftError(
            f"{named('nodes')}: found together with {named('ranks')}; give only one of them"
        )
    if nodes > (most := len(fabric.hosts)):
        raise WeftError(
            f"{named('nodes')}: found {nodes}; fabric {fabric.name} has {plural(most, 'host')}"
        )
    each = list(ppn or (1,))
    return [nodes * one for one in each], list(each)


def _ranks(benchmark: Benchmark) -> int:
    if benchmark.collective or benchmark.pairs:
        raise WeftError(
            f"{named('ranks')}: is missing; {benchmark.name} takes a number of ranks, or"
            f" {named('nodes')} with {named('ppn')}"
        )
    return 2


def check(study: Study) -> None:
    """Check the parameters before anything is compiled or run."""
    benchmarks.check_type(study.benchmark, study.type, study.op)
    _check_ranks(study)
    _check_sizes(study)
    if study.benchmark.has_window and not 1 <= study.window <= MOST_WINDOW:
        raise WeftError(
            f"{named('window')}: found {study.window}; allowed are 1 to {MOST_WINDOW} messages"
        )
    if not study.benchmark.collective:
        if study.modes:
            raise WeftError(
                f"{named('modes')}: {study.benchmark.name} has no modes; modes apply to collectives"
            )
        if study.percentiles and study.benchmark.is_rate:
            raise WeftError(
                f"{named('percentiles')}: apply to times; {study.benchmark.name} measures rates"
            )
    if study.back_to_back and study.benchmark.family != "blocking":
        raise WeftError(f"{named('back_to_back')}: applies to blocking collectives only")
    simgrid = SimGrid()
    for mode in study.modes:
        check_mode("modes", mode, offload_modes.WAYS, simgrid)
    for ranks, ppn in zip(study.ranks, study.ppn, strict=True):
        choose_ppn(load_fabric(study.fabric, study.changes), ranks, ppn)


def _check_ranks(study: Study) -> None:
    benchmark = study.benchmark
    for ranks in study.ranks:
        if not benchmark.collective and not benchmark.pairs and ranks != 2:
            allowed = "2"
        elif benchmark.pairs and (ranks % 2 or ranks < 2):
            allowed = "an even number, as half of the ranks send to the other half"
        elif benchmark.collective and ranks < 2:
            allowed = "2 and more"
        else:
            continue
        raise WeftError(
            f"{named('ranks')}: found {plural(ranks, 'rank')}; {benchmark.name} needs {allowed}"
        )


def _check_sizes(study: Study) -> None:
    benchmark, element = study.benchmark, TYPES[study.type]
    odd = [size for size in study.sizes if size % element]
    if odd:
        an = f"an MPI_{study.type.upper()}"
        raise WeftError(
            f"{named('sizes')}: found {odd[0]} bytes; {an} has {element}: give multiples of that"
        )
    least = element * max(study.ranks)
    if benchmark.has_equal_parts and min(study.sizes) < least:
        raise WeftError(
            f"{named('sizes')}: found {min(study.sizes)} bytes; {benchmark.title} gives each of"
            f" {max(study.ranks)} ranks an equal part: give {least} bytes and more"
        )
    largest = max(study.sizes)
    check_memory(largest, study.window if benchmark.family == "one-sided rate" else 2)
    if largest // element > _MOST_INT:
        allowed = format_size(_MOST_INT * element)
        raise WeftError(
            f"{named('sizes')}: found {format_size(largest)}; allowed are at most {allowed},"
            " because MPI counts elements with 32-bit integers"
        )
    most = _MOST_INT // max(study.ranks)
    if benchmark.name.endswith(("v", "w")) and largest > most:
        raise WeftError(
            f"{named('sizes')}: found {format_size(largest)}; allowed are at most"
            f" {format_size(most)} for {max(study.ranks)} ranks: MPI's displacements in"
            f" {benchmark.title} are 32-bit integers"
        )


def run(study: Study, progress: Progress | None = None) -> list[Time]:
    """Measure everything; rows are ordered by ranks per host, then by mode, then by size."""
    check(study)
    rows: list[Time] = []
    with work_directory() as work:
        program = work / "benchmark"
        compile_c(paths.example(study.benchmark.program), program)
        for mode, ranks, ppn in study.runs:
            rows += _run(study, program, mode, ranks, ppn, progress or _no_progress)
    return rows


def _no_progress(mode: str, size: int) -> None:
    pass


def _run(
    study: Study, program: Path, mode: str, ranks: int, ppn: int | None, progress: Progress
) -> list[Time]:
    rows: list[Time] = []
    times_us: list[float] = []  # call times of the next row
    keys = [column.key for column in study.benchmark.columns]

    def take(line: str) -> None:
        if line.startswith(_EACH):
            times_us.extend(map(float, line.split()[3:]))
            return
        size, *numbers = line.split()
        figures = dict(zip(keys, map(float, numbers), strict=True))
        found = quantiles.percentiles_of(times_us, study.percentiles)
        rows.append(
            Time(study.benchmark.name, mode, ranks, 0, int(size), figures, percentiles_us=found)
        )
        times_us.clear()
        progress(mode, int(size))

    record = _ran(_request(study, program, mode, ranks, ppn), mode, take)
    way = _way(study, record, mode)
    rows = [replace(row, fabric=record.fabric.label, way=way, ppn=record.ppn) for row in rows]
    if not way.several or len(rows) == 1:
        return rows
    return [
        replace(row, way=replace(_way_of(study, program, row, ppn), message=way.message))
        for row in rows
    ]


def _way_of(study: Study, program: Path, row: Time, ppn: int | None) -> Way:
    """Return the executor of calls of one size, from a separate run of this size."""
    alone = replace(study, sizes=(row.bytes,), percentiles=(), iterations=1, warm_up=0)
    request = _request(alone, program, row.mode, row.ranks, ppn)
    return _way(study, _ran(request, row.mode, _ignore), row.mode)


def _ignore(line: str) -> None:
    pass


def _ran(request: Request, mode: str, take: Callable[[str], None]) -> Record:
    record = launch.run(launch.prepare(request), take)
    if record.failed:
        raise WeftError(f"bench: mode {mode}: {record.outcome.message}", record.exit_status)
    return record


def _way(study: Study, record: Record, mode: str) -> Way:
    if not study.benchmark.collective:
        return Way(MESSAGES, label=MESSAGES)
    return way_taken(record, mode, (study.benchmark.called,), offloading=mode in offload_modes.WAYS)


def _request(study: Study, program: Path, mode: str, ranks: int, ppn: int | None) -> Request:
    words = [
        *(study.benchmark.name, ",".join(map(str, study.sizes))),
        *(f"iterations={study.iterations}", f"warm-up={study.warm_up}"),
        *(f"window={study.window}", f"type={study.type}", f"op={study.op}"),
        *(["back-to-back"] if study.back_to_back else []),
        *(["in-place"] if study.in_place else []),
        *([_EACH] if study.percentiles else []),
    ]
    return Request.of(
        fabric=study.fabric,
        changes=study.changes,
        ranks=ranks,
        ppn=ppn,
        program=str(program),
        arguments=tuple(words),
        privatize=False,
        config=(*SHARED, *_clock(study.benchmark), *study.config),
        strict=study.strict,
        **_options(mode),
    )


def _clock(benchmark: Benchmark) -> tuple[str, ...]:
    """Return the clock settings, with which timed collectives take as long as untimed ones.

    In all other benchmarks, reading the clock costs as much as in OSU's own programs under weft.
    """
    return FREE_CLOCK if benchmark.collective else ()


def _options(mode: str) -> dict[str, Any]:
    if mode == MESSAGES:
        return {}
    return {"offload": mode} if mode in offload_modes.WAYS else {"offload": "off", "fallback": mode}


# ---- Rows


def label(rows: Sequence[Time], mode: str, ppn: int) -> str:
    """Return a mode's label in tables, with the ranks per host if they vary."""
    several = len({row.ppn for row in rows}) > 1
    name = labels([row for row in rows if row.ppn == ppn], mode)
    if not several:
        return name
    return f"{ppn} per host" if mode == MESSAGES else f"{name}, {ppn} per host"


def series(rows: Sequence[Time]) -> dict[str, dict[int, float]]:
    """Return the main figure by size, for each mode label."""
    found: dict[str, dict[int, float]] = {}
    for row in rows:
        found.setdefault(label(rows, row.mode, row.ppn), {})[row.bytes] = row.figure
    return found


def columns(rows: Sequence[Time]) -> list[str]:
    """Return the column names of rows in files."""
    figures = list(rows[0].figures) if rows else []
    own = ["fabric", "collective", "mode", "path", "reason", "ranks", "ppn", "bytes", *figures]
    return own + quantiles.columns([row.percentiles_us for row in rows])


def cells(row: Time) -> list[object]:
    """Return the cells of a row in files."""
    own: list[object] = [row.fabric, row.collective, row.mode, row.path, row.reason]
    figures = [*row.figures.values(), *row.percentiles_us.values()]
    return [*own, row.ranks, row.ppn, row.bytes, *figures]


def write_csv(rows: Sequence[Time], target: Path, option: str = named("csv")) -> None:
    """Write the long table atomically."""
    with whole_file(option, target) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns(rows))
        writer.writerows(
            [f"{cell:.9g}" if isinstance(cell, float) else cell for cell in cells(row)]
            for row in rows
        )
