# SPDX-License-Identifier: LGPL-2.1-only
"""Option `--compare` of `weft run` and `weft replay`."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from weft.base.errors import WeftError
from weft.base.tables import console
from weft.runs.launch import PreparedRun
from weft.runs.progress.lines import told
from weft.runs.record import Record
from weft.runs.tables import print_run
from weft.study.comparison import compare as api
from weft.study.comparison.comparison import Comparison, write_comparison
from weft.study.comparison.views import print_comparison, print_incomplete

Command = TypeVar("Command", bound=Callable[..., Any])

_compare = click.option(
    "--compare",
    is_flag=True,
    help="Run again with --offload off, and with --fallback best, and report the speed-up from"
    " offloading over both, by collective and in total. The output of these runs is not shown; the"
    " program's input must be a file (< FILE). --timeout applies to each run. --json writes all"
    " records, --trace the timelines of the first two. With --jobs: run all jobs again in both"
    " ways, and report the speed-up of each.",
)


_no_intervals = click.option(
    "--no-intervals",
    is_flag=True,
    help="With --compare: skip the runs at the ends of the fabric's [calibration.intervals], four"
    " per value, which give the interval of the speed-up.",
)


_no_best = click.option(
    "--no-best",
    "best",
    is_flag=True,
    flag_value=False,
    default=True,
    help="With --compare: skip the run with --fallback best, which takes most of the time with"
    " many ranks.",
)


def compare_option(command: Command) -> Command:
    """Add --compare and related options."""
    return _compare(_no_intervals(_no_best(command)))


def run_comparison(
    plan: PreparedRun,
    json_file: Path | None,
    *,
    quiet: bool,
    intervals: bool,
    best: bool,
    budget: bool = False,
) -> int:
    """Run with and without offload; write and print the gain; return the exit status."""
    first: list[Record] = []

    def between(record: Record) -> None:
        first.append(record)
        if sys.stderr.isatty() and not quiet:
            fastest = "" if len(first) == 1 else f" and --fallback {api.BEST}"
            _say(f"--compare: running again with --offload off{fastest}")

    try:
        total = api.number_of_runs(plan, intervals=intervals, best=best, budget=budget)
        with told(quiet=quiet, total=total):
            comparison = api.compare(plan, between, intervals=intervals, best=best, budget=budget)
    except BaseException:  # on Ctrl-C too, keep the first run
        if first and not quiet:
            print_run(first[0], console(stderr=True))
        raise
    sys.stdout.flush()
    if not quiet:
        _print(comparison)
    if json_file is not None:  # after the table, in case the disk is full
        write_comparison(comparison, json_file)
    _say_what_failed(comparison)
    for record in (comparison.offloaded, comparison.hosts, comparison.best):
        if record is not None and record.unwritten:
            raise WeftError(record.unwritten)
    return comparison.exit_status


def _print(comparison: Comparison) -> None:
    on = console(stderr=True)
    if comparison.complete:
        print_comparison(comparison, on)
    else:
        print_incomplete(comparison, on)


def _say_what_failed(comparison: Comparison) -> None:
    first, second = comparison.offloaded, comparison.hosts
    if first.outcome.signal == "SIGPIPE":  # the reader has exited, as in `… | head`
        return
    if first.failed:
        _say(first.outcome.message)
    if second is None:
        _say(
            "--compare: there is no run without offloading, because the run with it did not finish"
        )
    elif second.failed and second.outcome != first.outcome:
        if not second.ended:
            click.echo(comparison.errors, nl=False, err=True)
        _say(f"--compare: in the run without offloading: {second.outcome.message}")
    elif comparison.best and comparison.best.failed and comparison.best.outcome != first.outcome:
        if not comparison.best.ended:
            click.echo(comparison.errors, nl=False, err=True)
        _say(f"--compare: in the run with --fallback {api.BEST} {comparison.best.outcome.message}")
    if api.input_was_ignored():
        _say(
            "--compare: the program had no input, since a pipe can be read only once; write the"
            " input to a file: < FILE"
        )


def _say(message: str) -> None:
    click.echo(f"weft: {message}", err=True)
