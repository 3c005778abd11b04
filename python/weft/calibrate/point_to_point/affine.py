# SPDX-License-Identifier: LGPL-2.1-only
"""The two affine baselines of Clauss et al. (IPDPS 2011, section 7.1.1)."""

from dataclasses import dataclass

import numpy as np

from weft.calibrate.measurements.samples import Floats


@dataclass(frozen=True)
class Affine:
    """Affine model: latency + size / bandwidth."""

    latency_s: float
    bandwidth_Bps: float  # noqa: N815 (as records and presets name it)

    def seconds(self, sizes: Floats) -> Floats:
        """Return the times of messages."""
        times: Floats = self.latency_s + sizes / self.bandwidth_Bps
        return times


def default_affine(sizes: Floats, seconds: Floats) -> Affine:
    """Return the usual model: the time of the smallest message, and the highest measured rate."""
    return Affine(float(seconds[0]), float((sizes / seconds).max()))


def best_affine(sizes: Floats, seconds: Floats) -> Affine:
    """Return the model with the least mean logarithmic error."""
    from scipy.optimize import minimize

    def error(logs: Floats) -> float:
        latency, bandwidth = np.exp(logs)
        return float(np.abs(np.log((latency + sizes / bandwidth) / seconds)).mean())

    start = default_affine(sizes, seconds)
    logs = np.log([start.latency_s, start.bandwidth_Bps])
    # The error has one kink per row, so use a simplex search and restart it at its end point.
    for _ in range(3):
        logs = minimize(error, logs, method="Nelder-Mead", options={"xatol": 1e-9}).x
    latency, bandwidth = np.exp(logs)
    return Affine(float(latency), float(bandwidth))
