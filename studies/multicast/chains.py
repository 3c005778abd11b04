# SPDX-License-Identifier: LGPL-2.1-only
"""Concurrent Allgather and Reduce-Scatter, by number of concurrent multicast roots."""

from collections.abc import Iterator

from matplotlib.figure import Figure

from studies.multicast import MULTICAST, make_study
from studies.multicast.ag_rs import together
from studies.study import Table
from weft.base.plots import COLOURS, GREY

CHAINS, CHAINS_RANKS = (1, 2, 4, 8, 16, 32, 64), 64


def measure() -> Table:
    """Run both collectives in the network with several concurrent roots, and around rings."""
    (ring,) = together(CHAINS_RANKS, CHAINS_RANKS, "ring")
    return [
        {
            "chains": str(chains),
            "network_us": f"{float(row['max_us']):.6g}",
            "ring_us": f"{float(ring['max_us']):.6g}",
        }
        for chains in CHAINS
        for row in together(CHAINS_RANKS, chains, MULTICAST)
    ]


def chains_bound(chains: int) -> float:
    """Return the bound if roots and the Reduce-Scatter halve a NIC's send bandwidth."""
    return (2 - 2 / CHAINS_RANKS) / (1 + 1 / chains)


def draw(rows: Table, figure: Figure) -> None:
    """Plot the speed-up against the number of chains."""
    axes = figure.subplots()
    chains = [int(row["chains"]) for row in rows]
    found = [float(row["ring_us"]) / float(row["network_us"]) for row in rows]
    axes.plot(chains, found, "o", color=COLOURS[0], label="run")
    expected = list(map(chains_bound, chains))
    axes.plot(chains, expected, color=GREY, label="(2 - 2/P) / (1 + 1/M)")
    axes.set_xscale("log", base=2)
    axes.set_xticks(chains, list(map(str, chains)))
    axes.set_ylim(0, 2.1)
    axes.set_xlabel("chains M: roots that multicast at the same time")
    axes.set_ylabel("speed-up over ring with ring")
    axes.set_title(f"{{AG, RS}} of 8 MiB a rank, {CHAINS_RANKS} ranks", loc="left")
    axes.legend(frameon=False, loc="lower right")


def table(rows: Table) -> Iterator[str]:
    """Yield the speed-ups by chains."""
    yield "| chains | both in the network | ring, ring | speed-up | (2 - 2/P) / (1 + 1/M) |"
    yield "|---:|---:|---:|---:|---:|"
    for row in rows:
        ours, ring = float(row["network_us"]), float(row["ring_us"])
        yield (
            f"| {row['chains']} | {ours / 1e3:.2f} ms | {ring / 1e3:.2f} ms | {ring / ours:.3f} "
            f"| {chains_bound(int(row['chains'])):.3f} |"
        )


STUDY = make_study("chains", "both by the number of roots at a time", measure, draw, table)
