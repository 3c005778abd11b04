# SPDX-License-Identifier: LGPL-2.1-only
"""The two affine models that Clauss et al. (IPDPS 2011) compares with (section 7.1.1)."""

from dataclasses import dataclass

import numpy as np

from weft.calibrate.measurements.samples import Floats


@dataclass(frozen=True)
class Affine:
    """latency + size / bandwidth."""

    latency_s: float
    bandwidth_Bps: float  # noqa: N815 (as records and presets name it)

    def seconds(self, sizes: Floats) -> Floats:
        """Return the times of messages."""
        times: Floats = self.latency_s + sizes / self.bandwidth_Bps
        return times


def default_affine(sizes: Floats, seconds: Floats) -> Affine:
    """Return the usual one: the smallest message's time, and the largest rate that was reached."""
    return Affine(float(seconds[0]), float((sizes / seconds).max()))


def best_affine(sizes: Floats, seconds: Floats) -> Affine:
    """Return the one with the least mean logarithmic error."""
    from scipy.optimize import minimize

    def error(logs: Floats) -> float:
        latency, bandwidth = np.exp(logs)
        return float(np.abs(np.log((latency + sizes / bandwidth) / seconds)).mean())

    start = default_affine(sizes, seconds)
    logs = np.log([start.latency_s, start.bandwidth_Bps])
    # The error has kinks, one per row: a simplex, begun anew from where it ended.
    for _ in range(3):
        logs = minimize(error, logs, method="Nelder-Mead", options={"xatol": 1e-9}).x
    latency, bandwidth = np.exp(logs)
    return Affine(float(latency), float(bandwidth))
