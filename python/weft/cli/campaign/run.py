# SPDX-License-Identifier: LGPL-2.1-only
"""`weft campaign run`."""

import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from weft.campaign import campaign as api
from weft.campaign.runs import Run
from weft.campaign.work import Done
from weft.cli.campaign.shared import (
    exit_status,
    file_argument,
    label,
    say_damaged,
    say_impossible,
    store_option,
    summary,
)
from weft.cli.files import command
from weft.runs.report import console

_EVERY_S = 10.0
_MOST_MESSAGES = 20


@command()
@file_argument
@store_option
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(1, 1024),
    metavar="N",
    help="Runs at a time.  [default: one for each core, as long as memory allows]",
)
@click.option("--again", is_flag=True, help="Repeat the runs that have failed or were refused.")
def run(file: Path, store: Path | None, jobs: int | None, again: bool) -> int:
    """Make the runs that are missing, and keep what comes of them.

    Whatever ends it (Ctrl-C, kill -9, a full disk), no result is lost and none is half there:
    the same command goes on. Several at a time share the work, also on machines that share the
    folder.

    Exit status: 0 when all is done; 1 when all has been run, and something has failed, was refused
    or cannot be run; 3 when something is to do still, because others are at it or it was killed.
    """
    prepared = api.prepare(file, store)
    say_impossible(prepared.found.impossible)
    if again:
        api.forget_failures(prepared)
    found = prepared.index()
    say_damaged(found)
    total = len({run.digest for run in prepared.runs})
    with _progress(total, len(prepared.missing(found))) as progress:
        api.carry_out(prepared, progress.take, jobs)
    states = api.states(prepared)
    click.echo(summary(prepared, states))
    return exit_status(prepared, states)


class _Progress:
    """Says on a terminal, or in a log, how far it has come."""

    def __init__(self, total: int, missing: int, bar: Progress | None) -> None:
        self._total, self._ended = total, total - missing
        self._states: Counter[str] = Counter()
        self._bar = bar
        self._task = bar.add_task("", total=total, completed=self._ended) if bar else None
        self._start = self._last = time.monotonic()
        self._messages = 0

    def take(self, run: Run, done: Done) -> None:
        """Count a run that has ended."""
        self._states[done.state] += 1
        if done.state in ("failed", "refused", "killed"):
            self._complain(run, done)
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, advance=1, description=self._said())
        elif time.monotonic() - self._last >= _EVERY_S:
            self._last = time.monotonic()
            click.echo(f"{self._said()}, about {self._left_s():.0f} s left", err=True)

    def _complain(self, run: Run, done: Done) -> None:
        self._messages += 1
        if self._messages > _MOST_MESSAGES:
            return
        text = f"weft: {done.state}: {label(run.point)}: {done.message}"
        if self._messages == _MOST_MESSAGES:
            text += "; more are not said here: weft campaign status"
        if self._bar is not None:
            self._bar.console.print(text, markup=False, highlight=False)
        else:
            click.echo(text, err=True)

    def _said(self) -> str:
        parts = [f"{self._states[state]:,} {state}" for state in self._states]
        return f"{self._ended + self._states.total():,} of {self._total:,}: {', '.join(parts)}"

    def _left_s(self) -> float:
        ended = self._states.total()
        rest = self._total - self._ended - ended
        return rest * (time.monotonic() - self._start) / max(ended, 1)


@contextmanager
def _progress(total: int, missing: int) -> Iterator[_Progress]:
    if not sys.stderr.isatty():
        yield _Progress(total, missing, None)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeRemainingColumn(), console=console(stderr=True)) as bar:
        yield _Progress(total, missing, bar)
