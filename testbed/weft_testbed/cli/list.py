# SPDX-License-Identifier: LGPL-2.1-only
"""`weft testbed list`."""

import click

from weft.cli.files import command
from weft_testbed.hardware import inventory as inventories


@command("list", help="List the shipped inventories.")
def list_inventories() -> None:
    """Print name and description of each."""
    names = inventories.shipped()
    width = max(map(len, names), default=0)
    for name in names:
        click.echo(f"{name:{width}}  {inventories.read(name).description}")
