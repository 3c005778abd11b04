# SPDX-License-Identifier: LGPL-2.1-only
"""Budget of a run with faults: the program is rerun without faults.

The difference of the simulated times, divided by the number of failures, is the cost of one
failure; its product with the failures per day is the time lost per day. A failure that ends the job
costs the whole run until then; failures that begin simultaneously end it as one.
"""

from collections.abc import Callable
from dataclasses import replace

from msgspec import UnsetType

from weft.base.errors import WeftError, named
from weft.runs.faults.budget import Budget
from weft.runs.faults.changes import of_fabric
from weft.runs.launch import PreparedRun
from weft.runs.record import Record
from weft.runs.record_data import BudgetPart


def check(plan: PreparedRun) -> None:
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
    per_day = record.faults.failures_per_day
    known = None if isinstance(per_day, UnsetType) else per_day
    lost_s, failures = record.simulated_time_s - without.simulated_time_s, record.faults.failures
    if record.ended_by_fault:
        lost_s, failures = record.simulated_time_s, record.faults.failure_times
    found = Budget(lost_s, failures, known)
    part = BudgetPart(without_s=without.simulated_time_s, lost_s=lost_s)
    if record.ended_by_fault:
        part.ended_job = True
        if known is not None:
            part.ends_per_day = known / failures
    if found.per_failure_s is not None:
        part.per_failure_s = found.per_failure_s
    if found.per_day_s is not None and found.fraction is not None:
        part.per_day_s, part.fraction = found.per_day_s, found.fraction
    record.faults.budget = part
    return record


def _without_faults(plan: PreparedRun) -> PreparedRun:
    changes = of_fabric(plan.request.placement.changes)
    request = plan.request.changed(faults=None, changes=changes, timeline=None)
    return replace(plan, request=request, faults=None)
