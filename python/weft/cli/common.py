# SPDX-License-Identifier: LGPL-2.1-only
"""Options and output that several commands share."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeElapsedColumn,
)

from weft.base.errors import WeftError
from weft.base.tables import console
from weft.base.units import format_size
from weft.cli.files import Output
from weft.runs.record import Record, write_record
from weft.runs.tables import print_run
from weft.study.bench.checks import Progress as BenchProgress

_ROOM_FOR_A_BAR = 60
Command = TypeVar("Command", bound=Callable[..., Any] | click.Command)


def result_options(command: Command) -> Command:
    """Add the options for a run's results."""
    for option in (
        click.option("-q", "--quiet", is_flag=True, help="Print no table."),
        output_option("--json", "json_file", help="Write the record of the run as JSON."),
    ):
        command = option(command)
    return command


def report(record: Record, json_file: Path | None, *, quiet: bool) -> int:
    """Write and print a run's record; return weft's exit status."""
    sys.stdout.flush()
    if not quiet:
        print_run(record, console(stderr=True))
    if json_file is not None:
        write_record(record, json_file)
    if record.failed and record.outcome.signal != "SIGPIPE":
        click.echo(f"weft: {record.outcome.message}", err=True)
    if record.unwritten:
        raise WeftError(record.unwritten)
    return record.exit_status


def output_option(*names: str, help: str, required: bool = False) -> Callable[[Command], Command]:
    """Return an option for an output file; `-` is standard output."""
    return click.option(
        *names,
        type=Output(),
        metavar="FILE",
        required=required,
        help=help,
    )


@contextmanager
def progress_bar(total: int) -> Iterator[BenchProgress | None]:
    """Show the number of completed simulations on a terminal, and nothing elsewhere."""
    if not sys.stderr.isatty():
        yield None
        return
    on = console(stderr=True)
    columns: tuple[ProgressColumn, ...] = (
        TextColumn("{task.description:24}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    if on.width < _ROOM_FOR_A_BAR:
        columns = (MofNCompleteColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=on, transient=True) as bar:
        task = bar.add_task("compiling", total=total)
        yield lambda mode, size: bar.update(
            task, advance=1, description=f"{mode}, {format_size(size)}"
        )
