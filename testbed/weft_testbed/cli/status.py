# SPDX-License-Identifier: LGPL-2.1-only
"""`weft testbed status`."""

from pathlib import Path

import click

from weft.base.errors import WeftError
from weft.cli.common import output_option
from weft.cli.files import Input, command
from weft_testbed.cli.shared import (
    check_place,
    p4info_option,
    print_rows,
    switch,
    switch_option,
    tls_option,
)
from weft_testbed.plan import file as plan_file
from weft_testbed.running import namespaces as netns
from weft_testbed.running import registry as running
from weft_testbed.running import status as api
from weft_testbed.tables import entry_numbers

_STATUS = """
List the running namespace testbeds of this machine and their owners, or the state of a switch.

Each switch is read and compared with the recorded plan, or with PLAN, experiment by experiment; the
numbers of slices may differ. Exit status: 1 if a switch differs from its plan.

\b
Examples:
  weft testbed status
  weft testbed status --name testbed --plan now.json
  weft testbed status torus.json --p4runtime 10.1.1.1:9559 --p4info testbed.p4info.txt
"""


@command(help=_STATUS)
@click.argument("plan", type=Input(), metavar="[PLAN]", required=False)
@click.option("--name", metavar="NAME", help="Namespace testbed to show.  [default: all]")
@output_option("--plan", "plan_output", help="Write the running plan as JSON; requires --name.")
@switch_option
@p4info_option
@tls_option
def status(
    plan: Path | None,
    name: str | None,
    plan_output: Path | None,
    p4runtime: str | None,
    p4info: Path | None,
    tls: Path | None,
) -> int:
    """Read, compare, report."""
    of_namespaces = {"--name": name, "--plan": plan_output}
    check_place(p4runtime, {"--p4info": p4info, "--tls": tls}, of_namespaces)
    if p4runtime is not None:
        return _of_switch(plan, p4runtime, p4info, tls)
    if name is None and (plan is not None or plan_output is not None):
        raise WeftError(
            f"{'PLAN' if plan else '--plan'}: applies to one testbed; name it with --name"
        )
    if name is not None:
        netns.check_name(name)
        if plan_output is not None:
            plan_file.write(running.plan_of(name), plan_output)
    found = api.of_all() if name is None else [api.of_one(name)]
    if not found:
        click.echo("no testbed is up")
        return 0
    names = ("name", "user", "since", "address", "hosts", "experiments", "switch")
    print_rows(
        names,
        [
            (
                one.name,
                one.user,
                one.since,
                one.listen or "-",
                str(one.hosts),
                ", ".join(one.experiments) or "-",
                one.state,
            )
            for one in found
        ],
        0,
    )
    if plan is not None and name is not None:
        said = running.difference(plan_file.read(plan), name)
        click.echo(f"{plan}: {said or 'is what is up'}")
        return 1 if said else 0
    return 1 if any(one.state != api.AS_RECORDED for one in found) else 0


def _of_switch(plan: Path | None, address: str, p4info: Path | None, tls: Path | None) -> int:
    with switch(address, p4info, None, configured=True, primary=False, tls=tls) as controller:
        click.echo(f"{address}: {api.of_switch(controller)}")
        if plan is None:
            return 0
        compared = entry_numbers.compare(plan_file.read(plan), controller.read())
    click.echo(f"{plan}: {compared.said() or 'is what the switch has'}")
    return 0 if compared.equal else 1
