# SPDX-License-Identifier: LGPL-2.1-only
"""`weft testbed up`."""

from pathlib import Path

import click

from weft.cli.files import command
from weft.cli.testbed.shared import name_option, plan_argument, print_rows
from weft.testbed import netns as api
from weft.testbed import plan_file
from weft.testbed.layout import Layout

_UP = """
Build a plan on this machine: a network namespace for each device, veth pairs as cables, bridges as
slices and layer 2 switches, redirects as virtual wires.

It needs root and iproute2. What fails is undone. A host's namespace is weft-NAME.SERVER:

\b
  weft testbed up --netns torus.json
  ip netns exec weft-testbed.node-1 ping 10.0.0.2
  weft testbed down
"""


@command(help=_UP)
@plan_argument
@click.option("--netns", is_flag=True, required=True, help="Of network namespaces.")
@name_option
def up(plan: Path, netns: bool, name: str) -> None:
    """Read, build, tell the addresses."""
    read = plan_file.read(plan)
    api.up(read, name)
    layout = Layout(read)
    rows = [
        (one.name, host, api.namespace(name, server), layout.address(one, host))
        for one in read.experiments
        for host, server in one.hosts.items()
    ]
    print_rows(("experiment", "host", "namespace", "address"), rows, 0)
