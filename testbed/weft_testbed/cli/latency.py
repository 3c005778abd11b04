# SPDX-License-Identifier: LGPL-2.1-only
"""`weft testbed latency`."""

from pathlib import Path

from weft.cli.files import command
from weft_testbed.cli.shared import experiment_option, frame_option, plan_argument, print_rows
from weft_testbed.plan import file as plan_file
from weft_testbed.plan import latency as api


@command()
@plan_argument
@experiment_option
@frame_option
def latency(plan: Path, experiment: str | None, frame_bytes: int) -> None:
    """Predict round-trip times between NICs on idle cables, from TopoCloud's measured medians."""
    read = plan_file.read(plan)
    rows = [
        (
            f"{one.round_trip_ns:.0f}",
            f"{one.least_ns:.0f}",
            f"{one.most_ns:.0f}",
            str(one.switches),
            str(one.passes),
            str(one.wires),
            str(one.recirculations),
            str(one.layer2),
            one.source,
            one.target,
        )
        for one in api.predict(read, read.experiment(experiment), frame_bytes)
    ]
    counts = ("switches", "passes", "wires", "recirculations", "layer 2")
    print_rows(("RTT(ns)", "least", "most", *counts, "from", "to"), rows, 8)
