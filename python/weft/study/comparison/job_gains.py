# SPDX-License-Identifier: LGPL-2.1-only
"""Gains of the jobs of a jobs file, with the intervals that single runs have.

    record = add_gains(launch.run(plan), plan)
    record.jobs[0].speed_up, record.jobs[0].certainty

All jobs are rerun together without offloading, then with the hosts' fastest algorithms. If the
fabric has `[calibration.intervals]`, both sides are rerun at the ends of each interval, as for
single runs (`weft.study.comparison.intervals`).
"""

from collections.abc import Mapping
from dataclasses import replace

from msgspec import UnsetType

from weft import _core
from weft.base.errors import WeftError
from weft.benchmarks.certainty import Certainty
from weft.benchmarks.measured import Machine, machine_of
from weft.runs.faults.changes import of_fabric
from weft.runs.jobs import launch
from weft.runs.jobs.alone import part_of
from weft.runs.jobs.launch import PreparedJobs
from weft.runs.jobs.without_offload import has_best, run, without_offload
from weft.runs.record import Record
from weft.runs.record_data import AlonePart, JobPart
from weft.runs.site import load_fabric
from weft.study.comparison import intervals as of_values
from weft.study.comparison.certainty import TimedRun, of_runs, timed_run
from weft.study.comparison.intervals import Range


def number_of_runs(plan: PreparedJobs, *, best: bool, intervals: bool) -> int:
    """Return how many runs `add_gains` takes."""
    ends = of_values.number_of_runs(plan) if intervals else 0
    return 1 + (best and has_best(plan)) + ends


def add_gains(
    record: Record,
    plan: PreparedJobs,
    *,
    best: bool = True,
    intervals: bool = True,
) -> Record:
    """Rerun the jobs, and add the other runs and the intervals of the gains to each job's part."""
    _add_part(record, run(without_offload(plan)), "without_offload")
    if best and has_best(plan):
        _add_part(record, run(without_offload(plan, best=True)), "with_best")
    calibrated = _calibrated(record, plan) if intervals else {}
    placement = plan.request.placement
    assert placement.fabric is not None
    machine = machine_of(load_fabric(placement.fabric, of_fabric(placement.changes)))
    for job in record.jobs or ():
        job.certainty = _certainty(machine, job, job.without_offload, calibrated.get(job.name))
        job.certainty_over_best = _certainty(machine, job, job.with_best)
    return record


def _add_part(record: Record, other: Record, name: str) -> None:
    """Add each job's results in another run; iterations of training have no host algorithms."""
    for job, its in zip(record.jobs or (), other.jobs or (), strict=True):
        if name != "with_best" or not (job.training or its.training):
            setattr(job, name, part_of(its))


def _certainty(
    machine: Machine,
    job: JobPart,
    other: AlonePart | UnsetType,
    calibrated: Range | None = None,
) -> Certainty | None:
    if isinstance(other, UnsetType) or not job.time_s or not other.time_s:
        return None
    ours, theirs = (_timed(machine, job, one) for one in (job, other))
    return of_runs(ours, theirs, calibrated)


def _timed(machine: Machine, job: JobPart, its: JobPart | AlonePart) -> TimedRun:
    return timed_run(
        machine, its.collectives, time_s=its.time_s or 0.0, ranks=job.ranks, ppn=job.ppn
    )


# ---- By calibration ------------------------------------------------------------------------------


def _calibrated(record: Record, plan: PreparedJobs) -> Mapping[str, Range]:
    """Return the interval of each job's speed-up; jobs that fail at an end have none."""
    at_ends = [
        [_speed_ups(_at(plan, key, end)) for end in ends]
        for key, ends in of_values.of_plan(plan).items()
    ]
    found = {}
    for job in record.jobs or ():
        pairs = [tuple(end.get(job.name) for end in pair) for pair in at_ends]
        known = [(low, high) for low, high in pairs if low is not None and high is not None]
        if at_ends and job.speed_up is not None and len(known) == len(at_ends):
            found[job.name] = of_values.combined(job.speed_up, known)
    return found


def _at(plan: PreparedJobs, key: str, value: str) -> PreparedJobs:
    """Return the plan with a value at an end of its interval."""
    changes = (*plan.request.placement.changes, f"{key}={value}")
    jobs = tuple(replace(one, output=None) for one in plan.file.jobs)
    try:
        return launch.prepare(replace(plan.file, jobs=jobs), plan.request.changed(changes=changes))
    except (_core.UserError, WeftError) as error:
        raise of_values.invalid_end(plan, key, value, error) from None


def _speed_ups(plan: PreparedJobs) -> dict[str, float]:
    """Return the speed-up of each job that succeeds in both runs."""
    ours, theirs = run(plan), run(without_offload(plan))
    times = {job.name: job.time_s for job in theirs.jobs or ()}
    return {
        job.name: hosts_s / job.time_s
        for job in ours.jobs or ()
        if job.time_s and (hosts_s := times[job.name])
    }
