# SPDX-License-Identifier: LGPL-2.1-only
"""What hosts are, from collectives with several ranks on each: a search over predicted times.

No formula stands for a host that its ranks share: each try executes the rows' schedules on a
fabric with other values, as `--offload auto` does to predict them. Rates, times and the size of
caches are found by nonlinear least squares over their logarithms; names and thresholds, between two
of which nothing changes, are tried one after the other, thresholds all at the same size, because
MPI libraries have one for all ways; both in turn, until neither gets better. It depends on nothing
but rows, keys and fabric, so the same call finds the same values.

The loss is soft_l1 of ln(predicted / measured), so that one wrong row pulls no key to it, and each
key is held to where it starts by as much as an error of 5 % for a factor of e: what rows do not
tell stays. A key without which no row changes is not determined: it stays as it is in the base
fabric.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from weft.base.measured import LogError, log_error
from weft.calibrate.host_keys import Key, value_in, with_keys
from weft.calibrate.host_rows import HostRow, Times, predict_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from weft._core import Fabric

# Of the derivative: as near as measurements of collectives repeat, and wide enough to see past the
# corners of a time that is the longest of several.
_STEP = 0.15
_PRECISION = 1e-3
_MOST_EVALUATIONS, _MOST_TURNS = 25, 4
_BETTER = 1e-4
# Errors of more weigh as they are, not as their squares.
_WRONG = 0.5
_HELD = 0.05
# A key is not determined where its change by the factor changes the loss by no more.
_FACTOR, _UNCHANGED = 4.0, 1e-3

Point = tuple[float, ...]
"""A value of each key."""
Progress = Callable[[int, float], object]
"""Called after each turn with the tries so far and the best loss."""


@dataclass(frozen=True)
class HostFit:
    """What the search found."""

    values: Mapping[Key, float]
    """Of the keys that the rows determine."""
    undetermined: tuple[Key, ...]
    text: str
    """The fabric file."""
    fitted: tuple[HostRow, ...]
    predicted: Times
    """Of all rows, on that file."""
    tries: int

    def error(self, measured: Times, rows: Sequence[HostRow]) -> LogError:
        """Return how far what is written is from some rows."""
        numbers = range(len(rows))
        predicted, real = (
            {number: times[rows[number]] for number in numbers}
            for times in (self.predicted, measured)
        )
        return log_error(predicted, real)


class Search:
    """Predictions of the rows, each point once."""

    def __init__(
        self,
        fabric: "Fabric",
        keys: Sequence[Key],
        measured: Times,
        predict: Callable[[str], Times],
    ) -> None:
        """Keep what tries need; `predict` gives the fitted rows' times on a fabric's text."""
        self.keys = tuple(keys)
        self._fabric, self._measured, self._predict = fabric, measured, predict
        self._errors: dict[Point, NDArray[np.float64]] = {}

    @property
    def tries(self) -> int:
        """How many points were tried."""
        return len(self._errors)

    def start(self) -> Point:
        """Return the base's values, and usual ones where it has none."""
        return tuple(self._start(key) for key in self.keys)

    def _start(self, key: Key) -> float:
        value = value_in(self._fabric, key)
        if key.names:
            return value or 0.0
        return min(max(key.usual if value is None else value, key.low), key.high)

    def errors(self, point: Point) -> "NDArray[np.float64]":
        """Return ln(predicted / measured) of all rows."""
        if point not in self._errors:
            text = with_keys(self._fabric, dict(zip(self.keys, point, strict=True)), {})
            logs = [
                math.log(time / self._measured[row]) for row, time in self._predict(text).items()
            ]
            self._errors[point] = np.array(logs)
        return self._errors[point]

    def loss(self, point: Point) -> float:
        """Return the mean of the rows' losses."""
        errors = self.errors(point) / _WRONG
        return float(np.mean(_WRONG**2 * (np.sqrt(1 + errors**2) - 1)))

    def around(self, point: Point, index: int) -> list[Point]:
        """Return the points with one key changed by much."""
        key = self.keys[index]
        values = [point[index] * _FACTOR, point[index] / _FACTOR]
        return self._with(
            point, index, key.steps or [min(max(v, key.low), key.high) for v in values]
        )

    def steps(self, point: Point) -> list[Point]:
        """Return the points with a key that names something changed, or all thresholds."""
        found = []
        thresholds = [index for index, key in enumerate(self.keys) if key.steps and not key.names]
        for value in self.keys[thresholds[0]].steps if thresholds else ():
            changed = list(point)
            for index in thresholds:
                changed[index] = min(max(value, self.keys[index].low), self.keys[index].high)
            found.append(tuple(changed))
        for index, key in enumerate(self.keys):
            found += self._with(point, index, key.steps) if key.names else []
        return [one for one in dict.fromkeys(found) if one != point]

    def _with(self, point: Point, index: int, values: Sequence[float]) -> list[Point]:
        points = [(*point[:index], value, *point[index + 1 :]) for value in values]
        return [one for one in dict.fromkeys(points) if one != point]


