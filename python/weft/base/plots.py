# SPDX-License-Identifier: LGPL-2.1-only
"""Style, provenance and output of figures.

Each PNG identifies its content: its text chunk `weft-drawn` is the `fingerprint` of everything
drawn, so a picture can be checked against the data it was made from.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft.base.errors import WeftError
from weft.base.extras import need
from weft.base.output import shown, whole_path
from weft.base.units import format_size

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = (".png", ".pdf", ".svg")
# Okabe and Ito's colour-blind-safe palette; each colour has its own dash and marker.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
DASHES = (
    "solid",
    (0, (6, 2)),
    (0, (2, 1.5)),
    "dashdot",
    (0, (1, 1)),
    (0, (8, 2, 1, 2)),
    (0, (4, 4)),
)
# Without the date and matplotlib's version, the same numbers produce the same file.
_UNDATED: dict[str, dict[str, Any]] = {
    "pdf": {"CreationDate": None},
    "svg": {"Date": None},
    "png": {"Software": None},
}
DRAWN = "weft-drawn"
"""Key of the PNG text chunk with the fingerprint."""
# For bars, which have neither dashes nor markers.
HATCHES = ("", "///", "...", "\\\\\\", "xxx", "++", "ooo")
# For ordered series such as thread counts: decreasing lightness, from matplotlib's viridis.
SHADES = ("#440154", "#3b528b", "#21918c", "#5ec962", "#c8a800")
GREY = "#888888"
MARKERS = ("o", "s", "^", "D", "v", "P", "X")


_MOST_TICKS = 12


@dataclass(frozen=True)
class Series:
    """One curve; measured curves are drawn as markers without a line."""

    label: str
    points: Mapping[int, float]
    colour: int
    measured: bool = False


def check_format(option: str, target: Path) -> None:
    """Check that a figure can be drawn and written in the format that the file's name implies."""
    if target.suffix.lower() not in FORMATS:
        raise WeftError(
            f"{option}: found '{shown(target)}'; its name must end in one of {', '.join(FORMATS)}"
        )
    need("report")


def plot_by_size(
    series: Sequence[Series],
    title: str,
    targets: Sequence[Path],
    option: str,
    axis: str = "latency (µs)",
) -> None:
    """Plot latency, or the quantity of the given axis, against message size on logarithmic axes."""
    figure, axes = _figure(title)
    _draw(axes, series)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    ticks = _size_ticks(sorted({size for one in series for size in one.points}))
    axes.set_xticks(ticks, [format_size(size) for size in ticks], rotation=40, ha="right")
    axes.set_xlabel("message size")
    _plain_axis(axes, axis)
    save(figure, targets, option)


def _size_ticks(sizes: Sequence[int]) -> Sequence[int]:
    """Return the sizes to label: all sizes of a doubling scan if they fit, else powers of four."""
    if len(sizes) <= 10:
        return sizes
    if len(sizes) <= 30:
        return sizes[::2]
    return [4**k for k in range(32) if sizes[0] <= 4**k <= sizes[-1]]


def plot_by_hosts(
    series: Sequence[Series],
    title: str,
    targets: Sequence[Path],
    option: str,
    axis: str = "hosts, one rank each",
    value: str = "latency (µs)",
) -> None:
    """Plot latency against the number of hosts, or the given axes, on linear axes from zero."""
    from matplotlib.ticker import MaxNLocator

    figure, axes = _figure(title)
    _draw(axes, series)
    axes.set_xticks(sorted({hosts for one in series for hosts in one.points}))
    axes.set_xlabel(axis)
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_ylim(0, 1.35 * max(max(one.points.values()) for one in series))
    axes.set_ylabel(value)
    save(figure, targets, option)


def shares_figure(
    series: Sequence[Series], texts: tuple[str, str, str], *, logarithmic: bool
) -> "Figure":
    """Plot percentages against a count; `texts` are the title and the axis labels."""
    title, x, y = texts
    figure, axes = _figure(title)
    _draw(axes, series)
    if logarithmic:
        axes.set_xscale("log", base=2)
    ticks = sorted({point for one in series for point in one.points})
    if len(ticks) <= _MOST_TICKS:
        axes.set_xticks(ticks, [str(tick) for tick in ticks], rotation=40, ha="right")
        axes.minorticks_off()
    elif logarithmic:
        powers = [1 << k for k in range(32) if ticks[0] <= 1 << k <= ticks[-1]]
        axes.set_xticks(powers, list(map(str, powers)))
    # The axis begins slightly below zero, so that a curve along zero stays visible.
    axes.set_ylim(bottom=-0.02 * max(max(one.points.values()) for one in series))
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    return figure


