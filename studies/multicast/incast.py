# SPDX-License-Identifier: LGPL-2.1-only
"""Number of roots that can multicast concurrently with limited switch buffers."""

from collections.abc import Iterator
from functools import partial

from matplotlib.figure import Figure

from studies.multicast import TESTBED, changed_fabric, make_study, run_recorded
from studies.resume import kept_rows
from studies.study import Table
from weft.base.plots import look
from weft.base.units import format_size

CHAINS = (1, 2, 4, 8, 16, 32, 64)
BUFFERS = (64 * 2**10, 256 * 2**10, 2**20, 4 * 2**20, 0)
"""Buffer bytes in a switch for each host's cable; 0: links are lossless."""
RANKS, BYTES = 64, 64 * 2**10


def measure() -> Table:
    """Run the Allgathers."""
    return kept_rows(
        "multicast",
        [
            (f"incast-{RANKS}-{BYTES}-{chains}-{buffer}", partial(measure_one, chains, buffer))
            for buffer in BUFFERS
            for chains in CHAINS
        ],
    )


def measure_one(chains: int, buffer: int) -> Table:
    """Run one Allgather."""
    limit = {"port_buffer": format_size(buffer).replace(" ", "")} if buffer else {}
    with changed_fabric(TESTBED, "multicast", {"chains": chains, **limit}) as fabric:
        row, part = run_recorded("allgather", fabric, RANKS, BYTES)
    return [
        {
            "chains": str(chains),
            "port_buffer": str(buffer),
            "max_us": f"{row.max_us:.6g}",
            "port_drops": f"{part.port_drops / part.calls:.6g}",
        }
    ]


def draw(rows: Table, figure: Figure) -> None:
    """Plot the time against the number of concurrent roots."""
    axes = figure.subplots()
    for k, buffer in enumerate(BUFFERS):
        its = [row for row in rows if row["port_buffer"] == str(buffer)]
        times = [float(row["max_us"]) / 1e3 for row in its]
        label = format_size(buffer) if buffer else "lossless"
        axes.plot([int(row["chains"]) for row in its], times, label=label, **look(k))
    axes.set_xscale("log", base=2)
    axes.set_xticks(CHAINS, list(map(str, CHAINS)))
    axes.set_ylim(0)
    axes.set_xlabel("chains M: roots that multicast at the same time")
    axes.set_ylabel("time until the last rank goes (ms)")
    axes.set_title(f"Allgather of {format_size(BYTES)} a rank, {RANKS} ranks", loc="left")
    axes.legend(frameon=False, title="room before a host's cable")


def table(rows: Table) -> Iterator[str]:
    """Yield times and lost chunks."""
    yield f"| room before a host's cable | {' | '.join(f'M = {chains}' for chains in CHAINS)} |"
    yield "|---|" + "---:|" * len(CHAINS)
    for buffer in BUFFERS:
        its = {row["chains"]: row for row in rows if row["port_buffer"] == str(buffer)}
        cells = [_cell(its[str(chains)]) for chains in CHAINS]
        yield f"| {format_size(buffer) if buffer else 'lossless'} | {' | '.join(cells)} |"


def _cell(row: dict[str, str]) -> str:
    lost = float(row["port_drops"])
    return f"{float(row['max_us']):,.0f} us" + (f", {lost:,.0f} lost" if lost else "")


STUDY = make_study("incast", "roots at a time and the switches' room", measure, draw, table)
