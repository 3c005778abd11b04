# SPDX-License-Identifier: LGPL-2.1-only
"""Piecewise linear one-way times: SMPI's model (Clauss et al., section 4.1), fitted robustly.

A segment is `fixed + per_byte * (bytes + ENVELOPE)`, the form used by fabric files (a latency and a
bandwidth, which also applies to MPI's envelope). Both costs have a lower bound per side; a side is
one of the two protocols, eager and rendezvous, and no segment spans both sides.

The fit minimizes the pseudo-Huber loss of ln(fit / measured), quadratic for small errors and linear
beyond, so that single wrong rows do not distort a line. Lines are found by iteratively reweighted
least squares of relative deviations. Segment boundaries lie at rows, so dynamic programming over
the rows finds the optimal segmentation.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from weft import _core
from weft.calibrate.measurements.samples import Floats

Numbers = npt.NDArray[np.intp]

ENVELOPE = _core.SMPI_ENVELOPE_BYTES
"""Bytes that SMPI adds to every message."""

MIN_ROWS = 3
"""Rows per segment; any two points would lie on a line."""
_MIN_SHARE = 0.04
"""Minimum share of all rows in a segment: among hundreds of noisy rows, some three lie on a line by
chance.
"""

MAX_SEGMENTS = 8
# Limit on the rows that are tried as segment boundaries.
_MOST_BOUNDS = 80
_REPETITIONS = 12
# Error beyond which the loss grows linearly: more than the resolution of clocks, less than
# outliers.
_WRONG = 0.05
# Smallest error considered; no measurement is more precise.
_LEAST_ERROR = 1e-4
# Lower bounds that keep factors positive, as fabric files require.
LEAST_FIXED_S, LEAST_PER_BYTE_S = 1e-9, 1e-15


class TooFewRowsError(ValueError):
    """Raised if the table has too few rows for this number of segments."""


@dataclass(frozen=True)
class Side:
    """Constraints on all segments of messages of at least `from_bytes`."""

    from_bytes: int = 0
    least_fixed_s: float = LEAST_FIXED_S
    least_per_byte_s: float = LEAST_PER_BYTE_S
    held: bool = False
    """True if the cost per byte is fixed to its bound, so that only the fixed cost is fitted."""

    @property
    def min_rows(self) -> int:
        """Minimum number of rows per segment; one row suffices for a single parameter."""
        return 1 if self.held else MIN_ROWS


@dataclass(frozen=True)
class Segment:
    """One line of the model, for messages of at least `from_bytes`."""

    from_bytes: int
    fixed_s: float
    per_byte_s: float

    def seconds(self, sizes: Floats) -> Floats:
        """Return the times of messages."""
        times: Floats = self.fixed_s + self.per_byte_s * (sizes + ENVELOPE)
        return times


@dataclass(frozen=True)
class Piecewise:
    """Complete model of all sizes."""

    segments: tuple[Segment, ...]

    def seconds(self, sizes: Floats) -> Floats:
        """Return the times of messages."""
        bounds = [segment.from_bytes for segment in self.segments[1:]]
        at = np.searchsorted(bounds, sizes, side="right")
        every = np.array([segment.seconds(sizes) for segment in self.segments])
        times: Floats = every[at, np.arange(len(sizes))]
        return times


def fit(sizes: Floats, seconds: Floats, count: int, sides: Sequence[Side] = (Side(),)) -> Piecewise:
    """Fit a model with `count` segments; sides are sorted by size, and the first starts at 0."""
    return _Choices(sizes, seconds, tuple(sides)).best(count)


def fit_best(sizes: Floats, seconds: Floats, sides: Sequence[Side] = (Side(),)) -> Piecewise:
    """Fit the number of segments that minimizes Schwarz's criterion."""
    choices = _Choices(sizes, seconds, tuple(sides))
    found = []
    for count in range(least_segments(sizes, sides), MAX_SEGMENTS + 1):
        try:
            found.append(choices.best(count))
        except TooFewRowsError:
            break
    if not found:
        return choices.best(len(sides))
    return min(found, key=lambda model: criterion(model, sizes, seconds, sides))


def criterion(model: Piecewise, sizes: Floats, seconds: Floats, sides: Sequence[Side]) -> float:
    """Return Schwarz's criterion for logarithmic errors with a Laplace distribution."""
    error = float(np.abs(np.log(model.seconds(sizes) / seconds)).mean())
    starts = np.array([segment.from_bytes for segment in model.segments], float)
    held = np.array([side.held for side in sides])[_side_of_rows(starts, sides)]
    numbers = (3 - held).sum()  # per segment: start, fixed cost and, unless held, cost per byte
    rows = len(sizes)
    return float(2 * rows * np.log(max(error, _LEAST_ERROR)) + numbers * np.log(rows))


def _loss(errors: Floats) -> Floats:
    """Return the pseudo-Huber loss: half the square of small errors, smooth."""
    losses: Floats = _WRONG**2 * (np.sqrt(1 + (errors / _WRONG) ** 2) - 1)
    return losses


def least_segments(sizes: Floats, sides: Sequence[Side]) -> int:
    """Return the number of sides that contain rows."""
    return len(set(_side_of_rows(sizes, sides).tolist()))


def _side_of_rows(sizes: Floats, sides: Sequence[Side]) -> Numbers:
    return np.searchsorted([side.from_bytes for side in sides], sizes, side="right") - 1


