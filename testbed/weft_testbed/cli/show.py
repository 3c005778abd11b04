# SPDX-License-Identifier: LGPL-2.1-only
"""`weft testbed show`."""

from pathlib import Path

import click

from weft.base.plots import check_format
from weft.cli.common import output_option
from weft.cli.files import command
from weft_testbed.cli.shared import plan_argument, print_rows, summary
from weft_testbed.hardware import cables
from weft_testbed.plan import file as plan_file
from weft_testbed.plan import picture as pictures
from weft_testbed.plan import ports


@command()
@plan_argument
@output_option("--picture", help="Picture to write: .png, .pdf or .svg.")
def show(plan: Path, picture: Path | None) -> None:
    """Show the use of each port of the chassis in a plan, as a table and as a picture."""
    if picture is not None:
        check_format("--picture", picture)
    read = plan_file.read(plan)
    rows = [
        (
            str(use.port.number),
            str(use.port.pipe),
            cables.gbps(use.port.speed),
            str(use.peer or (use.port.kind if use.port.kind != "front" else "")),
            use.role,
            use.experiment,
            use.cable,
        )
        for use in ports.uses(read)
    ]
    print_rows(("port", "pipe", "speed", "cabled to", "role", "experiment", "cable"), rows, 3)
    click.echo(summary(read))
    if picture is not None:
        pictures.draw(read, picture, "--picture")
