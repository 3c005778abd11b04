# SPDX-License-Identifier: LGPL-2.1-only
"""Distributions of round-trip times and TopoCloud's medians: as rows, and as its figure 2.

The paper's figure has 1,000 round trips per curve, but its text gives only the medians. The curves
are therefore those of the user's measurements, and the paper's are single points at 50 %.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft.base.plots import COLOURS, DASHES, MARKERS, save
from weft_testbed.hardware.medians import measured

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Reported percentiles: percent of the round trips that are at most this long.
SHARES = (0, 5, 50, 95, 99, 100)
_OVER = {"direct": "direct cable", "chassis": "chassis", "l2": "layer 2 switch"}


def quantile(trips: Sequence[float], percent: float) -> float:
    """Return a percentile of the round trips, with linear interpolation."""
    times = sorted(trips)
    place = percent / 100 * (len(times) - 1)
    below = int(place)
    above = min(below + 1, len(times) - 1)
    return times[below] + (place - below) * (times[above] - times[below])


def draw(trips: Mapping[str, Sequence[float]], target: Path, option: str) -> None:
    """Draw the distributions of named measurements."""
    save(figure_of(trips), [target], option)


def figure_of(trips: Mapping[str, Sequence[float]]) -> "Figure":
    """Return the figure: cumulative share of round trips by duration."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, 4.6), layout="constrained")
    axes = figure.add_subplot()
    for k, (label, values) in enumerate(trips.items()):
        times = sorted(values)
        shares = [100 * (n + 1) / len(times) for n in range(len(times))]
        look: dict[str, Any] = {
            "color": COLOURS[k % len(COLOURS)],
            "linestyle": DASHES[k % len(DASHES)],
        }
        axes.step([times[0], *times], [0, *shares], where="post", label=label, **look)
    for k, (way, said) in enumerate(_OVER.items()):
        axes.plot(
            [getattr(measured(), way)],
            [50],
            color="#000000",
            linestyle="none",
            marker=MARKERS[k],
            markerfacecolor="none",
            label=f"TopoCloud's median: {said}",
        )
    axes.set_xlabel("round trip, ns")
    axes.set_ylabel("cumulative share of round trips (%)")
    axes.set_ylim(0, 100)
    axes.grid(visible=True, color="#dddddd", linewidth=0.7)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=9)
    return figure
