# SPDX-License-Identifier: LGPL-2.1-only
"""Distribution of the times of single calls, for runs with random variation.

Percentiles cover all calls of all ranks that the benchmark averages, with linear interpolation.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from weft.base.errors import WeftError
from weft.runs.site import load_fabric

USUAL: tuple[float, ...] = (5.0, 50.0, 95.0)
"""Default percentiles for fabrics with noise."""
NOISY_ITERATIONS = 100
"""Default number of calls for fabrics with noise."""


@dataclass(frozen=True)
class Sampling:
    """Number of calls, and the requested percentiles of their times."""

    iterations: int
    percentiles: tuple[float, ...] = ()

    @classmethod
    def of(
        cls,
        fabric: str,
        changes: Sequence[str],
        iterations: int | None,
        percentiles: Sequence[float] | None,
        usual_iterations: int,
    ) -> "Sampling":
        """Return the sampling of a benchmark, with defaults for values that the user omitted.

        Without noise, all calls take the same time: a few calls suffice, and percentiles are not
        shown by default.
        """
        noisy = load_fabric(fabric, changes).noise_seed is not None
        return cls(
            iterations or (NOISY_ITERATIONS if noisy else usual_iterations),
            tuple(percentiles) if percentiles is not None else USUAL if noisy else (),
        )


def parse_percentiles(text: str, option: str) -> tuple[float, ...]:
    """Parse the percentiles of an option, sorted."""
    try:
        found = sorted({float(word) for word in text.split(",")})
    except ValueError:
        found = [-1.0]
    if not all(0 <= one <= 100 for one in found):
        raise WeftError(f"{option}: found '{text}'; allowed: numbers from 0 to 100, as 5,50,95")
    return tuple(found)


def percentiles_of(times_us: Sequence[float], wanted: Sequence[float]) -> dict[float, float]:
    """Return the requested percentiles of the times."""
    if not wanted:
        return {}
    import numpy as np  # deferred, as it takes 0.1 s to load

    return dict(zip(wanted, map(float, np.percentile(times_us, wanted)), strict=True))


def column(percentile: float) -> str:
    """Return a percentile's name in files: `p5_us`."""
    return f"p{percentile:g}_us"


def title(percentile: float) -> str:
    """Return a percentile's name in tables: `P50(us)`."""
    return f"P{percentile:g}(us)"


def columns(rows: Sequence[Mapping[float, float]]) -> list[str]:
    """Return the column names of the rows' percentiles, which are the same in all rows."""
    return [column(one) for one in rows[0]] if rows else []
