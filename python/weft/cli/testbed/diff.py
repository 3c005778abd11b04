# SPDX-License-Identifier: LGPL-2.1-only
"""`weft testbed diff`."""

from pathlib import Path

import click

from weft.cli.common import output_option
from weft.cli.files import Input, command
from weft.cli.testbed.shared import (
    checked,
    lines,
    name_option,
    outside,
    p4info_option,
    switch,
    switch_option,
    write,
)
from weft.testbed import diff, netns, tables
from weft.testbed import plan_file as plans
from weft.testbed.tables import Entry

_DIFF = """
Say how to get from one plan to another: the fewest entries to remove and to add, in an order in
which no frame crosses between experiments.

Slices and virtual ports of NEW get the numbers of OLD's with which most stays as it is; --plan
writes NEW with these, which is what the switch has then.

With --apply a testbed of namespaces that has OLD gets NEW; with --p4runtime a switch does.

\b
Examples:
  weft testbed diff ring.json torus.json --script change.txt --plan now.json
  weft testbed diff ring.json torus.json --apply --plan now.json
"""


@command("diff", help=_DIFF)
@click.argument("old", type=Input(), metavar="OLD")
@click.argument("new", type=Input(), metavar="NEW")
@output_option("--json", "json_file", help="Write the steps (JSON).")
@output_option("--script", "script_file", help="Write the steps for simple_switch_CLI.")
@output_option("--plan", "new_plan", help="Write NEW with the numbers that it has then.")
@click.option("--apply", is_flag=True, help="Change the testbed of namespaces that is up.")
@name_option
@switch_option
@p4info_option
def changes(
    old: Path,
    new: Path,
    json_file: Path | None,
    script_file: Path | None,
    new_plan: Path | None,
    apply: bool,
    name: str,
    p4runtime: str | None,
    p4info: Path | None,
) -> None:
    """Read, match, write, apply."""
    before = plans.read(old)
    change = diff.change(before, plans.read(new))
    if json_file is not None:
        write("--json", json_file, [tables.changes_as_json(change.steps())])
    if script_file is not None:
        write("--script", script_file, lines(checked(change.script(), "the script")))
    if apply and p4runtime is None:
        netns.apply(before, change, name)
    if p4runtime is not None:
        _tell(change, tables.entries(before), p4runtime, p4info)
    if new_plan is not None:
        plans.write(change.plan, new_plan)
    removed, added = len(change.removed), len(change.added)
    more = "" if change.least else " (fewer may be possible: that is not proven)"
    click.echo(f"remove {removed}, add {added}, keep {change.kept}{more}")


def _tell(change: diff.Change, before: list[Entry], address: str, p4info: Path | None) -> None:
    """Change a switch."""
    with switch(address, p4info, None, configured=True) as controller:
        controller.change(before, tables.entries(change.plan), diff.DRAIN_MS / 1000)
    outside((*change.removed, *change.added))
