# SPDX-License-Identifier: LGPL-2.1-only
"""Study of growth: tables and figures of docs/growth.md."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from studies.growth.explained import EXPLAINED
from studies.growth.fit import Fit
from studies.growth.measure import RESOLUTION, Grown, read, write
from studies.growth.series import AXES
from studies.study import DOCS, IMAGES, Study, markdown
from weft.base.plots import COLOURS, look

QUANTITIES = {"cpu_s": "CPU time, s", "memory_mib": "memory, MiB"}
_NAMES = {"cpu_s": "growth-cpu.png", "memory_mib": "growth-memory.png"}


def table(rows: Sequence[Grown], axis: str) -> str:
    """Return the exponents of an axis, and the cost at the largest number."""
    lines = [
        (
            one.series.name,
            f"{max(one.cpu_s):,}",
            f"{one.cpu_s[max(one.cpu_s)]:.2f} s",
            exponent(one.fit("cpu_s")),
            f"{one.memory_mib[max(one.memory_mib)]:.1f} MiB",
            exponent(one.fit("memory_mib")),
        )
        for one in rows
        if one.series.axis == axis
    ]
    heads = ("", f"largest number of {AXES[axis]}", "CPU", "exponent", "memory", "exponent")
    return markdown(heads, lines)


def exponent(found: Fit | None) -> str:
    """Return the exponent with its interval; bold if superlinear."""
    if found is None:
        return "-"
    text = f"{found.exponent:.2f} ± {found.uncertainty:.2f}"
    if found.faster_than_linear:
        return f"**{text}**"
    return f"{text} ?" if found.perhaps_faster else text


def faster(rows: Iterable[Grown]) -> list[tuple[str, str, str, Fit]]:
    """Return axis, series and quantity of all superlinear or possibly superlinear growth."""
    return [
        (one.series.axis, one.series.name, quantity, found)
        for one in rows
        for quantity in RESOLUTION
        if (found := one.fit(quantity)) is not None
        and (found.faster_than_linear or found.perhaps_faster)
    ]


def why(rows: Sequence[Grown]) -> str:
    """Return the table of explanations for all proven superlinear growth."""
    lines = [
        (name, AXES[axis], QUANTITIES[quantity].split(",")[0], exponent(found), explanation)
        for axis, name, quantity, found in faster(rows)
        if (explanation := EXPLAINED.get((axis, name, quantity), "")) or found.faster_than_linear
    ]
    return markdown(("", "by", "of", "exponent", "why"), lines, left=5)


def draw(rows: Sequence[Grown], quantity: str) -> Figure:
    """Draw one panel per axis, each series with its fit."""
    figure = Figure(figsize=(13, 14), layout="constrained")
    panels = figure.subplots(3, 2).flat
    for panel, axis in zip(panels, AXES, strict=False):
        _draw_axis(panel, [one for one in rows if one.series.axis == axis], quantity)
        panel.set(xlabel=AXES[axis], ylabel=QUANTITIES[quantity])
        _plain_ticks(panel)
    figure.axes[-1].axis("off")
    figure.axes[-1].text(
        0.05,
        0.6,
        "Thin grey: linear growth.\nLines are fits of the points that they span.",
        fontsize=11,
    )
    return figure


def _draw_axis(axes: Axes, rows: Sequence[Grown], quantity: str) -> None:
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.grid(visible=True, color="#dddddd", linewidth=0.7)
    for number, one in enumerate(rows):
        points = getattr(one, quantity)
        shown = {x: y for x, y in points.items() if y > RESOLUTION[quantity]}
        if not shown:
            continue
        found = one.fit(quantity)
        style = {**_look(number), "linestyle": "none"}
        label = one.series.name + (f": {found.exponent:.2f}" if found else "")
        axes.plot(list(shown), list(shown.values()), label=label, **style)
        if found is not None:
            ends = [max(points) / 16, max(points)]
            line = {**_look(number), "marker": "none"}
            axes.plot(ends, [found.at(x) for x in ends], **line)
    if not axes.lines:
        axes.text(0.5, 0.5, "nothing above the noise", ha="center", transform=axes.transAxes)
        return
    _draw_linear(axes)
    axes.legend(fontsize=8, frameon=False, title="exponent", title_fontsize=8)


def _look(number: int) -> dict[str, Any]:
    """Draw curves beyond the number of colours with hollow markers."""
    hollow = {"markerfacecolor": "none", "alpha": 0.7} if number >= len(COLOURS) else {}
    return {**look(number), **hollow}


def _plain_ticks(axes: Axes) -> None:
    """Label the axes in plain numbers, with ticks at powers of four."""
    left, right = axes.get_xlim()
    powers = [4**k for k in range(20) if left <= 4**k <= right]
    axes.set_xticks(powers, [f"{power:,}" for power in powers], rotation=30)
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())


def _draw_linear(axes: Axes) -> None:
    """Draw a line for linear growth through the lower left corner."""
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    axes.plot([left, right], [bottom, bottom * right / left], color="#888888", linewidth=0.7)
    axes.set(xlim=(left, right), ylim=(bottom, top))


def texts() -> dict[str, str]:
    """Return the tables of the page."""
    rows = read()
    of_axes = {f"table: growth by {axis}": table(rows, axis) for axis in AXES}
    return {**of_axes, "table: growth faster than linear": why(rows)}


def _figures() -> dict[Path, Figure]:
    rows = read()
    return {IMAGES / name: draw(rows, quantity) for quantity, name in _NAMES.items()}


STUDY = Study(
    name="growth",
    about="how time and memory grow with ranks, hosts, sizes, communicators and calls",
    measure=write,
    figures=_figures,
    page=DOCS / "growth.md",
    texts=texts,
)
