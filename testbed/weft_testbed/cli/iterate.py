# SPDX-License-Identifier: LGPL-2.1-only
"""`weft testbed iterate`."""

import tempfile
from collections.abc import Callable
from pathlib import Path

import click

from weft.cli.files import OutputDirectory, fabric_name
from weft.cli.files import command as command_of
from weft_testbed.cli.shared import chassis_option, inventory_name, name_option
from weft_testbed.hardware import inventory as inventories
from weft_testbed.plan import wanted_topology
from weft_testbed.running import iterate as api
from weft_testbed.running import namespaces

_ITERATE = """
Run a command on each of several topologies of one testbed.

All plans are computed first. The environment of the command has WEFT_TESTBED_NAME (the topology)
and the files WEFT_TESTBED_PLAN, _TABLES, _CHANGE (a script that changes the previous topology into
this one) and _FABRIC (for `weft run`). With --netns the testbed is running meanwhile;
WEFT_TESTBED_NETNS followed by the name of a device is its namespace. The first failing command ends
the iteration with its exit status.

\b
Example:
  weft testbed iterate topocloud-64 --fabric ring-6 --fabric torus-3x3 -- \\
      sh -c 'weft run --fabric $WEFT_TESTBED_FABRIC -n 9 ./program'
"""


@command_of(
    help=_ITERATE,
    context_settings={"ignore_unknown_options": True},
)
@click.argument("inventory", type=inventory_name, metavar="INVENTORY")
@click.option(
    "--fabric",
    "fabrics",
    type=fabric_name,
    metavar="FILE|NAME",
    multiple=True,
    required=True,
    help="Topology to run on; repeatable, in the order given.",
)
@chassis_option
@click.option("--netns", is_flag=True, help="Build each topology while the command runs.")
@name_option
@click.option(
    "-o",
    "directory",
    type=OutputDirectory(),
    metavar="DIRECTORY",
    help="Folder for plans, tables, changes and fabrics.  [default: a temporary one]",
)
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- COMMAND...")
def iterate(
    inventory: str,
    fabrics: tuple[str, ...],
    chassis: str | None,
    netns: bool,
    name: str,
    directory: Path | None,
    command: tuple[str, ...],
) -> None:
    """Plan all, run each."""
    namespaces.check_name(name)
    there = inventories.read_all(inventory, chassis)
    topologies = [wanted_topology.read(one) for one in fabrics]

    def work(place: Path) -> None:
        steps = api.prepare(there, topologies, place)
        api.run(steps, command, up_as=name if netns else None, on_step=_announce)

    _in_directory(directory, work)


def _announce(step: api.Step) -> None:
    click.echo(f"{step.name}:", err=True)


def _in_directory(directory: Path | None, work: Callable[[Path], None]) -> None:
    if directory is not None:
        directory.mkdir(parents=True, exist_ok=True)
        work(directory)
        return
    with tempfile.TemporaryDirectory(prefix="weft-") as temporary:
        work(Path(temporary))
