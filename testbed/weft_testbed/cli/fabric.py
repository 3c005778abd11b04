# SPDX-License-Identifier: LGPL-2.1-only
"""`weft testbed fabric`."""

from pathlib import Path

import click

from weft.cli.common import output_option
from weft.cli.files import command
from weft_testbed.cli.shared import experiment_option, plan_argument
from weft_testbed.plan import fabric
from weft_testbed.plan import file as plan_file


@command("fabric")
@plan_argument
@output_option("-o", "output", required=True, help="Fabric file to write (TOML).")
@experiment_option
def planned_fabric(plan: Path, output: Path, experiment: str | None) -> None:
    """Write a planned experiment as a fabric file, with the plan's latencies and bandwidths.

    `weft run --fabric` accepts it like the original fabric. weft reports the features of the
    original switches that a slice of the chassis does not have.
    """
    read = plan_file.read(plan)
    chosen = read.experiment(experiment)
    fabric.write(read, chosen, output)
    if lost := fabric.losses(chosen):
        message = f"{output}: slices of the chassis have nothing of {chosen.name}'s"
        click.echo(f"weft: {message} {', '.join(lost)}", err=True)
