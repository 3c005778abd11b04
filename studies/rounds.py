# SPDX-License-Identifier: LGPL-2.1-only
"""What is said of something that was measured in several rounds."""

import statistics
from collections.abc import Iterable
from typing import NamedTuple


class Spread(NamedTuple):
    """The middle one of the rounds counts: other work on a machine makes single ones larger."""

    median: float
    least: float
    most: float


def spread(rounds: Iterable[float]) -> Spread:
    """Return the median, the least and the most of the rounds."""
    values = list(rounds)
    return Spread(statistics.median(values), min(values), max(values))
