# SPDX-License-Identifier: LGPL-2.1-only
"""Picture of the port map: the front of the chassis, with two rows of ports as on the device.

Ports of a slice have its colour and letter. Virtual wires run between the rows. A looping port has
the colours and letters of the two slices that it connects, or is grey with the number of directions
that share it.
"""

import math
import string
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from weft.base.plots import save
from weft_testbed.plan.plan import Plan
from weft_testbed.plan.ports import Use, uses

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_GAP = 4.0
_FREE = "#f4f4f4"
_WIRED = "#ffffff"
_SHARED = "#d0d0d0"
_HATCH = "/////"


class _Look(NamedTuple):
    colour: str
    letter: str


_Slices = dict[tuple[str, str], _Look]
"""Colour and letter by experiment and switch."""


def draw(plan: Plan, target: Path, option: str) -> None:
    """Draw the plan to a file."""
    save(figure_of(plan), [target], option)


def figure_of(plan: Plan) -> "Figure":
    """Draw the plan."""
    from matplotlib.figure import Figure

    all_uses = uses(plan)
    columns = math.ceil(len(all_uses) / 2)
    figure = Figure(figsize=(max(6.0, 0.36 * columns + 1), 4.8), layout="constrained")
    axes = figure.add_subplot()
    names = ", ".join(one.name for one in plan.experiments)
    axes.set_title(f"{names} on {plan.inventory.called}", loc="left", fontsize=11)
    slices = _slices(plan)
    places = {use.port.number: _place(k) for k, use in enumerate(all_uses)}
    for use in all_uses:
        _draw_port(axes, use, places[use.port.number], slices)
        if use.wire is not None and use.wire > use.port.number:
            _draw_wire(axes, places[use.port.number], places[use.wire])
    _legend(axes, slices)
    axes.set_xlim(-0.3, columns + 0.3)
    axes.set_ylim(-2.0, _GAP + 3.0)
    axes.set_axis_off()
    return figure


def _place(k: int) -> tuple[float, float]:
    """Return the lower left corner of a port: odd numbers above, even ones below."""
    return k // 2 + 0.05, _GAP if k % 2 == 0 else 0.0


def _slices(plan: Plan) -> "_Slices":
    """Return colour and letter of each slice."""
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    slices = [
        (one.name, name)
        for one in plan.experiments
        for name, place in one.switches.items()
        if isinstance(place, int)
    ]
    # Strong colours first, then pale ones; greys have another meaning here.
    palette = [k for k in (*range(0, 20, 2), *range(1, 20, 2)) if k not in (14, 15)]
    if len(slices) <= len(palette):
        shades = [colormaps["tab20"](k) for k in palette]
    else:
        shades = [colormaps["hsv"](k / len(slices)) for k in range(len(slices))]
    return {
        one: _Look(to_hex(shade), _letter(number))
        for number, (one, shade) in enumerate(zip(slices, shades, strict=False))
    }


def _letter(number: int) -> str:
    """Return a to z, then a2, b2 and so on."""
    letters = string.ascii_lowercase
    return letters[number % 26] + (f"{number // 26 + 1}" if number >= 26 else "")


def _draw_port(
    axes: "Axes",
    use: Use,
    place: tuple[float, float],
    slices: "_Slices",
) -> None:
    from matplotlib.patches import Polygon, Rectangle

    x, y = place
    looks = [slices.get((use.experiment, name)) for name in use.switches]
    fills = [one.colour if one else _SHARED for one in looks]
    wired = use.wire is not None
    if use.shared > 1 or wired:
        fills = [_WIRED if wired else _SHARED]
    fill = fills[0] if fills else _FREE
    axes.add_patch(Rectangle(place, 0.9, 0.9, facecolor=fill, edgecolor="#444444"))
    if wired:
        hatched = Rectangle(place, 0.9, 0.9, fill=False, edgecolor="#bbbbbb", hatch=_HATCH, lw=0)
        axes.add_patch(hatched)
    if len(fills) == 2:
        corners = [(x + 0.9, y), (x + 0.9, y + 0.9), (x, y + 0.9)]
        axes.add_patch(Polygon(corners, facecolor=fills[1], edgecolor="#444444"))
    coloured = fill not in (_FREE, _SHARED, _WIRED)
    letters = " ".join(one.letter for one in looks if one) if coloured else ""
    text = f"{use.port.number}\n{letters}".strip()
    axes.text(x + 0.45, y + 0.45, text, ha="center", va="center", fontsize=6.5, linespacing=1.0)
    _label(axes, use, place)


def _label(axes: "Axes", use: Use, place: tuple[float, float]) -> None:
    x, y = place
    text = str(use.peer or ("loop" if use.port.kind != "front" else ""))
    if use.shared > 1:
        text = f"loop x {use.shared}"
    above = y > 0
    axes.text(
        x + 0.45,
        y + 1.05 if above else y - 0.15,
        text,
        rotation=90,
        ha="center",
        va="bottom" if above else "top",
        fontsize=6.5,
        color="#333333" if use.cable or use.shared else "#999999",
    )


def _draw_wire(axes: "Axes", one: tuple[float, float], other: tuple[float, float]) -> None:
    """Draw a curve between the inner edges of two ports."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path as Curve

    ends = [(x + 0.45, _GAP if y > 0 else 0.9) for x, y in (one, other)]
    reach = min(1.5, 0.5 + abs(ends[0][0] - ends[1][0]) / 12)
    pulls = [(x, y - reach if y == _GAP else y + reach) for x, y in ends]
    curve = Curve(
        [ends[0], pulls[0], pulls[1], ends[1]],
        [Curve.MOVETO, Curve.CURVE4, Curve.CURVE4, Curve.CURVE4],
    )
    axes.add_patch(PathPatch(curve, facecolor="none", edgecolor="#333333", linewidth=1.0))


def _legend(axes: "Axes", slices: "_Slices") -> None:
    from matplotlib.patches import Patch

    several = len({experiment for experiment, _ in slices}) > 1
    handles = [
        Patch(
            facecolor=look.colour,
            edgecolor="#444444",
            label=f"{look.letter}: " + (f"{experiment}: {name}" if several else f"slice {name}"),
        )
        for (experiment, name), look in slices.items()
    ]
    handles.append(Patch(facecolor=_WIRED, edgecolor="#999999", hatch=_HATCH, label="virtual wire"))
    handles.append(Patch(facecolor=_SHARED, edgecolor="#444444", label="shared loop"))
    axes.legend(
        handles=handles,
        loc="lower left",
        bbox_to_anchor=(0, -0.2),
        ncols=6,
        fontsize=7,
        frameon=False,
    )
