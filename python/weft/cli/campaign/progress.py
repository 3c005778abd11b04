# SPDX-License-Identifier: LGPL-2.1-only
"""Progress of a campaign: a live line on a terminal, periodic lines in a log."""

import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import click
from rich.progress import BarColumn, Progress, ProgressColumn, Task
from rich.text import Text

from weft.base.tables import console
from weft.base.units import format_duration, plural
from weft.campaign.execution.work import TaskResult
from weft.campaign.file.keys import COLLECTIVES
from weft.campaign.file.runs import Run
from weft.cli.campaign.shared import label

_EVERY_S = 10.0
_MOST_MESSAGES = 20
_ROOM_FOR_A_BAR = 72
_BAR = 16
_Kind = tuple[str, int, str]
"""Program, ranks, and offload mode (or what NCCL may use): runs of equal kind cost about the same.
"""


class Costs:
    """Estimates the cost of the remaining runs from the cost of finished runs.

    Runs of a program with the same number of ranks and the same offload mode are assumed to cost
    the same; otherwise, costs scale with the ranks.
    """

    def __init__(self, runs: Sequence[Run]) -> None:
        """Start with all missing runs."""
        self._left = Counter(map(self._key, runs))
        self._ended: dict[_Kind, list[float]] = {}

    def take(self, run: Run, wall_time_s: float) -> None:
        """Record the cost of a finished run; without a time, only count it as finished."""
        key = self._key(run)
        self._left[key] -= 1
        if wall_time_s > 0:
            self._ended.setdefault(key, []).append(wall_time_s)

    def left(self) -> float | None:
        """Return the remaining cost relative to the finished runs' cost; None if unknown."""
        spent_s = sum(map(sum, self._ended.values()))
        if spent_s <= 0 or not self._left:
            return None
        ranks = sum(key[1] * len(times) for key, times in self._ended.items())
        left_s = sum(
            number * self._cost(key, spent_s / max(1, ranks))
            for key, number in self._left.items()
            if number > 0
        )
        return left_s / spent_s

    def _cost(self, key: _Kind, rank_s: float) -> float:
        times = self._ended.get(key)
        return sum(times) / len(times) if times else rank_s * key[1]

    @staticmethod
    def _key(run: Run) -> _Kind:
        return (
            str(run.point.get("program", "")),
            int(run.point.get("ranks") or 1),
            str(run.point.get("offload", run.point.get(COLLECTIVES, ""))),
        )


class RunCounter:
    """Counts ended runs and reports progress."""

    def __init__(
        self, total: int, missing: int, bar: Progress | None = None, runs: Sequence[Run] = ()
    ) -> None:
        """Start with the total number of runs, and the missing `runs` and their number."""
        self._costs = Costs(runs)
        self._total, self._before = total, total - missing
        self._states: Counter[str] = Counter()
        self._running = 0
        self._bar = bar
        self._task = bar.add_task("", total=total, completed=self._before) if bar else None
        self._start = self._last = time.monotonic()
        self._messages = 0

    def take(self, run: Run, done: TaskResult) -> None:
        """Count a finished run."""
        self._states[done.state] += 1
        self._costs.take(run, done.wall_time_s)
        if done.state in ("failed", "refused", "killed"):
            self._complain(run, done)
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, advance=1)
        elif time.monotonic() - self._last >= _EVERY_S:
            self._last = time.monotonic()
            click.echo(self.line(), err=True)

    def running(self, number: int) -> None:
        """Record the number of runs in progress."""
        self._running = number

    def line(self, *, short: bool = False) -> str:
        """Return `409 of 1,000 done, 3 failed, 2 running, about 3 min left`.

        The first number includes earlier runs; `short` fits 40 columns.
        """
        ended = self._before + self._states.total()
        parts = [f"{ended:,}/{self._total:,}" if short else f"{ended:,} of {self._total:,} runs"]
        bad = {one: self._states[one] for one in ("failed", "refused", "killed")}
        if short and any(bad.values()):
            parts.append(f"{sum(bad.values()):,} failed")
        elif not short:
            parts += [f"{number:,} {state}" for state, number in bad.items() if number]
            if self._states["elsewhere"]:
                parts.append(f"{self._states['elsewhere']:,} by others")
        parts.append(f"{self._running:,} running")
        if (left := self._left_s()) is not None:
            parts.append(f"{'' if short else 'about '}{format_duration(left)} left")
        return ", ".join(parts)

    def _complain(self, run: Run, done: TaskResult) -> None:
        self._messages += 1
        if self._messages > _MOST_MESSAGES:
            return
        text = f"weft: {done.state}: {label(run.point)}: {done.message}"
        if self._messages == _MOST_MESSAGES:
            text += "; further failures are not shown; see weft campaign status"
        self._print(text)

    def note(self, text: str) -> None:
        """Show the reason for which runs are waiting."""
        self._print(f"weft: {text}")

    def _print(self, text: str) -> None:
        if self._bar is not None:
            self._bar.console.print(text, markup=False, highlight=False)
        else:
            click.echo(text, err=True)

    def _left_s(self) -> float | None:
        """Return the remaining time at the current rate, or None before the first run has ended."""
        ended = self._states.total()
        if not ended:
            return None
        spent_s = time.monotonic() - self._start
        if (share := self._costs.left()) is not None:
            return share * spent_s
        rest = self._total - self._before - ended
        return rest * spent_s / ended


class _Line(ProgressColumn):
    """The progress line, rendered on every refresh, since time also passes between runs."""

    max_refresh = 0.5
    shown: RunCounter | None = None

    def __init__(self, *, short: bool) -> None:
        super().__init__()
        self._short = short

    def render(self, task: Task) -> Text:
        text = self.shown.line(short=self._short) if self.shown else ""
        return Text(text, no_wrap=True, overflow="ellipsis")


@contextmanager
def progress(
    total: int, missing: int, at_once: int | None, runs: Sequence[Run] = ()
) -> Iterator[RunCounter]:
    """Show progress on a terminal or in a log; do nothing if no run is missing.

    The remaining time is estimated from the costs of the missing `runs`.
    """
    if not missing:
        yield RunCounter(total, missing)
        return
    if not sys.stderr.isatty():
        most = f", up to {at_once:,} at a time" if at_once else ""
        click.echo(f"{plural(missing, 'run')} to execute{most}", err=True)
        yield RunCounter(total, missing, runs=runs)
        return
    on = console(stderr=True)
    wide = on.width >= _ROOM_FOR_A_BAR
    line = _Line(short=not wide)
    columns = (*((BarColumn(_BAR),) if wide else ()), line)
    bar = Progress(*columns, console=on, refresh_per_second=2, transient=True)
    line.shown = shown = RunCounter(total, missing, bar, runs)
    with bar:
        yield shown
