# SPDX-License-Identifier: LGPL-2.1-only
"""How fast something grows: the exponent of a power law, with its range of uncertainty.

By least squares in logarithms. Only the upper part of the range counts, from a sixteenth of the
largest value on, and only what is above the resolution: below, start-up and noise flatten the line.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from numpy import polyfit
from scipy.stats import t

UPPER_PART = 16
"""The fit begins at the largest value divided by this."""
LEAST_POINTS = 4
CONFIDENCE = 0.95
FASTER = 1.05
"""Growth counts as faster than linear where the whole range of the exponent is above this."""


@dataclass(frozen=True)
class Fit:
    """y = factor * x**exponent, and by how much the exponent may be wrong either way."""

    exponent: float
    uncertainty: float
    """Half the range of `CONFIDENCE`, by Student's t."""
    factor: float
    points: int

    @property
    def faster_than_linear(self) -> bool:
        """Whether the range of uncertainty leaves no other reading."""
        return self.exponent - self.uncertainty > FASTER

    @property
    def perhaps_faster(self) -> bool:
        """Whether the exponent is above linear, but not its whole range."""
        return self.exponent > FASTER and not self.faster_than_linear

    def at(self, x: float) -> float:
        """Return what the fit says there."""
        return float(self.factor * x**self.exponent)


def fit(points: Mapping[float, float], resolution: float) -> Fit | None:
    """Fit the upper part of the points; nothing where too few of them are above the resolution."""
    if not points:
        return None
    first = max(points) / UPPER_PART
    kept = {x: y for x, y in points.items() if x >= first and y > resolution}
    if len(kept) < LEAST_POINTS:
        return None
    across, up = (list(map(math.log, values)) for values in (kept, kept.values()))
    (slope, intercept), covariance = polyfit(across, up, 1, cov=True)
    quantile = float(t.ppf((1 + CONFIDENCE) / 2, len(kept) - 2))
    return Fit(
        exponent=float(slope),
        uncertainty=quantile * math.sqrt(covariance[0][0]),
        factor=math.exp(intercept),
        points=len(kept),
    )
