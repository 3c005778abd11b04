# SPDX-License-Identifier: LGPL-2.1-only
"""The piecewise-linear model of Clauss et al. (section 4.1): segments by linear regression.

The bounds are chosen such that the product of the segments' correlation coefficients is largest. A
bound lies at a row, so that dynamic programming over the rows finds the best of all choices.

A segment is `fixed + per_byte * (bytes + ENVELOPE)`, which is how a fabric file says it (a latency
and a bandwidth, the latter for MPI's envelope too); neither can be negative there.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from weft import _core
from weft.calibrate.regression import relative_line
from weft.calibrate.samples import Floats

ENVELOPE = _core.SMPI_ENVELOPE_BYTES
"""Bytes that SMPI adds to every message."""

MIN_ROWS = 3
"""Rows of a segment: two points lie on a line, whatever they are."""
_MIN_SHARE = 0.04
"""Of all rows: among hundreds of noisy ones, some three lie on a line by chance."""

MAX_SEGMENTS = 8
_FOLDS = 10
# Nothing takes less: keeps latency and bandwidth factors positive, as fabric files want them.
_LEAST = (1e-9, 1e-15)
# In place of a coefficient that is not positive: worse than any that is.
_NO_CORRELATION = 1e-12


class TooFewRowsError(ValueError):
    """A table cannot be cut into so many segments."""


@dataclass(frozen=True)
class Segment:
    """One line of the model, for messages of at least `from_bytes`."""

    from_bytes: int
    fixed_s: float
    per_byte_s: float
    correlation: float

    def seconds(self, sizes: Floats) -> Floats:
        """Return the times of messages."""
        times: Floats = self.fixed_s + self.per_byte_s * (sizes + ENVELOPE)
        return times


@dataclass(frozen=True)
class Piecewise:
    """The whole model."""

    segments: tuple[Segment, ...]

    def seconds(self, sizes: Floats) -> Floats:
        """Return the times of messages."""
        bounds = [segment.from_bytes for segment in self.segments[1:]]
        at = np.searchsorted(bounds, sizes, side="right")
        every = np.array([segment.seconds(sizes) for segment in self.segments])
        times: Floats = every[at, np.arange(len(sizes))]
        return times

    @property
    def correlation(self) -> float:
        """The product of the segments' correlation coefficients."""
        return float(np.prod([segment.correlation for segment in self.segments]))


def fit(sizes: Floats, seconds: Floats, count: int, bound: int | None = None) -> Piecewise:
    """Fit a model of so many segments, one of which begins at `bound` bytes where that is given."""
    scores = _log_correlations(sizes, seconds)
    if bound is not None:
        row = int(np.searchsorted(sizes, bound))
        scores[:row, row + 1 :] = -np.inf
    bounds = [*_best_bounds(scores, count), len(sizes)]
    segments = []
    for first, end in pairwise(bounds):
        start = 0 if first == 0 else _from(int(sizes[first - 1]), int(sizes[first]), bound)
        fixed, per_byte = relative_line(sizes[first:end] + ENVELOPE, seconds[first:end], _LEAST)
        segments.append(Segment(start, fixed, per_byte, float(np.exp(scores[first, end]))))
    return Piecewise(tuple(segments))


def fit_best(sizes: Floats, seconds: Floats, bound: int | None = None) -> Piecewise:
    """Fit as many segments as the cross-validated error falls with."""
    count = least = 1 if bound is None else 2
    best = np.inf
    for more in range(least, min(MAX_SEGMENTS, _max_segments(len(sizes))) + 1):
        error = cross_validated_error(sizes, seconds, more, bound)
        if error >= best:
            break
        best, count = error, more
    return fit(sizes, seconds, count, bound)


def min_rows(rows: int) -> int:
    """Return how many rows of a table a segment needs."""
    return max(MIN_ROWS, round(_MIN_SHARE * rows))


def _max_segments(rows: int) -> int:
    """Return how many segments are left of a table with one row in ten left out."""
    left = rows - -(-rows // _FOLDS)
    return left // min_rows(left)


def cross_validated_error(
    sizes: Floats, seconds: Floats, count: int, bound: int | None = None
) -> float:
    """Return the mean |ln(fit / measured)| of rows that the fit has not seen."""
    numbers = np.arange(len(sizes))
    logs = []
    for fold in range(min(_FOLDS, len(sizes))):
        left_out = numbers % _FOLDS == fold
        model = fit(sizes[~left_out], seconds[~left_out], count, bound)
        logs.append(np.abs(np.log(model.seconds(sizes[left_out]) / seconds[left_out])))
    return float(np.concatenate(logs).mean())


def _from(before: int, first: int, bound: int | None) -> int:
    return bound if bound is not None and before < bound <= first else first


def _log_correlations(sizes: Floats, seconds: Floats) -> Floats:
    """Return ln of the weighted correlation of rows i to j-1, for all i and j."""
    terms = np.stack([np.ones_like(sizes), sizes, seconds, sizes**2, sizes * seconds, seconds**2])
    running = np.cumsum(terms * seconds**-2, axis=1)
    sums = np.concatenate([np.zeros((len(terms), 1)), running], axis=1)
    w, ws, wt, wss, wst, wtt = sums[:, None, :] - sums[:, :, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        correlation = (w * wst - ws * wt) / np.sqrt((w * wss - ws**2) * (w * wtt - wt**2))
        correlation = np.where(correlation > _NO_CORRELATION, correlation, _NO_CORRELATION)
    scores: Floats = np.log(np.minimum(correlation, 1.0))
    rows = np.arange(sums.shape[1])
    scores[rows[None, :] - rows[:, None] < min_rows(len(sizes))] = -np.inf
    return scores


def _best_bounds(scores: Floats, count: int) -> Sequence[int]:
    """Return the first row of each segment of the choice with the largest sum of scores."""
    last = scores.shape[0] - 1
    best = scores[0]
    came_from = []
    for _ in range(count - 1):
        totals = best[:, None] + scores
        came_from.append(totals.argmax(axis=0))
        best = totals.max(axis=0)
    if not np.isfinite(best[last]):
        raise TooFewRowsError(
            f"{count} segments of at least {min_rows(last)} rows do not fit into {last} rows"
        )
    bounds = [last]
    for rows in reversed(came_from):
        bounds.append(int(rows[bounds[-1]]))
    return [0, *reversed(bounds[1:])]
