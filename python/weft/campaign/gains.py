# SPDX-License-Identifier: LGPL-2.1-only
"""Certainty of gains between runs of a campaign, and the columns for gains in its tables.

A gain's interval is based on the calibration of the fabric, if both runs were repeated at the ends
of the calibrated intervals. Otherwise it is based on the simulator's errors on similar measured
calls (`weft.study.comparison.certainty`). All data comes from the store's index.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any

from weft import _core
from weft.base.errors import WeftError
from weft.benchmarks.certainty import CANNOT_TELL, LEVEL, SAME, Certainty
from weft.benchmarks.measured import Machine, machine_of
from weft.campaign.campaign import Prepared
from weft.campaign.file.columns import NOT_MEASURED
from weft.campaign.file.runs import Run, columns
from weft.campaign.own_job import own_job, own_results
from weft.campaign.pairs import FABRIC, GPUS, HOSTS, only_offloads, pairs, text
from weft.campaign.store.index import Index
from weft.runs.faults.changes import of_fabric
from weft.study.comparison.certainty import TimedRun, of_runs, timed_run
from weft.study.comparison.intervals import Range, combined

CertaintyOf = Callable[[int, int], Certainty | None]
"""Returns the certainty of a row's gain over another row; None if unknown."""
RangeOf = Callable[[int, int], Range | None]
"""Returns the calibration interval of a row's gain over another row; None if there is none."""


def unknown(_row: int, _other: int) -> Certainty | None:
    """Return None: no certainty is known for the runs."""
    return None


@dataclass(frozen=True)
class IndexedRun:
    """Properties of a run that determine the certainty of its gains."""

    fabric: str
    """Path or name of the fabric as given by the user."""
    changes: tuple[str, ...]
    ranks: int
    ppn: int | None
    row: Mapping[str, Any] | None
    """Row of the index; None if the run has not ended, or is a training iteration."""


@dataclass
class _Calls:
    """Row of a run's collectives."""

    collective: str
    communicator_size: int
    datatype: str
    op: str
    path: str
    algorithm: str
    calls: int
    bytes: float
    mean_time_s: float | None
    mean_wait_s: float | None


_KEYS = tuple(one.name for one in fields(_Calls))


