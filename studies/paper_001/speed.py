# SPDX-License-Identifier: LGPL-2.1-only
"""Figure 17: simulation cost of a Scatter compared with the simulated time, by size.

The cost is CPU time, which depends less than wall time on other programs on this machine. Figure
18, NAS EP by sampling ratio, is in the study cpu-and-memory.
"""

from functools import partial

from matplotlib.figure import Figure

from studies.paper_001.griffon import HERE, PAGE, TABLES, compiled, plain_numbers, run
from studies.resume import kept_rows
from studies.study import IMAGES, Study, Table, markdown, read_table, write_table
from weft.base.plots import look
from weft.base.process import work_directory
from weft.base.units import format_size

RANKS = 16
SIZES = tuple(4**k * 2**10 for k in range(3, 9))  # 64 KiB to 64 MiB
ROUNDS = 3
"""Number of rounds, of which the cheapest is used."""
COSTS = TABLES / "scatter-cost.csv"


def measure() -> None:
    """Run all sizes."""
    parts = [(f"cost-{size}", partial(scatter, size)) for size in SIZES]
    write_table(COSTS, kept_rows("paper-001", parts))


def scatter(size: int) -> Table:
    """Run a binomial Scatter several times, and keep the cheapest run."""
    with work_directory() as work:
        program = compiled(HERE.parent / "contention.c", work)
        arguments = ("scatter", "1", str(size))
        records = [run(program, RANKS, arguments)[1] for _ in range(ROUNDS)]
    best = min(records, key=lambda record: record.cpu_time_s)
    costs = {"cpu_time_s": best.cpu_time_s, "simulated_time_s": best.simulated_time_s}
    return [{"bytes": str(size), **{name: f"{value:.6g}" for name, value in costs.items()}}]


def table() -> str:
    """Return a row per size."""
    lines = []
    for row in read_table(COSTS):
        simulated, cost = float(row["simulated_time_s"]), float(row["cpu_time_s"])
        times = (f"{simulated:.3f} s", f"{cost:.3f} s", f"{simulated / cost:.2f}")
        lines.append((format_size(int(row["bytes"])), *times))
    return markdown(("chunk", "simulated time", "CPU time", "times as fast"), lines)


def draw() -> Figure:
    """Plot cost and simulated time against size."""
    rows = read_table(COSTS)
    figure = Figure(figsize=(6.4, 4.2), layout="constrained")
    axes = figure.add_subplot()
    names = {"simulated time": "simulated_time_s", "simulation (CPU time)": "cpu_time_s"}
    for number, (label, key) in enumerate(names.items()):
        axes.plot(SIZES, [float(row[key]) for row in rows], label=label, **look(number))
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    plain_numbers(axes.yaxis)
    axes.set_xticks(SIZES, [format_size(size) for size in SIZES])
    axes.set(title=f"Binomial Scatter, {RANKS} processes on griffon", xlabel="chunk")
    axes.set_ylabel("time, s")
    axes.legend(frameon=False)
    return figure


STUDY = Study(
    name="paper-001-speed",
    about="what the simulation of a Scatter costs beside what it simulates",
    measure=measure,
    figures=lambda: {IMAGES / "paper-001-speed.png": draw()},
    page=PAGE,
    texts=lambda: {"table: paper-001 scatter-cost": table()},
)
