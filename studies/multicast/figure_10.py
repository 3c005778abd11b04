# SPDX-License-Identifier: LGPL-2.1-only
"""The paper's figure 10: the phases of the protocol in an Allgather."""

from collections.abc import Iterator
from functools import partial

from matplotlib.figure import Figure

from studies.multicast import TESTBED, TESTBED_HOSTS, make_study, run_recorded
from studies.resume import kept_rows
from studies.study import Table
from weft.base.plots import bar_look
from weft.base.units import format_size

PHASES = ("barrier", "multicast", "recovery", "handshake")
PHASE_RANKS = (2, 4, 8, 16, 32, 64, 128, TESTBED_HOSTS)
PHASE_BYTES = (4 * 2**10, 64 * 2**10, 256 * 2**10)


def measure() -> Table:
    """Run Allgathers with the multicast protocol."""
    return kept_rows(
        "multicast",
        [
            (f"phases-{ranks}-{size}", partial(measure_one, ranks, size))
            for ranks in PHASE_RANKS
            for size in PHASE_BYTES
        ],
    )


def measure_one(ranks: int, size: int) -> Table:
    """Run one Allgather; keep a rank's mean time in each phase."""
    _, part = run_recorded("allgather", TESTBED, ranks, size)
    times = {f"{phase}_us": f"{getattr(part, f'{phase}_s') * 1e6:.6g}" for phase in PHASES}
    return [{"ranks": str(ranks), "bytes": str(size), **times}]


def shares(row: dict[str, str]) -> dict[str, float]:
    """Return the fraction of time by phase."""
    times = {phase: float(row[f"{phase}_us"]) for phase in PHASES}
    return {phase: time / sum(times.values()) for phase, time in times.items()}


def draw(rows: Table, figure: Figure) -> None:
    """Draw the fractions of the phases, one bar per number of nodes."""
    for axes, size in zip(
        figure.subplots(1, len(PHASE_BYTES), sharey=True), PHASE_BYTES, strict=True
    ):
        of_size = [row for row in rows if row["bytes"] == str(size)]
        below = [0.0] * len(of_size)
        for k, phase in enumerate(PHASES):
            heights = [100 * shares(row)[phase] for row in of_size]
            nodes = [row["ranks"] for row in of_size]
            axes.bar(nodes, heights, bottom=below, label=phase, **bar_look(k))
            below = [low + height for low, height in zip(below, heights, strict=True)]
        axes.set_xlabel("nodes")
        axes.set_title(f"{format_size(size)} a rank", loc="left")
    figure.axes[0].set_ylabel("of a rank's time in an Allgather, %")
    figure.legend(
        *figure.axes[0].get_legend_handles_labels(), loc="outside right upper", frameon=False
    )


def table(rows: Table) -> Iterator[str]:
    """Yield the time and the fraction of each phase."""
    yield "| nodes | bytes | Allgather | barrier | multicast | recovery | handshake |"
    yield "|---:|---:|---:|---:|---:|---:|---:|"
    for row in rows:
        whole = sum(float(row[f"{phase}_us"]) for phase in PHASES)
        cells = " | ".join(f"{share:.2%}" for share in shares(row).values())
        size = format_size(int(row["bytes"]))
        yield f"| {row['ranks']} | {size} | {whole:,.1f} us | {cells} |"


STUDY = make_study("figure-10", "the phases of the protocol", measure, draw, table, 13)
