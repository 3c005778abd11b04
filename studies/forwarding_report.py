# SPDX-License-Identifier: LGPL-2.1-only
"""Tables, figures and document of the experiment with forwarding caches.

All of them are derived from the rows that forwarding.py stores.
"""

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from studies.study import DOCS, OPTION, markdown, read_table
from weft.base.output import whole_file
from weft.base.units import format_size

TABLE = DOCS / "forwarding-experiment.csv"
TRAFFIC_TABLE = DOCS / "forwarding-messages.csv"
FORWARDING = ("tcam", "cache")
BASELINE_GBPS = 100
RANKS = (64, 256)
"""Ranks of all programs except DT, whose graph determines the number."""
MOST_RANKS = RANKS[-1]
BASELINE = 1.0
"""Relative performance of the baseline."""

# Values that Hirasawa et al., section V.C, report for figures 17 and 18, at 1.6 Tb/s with the
# cache.
PAPER = {
    ("torus-4x4x4x4", "DT"): 15.3,
    ("torus-4x4x4x4", "average"): 5.07,
    ("dragonfly-16x16", "DT"): 15.7,
    ("dragonfly-16x16", "average"): 4.27,
}
ORDERED = {"simgrid": "torus-4x4x4x4", "cables": "dragonfly-16x16"}
"""Case closest to the paper, by topology."""
FIGURES = {
    "torus-4x4x4x4": ("forwarding-torus.png", "4-ary 4-torus, as figure 17 of Hirasawa et al."),
    "dragonfly-16x16": (
        "forwarding-dragonfly.png",
        "16 x 16 Dragonfly, as figure 18 of Hirasawa et al.",
    ),
}
_COMPUTING = "computation at 100 Gflop/s, cables and hosts take time"
_MESSAGES = "computation and cables take no time, messages have SimGrid's factors"
# Without computation, the Dragonfly uses the paper's 16 cables between groups.
_PANELS = {
    "torus-4x4x4x4": {"paper": _COMPUTING, "simgrid": _MESSAGES},
    "dragonfly-16x16": {"paper": _COMPUTING, "cables": f"{_MESSAGES}; 16 cables"},
}
# From light to dark with increasing bandwidth; a different hue with the cache.
_SHADES = (100, 200, 400, 800, 1600)
_COLOURS = {
    "tcam": ("#deebf7", "#9ecae1", "#6baed6", "#3182bd", "#08519c"),
    "cache": ("#fee6ce", "#fdae6b", "#fd8d3c", "#e6550d", "#a63603"),
}


@dataclass(frozen=True)
class Row:
    """One replay."""

    case: str
    fabric: str
    program: str
    ranks: int
    bandwidth_Gbps: int  # noqa: N815 (the unit's name)
    forwarding: str
    seconds: float
    hits: int
    """Cache hits among all lookups for messages; None without caches."""
    misses: int


@dataclass(frozen=True)
class Traffic:
    """Messages between hosts in a program run."""

    program: str
    ranks: int
    messages: int
    bytes: int

    @property
    def mean_bytes(self) -> float:
        """Mean size of a message."""
        return self.bytes / self.messages


@dataclass(frozen=True)
class Results:
    """Rows of one case and fabric, by program, bandwidth and forwarding."""

    seconds: Mapping[tuple[str, int, str], float]

    @property
    def programs(self) -> list[str]:
        """Program names, in the order of the rows."""
        return list(dict.fromkeys(program for program, _, _ in self.seconds))

    @property
    def speeds(self) -> list[int]:
        """Bandwidths, in increasing order."""
        return sorted({speed for _, speed, _ in self.seconds})

    def relative(self, program: str, speed: int, forwarding: str) -> float:
        """Return the performance relative to the baseline; `average` is over all programs."""
        if program == "average":
            each = [self.relative(name, speed, forwarding) for name in self.programs]
            return sum(each) / len(each)
        baseline = self.seconds[program, BASELINE_GBPS, "tcam"]
        return baseline / self.seconds[program, speed, forwarding]

    def gain(self, program: str, speed: int) -> float:
        """Return the performance gain from the cache alone, as a fraction."""
        if program == "average":
            each = [1 + self.gain(name, speed) for name in self.programs]
            return math.prod(each) ** (1 / len(each)) - 1
        seconds = self.seconds
        return seconds[program, speed, "tcam"] / seconds[program, speed, "cache"] - 1


def has_ranks(found: int, ranks: int) -> bool:
    """Return true if a run belongs to this number of ranks; runs of DT belong to every number."""
    return found == ranks or found not in RANKS


def results(rows: Sequence[Row], case: str, fabric: str, ranks: int) -> Results:
    """Select the rows of one case, fabric and number of ranks."""
    return Results(
        {
            (row.program, row.bandwidth_Gbps, row.forwarding): row.seconds
            for row in rows
            if (row.case, row.fabric) == (case, fabric) and has_ranks(row.ranks, ranks)
        }
    )


