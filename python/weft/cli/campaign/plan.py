# SPDX-License-Identifier: LGPL-2.1-only
"""`weft campaign plan`."""

from pathlib import Path

import click

from weft.base.tables import console, new_table, print_table
from weft.campaign import campaign as api
from weft.campaign.file import runs
from weft.cli.campaign.shared import (
    cost,
    file_argument,
    looked_at_option,
    say_damaged,
    say_impossible,
    summary,
)
from weft.cli.files import command


@command()
@file_argument
@looked_at_option
@click.option("--list", "listed", is_flag=True, help="List all runs.")
def plan(file: Path, store: Path | None, listed: bool) -> int:
    """Show how many runs the campaign has, and how many are done; no run is started.

    Programs are built, because a result is found by the contents of its program.
    """
    prepared = api.prepare(file, store, look=True)
    found = prepared.index()
    if listed:
        _list(prepared, set(found.rows["run"]))
    click.echo(summary(prepared, api.states(prepared, found)))
    for line in cost(prepared):
        click.echo(f"including {line}")
    say_damaged(found)
    say_impossible(prepared.found.impossible)
    say_impossible(list(api.refusals(prepared, found)), "will be refused")
    return 0


def _list(prepared: api.Prepared, there: set[str]) -> None:
    keys = list(runs.columns(prepared.runs))
    table = new_table(("run", *keys, ""), left=keys)
    for run in prepared.runs:
        values = (str(run.point.get(key, "")) for key in keys)
        table.add_row(run.digest[:8], *values, "ended" if run.digest in there else "to do")
    print_table(table, console())
