# SPDX-License-Identifier: LGPL-2.1-only
"""The paper's figure 12: bytes over the testbed's switch ports."""

from collections.abc import Iterator

from matplotlib.figure import Figure

from studies.multicast import MANY, MULTICAST, TESTBED, TESTBED_HOSTS, column, make_study, run
from studies.multicast.figure_11 import THROUGHPUT_MODES
from studies.study import Table
from weft.base.plots import COLOURS
from weft.study.bench.collectives import COLLECTIVES

TRAFFIC_BYTES, TRAFFIC_ITERATIONS = 65536, 10


def measure() -> Table:
    """Run ten iterations of 64 KiB."""
    return [
        row
        for collective, modes in THROUGHPUT_MODES.items()
        for row in run(
            collective,
            TESTBED,
            TESTBED_HOSTS,
            (TRAFFIC_BYTES,),
            modes,
            iterations=TRAFFIC_ITERATIONS,
            **MANY,
        )
    ]


def draw(rows: Table, figure: Figure) -> None:
    """Draw a bar for each mode."""
    for axes, (collective, modes) in zip(
        figure.subplots(1, 2), THROUGHPUT_MODES.items(), strict=True
    ):
        bytes_of = {
            mode: column(rows, collective, mode, "port_bytes")[TRAFFIC_BYTES] for mode in modes
        }
        bars = axes.bar(
            list(bytes_of),
            [moved / 1e9 for moved in bytes_of.values()],
            color=COLOURS[: len(modes)],
        )
        labels = [f"{moved / bytes_of[MULTICAST]:.2f}x" for moved in bytes_of.values()]
        axes.bar_label(bars, labels)
        axes.set_ylabel("received and sent by all switch ports, GB")
        axes.tick_params(axis="x", rotation=20)
        axes.margins(y=0.1)
        axes.set_title(f"{COLLECTIVES[collective].title}: 10 x 64 KiB, {TESTBED_HOSTS} hosts")


def table(rows: Table) -> Iterator[str]:
    """Yield the bytes."""
    yield "| | mode | all switch ports, MB | of the multicast's |"
    yield "|---|---|---:|---:|"
    for collective, modes in THROUGHPUT_MODES.items():
        ours = column(rows, collective, MULTICAST, "port_bytes")[TRAFFIC_BYTES]
        for mode in modes:
            moved = column(rows, collective, mode, "port_bytes")[TRAFFIC_BYTES]
            yield f"| {collective} | {mode} | {moved / 1e6:,.1f} | {moved / ours:.2f} |"


STUDY = make_study("figure-12", "bytes over switch ports", measure, draw, table, 13)