class _Choices:
    """Candidate segments, each a range of rows, with their lines and losses."""

    def __init__(self, sizes: Floats, seconds: Floats, sides: tuple[Side, ...]) -> None:
        self.sizes, self.seconds, self.sides = sizes, seconds, sides
        self.side_of_row = _side_of_rows(sizes, sides)
        self.bounds = self._bounds()
        self.first, self.end = np.nonzero(self._allowed())
        self.fixed, self.per_byte, errors = self._lines()
        self.errors = np.full((len(self.bounds),) * 2, np.inf)
        self.errors[self.first, self.end] = errors

    def best(self, count: int) -> Piecewise:
        """Return the segments with the least loss."""
        at = _best_bounds(self.errors, count)
        if at is None:
            raise TooFewRowsError(
                f"{count} segments do not fit into {len(self.sizes)} rows: each needs {MIN_ROWS} of"
                " them and 4 %, none has eager and rendezvous messages"
            )
        segments = []
        for first, end in pairwise([*at, len(self.bounds) - 1]):
            one = int(np.flatnonzero((self.first == first) & (self.end == end))[0])
            start = self._start(int(self.bounds[first]))
            segments.append(Segment(start, float(self.fixed[one]), float(self.per_byte[one])))
        return Piecewise(tuple(segments))

    def _bounds(self) -> Numbers:
        rows = len(self.sizes)
        borders = np.flatnonzero(np.diff(self.side_of_row)) + 1
        tried = np.arange(0, rows, -(-rows // _MOST_BOUNDS))
        return np.union1d(np.union1d(tried, borders), [rows])

    def _allowed(self) -> "npt.NDArray[np.bool_]":
        """Return a mask of the allowed segments: ranges on one side with enough rows."""
        first, end = self.bounds[:, None], self.bounds[None, :]
        share = round(_MIN_SHARE * len(self.sizes))
        enough = np.array([max(side.min_rows, share) for side in self.sides])
        side = self.side_of_row[np.minimum(first, len(self.sizes) - 1)]
        last = self.side_of_row[np.maximum(end, 1) - 1]
        allowed: npt.NDArray[np.bool_] = (end - first >= enough[side]) & (side == last)
        return allowed

    def _start(self, row: int) -> int:
        """Return the start in bytes of the segment whose first row is `row`."""
        if row == 0:
            return 0
        if self.side_of_row[row] != self.side_of_row[row - 1]:
            return self.sides[int(self.side_of_row[row])].from_bytes
        return int(self.sizes[row])

    def _lines(self) -> tuple[Floats, Floats, Floats]:
        """Return fixed cost, cost per byte and summed loss of each candidate segment."""
        numbers = np.arange(len(self.sizes))
        first, end = self.bounds[self.first, None], self.bounds[self.end, None]
        inside = ((numbers >= first) & (numbers < end)).astype(float)
        side = self.side_of_row[self.bounds[self.first]]
        x, u = self.sizes + ENVELOPE, 1 / self.seconds
        terms = np.stack([u * u, x * u * u, (x * u) ** 2, u, x * u], axis=1)
        fixed, per_byte, least = (np.full(len(side), np.inf) for _ in range(3))
        weights = inside
        for _ in range(_REPETITIONS):
            lines = _bounded_lines(weights @ terms, [self.sides[one] for one in side])
            errors = np.abs(np.log((lines[0][:, None] + lines[1][:, None] * x) * u)) * inside
            loss = _loss(errors).sum(axis=1)
            better = loss < least
            for into, of in zip((fixed, per_byte, least), (*lines, loss), strict=True):
                into[better] = of[better]
            weights = inside / np.sqrt(1 + (errors / _WRONG) ** 2)
        return fixed, per_byte, least


def _bounded_lines(sums: Floats, sides: Sequence[Side]) -> tuple[Floats, Floats]:
    """Return fixed cost and cost per byte of the lines with the least weighted squared error."""
    uu, xu, xx, u, x = sums.T
    least_fixed = np.array([side.least_fixed_s for side in sides])
    least_per_byte = np.array([side.least_per_byte_s for side in sides])
    held = np.array([side.held for side in sides])
    with np.errstate(divide="ignore", invalid="ignore"):
        determinant = uu * xx - xu * xu
        lines = (
            (np.maximum(least_fixed, (u - least_per_byte * xu) / uu), least_per_byte),
            (least_fixed, np.maximum(least_per_byte, (x - least_fixed * xu) / xx)),
            ((u * xx - x * xu) / determinant, (x * uu - u * xu) / determinant),
        )
        squares = [
            f * f * uu + 2 * f * p * xu + p * p * xx - 2 * f * u - 2 * p * x for f, p in lines
        ]
    for number, (f, p) in enumerate(lines):
        bad = ~((f >= least_fixed) & (p >= least_per_byte)) | (held & (number > 0))
        squares[number][bad] = np.inf
    best = np.argmin(squares, axis=0)
    fixed, per_byte = (np.choose(best, [line[part] for line in lines]) for part in (0, 1))
    return fixed, per_byte


def _best_bounds(errors: Floats, count: int) -> list[int] | None:
    """Return the first rows of the best segments; None if no choice is allowed."""
    last = errors.shape[0] - 1
    best = errors[0]
    came_from = []
    for _ in range(count - 1):
        totals = best[:, None] + errors
        came_from.append(totals.argmin(axis=0))
        best = totals.min(axis=0)
    if not np.isfinite(best[last]):
        return None
    bounds = [last]
    for rows in reversed(came_from):
        bounds.append(int(rows[bounds[-1]]))
    return [0, *reversed(bounds[1:])]
