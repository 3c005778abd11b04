# SPDX-License-Identifier: LGPL-2.1-only
"""`weft campaign status`."""

from collections import Counter
from pathlib import Path

import click

from weft.base.units import plural
from weft.campaign import campaign as api
from weft.campaign.store.index import Index
from weft.cli.campaign.shared import (
    exit_status,
    file_argument,
    label,
    looked_at_option,
    say_damaged,
    say_impossible,
    summary,
)
from weft.cli.files import command


@command()
@file_argument
@looked_at_option
def status(file: Path, store: Path | None) -> int:
    """Show how many runs are done, failed, running and left.

    Exit status: 0 if all runs are done; 1 if all have ended, but some failed, were refused or
    cannot be run; 3 if runs remain.
    """
    prepared = api.prepare(file, store, again=False, look=True)
    found = prepared.index()
    states = api.states(prepared, found)
    click.echo(summary(prepared, states))
    if running := prepared.store.at_work():
        click.echo(f"{plural(running, 'run')} in progress")
    if others := api.others(prepared, found):
        click.echo(
            f"{plural(others, 'result')} of other versions of this campaign are in the store"
        )
    say_damaged(found)
    _say_failures(prepared, found)
    say_impossible(prepared.found.impossible)
    return exit_status(prepared, states)


def _say_failures(prepared: api.Prepared, found: Index) -> None:
    rows = found.rows.filter(found.rows["state"] != "done")
    messages = dict(zip(rows["run"], rows["message"], strict=True))
    failed = [(run, messages[run.digest]) for run in prepared.counted if run.digest in messages]
    first = {message: run for run, message in reversed(failed)}
    for message, number in Counter(message for _, message in failed).most_common(5):
        more = "" if number == 1 else f" (and {number - 1:,} more)"
        click.echo(f"weft: {label(first[message].point)}{more}: {message}", err=True)
