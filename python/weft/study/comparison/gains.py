# SPDX-License-Identifier: LGPL-2.1-only
"""Gains of a comparison: by kind of call, by kind of time, and for the whole run."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from weft.base.models import Model, Number, Whole
from weft.benchmarks.certainty import Certainty
from weft.benchmarks.measured import Machine
from weft.runs.record import Record
from weft.runs.record_data import CollectivePart
from weft.study.comparison import intervals
from weft.study.comparison.certainty import Kind, TimedRun, of_kind, of_runs, timed_run

if TYPE_CHECKING:
    from polars import DataFrame


class _TimedRow(Model, kw_only=True):
    """Base of rows with times; computes their speed-ups."""

    def __post_init__(self) -> None:
        """Compute the speed-ups."""
        own: Any = self
        own.speed_up = ratio(own.time_without_s, own.time_s)
        own.speed_up_over_best = ratio(own.time_best_s, own.time_s)


class Gain(_TimedRow, kw_only=True):
    """Gain from offloading for one kind of call: collective, ranks, datatype, operation."""

    collective: str
    communicator_size: Whole
    datatype: str
    op: str
    paths: tuple[str, ...]
    """Executors of the calls in the run with offload, the most frequent first.

    After a fallback, the executor is the host algorithm.
    """
    reasons: tuple[str, ...]
    """One-word reason for each path; `offloaded` for offloaded calls."""
    algorithms: tuple[str, ...]
    """Host algorithms in the run without offloading."""
    calls: Whole
    calls_without: Whole
    bytes: Number
    time_s: Number | None
    """Total time of all calls, averaged over ranks; None if SimGrid cannot observe it."""
    time_without_s: Number | None
    wait_s: Number | None = None
    """Part of `time_s` before the last rank of each call entered; None in earlier records."""
    wait_without_s: Number | None = None
    speed_up: Number | None = None
    """Speed-up of the calls from offloading."""
    algorithms_best: tuple[str, ...] = ()
    """Host algorithms in the run with `--fallback best`."""
    time_best_s: Number | None = None
    """Total time of all calls in the run with `--fallback best`; None without this run."""
    wait_best_s: Number | None = None
    speed_up_over_best: Number | None = None
    """Speed-up from offloading over the run with `--fallback best`."""
    low: Number | None = None
    high: Number | None = None
    """Interval of `speed_up`; None unless switches executed the calls."""
    says: str = ""
    """`faster`, `same`, `slower` or `cannot tell`; empty without an interval."""
    low_over_best: Number | None = None
    high_over_best: Number | None = None
    says_over_best: str = ""


class Share(_TimedRow, kw_only=True):
    """Time in both runs of one kind of `profile`: an MPI call, or time outside MPI."""

    kind: str
    time_s: Number
    """Mean over ranks."""
    time_without_s: Number
    speed_up: Number | None = None
    """Speed-up from offloading."""
    time_best_s: Number | None = None
    """Time in the run with the hosts' fastest algorithms; None without this run."""
    speed_up_over_best: Number | None = None
    """Speed-up from offloading over the run with the hosts' fastest algorithms."""


