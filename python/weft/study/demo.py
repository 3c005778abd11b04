# SPDX-License-Identifier: LGPL-2.1-only
"""Demonstration: simulated Allreduce latencies compared with measurements on a real Tofino.

The testbed is Belbeisi et al.'s (CF '26): four hosts on one switch. The tables are written as CSV,
and the two figures are drawn from their rows.
"""

import csv
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from weft import _core
from weft.base import measured
from weft.base.errors import named
from weft.base.extras import lacking
from weft.base.measured import Column, LogError, log_error
from weft.base.output import whole_file
from weft.base.plots import Series, plot_by_hosts, plot_by_size
from weft.benchmarks.measured import machine_of
from weft.study.bench import micro_benchmarks
from weft.study.bench.benchmarks import BENCHMARKS
from weft.study.bench.checks import Progress
from weft.study.bench.gains import size_gains
from weft.study.bench.micro_benchmarks import Study, Time
from weft.study.bench.modes import check_as_asked
from weft.study.comparison.compare import BEST

HOSTS = (4, 8, 12, 16)
BY_HOSTS_BYTES = 1024
TUNED = "openmpi-4.1"
"""MPI library of the testbed's hosts."""
_TABLES = ("allreduce_4x1.csv", "allreduce_1KiB_by_hosts.csv", "errors_4x1.csv")
_FIGURES = ("allreduce_4x1", "allreduce_1KiB_by_hosts")
_FORMATS = (".png", ".pdf")
FILES = (*_TABLES, *(name + form for name in _FIGURES for form in _FORMATS))
"""All files that the demonstration writes."""
_SIZES = [4 << k for k in range(19)]


@dataclass(frozen=True)
class Comparison:
    """Simulated Allreduce implementation and its measured counterpart on the testbed."""

    mode: str
    title: str
    measured: str


COMPARISONS = (
    Comparison("stream", "offloaded, stream", "mpitofino_us"),
    Comparison("message", "offloaded, message", "mpitofino_us"),
    Comparison("openmpi-4.1", "Open MPI tuned on the hosts", "openmpi_tuned_us"),
    Comparison("basic_linear", "Open MPI basic on the hosts", "openmpi_basic_us"),
)
PAPER_GAIN = 2.2
"""Speed-up of mpitofino over tuned Open MPI, stated by Belbeisi et al. for their figure 4.

They do not state the sizes.
"""


@dataclass(frozen=True)
class Gain:
    """Speed-up of offloading over tuned Open MPI."""

    mean: float
    """Geometric mean over all sizes."""
    most: float
    most_at: int
    """Bytes with the largest speed-up."""
    pays_from: int
    """Size in bytes from which offloading is always faster."""
    mean_within: tuple[float, float] | None = None
    """Interval of `mean`; None for measured gains."""
    most_within: tuple[float, float] | None = None
    """Interval of `most`."""


def gain(hosts: Column, offloaded: Column, widths: Column | None = None) -> Gain:
    """Return the gain from offloading over the sizes of both columns.

    `widths` maps sizes to the factor, in ln, by which a simulated gain may be off. Errors of one
    model do not cancel on average.
    """
    gains = {size: hosts[size] / offloaded[size] for size in hosts}
    most_at = max(gains, key=lambda size: gains[size])
    slower = [size for size in gains if gains[size] <= 1]
    pays_from = min((size for size in gains if size > max(slower, default=0)), default=0)
    mean, most = statistics.geometric_mean(gains.values()), gains[most_at]
    if widths is None:
        return Gain(mean, most, most_at, pays_from)
    within = [
        (ratio / math.exp(width), ratio * math.exp(width))
        for ratio, width in (
            (mean, statistics.fmean(widths[size] for size in gains)),
            (most, widths[most_at]),
        )
    ]
    return Gain(mean, most, most_at, pays_from, *within)


def _widths(ours: Sequence[Time], hosts: Sequence[Time]) -> Column:
    """Return by size the factor, in ln, by which the gain of a call on four hosts may be off."""
    machine = machine_of(_core.load_fabric("tofino-4"))
    return {
        one.bytes: math.log(one.certainty.high / one.speed_up)
        for one in size_gains(machine, ours, hosts)
        if one.certainty
    }


