# SPDX-License-Identifier: LGPL-2.1-only
"""`weft testbed plan`."""

from pathlib import Path

import click

from weft.cli.common import output_option
from weft.cli.files import command, fabric_name, inventory_name
from weft.cli.testbed.shared import summary
from weft.testbed import inventory as inventories
from weft.testbed import plan as plans
from weft.testbed import wanted

_PLAN = """
Map wanted topologies on a testbed: each switch becomes a slice of the chassis or a layer 2 switch,
each cable a fixed one, a virtual wire, or a recirculated one, hosts are servers.

INVENTORY is a TOML file or a shipped name (`weft testbed list`), FABRIC any fabric of weft's. The
plan has the fewest recirculated cables; where there is none, weft says what is short and by how
much. Several fabrics are several experiments that share the testbed.

\b
Examples:
  weft testbed plan topocloud-64 torus-3x3 -o torus.json
  weft testbed plan my-testbed.toml my-fabric.toml star-8 -o both.json
"""


@command("plan", help=_PLAN)
@click.argument("inventory", type=inventory_name, metavar="INVENTORY")
@click.argument("fabrics", type=fabric_name, metavar="FABRIC...", nargs=-1, required=True)
@output_option("-o", "output", required=True, help="Plan to write (JSON).")
def make_plan(inventory: str, fabrics: tuple[str, ...], output: Path) -> None:
    """Read, solve, write."""
    there = inventories.read(inventory)
    made = plans.make(there, [wanted.read(fabric) for fabric in fabrics])
    plans.write(made, output)
    click.echo(summary(made))
