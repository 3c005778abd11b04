# SPDX-License-Identifier: LGPL-2.1-only
"""TopoCloud's measured round-trip times, the cost of a pass through a device, and probes.

A round trip over a direct cable is `direct`; one that crosses a device once in each direction adds
twice that device's cost. As in the measurement, the cost includes the device's second cable.
"""

import csv
import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from weft.base import paths
from weft.base.errors import WeftError
from weft.base.measured import read_rows
from weft.base.user_files import UnreadableError, read_text

TABLE = "topocloud_rtt.csv"
# Ranges stated in section IV of TopoCloud for the chassis: above a direct cable, below an L2
# switch.
STATED = {"direct": (182.0, 217.0), "l2": (-17.0, -20.0)}
# TopoCloud's probe pings with "one tcp packet at a time" and gives no size: assumed minimum-size.
PROBE_FRAME_BYTES = 64
TIMESTAMPS = ("c1", "s1", "s2", "c2")


@dataclass(frozen=True)
class Medians:
    """Round-trip times in nanoseconds."""

    direct: float
    chassis: float
    l2: float

    @property
    def chassis_pass(self) -> float:
        """Cost of one pass through the chassis."""
        return (self.chassis - self.direct) / 2

    @property
    def l2_pass(self) -> float:
        """Cost of one pass through a layer 2 switch."""
        return (self.l2 - self.direct) / 2

    def over(self, way: str) -> float:
        """Return by how many percent the round trip over the chassis is longer than another."""
        return 100 * (self.chassis / float(getattr(self, way)) - 1)

    @property
    def chassis_pass_range(self) -> tuple[float, float]:
        """Cost of a pass by the stated range above the direct cable and by the median."""
        trips = (self.direct * (1 + percent / 100) for percent in STATED["direct"])
        return _hull(self.chassis_pass, *((trip - self.direct) / 2 for trip in trips))

    @property
    def l2_pass_range(self) -> tuple[float, float]:
        """Cost of a layer 2 switch by the range stated for the chassis and by the median."""
        trips = (self.chassis / (1 + percent / 100) for percent in STATED["l2"])
        return _hull(self.l2_pass, *((trip - self.direct) / 2 for trip in trips))


def _hull(*values: float) -> tuple[float, float]:
    return min(values), max(values)


@cache
def measured() -> Medians:
    """Return the paper's measurements."""
    rows = read_rows(paths.data(TABLE))
    return Medians(**{row["way"]: float(row["median_ns"]) for row in rows})


def round_trip(c1: float, s1: float, s2: float, c2: float) -> float:
    """Return a round-trip time as SLA-NG's probed defines it: without the time in the server."""
    return (c2 - c1) - (s2 - s1)


def read_probe(path: Path) -> list[float]:
    """Return the round-trip times of a table of timestamps, in nanoseconds."""
    try:
        lines = read_text(path).splitlines()
    except UnreadableError as error:
        raise WeftError(f"{path}: {error}") from None
    rows = csv.DictReader(line for line in lines if not line.startswith("#"))
    if tuple(rows.fieldnames or ()) != TIMESTAMPS:
        raise WeftError(f"{path}: its first line must be {','.join(TIMESTAMPS)}")
    trips = [_trip(path, rows.line_num, row) for row in rows]
    if not trips:
        raise WeftError(f"{path}: has no rows; give one per round trip, {','.join(TIMESTAMPS)}")
    return trips


def _trip(path: Path, line: int, row: dict[str, str]) -> float:
    try:
        c1, s1, s2, c2 = (float(row[name]) for name in TIMESTAMPS)
    except (TypeError, ValueError):
        raise WeftError(f"{path}: row {line}: write four numbers, in nanoseconds") from None
    if not all(map(math.isfinite, (c1, s1, s2, c2))):
        raise WeftError(f"{path}: row {line}: write four numbers, in nanoseconds")
    if not (c1 <= c2 and s1 <= s2):
        raise WeftError(
            f"{path}: row {line}: c2 before c1 or s2 before s1; time stamps of a clock must"
            " increase"
        )
    return round_trip(c1, s1, s2, c2)
