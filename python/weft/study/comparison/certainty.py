# SPDX-License-Identifier: LGPL-2.1-only
"""Certainty of a gain, based on the simulator's errors for measured calls.

data/errors.csv contains the error of each measured call. The expected error of a side of a
comparison (switches or hosts) is the error that eight of ten similar calls did not exceed:

- on the same device, if at least eight calls with the same executor were measured on it: for
  switches, the mechanism on the presets of switch and NIC; for hosts, the algorithm on the fabric
  or on its presets of hosts and messages. A program may resemble any of the tables, so the table
  with the largest such error is used;
- otherwise, and outside the measured range of the device (rate, size, hosts, ranks per host,
  changed values of its presets), on all machines to which no value was fitted, pooled together.

Calls are similar if they agree in four conditions: the size class (up to 4 KiB, up to 256 KiB,
larger), a number of ranks that is a power of two (otherwise algorithms need additional steps),
several ranks per host, and several switches on the path. If fewer than eight similar calls were
measured, or fewer than three machines without fitted values, the conditions are dropped in reverse
order.

Among n errors, the error of rank 0.8 (n + 1), rounded up, bounds eight of ten other calls; for
small n, the largest error is used.

The errors of a run's calls are weighted by their share of its time: errors on one side add up,
since one model causes them, and the sums of both sides are combined in quadrature. Calls executed
by the same device in both runs, time outside collectives, and waiting for the last rank to enter
a call cancel and are not counted.

    certainty = of_runs(timed_run(machine, offloaded), timed_run(machine, hosts))
    certainty.low, certainty.high, certainty.says
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Protocol

from weft.benchmarks.certainty import CALIBRATION, LEVEL, MEASUREMENTS, Certainty, of_interval
from weft.benchmarks.measured import (
    HOSTS,
    SWITCHES,
    Call,
    Device,
    ErrorRow,
    Machine,
    beyond_measured,
    error_rows,
)

_LEAST = 8
_MACHINES = 3
_SMALL, _MEDIUM = 4096, 262144

Kind = tuple[str, int, str, str]
"""Collective, ranks, datatype and operation of calls."""


# ---- Expected errors -----------------------------------------------------------------------------


def expected_error(
    side: str, device: str, call: Call, rows: Sequence[ErrorRow] | None = None
) -> float:
    """Return the error, in ln, that eight of ten similar calls do not exceed."""
    kind = _kind_of(call)
    executor = _executor(side, call)
    if rows is None:
        return _expected(side, device, executor, kind)
    return _error(side, device, executor, kind, rows)


_CallKind = tuple[int, bool, bool, int]
"""Conditions of similar calls: size class, ranks are a power of two, several ranks per host, number
of switches."""


def _kind_of(call: Call) -> _CallKind:
    size = (call.bytes > _SMALL) + (call.bytes > _MEDIUM)
    return size, call.ranks.bit_count() == 1, call.ppn > 1, call.switches


def _executor(side: str, call: Call) -> tuple[str, str]:
    """Return the key of an executor; host algorithms are specific to a collective."""
    return ("", call.executor) if side == SWITCHES else (call.collective, call.executor)


@cache
def _expected(side: str, device: str, executor: tuple[str, str], kind: _CallKind) -> float:
    return _error(side, device, executor, kind, error_rows())


def _error(
    side: str, device: str, executor: tuple[str, str], kind: _CallKind, rows: Sequence[ErrorRow]
) -> float:
    known = [row for row in rows if row.side == side]
    own = [row for row in known if row.device == device and _executor(side, row.call) == executor]
    if len(own) >= _LEAST:
        tables: dict[str, list[float]] = {}
        for row in _alike(kind, own):
            tables.setdefault(row.table, []).append(row.error)
        return max(map(_bound, tables.values()))
    unfitted = [row for row in known if row.unfitted]
    return _bound([row.error for row in _alike(kind, unfitted, _MACHINES)])


def _bound(errors: Sequence[float]) -> float:
    """Return the absolute error that bounds eight of ten other calls; infinite without data."""
    sizes = sorted(map(abs, errors))
    rank = min(len(sizes), math.ceil(LEVEL * (len(sizes) + 1)))
    return sizes[rank - 1] if sizes else math.inf


def _alike(kind: _CallKind, rows: Sequence[ErrorRow], machines: int = 1) -> Sequence[ErrorRow]:
    """Return the rows of similar calls, under the most conditions that leave enough rows."""
    for conditions in range(len(kind), 0, -1):
        found = [row for row in rows if _kind_of(row.call)[:conditions] == kind[:conditions]]
        if len(found) >= _LEAST and len({row.device for row in found}) >= machines:
            return found
    return rows


@dataclass(frozen=True)
class Side:
    """Expected error of one side of a comparison."""

    width: float
    """Factor, in ln, by which the time of this side may be off."""
    beyond: Sequence[str]
    """Values outside the measured ranges."""


def of_side(
    side: str,
    machine: Machine,
    calls: Sequence[Call],
    rows: Sequence[ErrorRow] | None = None,
) -> Side:
    """Return the expected error of a run's calls, based on these errors or on all errors."""
    device = machine.devices[side]
    beyond = beyond_measured(side, machine, calls)
    known = "" if beyond else device.name
    width = sum(call.share * expected_error(side, known, call, rows) for call in calls)
    return Side(width, [str(one) for one in beyond])


