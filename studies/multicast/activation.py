# SPDX-License-Identifier: LGPL-2.1-only
"""Cost of waking a SmartNIC's threads with the first chunk of a call."""

from collections.abc import Iterator
from functools import partial

from matplotlib.figure import Figure

from studies.multicast import FULL_BANDWIDTH, changed_fabric, make_study, run_recorded
from studies.resume import kept_rows
from studies.study import Table
from weft.base.plots import look
from weft.base.units import format_size

ENGINE = """
[progress_engine]
preset = "bluefield-3-dpa"
activation = "{}us"
"""
ACTIVATIONS_US = (0, 1, 3, 10, 30, 100, 300)
SIZES = (4 * 2**10, 64 * 2**10, 2**20, 8 * 2**20)
RANKS, WORKERS = 16, 16
SHOWN_US = (3, 10, 30, 100, 300, 1000, 3000)


def measure() -> Table:
    """Run the Broadcasts."""
    return kept_rows(
        "multicast",
        [
            (f"activation-{RANKS}-{size}-{activation}", partial(measure_one, size, activation))
            for size in SIZES
            for activation in ACTIVATIONS_US
        ],
    )


def measure_one(size: int, activation_us: int) -> Table:
    """Run one Broadcast."""
    engine = ENGINE.format(activation_us)
    with changed_fabric(FULL_BANDWIDTH, "multicast", {"trees": WORKERS}, engine) as fabric:
        row, part = run_recorded("bcast", fabric, RANKS, size)
    return [
        {
            "bytes": str(size),
            "activation_us": str(activation_us),
            "max_us": f"{row.max_us:.6g}",
            "staging_drops": f"{part.staging_drops / part.calls:.6g}",
        }
    ]


def draw(rows: Table, figure: Figure) -> None:
    """Plot the time against activation latency."""
    axes = figure.subplots()
    for k, size in enumerate(SIZES):
        its = [row for row in rows if row["bytes"] == str(size)]
        times = [float(row["max_us"]) for row in its]
        axes.plot(
            [int(row["activation_us"]) for row in its], times, label=format_size(size), **look(k)
        )
    axes.set_xscale("symlog", linthresh=1)
    axes.set_xticks(ACTIVATIONS_US, list(map(str, ACTIVATIONS_US)))
    axes.set_yscale("log")
    axes.set_yticks(SHOWN_US, list(map(str, SHOWN_US)))
    axes.minorticks_off()
    axes.set_xlabel("activation of the threads (us)")
    axes.set_ylabel("time until the last rank goes (us)")
    axes.set_title(f"Broadcast on {RANKS} hosts, {WORKERS} threads of a DPA each", loc="left")
    axes.legend(frameon=False)


def table(rows: Table) -> Iterator[str]:
    """Yield times and lost chunks."""
    yield f"| bytes | {' | '.join(f'{activation} us' for activation in ACTIVATIONS_US)} |"
    yield "|---:|" + "---:|" * len(ACTIVATIONS_US)
    for size in SIZES:
        its = [row for row in rows if row["bytes"] == str(size)]
        yield f"| {format_size(size)} | {' | '.join(map(_cell, its))} |"


def _cell(row: dict[str, str]) -> str:
    lost = float(row["staging_drops"])
    return f"{float(row['max_us']):,.1f} us" + (f", {lost:,.0f} lost" if lost else "")


STUDY = make_study("activation", "what waking threads costs", measure, draw, table)
