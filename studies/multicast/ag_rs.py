# SPDX-License-Identifier: LGPL-2.1-only
"""Section II and appendix B of the paper: Allgather and Reduce-Scatter at the same time."""

from collections.abc import Iterator, Sequence
from functools import partial

from matplotlib.figure import Figure

from studies.multicast import FULL_BANDWIDTH, MANY, MULTICAST, changed_fabric, make_study, run_one
from studies.resume import kept_rows
from studies.study import Table
from weft.base.plots import COLOURS, GREY

TOGETHER_BYTES = 8 * 2**20
TOGETHER_RANKS = (4, 8, 16, 32, 64, 128, 256, 512, 1024)


def together(ranks: int, chains: int, modes: Sequence[str]) -> Table:
    """Run both in some modes."""
    return kept_rows(
        "multicast",
        [
            (f"ag-rs-{ranks}-{chains}-{mode}", partial(_together, ranks, chains, mode))
            for mode in modes
        ],
    )


def _together(ranks: int, chains: int, mode: str) -> Table:
    with changed_fabric(FULL_BANDWIDTH, MULTICAST, {"chains": chains}) as fabric:
        return run_one("ag+rs", fabric, ranks, TOGETHER_BYTES, mode, **MANY)


def measure() -> Table:
    """Run both in the network and around rings, with all roots at the same time."""
    return [row for ranks in TOGETHER_RANKS for row in together(ranks, ranks, (MULTICAST, "ring"))]


def speed_ups(rows: Table) -> dict[int, float]:
    """Return by ranks how much faster than rings."""
    ends = {(int(row["ranks"]), row["mode"]): float(row["max_us"]) for row in rows}
    return {ranks: ends[ranks, "ring"] / ends[ranks, MULTICAST] for ranks in TOGETHER_RANKS}


def draw(rows: Table, figure: Figure) -> None:
    """Draw the speed-up beside appendix B's."""
    axes = figure.subplots()
    found = speed_ups(rows)
    axes.plot(list(found), [2 - 2 / ranks for ranks in found], color=GREY, label="2 - 2/P")
    axes.plot(list(found), list(found.values()), "o", color=COLOURS[0], label="run")
    axes.set_xscale("log", base=2)
    axes.set_xticks(list(found), [str(ranks) for ranks in found])
    axes.set_ylim(1, 2.1)
    axes.set_xlabel("ranks P")
    axes.set_ylabel("speed-up over ring with ring")
    axes.set_title("{AG, RS} of 8 MiB a rank", loc="left")
    axes.legend(frameon=False, loc="lower right")


def table(rows: Table) -> Iterator[str]:
    """Yield the speed-ups beside appendix B's."""
    yield "| ranks | speed-up | 2 - 2/P | difference |"
    yield "|---:|---:|---:|---:|"
    for ranks, speed_up in speed_ups(rows).items():
        bound = 2 - 2 / ranks
        yield f"| {ranks:,} | {speed_up:.4f} | {bound:.4f} | {speed_up / bound - 1:+.2%} |"


STUDY = make_study("ag-rs", "Allgather and Reduce-Scatter at once", measure, draw, table)
