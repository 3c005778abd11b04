# SPDX-License-Identifier: LGPL-2.1-only
"""`weft campaign run`."""

from pathlib import Path

import click

from weft.campaign import campaign as api
from weft.campaign.cluster import file as cluster_file
from weft.campaign.execution import local
from weft.cli.campaign.progress import progress
from weft.cli.campaign.shared import (
    cost,
    exit_status,
    file_argument,
    say_damaged,
    say_impossible,
    store_option,
    summary,
)
from weft.cli.files import Input, command


@command()
@file_argument
@store_option
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(1, 1024),
    metavar="N",
    help="Concurrent runs.  [default: one per core, as far as memory allows]",
)
@click.option(
    "--cluster",
    type=Input(),
    metavar="FILE",
    help="Submit the runs as jobs to the cluster that this file describes; `local` uses the same"
    " engine on this machine.  [default: processes on this machine]",
)
@click.option(
    "--strict",
    is_flag=True,
    help="Refuse to run if values are outside what was measured with the fabrics' presets: rate of"
    " the cables, hosts, ranks per host, changed values.",
)
@click.option("--again", is_flag=True, help="Repeat runs that failed or were refused.")
def run(
    file: Path,
    store: Path | None,
    jobs: int | None,
    cluster: Path | None,
    strict: bool,
    again: bool,
) -> int:
    """Execute the missing runs and store their results.

    No interruption (Ctrl-C, kill -9, a full disk) loses or truncates a result; the same command
    resumes. Several processes can share a campaign, also on machines that share the folder.

    Exit status: 0 if all runs are done; 1 if all have ended, but some failed, were refused or
    cannot be run; 3 if runs remain, because other processes execute them or this one was killed.
    """
    where = cluster_file.chosen(cluster, jobs)
    prepared = api.prepare(file, store)
    say_impossible(prepared.found.impossible)
    if strict:
        api.refuse_unmeasured(prepared)
    if again:
        api.forget_failures(prepared)
    found = prepared.index()
    say_damaged(found)
    total = len(prepared.every)
    to_do = prepared.missing(found)
    missing = len(to_do)
    for line in cost(prepared) if missing else ():
        click.echo(f"weft: its runs include {line}", err=True)
    at_once = where.at_once if where else jobs or local.cores()
    with progress(total, missing, at_once, to_do) as shown:
        make = api.on_cluster(where, shown.note)
        api.carry_out(prepared, shown.take, at_once, shown.running, make)
    states = api.states(prepared)
    click.echo(summary(prepared, states))
    return exit_status(prepared, states)
