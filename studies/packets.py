# SPDX-License-Identifier: LGPL-2.1-only
"""Flows against packets: the study of docs/packets.md, its table and its figure.

Patterns of 64 hosts on three fabrics, idle and loaded, on flows and on packets with several kinds
of flow control. Times are simulated and the same on every machine.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import product
from pathlib import Path

from matplotlib.figure import Figure

from studies.resume import digest, kept_rows
from studies.study import DOCS, IMAGES, OPTION, Study, Table, markdown, read_table, write_table
from weft.base.errors import WeftError
from weft.base.plots import COLOURS
from weft.base.process import work_directory
from weft.runs import launch
from weft.runs.request import Request
from weft.runs.toolchain import compile_c

PROGRAM = Path(__file__).with_suffix(".c")
TABLE = DOCS / "packets-study.csv"
FIGURE = IMAGES / "packets-study.png"
HEAD = (
    "# studies/packets.py: mean time of five rounds of a pattern among 64 hosts (100 Gb/s,"
    " fat-tree-1024 with other levels), seconds\n"
)
HOSTS = 64
ROUNDS = 5

PATTERNS: Mapping[str, str] = {
    "neighbours": "exchange with two neighbours",
    "permutation": "random permutation",
    "incast": "incast",
    "beside": "permutation beside an incast",
    "alltoall": "Alltoall",
    "allreduce": "Allreduce",
    "switches": "Allreduce in switches",
    "bcast": "Bcast",
    "allgather": "Allgather",
}
"""Patterns of studies/packets.c, and their names in the page."""
OFFLOADED = "switches"

SIZES = (1 << 10, 1 << 16, 1 << 20)

FABRICS: Mapping[str, tuple[str, ...]] = {
    "one switch": ("topology.down=[64, 1]", "topology.up=[1, 1]", "switch.max_ports=65"),
    "full bisection": ("topology.down=[8, 8]", "topology.up=[1, 8]"),
    "4:1 oversubscribed": ("topology.down=[16, 4]", "topology.up=[1, 4]"),
}
"""Changes of fat-tree-1024."""

NETWORKS: Mapping[str, tuple[str, ...]] = {
    "flows": ("network.model=flows",),
    "credits": ("network.model=packets", "network.flow_control=credits"),
    "PFC": ("network.model=packets", "network.flow_control=pfc"),
    "PFC, DCQCN": (
        "network.model=packets",
        "network.flow_control=pfc",
        "network.congestion_control=dcqcn",
    ),
    "loss, go-back-N": ("network.model=packets", "network.flow_control=none"),
    "loss, Swift": (
        "network.model=packets",
        "network.flow_control=none",
        "network.congestion_control=swift",
    ),
}
LOSSY = tuple(name for name in NETWORKS if name.startswith("loss"))
"""Networks on which hosts execute all collectives."""
LOADS = ("0%", "30%")
"""Background traffic of all hosts, as a fraction of their share of the bisection."""
LARGEST_UNDER_LOAD = 1 << 16
"""Go-back-N with larger messages takes so long that the traffic needs minutes of CPU."""


def measure() -> None:
    """Execute the missing runs, and write the table."""
    with work_directory() as work:
        program = work / "packets"
        compile_c(PROGRAM, program)
        traffic = {}
        for load in LOADS[1:]:
            traffic[load] = work / "traffic.toml"
            traffic[load].write_text(
                f'[[traffic]]\npattern = "uniform"\nload = "{load}"\nhosts = "all"\n'
            )
        source = digest(PROGRAM.read_bytes(), PROGRAM.with_name("patterns.h").read_bytes())
        parts = [
            (f"{'-'.join(map(str, case))}-{source}", partial(_row, program, traffic, *case))
            for case in product(PATTERNS, SIZES, FABRICS, LOADS)
            if case[-1] == LOADS[0] or case[1] <= LARGEST_UNDER_LOAD
        ]
        write_table(TABLE, kept_rows("packets", parts), HEAD)


def _row(
    program: Path, traffic: Mapping[str, Path], pattern: str, size: int, fabric: str, load: str
) -> Table:
    row = {"pattern": pattern, "bytes": str(size), "fabric": fabric, "load": load}
    for network, changes in NETWORKS.items():
        if pattern == OFFLOADED and network in LOSSY:
            row[network] = ""
            continue
        lines: list[str] = []
        request = Request.of(
            fabric="fat-tree-1024",
            changes=(*FABRICS[fabric], *changes),
            ranks=HOSTS,
            program=str(program),
            arguments=(pattern, str(size), str(ROUNDS)),
            offload="stream" if pattern == OFFLOADED else "off",
            traffic=traffic.get(load),
        )
        record = launch.run(launch.prepare(request), lines.append)
        if record.failed:
            raise WeftError(f"{OPTION}: packets: {record.outcome.message}")
        row[network] = f"{float(lines[0]):.6g}"
    return [row]


def ratios(rows: Sequence[Mapping[str, str]], network: str) -> list[float]:
    """Return the times on packets, if known, as multiples of the times on flows."""
    return [float(row[network]) / float(row["flows"]) for row in rows if row[network]]


def _range(found: Sequence[float]) -> str:
    low, high = (f"{one:.2f}" if one < 10 else f"{one:.0f}" for one in (min(found), max(found)))
    return low if low == high else f"{low} to {high}"


def _agreement(rows: Table) -> str:
    """Return the range of ratios over fabrics, by pattern, size and load, with credits."""
    short = str(SIZES[0])
    lines = []
    for pattern, name in PATTERNS.items():
        cells = []
        for load, sizes in product(LOADS, ({short}, {str(one) for one in SIZES[1:]})):
            found = [
                row
                for row in rows
                if (row["pattern"], row["load"]) == (pattern, load) and row["bytes"] in sizes
            ]
            cells.append(_range(ratios(found, "credits")))
        lines.append((name, *cells))
    heads = (
        "pattern",
        "idle, 1 KiB",
        "idle, 64 KiB and 1 MiB",
        "30 % load, 1 KiB",
        "30 % load, 64 KiB",
    )
    return markdown(heads, lines, 1)


def _figures() -> dict[Path, Figure]:
    rows = read_table(TABLE)
    figure = Figure(figsize=(9, 4.8), layout="constrained")
    both = figure.subplots(1, len(LOADS), sharex=True, sharey=True)
    networks = list(NETWORKS)[1:]
    for axes, load in zip(both, LOADS, strict=True):
        axes.axvspan(0.95, 1.05, color="0.85", zorder=0)
        for number, network in enumerate(networks):
            for position, pattern in enumerate(PATTERNS):
                found = [row for row in rows if (row["pattern"], row["load"]) == (pattern, load)]
                times = ratios(found, network)
                axes.plot(
                    times,
                    [position + 0.8 * (number + 0.5) / len(networks) - 0.4] * len(times),
                    "o",
                    color=COLOURS[number],
                    markersize=4,
                    alpha=0.7,
                    label=network if position == 0 else None,
                )
        axes.set_xscale("log")
        axes.set_xticks((1, 2, 5, 10, 20, 50), ("1", "2", "5", "10", "20", "50"))
        axes.set_yticks(range(len(PATTERNS)), list(PATTERNS.values()))
        axes.set_title("idle fabric" if load == LOADS[0] else "30 % load")
        axes.set_xlabel("time on packets / time on flows")
        axes.grid(axis="x", alpha=0.3)
    both[0].invert_yaxis()
    handles, labels = both[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels), frameon=False)
    return {FIGURE: figure}


def _texts() -> dict[str, str]:
    return {"table: packets and flows": _agreement(read_table(TABLE))}


STUDY = Study(
    "packets",
    "when flows suffice: patterns on flows and on packets",
    measure=measure,
    figures=_figures,
    page=DOCS / "packets.md",
    texts=_texts,
)
