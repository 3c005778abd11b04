# SPDX-License-Identifier: LGPL-2.1-only
"""Budget of a run with faults: the program is rerun without faults.

The difference of the simulated times, divided by the number of failures, is the cost of one
failure; its product with the failures per day is the time lost per day. A failure that ends the job
costs the whole run until then; failures that begin simultaneously end it as one. Of several jobs,
each has a budget of its own time and of the failures during it.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from msgspec import UnsetType

from weft.base.errors import WeftError, named
from weft.runs.faults.budget import Budget
from weft.runs.faults.changes import of_fabric
from weft.runs.jobs.launch import PreparedJobs
from weft.runs.jobs.without_offload import run as run_unheard
from weft.runs.launch import PreparedRun
from weft.runs.record import Record
from weft.runs.record_data import ENDED_BY_FAULT, BudgetPart, FaultsPart, JobBudgetPart

Plan = TypeVar("Plan", PreparedRun, PreparedJobs)


def check(plan: PreparedRun | PreparedJobs) -> None:
    """Refuse a budget for a run without a fault file."""
    if plan.faults is None or not plan.faults.events:
        raise WeftError(
            f"{named('budget')}: found without a fault file that names what fails; write"
            f" {named('faults')} too"
        )


def add_budget(
    record: Record, plan: PreparedRun, runner: Callable[[PreparedRun], Record]
) -> Record:
    """Rerun the program without faults, and add the budget to the record's faults.

    `runner` executes the second run. A run that failed for another reason than a fault gets no
    budget.
    """
    if not record.faults or (record.failed and not record.ended_by_fault):
        return record
    without = runner(_without_faults(plan))
    if without.failed:
        raise WeftError(f"{named('budget')}: in the run without faults: {without.outcome.message}")
    part = BudgetPart(without_s=without.simulated_time_s, lost_s=0)
    _complete(part, record.faults, record.faults, record.simulated_time_s, record.ended_by_fault)
    record.faults.budget = part
    return record


def add_budgets(record: Record, plan: PreparedJobs) -> Record:
    """Rerun all jobs without faults, and add to each job the budget of its own time.

    A job that failed for another reason than a fault, or also without faults, gets no budget.
    """
    if not record.faults or plan.faults is None:
        return record
    silent = tuple(replace(one, job=replace(one.job, output=None)) for one in plan.jobs)
    without = run_unheard(replace(_without_faults(plan), jobs=silent))
    for job, other in zip(record.jobs or (), without.jobs or (), strict=True):
        ended = job.outcome.kind in ENDED_BY_FAULT
        if job.end_s is None or other.time_s is None or (job.failed and not ended):
            continue
        began = [
            event.at_s
            for event in plan.faults.events
            if event.begins and job.start_s <= event.at_s < job.end_s
        ]
        part = JobBudgetPart(
            without_s=other.time_s, lost_s=0, failures=len(began), failure_times=len(set(began))
        )
        _complete(part, record.faults, part, job.end_s - job.start_s, ended and bool(began))
        job.budget = part
    return record


def _complete(
    part: BudgetPart,
    faults: FaultsPart,
    counts: FaultsPart | JobBudgetPart,
    time_s: float,
    ended: bool,
) -> None:
    """Fill a budget from the time with faults, and from the failures that it counts."""
    per_day = faults.failures_per_day
    known = None if isinstance(per_day, UnsetType) else per_day
    part.lost_s, failures = time_s - part.without_s, counts.failures
    if ended:
        part.lost_s, failures = time_s, counts.failure_times
        part.ended_job = True
        if known is not None:
            part.ends_per_day = known / failures
    found = Budget(part.lost_s, failures, known)
    if found.per_failure_s is not None:
        part.per_failure_s = found.per_failure_s
    if found.per_day_s is not None and found.fraction is not None:
        part.per_day_s, part.fraction = found.per_day_s, found.fraction


def _without_faults(plan: Plan) -> Plan:
    changes = of_fabric(plan.request.placement.changes)
    request = plan.request.changed(faults=None, changes=changes, timeline=None)
    return replace(plan, request=request, faults=None)
