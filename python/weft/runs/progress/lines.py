# SPDX-License-Identifier: LGPL-2.1-only
"""Progress of long runs on standard error, in whole lines.

A program may write to the same terminal at any time, so a line is never overwritten; lines become
rarer instead. When the program will end is unknown. Only where a run like it has ended before, as
in comparisons, a line gives the time that is left.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from weft.base.units import format_duration, format_seconds
from weft.runs.progress.page import RunProgress, reported_to

_FIRST_S, _FIRST_IN_LOGS_S = 10.0, 60.0
_MOST_S = 600.0


class Runs:
    """Lines about the runs of one command."""

    def __init__(self, total: int = 1, first_s: float = _FIRST_S, *, alike: bool = True) -> None:
        """Expect a number of runs; runs that are `alike` cost about the same."""
        self._total, self._alike = total, alike
        self._ended_s: list[float] = []
        self._first_s = first_s
        self._begin()

    def _begin(self) -> None:
        self._next_s = self._wait_s = self._first_s
        self._before = RunProgress(0.0, 0.0, 0)

    def ended(self, wall_time_s: float) -> None:
        """Note that a run has ended, and took this time."""
        self._ended_s.append(wall_time_s)
        self._begin()

    def take(self, now: RunProgress) -> None:
        """Print a line if it is time for one."""
        if now.wall_time_s < self._next_s:
            return
        self._wait_s = min(2 * self._wait_s, _MOST_S)
        self._next_s = now.wall_time_s + self._wait_s
        print(f"weft: {self.line(now)}", file=sys.stderr, flush=True)
        self._before = now

    def line(self, now: RunProgress) -> str:
        """Return `run 2 of 3, 40 s: simulated 1.2 ms, 30 us/s, about 80 s left`.

        Rates are those since the last line. Where no end is known, MPI calls have one, too.
        """
        run = f"run {len(self._ended_s) + 1} of {self._total}, " if self._total > 1 else ""
        begin = f"{run}{format_duration(now.wall_time_s)}: "
        if now.simulated_time_s <= 0:
            return f"{begin}no time simulated yet"
        since = now.wall_time_s - self._before.wall_time_s
        simulated_s = (now.simulated_time_s - self._before.simulated_time_s) / since
        calls = (now.calls - self._before.calls) / since
        begin += f"simulated {format_seconds(now.simulated_time_s)}, "
        begin += f"{format_seconds(simulated_s)}/s, "
        if (left := self.left_s(now)) is not None:
            return f"{begin}about {format_duration(left)} left"
        return f"{begin}{calls:,.0f} MPI calls/s"

    def left_s(self, now: RunProgress) -> float | None:
        """Return the time that is left if all runs take as long as those that have ended.

        None if it is unknown, which it also is while a run takes longer than those.
        """
        if not self._ended_s or not self._alike:
            return None
        each_s = sum(self._ended_s) / len(self._ended_s)
        if now.wall_time_s >= each_s:
            return None
        return each_s * (self._total - len(self._ended_s)) - now.wall_time_s


@contextmanager
def told(*, quiet: bool, total: int = 1, alike: bool = True) -> Iterator[None]:
    """Print the progress of runs that take long: soon on a terminal, later in a log."""
    if quiet:
        yield
        return
    first_s = _FIRST_S if sys.stderr.isatty() else _FIRST_IN_LOGS_S
    with reported_to(Runs(total, first_s, alike=alike)):
        yield