def write_csv(rows: Sequence[Row] | Sequence[Traffic], target: Path) -> None:
    """Write all rows, with times to the picosecond."""
    with whole_file(OPTION, target) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(field.name for field in fields(rows[0]))
        for row in rows:
            writer.writerow(
                f"{cell:.12f}" if isinstance(cell, float) else cell for cell in astuple(row)
            )


def read_rows(source: Path = TABLE) -> list[Row]:
    """Read the replays from a file written by `write_csv`."""
    return [
        Row(
            row["case"],
            row["fabric"],
            row["program"],
            int(row["ranks"]),
            int(row["bandwidth_Gbps"]),
            row["forwarding"],
            float(row["seconds"]),
            int(row["hits"]),
            int(row["misses"]),
        )
        for row in read_table(source)
    ]


def read_traffic(source: Path = TRAFFIC_TABLE) -> list[Traffic]:
    """Read the messages from a file written by `write_csv`."""
    return [
        Traffic(row["program"], *(int(row[name]) for name in ("ranks", "messages", "bytes")))
        for row in read_table(source)
    ]


# ---- Tables --------------------------------------------------------------------------------------


def speed_name(gbps: int) -> str:
    """Format a speed as 400 Gb/s or 1.6 Tb/s."""
    return f"{gbps} Gb/s" if gbps < 1000 else f"{gbps / 1000:g} Tb/s"


def relative_table(rows: Sequence[Row], fabric: str) -> str:
    """Return the data of figure 17 or 18: each program at each speed, with and without cache."""
    found = results(rows, "paper", fabric, MOST_RANKS)
    columns = [(speed, kind) for speed in found.speeds for kind in FORWARDING]
    names = [
        f"{speed_name(speed)}{', cache' if kind == 'cache' else ''}" for speed, kind in columns
    ]
    cells = [
        [
            program,
            *(f"{found.relative(program, speed, kind):.3f}" for speed, kind in columns),
            str(PAPER.get((fabric, program), "")),
        ]
        for program in (*found.programs, "average")
    ]
    return markdown(("", *names, "paper"), cells)


def gain_table(rows: Sequence[Row], meanings: Mapping[str, str], ranks: int) -> str:
    """Return the gains at the fastest links, from the cache alone and from cache and links."""
    shown = [row for row in rows if has_ranks(row.ranks, ranks)]
    cells: list[list[str]] = []
    for case, fabric in dict.fromkeys((row.case, row.fabric) for row in shown):
        found = results(rows, case, fabric, ranks)
        if len(found.programs) > 1:  # more than DT
            cells += _gain_rows(found, meanings[case], fabric)
    programs = dict.fromkeys(row.program for row in shown)
    return markdown(("", "", "", *programs, "mean"), cells, 3)


def _gain_rows(found: Results, meaning: str, fabric: str) -> list[list[str]]:
    fast = found.speeds[-1]
    shown = (*found.programs, "average")
    both = [f"{found.relative(name, fast, 'cache'):.2f}x" for name in shown]
    alone = [f"{found.gain(name, fast):+.1%}" for name in shown]
    return [
        [meaning, fabric, f"cache, {speed_name(fast)}", *alone],
        [meaning, fabric, "links and cache", *both],
    ]


def order_table(rows: Sequence[Row], traffic: Sequence[Traffic]) -> str:
    """Return the machine that gains more from links and cache, by message size."""
    heads = ("", "ranks", "mean message", "torus", "Dragonfly", "gains more", "Dragonfly faster")
    by_size = sorted(traffic, key=lambda one: one.mean_bytes)
    return markdown(heads, [_order_row(rows, one) for one in by_size])


def _order_row(rows: Sequence[Row], of: Traffic) -> list[str]:
    torus, dragonfly = (results(rows, case, fabric, of.ranks) for case, fabric in ORDERED.items())
    fast = torus.speeds[-1]
    one, other = (found.relative(of.program, fast, "cache") for found in (torus, dragonfly))
    seconds = [found.seconds[of.program, fast, "cache"] for found in (torus, dragonfly)]
    return [
        of.program,
        str(of.ranks),
        format_size(round(of.mean_bytes)),
        f"{one:.2f}x",
        f"{other:.2f}x",
        "torus" if one > other else "Dragonfly",
        f"{seconds[0] / seconds[1]:.2f}x",
    ]