@dataclass(frozen=True)
class ComparedRuns:
    """Run with offload and the same run without; None if the first run did not complete."""

    offloaded: Record
    hosts: Record | None
    errors: str = ""
    """Standard error of the run without offload, if it did not complete."""
    best: Record | None = None
    """Run without offload and with `--fallback best`, or None.

    It is None if `hosts` already uses these algorithms, on SimGrid platforms, and after a run that
    did not complete.
    """
    speed_up_interval: intervals.Range | None = None
    """Range of `speed_up` over the intervals of the fabric's values; None without intervals."""
    machine: Machine | None = None
    """Devices of the fabric, which identify its measurements; None on SimGrid platforms."""

    @property
    def certainty(self) -> Certainty | None:
        """Interval of `speed_up` and its basis; None on platforms, and without offloaded calls."""
        return self._certainty(self.hosts, self.speed_up_interval) if self.speed_up else None

    @property
    def certainty_over_best(self) -> Certainty | None:
        """Certainty of `speed_up_over_best`."""
        return self._certainty(self.best) if self.speed_up_over_best else None

    def _certainty(
        self, other: Record | None, calibrated: intervals.Range | None = None
    ) -> Certainty | None:
        ours, theirs = self._timed(self.offloaded), self._timed(other)
        return of_runs(ours, theirs, calibrated) if ours and theirs else None

    def _timed(self, run: Record | None) -> TimedRun | None:
        if run is None or self.machine is None:
            return None
        return timed_run(
            self.machine,
            run.collectives,
            time_s=run.simulated_time_s,
            ranks=run.ranks,
            ppn=run.ppn,
        )

    @property
    def complete(self) -> bool:
        """True if both runs completed, so that their times are comparable."""
        return self.offloaded.ended and self.hosts is not None and self.hosts.ended

    @property
    def speed_up(self) -> float | None:
        """Speed-up of the run by offloading, in simulated time."""
        if self.hosts is None or not self.complete:
            return None
        return ratio(self.hosts.simulated_time_s, self.offloaded.simulated_time_s)

    @property
    def speed_up_over_best(self) -> float | None:
        """Speed-up by offloading over the hosts' fastest algorithms."""
        if self.best is None or not (self.complete and self.best.ended):
            return None
        return ratio(self.best.simulated_time_s, self.offloaded.simulated_time_s)

    @property
    def exit_status(self) -> int:
        """First nonzero exit status of the runs in order."""
        runs = (self.offloaded, self.hosts, self.best)
        return next((run.exit_status for run in runs if run is not None and run.exit_status), 0)

    def gains(self) -> list[Gain]:
        """Return the gain of each kind of call, sorted by time on the hosts, longest first."""
        if self.hosts is None or not self.complete:
            return []
        ours, theirs = _by_kind(self.offloaded), _by_kind(self.hosts)
        best = _by_kind(self.best) if self.best is not None and self.best.ended else {}
        gains = [
            _gain(
                kind,
                (ours.get(kind, ()), theirs.get(kind, ()), best.get(kind, ())),
                self.offloaded.ranks,
            )
            for kind in dict.fromkeys((*ours, *theirs))
        ]
        for gain in gains:
            self._add_intervals(gain)
        return sorted(gains, key=lambda gain: -(gain.time_without_s or gain.time_s or 0))

    def _add_intervals(self, gain: Gain) -> None:
        kind = (gain.collective, gain.communicator_size, gain.datatype, gain.op)
        ours, theirs, best = map(self._timed, (self.offloaded, self.hosts, self.best))
        if (
            ours
            and theirs
            and gain.speed_up
            and (found := of_kind(gain.speed_up, kind, ours, theirs))
        ):
            gain.low, gain.high, gain.says = found.low, found.high, found.says
        over = gain.speed_up_over_best
        if ours and best and over and (found := of_kind(over, kind, ours, best)):
            gain.low_over_best, gain.high_over_best = found.low, found.high
            gain.says_over_best = found.says

    def shares(self) -> list[Share]:
        """Return the times by kind of call and outside MPI, which add up to the total."""
        if self.hosts is None or not self.complete:
            return []
        runs = [self.offloaded, self.hosts]
        runs += [self.best] if self.best is not None and self.best.ended else []
        ours, theirs, *best = ({part.kind: part.mean_s for part in run.profile} for run in runs)
        return [
            Share(
                kind=kind,
                time_s=ours.get(kind, 0.0),
                time_without_s=theirs.get(kind, 0.0),
                time_best_s=best[0].get(kind, 0.0) if best else None,
            )
            for kind in dict.fromkeys((*ours, *theirs))
        ]

    def frame(self) -> "DataFrame":
        """Return the gain of each kind of call as a data frame, one row per kind.

        Times are seconds, averaged over the run's ranks: `time_s` with offload, `time_without_s`
        without offload, `time_best_s` with the hosts' fastest algorithms; `wait_s`,
        `wait_without_s` and `wait_best_s` are the parts before the last rank entered; `speed_up`
        and `speed_up_over_best` are the resulting speed-ups of the calls; `low`, `high` and `says`
        are the interval of `speed_up` and its verdict; columns with `_over_best` refer to
        `speed_up_over_best`.
        """
        import polars
        from msgspec import structs

        return polars.DataFrame(
            [structs.asdict(gain) for gain in self.gains()], infer_schema_length=None
        )


def ratio(without_s: float | None, with_s: float | None) -> float | None:
    """Return the speed-up; None if a time is unknown or zero."""
    return without_s / with_s if without_s is not None and with_s else None


def _by_kind(record: Record) -> dict[Kind, list[CollectivePart]]:
    kinds: dict[Kind, list[CollectivePart]] = {}
    for row in record.collectives:
        kind = (row.collective, row.communicator_size, row.datatype, row.op)
        kinds.setdefault(kind, []).append(row)
    return kinds


def _gain(kind: Kind, runs: Sequence[Sequence[CollectivePart]], ranks: int) -> Gain:
    """Compare the calls of one kind in the runs: with offload, without, with `best`."""
    ours, theirs, best = (sorted(rows, key=lambda row: -row.calls) for rows in runs)
    collective, communicator_size, datatype, op = kind
    return Gain(
        collective=collective,
        communicator_size=communicator_size,
        datatype=datatype,
        op=op,
        paths=tuple(row.way for row in ours),
        reasons=tuple(row.why for row in ours),
        algorithms=tuple(dict.fromkeys(row.way for row in theirs)),
        algorithms_best=tuple(dict.fromkeys(row.way for row in best)),
        calls=sum(row.calls for row in ours),
        calls_without=sum(row.calls for row in theirs),
        bytes=sum(row.bytes for row in ours or theirs),
        time_s=_mean([row.total_time_s for row in ours], ranks),
        time_without_s=_mean([row.total_time_s for row in theirs], ranks),
        time_best_s=_mean([row.total_time_s for row in best], ranks),
        wait_s=_mean([row.total_wait_s for row in ours], ranks),
        wait_without_s=_mean([row.total_wait_s for row in theirs], ranks),
        wait_best_s=_mean([row.total_wait_s for row in best], ranks),
    )


def _mean(times: Sequence[float | None], ranks: int) -> float | None:
    known = [time_s for time_s in times if time_s is not None]
    return sum(known) / ranks if times and len(known) == len(times) else None
