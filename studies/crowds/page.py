# SPDX-License-Identifier: LGPL-2.1-only
"""Study of crowds: tables and figures of docs/crowds.md."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from studies.crowds import costs, errors
from studies.crowds.costs import COSTS, GROWTH, SIZES, Cost
from studies.crowds.errors import KINDS, RESOLUTIONS, Error
from studies.study import DOCS, IMAGES, Study, markdown
from weft.base.plots import COLOURS, MARKERS, look

_LEAST = 1e-6  # smaller errors are drawn at this value


def costs_table(rows: Sequence[Cost]) -> str:
    """Return a row per crowd, with weft's messages and SMPI's."""
    crowds = dict.fromkeys((row.fabric, row.ranks, row.words) for row in rows)
    found = {(row.fabric, row.ranks, row.words, row.transport): row for row in rows}
    heads = ("", "fabric", "messages", "CPU", "a message", "memory", "SMPI's messages", "memory")
    lines = []
    for crowd in crowds:
        ours, smpi = found[*crowd, "weft"], found.get((*crowd, "smpi"))
        lines.append(
            (
                _named(ours),
                ours.fabric,
                f"{ours.messages:,}",
                f"{ours.cpu_s:.2f} s",
                f"{ours.message_us:.1f} us",
                f"{ours.peak_MiB:,.0f} MiB",
                f"{smpi.cpu_s:.1f} s" if smpi else "",
                f"{smpi.peak_MiB:,.0f} MiB" if smpi else "",
            )
        )
    return markdown(heads, lines, left=2)


def _named(row: Cost) -> str:
    kind, *words = row.words.split()
    if kind == "alltoallv":
        return f"{row.ranks:,} ranks, linear Alltoallv, a ninth of the blocks 8 B"
    pattern, messages, size, _ = words
    (name,) = [name for name, digits in SIZES.items() if digits == size]
    return f"{row.ranks:,} x {messages}, {pattern}, {name}"


def draw_growth(rows: Sequence[Cost]) -> Figure:
    """Plot CPU time and memory against messages in flight."""
    figure = Figure(figsize=(9.6, 4.2), layout="constrained")
    panels = figure.subplots(1, 2)
    for axes, quantity, name in zip(
        panels, ("cpu_s", "peak_MiB"), ("CPU time, s", "peak memory, MiB"), strict=True
    ):
        for number, (size, digits) in enumerate(SIZES.items()):
            for transport, label in {"weft": "", "no contention": ", no contention"}.items():
                chosen = [
                    row
                    for row in rows
                    if row.transport == transport and row.words.split()[3] == digits
                ]
                axes.plot(
                    [row.messages for row in chosen],
                    [getattr(row, quantity) for row in chosen],
                    color=COLOURS[number],
                    linestyle="dashed" if label else "solid",
                    marker=MARKERS[number],
                    ms=4,
                    label=f"{size}{label}",
                )
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set_xlabel("messages in flight")
        axes.set_ylabel(name)
    panels[0].legend(frameon=False, fontsize=8)
    return figure


def draw_errors(rows: Sequence[Error]) -> Figure:
    """Plot mean and largest errors against resolution, one panel per quantity."""
    figure = Figure(figsize=(9.6, 5.6), layout="constrained")
    for axes, (what, title) in zip(figure.subplots(2, 3).flat, KINDS.items(), strict=True):
        _panel(axes, [row for row in rows if row.what == what])
        axes.set_title(title, loc="left", fontsize=9)
    figure.axes[0].legend(frameon=False, fontsize=8)
    return figure


def _panel(axes: Axes, rows: Sequence[Error]) -> None:
    places = range(len(RESOLUTIONS))
    for number, (label, values) in enumerate(_curves(rows)):
        axes.plot(places, np.maximum(values, _LEAST), **look(number), label=label)
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:g} %"))
    axes.set_ylim(_LEAST / 2, 10)
    axes.set_xticks(places, ["auto", *RESOLUTIONS[1:]], fontsize=8)


def _curves(rows: Sequence[Error]) -> Iterator[tuple[str, Sequence[float]]]:
    by_resolution = [[row for row in rows if row.resolution == one] for one in RESOLUTIONS]
    yield "mean", [_mean(some) for some in by_resolution]
    yield "worst", [max(row.worst for row in some) for some in by_resolution]


def _mean(rows: Sequence[Error]) -> float:
    return float(np.average([row.mean for row in rows], weights=[row.number for row in rows]))


def errors_table(rows: Sequence[Error]) -> str:
    """Return mean and largest error by quantity, for some resolutions."""
    heads = ("", "cases", *(f"`{one}`, {kind}" for one in _SHOWN for kind in ("mean", "worst")))
    lines = []
    for what, name in KINDS.items():
        cells = [name, str(len({row.case for row in rows if row.what == what}))]
        for resolution in _SHOWN:
            some = [row for row in rows if (row.what, row.resolution) == (what, resolution)]
            cells += [f"{_mean(some):.3%}", f"{max(row.worst for row in some):.2%}"]
        lines.append(cells)
    return markdown(heads, lines)


_SHOWN = ("automatic", "100ns", "1us")


def measure() -> None:
    """Measure errors and costs."""
    errors.measure()
    costs.measure()


def _figures() -> Mapping[Path, Figure]:
    return {
        IMAGES / "crowd-growth.png": draw_growth(costs.read(GROWTH)),
        IMAGES / "crowd-errors.png": draw_errors(errors.read()),
    }


STUDY = Study(
    name="crowds",
    about="what many messages in flight cost, and what merging their events gets wrong",
    measure=measure,
    figures=_figures,
    page=DOCS / "crowds.md",
    texts=lambda: {
        "table: crowd costs": costs_table(costs.read(COSTS)),
        "table: crowd errors": errors_table(errors.read()),
    },
)
