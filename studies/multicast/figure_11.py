# SPDX-License-Identifier: LGPL-2.1-only
"""The paper's figure 11: receive throughput of a process on the testbed."""

from collections.abc import Iterator

from matplotlib.figure import Figure

from studies.multicast import MANY, MULTICAST, TESTBED, TESTBED_HOSTS, column, make_study, run
from studies.study import Table
from weft.base.plots import look
from weft.base.units import format_size
from weft.study.bench.collectives import COLLECTIVES

THROUGHPUT_SIZES = tuple(1 << k for k in range(12, 19))  # 4 KiB to 256 KiB
THROUGHPUT_MODES = {
    "bcast": (MULTICAST, "knomial", "sag-knomial", "binary-tree", "smpi:binomial_tree"),
    "allgather": (MULTICAST, "ring", "smpi:bruck"),
}


def measure() -> Table:
    """Run both collectives in all modes by size."""
    return [
        row
        for collective, modes in THROUGHPUT_MODES.items()
        for row in run(collective, TESTBED, TESTBED_HOSTS, THROUGHPUT_SIZES, modes, **MANY)
    ]


def draw(rows: Table, figure: Figure) -> None:
    """Plot the receive throughput of a process."""
    for axes, (collective, modes) in zip(
        figure.subplots(1, 2), THROUGHPUT_MODES.items(), strict=True
    ):
        for k, mode in enumerate(modes):
            points = column(rows, collective, mode, "receive_Bps")
            axes.plot(
                list(points),
                [rate / 2**30 for rate in points.values()],
                label=mode,
                **look(k),
            )
        axes.set_xscale("log", base=2)
        axes.set_xticks(THROUGHPUT_SIZES, list(map(format_size, THROUGHPUT_SIZES)), rotation=40)
        axes.set_ylim(bottom=0)
        axes.set_xlabel("send buffer")
        axes.set_ylabel("received by a process, GiB/s")
        axes.set_title(f"{COLLECTIVES[collective].title}, {TESTBED_HOSTS} hosts", loc="left")
        axes.legend(frameon=False)


def table(rows: Table) -> Iterator[str]:
    """Yield the throughputs, and the ratio of the multicast's to each other throughput."""
    yield "| | bytes | " + "multicast, GiB/s | against | GiB/s | multicast is ahead by |"
    yield "|---|---:|---:|---|---:|---:|"
    for collective, modes in THROUGHPUT_MODES.items():
        ours = column(rows, collective, MULTICAST, "receive_Bps")
        for mode in modes[1:]:
            for size, rate in column(rows, collective, mode, "receive_Bps").items():
                yield (
                    f"| {collective} | {format_size(size)} | {ours[size] / 2**30:.2f} | {mode} "
                    f"| {rate / 2**30:.2f} | {ours[size] / rate:.2f} |"
                )


STUDY = make_study("figure-11", "throughput on the testbed", measure, draw, table, 13)
