# SPDX-License-Identifier: LGPL-2.1-only
"""The paper's figure 12: bytes over the testbed's switch ports."""

from collections.abc import Iterator
from functools import partial

from matplotlib.figure import Figure

from studies.multicast import (
    MANY,
    MULTICAST,
    TESTBED,
    TESTBED_HOSTS,
    changed_fabric,
    column,
    headers,
    make_study,
    run,
    run_one,
)
from studies.multicast.figure_11 import THROUGHPUT_MODES
from studies.resume import kept_rows
from studies.study import Table
from weft.base.plots import COLOURS
from weft.study.bench.collectives import COLLECTIVES

TRAFFIC_BYTES, TRAFFIC_ITERATIONS = 65536, 10
BARE = "multicast-bare"
"""Mode of rows in which chunks have no headers."""


def measure() -> Table:
    """Run ten iterations of 64 KiB; multicasts also without headers."""
    counted = [
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
    return counted + kept_rows(
        "multicast", [(f"bare-{one}", partial(measure_bare, one)) for one in THROUGHPUT_MODES]
    )


def measure_bare(collective: str) -> Table:
    """Run the multicast with chunks without headers."""
    with changed_fabric(TESTBED, MULTICAST, {"packet_overhead": "0B"}) as fabric:
        rows = run_one(
            collective,
            fabric,
            TESTBED_HOSTS,
            TRAFFIC_BYTES,
            MULTICAST,
            iterations=TRAFFIC_ITERATIONS,
            **MANY,
        )
    return [{**row, "mode": BARE} for row in rows]


def port_bytes(rows: Table, collective: str, mode: str) -> float:
    """Return the bytes over switch ports, including the headers of all packets."""
    found, bare = (
        column(rows, collective, one, "port_bytes")[TRAFFIC_BYTES] for one in (mode, BARE)
    )
    if mode != MULTICAST:
        return headers.messages(found)
    data = (found - bare) * headers.PACKET / headers.DATAGRAM
    return headers.multicast(bare, data)


def saving(rows: Table, collective: str, mode: str) -> float:
    """Return a mode's bytes over switch ports divided by the multicast's."""
    return port_bytes(rows, collective, mode) / port_bytes(rows, collective, MULTICAST)


def draw(rows: Table, figure: Figure) -> None:
    """Draw a bar for each mode."""
    for axes, (collective, modes) in zip(
        figure.subplots(1, 2), THROUGHPUT_MODES.items(), strict=True
    ):
        bytes_of = {mode: port_bytes(rows, collective, mode) for mode in modes}
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
    yield "| | mode | all switch ports, with headers, MB | of the multicast's | payload alone |"
    yield "|---|---|---:|---:|---:|"
    for collective, modes in THROUGHPUT_MODES.items():
        bare = column(rows, collective, BARE, "port_bytes")[TRAFFIC_BYTES]
        for mode in modes:
            found = column(rows, collective, mode, "port_bytes")[TRAFFIC_BYTES]
            payload = 1 if mode == MULTICAST else found / bare
            yield (
                f"| {collective} | {mode} | {port_bytes(rows, collective, mode) / 1e6:,.1f} "
                f"| {saving(rows, collective, mode):.2f} | {payload:.2f} |"
            )


STUDY = make_study("figure-12", "bytes over switch ports", measure, draw, table, 13)
