# SPDX-License-Identifier: LGPL-2.1-only
"""`weft testbed learning`."""

from pathlib import Path

import click

from weft.cli.files import command
from weft_testbed.cli.shared import experiment_option, frame_option, plan_argument, print_rows
from weft_testbed.plan import file as plan_file
from weft_testbed.tables import learning as api


@command()
@plan_argument
@click.argument("source", metavar="SOURCE")
@click.argument("target", metavar="TARGET")
@click.option(
    "--learning",
    "learning_ms",
    type=float,
    required=True,
    metavar="MS",
    help="Milliseconds from the first frame of a host to its entry in a switch.",
)
@click.option(
    "--gap",
    "gap_ms",
    type=float,
    default=1.0,
    show_default=True,
    metavar="MS",
    help="Milliseconds between pings.",
)
@click.option(
    "--packets", type=int, default=4, show_default=True, metavar="N", help="Number of pings."
)
@frame_option
@experiment_option
def learning(
    plan: Path,
    source: str,
    target: str,
    learning_ms: float,
    gap_ms: float,
    packets: int,
    frame_bytes: int,
    experiment: str | None,
) -> None:
    """Predict the first packets between two hosts if the switches learn addresses by flooding."""
    read = plan_file.read(plan)
    found = api.first_packets(
        read,
        read.experiment(experiment),
        (source, target),
        learning_ms=learning_ms,
        gap_ms=gap_ms,
        packets=packets,
        frame_bytes=frame_bytes,
    )
    rows = [
        (f"{one.round_trip_ns:.0f}", str(one.flooding), str(one.copies), one.packet)
        for one in found
    ]
    print_rows(("RTT(ns)", "flooding", "copies to others", "packet"), rows, 3)
