# SPDX-License-Identifier: LGPL-2.1-only
"""Cost of the cutoff timer's slack (the paper's alpha), and failures if the slack is too small."""

from collections.abc import Iterator
from functools import partial

from matplotlib.figure import Figure

from studies.multicast import (
    MULTICAST,
    TESTBED,
    TESTBED_HOSTS,
    changed_fabric,
    make_study,
    run_recorded,
)
from studies.multicast.figure_10 import PHASES, shares
from studies.resume import kept_rows
from studies.study import Table
from weft.base.plots import COLOURS

SLACKS_US = (1, 2, 3, 5, 10, 30, 100, 300, 1000)
BYTES = 64 * 2**10
LOSS = "\n[[multicast.drops]]\nroot = 100\nreceiver = 50\nchunks = [7]\n"


def measure() -> Table:
    """Run Allgathers with and without a lost chunk."""
    return kept_rows(
        "multicast",
        [
            (f"cutoff-{slack}-{lost}", partial(measure_one, slack, lost))
            for slack in SLACKS_US
            for lost in (0, 1)
        ],
    )


def measure_one(slack_us: int, lost: int) -> Table:
    """Run one Allgather."""
    slack = {"cutoff_slack": f"{slack_us}us"}
    with changed_fabric(TESTBED, MULTICAST, slack, LOSS * lost) as fabric:
        row, part = run_recorded("allgather", fabric, TESTBED_HOSTS, BYTES)
    times = {f"{phase}_us": f"{getattr(part, f'{phase}_s') * 1e6:.6g}" for phase in PHASES}
    return [
        {
            "slack_us": str(slack_us),
            "lost": str(lost),
            "max_us": f"{row.max_us:.6g}",
            "fetched_chunks": str(part.fetched_chunks),
            **times,
        }
    ]


def draw(rows: Table, figure: Figure) -> None:
    """Plot the time against the slack."""
    axes = figure.subplots()
    for k, lost in enumerate(("0", "1")):
        its = [row for row in rows if row["lost"] == lost]
        slacks = [float(row["slack_us"]) for row in its]
        times = [float(row["max_us"]) / 1e3 for row in its]
        label = "nothing lost" if lost == "0" else "one chunk lost at one rank"
        axes.plot(slacks, times, "o-", color=COLOURS[k], label=label)
    axes.set_xscale("log")
    axes.set_xticks(SLACKS_US, list(map(str, SLACKS_US)))
    axes.minorticks_off()
    axes.set_ylim(0)
    axes.set_xlabel("slack of the cutoff timer (us)")
    axes.set_ylabel("time until the last rank goes (ms)")
    axes.set_title(f"Allgather of 64 KiB a rank, {TESTBED_HOSTS} ranks", loc="left")
    axes.legend(frameon=False)


def table(rows: Table) -> Iterator[str]:
    """Yield times, shares and fetched chunks."""
    heads = ("slack", "lost chunks", "Allgather", *PHASES, "fetched chunks")
    yield f"| {' | '.join(heads)} |"
    yield "|" + "---:|" * len(heads)
    for row in rows:
        cells = " | ".join(f"{share:.2%}" for share in shares(row).values())
        yield (
            f"| {row['slack_us']} us | {row['lost']} | {float(row['max_us']):,.1f} us | {cells}"
            f" | {int(row['fetched_chunks']):,} |"
        )


STUDY = make_study("cutoff", "what the cutoff timer's slack costs", measure, draw, table)