def hit_table(rows: Sequence[Row]) -> str:
    """Return the cache hit rates by fabric and program, at the fastest links."""
    shown = [row for row in rows if (row.case, row.forwarding) == ("paper", "cache")]
    fast = max(row.bandwidth_Gbps for row in shown)
    found = {
        (row.fabric, row.program): row
        for row in shown
        if row.bandwidth_Gbps == fast and has_ranks(row.ranks, MOST_RANKS)
    }
    fabrics, programs = (list(dict.fromkeys(names)) for names in zip(*found, strict=True))
    lines: list[list[str]] = []
    for fabric in fabrics:
        cells = [found[fabric, program] for program in programs]
        lines.append([fabric, "lookups", *(f"{row.hits + row.misses}" for row in cells)])
        rates = [f"{row.hits / (row.hits + row.misses):.2%}" for row in cells]
        lines.append([fabric, "hits", *rates])
    return markdown(("", "", *programs), lines, 2)


def summary(rows: Sequence[Row]) -> str:
    """Return the average over programs for each case, fabric and number of ranks."""
    lines = []
    for case, fabric, ranks in dict.fromkeys((row.case, row.fabric, row.ranks) for row in rows):
        if ranks not in RANKS:
            continue
        found = results(rows, case, fabric, ranks)
        fast = found.speeds[-1]
        both, gain = found.relative("average", fast, "cache"), found.gain("average", fast)
        lines.append(
            f"{case}, {fabric}, {ranks} ranks: {both:.2f}x at {speed_name(fast)} with the cache,"
            f" {gain:+.1%} by the cache alone"
        )
    return "\n".join(lines) + "\n"


# ---- Figures and document ------------------------------------------------------------------------


def draw(rows: Sequence[Row], fabric: str, title: str) -> Figure:
    """Draw relative performance with the paper's table 1 and with its simulation's presumed setup.

    Each program is a group of bars, which start at the baseline's performance, 1, on a logarithmic
    axis, so that equal lengths are equal gains.
    """
    panels = [(case, ranks) for case in _PANELS[fabric] for ranks in reversed(RANKS)]
    figure = Figure(figsize=(13, 13), layout="constrained")
    figure.suptitle(title, fontsize=12)
    all_axes = figure.subplots(len(panels))
    for axes, (case, ranks) in zip(all_axes, panels, strict=True):
        _bars(axes, results(rows, case, fabric, ranks), fabric)
        axes.set_title(f"{ranks} ranks: {_PANELS[fabric][case]}", loc="left", fontsize=11)
        _dress(axes)
    handles, labels = all_axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, frameon=False, fontsize=9, loc="outside right upper")
    return figure


def _dress(axes: Axes) -> None:
    axes.set_ylabel("performance, of 100 Gb/s without cache")
    axes.set_yscale("log", base=2)
    axes.set_yticks([1, 2, 4, 8, 16], ["1", "2", "4", "8", "16"])
    axes.set_ylim(0.8, 20)
    axes.axhline(1, color="black", linewidth=0.8)
    axes.grid(visible=True, axis="y", color="#dddddd", linewidth=0.7)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def _bars(axes: Axes, found: Results, fabric: str) -> None:
    groups = (*found.programs, "average")
    kinds = [(speed, kind) for speed in found.speeds for kind in FORWARDING]
    shown = [which for which in kinds if (groups[0], *which) in found.seconds]
    width = 0.85 / len(shown)
    for number, (speed, kind) in enumerate(shown):
        places = [k + width * number for k in range(len(groups))]
        heights = [found.relative(name, speed, kind) for name in groups]
        label = f"{speed_name(speed)}, {'cache' if kind == 'cache' else 'no cache'}"
        gains = [height - BASELINE for height in heights]
        colour = _COLOURS[kind][_SHADES.index(speed)]
        hatch = "///" if kind == "cache" else ""
        look: dict[str, Any] = {"color": colour, "hatch": hatch, "edgecolor": "white"}
        axes.bar(places, gains, width, bottom=BASELINE, label=label, linewidth=0, **look)
    told = [(k, PAPER[fabric, name]) for k, name in enumerate(groups) if (fabric, name) in PAPER]
    last = width * (len(shown) - 1)
    axes.scatter(
        [k + last for k, _ in told],
        [height for _, height in told],
        marker="D",
        color="black",
        label="Hirasawa et al., 1.6 Tb/s, cache",
        zorder=3,
    )
    axes.set_xticks([k + last / 2 for k in range(len(groups))], groups)


def document_parts(
    rows: Sequence[Row], traffic: Sequence[Traffic], meanings: Mapping[str, str]
) -> dict[str, str]:
    """Return the document's tables by section name."""
    tables = {
        **{fabric: relative_table(rows, fabric) for fabric in FIGURES},
        "hits": hit_table(rows),
        **{f"gains {ranks}": gain_table(rows, meanings, ranks) for ranks in RANKS},
        "order": order_table(rows, traffic),
    }
    return {f"table: {name}": table for name, table in tables.items()}
