# SPDX-License-Identifier: LGPL-2.1-only
"""Picture of a fabric, optionally with the load of a run.

Without a record, the colour of a switch shows if it is smart. With a record, cables are coloured by
the utilisation of their busiest link, and switches by the bytes that they reduced. The shape of a
switch always shows if it is smart.
"""

import math
from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft.base.errors import named
from weft.base.plots import save, without_formulas
from weft.base.units import format_size
from weft.fabric.graph import Graph, counts
from weft.fabric.layout import lay_out
from weft.fabric.names import CHARACTER, SMALLEST_FONT, Name, rows
from weft.fabric.traffic import Traffic

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    from weft._core import Fabric
    from weft.fabric.graph import Bundle, GraphNode
    from weft.fabric.layout import SwitchCircle

_POINTS = 72
# Okabe and Ito's palette, and scales of decreasing lightness, which are also colour-blind-safe.
_COLOURS = {"host": "#666666", "smart": "#E69F00", "plain": "#FFFFFF"}
_OF_JOB = "#0072B2"
_EDGE = "#222222"
_CABLE = "#808080"
_UNUSED = "#D4D4D4"
_LINK_SCALE = ("viridis_r", 0.12, 1.0)
_SWITCH_SCALE = ("Oranges", 0.0, 0.9)
_BUSY = "utilisation of a cable's busier direction"
_REDUCED = "bytes that a switch reduced"
_SHAPES = {"host": "s", "smart": "D", "plain": "o"}
_BACKGROUND = {
    "boxstyle": "square,pad=0.1",
    "facecolor": "white",
    "edgecolor": "none",
    "alpha": 0.75,
}
_WIDTH_INCHES = (7.5, 16.0)
_SIDE_INCHES = (6.5, 12.0)
_SCALES_INCHES = 2.0
_USED_CABLE_POINTS = 0.7


_Scale = tuple[str, float, float]


def plot(fabric: "Fabric", target: Path, traffic: Traffic | None = None) -> None:
    """Draw a fabric, with the load of a run if given."""
    save(figure_of(fabric, traffic), [target], named("output"))


def figure_of(fabric: "Fabric", traffic: Traffic | None = None) -> "Figure":
    """Return the drawing."""
    return _Picture(fabric, traffic).draw()


