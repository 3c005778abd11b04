# SPDX-License-Identifier: LGPL-2.1-only
"""`weft campaign export`."""

import csv
from pathlib import Path

import click

from weft.base.errors import WeftError
from weft.base.output import whole_file
from weft.base.units import plural
from weft.campaign import campaign as api
from weft.cli.campaign.shared import file_argument, store_option
from weft.cli.common import output_option
from weft.cli.files import command


@command()
@file_argument
@store_option
@output_option("-o", "output", required=True, help="Table to write (CSV).")
def export(file: Path, store: Path | None, output: Path) -> None:
    """Write a table with a line for each run that has ended.

    Its keys come first, then its state, what it took in the simulation (seconds), how many calls
    of collectives it made and how many of them were offloaded, and what it took to simulate.
    """
    prepared = api.prepare(file, store)
    rows = api.table(prepared)
    if not rows:
        raise WeftError(f"{file}: nothing of it has been run yet; weft campaign run {file}")
    names = list(dict.fromkeys(name for row in rows for name in row))
    with whole_file("-o", output) as target:
        writer = csv.DictWriter(target, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    click.echo(f"{output}: {plural(len(rows), 'run')}")
