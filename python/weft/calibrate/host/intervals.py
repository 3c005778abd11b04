# SPDX-License-Identifier: LGPL-2.1-only
"""Bootstrap intervals of fitted keys, and prediction errors of held-out rows.

Each fold leaves out every fifth size. Errors of neighbouring sizes are correlated because they come
from the model, so intervals resample blocks of rows instead of single rows (moving-block bootstrap:
Künsch, Annals of Statistics 17, 1989). A block is three consecutive sizes of one collective on the
same ranks. Each resample is fitted by linearizing around the full fit; thresholds use the losses at
each of their steps. A key is determined if its interval spans no more than `MOST_SPAN`, if it
affects the rows at all, and if it does not lie at the bounds of its search.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from weft.calibrate.host.keys import Key
from weft.calibrate.host.rows import HostRow
from weft.calibrate.host.search import HELD, WRONG, Point, Search, loss_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BLOCK = 3
_RESAMPLES, _SEED = 400, 31
PERCENT = 90
"""Percentage of resamples within an interval."""
MOST_SPAN, MOST_THRESHOLD_SPAN = 2.0, 4.0
"""Largest ratio of upper to lower end for a determined key; a stepped key may move by two steps."""
FOLDS = 5
_UNCHANGED = 0.01
"""Change in ln below which a row is independent of a key; measurements do not repeat this well."""
_ITERATIONS = 12
_FARTHEST = 1.5
"""Largest distance in ln between a resample's value and the fit; derivatives do not hold beyond."""
_AT_BOUND = 1.02
_PARTS = (0.7, 0.4)
"""Fractions of a step that are tried in addition."""
NO_ROW = "no row depends on it"


@dataclass(frozen=True)
class Interval:
    """Value with its bootstrap interval."""

    value: float
    low: float
    high: float
    determined: bool
    why: str = ""
    """Reason why the key is not determined."""


def blocks(rows: Sequence[HostRow]) -> list[list[int]]:
    """Return the indices of rows in blocks of neighbours."""
    series: dict[tuple[str, int, int], list[int]] = {}
    for place in sorted(range(len(rows)), key=lambda place: rows[place]):
        row = rows[place]
        series.setdefault((row.collective, row.ranks, row.ppn), []).append(place)
    return [
        some[first : first + _BLOCK]
        for some in series.values()
        for first in range(0, len(some), _BLOCK)
    ]


def folds(rows: Sequence[HostRow], count: int = FOLDS) -> list[list[int]]:
    """Return the indices of rows held out together; each row belongs to one fold."""
    order = [place for block in blocks(rows) for place in block]
    return [order[first::count] for first in range(min(count, len(order)))]


