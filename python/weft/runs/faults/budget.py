# SPDX-License-Identifier: LGPL-2.1-only
"""Budget of faults: the cost of a failure, times its frequency.

That holds as long as failures do not overlap, and counts all failures of the file alike.
"""

from dataclasses import dataclass

from weft.runs.faults.presets import DAY_S


@dataclass(frozen=True)
class Budget:
    """Cost of failures."""

    lost_s: float
    """Time that some failures cost together."""
    failures: int
    """Number of these."""
    per_day: float | None
    """Failures in a day; None if unknown."""

    @property
    def per_failure_s(self) -> float | None:
        """Mean cost of a failure; None if none happened."""
        return self.lost_s / self.failures if self.failures else None

    @property
    def per_day_s(self) -> float | None:
        """Time lost in a day; None if unknown."""
        if self.per_failure_s is None or self.per_day is None:
            return None
        return self.per_failure_s * self.per_day

    @property
    def fraction(self) -> float | None:
        """Fraction of the time that is lost; None if unknown."""
        return None if self.per_day_s is None else self.per_day_s / DAY_S
