# SPDX-License-Identifier: LGPL-2.1-only
"""`weft testbed up`."""

from pathlib import Path

import click

from weft.base.errors import WeftError
from weft.base.units import plural
from weft.cli.files import command
from weft_testbed.cli.shared import (
    check_place,
    config_option,
    name_option,
    outside,
    p4info_option,
    plan_argument,
    print_rows,
    switch,
    switch_option,
    tls_option,
)
from weft_testbed.plan import file as plan_file
from weft_testbed.plan.layout import Layout
from weft_testbed.plan.plan import Plan
from weft_testbed.running import namespaces as api
from weft_testbed.tables import tables

_UP = """
Build a plan on this machine, or load it into a P4Runtime switch.

With --netns, devices are network namespaces, cables are veth pairs and layer 2 switches are
bridges. The chassis is a namespace with a P4Runtime server that turns the entries into bridges and
redirects. This needs root and iproute2; a failed build is rolled back. The namespace of a host is
weft-NAME.SERVER.

With --p4runtime, load the program into a switch and write the entries. This has been tested with
weft's own server only, never with a real switch.

\b
Examples:
  weft testbed up --netns torus.json
  ip netns exec weft-testbed.node-1 ping 10.0.0.2
  weft testbed down
  weft testbed up --p4runtime 10.1.1.1:9559 --p4info testbed.p4info.txt \\
      --config testbed.json torus.json
"""


@command(help=_UP)
@plan_argument
@click.option("--netns", is_flag=True, help="Build the testbed from network namespaces.")
@name_option
@click.option(
    "--listen",
    metavar="HOST:PORT",
    help="Further address for the namespaces' P4Runtime server, which runs as root.",
)
@click.option(
    "--insecure",
    is_flag=True,
    help="Accept clients from other machines at --listen without a certificate.",
)
@switch_option
@p4info_option
@config_option
@tls_option
@click.option(
    "--replace",
    is_flag=True,
    help="Load the program even if the switch runs another one or has entries; these are lost.",
)
def up(
    plan: Path,
    netns: bool,
    name: str,
    listen: str | None,
    insecure: bool,
    p4runtime: str | None,
    p4info: Path | None,
    config: Path | None,
    tls: Path | None,
    replace: bool,
) -> None:
    """Read, build, print the addresses."""
    if netns == (p4runtime is not None):
        raise WeftError("up: give one of --netns and --p4runtime HOST:PORT")
    check_place(
        p4runtime,
        {"--p4info": p4info, "--config": config, "--replace": replace},
        {"--listen": listen, "--insecure": insecure},
    )
    read = plan_file.read(plan)
    if p4runtime is None:
        if warning := api.up(read, name, listen, tls=tls, insecure=insecure):
            click.echo(f"weft: warning: {warning}", err=True)
        _print_hosts(read, name)
        return
    entries = tables.entries(read)
    with switch(p4runtime, p4info, config, configured=False, tls=tls) as controller:
        updates = controller.fill(entries, replace=replace)
    click.echo(f"{plural(updates, 'update')} written to {p4runtime}")
    outside(entries)


def _print_hosts(read: Plan, name: str) -> None:
    layout = Layout(read)
    rows = [
        (one.name, host, api.namespace(name, server), layout.address(one, host))
        for one in read.experiments
        for host, server in one.hosts.items()
    ]
    print_rows(("experiment", "host", "namespace", "address"), rows, 0)
