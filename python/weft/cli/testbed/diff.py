# SPDX-License-Identifier: LGPL-2.1-only
"""`weft testbed diff`."""

from pathlib import Path

import click

from weft.cli.common import output_option
from weft.cli.files import Input, command
from weft.cli.testbed.shared import lines, write
from weft.testbed import diff, tables
from weft.testbed import plan_file as plans

_DIFF = """
Say how to get from one plan to another: the fewest entries to remove and to add, in an order in
which no frame crosses between experiments.

Slices and virtual ports of NEW get the numbers of OLD's with which most stays as it is; --plan
writes NEW with these, which is what the switch has then.

\b
Example:
  weft testbed diff ring.json torus.json --script change.txt --plan now.json
"""


@command("diff", help=_DIFF)
@click.argument("old", type=Input(), metavar="OLD")
@click.argument("new", type=Input(), metavar="NEW")
@output_option("--json", "json_file", help="Write the steps (JSON).")
@output_option("--script", "script_file", help="Write the steps for simple_switch_CLI.")
@output_option("--plan", "new_plan", help="Write NEW with the numbers that it has then.")
def changes(
    old: Path, new: Path, json_file: Path | None, script_file: Path | None, new_plan: Path | None
) -> None:
    """Read, match, write."""
    change = diff.change(plans.read(old), plans.read(new))
    if json_file is not None:
        write("--json", json_file, [tables.changes_as_json(change.steps())])
    if script_file is not None:
        write("--script", script_file, lines(change.script()))
    if new_plan is not None:
        plans.write(change.plan, new_plan)
    removed, added = len(change.removed), len(change.added)
    more = "" if change.least else " (fewer may be possible: that is not proven)"
    click.echo(f"remove {removed}, add {added}, keep {change.kept}{more}")
