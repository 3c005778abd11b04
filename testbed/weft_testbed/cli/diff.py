# SPDX-License-Identifier: LGPL-2.1-only
"""`weft testbed diff`."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from weft.base.errors import WeftError
from weft.cli.common import output_option
from weft.cli.files import Input, command
from weft_testbed.cli.shared import (
    check_place,
    name_option,
    outside,
    p4info_option,
    switch,
    switch_option,
    tls_option,
    write,
)
from weft_testbed.p4 import files as table_files
from weft_testbed.plan import file as plans
from weft_testbed.plan.plan import Plan
from weft_testbed.running import diff
from weft_testbed.running import namespaces as netns
from weft_testbed.running import registry as running
from weft_testbed.tables import tables

if TYPE_CHECKING:
    from weft_testbed.p4.client import Client

_DIFF = """
Compute the change from one plan to another: the fewest entries to remove and add, in an order in
which no frame crosses between experiments.

Slices and virtual ports of NEW are numbered so that as many entries of OLD as possible stay; --plan
writes NEW with these numbers, as the switch has it after the change.

--apply changes a namespace testbed from OLD to NEW; --p4runtime changes a switch. The testbed is
read first: weft refuses if it does not have OLD, and rolls back if a step fails. Without OLD the
change starts from the running state.

\b
Examples:
  weft testbed diff ring.json torus.json --script change.txt --plan now.json
  weft testbed diff ring.json torus.json --apply --plan now.json
  weft testbed diff torus.json --apply
"""


@command("diff", help=_DIFF)
@click.argument("given", type=Input(), metavar="[OLD] NEW", nargs=-1, required=True)
@output_option("--json", "json_file", help="Write the steps as JSON.")
@output_option("--script", "script_file", help="Write the steps for simple_switch_CLI.")
@output_option("--plan", "new_plan", help="Write NEW with its numbers after the change.")
@click.option("--apply", is_flag=True, help="Change the running namespace testbed.")
@name_option
@switch_option
@p4info_option
@tls_option
def changes(
    given: tuple[Path, ...],
    json_file: Path | None,
    script_file: Path | None,
    new_plan: Path | None,
    apply: bool,
    name: str,
    p4runtime: str | None,
    p4info: Path | None,
    tls: Path | None,
) -> None:
    """Read, match, write, apply."""
    if len(given) > 2:
        raise WeftError(f"diff: found {len(given)} plans; give OLD and NEW, or NEW alone")
    check_place(p4runtime, {"--p4info": p4info, "--tls": tls}, {"--apply": apply})
    new = plans.read(given[-1])
    if p4runtime is None:
        before = _old(given, name, apply=apply)
        change = diff.change(before, new)
        _write(change, json_file, script_file)
        if apply:
            netns.apply(before, change, name)
    else:
        with switch(p4runtime, p4info, None, configured=True, tls=tls) as controller:
            change = _on_switch(given, new, controller)
            _write(change, json_file, script_file)
            controller.change(change.before, tables.entries(change.plan), diff.DRAIN_MS / 1000)
        outside((*change.removed, *change.added))
    if new_plan is not None:
        plans.write(change.plan, new_plan)
    removed, added = len(change.removed), len(change.added)
    more = "" if change.least else " (not proven minimal)"
    click.echo(f"remove {removed}, add {added}, keep {change.kept}{more}")


def _old(given: tuple[Path, ...], name: str, *, apply: bool) -> Plan:
    """Return the plan to change from; by default the running one."""
    if len(given) == 2:
        return plans.read(given[0])
    if not apply:
        raise WeftError(
            "OLD: is missing, and without --apply or --p4runtime there is no running state to"
            " start from; give two plans"
        )
    return running.plan_of(name)


def _on_switch(given: tuple[Path, ...], new: Plan, controller: "Client") -> diff.Change:
    """Return the change from a switch's current state, which must match OLD if given."""
    if len(given) == 1:
        return diff.change_from(controller.read(), new)
    old = plans.read(given[0])
    controller.prove(old, "OLD")
    return diff.change(old, new)


def _write(change: diff.Change, json_file: Path | None, script_file: Path | None) -> None:
    if json_file is not None:
        write("--json", json_file, [tables.changes_as_json(change.steps())])
    if script_file is not None:
        write("--script", script_file, [table_files.script_of(change.script(), "the script")])