class _Picture:
    def __init__(self, fabric: "Fabric", traffic: Traffic | None) -> None:
        self.fabric = fabric
        self.traffic = traffic
        self.layout = lay_out(Graph(fabric))

    def draw(self) -> "Figure":
        from matplotlib.figure import Figure

        figure = Figure(figsize=self._inches, layout="constrained")
        axes = figure.add_subplot()
        axes.set_axis_off()
        self._set_limits(axes)
        self._draw_cables(axes)
        self._draw_marks(axes)
        self._draw_names(axes)
        self._draw_title(figure)
        if self.traffic:
            self._draw_scales(figure, axes, self.traffic)
        self._draw_legend(figure)
        return without_formulas(figure)

    def _set_limits(self, axes: "Axes") -> None:
        """Leave half a unit around the marks, less above and below a layered picture."""
        xs, ys = zip(*self.layout.places, strict=True)
        around = 0.05 if self.layout.layered else 0.5
        axes.set_xlim(min(xs) - 0.5, max(xs) + 0.5)
        axes.set_ylim(min(ys) - around, max(ys) + around)
        if not self.layout.layered:
            axes.set_aspect("equal")

    # ---- Sizes -----------------------------------------------------------------------------------

    @cached_property
    def _extent(self) -> tuple[float, float]:
        xs, ys = zip(*self.layout.places, strict=True)
        return max(xs) - min(xs) + 1, max(ys) - min(ys) + 1

    @cached_property
    def _drawing_inches(self) -> tuple[float, float]:
        """Width and height of the picture without its scales."""
        width, height = self._extent
        if self.layout.layered:
            inches = _within(0.75 * width + 2, _WIDTH_INCHES)
            return inches, (height - 1) * _within(inches / 6, (1.3, 2.6)) + 1.5
        side = _within(0.5 * max(width, height), _SIDE_INCHES)
        return side, side + 0.6

    @property
    def _inches(self) -> tuple[float, float]:
        width, height = self._drawing_inches
        return width + (_SCALES_INCHES if self.traffic else 0), height

    @cached_property
    def _unit(self) -> float:
        """Points per unit of the layout."""
        inches = self._drawing_inches[0] - (2 if self.layout.layered else 0.8)
        return inches * _POINTS / self._extent[0]

    def _diameter(self, mark: "GraphNode") -> float:
        return _within(0.42 * self._unit, (2, 9)) * (1 if mark.switch is None else 1.4)

    # ---- Cables ----------------------------------------------------------------------------------

    def _draw_cables(self, axes: "Axes") -> None:
        from matplotlib.collections import LineCollection

        bundles = sorted(self.layout.bundles, key=self._load)
        lines = LineCollection(
            [[self.layout.places[end] for end in bundle.ends] for bundle in bundles],
            linewidths=[self._cable_width(bundle) for bundle in bundles],
            colors=[self._cable_colour(bundle) for bundle in bundles],
            capstyle="round",
            zorder=1,
        )
        axes.add_collection(lines, autolim=False)

    def _load(self, bundle: "Bundle") -> float:
        return self.traffic.utilisation(bundle.cables) if self.traffic else 0.0

    def _line_width(self, parallel: int) -> float:
        thin = _within(20 / math.sqrt(len(self.layout.bundles)), (0.1, 1.2))
        return thin * min(1 + 0.9 * (parallel - 1), 6)

    def _cable_width(self, bundle: "Bundle") -> float:
        width = self._line_width(bundle.parallel)
        return max(width, _USED_CABLE_POINTS) if self._load(bundle) > 0 else width

    def _cable_colour(self, bundle: "Bundle") -> Any:
        if self.traffic is None:
            return _CABLE
        load = self._load(bundle)
        return _scale(_LINK_SCALE)(load / self.traffic.utilisation_max) if load > 0 else _UNUSED

    # ---- Hosts and switches ----------------------------------------------------------------------

    def _draw_marks(self, axes: "Axes") -> None:
        for kind, shape in _SHAPES.items():
            chosen = [k for k, mark in enumerate(self.layout.marks) if _kind(mark) == kind]
            marks = [self.layout.marks[k] for k in chosen]
            axes.scatter(
                [self.layout.places[k][0] for k in chosen],
                [self.layout.places[k][1] for k in chosen],
                s=[self._diameter(mark) ** 2 for mark in marks],
                c=[self._mark_colour(mark) for mark in marks],
                marker=shape,
                edgecolors=_EDGE,
                linewidths=_within(0.03 * self._unit, (0.3, 0.9)),
                zorder=3,
                clip_on=False,
            )

    def _mark_colour(self, mark: "GraphNode") -> Any:
        if mark.switch is None and self.traffic and self.traffic.hosts:
            names = {self.fabric.hosts[vertex] for vertex in mark.vertices}
            return _COLOURS["host"] if names.isdisjoint(self.traffic.hosts) else _OF_JOB
        if mark.switch is None or self.traffic is None:
            return _COLOURS[_kind(mark)]
        reduced = self.traffic.by_switch[mark.name]
        return _scale(_SWITCH_SCALE)(reduced / max(1, self.traffic.reduced_max))

    # ---- Names -----------------------------------------------------------------------------------

    def _draw_names(self, axes: "Axes") -> None:
        for row in rows(self.layout, self._unit, self._extent[0]):
            names = row.names(0.6 * self._diameter(self.layout.marks[row.marks[0]]) + 2)
            for name in names:
                self._draw_name(axes, name)
            if self.layout.layered and row.needs_caption(named=bool(names)):
                self._draw_caption(axes, row.marks[0], row.caption())
        if len(self.layout.circles) > 1:
            for circle in self.layout.circles:
                self._draw_circle_name(axes, circle)

    def _draw_name(self, axes: "Axes", name: Name) -> None:
        side, height = name.alignment
        axes.annotate(
            self.layout.marks[name.mark].name,
            self.layout.places[name.mark],
            (name.away * math.cos(name.direction), name.away * math.sin(name.direction)),
            textcoords="offset points",
            rotation=name.rotation,
            rotation_mode="anchor",
            horizontalalignment=side,
            verticalalignment=height,
            size=name.size,
            bbox=_BACKGROUND,
            zorder=2,
        )

    def _draw_caption(self, axes: "Axes", mark: int, caption: str) -> None:
        """Write a caption to the left of a level."""
        axes.annotate(
            caption,
            (0, self.layout.places[mark][1]),
            (-4, 0),
            xycoords=axes.get_yaxis_transform(),
            textcoords="offset points",
            horizontalalignment="right",
            verticalalignment="center",
            size=8,
        )

    def _draw_circle_name(self, axes: "Axes", circle: "SwitchCircle") -> None:
        """Write the first and the last name in the middle, if there is space."""
        ends = [self.layout.marks[circle.marks[k]].name for k in (0, -1)]
        size = 1.5 * circle.radius * self._unit / max(map(len, ends)) / CHARACTER
        if size >= SMALLEST_FONT:
            axes.text(
                *circle.centre,
                f"{ends[0]}\nto {ends[1]}",
                size=min(size, 8),
                horizontalalignment="center",
                verticalalignment="center",
                bbox=_BACKGROUND,
                zorder=4,
            )

    # ---- Title, scales and legend ----------------------------------------------------------------

    def _draw_title(self, figure: "Figure") -> None:
        lines = [f"{self.fabric.name}: {counts(self.fabric)}"]
        if self.traffic:
            lines.append(self.traffic.title)
        figure.suptitle("\n".join(lines), x=0.01, horizontalalignment="left", fontsize=11)

    def _draw_scales(self, figure: "Figure", axes: "Axes", traffic: Traffic) -> None:
        from matplotlib.ticker import FuncFormatter, MultipleLocator, PercentFormatter

        def draw(name: str, scale: _Scale, largest: float, **ticks: Any) -> None:
            bar = figure.colorbar(
                _mappable(scale, largest), ax=axes, shrink=0.6, aspect=30, pad=0.01, **ticks
            )
            bar.set_label(name, size=9)
            bar.ax.tick_params(labelsize=8)

        largest = traffic.reduced_max
        if largest > 0:
            form = FuncFormatter(lambda size, _: format_size(size))
            step = 2.0 ** math.ceil(math.log2(largest / 6))
            draw(_REDUCED, _SWITCH_SCALE, largest, format=form, ticks=MultipleLocator(step))
        if traffic.utilisation_max > 0:
            draw(_BUSY, _LINK_SCALE, traffic.utilisation_max, format=PercentFormatter(1.0))

    def _draw_legend(self, figure: "Figure") -> None:
        figure.legend(
            handles=[*self._mark_handles(), *self._job_handles(), *self._cable_handles()],
            loc="outside lower center",
            ncols=round(self._inches[0] / 2.5),
            frameon=False,
            fontsize=9,
        )

    def _mark_handles(self) -> "Iterator[Line2D]":
        from matplotlib.lines import Line2D

        for kind, shape in _SHAPES.items():
            marks = [mark for mark in self.layout.marks if _kind(mark) == kind]
            if marks:
                yield Line2D(
                    [],
                    [],
                    linestyle="none",
                    marker=shape,
                    markersize=7,
                    markeredgecolor=_EDGE,
                    markerfacecolor="none" if self.traffic and kind != "host" else _COLOURS[kind],
                    label=_meaning(kind, marks),
                )

    def _job_handles(self) -> "Iterator[Line2D]":
        from matplotlib.lines import Line2D

        if self.traffic and self.traffic.hosts:
            yield Line2D(
                [],
                [],
                linestyle="none",
                marker=_SHAPES["host"],
                markersize=7,
                markeredgecolor=_EDGE,
                markerfacecolor=_OF_JOB,
                label="host of the job",
            )

    def _cable_handles(self) -> "Iterator[Line2D]":
        from matplotlib.lines import Line2D

        numbers = sorted({bundle.parallel for bundle in self.layout.bundles})
        for number in numbers if len(numbers) > 1 or not self.traffic else ():
            yield Line2D(
                [],
                [],
                color=_CABLE,
                linewidth=self._line_width(number),
                label="cable" if number == 1 else f"{number} cables",
            )
        if self.traffic and min(self.traffic.by_cable) == 0:
            width = self._line_width(1)
            label = "cable that the job did not use" if self.traffic.hosts else "unused cable"
            yield Line2D([], [], color=_UNUSED, linewidth=width, label=label)


def _kind(mark: "GraphNode") -> str:
    if mark.switch is None:
        return "host"
    return "smart" if mark.switch["smart"] else "plain"


def _meaning(kind: str, marks: "Sequence[GraphNode]") -> str:
    if kind == "host":
        alone = all(len(mark.vertices) == 1 for mark in marks)
        return "host" if alone else "hosts of a switch, with their number"
    presets = sorted({mark.switch["preset"] for mark in marks if mark.switch} - {""})
    return f"{kind} switch ({', '.join(presets)})" if presets else f"{kind} switch"


def _mappable(scale: _Scale, largest: float) -> "ScalarMappable":
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    return ScalarMappable(Normalize(0, largest), _scale(scale))


@cache
def _scale(scale: _Scale) -> "Colormap":
    """Return a section of one of matplotlib's colour scales."""
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    name, first, last = scale
    return ListedColormap([colormaps[name](first + (last - first) * k / 255) for k in range(256)])


def _within(value: float, bounds: tuple[float, float]) -> float:
    return min(max(value, bounds[0]), bounds[1])