class Local:
    """Linearized search around its best point: refits with other weights of the rows."""

    def __init__(self, search: Search, best: Point) -> None:
        """Compute the derivatives and the losses of all steps."""
        self.search, self.best = search, best
        self.gliding = search.gliding()
        self._errors = search.errors(best)
        self._slopes = search.slopes(best)
        start = search.start()
        self._from_start = np.array([math.log(best[one] / start[one]) for one in self.gliding])
        self._low = np.array([math.log(search.keys[one].low / best[one]) for one in self.gliding])
        self._high = np.array([math.log(search.keys[one].high / best[one]) for one in self.gliding])
        self.stepped = {
            index: [best, *search.with_values(best, index, key.steps)]
            for index, key in enumerate(search.keys)
            if key.steps
        }
        self._step_losses = {
            index: np.array([loss_of(search.errors(point)) for point in points])
            for index, points in self.stepped.items()
        }

    def fitted(self, weights: "NDArray[np.float64]") -> Point:
        """Return the best point for these weights of the rows."""
        values = list(self.best)
        for index, points in self.stepped.items():
            losses = self._step_losses[index] @ weights
            values[index] = points[int(np.argmin(losses))][index]
        for index, moved in zip(self.gliding, self._moved(weights), strict=True):
            values[index] = self.best[index] * math.exp(moved)
        return tuple(values)

    def _moved(self, weights: "NDArray[np.float64]") -> "NDArray[np.float64]":
        """Return how far the continuous keys move, in ln: least squares with the loss's weights."""
        moved = np.zeros(len(self.gliding))
        if not len(moved):
            return moved
        low, high = np.maximum(self._low, -_FARTHEST), np.minimum(self._high, _FARTHEST)
        held = HELD**2 * np.eye(len(moved))
        for _ in range(_ITERATIONS):
            errors = self._errors + self._slopes @ moved
            robust = weights / np.sqrt(1 + (errors / WRONG) ** 2)
            left = (self._slopes.T * robust) @ self._slopes + held
            right = -(self._slopes.T * robust) @ self._errors - held @ self._from_start
            moved = np.clip(np.linalg.solve(left, right), low, high)
        return moved

    def intervals(self, rows: Sequence[HostRow]) -> dict[Key, Interval]:
        """Return the interval of each key."""
        parts = blocks(rows)
        random = np.random.default_rng(_SEED)
        draws = []
        for _ in range(_RESAMPLES):
            weights = np.zeros(len(rows))
            for block in random.integers(len(parts), size=len(parts)):
                weights[parts[block]] += 1
            draws.append(self.fitted(weights))
        # Resamples scatter around their own centre, which need not be the best point of the search.
        centre = self.fitted(np.ones(len(rows)))
        return {
            key: self._interval(index, key, [draw[index] for draw in draws], centre[index])
            for index, key in enumerate(self.search.keys)
        }

    def _interval(self, index: int, key: Key, values: Sequence[float], centre: float) -> Interval:
        best = self.best[index]
        tail = (100 - PERCENT) / 2
        if key.names:
            same = sum(value == best for value in values) / len(values) >= PERCENT / 100
            return Interval(best, best, best, same, "" if same else "resamples select other values")
        ranked = sorted(values)
        if key.steps:
            last = len(ranked) - 1
            low, high = ranked[int(last * tail / 100)], ranked[last - int(last * tail / 100)]
        else:
            low, high = (float(one) for one in np.percentile(ranked, [tail, 100 - tail]))
        if not key.steps:
            low, high = best * low / centre, best * high / centre
        low, high = min(low, best), max(high, best)
        why = ""
        if not self._changes(index):
            why = NO_ROW
        elif key.steps and (low == key.steps[0] or high == key.steps[-1]):
            why = "no row lies above it"
        elif best >= key.high / _AT_BOUND or best <= key.low * _AT_BOUND:
            why = "the search ended at a bound"
        elif high / low > (MOST_THRESHOLD_SPAN if key.steps else MOST_SPAN):
            why = f"{key.toml(low)} to {key.toml(high)} fit as well"
        return Interval(best, low, high, not why, why)

    def _changes(self, index: int) -> bool:
        around = self.search.around(self.best, index)
        changes = [np.abs(self.search.errors(one) - self._errors).max() for one in around]
        return max(changes, default=0.0) > _UNCHANGED

    def held_out(self, rows: Sequence[HostRow]) -> Mapping[HostRow, float]:
        """Return ln(predicted / measured) of each row, predicted from rows of other blocks."""
        errors: dict[HostRow, float] = {}
        for left_out in folds(rows):
            weights = np.ones(len(rows))
            weights[left_out] = 0.0
            found = self.search.errors(self._refitted(weights))
            errors |= {rows[place]: float(found[place]) for place in left_out}
        return errors

    def _refitted(self, weights: "NDArray[np.float64]") -> Point:
        """Return the best of several steps along the linearized solution: times are nonlinear."""

        def loss(point: Point) -> float:
            return float(loss_of(self.search.errors(point)) @ weights)

        end = self.fitted(weights)
        points = [end]
        for part in _PARTS:
            values = list(end)
            for index in self.gliding:
                values[index] = self.best[index] * (end[index] / self.best[index]) ** part
            points.append(tuple(values))
        return min(points, key=loss)
