# SPDX-License-Identifier: LGPL-2.1-only
"""Figure 15: times of NAS DT's black hole and white hole on griffon.

Times cover only messages, or include the computation between them as measured on this machine.
Figure 16, the memory, is in the study cpu-and-memory because it does not depend on the network.
"""

from collections.abc import Mapping
from functools import partial
from statistics import median

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from studies import cpu_and_memory
from studies.paper_001.griffon import HOST_SPEED, PAGE, TABLES, griffon, run
from studies.real_programs.sources import nas
from studies.resume import kept_rows
from studies.study import IMAGES, Study, Table, markdown, read_table, write_table
from weft.base.plots import bar_look

CLASSES = {"A": 21, "B": 43}
"""Numbers of processes."""
GRAPHS = ("WH", "BH")
FLAT = "tofino-64x64"
"""Fabric of docs/cpu-and-memory.md: one switch, 100 Gb/s."""
PLACES = {
    "griffon": "griffon, messages alone",
    "griffon-computing": "griffon, with computation",
    "griffon-sharing": "griffon, with computation, shared memory",
    "flat": f"{FLAT}, messages alone",
    "flat-computing": f"{FLAT}, with computation",
}
ROUNDS = 3
"""Rounds of runs with measured computation, of which the median is used."""
TABLE = TABLES / "dt.csv"


def measure() -> None:
    """Run all graphs on all platforms."""
    parts = [
        (f"dt-{place}-{size}-{graph}", partial(measure_one, place, size, graph))
        for size in CLASSES
        for graph in GRAPHS
        for place in PLACES
    ]
    write_table(TABLE, kept_rows("paper-001", parts))


def measure_one(place: str, size: str, graph: str) -> Table:
    """Run one graph of one class on one platform."""
    options: dict[str, object] = {"fabric": FLAT} if "flat" in place else {"platform": griffon()}
    if "-" in place:
        speed = cpu_and_memory.HOST_SPEED if "flat" in place else HOST_SPEED
        options["host_speed"] = speed
    if "sharing" in place:
        options["config"] = (cpu_and_memory.SHARING,)
    ranks = CLASSES[size]
    rounds = ROUNDS if "-" in place else 1
    times = [
        run(nas("dt"), ranks, (str(ranks), size, graph), **options)[1].simulated_time_s
        for _ in range(rounds)
    ]
    return [
        {
            "place": place,
            "class": size,
            "graph": graph,
            "ranks": str(ranks),
            "seconds": f"{median(times):.6g}",
            "least": f"{min(times):.6g}",
            "most": f"{max(times):.6g}",
        }
    ]


Rows = Mapping[tuple[str, str, str], dict[str, str]]


def read() -> Rows:
    """Return the rows by place, class and graph."""
    return {(row["place"], row["class"], row["graph"]): row for row in read_table(TABLE)}


def table() -> str:
    """Return the times on each platform, with the slower graph."""
    rows = read()
    lines = []
    for size, ranks in CLASSES.items():
        for place, name in PLACES.items():
            wh, bh = (rows[place, size, graph] for graph in GRAPHS)
            ratio = float(bh["seconds"]) / float(wh["seconds"])
            lines.append((f"{size}, {ranks}", name, _cell(wh), _cell(bh), f"{ratio:.3f}"))
    return markdown(("class, processes", "", "WH", "BH", "BH / WH"), lines, 2)


def _cell(row: dict[str, str]) -> str:
    seconds, least, most = (1e3 * float(row[key]) for key in ("seconds", "least", "most"))
    spread = "" if least == most else f" ({least:.1f} to {most:.1f})"
    return f"{seconds:.1f} ms{spread}"


def draw() -> Figure:
    """Draw the times on griffon: with computation, on shared memory, messages only."""
    rows = read()
    figure = Figure(figsize=(11, 4.2), layout="constrained")
    panels = figure.subplots(1, len(CLASSES))
    for axes, (size, ranks) in zip(panels, CLASSES.items(), strict=True):
        _draw_class(axes, rows, size)
        axes.set(title=f"NAS DT, class {size}, {ranks} processes on griffon")
    panels[0].legend(frameon=False, ncols=2)
    return figure


def _draw_class(axes: Axes, rows: Rows, size: str) -> None:
    places = ("griffon-computing", "griffon-sharing", "griffon")
    for number, graph in enumerate(reversed(GRAPHS)):
        heights = [1e3 * float(rows[place, size, graph]["seconds"]) for place in places]
        at = [one + 0.4 * number for one in range(len(places))]
        bars = axes.bar(at, heights, 0.4, label=graph, **bar_look(number))
        axes.bar_label(bars, fmt="%.0f")
    names = ("with\ncomputation", "with computation,\nshared memory", "messages\nalone")
    axes.set_xticks([one + 0.2 for one in range(len(places))], names)
    axes.set(ylabel="simulated time, ms")
    axes.margins(y=0.2)


STUDY = Study(
    name="paper-001-dt",
    about="NAS DT's graphs on griffon, with computation and without",
    measure=measure,
    figures=lambda: {IMAGES / "paper-001-dt.png": draw()},
    page=PAGE,
    texts=lambda: {"table: paper-001 dt": table()},
)
