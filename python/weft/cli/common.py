# SPDX-License-Identifier: LGPL-2.1-only
"""Options and output shared by several commands."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from weft.base.errors import WeftError, named
from weft.base.models import write_model
from weft.base.tables import console
from weft.base.units import format_size
from weft.cli.files import Output
from weft.runs.record import Record, write_record
from weft.runs.tables import print_run
from weft.study.bench.checks import Progress as BenchProgress
from weft.training.workload import DETAILS

if TYPE_CHECKING:
    from weft.iterations.iteration import Conditions
    from weft.iterations.iteration import Progress as OnProgress
    from weft.training.build import Summary
    from weft.training.workload import Workload

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


def warn(*warnings: str, quiet: bool) -> None:
    """Print the non-empty warnings about a run before it starts."""
    for warning in () if quiet else filter(None, warnings):
        click.echo(f"weft: {warning}", err=True)


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
    """Show the number of completed simulations on a terminal; do nothing elsewhere."""
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


# ---- Training iterations


def iteration_options(detail: str) -> Callable[[Command], Command]:
    """Return a decorator that adds the options of training iterations.

    `detail` describes the default of the option `--detail`, whose value is then None.
    """

    def add(command: Command) -> Command:
        for option in reversed(_iteration_options(detail)):
            command = option(command)
        return command

    return add


def _iteration_options(detail: str) -> Sequence[Callable[[Any], Any]]:
    return (
        click.option(
            "--slowdown",
            metavar="RANK=FACTOR",
            multiple=True,
            help="Lengthen the computation of a rank, or of ranks FIRST-LAST. Repeatable.",
        ),
        click.option(
            "--noise",
            type=click.FloatRange(0, 2),
            default=0.0,
            show_default=True,
            help="Vary each computation: standard deviation of the logarithm of its factor.",
        ),
        click.option(
            "--noise-seed",
            type=click.IntRange(0),
            default=0,
            show_default=True,
            help="Seed of --noise.",
        ),
        click.option(
            "--execute-all",
            is_flag=True,
            help="Execute equal calls again, instead of reusing their times.",
        ),
        click.option(
            "--detail",
            type=click.Choice(list(DETAILS)),
            default=None,
            help="Execute collectives as all messages of NCCL, one for each step of its rings, or"
            f" one flow for each call.  [default: {detail}]",
        ),
        click.option(
            "--multicast",
            is_flag=True,
            help="Let switches multicast the Allgathers between nodes, which NCCL cannot do.",
        ),
        output_option("--csv", "csv_file", help="Write the times of all ranks as CSV."),
    )


def execute_iteration(
    workload: "Workload",
    conditions: "Conditions",
    source: str,
    summary: "Summary | None" = None,
    *,
    model_changes: Sequence[str] = (),
    compare: bool,
    timeline: Path | None,
    csv_file: Path | None,
    json_file: Path | None,
    quiet: bool,
) -> int:
    """Execute an iteration, or compare its variants; print the result, and write all files.

    Returns weft's exit status: 1 if the iteration could not continue.
    """
    from weft.iterations import comparison, iteration, record, tables
    from weft.iterations.timeline import write_timeline

    if compare:
        if timeline or csv_file:
            raise click.UsageError("--compare has several iterations: no timeline, no --csv")
        with _operations_bar(comparison.MOST_VARIANTS) as progress:
            variants = comparison.compare(workload, conditions, progress)
        if not quiet:
            if summary:
                click.echo(summary.layout)
            tables.print_comparison(variants, console())
        if json_file:
            compared = comparison.comparison_record(source, variants, summary, model_changes)
            write_model(compared, json_file, named("json"))
        return int(any(one.iteration and one.iteration.failed for one in variants))
    with _operations_bar() as progress:
        its = iteration.simulate(workload, conditions, progress)
    if not quiet:
        tables.print_iteration(its, summary, console())
    if timeline:
        write_timeline(its, timeline)
    if csv_file:
        record.write_ranks(its, csv_file)
    if json_file:
        found = record.record_of(source, its, summary, model_changes)
        write_model(found, json_file, named("json"))
    if its.failed:
        click.echo(f"weft: {its.outcome.message}", err=True)
    return int(its.failed)


@contextmanager
def _operations_bar(iterations: int = 1) -> "Iterator[OnProgress | None]":
    """Show the fraction of finished operations on a terminal; do nothing elsewhere.

    Iterations follow each other; the remaining time counts them as equally expensive.
    """
    on = console(stderr=True)
    if not on.is_terminal:
        yield None
        return
    columns = (
        TextColumn("operations"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=on, transient=True) as bar:
        task = bar.add_task("", total=float(iterations))
        ended, last = 0, 0.0

        def show(done: float) -> None:
            nonlocal ended, last
            ended += done < last
            last = done
            bar.update(task, completed=ended + done)

        yield show