def _figure(title: str) -> "tuple[Figure, Axes]":
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, 4.6), layout="constrained")
    axes = figure.add_subplot()
    axes.set_title(title, loc="left", fontsize=11)
    axes.grid(visible=True, which="major", color="#dddddd", linewidth=0.7)
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _draw(axes: "Axes", series: Sequence[Series]) -> None:
    for one in series:
        k = one.colour % len(COLOURS)
        look = _measured_look(k) if one.measured else _simulated_look(k)
        axes.plot(
            list(one.points), list(one.points.values()), label=one.label, color=COLOURS[k], **look
        )
    axes.legend(frameon=False, fontsize=9)


def _measured_look(k: int) -> dict[str, Any]:
    return {"linestyle": "none", "marker": MARKERS[k], "markersize": 6, "markerfacecolor": "none"}


def _simulated_look(k: int) -> dict[str, Any]:
    return {"linestyle": DASHES[k], "linewidth": 1.8, "marker": ".", "markersize": 5}


def _plain_axis(axes: "Axes", label: str) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set_ylabel(label)


def look(number: int) -> dict[str, Any]:
    """Return colour, dash and marker of a curve; dash and marker distinguish it without colour."""
    k = number % len(COLOURS)
    return {"color": COLOURS[k], "linestyle": DASHES[k], "marker": MARKERS[k], "markersize": 5}


def bar_look(number: int) -> dict[str, Any]:
    """Return colour and hatching of bars."""
    k = number % len(COLOURS)
    return {"color": COLOURS[k], "hatch": HATCHES[k], "edgecolor": "white", "linewidth": 0}


def without_formulas(figure: "Figure") -> "Figure":
    """Show all texts literally: matplotlib would read a dollar in a name as a formula.

    Only the tick labels of logarithmic axes, which matplotlib writes, stay formulas.
    """
    from matplotlib.text import Text
    from matplotlib.ticker import LogFormatter

    for text in figure.findobj(Text):
        if isinstance(text, Text):
            text.set_parse_math(False)
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            for minor in (False, True):
                ticks = axis.get_minor_ticks() if minor else axis.get_major_ticks()
                form = axis.get_minor_formatter() if minor else axis.get_major_formatter()
                for tick in ticks if isinstance(form, LogFormatter) else ():
                    tick.label1.set_parse_math(True)
                    tick.label2.set_parse_math(True)
    return figure


def save(figure: "Figure", targets: Sequence[Path], option: str) -> None:
    """Write a figure in the formats that the file names imply, reproducibly byte for byte."""
    from matplotlib import rc_context

    without_formulas(figure)
    for target in targets:
        with rc_context({"svg.hashsalt": "weft"}), whole_path(option, target) as path:
            form = target.suffix[1:].lower()
            metadata = dict(_UNDATED.get(form, {}))
            if form == "png":
                metadata[DRAWN] = fingerprint(figure)
            figure.savefig(path, format=form, dpi=160, metadata=metadata)


def drawn(picture: Path) -> str:
    """Return the fingerprint in weft's PNG, or an empty text."""
    from PIL import Image

    with Image.open(picture) as image:
        return str(image.info.get(DRAWN, ""))


def fingerprint(figure: "Figure") -> str:
    """Return a hash of a figure's content: its texts, curves, bars and points.

    Numbers are rounded to five digits, so that rounding errors do not change the hash.
    """
    parts = [figure.get_suptitle()]
    for axes in figure.axes:
        parts += _shown(axes)
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def _shown(axes: "Axes") -> Iterator[str]:
    """Yield the content of axes as texts."""
    yield from (axes.get_title(loc=place) for place in ("left", "center", "right"))
    yield from (axes.get_xlabel(), axes.get_ylabel(), axes.get_xscale(), axes.get_yscale())
    yield from (text.get_text() for text in axes.texts)
    yield _numbers([*axes.get_xlim(), *axes.get_ylim()])
    for line in axes.get_lines():
        yield f"{line.get_label()} {line.get_linestyle()} {line.get_marker()}"
        yield _numbers(line.get_xydata())
    for patch in axes.patches:
        yield _numbers(patch.get_patch_transform().transform_path(patch.get_path()).vertices)
        yield f"{patch.get_facecolor()} {patch.get_hatch()}"
    for collection in axes.collections:
        yield _numbers(collection.get_offsets())
        for path in collection.get_paths():
            yield _numbers(path.vertices)


def _numbers(values: Any) -> str:
    import numpy

    return " ".join(f"{value:.5g}" for value in numpy.asarray(values, dtype=float).ravel())
