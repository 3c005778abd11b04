# SPDX-License-Identifier: LGPL-2.1-only
"""Execution of one campaign run: claim, run, store."""

import os
import subprocess
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from weft import _core
from weft.base.errors import WeftError, printable
from weft.base.process import Streams, signals_held
from weft.campaign.execution import training
from weft.campaign.file.axes import Point
from weft.campaign.file.iterations import IterationPlan
from weft.campaign.store.store import Result, Store
from weft.runs import launch
from weft.runs.jobs import launch as several
from weft.runs.jobs.file import read as read_jobs
from weft.runs.record import Record
from weft.runs.request import Request

_MOST_OUTPUT = 1 << 16
_FROM_OUTSIDE = ("SIGKILL", "SIGTERM", "SIGHUP", "SIGINT", "SIGXCPU")
"""Signals from outside the run: by the OOM killer, batch systems at the end of the walltime, or
people.
"""
_LIMITS = {"timeout": "timeout", "memory-limit": "memory"}
"""Key of [campaign] that causes an outcome, by outcome."""


@dataclass(frozen=True)
class Task:
    """Task of a worker; can be sent to another machine that shares the store."""

    store: Path
    campaign: str
    digest: str
    point: Point
    request: Request
    jobs: bool = False
    """True if the request's program is a jobs file."""
    iteration: IterationPlan | None = None
    """The iteration of training that the run executes instead of a program."""


@dataclass(frozen=True)
class TaskResult:
    """Reply of a worker to a task."""

    digest: str
    state: str
    """One of `done`, `failed`, `refused`, `elsewhere` and `killed`.

    `elsewhere` means that another process executes the run; `killed` means that the run was killed
    from outside and has no result.
    """
    message: str = ""
    wall_time_s: float = 0.0
    peak_memory_bytes: int = 0


def carry_out(task: Task) -> TaskResult:
    """Execute a run, unless it has a result or is claimed."""
    store = Store(task.store, task.campaign)
    with store.claim(task.digest) as ours:
        if not ours:
            return TaskResult(task.digest, "elsewhere")
        result = _run(task)
        done = said(task.digest, result)
        if result.record and result.record.outcome.signal in _FROM_OUTSIDE:
            return replace(done, state="killed")
        with signals_held():
            store.write(task.digest, result)
    return done


def said(digest: str, result: Result) -> TaskResult:
    """Return the summary of a result."""
    if one := result.iteration:
        return TaskResult(digest, result.state, one.message, one.wall_time_s, one.peak_memory_bytes)
    if not result.record:
        return TaskResult(digest, result.state, result.refused)
    record = result.record
    message = record.outcome.message if record.failed else ""
    return TaskResult(digest, result.state, message, record.wall_time_s, record.peak_memory_bytes)


def _record(task: Task, streams: Streams, printed: IO[bytes]) -> Record:
    if not task.jobs:
        return launch.run(launch.prepare(task.request), streams=streams)
    file = read_jobs(Path(task.request.workload.program))
    plan = several.prepare(file, task.request)
    joined = replace(streams, stdout=None, stderr=subprocess.STDOUT)

    def keep(line: str) -> None:
        printed.write(f"{line}\n".encode())

    return several.run(plan, keep, joined)


def _train(task: Task, plan: IterationPlan) -> Result:
    limits = task.request.limits
    try:
        part = training.execute(plan, limits.timeout_s, limits.memory_bytes)
    except (WeftError, _core.UserError) as error:
        return Result(point=dict(task.point), refused=str(error))
    return Result(point=dict(task.point), iteration=part)


def _run(task: Task) -> Result:
    if task.iteration is not None:
        return _train(task, task.iteration)
    point = dict(task.point)
    with tempfile.TemporaryFile() as printed, open(os.devnull, "rb") as nothing:
        streams = Streams(nothing.fileno(), printed.fileno(), printed.fileno())
        try:
            record = _record(task, streams, printed)
        except (WeftError, _core.UserError) as error:
            return Result(point=point, refused=str(error))
        if key := _LIMITS.get(record.outcome.kind):
            message = record.outcome.message.replace(f"--{key}", f"[campaign] {key}")
            record.outcome.message = message
        printed.seek(max(0, printed.seek(0, os.SEEK_END) - _MOST_OUTPUT))
        output = printed.read().decode("utf-8", errors="replace")
    return Result(point=point, output=printable(output), record=record)
