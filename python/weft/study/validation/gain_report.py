# SPDX-License-Identifier: LGPL-2.1-only
"""Simulated and measured gains as table and picture, for docs/accuracy.md and the terminal."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from weft.base.errors import named
from weft.base.plots import COLOURS, GREY, MARKERS, save
from weft.benchmarks.certainty import LEVEL
from weft.study.validation.gain import NEAR, GainResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PICTURE = "gain"
_TICKS = (0.2, 0.5, 1, 2, 5, 10, 20)


def lines(results: Sequence[GainResult]) -> list[str]:
    """Return the table of the page, one row for each `[[gain]]`, and the picture."""
    rows = [
        "| measured | switch against hosts | simulated | pairs | measured factor | wrong side"
        " | factor off, mean | worst | passes 1, measured | passes 1, simulated |",
        "|---|---|---|---:|---:|---:|---:|---:|---|---|",
    ]
    for one in results:
        gain, factors = one.gain, one.measured.values()
        selected = "".join(f", {value} {name}" for name, value in gain.rows.items())
        cells = (
            f"`{gain.stem}`{selected}",
            gain.against,
            gain.where,
            str(len(one.pairs)),
            f"{min(factors):.2f} to {max(factors):.2f}",
            wrong_sides(one),
            limited(one.error.mean, gain.mean),
            percent(one.error.worst),
            one.crossings(one.measured),
            one.crossings(one.simulated),
        )
        rows.append(f"| {' | '.join(cells)} |")
    return [*rows, "", f"![Gains](figures/{PICTURE}.png)"]


def summary(results: Sequence[GainResult]) -> str:
    """Return the sentence with the number of pairs on the wrong side."""
    pairs = [pair for one in results for pair in one.pairs]
    wrong = sum(len(one.wrong) for one in results)
    near = sum(len(one.wrong_near) for one in results)
    inside = sum(pair.inside for pair in pairs)
    outside = sum(not pair.right and not pair.inside for pair in pairs)
    return (
        f"The simulation gets the faster side wrong in {wrong} of {len(pairs)} pairs, and in {near}"
        f" more whose measured times are within {NEAR:.0%} of equality. The interval of"
        f" `weft run --compare`, meant for {LEVEL:.0%} of cases, contains {inside} of the measured"
        f" factors without resting on them, and all but {outside} of those on the wrong side."
    ).replace("%", " %")


def wrong_sides(one: GainResult) -> str:
    """Return the number of pairs on the wrong side, with its bound."""
    near = f" and {len(one.wrong_near)} near 1" if one.wrong_near else ""
    bound = "" if one.gain.wrong is None else f" (≤ {one.gain.wrong})"
    return f"{len(one.wrong)}{near}{bound}"


def percent(part: float) -> str:
    """Format a fraction as a percentage, as on the page."""
    return f"{part:.1%}".replace("%", " %")


def limited(error: float, bound: float | None) -> str:
    """Format an error as a percentage, with its bound."""
    return percent(error) if bound is None else f"{percent(error)} (≤ {percent(bound)})"


def plot(results: Sequence[GainResult], directory: Path, suffix: str = ".png") -> Path:
    """Plot the simulated factor of each pair against the measured factor."""
    from matplotlib.figure import Figure

    directory.mkdir(parents=True, exist_ok=True)
    figure = Figure(figsize=(5.6, 6.8), layout="constrained")
    axes = figure.add_subplot()
    _draw_ground(axes)
    for number, stem in enumerate(dict.fromkeys(one.gain.stem for one in results)):
        pairs = [pair for one in results if one.gain.stem == stem for pair in one.pairs]
        axes.plot(
            [pair.measured.factor for pair in pairs],
            [pair.simulated.factor for pair in pairs],
            label=stem,
            linestyle="none",
            color=COLOURS[number % len(COLOURS)],
            marker=MARKERS[number % len(MARKERS)],
            markersize=5,
            markerfacecolor="none" if number < len(COLOURS) else None,
        )
    axes.set_title("Speed-up of the switch over the hosts", loc="left", fontsize=11)
    figure.legend(loc="outside lower left", ncols=2, frameon=False, fontsize=8)
    target = directory / f"{PICTURE}{suffix}"
    save(figure, [target], named("figures"))
    return target


def _draw_ground(axes: "Axes") -> None:
    """Draw axes, the diagonal, and shades where the simulation picks the wrong side."""
    ends = (0.12, 40.0)
    for set_scale, set_limits, set_ticks in (
        (axes.set_xscale, axes.set_xlim, axes.set_xticks),
        (axes.set_yscale, axes.set_ylim, axes.set_yticks),
    ):
        set_scale("log")
        set_limits(*ends)
        set_ticks(_TICKS, [f"{tick:g}" for tick in _TICKS])
        set_ticks([], minor=True)
    axes.fill_between([ends[0], 1], 1, ends[1], color="#f3dede", linewidth=0)
    axes.fill_between([1, ends[1]], ends[0], 1, color="#f3dede", linewidth=0)
    axes.plot(ends, ends, color=GREY, linewidth=1)
    axes.text(0.14, 28, "wrong side", fontsize=8, color="#804040")
    axes.text(12, 0.145, "wrong side", fontsize=8, color="#804040")
    axes.set_aspect("equal")
    axes.set_xlabel("measured")
    axes.set_ylabel("simulated")
    axes.spines[["top", "right"]].set_visible(False)
