# SPDX-License-Identifier: LGPL-2.1-only
"""Figures 7 to 9, 11 and 12: a binomial Scatter and a pairwise Alltoall on griffon.

Times are by rank, by size and by number of processes, on links with and without contention.
"""

import math
from collections.abc import Mapping, Sequence
from functools import partial

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from studies.paper_001.griffon import (
    HERE,
    LINKS,
    PAGE,
    TABLES,
    compiled,
    numbers,
    plain_numbers,
    run,
)
from studies.resume import kept_rows
from studies.study import IMAGES, Study, Table, markdown, read_table, write_table
from weft.base.plots import bar_look, look
from weft.base.process import work_directory
from weft.base.units import format_size

COLLECTIVES = {
    "scatter": "binomial Scatter, one send after the other",
    "iscatter": "binomial Scatter, sends at once",
    "alltoall": "pairwise Alltoall",
}
RANKS, CHUNK = 16, 4 * 2**20
"""The paper's values."""
SIZES = tuple(4**k for k in range(1, 13))  # 4 B to 16 MiB
PROCESSES = (2, 4, 8, 16, 32, 64)
TABLE = TABLES / "collectives.csv"

Times = Mapping[tuple[str, str, int, int], Sequence[float]]
"""Time of each rank by collective, links, ranks and bytes."""


def measure() -> None:
    """Run both collectives by rank, size and number of processes, with and without contention."""
    cases = [(RANKS, SIZES), *((ranks, (CHUNK,)) for ranks in PROCESSES if ranks != RANKS)]
    parts = [
        (f"{collective}-{links}-{ranks}", partial(measure_one, collective, links, ranks, sizes))
        for collective in COLLECTIVES
        for links in LINKS
        for ranks, sizes in cases
    ]
    write_table(TABLE, kept_rows("paper-001", parts))


def measure_one(collective: str, links: str, ranks: int, sizes: Sequence[int]) -> Table:
    """Run one case, and return the time of each rank and size."""
    with work_directory() as work:
        program = compiled(HERE.parent / "contention.c", work)
        arguments = (collective, "1", ",".join(map(str, sizes)))
        lines, _ = run(program, ranks, arguments, contention=links == "shared")
    return [
        {
            "collective": collective,
            "links": links,
            "ranks": str(ranks),
            "bytes": f"{size:.0f}",
            "rank": f"{rank:.0f}",
            "seconds": f"{seconds:.9g}",
        }
        for size, rank, seconds in numbers(lines)
    ]


def read() -> Times:
    """Return the times in the table, in rank order."""
    times: dict[tuple[str, str, int, int], list[float]] = {}
    for row in read_table(TABLE):
        key = (row["collective"], row["links"], int(row["ranks"]), int(row["bytes"]))
        times.setdefault(key, []).append(float(row["seconds"]))
    return times


def error(times: Times, collective: str, ranks: int, size: int) -> float:
    """Return the mean logarithmic error without contention over the ranks, as a fraction.

    Rank 0 of a Scatter may have no time, since it need not wait for its sends.
    """
    with_, without = (times[collective, links, ranks, size] for links in LINKS)
    logs = [abs(math.log(b / a)) for a, b in zip(with_, without, strict=True) if min(a, b) > 1e-7]
    return math.expm1(sum(logs) / len(logs))


def _row(times: Times, collective: str, ranks: int, size: int) -> list[str]:
    ends = [max(times[collective, links, ranks, size]) * 1e3 for links in LINKS]
    return [*(f"{end:.2f} ms" for end in ends), f"{error(times, collective, ranks, size):.1%}"]


def sizes_table() -> str:
    """Return a row per collective and size."""
    times = read()
    rows = [
        [COLLECTIVES[collective], format_size(size), *_row(times, collective, RANKS, size)]
        for collective in COLLECTIVES
        for size in SIZES
        if size >= 256
    ]
    return markdown(("16 processes", "chunk", *LINKS.values(), "mean error"), rows)


def processes_table() -> str:
    """Return a row per number of processes."""
    times = read()
    rows = [
        [str(ranks), *(cell for one in COLLECTIVES for cell in _row(times, one, ranks, CHUNK))]
        for ranks in PROCESSES
    ]
    heads = [f"{name}: contention" for name in ("Scatter", "sends at once", "Alltoall")]
    return markdown(
        ("processes", *(cell for head in heads for cell in (head, "none", "error"))), rows, 0
    )


def draw() -> Figure:
    """Draw rows by rank, by size and by processes, and a column per collective."""
    times = read()
    figure = Figure(figsize=(14, 11), layout="constrained")
    rows = figure.subplots(3, len(COLLECTIVES))
    for column, (collective, name) in enumerate(COLLECTIVES.items()):
        by_rank, by_size, by_processes = (row[column] for row in rows)
        _draw_ranks(by_rank, times, collective)
        by_rank.set_title(f"{name}\n4 MiB chunks, 16 processes")
        _draw_sizes(by_size, times, collective)
        _draw_processes(by_processes, times, collective)
    rows[0][0].legend(loc="lower center", framealpha=1)
    rows[1][0].legend(frameon=False)
    return figure


def _draw_ranks(axes: Axes, times: Times, collective: str) -> None:
    for number, (links, label) in enumerate(LINKS.items()):
        places = [rank + 0.4 * number for rank in range(RANKS)]
        heights = times[collective, links, RANKS, CHUNK]
        axes.bar(places, heights, 0.4, label=label, **bar_look(number))
    axes.set(xlabel="rank", ylabel="time, s")


def _draw_sizes(axes: Axes, times: Times, collective: str) -> None:
    for number, (links, label) in enumerate(LINKS.items()):
        ends = [1e3 * max(times[collective, links, RANKS, size]) for size in SIZES]
        axes.plot(SIZES, ends, label=label, **look(number))
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    plain_numbers(axes.yaxis)
    axes.set_xticks(SIZES, [format_size(size) for size in SIZES], rotation=60)
    axes.set(xlabel="chunk, 16 processes", ylabel="time of the last rank, ms")


def _draw_processes(axes: Axes, times: Times, collective: str) -> None:
    for number, (links, label) in enumerate(LINKS.items()):
        ends = [max(times[collective, links, ranks, CHUNK]) for ranks in PROCESSES]
        axes.plot(PROCESSES, ends, label=label, **look(number))
    axes.set(xlabel="processes, 4 MiB chunks", ylabel="time of the last rank, s", ylim=(0, None))
    axes.set_xticks(PROCESSES, [str(ranks) if ranks != 2 else "" for ranks in PROCESSES])


STUDY = Study(
    name="paper-001-collectives",
    about="Scatter and Alltoall on griffon, with contention and without",
    measure=measure,
    figures=lambda: {IMAGES / "paper-001-collectives.png": draw()},
    page=PAGE,
    texts=lambda: {
        "table: paper-001 sizes": sizes_table(),
        "table: paper-001 processes": processes_table(),
    },
)
