# SPDX-License-Identifier: LGPL-2.1-only
"""The paper's claim on variability in figure 11: variation of throughput, by noise and mode.

The paper does not measure its testbed's noise, so the noise here is assumed. Each run has a single
source of noise, which is the same for all modes.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

from studies.multicast import MANY, MULTICAST, TESTBED, TESTBED_HOSTS, make_study
from studies.resume import kept_rows
from studies.study import Table
from weft.base.plots import look
from weft.base.units import format_size
from weft.study.bench import collectives as bench
from weft.study.bench.collectives import COLLECTIVES
from weft.study.bench.modes import check_as_asked

SIZES = (4 << 10, 256 << 10)
PERCENTILES = (5.0, 50.0, 95.0)
MODES = {
    "bcast": (MULTICAST, "knomial", "binary-tree"),
    "allgather": (MULTICAST, "ring"),
}
RANKS = {
    "bcast": TESTBED_HOSTS,
    "allgather": 64,
}  # a ring over all hosts would take minutes
ITERATIONS = {"bcast": 50, "allgather": 20}


@dataclass(frozen=True)
class Noise:
    """Source of variation between runs."""

    name: str
    change: str
    """Fabric change that adds the noise."""


NOISES = (
    Noise(
        "jitter of 1 us on each link",
        'noise.link=[{jitter="1us", distribution="exponential"}]',
    ),
    Noise(
        "detours of 25 us each 1 ms",
        'noise.host=[{interval="1ms", intervals="exponential",'
        ' detour="25us", distribution="exponential"}]',
    ),
)


def measure() -> Table:
    """Run all modes, sizes and noise sources."""
    return kept_rows(
        "multicast",
        [
            (
                f"{_name(collective, noise)}-{mode}-{size}",
                partial(_run, collective, mode, size, noise),
            )
            for noise in NOISES
            for collective, modes in MODES.items()
            for mode, size in product(modes, SIZES)
        ],
    )


def _name(collective: str, noise: Noise) -> str:
    how = f"{RANKS[collective]}-{ITERATIONS[collective]}"
    return f"variability-{noise.name.replace(' ', '-')}-{collective}-{how}"


def _run(collective: str, mode: str, size: int, noise: Noise) -> Table:
    study = bench.CollectivesBench(
        COLLECTIVES[collective],
        TESTBED,
        RANKS[collective],
        (size,),
        (mode,),
        iterations=ITERATIONS[collective],
        changes=(noise.change,),
        percentiles=PERCENTILES,
        **MANY,
    )
    (row,) = bench.run(study)
    check_as_asked([row], "multicast")  # the tables' labels are fixed
    # Receive throughput of a rank in each of its calls, as in the paper.
    received = COLLECTIVES[collective].received(size, RANKS[collective])
    rates = [received / (time * 1e-6) for its in row.calls_us for time in its]
    slowest = np.max(np.array(row.calls_us), axis=0)  # in each call
    cells = {
        **{f"p{one:g}_Bps": rate for one, rate in zip(PERCENTILES, _of(rates), strict=True)},
        **{f"end_p{one:g}_us": time for one, time in zip(PERCENTILES, _of(slowest), strict=True)},
    }
    names = {
        "noise": noise.name,
        "collective": collective,
        "mode": mode,
        "ranks": str(RANKS[collective]),
        "bytes": str(size),
    }
    return [{**names, **{name: f"{value:.6g}" for name, value in cells.items()}}]


def _of(values: "list[float] | np.ndarray[tuple[int, ...], np.dtype[np.float64]]") -> list[float]:
    return [float(one) for one in np.percentile(values, PERCENTILES)]


def draw(rows: Table, figure: Figure) -> None:
    """Plot the median receive throughput of a process, with percentiles as bars."""
    all_axes = figure.subplots(len(NOISES), len(MODES))
    for line, noise in zip(all_axes, NOISES, strict=True):
        for axes, (collective, modes) in zip(line, MODES.items(), strict=True):
            for k, mode in enumerate(modes):
                _draw_mode(axes, _chosen(rows, noise, collective, mode), mode, k)
            axes.set_xscale("log", base=2)
            axes.set_xticks(SIZES, list(map(format_size, SIZES)))
            axes.set_yscale("log")  # equal relative spreads have equal length
            axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
            axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
            axes.yaxis.set_minor_formatter(NullFormatter())
            axes.set_ylabel("GiB/s a process")
            axes.set_title(f"{COLLECTIVES[collective].title}, {noise.name}", loc="left", fontsize=9)
            axes.legend(frameon=False, fontsize=8)
    for axes in all_axes[-1]:
        axes.set_xlabel("send buffer")


def _draw_mode(axes: Axes, rows: Table, mode: str, number: int) -> None:
    low, middle, high = (
        [float(row[f"p{one:g}_Bps"]) / 2**30 for row in rows] for one in PERCENTILES
    )
    # Offset horizontally, so that bars do not overlap.
    places = [int(row["bytes"]) * 1.06 ** (number - 1) for row in rows]
    below = [m - one for m, one in zip(middle, low, strict=True)]
    above = [one - m for m, one in zip(middle, high, strict=True)]
    axes.errorbar(places, middle, yerr=[below, above], capsize=3, label=mode, **look(number))


def _chosen(rows: Table, noise: Noise, collective: str, mode: str) -> Table:
    wanted = (noise.name, collective, mode)
    return [row for row in rows if (row["noise"], row["collective"], row["mode"]) == wanted]


def end_spread_us(row: dict[str, str]) -> float:
    """Return the spread between percentiles of the call's end."""
    low, _, high = (float(row[f"end_p{one:g}_us"]) for one in PERCENTILES)
    return high - low


def spread(row: dict[str, str], name: str, unit: str) -> float:
    """Return the spread between percentiles, relative to the median."""
    low, middle, high = (float(row[f"{name}p{one:g}_{unit}"]) for one in PERCENTILES)
    return (high - low) / middle


def table(rows: Table) -> Iterator[str]:
    """Yield medians and spreads."""
    yield (
        "| noise | | ranks | mode | bytes | median, GiB/s | 5 % to 95 %, GiB/s "
        "| spread of a process | spread of the call's end | the same, us |"
    )
    yield "|---|---|---:|---|---:|---:|---:|---:|---:|---:|"
    for row in rows:
        low, middle, high = (float(row[f"p{one:g}_Bps"]) / 2**30 for one in PERCENTILES)
        yield (
            f"| {row['noise']} | {row['collective']} | {row['ranks']} | {row['mode']} "
            f"| {format_size(int(row['bytes']))} | {middle:.2f} | {low:.2f} to {high:.2f} "
            f"| {spread(row, '', 'Bps'):.1%} | {spread(row, 'end_', 'us'):.1%} "
            f"| {end_spread_us(row):.1f} |"
        )


STUDY = make_study("variability", "how throughput varies with noise", measure, draw, table, 11)