# ---- Intervals -----------------------------------------------------------------------------------


def of_gain(speed_up: float, sides: Sequence[Side]) -> Certainty:
    """Return the certainty of a gain."""
    wide = math.exp(combined(sides))
    return certainty(speed_up / wide, speed_up * wide, MEASUREMENTS, sides)


def of_call(
    speed_up: float, machine: Machine, call: Call, mechanism: str, algorithm: str
) -> Certainty:
    """Return the certainty of the gain of a switch call over a host algorithm."""
    executors = {SWITCHES: mechanism, HOSTS: algorithm}
    return of_gain(
        speed_up,
        [of_side(side, machine, [replace(call, executor=its)]) for side, its in executors.items()],
    )


def combined(sides: Sequence[Side]) -> float:
    """Return the factor, in ln, by which a gain may be off."""
    return math.hypot(*(one.width for one in sides))


def certainty(low: float, high: float, basis: str, sides: Sequence[Side]) -> Certainty:
    """Return the certainty with the verdict for an interval."""
    beyond = dict.fromkeys(text for one in sides for text in one.beyond)
    return of_interval(low, high, basis, list(beyond))


# ---- Runs ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CallsOfKind:
    """All calls of one kind in a run that one executor handled."""

    executor: str
    calls: int
    bytes: float
    time_s: float
    """Mean over the ranks."""
    offloaded: bool
    """True if switches executed the calls."""
    wait_s: float = 0.0
    """Part of the time before the last rank enters."""


@dataclass(frozen=True)
class TimedRun:
    """Run with the times of its calls."""

    machine: Machine
    time_s: float
    ppn: int
    hosts: int
    kinds: Mapping[Kind, Sequence[CallsOfKind]]

    def side(self, kind: Kind) -> str:
        """Return the side that executed calls of a kind: switches if they executed any of them."""
        return SWITCHES if any(one.offloaded for one in self.kinds[kind]) else HOSTS

    def device(self, kind: Kind) -> Device | None:
        """Return the device that executed calls of a kind."""
        return self.machine.devices.get(self.side(kind))

    def calls(self, kind: Kind, *, whole: bool = False) -> Iterator[Call]:
        """Yield a side's calls of a kind with their shares of the run, or of the `whole` kind.

        If switches execute some calls of a kind, the calls that fall back are the same in both
        runs.
        """
        offloaded = self.side(kind) == SWITCHES
        found = [one for one in self.kinds[kind] if one.offloaded == offloaded]
        total = sum(one.time_s for one in found) if whole else self.time_s
        for one in found:
            yield Call(
                kind[0],
                one.bytes / max(1, one.calls),
                kind[1],
                max(1, min(self.ppn, kind[1])),
                self.machine.switches(self.hosts),
                one.executor,
                min(1.0, (one.time_s - one.wait_s) / total) if total else 1.0 / len(found),
            )

    def sides(self, kinds: Sequence[Kind], *, whole: bool = False) -> list[Side]:
        """Return the expected errors of these calls by side."""
        by_side = self._by_side(kinds, whole=whole)
        return [of_side(side, self.machine, calls) for side, calls in by_side.items()]

    def _by_side(self, kinds: Iterable[Kind], *, whole: bool = False) -> dict[str, list[Call]]:
        by_side: dict[str, list[Call]] = {}
        for kind in kinds:
            by_side.setdefault(self.side(kind), []).extend(self.calls(kind, whole=whole))
        return by_side

    @property
    def beyond(self) -> list[str]:
        """Values of all calls outside the measured ranges of the devices that executed them."""
        return [
            str(one)
            for side, calls in self._by_side(self.kinds).items()
            for one in beyond_measured(side, self.machine, calls)
        ]


