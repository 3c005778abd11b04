# SPDX-License-Identifier: LGPL-2.1-only
"""How the times of single calls are distributed, where runs vary.

Percentiles are over all calls of all ranks whose mean a benchmark shows, linear between two times.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from weft.base.errors import WeftError
from weft.runs.site import load_fabric

USUAL: tuple[float, ...] = (5.0, 50.0, 95.0)
"""Shown where the fabric has noise and nobody asks for others."""
NOISY_ITERATIONS = 100
"""Calls where the fabric has noise and nobody says how many."""


@dataclass(frozen=True)
class Sampling:
    """How often calls are made, and which percentiles of their times are wanted."""

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
        """Return what a bench does where its user leaves something open.

        Without noise all calls of a bench are alike: few are enough, and nobody asks for
        percentiles.
        """
        noisy = load_fabric(fabric, changes).noise_seed is not None
        return cls(
            iterations or (NOISY_ITERATIONS if noisy else usual_iterations),
            tuple(percentiles) if percentiles is not None else USUAL if noisy else (),
        )


def parse_percentiles(text: str, option: str) -> tuple[float, ...]:
    """Return the percentiles that an option names, rising."""
    try:
        found = sorted({float(word) for word in text.split(",")})
    except ValueError:
        found = [-1.0]
    if not all(0 <= one <= 100 for one in found):
        raise WeftError(f"{option}: found '{text}'; allowed: numbers from 0 to 100, as 5,50,95")
    return tuple(found)


def percentiles_of(times_us: Sequence[float], wanted: Sequence[float]) -> dict[float, float]:
    """Return those of some times."""
    if not wanted:
        return {}
    import numpy as np  # which takes a tenth of a second to load

    return dict(zip(wanted, map(float, np.percentile(times_us, wanted)), strict=True))


def column(percentile: float) -> str:
    """Return a percentile's name in files: `p5_us`."""
    return f"p{percentile:g}_us"


def title(percentile: float) -> str:
    """Return its name in tables: `median, us`, `5 %, us`."""
    return "median, us" if percentile == 50 else f"{percentile:g} %, us"


def columns(rows: Sequence[Mapping[float, float]]) -> list[str]:
    """Return the names of those that rows have, which all have the same."""
    return [column(one) for one in rows[0]] if rows else []
