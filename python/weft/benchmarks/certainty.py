# SPDX-License-Identifier: LGPL-2.1-only
"""Interval of a gain, and the rule that turns it into a verdict.

    certainty = of_interval(1.1, 1.3, MEASUREMENTS)
    certainty.says          # `faster`
    gained(1.2, certainty)  # `1.20 times as fast (1.10 to 1.30, 80 %)`
    around([certainty])     # `1.10 to 1.30, 80 %`
    worth(1.2, certainty)   # `worth it`

All sentences and tables about gains take their verdict from here: an interval within 0.5 % of 1 is
`same`, an interval that contains 1 `cannot tell`. Without an interval, the gain itself decides.
Offloading is `worth it` if it is faster and the gain is at least `WORTH`.
"""

from collections.abc import Iterable, Sequence
from typing import Literal

from msgspec import field

from weft.base.models import Model, Number
from weft.base.units import format_ratio

LEVEL = 0.8
"""Fraction of measured cases that intervals cover."""
CANNOT_TELL: Literal["cannot tell"] = "cannot tell"
SAME: Literal["same"] = "same"
TIE = 0.005
"""Distance from 1 within which a speed-up is a tie; the simulation is far less accurate."""
WORTH = 1.1
"""Smallest gain at which computing switches count as worth it."""
CALIBRATION, MEASUREMENTS = "calibration", "measurements"
Says = Literal["faster", "same", "slower", "cannot tell"]
Worth = Literal["worth it", "not worth it", "cannot tell"]


class Certainty(Model, kw_only=True):
    """Interval of a gain, and its basis."""

    low: Number
    high: Number
    level: Number = LEVEL
    basis: str
    """`calibration` of the fabric, or `measurements` of data/errors.csv."""
    says: str
    """`faster`, `same`, `slower` or `cannot tell`."""
    beyond: list[str] = field(default_factory=list)
    """Values outside the measured ranges."""

    @property
    def cannot_tell(self) -> bool:
        """True if the interval contains 1, and more than a tie."""
        return self.says == CANNOT_TELL

    @property
    def interval(self) -> str:
        """Interval and verdict in brief."""
        return f"{shown(self.low, self.high)}{f': {CANNOT_TELL}' if self.cannot_tell else ''}"

    def __str__(self) -> str:
        """Return the interval, its level, its verdict, and values outside the measured ranges."""
        unsure = f": {CANNOT_TELL}" if self.cannot_tell else ""
        beyond = f" ({not_measured(self.beyond)})" if self.beyond else ""
        return f"{around([self])}{unsure}{beyond}"


def of_interval(low: float, high: float, basis: str, beyond: Sequence[str] = ()) -> Certainty:
    """Return the certainty with the verdict for an interval."""
    return Certainty(low=low, high=high, basis=basis, says=verdict(low, high), beyond=list(beyond))


def verdict(low: float, high: float) -> Says:
    """Return what the interval of a speed-up says."""
    if low >= 1 - TIE and high <= 1 + TIE:
        return SAME
    return "faster" if low > 1 else "slower" if high < 1 else CANNOT_TELL


def shown(low: float, high: float) -> str:
    """Return a phrase for an interval."""
    return f"{format_ratio(low)} to {format_ratio(high)}"


def around(found: Sequence[Certainty]) -> str:
    """Return the smallest interval that contains all of these, and its basis in brief."""
    low, high = min(one.low for one in found), max(one.high for one in found)
    measured = all(one.basis == MEASUREMENTS for one in found)
    return f"{shown(low, high)}, {f'{LEVEL * 100:.0f} %' if measured else 'by calibration'}"


def worth(gain: float, found: Certainty | None) -> Worth:
    """Return the verdict on offloading with this gain."""
    if found is not None and found.cannot_tell:
        return CANNOT_TELL
    return "worth it" if gain >= WORTH else "not worth it"


def not_measured(beyond: Iterable[str]) -> str:
    """Return values outside the measured ranges in one line, each once; empty if there are none."""
    found = dict.fromkeys(beyond)
    return f"not measured: {'; '.join(found)}" if found else ""


def gained(speed_up: float | None, found: Certainty | None) -> str:
    """Return a phrase for a speed-up, its interval and its verdict, which agree."""
    if speed_up is None:
        return "no simulated time in either run"
    interval = f" ({around([found])})" if found else ""
    unsure = f": {CANNOT_TELL}" if found and found.cannot_tell else ""
    return f"{_gain(speed_up, found)}{interval}{unsure}"


def _gain(speed_up: float, found: Certainty | None) -> str:
    if (found.says if found else verdict(speed_up, speed_up)) == SAME:
        return "no gain"
    if verdict(speed_up, speed_up) == SAME:
        return "equally fast"
    return f"{format_ratio(speed_up)} times as fast"
