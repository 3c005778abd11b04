# SPDX-License-Identifier: LGPL-2.1-only
"""Search for the values of host keys with the least error of predicted times.

Rates, times and the size of caches are found by nonlinear least squares over their logarithms;
names and thresholds, between two of which nothing changes, are tried one after the other; both in
turn, until neither gets better. Thresholds are independent of each other: the eager threshold is
the network's, and the others are the host's. What ranks of a host share has several local optima
(latency against overhead, copies against memory), so `explore` starts at several points, Sobol's
sequence around the usual values. All of it is deterministic.

The loss is soft_l1 of ln(predicted / measured), which is nearly the absolute error beyond 15 %, so
that rows that the model cannot reach pull no key to them. Each key is held to where it starts by as
much as an error of 15 % for a factor of e: rows and starts are known about that well.
"""

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from weft.calibrate.host.keys import Key, Template, value_in
from weft.calibrate.host.rows import Times

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from weft._core import Fabric

# Step of derivatives: as near as measurements of collectives repeat, and wide enough to see past
# the corners of a time that is the longest of several.
_STEP = 0.15
_PRECISION = 1e-3
_MOST_EVALUATIONS, _MOST_TURNS = 25, 4
_BETTER = 1e-4
WRONG = 0.15
"""Errors beyond this weigh as they are, not as their squares."""
HELD = 0.15
"""Weight of a key's distance from its start, in ln, as an error in ln."""
# Starts of an exploration, of so many draws (a power of two), and how far around the usual values.
_STARTS, _DRAWN, _AROUND = 3, 4, 4.0
_FACTOR = 4.0

Point = tuple[float, ...]
"""A value of each key."""
Progress = Callable[[int, float], object]
"""Called after each turn with the tries so far and the best loss."""


def loss_of(errors: "NDArray[np.float64]") -> "NDArray[np.float64]":
    """Return the losses of errors in ln."""
    losses: NDArray[np.float64] = WRONG**2 * (np.sqrt(1 + (errors / WRONG) ** 2) - 1)
    return losses


class Search:
    """Predictions of some rows, each point once."""

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
        self._template = Template(fabric, keys)
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
            text = self._template.text(point)
            logs = [
                math.log(time / self._measured[row]) for row, time in self._predict(text).items()
            ]
            self._errors[point] = np.array(logs)
        return self._errors[point]

    def loss(self, point: Point) -> float:
        """Return the mean of the rows' losses."""
        return float(np.mean(loss_of(self.errors(point))))

    def around(self, point: Point, index: int) -> list[Point]:
        """Return the points with one key changed by much."""
        key = self.keys[index]
        values = [point[index] * _FACTOR, point[index] / _FACTOR]
        return self.with_values(
            point, index, key.steps or [min(max(v, key.low), key.high) for v in values]
        )

    def steps(self, point: Point) -> list[Point]:
        """Return the points with one key of steps changed."""
        found = []
        for index, key in enumerate(self.keys):
            found += self.with_values(point, index, key.steps)
        return found

    def tied(self, point: Point) -> list[Point]:
        """Return the points with all thresholds alike."""
        found = []
        thresholds = [index for index, key in enumerate(self.keys) if key.steps and not key.names]
        for value in self.keys[thresholds[0]].steps if thresholds else ():
            changed = list(point)
            for index in thresholds:
                changed[index] = min(max(value, self.keys[index].low), self.keys[index].high)
            found.append(tuple(changed))
        return [one for one in dict.fromkeys(found) if one != point]

    def with_values(self, point: Point, index: int, values: Sequence[float]) -> list[Point]:
        """Return the points with one key at each of some values, without the point itself."""
        points = [(*point[:index], value, *point[index + 1 :]) for value in values]
        return [one for one in dict.fromkeys(points) if one != point]

    def gliding(self) -> list[int]:
        """Return the places of keys without steps."""
        return [index for index, key in enumerate(self.keys) if not key.steps]

    def slopes(self, point: Point, steps: float = _STEP) -> "NDArray[np.float64]":
        """Return the derivatives of the errors by ln of each gliding key, a column each."""
        here, columns = self.errors(point), []
        for index in self.gliding():
            key = self.keys[index]
            up = point[index] * math.exp(steps) <= key.high
            step = steps if up else -steps
            (there,) = self.with_values(point, index, [point[index] * math.exp(step)])
            columns.append((self.errors(there) - here) / step)
        return np.array(columns).T if columns else np.zeros((len(here), 0))


def explore(search: Search, progress: Progress | None = None) -> list[Point]:
    """Return the best points from several starts, the best first."""
    found: dict[Point, float] = {}
    for start in _starts(search):
        point = find(search, progress, start)
        found[point] = search.loss(point)
    return sorted(found, key=lambda point: found[point])


def _starts(search: Search) -> list[Point]:
    """Return the base's point, the usual one and another, thresholds where they fit each best.

    From values of a larger host no derivative leads away: what never limits has none.
    """
    from scipy.stats import qmc

    start = search.start()
    gliding = search.gliding()
    points = [start]
    if gliding:
        # The first point is a corner, and the second the middle.
        sobol = qmc.Sobol(len(gliding), scramble=False).random(_DRAWN)[1:_STARTS]
        for draw in sobol:
            values = list(start)
            for index, where in zip(gliding, draw, strict=True):
                key = search.keys[index]
                value = key.usual * _AROUND ** (2 * float(where) - 1)
                values[index] = min(max(value, key.low), key.high)
            points.append(tuple(values))
    return [min([one, *search.tied(one)], key=search.loss) for one in points]


def find(search: Search, progress: Progress | None = None, start: Point | None = None) -> Point:
    """Return the best point from one start."""
    best = search.start() if start is None else start
    least = search.loss(best)
    for _ in range(_MOST_TURNS):
        before = least
        candidates = [smooth(search, best)]
        candidates += search.steps(candidates[0])
        losses = [search.loss(point) for point in candidates]
        # The first of equal ones: where nothing depends on a step, none is taken.
        turn = min(losses)
        if turn < least:
            least, best = turn, candidates[losses.index(turn)]
        if progress is not None:
            progress(search.tries, least)
        if before - least < max(_BETTER, 0.01 * before) and losses.index(turn) == 0:
            break
    return best


def smooth(search: Search, point: Point) -> Point:
    """Return the best point in the keys that have no steps."""
    from scipy.optimize import least_squares

    moving = search.gliding()
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
        return np.concatenate([search.errors(at(logs)), HELD * (logs - start)])

    def slopes(logs: "NDArray[np.float64]") -> "NDArray[np.float64]":
        return np.vstack([search.slopes(at(logs)), HELD * np.eye(len(moving))])

    found = least_squares(
        residuals,
        np.clip(np.log([point[index] for index in moving]), low + 1e-9, high - 1e-9),
        slopes,
        bounds=(low - 1e-6, high + 1e-6),
        loss="soft_l1",
        f_scale=WRONG,
        ftol=_PRECISION,
        xtol=_PRECISION,
        max_nfev=_MOST_EVALUATIONS,
    )
    return at(found.x)
