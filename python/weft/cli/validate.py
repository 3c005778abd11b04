# SPDX-License-Identifier: LGPL-2.1-only
"""`weft validate`."""

import json
from collections.abc import Sequence
from pathlib import Path

import click

from weft.base.output import whole_file
from weft.cli.common import output_option
from weft.cli.files import Output, OutputDirectory, command
from weft.runs.report import console, new_table, print_table, print_title
from weft.study import accuracy
from weft.study.validate import SCHEMA, Check, Result, plot, read_checks, run

_HELP = """
Run the simulator on every measured table that ships with weft, and say how far it is from each.

Errors are logarithmic, exp(mean |ln(simulated / measured)|) - 1 and the worst. The bounds stand in
data/checks.toml; a check without any is reported as it is. Takes about half a minute.

\b
Examples:
  weft validate
  weft validate --json errors.json --figures figures

\b
Exit status: 1 where an error is above its bound.
"""


@command(help=_HELP)
@output_option("--json", "json_file", help="Write checks, errors and every row (JSON).")
@click.option(
    "--figures",
    type=OutputDirectory(),
    metavar="DIRECTORY",
    help="Draw one figure per table.",
)
@click.option(
    "--document",
    type=Output(exists=True, dir_okay=False),
    metavar="FILE",
    help="Fill the tables of a document such as docs/accuracy.md.",
)
def validate(json_file: Path | None, figures: Path | None, document: Path | None) -> int:
    """Run, print, write."""
    results = run(read_checks())
    _print(results)
    if json_file is not None:
        with whole_file("--json", json_file) as file:
            checks = [result.to_json() for result in results]
            json.dump({"schema": SCHEMA, "checks": checks}, file, indent=1)
            file.write("\n")
    if figures is not None:
        plot(results, figures)
    if document is not None:
        accuracy.write(document, results)
    return 0 if all(result.holds for result in results) else 1


def _print(results: Sequence[Result]) -> None:
    on = console()
    names = ("measured", "simulated", "rows", "mean", "bound", "worst", "bound ", "")
    table = new_table(names, left=("measured", "simulated", ""))
    for result in results:
        check, error = result.check, result.error
        table.add_row(
            f"{check.table.removesuffix('.csv')} {check.column}",
            result.title,
            _rows(check, result),
            f"{error.mean:.1%}",
            _bound(check.mean),
            f"{error.worst:.1%}",
            _bound(check.worst),
            "" if result.holds else "ABOVE ITS BOUND",
        )
    print_title("Logarithmic error of the simulator against measurements", on)
    print_table(table, on)


def _rows(check: Check, result: Result) -> str:
    count = len(result.points)
    return str(count) if check.rows == "all" else f"{count} {check.rows}"


def _bound(bound: float | None) -> str:
    return "" if bound is None else f"{bound:.1%}"
