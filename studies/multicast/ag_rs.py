# SPDX-License-Identifier: LGPL-2.1-only
"""Section II and appendix B of the paper: concurrent Allgather and Reduce-Scatter."""

from collections.abc import Iterator
from functools import partial

from matplotlib.figure import Figure

from studies.multicast import FULL_BANDWIDTH, MANY, MULTICAST, changed_fabric, make_study, run_one
from studies.resume import kept_rows
from studies.study import Table
from weft.base.plots import COLOURS, GREY

TOGETHER_BYTES = 8 * 2**20
TOGETHER_RANKS = (4, 6, 8, 12, 16, 24, 32, 36, 40, 48, 64, 128, 256, 512, 1024)
JITTER = "10 ns"
"""Mean jitter on each link of a message's path, so that no two roots start simultaneously."""
NOISE = """
[[noise.link]]
jitter = "10ns"
distribution = "exponential"
"""


def together(ranks: int, chains: int, mode: str, jitter: str = "") -> Table:
    """Run Allgather and Reduce-Scatter concurrently in one mode."""
    name = f"ag-rs-{ranks}-{chains}-{mode}{jitter and '-jitter'}"
    return kept_rows("multicast", [(name, partial(_together, ranks, chains, mode, jitter))])


def _together(ranks: int, chains: int, mode: str, jitter: str) -> Table:
    more = NOISE if jitter else ""
    with changed_fabric(FULL_BANDWIDTH, MULTICAST, {"chains": chains}, more) as fabric:
        rows = run_one("ag+rs", fabric, ranks, TOGETHER_BYTES, mode, **MANY)
    return [{**row, "jitter": jitter} for row in rows]


def measure() -> Table:
    """Run both collectives in the network, with and without jitter, and around rings, M = P."""
    return [
        row
        for ranks in TOGETHER_RANKS
        for mode, jitter in ((MULTICAST, ""), (MULTICAST, JITTER), ("ring", ""))
        for row in together(ranks, ranks, mode, jitter)
    ]


def speed_ups(rows: Table, jitter: str = "") -> dict[int, float]:
    """Return the speed-up over rings by ranks."""
    ends = {(int(row["ranks"]), row["mode"], row["jitter"]): float(row["max_us"]) for row in rows}
    return {
        ranks: ends[ranks, "ring", ""] / ends[ranks, MULTICAST, jitter] for ranks in TOGETHER_RANKS
    }


def draw(rows: Table, figure: Figure) -> None:
    """Plot the speed-up, with appendix B's."""
    axes = figure.subplots()
    found = speed_ups(rows)
    axes.plot(list(found), [2 - 2 / ranks for ranks in found], color=GREY, label="2 - 2/P")
    axes.plot(list(found), list(found.values()), "o", color=COLOURS[0], label="run")
    jittered = speed_ups(rows, JITTER)
    axes.plot(
        list(jittered), list(jittered.values()), "x", color=COLOURS[1], label=f"jitter of {JITTER}"
    )
    axes.set_xscale("log", base=2)
    powers = [ranks for ranks in found if ranks.bit_count() == 1]
    axes.set_xticks(powers, [str(ranks) for ranks in powers])
    axes.set_ylim(1, 2.1)
    axes.set_xlabel("ranks P")
    axes.set_ylabel("speed-up over ring with ring")
    axes.set_title("{AG, RS} of 8 MiB a rank", loc="left")
    axes.legend(frameon=False, loc="lower right")


def table(rows: Table) -> Iterator[str]:
    """Yield the speed-ups, with appendix B's."""
    yield f"| ranks | 2 - 2/P | speed-up | difference | with jitter of {JITTER} | difference |"
    yield "|---:|---:|---:|---:|---:|---:|"
    jittered = speed_ups(rows, JITTER)
    for ranks, speed_up in speed_ups(rows).items():
        bound = 2 - 2 / ranks
        yield (
            f"| {ranks:,} | {bound:.4f} | {speed_up:.4f} | {speed_up / bound - 1:+.2%} "
            f"| {jittered[ranks]:.4f} | {jittered[ranks] / bound - 1:+.2%} |"
        )


STUDY = make_study("ag-rs", "Allgather and Reduce-Scatter at once", measure, draw, table)
