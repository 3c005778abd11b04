# SPDX-License-Identifier: LGPL-2.1-only
"""`weft campaign report`."""

from pathlib import Path

import click

from weft.base.errors import WeftError
from weft.base.output import whole_file
from weft.base.units import format_size, plural
from weft.campaign import campaign as api
from weft.cli.campaign.shared import file_argument, looked_at_option, say_gains
from weft.cli.common import output_option
from weft.cli.files import command

_HELP = """
Write a page that shows where offloading pays off, and the results behind that.

The page is one self-contained HTML file, for any browser without a network, for mail and for
printing. It compares runs that differ in one key: with and without offloading, or on different
fabrics. The gain from offloading is given over the MPI library's algorithms and over the best
algorithm, on calibrated fabrics with its interval. [report] baseline in FILE, or the reader,
selects the baseline. Missing runs are listed. Only the index of the store is read: the report of
10,000 runs takes seconds.

\b
Example:
  weft campaign run slots.toml
  weft campaign report slots.toml -o report.html
"""


@command(help=_HELP)
@file_argument
@looked_at_option
@output_option("-o", "output", required=True, help="Page to write (HTML).")
def report(file: Path, store: Path | None, output: Path) -> None:
    """Read the index, render the report, write it."""
    from weft.report.data import loading
    from weft.report.page import page  # slow to import

    prepared = api.prepare(file, store, look=True)
    study = loading.of(prepared)
    if (study.rows["state"] == "missing").all():
        raise WeftError(f"{file}: no run of it has finished yet; weft campaign run {file}")
    text = page.render(study)
    with whole_file("-o", output) as target:
        target.write(text)
    click.echo(f"{output}: {plural(len(study.points), 'combination')}, {format_size(len(text))}")
    say_gains(prepared)
