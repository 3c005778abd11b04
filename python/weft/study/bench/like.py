# SPDX-License-Identifier: LGPL-2.1-only
"""Simulations of the benchmarks in the output of OSU, IMB, nccl-tests or a perftest.

Ranks, ranks per host, types, windows and sizes are read from the file; the user supplies missing
values. Calls are separated by barriers or back to back, as in the file's benchmark
(`weft.benchmarks.methods`).
"""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from weft import _core
from weft.base.errors import WeftError, named
from weft.base.measured import LogError, log_error
from weft.base.output import whole_file
from weft.benchmarks.methods import method_named
from weft.benchmarks.output import Measured, read
from weft.runs.options import DEFAULT_FALLBACK
from weft.runs.site import load_fabric
from weft.study.bench import micro_benchmarks as benches
from weft.study.bench import nccl_tests
from weft.study.bench.benchmarks import BENCHMARKS, TYPES, Benchmark
from weft.study.bench.checks import Progress
from weft.study.bench.micro_benchmarks import MESSAGES, Study, Time
from weft.study.bench.nccl import DEFAULT_VERSION

COLUMNS = (
    *("file", "line", "fabric", "collective", "mode", "path", "reason", "ranks", "ppn", "bytes"),
    *("unit", "measured", "simulated", "error"),
)
_BYTE = {"MPI_BYTE": "char", "BYTE": "char"}
_SUMS = "float"  # osu_allreduce.c up to 6; IMB user guide, "MPI_Datatype for reductions"


@dataclass(frozen=True)
class LikeOptions:
    """Fabric and modes to run, and values that may be missing in the file."""

    fabric: str
    ranks: int | None = None
    ppn: int | None = None
    modes: Sequence[str] | None = None
    """Modes of collectives; None: NCCL for nccl-tests output on a GPU fabric, else the default
    library."""
    iterations: int = benches.ITERATIONS
    changes: tuple[str, ...] = ()
    config: tuple[str, ...] = ()
    strict: bool = False
    """True to refuse values outside the measured ranges."""


@dataclass(frozen=True)
class ComparedBenchmark:
    """Measured benchmark and its simulation in one mode."""

    measured: Measured
    study: Study
    rows: Sequence[Time]

    @property
    def pairs(self) -> list[tuple[Time, float]]:
        """Simulated rows, each paired with its measured value."""
        real = self.real
        return [(row, real[row.bytes]) for row in self.rows]

    @property
    def real(self) -> Mapping[int, float]:
        """Measured values by size."""
        return {row.bytes: row.value for row in self.measured.rows}

    @property
    def error(self) -> LogError:
        """Logarithmic error over all sizes."""
        simulated = {row.bytes: row.figure for row in self.rows}
        return log_error(simulated, {size: self.real[size] for size in simulated})


@dataclass(frozen=True)
class Plan:
    """Benchmarks of a file to run, and omitted benchmarks."""

    runs: Sequence[tuple[Measured, Study]]
    left_out: Sequence[str]
    """One sentence per omitted benchmark or row."""
    notes: Sequence[str] = ()
    """Differences between measured calls and their MPI equivalents, in sentences."""


def plan(path: Path, asked: LikeOptions) -> Plan:
    """Read a file and plan its runs; everything is checked before anything runs."""
    runs, left_out = [], []
    for measured in read(path):
        benchmark = BENCHMARKS.get(measured.benchmark)
        if benchmark is None:
            left_out.append(f"{_place(measured)}: `weft bench` has no {measured.benchmark}")
            continue
        if measured.ranks == 1:
            left_out.append(f"{_place(measured)}: a single rank")
            continue
        if "groups" in measured.options:
            number = measured.options["groups"]
            left_out.append(f"{_place(measured)}: {number} communicators at the same time")
            continue
        if measured.memory != "HOST":
            left_out.append(f"{_place(measured)}: buffers in {measured.memory} memory")
            continue
        type_ = _type(measured, benchmark)
        ranks = _ranks(measured, benchmark, asked)
        sizes, odd = _sizes(measured, benchmark, type_, ranks)
        left_out += odd
        if sizes:
            study = _study(measured, benchmark, type_, ranks, sizes, asked)
            _check(measured, study)
            runs.append((measured, study))
    if not runs:
        raise WeftError(f"{path}: nothing in it can be run: {'; '.join(left_out)}")
    notes = dict.fromkeys(
        f"{path}: {note}"
        for measured, study in runs
        if not all(mode.startswith(nccl_tests.PREFIX) for mode in study.modes)
        for note in measured.notes
    )
    return Plan(runs, left_out, list(notes))


def _check(measured: Measured, study: Study) -> None:
    try:
        benches.check(study)
    except WeftError as error:
        said = f"{_place(measured)}: {measured.benchmark}: {error.message}"
        raise WeftError(said) from None


