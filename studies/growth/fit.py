# SPDX-License-Identifier: LGPL-2.1-only
"""Scaling exponents: fit of a power law, with confidence interval.

Least squares on logarithms. The fit covers only the upper part of the range, at least a sixteenth
of the largest value, and only values above the resolution: below, start-up cost and noise flatten
the curve.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from numpy import polyfit
from scipy.stats import t

UPPER_PART = 16
"""Ratio of the largest value to the smallest fitted value."""
LEAST_POINTS = 4
CONFIDENCE = 0.95
FASTER = 1.05
"""Growth counts as superlinear if the whole confidence interval of the exponent is above this."""


@dataclass(frozen=True)
class Fit:
    """Power law y = factor * x**exponent, with the exponent's uncertainty in each direction."""

    exponent: float
    uncertainty: float
    """Half the interval of `CONFIDENCE`, by Student's t."""
    factor: float
    points: int

    @property
    def faster_than_linear(self) -> bool:
        """True if the whole confidence interval is superlinear."""
        return self.exponent - self.uncertainty > FASTER

    @property
    def perhaps_faster(self) -> bool:
        """True if the exponent, but not its whole confidence interval, is superlinear."""
        return self.exponent > FASTER and not self.faster_than_linear

    def at(self, x: float) -> float:
        """Evaluate the fit."""
        return float(self.factor * x**self.exponent)


def fit(points: Mapping[float, float], resolution: float) -> Fit | None:
    """Fit the upper part of the points; None if too few points are above the resolution."""
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
