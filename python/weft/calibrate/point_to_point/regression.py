# SPDX-License-Identifier: LGPL-2.1-only
"""One line through times by size.

The regression minimises relative deviations (weights 1 / time^2): a line spans decades, and plain
least squares would give it to its largest messages, while errors are judged by their logarithms.
"""

import numpy as np

from weft.calibrate.measurements.samples import Floats


def relative_line(
    sizes: Floats, seconds: Floats, least: tuple[float, float] = (0.0, 0.0)
) -> tuple[float, float]:
    """Return what a message takes, and what each byte adds; neither is below `least`."""
    from scipy.optimize import lsq_linear

    terms = np.stack([np.ones_like(sizes), sizes], axis=1) / seconds[:, None]
    scale = 1 / np.abs(terms).max(axis=0)  # the solver wants columns of like magnitude
    floor = np.array(least) / scale
    found = lsq_linear(terms * scale, np.ones_like(sizes), (floor, np.inf), method="bvls")
    fixed, per_byte = np.maximum(found.x, floor) * scale
    return float(fixed), float(per_byte)
