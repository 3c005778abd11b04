# SPDX-License-Identifier: LGPL-2.1-only
"""`weft report`."""

from pathlib import Path

import click

from weft.base.output import whole_file
from weft.base.units import format_size, plural
from weft.cli.common import output_option
from weft.cli.files import Input, command

_HELP = """
Write a report page about single runs: their differences, and where offloading pays off.

Records are files written by weft run --json or weft train --json, with or without --compare. The
page has the form of weft campaign report: one self-contained HTML file. It shows the keys in which
the runs differ, and compares runs that differ only in offload, or in what NCCL may use.

\b
Example:
  weft run --compare --json small.json --fabric tofino-16 -n 16 -- ./program 1024
  weft run --compare --json large.json --fabric tofino-16 -n 16 -- ./program 1048576
  weft report small.json large.json -o report.html
  weft train --compare --json llama.json --fabric superpod-h100-32 llama.toml
  weft report llama.json -o training.html
"""


@command(help=_HELP)
@click.argument(
    "records", nargs=-1, required=True, type=Input(exists=True, dir_okay=False), metavar="RECORD..."
)
@output_option("-o", "output", required=True, help="Page to write (HTML).")
def report(records: tuple[Path, ...], output: Path) -> None:
    """Read the records, render the report, write it."""
    from weft.report.data import records as api
    from weft.report.page import page  # slow to import

    study = api.of(map(api.read, records))
    text = page.render(study)
    with whole_file("-o", output) as target:
        target.write(text)
    click.echo(f"{output}: {plural(len(study.points), 'run')}, {format_size(len(text))}")
