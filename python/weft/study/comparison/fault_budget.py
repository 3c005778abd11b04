# SPDX-License-Identifier: LGPL-2.1-only
"""Budget of a run with faults: the program is rerun without faults.

The difference of the simulated times, divided by the number of failures, is the cost of one
failure; its product with the failures per day is the time lost per day.
"""

from collections.abc import Callable
from dataclasses import replace

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

    `runner` executes the second run. A run that did not complete gets no budget.
    """
    if not record.faults or record.failed:
        return record
    without = runner(_without_faults(plan))
    if without.failed:
        raise WeftError(f"{named('budget')}: in the run without faults: {without.outcome.message}")
    known = record.faults.failures_per_day
    lost_s = record.simulated_time_s - without.simulated_time_s
    found = Budget(lost_s, record.faults.failures, known if isinstance(known, float) else None)
    part = BudgetPart(without_s=without.simulated_time_s, lost_s=lost_s)
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
