# SPDX-License-Identifier: LGPL-2.1-only
"""Interval of a gain, propagated from the calibration intervals of a fabric's values.

If a fabric file has `[calibration.intervals]`, both sides are rerun with each value at either end
of its interval and all other values unchanged. The changes of the gain's logarithm are combined in
quadrature, separately for increases and decreases. This assumes that values are independent and
their effects additive.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from weft import _core
from weft.base.errors import WeftError
from weft.base.user_files import read_toml
from weft.runs import launch
from weft.runs.jobs.launch import PreparedJobs
from weft.runs.launch import PreparedRun
from weft.runs.record import Record

CALIBRATION, INTERVALS = "calibration", "intervals"
Range = tuple[float, float]
_Plan = PreparedRun | PreparedJobs


@dataclass(frozen=True)
class IntervalEnds:
    """Plans of one side with a value at the lower and at the upper end of its interval."""

    key: str
    low: PreparedRun
    high: PreparedRun


RUNS_PER_VALUE = 4
"""At both ends of its interval, with and without offload."""


def ends(plan: PreparedRun) -> list[IntervalEnds]:
    """Prepare runs at both bounds of each interval, except for values set by the user."""
    file, intervals = _of_fabric(plan)
    return [
        IntervalEnds(key, *(_at(plan, file, key, end) for end in interval))
        for key, interval in intervals.items()
    ]


def number_of_runs(plan: _Plan) -> int:
    """Return how many runs the interval of the speed-up takes."""
    return RUNS_PER_VALUE * len(of_plan(plan))


def of_plan(plan: _Plan) -> dict[str, tuple[str, str]]:
    """Return the ends of the interval of each value of a plan's fabric."""
    return _of_fabric(plan)[1]


def _of_fabric(plan: _Plan) -> tuple[Path, dict[str, tuple[str, str]]]:
    """Return the fabric's file and its intervals; none on SimGrid platforms."""
    placement = plan.request.placement
    if placement.fabric is None:
        return Path(), {}
    file = Path(_core.load_fabric(placement.fabric).file)
    return file, of_tables(read_toml(file), placement.changes)


def of_tables(tables: Mapping[str, Any], changes: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return the intervals in a fabric's tables, except the intervals of changed values."""
    changed = {change.partition("=")[0].strip() for change in changes}
    found = tables.get(CALIBRATION, {}).get(INTERVALS, {})
    return {key: (low, high) for key, (low, high) in found.items() if key not in changed}


def _at(plan: PreparedRun, file: Path, key: str, value: str) -> PreparedRun:
    changes = (*plan.request.placement.changes, f"{key}={value}")
    try:
        return launch.prepare(plan.request.changed(changes=changes, timeline=None))
    except (_core.UserError, WeftError) as error:
        raise _invalid(file, key, value, error) from None


def invalid_end(plan: _Plan, key: str, value: str, error: Exception) -> WeftError:
    """Return the error about an end of an interval that gives an invalid fabric."""
    return _invalid(_of_fabric(plan)[0], key, value, error)


def _invalid(file: Path, key: str, value: str, error: Exception) -> WeftError:
    return WeftError(
        f"{file}: [{CALIBRATION}.{INTERVALS}]: {key}: its end {value} gives an invalid fabric:"
        f" {error};"
        " correct the interval, or leave it out"
    )


def interval(
    speed_up: float,
    values: Sequence[IntervalEnds],
    run: Callable[[PreparedRun], Record],
) -> Range | None:
    """Return the interval of a speed-up; None if a run at an end does not complete."""
    found = []
    for value in values:
        at_ends = [_speed_up(plan, run) for plan in (value.low, value.high)]
        if any(one is None for one in at_ends):
            return None
        found += [(one or speed_up) for one in at_ends]
    return combined(speed_up, list(zip(found[::2], found[1::2], strict=True)))


def _speed_up(plan: PreparedRun, run: Callable[[PreparedRun], Record]) -> float | None:
    offloaded = run(plan)
    hosts = run(replace(plan, request=plan.request.changed(offload="off")))
    if not (offloaded.ended and hosts.ended and offloaded.simulated_time_s):
        return None
    return hosts.simulated_time_s / offloaded.simulated_time_s


def combined(speed_up: float, at_ends: Sequence[Range]) -> Range:
    """Combine the speed-ups at both ends of each value into one interval."""
    changes = [[math.log(one / speed_up) for one in pair] for pair in at_ends]
    down = math.hypot(*(min(0.0, *pair) for pair in changes))
    up = math.hypot(*(max(0.0, *pair) for pair in changes))
    return speed_up * math.exp(-down), speed_up * math.exp(up)
