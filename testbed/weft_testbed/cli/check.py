# SPDX-License-Identifier: LGPL-2.1-only
"""`weft testbed check`."""

from pathlib import Path

import click

from weft.base.units import plural
from weft.cli.files import command
from weft_testbed.cli.shared import name_option, plan_argument
from weft_testbed.plan import file as plan_file
from weft_testbed.running import probe


@command()
@plan_argument
@name_option
def check(plan: Path, name: str) -> int:
    """Check by probing that exactly the planned pairs reach each other, over the planned switches.

    Frames are sent between all pairs of NIC ports of all experiments, and all interfaces are
    captured. Exit status: 1 if a frame is missing or arrives where it must not.
    """
    found = probe.check(plan_file.read(plan), name)
    for problem in found.problems[:20]:
        click.echo(problem)
    click.echo(
        f"{plural(found.pairs, 'pair')} reached each other over the wanted switches,"
        f" {plural(found.stopped, 'frame')} were dropped at the first switch,"
        f" {plural(found.broadcasts, 'broadcast')} stayed within their experiments,"
        f" {plural(len(found.problems), 'frame')} went astray"
    )
    return 1 if found.problems else 0
