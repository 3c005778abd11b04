# SPDX-License-Identifier: LGPL-2.1-only
"""Options and output that the commands of `weft testbed` share."""

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from weft.base.errors import WeftError
from weft.base.output import whole_file
from weft.base.tables import console, new_table, print_table
from weft.base.units import plural
from weft.cli.files import Input, NamedFile
from weft_testbed.hardware.inventory import FOLDER
from weft_testbed.hardware.medians import PROBE_FRAME_BYTES
from weft_testbed.plan.plan import Plan
from weft_testbed.tables.tables import Entry

if TYPE_CHECKING:
    from weft_testbed.p4.client import Client

inventory_name = NamedFile(FOLDER)
plan_argument = click.argument("plan", type=Input(), metavar="PLAN")
frame_option = click.option(
    "--frame",
    "frame_bytes",
    type=int,
    default=PROBE_FRAME_BYTES,
    show_default=True,
    metavar="BYTES",
    help="Frame size, in both directions.",
)
experiment_option = click.option(
    "--experiment", metavar="NAME", help="Experiment to use, if the plan has several."
)
chassis_option = click.option(
    "--chassis",
    metavar="NAME",
    help="Chassis of INVENTORY to use.  [default: the first that all topologies fit on]",
)
name_option = click.option(
    "--name",
    default="testbed",
    show_default=True,
    help="Name of the testbed; its namespaces are weft-NAME.DEVICE.",
)
switch_option = click.option(
    "--p4runtime",
    metavar="HOST:PORT",
    help="Use this P4Runtime switch instead of namespaces.",
)
p4info_option = click.option(
    "--p4info", type=Input(), metavar="FILE", help="P4Info of the compiled program, as text."
)
config_option = click.option(
    "--config",
    type=Input(),
    metavar="FILE",
    help="Compiled program.  [default: the source, for weft's own server]",
)


tls_option = click.option(
    "--tls",
    type=Input(file_okay=False),
    metavar="DIRECTORY",
    help="Authenticate both sides with ca.pem, cert.pem and key.pem.  [default: no TLS]",
)


def check_place(
    p4runtime: str | None, of_switch: Mapping[str, object], of_namespaces: Mapping[str, object]
) -> None:
    """Refuse options that belong to the other target: switch or namespaces."""
    for name, given in of_switch.items() if p4runtime is None else ():
        if given:
            raise WeftError(f"{name}: applies to switches; requires --p4runtime HOST:PORT")
    for name, given in of_namespaces.items() if p4runtime is not None else ():
        if given:
            raise WeftError(
                f"{name}: applies to namespace testbeds, but --p4runtime names a switch; leave out"
                " one of them"
            )


def switch(
    address: str,
    p4info: Path | None,
    config: Path | None,
    *,
    configured: bool,
    primary: bool = True,
    tls: Path | None = None,
) -> "Client":
    """Return a switch's controller; the program is only required if it is loaded now."""
    from weft_testbed.p4.client import Client, pipeline

    if config is not None and p4info is None:
        raise WeftError("--config: requires --p4info, the file that the compiler writes beside it")
    if p4info is not None and config is None and not configured:
        raise WeftError("--p4info: requires --config, the compiled program")
    return Client(address, pipeline(p4info, config), primary=primary, tls=tls)


def outside(entries: Iterable[Entry]) -> None:
    """Report settings that a switch does not receive: those of layer 2 switches."""
    if count := sum(entry.external for entry in entries):
        click.echo(
            f"weft: {plural(count, 'setting')} of layer 2 switches must be made by hand (`weft"
            " testbed tables` lists them)",
            err=True,
        )


def summary(plan: Plan) -> str:
    """Return a line per experiment with the resources it uses."""
    on = f" on {plan.inventory.chassis.name}" if plan.inventory.several else ""
    lines = []
    for one in plan.experiments:
        kinds = Counter(way.kind for way in one.cables.values())
        slices = sum(isinstance(place, int) for place in one.switches.values())
        switches = [plural(slices, "slice")] if slices else []
        if others := len(one.switches) - slices:
            switches.append(plural(others, "layer 2 switch"))
        switches = switches or ["no switch"]
        lines.append(
            f"{one.name}{on}: {plural(len(one.hosts), 'server')}, {' and '.join(switches)};"
            f" {plural(kinds['direct'], 'fixed cable')}, {plural(kinds['wire'], 'virtual wire')},"
            f" {kinds['recirculated']} recirculated"
        )
    if not plan.proven:
        lines.append("fewer recirculated cables may be possible: the solver stopped before a proof")
    return "\n".join(lines)


def print_rows(names: tuple[str, ...], rows: Iterable[tuple[str, ...]], numbers: int) -> None:
    """Print a table whose first columns are numeric."""
    table = new_table(names, left=names[numbers:])
    for row in rows:
        table.add_row(*row)
    print_table(table, console())


def write(option: str, target: Path, content: Iterable[str]) -> None:
    """Write a file atomically; `option` names it in errors."""
    with whole_file(option, target) as file:
        file.writelines(content)
