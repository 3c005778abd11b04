# SPDX-License-Identifier: LGPL-2.1-only
"""Figure 15: how long NAS DT's black hole and white hole take on griffon.

Time is that of the messages alone, or with what this machine needs for the computation between
them. Figure 16, their memory, is in the study cpu-and-memory: it does not depend on the network.
"""

from collections.abc import Mapping
from functools import partial
from statistics import median

from matplotlib.figure import Figure

from studies import cpu_and_memory
from studies.paper_001.griffon import HOST_SPEED, PAGE, TABLES, griffon, run
from studies.real_programs.sources import nas
from studies.resume import kept_rows
from studies.study import IMAGES, Study, Table, markdown, read_table, write_table
from weft.base.plots import bar_look

CLASS, RANKS = "A", 21
GRAPHS = ("WH", "BH")
FLAT = "tofino-64x64"
"""The fabric of docs/cpu-and-memory.md: one switch, 100 Gb/s."""
PLACES = {
    "griffon": "griffon, messages alone",
    "griffon-computing": "griffon, with computation",
    "griffon-sharing": "griffon, with computation, shared memory",
    "flat": f"{FLAT}, messages alone",
    "flat-computing": f"{FLAT}, with computation",
}
ROUNDS = 3
"""Of runs whose computation is measured: the median counts."""
TABLE = TABLES / "dt.csv"


def measure() -> None:
    """Run all graphs in all places."""
    parts = [
        (f"dt-{place}-{CLASS}-{graph}", partial(measure_one, place, graph))
        for graph in GRAPHS
        for place in PLACES
    ]
    write_table(TABLE, kept_rows("paper-001", parts))


def measure_one(place: str, graph: str) -> Table:
    """Run one graph in one place."""
    options: dict[str, object] = {"fabric": FLAT} if "flat" in place else {"platform": griffon()}
    if "-" in place:
        speed = cpu_and_memory.HOST_SPEED if "flat" in place else HOST_SPEED
        options["host_speed"] = speed
    if "sharing" in place:
        options["config"] = (cpu_and_memory.SHARING,)
    rounds = ROUNDS if "-" in place else 1
    times = [
        run(nas("dt"), RANKS, (str(RANKS), CLASS, graph), **options)[1].simulated_time_s
        for _ in range(rounds)
    ]
    return [
        {
            "place": place,
            "class": CLASS,
            "graph": graph,
            "ranks": str(RANKS),
            "seconds": f"{median(times):.6g}",
            "least": f"{min(times):.6g}",
            "most": f"{max(times):.6g}",
        }
    ]


Rows = Mapping[tuple[str, str], dict[str, str]]


def read() -> Rows:
    """Return the rows by place and graph."""
    return {(row["place"], row["graph"]): row for row in read_table(TABLE)}


def table() -> str:
    """Return the times in each place, and which graph takes longer."""
    rows = read()
    lines = []
    for place, name in PLACES.items():
        wh, bh = (rows[place, graph] for graph in GRAPHS)
        ratio = float(bh["seconds"]) / float(wh["seconds"])
        lines.append((name, _cell(wh), _cell(bh), f"{ratio:.3f}"))
    return markdown((f"class {CLASS}, {RANKS} processes", "WH", "BH", "BH / WH"), lines)


def _cell(row: dict[str, str]) -> str:
    seconds, least, most = (1e3 * float(row[key]) for key in ("seconds", "least", "most"))
    spread = "" if least == most else f" ({least:.1f} to {most:.1f})"
    return f"{seconds:.1f} ms{spread}"


def draw() -> Figure:
    """Draw the times on griffon: with computation, on shared memory, messages alone."""
    rows = read()
    figure = Figure(figsize=(6.4, 4.2), layout="constrained")
    axes = figure.add_subplot()
    places = ("griffon-computing", "griffon-sharing", "griffon")
    for number, graph in enumerate(reversed(GRAPHS)):
        heights = [1e3 * float(rows[place, graph]["seconds"]) for place in places]
        at = [one + 0.4 * number for one in range(len(places))]
        bars = axes.bar(at, heights, 0.4, label=graph, **bar_look(number))
        axes.bar_label(bars, fmt="%.0f")
    names = ("with\ncomputation", "with computation,\nshared memory", "messages\nalone")
    axes.set_xticks([one + 0.2 for one in range(len(places))], names)
    axes.set(title=f"NAS DT, class {CLASS}, {RANKS} processes on griffon")
    axes.set(ylabel="simulated time, ms", ylim=(0, 360))
    axes.legend(frameon=False, ncols=2)
    return figure


STUDY = Study(
    name="paper-001-dt",
    about="NAS DT's graphs on griffon, with computation and without",
    measure=measure,
    figures=lambda: {IMAGES / "paper-001-dt.png": draw()},
    page=PAGE,
    texts=lambda: {"table: paper-001 dt": table()},
)
