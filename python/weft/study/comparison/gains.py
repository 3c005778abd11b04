# SPDX-License-Identifier: LGPL-2.1-only
"""Gains of a comparison: of each kind of call, of each kind of time, and of the whole run."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from weft.base.models import Model, Number, Whole
from weft.runs.record import Record
from weft.runs.record_data import CollectivePart
from weft.study.comparison import intervals

if TYPE_CHECKING:
    from polars import DataFrame

Kind = tuple[str, int, str, str]


class _Compared(Model, kw_only=True):
    """What took time in the runs; its speed-ups follow from them."""

    def __post_init__(self) -> None:
        """Work out how many times as fast it is with offload."""
        own: Any = self
        own.speed_up = ratio(own.time_without_s, own.time_s)
        own.speed_up_over_best = ratio(own.time_best_s, own.time_s)


class Gain(_Compared, kw_only=True):
    """What offloading gained on one kind of call: collective, ranks, datatype, operation."""

    collective: str
    communicator_size: Whole
    datatype: str
    op: str
    paths: tuple[str, ...]
    """Ways that the calls went in the run with offload, those of the most calls first; a
    fallback's is the hosts' algorithm."""
    reasons: tuple[str, ...]
    """Why, a word a path; `offloaded` where it was."""
    algorithms: tuple[str, ...]
    """The hosts' algorithms in the run without offload."""
    calls: Whole
    calls_without: Whole
    bytes: Number
    time_s: Number | None
    """Time in all calls together, mean of the run's ranks; None where SimGrid does not see it."""
    time_without_s: Number | None
    speed_up: Number | None = None
    """How many times as fast the calls are with offload."""
    algorithms_best: tuple[str, ...] = ()
    """The hosts' fastest algorithms, by which the run with `--fallback best` made the calls."""
    time_best_s: Number | None = None
    """Time in all calls together in that run; None where there was none."""
    speed_up_over_best: Number | None = None
    """How many times as fast the calls are with offload as by those."""


class Share(_Compared, kw_only=True):
    """What a kind of `profile` took in both runs: calls of MPI, or what is outside of it."""

    kind: str
    time_s: Number
    """Mean of the ranks."""
    time_without_s: Number
    speed_up: Number | None = None
    """How many times as fast it is with offload."""
    time_best_s: Number | None = None
    """In the run with the hosts' fastest algorithms; None where there was none."""
    speed_up_over_best: Number | None = None
    """How many times as fast it is with offload as in that run."""


@dataclass(frozen=True)
class Compared:
    """A run with offload, and the same without; none where the first did not end."""

    offloaded: Record
    hosts: Record | None
    errors: str = ""
    """What the run that did not end wrote to its standard error, of those without offload."""
    best: Record | None = None
    """Without offload and with `--fallback best`; none where `hosts` is such, on a platform of
    SimGrid's, and where a run before did not end."""
    speed_up_interval: intervals.Range | None = None
    """What the intervals of the fabric's values leave of `speed_up`, where it has some."""

    @property
    def complete(self) -> bool:
        """Whether both runs came to their end, so that their times can be compared."""
        return self.offloaded.ended and self.hosts is not None and self.hosts.ended

    @property
    def speed_up(self) -> float | None:
        """How many times as fast the run is with offload, in simulated time."""
        if self.hosts is None or not self.complete:
            return None
        return ratio(self.hosts.simulated_time_s, self.offloaded.simulated_time_s)

    @property
    def speed_up_over_best(self) -> float | None:
        """How many times as fast the run is with offload as by the hosts' fastest algorithms."""
        if self.best is None or not (self.complete and self.best.ended):
            return None
        return ratio(self.best.simulated_time_s, self.offloaded.simulated_time_s)

    @property
    def exit_status(self) -> int:
        """The first that is not 0, of the runs in their order."""
        runs = (self.offloaded, self.hosts, self.best)
        return next((run.exit_status for run in runs if run is not None and run.exit_status), 0)

    def gains(self) -> list[Gain]:
        """Return the gain of each kind of call, longest time on the hosts first."""
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
        return sorted(gains, key=lambda gain: -(gain.time_without_s or gain.time_s or 0))

    def shares(self) -> list[Share]:
        """Return what each kind of calls took, and what is outside of MPI; they add up to all."""
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
        """Return the gain of each kind of call as a data frame, a row for each.

        Times are seconds, mean of the run's ranks: `time_s` with offload, `time_without_s` without,
        `time_best_s` with the hosts' fastest algorithms; `speed_up` and `speed_up_over_best` say
        how many times as fast the calls are.
        """
        import polars
        from msgspec import structs

        return polars.DataFrame(
            [structs.asdict(gain) for gain in self.gains()], infer_schema_length=None
        )


def ratio(without_s: float | None, with_s: float | None) -> float | None:
    """Return how many times as fast; None where a time is not known, or nothing took any."""
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
        time_s=_mean_time(ours, ranks),
        time_without_s=_mean_time(theirs, ranks),
        time_best_s=_mean_time(best, ranks),
    )


def _mean_time(rows: Sequence[CollectivePart], ranks: int) -> float | None:
    times = [row.total_time_s for row in rows]
    known = [time_s for time_s in times if time_s is not None]
    return sum(known) / ranks if times and len(known) == len(times) else None
