# SPDX-License-Identifier: LGPL-2.1-only
"""CPU time of a call, free of start-up: the difference of two runs that make few and many calls.

Rounds of all cases take turns, so that a machine that is slower for a while is so for all of them;
what is shown is the median of the rounds, and ratios are taken within a round.
"""

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

Name = TypeVar("Name")


class Ended(Protocol):
    """What is needed of a run that has ended."""

    @property
    def cpu_time_s(self) -> float:
        """User and system time."""

    @property
    def peak_memory_bytes(self) -> int:
        """Largest resident set."""


@dataclass(frozen=True)
class Case:
    """A program to run with a number of calls, and how many calls to compare."""

    run: Callable[[int], Ended]
    ranks: int
    few: int
    many: int


@dataclass
class Cost:
    """What one case cost in each round."""

    cpu_us: list[float] = field(default_factory=list)
    """CPU time (user and system) per rank and call."""
    difference_s: list[float] = field(default_factory=list)
    """CPU time by which the two runs differ."""
    peak_memory_bytes: int = 0

    @property
    def median_us(self) -> float:
        """CPU time per rank and call over all rounds."""
        return statistics.median(self.cpu_us)


def measure(
    cases: Mapping[Name, Case], rounds: int, progress: Callable[[int], None]
) -> dict[Name, Cost]:
    """Run all cases in turn, as often as there are rounds."""
    costs = {name: Cost() for name in cases}
    for number in range(rounds):
        progress(number + 1)
        for name, case in cases.items():
            _add_round(costs[name], case)
    return costs


def _add_round(cost: Cost, case: Case) -> None:
    few, many = case.run(case.few), case.run(case.many)
    difference_s = many.cpu_time_s - few.cpu_time_s
    cost.difference_s.append(difference_s)
    cost.cpu_us.append(difference_s / ((case.many - case.few) * case.ranks) * 1e6)
    cost.peak_memory_bytes = max(cost.peak_memory_bytes, many.peak_memory_bytes)


def ratio(above: Cost, below: Cost) -> float:
    """Return the median over the rounds of how many times as much one cost as the other."""
    return statistics.median(_ratios(above.cpu_us, below.cpu_us))


def _ratios(above: Sequence[float], below: Sequence[float]) -> list[float]:
    return [one / other for one, other in zip(above, below, strict=True)]