class RecordedCalls(Protocol):
    """Row of a record's collectives."""

    collective: str
    communicator_size: int
    datatype: str
    op: str
    path: str
    algorithm: str
    calls: int
    bytes: float

    @property
    def mean_time_s(self) -> float | None:
        """Time of one rank in one call."""

    @property
    def mean_wait_s(self) -> float | None:
        """Part of it before the last rank enters."""


def timed_run(
    machine: Machine,
    rows: Iterable[RecordedCalls],
    *,
    time_s: float,
    ranks: int,
    ppn: int,
) -> TimedRun:
    """Return a run on a machine, created from its rows of collectives."""
    kinds: dict[Kind, dict[tuple[str, str], list[RecordedCalls]]] = {}
    for row in rows:
        kind = (row.collective, row.communicator_size, row.datatype, row.op)
        kinds.setdefault(kind, {}).setdefault((row.path, row.algorithm), []).append(row)
    found = {
        kind: [_together(kind, some, ranks) for some in its.values()] for kind, its in kinds.items()
    }
    return TimedRun(machine, time_s, ppn, -(-ranks // max(1, ppn)), found)


def _together(kind: Kind, rows: Sequence[RecordedCalls], ranks: int) -> CallsOfKind:
    """Merge the calls of a kind with one executor that differ only in the reason."""
    times = sum((row.mean_time_s or 0) * row.calls for row in rows)
    waits = sum((row.mean_wait_s or 0) * row.calls for row in rows)
    share = kind[1] / ranks
    offloaded = rows[0].path != "fallback"
    return CallsOfKind(
        rows[0].path if offloaded else rows[0].algorithm,
        sum(row.calls for row in rows),
        sum(row.bytes for row in rows),
        times * share,
        offloaded,
        waits * share,
    )


def of_runs(
    ours: TimedRun, theirs: TimedRun, calibrated: tuple[float, float] | None = None
) -> Certainty | None:
    """Return the interval of the gain of one run over another.

    `calibrated` is the interval from the fabric's own calibration. The result is None if the same
    devices executed all calls in both runs.
    """
    kinds = [kind for kind in ours.kinds if differs(kind, ours, theirs)]
    if not kinds or not ours.time_s:
        return None
    sides = [*ours.sides(kinds), *theirs.sides(kinds)]
    if calibrated is not None:
        return certainty(*calibrated, CALIBRATION, sides)
    return of_gain(theirs.time_s / ours.time_s, sides)


def of_kind(speed_up: float, kind: Kind, ours: TimedRun, theirs: TimedRun) -> Certainty | None:
    """Return the interval of the gain of one kind of call."""
    if not differs(kind, ours, theirs):
        return None
    return of_gain(
        speed_up, [side for run in (ours, theirs) for side in run.sides([kind], whole=True)]
    )


def differs(kind: Kind, ours: TimedRun, theirs: TimedRun) -> bool:
    """Return True if calls of a kind were executed by different devices with known errors."""
    if kind not in ours.kinds or kind not in theirs.kinds:
        return False
    devices = ours.device(kind), theirs.device(kind)
    return None not in devices and devices[0] != devices[1]
