# SPDX-License-Identifier: LGPL-2.1-only
"""Search for the host keys that minimize the error of predicted times.

Continuous keys (rates, times, cache sizes) are fitted by nonlinear least squares over their
logarithms. Discrete keys (names and thresholds, between which nothing changes) are tried one value
at a time. Both steps alternate until neither improves the loss. Thresholds are independent of each
other: the eager threshold belongs to the network, the others to the host. Resources shared by the
ranks of a host cause several local optima (latency against overhead, copies against memory), so
`explore` starts at several points of a Sobol sequence around the usual values. The search is
deterministic.

The loss is soft_l1 of ln(predicted / measured). Beyond 15 % it approaches the absolute error, so
rows that the model cannot reach do not distort keys. A regularization term ties each key to its
start: a factor of e costs as much as an error of 15 %, which is about the uncertainty of rows and
starts.
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

# Step of finite differences: as small as the repeatability of measured collectives, and large
# enough to bridge the kinks of a time that is the maximum of several.
_STEP = 0.15
_PRECISION = 1e-3
_MOST_EVALUATIONS, _MOST_TURNS = 25, 4
_BETTER = 1e-4
WRONG = 0.15
"""Error in ln beyond which the loss grows linearly instead of quadratically."""
HELD = 0.15
"""Regularization weight: a key's distance from its start in ln, as an error in ln."""
# Number of starts of an exploration, of Sobol points drawn (a power of two), and their largest
# factor around the usual values.
_STARTS, _DRAWN, _AROUND = 3, 4, 4.0
_FACTOR = 4.0

Point = tuple[float, ...]
"""One value per key."""
Progress = Callable[[int, float], object]
"""Called after each iteration with the number of trials so far and the best loss."""


def loss_of(errors: "NDArray[np.float64]") -> "NDArray[np.float64]":
    """Return the loss of each error, which is given in ln."""
    losses: NDArray[np.float64] = WRONG**2 * (np.sqrt(1 + (errors / WRONG) ** 2) - 1)
    return losses


class Search:
    """Memoized predictions of some rows."""

    def __init__(
        self,
        fabric: "Fabric",
        keys: Sequence[Key],
        measured: Times,
        predict: Callable[[str], Times],
    ) -> None:
        """Create a search; `predict` returns the fitted rows' times on a fabric's text."""
        self.keys = tuple(keys)
        self._fabric, self._measured, self._predict = fabric, measured, predict
        self._template = Template(fabric, keys)
        self._errors: dict[Point, NDArray[np.float64]] = {}

    @property
    def tries(self) -> int:
        """Number of points evaluated."""
        return len(self._errors)

    def start(self) -> Point:
        """Return the base's values, or the usual values where the base sets none."""
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

    def text(self, point: Point) -> str:
        """Return the text of the fabric with a point's values."""
        return self._template.text(point)

    def loss(self, point: Point) -> float:
        """Return the mean loss over the rows."""
        return float(np.mean(loss_of(self.errors(point))))

    def around(self, point: Point, index: int) -> list[Point]:
        """Return the points with one key changed by a large factor or to another step."""
        key = self.keys[index]
        values = [point[index] * _FACTOR, point[index] / _FACTOR]
        return self.with_values(
            point, index, key.steps or [min(max(v, key.low), key.high) for v in values]
        )

    def steps(self, point: Point) -> list[Point]:
        """Return the points with one discrete key changed."""
        found = []
        for index, key in enumerate(self.keys):
            found += self.with_values(point, index, key.steps)
        return found

    def tied(self, point: Point) -> list[Point]:
        """Return the points with all thresholds set to the same value."""
        found = []
        thresholds = [index for index, key in enumerate(self.keys) if key.steps and not key.names]
        for value in self.keys[thresholds[0]].steps if thresholds else ():
            changed = list(point)
            for index in thresholds:
                changed[index] = min(max(value, self.keys[index].low), self.keys[index].high)
            found.append(tuple(changed))
        return [one for one in dict.fromkeys(found) if one != point]

    def with_values(self, point: Point, index: int, values: Sequence[float]) -> list[Point]:
        """Return the distinct points with one key set to each value, without the point itself."""
        points = [(*point[:index], value, *point[index + 1 :]) for value in values]
        return [one for one in dict.fromkeys(points) if one != point]

    def gliding(self) -> list[int]:
        """Return the indices of continuous keys."""
        return [index for index, key in enumerate(self.keys) if not key.steps]

    def slopes(self, point: Point, steps: float = _STEP) -> "NDArray[np.float64]":
        """Return the derivatives of the errors by ln of each continuous key, one column per key."""
        here, columns = self.errors(point), []
        for index in self.gliding():
            key = self.keys[index]
            up = point[index] * math.exp(steps) <= key.high
            step = steps if up else -steps
            (there,) = self.with_values(point, index, [point[index] * math.exp(step)])
            columns.append((self.errors(there) - here) / step)
        return np.array(columns).T if columns else np.zeros((len(here), 0))


def explore(search: Search, progress: Progress | None = None) -> list[Point]:
    """Return the best point from each of several starts, the best first."""
    found: dict[Point, float] = {}
    for start in _starts(search):
        point = find(search, progress, start)
        found[point] = search.loss(point)
    return sorted(found, key=lambda point: found[point])


def _starts(search: Search) -> list[Point]:
    """Return the starts: the base's point and points around the usual one, with thresholds fitted.

    A single start at a larger host's values would not move: a limit that never binds has no
    derivative.
    """
    from scipy.stats import qmc

    start = search.start()
    gliding = search.gliding()
    points = [start]
    if gliding:
        # The first point is a corner, the second the centre.
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
    """Return the best point found from one start."""
    best = search.start() if start is None else start
    least = search.loss(best)
    for _ in range(_MOST_TURNS):
        before = least
        candidates = [smooth(search, best)]
        candidates += search.steps(candidates[0])
        losses = [search.loss(point) for point in candidates]
        # Ties go to the first candidate, so a step without effect is not taken.
        turn = min(losses)
        if turn < least:
            least, best = turn, candidates[losses.index(turn)]
        if progress is not None:
            progress(search.tries, least)
        if before - least < max(_BETTER, 0.01 * before) and losses.index(turn) == 0:
            break
    return best


def smooth(search: Search, point: Point) -> Point:
    """Return the best point over the continuous keys."""
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
