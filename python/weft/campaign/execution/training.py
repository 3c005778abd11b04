# SPDX-License-Identifier: LGPL-2.1-only
"""Execution of an iteration of training as a run of a campaign, in the worker's own process.

The engine reports its progress every few thousand events, and limits are checked at these reports.
"""

import os
import time
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from weft.base import memory
from weft.base.units import format_size
from weft.campaign.file.iterations import IterationPlan
from weft.campaign.store.store import IterationPart
from weft.iterations.iteration import simulate
from weft.iterations.record import record_of
from weft.iterations.timeline import listed_ranks
from weft.training.build import Summary
from weft.training.run import load_training
from weft.training.workload import Workload

_FORGET_PEAK = "5"
"""Value for clear_refs that resets the peak RSS of a process (Linux, proc(5))."""


class _LimitError(Exception):
    """The iteration exceeds a limit of the campaign."""

    def __init__(self, outcome: str, message: str) -> None:
        super().__init__(message)
        self.outcome = outcome


@dataclass
class _Limits:
    """Limits of an iteration, counted from its start."""

    timeout_s: float | None
    memory_bytes: int | None
    begun_s: float = field(default_factory=time.monotonic)
    cpu_s: float = field(default_factory=time.process_time)

    def check(self, _done: float = 0.0) -> None:
        """Raise `_LimitError` if the iteration has exceeded a limit."""
        if self.timeout_s is not None and self.wall_time_s > self.timeout_s:
            raise _LimitError(
                "timeout",
                f"the run exceeded its time limit of {self.timeout_s:g} s; raise it with"
                " [campaign] timeout",
            )
        if self.memory_bytes is not None and self.peak_bytes > self.memory_bytes:
            raise _LimitError(
                "memory-limit",
                f"the run exceeded its memory limit of {format_size(self.memory_bytes)}; raise it"
                " with [campaign] memory",
            )

    @property
    def wall_time_s(self) -> float:
        """Time since the start."""
        return time.monotonic() - self.begun_s

    @property
    def peak_bytes(self) -> int:
        """Peak RSS of the process since the start."""
        return memory.peak(os.getpid())


def _loaded(plan: IterationPlan) -> tuple[Workload, Summary | None]:
    """Return the programs of an iteration, and the model's summary. Raises `WeftError`."""
    if plan.trace:
        return plan.trace.load().workload, None
    training = load_training(
        plan.model, plan.model_changes, gpu=plan.gpu, ignore_memory=plan.ignore_memory
    )
    return training.workload, training.summary


def execute(
    plan: IterationPlan, timeout_s: float | None, memory_bytes: int | None
) -> IterationPart:
    """Execute an iteration within limits. Raises `WeftError` or `UserError` if it cannot start."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text(_FORGET_PEAK, encoding="ascii")
    limits = _Limits(timeout_s, memory_bytes)
    outcome, message = "completed", ""
    record = None
    try:
        workload, summary = _loaded(plan)
        limits.check()
        listed = listed_ranks(summary) if summary else ()
        its = simulate(workload, replace(plan.conditions, listed=listed), limits.check)
        record = record_of(plan.source, its, summary, model_changes=plan.model_changes)
        outcome, message = its.outcome.kind, its.outcome.message
    except _LimitError as ended:
        outcome, message = ended.outcome, str(ended)
    return IterationPart(
        outcome=outcome,
        message=message,
        wall_time_s=limits.wall_time_s,
        cpu_time_s=time.process_time() - limits.cpu_s,
        peak_memory_bytes=limits.peak_bytes,
        record=record,
    )