def run(planned: Plan, progress: Progress | None = None) -> list[ComparedBenchmark]:
    """Simulate all benchmarks, mode by mode."""
    found = []
    for measured, study in planned.runs:
        rows = benches.run(study, progress)
        for mode in study.modes or (MESSAGES,):
            some = [row for row in rows if row.mode == mode]
            found.append(ComparedBenchmark(measured, study, some))
    return found


def _study(
    measured: Measured,
    benchmark: Benchmark,
    type_: str,
    ranks: int,
    sizes: Sequence[int],
    asked: LikeOptions,
) -> Study:
    window = measured.options.get("window", "")
    ppn = _settled(measured, "ppn", measured.ppn, asked.ppn)
    return Study(
        *(benchmark, asked.fabric, [ranks], [ppn], sizes),
        _modes(measured, asked) if benchmark.collective else (),
        asked.iterations,
        window=int(window) if window.isdecimal() else benches.WINDOW,
        type=type_,
        op=measured.options.get("op", "MPI_SUM").removeprefix("MPI_").lower(),
        changes=asked.changes,
        config=asked.config,
        back_to_back=benchmark.family == "blocking"
        and method_named(measured.suite.lower(), measured.version).back_to_back,
        strict=asked.strict,
    )


def _modes(measured: Measured, asked: LikeOptions) -> Sequence[str]:
    if asked.modes is not None:
        return asked.modes
    on_gpus = _core.gpus_per_node(load_fabric(asked.fabric, asked.changes)) > 0
    if on_gpus and measured.suite == "nccl-tests":
        return (nccl_tests.PREFIX + DEFAULT_VERSION,)
    return (DEFAULT_FALLBACK,)


def _ranks(measured: Measured, benchmark: Benchmark, asked: LikeOptions) -> int:
    if not benchmark.collective and not benchmark.pairs:
        return 2
    ranks = _settled(measured, "ranks", measured.ranks, asked.ranks)
    if ranks is None:
        raise WeftError(
            f"{_place(measured)}: {measured.benchmark}: the file does not state the number of"
            f" ranks; give {named('ranks')}"
        )
    return ranks


def _settled(measured: Measured, name: str, said: int | None, given: int | None) -> int | None:
    if said is not None and given is not None and said != given:
        source = measured.placement.sources.get(name, "the file")
        raise WeftError(
            f"{named(name)}: found {given}, and {_place(measured)}: {measured.benchmark} has {said}"
            f" ({source}); leave {named(name)} out"
        )
    return given if said is None else said


def _type(measured: Measured, benchmark: Benchmark) -> str:
    said = measured.options
    name = said.get("datatype_for_reductions") if benchmark.sums else None
    name = name or said.get("datatype")
    if name is None:
        return _SUMS if benchmark.sums and benchmark.collective else "char"
    short = _BYTE.get(name.upper()) or name.removeprefix("MPI_").lower()
    if short not in TYPES:
        raise WeftError(
            f"{_place(measured)}: datatype {name}; allowed are"
            f" {', '.join(f'MPI_{one.upper()}' for one in TYPES)} and MPI_BYTE"
        )
    return short


def _sizes(
    measured: Measured, benchmark: Benchmark, type_: str, ranks: int
) -> tuple[list[int], list[str]]:
    """Return the sizes to run, and notices about omitted sizes."""
    if benchmark.sized == "nothing":
        return [0], []
    element = TYPES[type_]
    sizes, left_out = [], []
    for row in measured.rows:
        said = f"MPI_{type_.upper()} ({element} bytes)"
        if row.bytes % element or (row.bytes == 0 and benchmark.collective):
            said = f"whole {said}"
        elif benchmark.sized == "split" and row.bytes < element * ranks:
            said = f"{said} for each of {ranks} ranks"
        else:
            sizes.append(row.bytes)
            continue
        left_out.append(
            f"{measured.path}: line {row.line}: {row.bytes} bytes of {measured.benchmark} are no"
            f" {said}"
        )
    return sizes, left_out


def _place(measured: Measured) -> str:
    return f"{measured.path}: line {measured.line}"


def values(beside: ComparedBenchmark) -> list[tuple[object, ...]]:
    """Return the cells of COLUMNS for each row."""
    measured, benchmark = beside.measured, beside.study.benchmark
    return [
        (
            *(str(measured.path), measured.line, row.fabric, benchmark.name, row.mode, row.path),
            *(row.reason, row.ranks, row.ppn, row.bytes, measured.unit, real, row.figure),
            row.figure / real - 1,
        )
        for row, real in beside.pairs
    ]


def write_csv(found: Sequence[ComparedBenchmark], target: Path, option: str = named("csv")) -> None:
    """Write one line per row, atomically."""
    with whole_file(option, target) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for one in found:
            writer.writerows(
                [f"{cell:.9g}" if isinstance(cell, float) else cell for cell in cells]
                for cells in values(one)
            )
