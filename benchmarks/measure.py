# SPDX-License-Identifier: LGPL-2.1-only
"""CPU time of a call without start-up: the difference between runs with few and many calls.

Each round runs all cases, so that a temporary slowdown of the machine affects all of them. Figures
are medians over the rounds, and ratios are computed within a round.
"""

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

Name = TypeVar("Name")


class ChildExit(Protocol):
    """Cost of a completed run."""

    @property
    def cpu_time_s(self) -> float:
        """User and system time."""

    @property
    def peak_memory_bytes(self) -> int:
        """Peak RSS."""


@dataclass(frozen=True)
class Case:
    """Program, and the two numbers of calls to compare."""

    run: Callable[[int], ChildExit]
    ranks: int
    few: int
    many: int


@dataclass
class Cost:
    """Cost of a case in each round."""

    cpu_us: list[float] = field(default_factory=list)
    """CPU time (user and system) per rank and call."""
    difference_s: list[float] = field(default_factory=list)
    """Difference in CPU time between the two runs."""
    peak_memory_bytes: int = 0

    @property
    def median_us(self) -> float:
        """Median CPU time per rank and call over all rounds."""
        return statistics.median(self.cpu_us)


def measure(
    cases: Mapping[Name, Case], rounds: int, progress: Callable[[int], None]
) -> dict[Name, Cost]:
    """Run all cases once per round."""
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
    """Return the ratio of two costs: the median of the ratios within a round."""
    return statistics.median(_ratios(above.cpu_us, below.cpu_us))


def _ratios(above: Sequence[float], below: Sequence[float]) -> list[float]:
    return [one / other for one, other in zip(above, below, strict=True)]
