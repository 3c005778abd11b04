# SPDX-License-Identifier: LGPL-2.1-only
"""`weft testbed down`."""

import click

from weft.base.units import plural
from weft.cli.files import command
from weft.cli.testbed.shared import name_option
from weft.testbed import netns


@command()
@name_option
def down(name: str) -> None:
    """Remove a testbed and the processes in it, or what a crash has left of one."""
    count = netns.down(name)
    click.echo(f"{plural(count, 'namespace')} removed" if count else f"'{name}' is not up")