@dataclass(frozen=True)
class Results:
    """Results shown by the demonstration."""

    by_size: Sequence[Time]
    by_hosts: Sequence[Time]
    real: Mapping[str, Column]

    def simulated(self, mode: str) -> Column:
        """Return the simulated latency by size on four hosts."""
        return {row.bytes: row.figure for row in self.by_size if row.mode == mode}

    def hosts(self, mode: str) -> Column:
        """Return the simulated 1 KiB latency by number of hosts."""
        return {row.ranks: row.figure for row in self.by_hosts if row.mode == mode}

    def gains(self) -> dict[str, Gain]:
        """Return gains over tuned Open MPI (measured, simulated) and over the best algorithms."""
        ours = self.simulated("stream")
        return {
            "measured": gain(self.real["openmpi_tuned_us"], self.real["mpitofino_us"]),
            "simulated": gain(self.simulated(TUNED), ours, self._widths(TUNED)),
            "simulated, against the hosts' fastest algorithms": gain(
                self.simulated(BEST), ours, self._widths(BEST)
            ),
        }

    def _widths(self, mode: str) -> Column:
        """Return by size the factor, in ln, by which gains over a host mode may be off."""
        ours, hosts = ([row for row in self.by_size if row.mode == one] for one in ("stream", mode))
        return _widths(ours, hosts)

    def error(self, comparison: Comparison) -> LogError:
        """Return the error of the simulation against the testbed over all sizes."""
        return log_error(self.simulated(comparison.mode), self.real[comparison.measured])


def simulations() -> int:
    """Return the number of calls of the progress callback."""
    return (len(COMPARISONS) + 1) * (len(_SIZES) + len(HOSTS))


def run(progress: Progress | None = None) -> Results:
    """Run all simulations."""
    by_size = micro_benchmarks.run(_bench("tofino-4", 4, _SIZES), progress)
    by_hosts: list[Time] = []
    for hosts in HOSTS:
        by_hosts += micro_benchmarks.run(_bench("tofino-16", hosts, [BY_HOSTS_BYTES]), progress)
    check_as_asked([*by_size, *by_hosts], "demo")
    return Results(by_size, by_hosts, measured.read_columns(measured.OSU_4X1))


def _bench(fabric: str, ranks: int, sizes: Sequence[int]) -> Study:
    modes = [*(comparison.mode for comparison in COMPARISONS), BEST]
    return Study(BENCHMARKS["allreduce"], fabric, [ranks], [None], sizes, modes, type="int")


def write_files(results: Results, out: Path) -> list[Path]:
    """Write tables and, with the extra `report`, figures; return their paths."""
    out.mkdir(parents=True, exist_ok=True)
    tables = [out / name for name in _TABLES]
    micro_benchmarks.write_csv(results.by_size, tables[0], named("out"))
    micro_benchmarks.write_csv(results.by_hosts, tables[1], named("out"))
    _write_errors(results, tables[2])
    if lacking("report"):
        return tables
    return [*tables, *_draw_by_size(results, out), *_draw_by_hosts(results, out)]


def _write_errors(results: Results, target: Path) -> None:
    with whole_file(named("out"), target) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("mode", "measured", "bytes", "simulated_us", "measured_us", "error"))
        for comparison in COMPARISONS:
            writer.writerows(_error_rows(results, comparison))


def _error_rows(results: Results, comparison: Comparison) -> list[tuple[object, ...]]:
    simulated, real = results.simulated(comparison.mode), results.real[comparison.measured]
    name = comparison.measured.removesuffix("_us")
    return [
        (
            comparison.mode,
            name,
            size,
            simulated[size],
            real[size],
            f"{simulated[size] / real[size] - 1:.6f}",
        )
        for size in real
    ]


def _draw_by_size(results: Results, out: Path) -> list[Path]:
    real = results.real
    series = [
        *(
            Series(f"simulated: {one.title}", results.simulated(one.mode), k)
            for k, one in enumerate(COMPARISONS)
        ),
        Series("measured: mpitofino", real["mpitofino_us"], 0, measured=True),
        Series("measured: Open MPI, tuned", real["openmpi_tuned_us"], 2, measured=True),
        Series("measured: Open MPI, basic", real["openmpi_basic_us"], 3, measured=True),
    ]
    targets = [out / f"{_FIGURES[0]}{form}" for form in _FORMATS]
    plot_by_size(
        series,
        "MPI_Allreduce by message size: 4 hosts x 1 rank on a 100 Gb/s Tofino",
        targets,
        named("out"),
    )
    return targets


def _draw_by_hosts(results: Results, out: Path) -> list[Path]:
    real = {4: results.real["mpitofino_us"][BY_HOSTS_BYTES]}
    tuned = {4: results.real["openmpi_tuned_us"][BY_HOSTS_BYTES]}
    series = [
        *(
            Series(f"simulated: {one.title}", results.hosts(one.mode), k)
            for k, one in enumerate(COMPARISONS)
        ),
        Series("measured: mpitofino", real, 0, measured=True),
        Series("measured: Open MPI, tuned", tuned, 2, measured=True),
    ]
    targets = [out / f"{_FIGURES[1]}{form}" for form in _FORMATS]
    plot_by_hosts(
        series,
        "MPI_Allreduce of 1 KiB by the number of hosts on a 100 Gb/s Tofino",
        targets,
        named("out"),
    )
    return targets
