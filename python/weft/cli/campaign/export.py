# SPDX-License-Identifier: LGPL-2.1-only
"""`weft campaign export`."""

from pathlib import Path

import click

from weft.base.errors import WeftError
from weft.base.output import STANDARD_OUTPUT, shown
from weft.base.units import plural
from weft.campaign import campaign as api
from weft.campaign import table
from weft.campaign.export_files import check_format, write
from weft.cli.campaign.shared import file_argument, looked_at_option
from weft.cli.common import output_option
from weft.cli.files import command


@command()
@file_argument
@looked_at_option
@click.option("--collectives", is_flag=True, help="Write a line per run and collective instead.")
@click.option(
    "--parts",
    is_flag=True,
    help="Write a line per iteration of training and use of its time instead.",
)
@click.option("--jobs", is_flag=True, help="Write a line per run and job of jobs files instead.")
@click.option("--missing", is_flag=True, help="Also write a line for each missing run.")
@output_option(
    "-o",
    "output",
    required=True,
    help="Table to write; its suffix is the format: .csv, .parquet or .json. - writes CSV.",
)
def export(
    file: Path,
    store: Path | None,
    output: Path,
    *,
    collectives: bool,
    parts: bool,
    jobs: bool,
    missing: bool,
) -> None:
    """Write a table with a line for each finished run.

    The columns are the keys of the run, its state, its simulated time (seconds), the calls of
    collectives and how many of them were offloaded, the load of links and switches, and the cost of
    the simulation; for iterations of training, the parts of their time, and MFU.
    """
    asked = {"--collectives": collectives, "--parts": parts, "--jobs": jobs, "--missing": missing}
    together = [option for option, given in asked.items() if given]
    if len(together) > 1:
        raise WeftError(f"{together[1]}: found together with {together[0]}; leave one out")
    check_format("-o", output)
    prepared = api.prepare(file, store, again=False, look=True)
    found = prepared.index()
    rows = table.frame(prepared, missing=missing, found=found)
    if rows.is_empty():
        raise WeftError(f"{file}: no run of it has finished yet; weft campaign run {file}")
    number = plural(len(rows), "run")
    lines = {
        "--collectives": (table.collectives, ""),
        "--parts": (table.parts, "iteration of training"),
        "--jobs": (table.jobs, "run of a jobs file"),
    }
    for option, (lines_of, needed) in lines.items():
        if asked[option]:
            rows = lines_of(prepared, found=found)
            if needed and rows.is_empty():
                raise WeftError(f"{option}: {file} has no finished {needed}; leave the option out")
            number += f", {plural(len(rows), 'line')}"
    described = table.described(rows, collectives=collectives, jobs=jobs, parts=parts)
    write("-o", output, rows, described)
    click.echo(f"{shown(output)}: {number}", err=output == STANDARD_OUTPUT)