def fit(
    fabric: "Fabric",
    keys: Sequence[Key],
    measured: Times,
    rows: Sequence[HostRow],
    fallback: str | None = None,
    progress: Progress | None = None,
) -> HostFit:
    """Fit the keys to some rows of a table, and predict all of it on what is written."""
    search = Search(fabric, keys, measured, lambda text: predict_rows(text, rows, fallback))
    best = find(search, progress)
    values, undetermined = determined(search, best)
    text = with_keys(fabric, values, {key: "fitted to collectives" for key in values})
    predicted = predict_rows(text, list(measured), fallback)
    return HostFit(values, undetermined, text, tuple(rows), predicted, search.tries)


def find(search: Search, progress: Progress | None = None) -> Point:
    """Return the best point."""
    best = search.start()
    least = search.loss(best)
    for _ in range(_MOST_TURNS):
        before = least
        candidates = [_smooth(search, best)]
        candidates += search.steps(candidates[0])
        losses = [search.loss(point) for point in candidates]
        # The first of equal ones: where nothing depends on a step, none is taken.
        turn = min(losses)
        if turn < least:
            least, best = turn, candidates[losses.index(turn)]
        if progress is not None:
            progress(search.tries, least)
        if before - least < _BETTER:
            break
    return best


def _smooth(search: Search, point: Point) -> Point:
    """Return the best point in the keys that have no steps."""
    from scipy.optimize import least_squares

    moving = [index for index, key in enumerate(search.keys) if not key.steps]
    if not moving:
        return point
    start = np.log([search.start()[index] for index in moving])
    low, high = (
        np.log([getattr(search.keys[index], side) for index in moving]) for side in ("low", "high")
    )

    def at(logs: "NDArray[np.float64]") -> Point:
        values = list(point)
        for index, value in zip(moving, np.clip(logs, low, high), strict=True):
            values[index] = float(np.exp(value))
        return tuple(values)

    def residuals(logs: "NDArray[np.float64]") -> "NDArray[np.float64]":
        return np.concatenate([search.errors(at(logs)), _HELD * (logs - start)])

    def slopes(logs: "NDArray[np.float64]") -> "NDArray[np.float64]":
        here = residuals(logs)
        columns = []
        for column in range(len(moving)):
            step = np.zeros(len(moving))
            step[column] = _STEP if logs[column] + _STEP <= high[column] else -_STEP
            columns.append((residuals(logs + step) - here) / step[column])
        return np.array(columns).T

    found = least_squares(
        residuals,
        np.clip(np.log([point[index] for index in moving]), low + 1e-9, high - 1e-9),
        slopes,
        bounds=(low - 1e-6, high + 1e-6),
        loss="soft_l1",
        f_scale=_WRONG,
        ftol=_PRECISION,
        xtol=_PRECISION,
        max_nfev=_MOST_EVALUATIONS,
    )
    return at(found.x)


def determined(search: Search, best: Point) -> tuple[dict[Key, float], tuple[Key, ...]]:
    """Return the values of keys on which the rows depend, and the other keys."""
    least = search.loss(best)
    values, others = {}, []
    for index, (key, value) in enumerate(zip(search.keys, best, strict=True)):
        changes = [abs(search.loss(point) - least) for point in search.around(best, index)]
        if max(changes, default=0.0) > _UNCHANGED:
            values[key] = value
        else:
            others.append(key)
    return values, tuple(others)
