# SPDX-License-Identifier: LGPL-2.1-only
"""Time that runs lose to faults, with its distribution over seeds.

A run with faults is compared with the run of the same settings without faults: without a fault
file, or with `fault.scale = 0`. If there is no such run, the record's loss of collectives in the
network is used.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from weft.base.units import natural_order
from weft.campaign.file.file import REPEATS
from weft.campaign.pairs import OFF, OFFLOAD, Point
from weft.report.data.axes import Axis
from weft.report.data.study import Study
from weft.runs.faults.budget import Budget
from weft.runs.record_data import ENDED_BY_FAULT

FAULTS, SCALE, POLICY = "faults", "fault.scale", "recovery.collectives"
_TABLES = ("fault.", "recovery.")
_ACROSS = ("fault.scale", "fault.mtbf")
"""Keys that set a failure rate."""
_NOTHING = ("", "0", "0.0")


@dataclass(frozen=True)
class Lost:
    """Time lost by runs that differ only in their seed."""

    x: str
    """Value of the rate's key, as text."""
    way: str
    """Offload mode, and reaction of collectives in the network."""
    others: Mapping[str, str]
    """Values of all other keys that vary."""
    without_s: float | None
    """Time without faults; None if unknown."""
    lost_s: Sequence[float]
    """Times lost by the runs, in increasing order."""
    ended: int
    """Number of runs that did not complete, which are not in `lost_s`."""
    ended_s: Sequence[float]
    """Times until a failure ended these runs, for those that a failure ended."""
    failures: int
    """Number of failures in the runs of `lost_s` and `ended_s`."""
    per_day: float | None
    """Failures per day at the real rates; None if unknown."""

    @property
    def budget(self) -> Budget:
        """Cost of a failure multiplied by the failure rate; a run that it ended is lost."""
        return Budget(sum(self.lost_s) + sum(self.ended_s), self.failures, self.per_day)

    @property
    def ends_per_day(self) -> float | None:
        """Failures per day that end the job; None if unknown."""
        if self.per_day is None or not self.failures:
            return None
        return self.per_day * len(self.ended_s) / self.failures

    def quantile(self, part: float) -> float:
        """Return a quantile of the time lost, interpolated between runs."""
        return float(np.quantile(self.lost_s, part))


@dataclass(frozen=True)
class Losses:
    """Time lost against failure rate."""

    across: Axis | None
    """Key of the rate; None if it does not vary."""
    rows: Sequence[Lost]

    @property
    def others(self) -> list[str]:
        """Keys that vary, except the rate."""
        return list(self.rows[0].others)


def losses(study: Study) -> Losses | None:
    """Return the time lost to faults; None if no run had faults."""
    faulty = [row for row, one in enumerate(study.records) if one["fault_events"] is not None]
    names = [axis.name for axis in study.varying]
    across = _across(study)
    groups: dict[tuple[str, ...], list[int]] = {}
    keys = [name for name in names if name not in REPEATS]
    for row in faulty:
        point = study.points[row]
        if row not in study.best_rows and point.get(SCALE, "1") not in _NOTHING[1:]:
            groups.setdefault(tuple(point[key] for key in keys), []).append(row)
    without = _without(study)
    own = (across.name if across else "", OFFLOAD, POLICY)
    rows = []
    for rows_of in groups.values():
        point = study.points[rows_of[0]]
        others = {key: point[key] for key in keys if key not in own}
        rows.append(_lost(study, across, rows_of, others, without))
    found = [one for one in rows if one.lost_s or one.ended]
    return Losses(across, sorted(found, key=lambda one: _place(across, one))) if found else None


def _across(study: Study) -> Axis | None:
    """Return the key of the rate: a scale or a mean time, else any fault key that varies."""
    of_faults = [one for one in study.varying if is_of_faults(one.name)]
    rates = [one for one in of_faults if one.name not in (POLICY, *REPEATS)]
    named = [one for name in _ACROSS for one in rates if one.name == name]
    return next(iter([*named, *rates]), None)


def is_of_faults(key: str) -> bool:
    """Return True for the fault file, and for keys of it."""
    return key == FAULTS or key.startswith(_TABLES)


def _place(across: Axis | None, one: Lost) -> tuple[tuple[str, ...], str, int]:
    return tuple(one.others.values()), one.way, across.values.index(one.x) if across else 0


def _but_faults(point: Point) -> tuple[tuple[str, str], ...]:
    return tuple(
        (key, value) for key, value in point.items() if not is_of_faults(key) and key not in REPEATS
    )


def _without(study: Study) -> dict[tuple[tuple[str, str], ...], float]:
    """Return the time of runs without faults by their other keys, averaged over repetitions."""
    times: dict[tuple[tuple[str, str], ...], list[float]] = {}
    for point, record in zip(study.points, study.records, strict=True):
        none = not point.get(FAULTS) if FAULTS in point else record["fault_events"] is None
        if record["state"] == "done" and (none or point.get(SCALE) in _NOTHING[1:]):
            times.setdefault(_but_faults(point), []).append(record["simulated_time_s"])
    return {key: sum(some) / len(some) for key, some in times.items()}


def _lost(
    study: Study,
    across: Axis | None,
    rows: Sequence[int],
    others: Mapping[str, str],
    without: Mapping[tuple[tuple[str, str], ...], float],
) -> Lost:
    point = study.points[rows[0]]
    done = [study.records[row] for row in rows if study.records[row]["state"] == "done"]
    by_fault = [
        one
        for one in (study.records[row] for row in rows)
        if one["state"] == "failed" and one["outcome"] in ENDED_BY_FAULT and one["failures"]
    ]
    alone = without.get(_but_faults(point))
    lost = [
        one["lost_in_calls_s"] if alone is None else one["simulated_time_s"] - alone for one in done
    ]
    ended = sum(study.records[row]["state"] == "failed" for row in rows)
    x = point[across.name] if across else ""
    known = {one["failures_per_day"] for one in (*done, *by_fault)}
    return Lost(
        x,
        _way(point),
        others,
        alone,
        sorted(lost),
        ended,
        [one["simulated_time_s"] for one in by_fault],
        failures=sum(one["failures"] or 0 for one in done)
        + sum(one["failure_times"] or one["failures"] for one in by_fault),
        per_day=known.pop() if len(known) == 1 else None,
    )


def _way(point: Point) -> str:
    mode = point.get(OFFLOAD, "") or "stream"
    if mode == OFF:
        return "hosts alone"
    policy = point.get(POLICY, "")
    return f"{mode}, {policy}" if policy else mode


def ways(rows: Sequence[Lost]) -> list[str]:
    """Return all offload modes and reactions ordered by name, the hosts last."""
    names = sorted({one.way for one in rows}, key=natural_order)
    return sorted(names, key="hosts alone".__eq__)


def groups(rows: Sequence[Lost]) -> Iterator[tuple[Mapping[str, str], list[Lost]]]:
    """Yield the rows of each combination of the keys except the rate."""
    found: dict[tuple[str, ...], list[Lost]] = {}
    for one in rows:
        found.setdefault(tuple(one.others.values()), []).append(one)
    for some in found.values():
        yield some[0].others, some
