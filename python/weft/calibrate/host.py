# SPDX-License-Identifier: LGPL-2.1-only
"""What hosts are, from collectives with several ranks on each: a search over simulated runs.

No formula stands for a host that its ranks share: each try is a simulation of the rows. The search
is a compass search over the logarithms of the keys: around the best point each key is made larger
and smaller by a factor, all tries of a round at the same time; the best of them is the next point,
and where none is better the factors shrink. It depends on nothing but rows, keys and fabric, so the
same call finds the same values, on however many cores.

The loss is Huber's of ln(simulated / measured), so that one wrong row pulls no key to it. A key
without which no row changes is not determined: it stays as it is in the base fabric.
"""

import math
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from weft.base.measured import LogError, log_error
from weft.calibrate.host_keys import Key, value_in, with_keys
from weft.calibrate.host_rows import HostRow, Times, simulate_rows
from weft.calibrate.simulated import compiled

if TYPE_CHECKING:
    from weft._core import Fabric

# Factors of a round: first so large, shrunk by its square root while nothing is better, until the
# last, which is as near as measurements of collectives repeat.
_FIRST_FACTOR, _LAST_FACTOR = 4.0, 1.06
_MOST_ROUNDS = 30
# Errors of more weigh as they are, not as their squares.
_WRONG = 0.5
# A key is not determined where its change by the first factor changes the loss by no more.
_UNCHANGED = 1e-3

Point = tuple[float, ...]
"""A value of each key."""
Progress = Callable[[int, float], None]
"""Called after each round with the simulations so far and the best loss."""


@dataclass(frozen=True)
class HostFit:
    """What the search found."""

    values: Mapping[Key, float]
    """Of the keys that the rows determine."""
    undetermined: tuple[Key, ...]
    text: str
    """The fabric file."""
    fitted: tuple[HostRow, ...]
    simulated: Times
    """Of all rows, on that file."""
    runs: int

    def error(self, measured: Times, rows: Sequence[HostRow]) -> LogError:
        """Return how far what is written is from some rows."""
        numbers = range(len(rows))
        simulated, real = (
            {number: times[rows[number]] for number in numbers}
            for times in (self.simulated, measured)
        )
        return log_error(simulated, real)


class Search:
    """Simulations of the rows, each point once."""

    def __init__(
        self,
        fabric: "Fabric",
        keys: Sequence[Key],
        measured: Times,
        simulate: Callable[[str], Times],
        jobs: int,
    ) -> None:
        """Keep what tries need; `simulate` gives the fitted rows' times on a fabric's text."""
        self.keys = tuple(keys)
        self._fabric, self._measured, self._simulate = fabric, measured, simulate
        self._jobs = jobs
        self._losses: dict[Point, float] = {}

    @property
    def runs(self) -> int:
        """How many points were tried."""
        return len(self._losses)

    def start(self) -> Point:
        """Return the base's values, and the middle of the bounds where it has none."""
        return tuple(self._start(key) for key in self.keys)

    def _start(self, key: Key) -> float:
        value = value_in(self._fabric, key)
        if key.names:
            return value or 0.0
        middle = math.sqrt(key.low * key.high)
        return min(max(middle if value is None else value, key.low), key.high)

    def losses(self, points: Sequence[Point]) -> list[float]:
        """Return the losses of points, those that are new at the same time."""
        new = list(dict.fromkeys(point for point in points if point not in self._losses))
        with ThreadPoolExecutor(self._jobs) as pool:
            for point, loss in zip(new, pool.map(self._loss, new), strict=True):
                self._losses[point] = loss
        return [self._losses[point] for point in points]

    def _loss(self, point: Point) -> float:
        text = with_keys(self._fabric, dict(zip(self.keys, point, strict=True)), {})
        simulated = self._simulate(text)
        logs = [math.log(time / self._measured[row]) for row, time in simulated.items()]
        return sum(_huber(log) for log in logs) / len(logs)

    def around(self, point: Point, factor: float) -> list[Point]:
        """Return the points with one key changed."""
        found = []
        for index, key in enumerate(self.keys):
            if key.names:
                values = [float(one) for one in range(len(key.names))]
            else:
                scaled = (point[index] * factor, point[index] / factor)
                values = [min(max(value, key.low), key.high) for value in scaled]
            found += [(*point[:index], value, *point[index + 1 :]) for value in values]
        return [one for one in dict.fromkeys(found) if one != point]


def _huber(log: float) -> float:
    return _WRONG**2 * (math.sqrt(1 + (log / _WRONG) ** 2) - 1)


def fit(
    fabric: "Fabric",
    keys: Sequence[Key],
    measured: Times,
    rows: Sequence[HostRow],
    fallback: str | None = None,
    progress: Progress | None = None,
) -> HostFit:
    """Fit the keys to some rows of a table, and simulate all of it on what is written."""
    with compiled("collective_latency") as program:

        def simulate(text: str, some: Sequence[HostRow]) -> Times:
            return simulate_rows(program, text, some, fallback)

        search = Search(
            fabric, keys, measured, lambda text: simulate(text, rows), os.cpu_count() or 1
        )
        best = find(search, progress)
        values, undetermined = determined(search, best)
        text = with_keys(fabric, values, {key: "fitted to collectives" for key in values})
        simulated = simulate(text, list(measured))
    return HostFit(values, undetermined, text, tuple(rows), simulated, search.runs)


def find(search: Search, progress: Progress | None = None) -> Point:
    """Return the best point."""
    best = search.start()
    (least,) = search.losses([best])
    factor = _FIRST_FACTOR
    for _ in range(_MOST_ROUNDS):
        points = search.around(best, factor)
        losses = search.losses(points)
        if progress is not None:
            progress(search.runs, min([least, *losses]))
        loss, point = min(zip(losses, points, strict=True), default=(math.inf, best))
        if loss < least:
            least, best = loss, point
        elif factor <= _LAST_FACTOR:
            break
        else:
            factor = math.sqrt(factor)
    return best


def determined(search: Search, best: Point) -> tuple[dict[Key, float], tuple[Key, ...]]:
    """Return the values of keys on which the rows depend, and the other keys."""
    (least,) = search.losses([best])
    values, others = {}, []
    for index, (key, value) in enumerate(zip(search.keys, best, strict=True)):
        points = [
            point for point in search.around(best, _FIRST_FACTOR) if point[index] != best[index]
        ]
        changes = [abs(loss - least) for loss in search.losses(points)]
        if max(changes, default=0.0) > _UNCHANGED:
            values[key] = value
        else:
            others.append(key)
    return values, tuple(others)
