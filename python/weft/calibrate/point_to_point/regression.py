# SPDX-License-Identifier: LGPL-2.1-only
"""Linear regression of times over size.

The regression minimizes relative deviations (weights 1 / time^2): sizes span decades, so plain
least squares would fit only the largest messages, whereas errors are logarithmic.
"""

import numpy as np

from weft.calibrate.measurements.samples import Floats


def relative_line(
    sizes: Floats, seconds: Floats, least: tuple[float, float] = (0.0, 0.0)
) -> tuple[float, float]:
    """Return fixed and per-byte cost, each at least as large as in `least`."""
    from scipy.optimize import lsq_linear

    terms = np.stack([np.ones_like(sizes), sizes], axis=1) / seconds[:, None]
    scale = 1 / np.abs(terms).max(axis=0)  # the solver requires columns of similar magnitude
    floor = np.array(least) / scale
    found = lsq_linear(terms * scale, np.ones_like(sizes), (floor, np.inf), method="bvls")
    fixed, per_byte = np.maximum(found.x, floor) * scale
    return float(fixed), float(per_byte)