class IndexedRuns:
    """Runs whose gains over each other are compared; a function of two rows, as `CertaintyOf`."""

    def __init__(self, runs: Sequence[IndexedRun], calibrated: RangeOf | None = None) -> None:
        """Read no fabric yet: each is loaded once, when a run on it is compared."""
        self._runs = runs
        self._calibrated = calibrated
        self._machine = cache(_machine)
        self._timed = cache(self._timed_run)

    def __call__(self, row: int, other: int) -> Certainty | None:
        """Return the certainty of the gain of a row over another row."""
        ours, theirs = self._timed(row), self._timed(other)
        if ours is None or theirs is None:
            return None
        return of_runs(ours, theirs, self._calibrated(row, other) if self._calibrated else None)

    def cells(self, name: str, row: int, other: int) -> dict[str, Any]:
        """Return the columns of the interval of the gain `name`, and of what was not measured."""
        if (sure := self(row, other)) is not None:
            return _cells(name, sure)
        runs = (self._timed(row), self._timed(other))
        return {NOT_MEASURED: _listed(text for run in runs if run for text in run.beyond)}

    def _timed_run(self, number: int) -> TimedRun | None:
        run = self._runs[number]
        if run.row is None or not run.row["simulated_time_s"]:
            return None
        plain = tuple(one for one in run.changes if not only_offloads(one.partition("=")[0]))
        found = self._machine(run.fabric, plain) or self._machine(run.fabric, run.changes)
        if found is None:
            return None
        return timed_run(
            found.changed(run.changes),
            [_Calls(**{key: one[key] for key in _KEYS}) for one in run.row["collectives"]],
            time_s=run.row["simulated_time_s"],
            ranks=run.ranks,
            ppn=run.ppn or -(-run.ranks // found.hosts),
        )


def _machine(fabric: str, changes: tuple[str, ...]) -> Machine | None:
    try:
        return machine_of(_core.load_fabric(fabric, list(changes)))
    except (_core.UserError, WeftError):
        return None


def of(prepared: Prepared, found: Index) -> IndexedRuns:
    """Return a function that compares two rows of a campaign; jobs files by their first job."""
    found = replace(found, rows=own_results(found.rows))
    rows = {row["run"]: row for row in found.rows.iter_rows(named=True) if row["state"] == "done"}
    runs = [
        IndexedRun(
            run.request.placement.fabric or "",
            of_fabric(run.request.placement.changes),
            *_placed(run, rows.get(run.digest)),
            None if run.iteration else rows.get(run.digest),
        )
        for run in prepared.runs
    ]
    return IndexedRuns(runs, _calibrated(prepared, _times(found)))


def _times(found: Index) -> dict[str, float]:
    """Return the times of finished runs."""
    done = found.rows.filter(found.rows["state"] == "done")
    return dict(zip(done["run"], done["simulated_time_s"], strict=True))


def _placed(run: Run, row: Mapping[str, Any] | None) -> tuple[int, int | None]:
    """Return ranks and ranks per host of a run, or of its own job for a jobs file."""
    job = None if row is None else own_job(row)
    place = run.request.placement
    return (place.ranks, place.ppn) if job is None else (job["job_ranks"], job["job_ppn"])


# ---- Columns of tables ---------------------------------------------------------------------------


def _points(prepared: Prepared) -> list[dict[str, str]]:
    """Return the values of all keys of each run, as `pairs` compares them."""
    keys = list(columns(prepared.runs))
    return [{key: text(run.point.get(key)) for key in keys} for run in prepared.runs]


def rows(prepared: Prepared, found: Index) -> list[dict[str, Any]]:
    """Return the gain of each run of a campaign over the hosts, by column of its table."""
    found = replace(found, rows=own_results(found.rows))
    points = _points(prepared)
    times = _times(found)
    of_row = [times.get(run.digest) for run in prepared.runs]
    compared = of(prepared, found)
    table: list[dict[str, Any]] = [{} for _ in points]
    for name, against in (
        *(("speed_up", HOSTS), ("speed_up_over_best", replace(HOSTS, best=True))),
        ("speed_up", GPUS),
    ):
        for row, other in enumerate(pairs(points, against).of if points else ()):
            own, theirs = of_row[row], None if other is None else of_row[other]
            if other is None or not own or not theirs:
                continue
            table[row][name] = theirs / own
            table[row] |= compared.cells(name, row, other)
    return table


def _cells(name: str, sure: Certainty) -> dict[str, Any]:
    return {
        f"{name}_low": sure.low,
        f"{name}_high": sure.high,
        f"{name}_says": sure.says,
        NOT_MEASURED: _listed(sure.beyond),
    }


def _listed(beyond: Iterable[str]) -> str:
    return "; ".join(dict.fromkeys(beyond))


def of_jobs(prepared: Prepared, found: Index) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the gain of each job of jobs files by run and job, by column of the table of jobs."""
    points = _points(prepared)
    rows = {row["run"]: row for row in found.rows.iter_rows(named=True) if row["jobs"]}
    names = dict.fromkeys(job["job"] for row in rows.values() for job in row["jobs"])
    against = [
        ("job_speed_up", pairs(points).of if points else ()),
        ("job_speed_up_over_best", pairs(points, replace(HOSTS, best=True)).of if points else ()),
    ]
    table: dict[tuple[str, str], dict[str, Any]] = {}
    for name in names:
        jobs = {
            digest: (job, [one for one in row["collectives"] if one["job"] == name])
            for digest, row in rows.items()
            for job in row["jobs"]
            if job["job"] == name
        }
        runs = [_indexed_job(run, *jobs.get(run.digest, (None, []))) for run in prepared.runs]
        times = {digest: job["time_s"] for digest, (job, _) in jobs.items() if job["time_s"]}
        compared = IndexedRuns(runs, _calibrated(prepared, times))
        for column, others in against:
            for row, other in enumerate(others):
                digest = prepared.runs[row].digest
                theirs = None if other is None else times.get(prepared.runs[other].digest)
                if other is None or theirs is None or digest not in times:
                    continue
                if column != "job_speed_up" and jobs[digest][0]["computation_s"] is not None:
                    continue  # iterations of training have no host algorithms
                cells = table.setdefault((digest, name), {})
                cells[column] = theirs / times[digest]
                cells |= compared.cells(column, row, other)
    return table


def _indexed_job(
    run: Run, job: Mapping[str, Any] | None, calls: Sequence[Mapping[str, Any]]
) -> IndexedRun:
    """Return what determines the certainty of the gains of a job."""
    place = run.request.placement
    changes = of_fabric(place.changes)
    if job is None:
        return IndexedRun(place.fabric or "", changes, 1, 1, None)
    row = {"simulated_time_s": job["time_s"], "collectives": calls}
    return IndexedRun(place.fabric or "", changes, job["job_ranks"], job["job_ppn"], row)


def summary(table: Sequence[Mapping[str, Any]]) -> str:
    """Return in one line how many runs gain from offloading; empty if no run can."""
    said = Counter(row["speed_up_says"] for row in table if row.get("speed_up_says"))
    if not said:
        return ""
    parts = [f"{said[one]:,} {one}" for one in ("faster", SAME, "slower", CANNOT_TELL) if said[one]]
    beyond = sum(bool(row.get("speed_up_says") and row[NOT_MEASURED]) for row in table)
    more = f"; {beyond:,} with values that were not measured" if beyond else ""
    return f"offloading against the hosts, {LEVEL:.0%} intervals: {', '.join(parts)}{more}"


# ---- By calibration ------------------------------------------------------------------------------


def _calibrated(prepared: Prepared, times: Mapping[str, float]) -> RangeOf:
    """Return a function that combines both rows' times at the ends of each value's interval.

    Rows on different fabrics get no interval, because it is unknown which of their values share a
    calibration.
    """
    ends = dict(_ends(prepared, times))

    def interval(row: int, other: int) -> Range | None:
        own, theirs = ends.get(row, {}), ends.get(other, {})
        runs = prepared.runs[row], prepared.runs[other]
        if not own or own.keys() != theirs.keys():
            return None
        if runs[0].point[FABRIC] != runs[1].point[FABRIC]:
            return None
        at_ends = [(theirs[key][0] / own[key][0], theirs[key][1] / own[key][1]) for key in own]
        return combined(times[runs[1].digest] / times[runs[0].digest], at_ends)

    return interval


def _ends(
    prepared: Prepared, times: Mapping[str, float]
) -> Iterator[tuple[int, Mapping[str, Range]]]:
    """Yield the rows whose runs at interval ends are all done, with their times by value."""
    for row, run in enumerate(prepared.runs):
        found = {
            key: (times.get(low.digest, 0.0), times.get(high.digest, 0.0))
            for key, (low, high) in run.ends.items()
        }
        if found and all(low and high for low, high in found.values()):
            yield row, found
