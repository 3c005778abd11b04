# SPDX-License-Identifier: LGPL-2.1-only
"""Summary of repeated measurements."""

import statistics
from collections.abc import Iterable
from typing import NamedTuple


class Spread(NamedTuple):
    """Median (the reported value) and range of the rounds; other load inflates single rounds."""

    median: float
    least: float
    most: float


def spread(rounds: Iterable[float]) -> Spread:
    """Return the median, minimum and maximum of the rounds."""
    values = list(rounds)
    return Spread(statistics.median(values), min(values), max(values))
