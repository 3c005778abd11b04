# SPDX-License-Identifier: LGPL-2.1-only
"""Effects of contention: table and figure of docs/contention.md.

Clauss et al., figures 7 to 12: binomial Scatter and pairwise Alltoall on 16 hosts, with and without
contention on links. Times are simulated and the same on every machine.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from studies.study import DOCS, IMAGES, OPTION, Study, read_table, write_table
from weft import _core
from weft.base.errors import WeftError
from weft.base.plots import bar_look, look
from weft.base.process import work_directory
from weft.base.units import format_size
from weft.fabric.export import export
from weft.runs import launch
from weft.runs.request import Request
from weft.runs.toolchain import compile_c

HERE = Path(__file__).parent
RANKS = 16
SIZES = tuple(4**k for k in range(5, 13))  # 1 KiB to 16 MiB
SHOWN = 4 * 2**20  # the paper's chunk size
SWITCHES = 4
COLLECTIVES = {
    "scatter": "binomial Scatter, ranks in blocks",
    "scatter-cyclic": "binomial Scatter, ranks in turn",
    "alltoall": "pairwise Alltoall, ranks in blocks",
}
"""Block placement puts four consecutive ranks behind one switch; cyclic placement alternates
switches.
"""
LINKS = {"shared": "contention", "fatpipe": "no contention"}
TABLE = DOCS / "contention.csv"


@dataclass(frozen=True)
class Row:
    """Time of one rank."""

    collective: str
    links: str
    bytes: int
    rank: int
    seconds: float


Times = Mapping[tuple[str, str, int], Sequence[float]]
"""Time of each rank by collective, links and bytes."""


def measure() -> list[Row]:
    """Run both collectives on both kinds of links."""
    with work_directory() as work:
        program = work / "contention"
        compile_c(HERE / "contention.c", program)
        platform = work / "two-levels.xml"
        export(_core.load_fabric(str(HERE / "two-levels.toml")), platform)
        return [
            row
            for collective in COLLECTIVES
            for links in LINKS
            for row in run(program, platform, collective, links)
        ]


def run(program: Path, platform: Path, collective: str, links: str) -> list[Row]:
    """Return the time of each rank and size."""
    lines: list[str] = []
    name, _, order = collective.partition("-")
    request = Request.of(
        platform=platform,
        ranks=RANKS,
        program=str(program),
        arguments=(name, str(SWITCHES if order else 1), ",".join(map(str, SIZES))),
        contention=links == "shared",
        offload="off",
        privatize=True,
    )
    record = launch.run(launch.prepare(request), lines.append)
    if record.failed:
        raise WeftError(f"{OPTION}: contention: {record.outcome.message}")
    return [
        Row(collective, links, int(size), int(rank), float(seconds))
        for size, rank, seconds in map(str.split, sorted(lines))
    ]


def by_rank(rows: Sequence[Row]) -> Times:
    """Return the times in rank order."""
    times: dict[tuple[str, str, int], list[float]] = {}
    for row in sorted(rows, key=lambda row: row.rank):
        times.setdefault((row.collective, row.links, row.bytes), []).append(row.seconds)
    return times


def errors(times: Times, collective: str, size: int) -> list[float]:
    """Return each rank's logarithmic error without contention; rank 0 may lack a time."""
    pairs = zip(times[collective, "shared", size], times[collective, "fatpipe", size], strict=True)
    return [math.log(without / contended) for contended, without in pairs if contended > 0]


def mean_error(times: Times, collective: str, size: int) -> float:
    """Return the mean logarithmic error, as a fraction."""
    all_errors = errors(times, collective, size)
    return math.exp(sum(map(abs, all_errors)) / len(all_errors)) - 1


def worst_error(times: Times, collective: str, size: int) -> float:
    """Return the largest logarithmic error, as a fraction."""
    return math.exp(max(map(abs, errors(times, collective, size)))) - 1


def table(times: Times) -> str:
    """Return a row per collective and size: time of the last rank, and the ranks' errors."""
    lines = [
        "| | chunk | contention | without | mean error | worst |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for collective, name in COLLECTIVES.items():
        for size in SIZES:
            cells = [name, format_size(size)]
            ends = [max(times[collective, links, size]) for links in LINKS]
            cells += [f"{seconds * 1e3:.2f} ms" for seconds in ends]
            cells.append(f"{mean_error(times, collective, size):.1%}")
            cells.append(f"{worst_error(times, collective, size):.1%}")
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def draw(times: Times) -> Figure:
    """Plot each rank's time for one size, and the errors against size."""
    figure = Figure(figsize=(14, 7), layout="constrained")
    rows = figure.subplots(2, len(COLLECTIVES))
    for column, (collective, name) in enumerate(COLLECTIVES.items()):
        draw_ranks(rows[0][column], times, collective)
        rows[0][column].set_title(f"{name},\n{format_size(SHOWN)} chunks")
        draw_errors(rows[1][column], times, collective)
    bars = rows[0][0].get_legend_handles_labels()
    curves = rows[1][0].get_legend_handles_labels()
    handles, labels = bars[0] + curves[0], bars[1] + curves[1]
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
    return figure


def draw_ranks(axes: Axes, times: Times, collective: str) -> None:
    """Draw a bar for each rank and link kind."""
    for number, (links, label) in enumerate(LINKS.items()):
        places = [rank + 0.4 * number for rank in range(RANKS)]
        axes.bar(places, times[collective, links, SHOWN], 0.4, label=label, **bar_look(number))
    axes.set_xlabel("rank")
    axes.set_ylabel("time, s")


def draw_errors(axes: Axes, times: Times, collective: str) -> None:
    """Plot the mean and the largest error against chunk size."""
    measures = {"mean of the ranks": mean_error, "worst rank": worst_error}
    for number, (label, error) in enumerate(measures.items()):
        shares = [100 * error(times, collective, size) for size in SIZES]
        axes.plot(SIZES, shares, label=f"error, {label}", **look(number))
    axes.set_xscale("log", base=2)
    axes.set_xticks(SIZES, [format_size(size) for size in SIZES], rotation=45)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("chunk")
    axes.set_ylabel("error without contention, %")


def write() -> None:
    """Measure, and write the table."""
    rows = [{**asdict(row), "seconds": f"{row.seconds:.9g}"} for row in measure()]
    write_table(TABLE, rows)


def read() -> Times:
    """Return the times in the table."""
    return by_rank(
        [
            Row(
                row["collective"],
                row["links"],
                int(row["bytes"]),
                int(row["rank"]),
                float(row["seconds"]),
            )
            for row in read_table(TABLE)
        ]
    )


STUDY = Study(
    name="contention",
    about="what links that never contend get wrong",
    measure=write,
    figures=lambda: {IMAGES / "contention.png": draw(read())},
    page=DOCS / "contention.md",
    texts=lambda: {"table: contention": table(read())},
)
