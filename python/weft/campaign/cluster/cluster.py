# SPDX-License-Identifier: LGPL-2.1-only
"""Cluster execution: sends runs to workers in jobs, which are resubmitted while runs remain.

A run is sent again if its worker is killed or its job ends. The command waits for runs that another
command has claimed. On any exit, it cancels its jobs, and the store contains all finished runs.
"""

import math
import queue
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from parsl.executors.high_throughput.errors import (
    CommandClientBadError,
    CommandClientTimeoutError,
    ManagerLost,
    WorkerLost,
)

from weft.base.errors import WeftError, printable
from weft.campaign.cluster import slurm
from weft.campaign.cluster.file import Cluster
from weft.campaign.cluster.jobs import UNFINISHED, Engine, Job, Say, engine
from weft.campaign.cluster.worker import RunTask, UnsuitableWorker
from weft.campaign.execution.local import Memory, OnDone, OnRunning
from weft.campaign.execution.work import Task, TaskResult, said
from weft.campaign.store.store import Store

_TICK_S = 0.5
_LOOK_S = 2.0
"""Polling interval of jobs until all requested jobs have workers."""
_LOOK_SELDOM_S = 15.0
_AWAY_S = 120.0
"""Time without Slurm and without workers after which the command gives up."""
_MOST_SILENT = 2
"""Number of consecutive jobs that may end before their workers connect."""
_WAITING_PER_WORKER = 2
_LEAST_SENT = 16


@dataclass(frozen=True)
class _Loss:
    """Reason why a run has no result, and the number of allowed attempts."""

    most: int
    message: str


_KILLED = _Loss(3, "its worker was killed 3 times")
_ENDED = _Loss(5, "5 jobs ended while it was running; increase walltime")


def run(
    tasks: Sequence[Task],
    on_done: OnDone,
    *,
    memory: Memory,
    on_running: OnRunning | None = None,
    cluster: Cluster,
    say: Say,
) -> None:
    """Execute all runs; `say` receives occasional lines about jobs. Raises `WeftError`."""
    with engine(cluster, tasks[0].store, say) as one, _Jobs(one, say) as jobs:
        _Work(one, tasks, on_done, memory).go(jobs, on_running or (lambda _: None))


class _Work:
    """Runs by progress: waiting, sent, or claimed by another command."""

    def __init__(self, one: Engine, tasks: Sequence[Task], on_done: OnDone, memory: Memory) -> None:
        self._engine, self._on_done, self._memory = one, on_done, memory
        self._waiting = deque(_findable(task) for task in tasks)
        self._sent: dict[Future[TaskResult | UnsuitableWorker], Task] = {}
        self._ended: queue.SimpleQueue[Future[TaskResult | UnsuitableWorker]] = queue.SimpleQueue()
        self._elsewhere: dict[str, Task] = {}
        self._tries: dict[tuple[str, _Loss], int] = {}
        self._store = Store(tasks[0].store, tasks[0].campaign)

    @property
    def left(self) -> int:
        return len(self._waiting) + len(self._sent) + len(self._elsewhere)

    def go(self, jobs: "_Jobs", on_running: OnRunning) -> None:
        while self.left:
            jobs.look(self.left)
            on_running(min(len(self._sent), jobs.workers))
            self._send(_WAITING_PER_WORKER * jobs.workers + _LEAST_SENT)
            try:
                self._take(self._ended.get(timeout=_TICK_S))
            except queue.Empty:
                self._look_elsewhere()

    def _send(self, most: int) -> None:
        """Limit the runs in flight, so that finished runs refine later memory estimates."""
        while self._waiting and len(self._sent) < most:
            task = self._waiting.popleft()
            need = self._memory.need(task)
            future = self._engine.submit(RunTask(self._engine.site, task, need))
            self._sent[future] = task
            future.add_done_callback(self._ended.put)

    def _take(self, future: "Future[TaskResult | UnsuitableWorker]") -> None:
        task = self._sent.pop(future)
        error = future.exception()
        if error is not None:
            self._lost(task, error)
            return
        found = future.result()
        if isinstance(found, UnsuitableWorker):
            raise WeftError(
                f"{self._engine.cluster.source}: the worker on {found.host} cannot run simulations:"
                f" {found.reason}"
            )
        if found.state == "elsewhere":
            self._elsewhere[task.digest] = task
        elif found.state == "killed":
            self._again(task, _KILLED, found)
        else:
            self._end(task, found)

    def _end(self, task: Task, done: TaskResult) -> None:
        if done.peak_memory_bytes:
            self._memory.learn(task, done.peak_memory_bytes)
        self._on_done(task, done)

    def _lost(self, task: Task, error: BaseException) -> None:
        """Resend a run whose worker or job was lost; raise other errors, which affect all runs."""
        source = self._engine.cluster.source
        if isinstance(error, WorkerLost | ManagerLost):
            self._again(task, _KILLED if isinstance(error, WorkerLost) else _ENDED)
        elif isinstance(error, WeftError):  # such as a full disk, or a store that cannot be locked
            raise WeftError(f"{source}: {error}")
        else:
            raise WeftError(
                f"{source}: workers cannot run simulations: {type(error).__name__}:"
                f" {printable(str(error))}; does their Python have the same weft? Write setup and"
                " python"
            )

    def _again(self, task: Task, why: "_Loss", done: TaskResult | None = None) -> None:
        """Resend a run, unless it has failed this way too often and may itself be the cause."""
        tries = self._tries[task.digest, why] = self._tries.get((task.digest, why), 0) + 1
        if tries < why.most:
            self._waiting.append(task)
        else:
            message = done.message if done else why.message
            self._end(task, TaskResult(task.digest, "killed", message))

    def _look_elsewhere(self) -> None:
        """Collect results of other commands, and requeue runs that those commands abandoned."""
        for digest, task in list(self._elsewhere.items()):
            if self._store.has(digest):
                self._end(task, said(digest, self._store.read(digest)))
            elif not self._store.is_claimed(digest):
                self._waiting.append(task)
            else:
                continue
            del self._elsewhere[digest]


def _findable(task: Task) -> Task:
    """Return a task with absolute paths."""
    request = task.request
    changes = {"program": str(Path(request.workload.program).absolute())}
    fabric = request.placement.fabric
    if fabric is not None and Path(fabric).is_file():
        changes["fabric"] = str(Path(fabric).absolute())
    return replace(task, request=request.changed(**changes))


class _Jobs:
    """Maintains the requested number of jobs, and reports why there are fewer workers."""

    def __init__(self, one: Engine, say: Say) -> None:
        self._engine, self._say = one, say
        self.workers = 0
        self._silent = 0
        self._next = self._start = self._heard = time.monotonic()
        self._noted = ""
        self._asking = ThreadPoolExecutor(1, thread_name_prefix="weft-squeue")
        self._asked: Future[dict[str, slurm.State]] | None = None

    def __enter__(self) -> "_Jobs":
        return self

    def __exit__(self, *_: object) -> None:
        self._asking.shutdown(wait=False, cancel_futures=True)

    def look(self, left: int) -> None:
        """Poll the jobs at intervals, and replace ended jobs."""
        now = time.monotonic()
        if self._asked is not None:
            if self._asked.done():
                asked, self._asked = self._asked, None
                self._answered(asked)
                self._fill(left)
        elif now >= self._next:
            self.workers = _answer(self._engine.workers)
            if not self._engine.jobs:
                self._fill(left)
            all_work = all(job.connected for job in self._engine.jobs)
            self._next = now + (_LOOK_SELDOM_S if all_work and self.workers else _LOOK_S)
            self._asked = self._asking.submit(self._engine.states)

    def _answered(self, asked: "Future[dict[str, slurm.State]]") -> None:
        now = time.monotonic()
        if self.workers:
            self._heard = now
        try:
            states = asked.result()
        except slurm.SlurmUnreachableError as error:
            if now - self._heard > _AWAY_S:
                raise WeftError(
                    f"{self._engine.cluster.source}: {error}, and no job works; all results are"
                    " kept; run the same command again when Slurm is back",
                    UNFINISHED,
                ) from None
            self._note(f"{error}; continuing with the existing workers")
            return
        for job in [job for job in self._engine.jobs if job.number not in states]:
            self._engine.jobs.remove(job)
            self._job_ended(job)
        self._note_waiting(states)

    def _job_ended(self, job: Job) -> None:
        if job.connected:
            self._silent = 0
            return
        self._silent += 1
        if self._silent >= _MOST_SILENT:
            words = self._engine.last_words(job)
            raise WeftError(
                f"{self._engine.cluster.source}: {self._silent} jobs ended before a worker"
                + (
                    f" connected; the output of the last one, {job.number}, is:\n "
                    f" {printable(words)}"
                    if words
                    else f" connected, without output; can the nodes see"
                    f" {self._engine.site.folder.parent.parent}?"
                )
            )

    def _note_waiting(self, states: dict[str, slurm.State]) -> None:
        waiting = {number: state for number, state in states.items() if state.waits}
        if not waiting or self.workers:
            if self.workers:
                self._start = time.monotonic()
                self._noted = ""
            return
        number, state = next(iter(waiting.items()))
        more = f", and {len(waiting) - 1} more" if len(waiting) > 1 else ""
        text = f"job {number} waits for Slurm: {state.reason or state.name}{more}"
        patience = self._engine.cluster.patience_s
        if patience is not None and time.monotonic() - self._start > patience:
            raise WeftError(
                f"{self._engine.cluster.source}: no job has started within {patience} s (patience):"
                f" {text}"
            )
        if time.monotonic() - self._start > _LOOK_S:
            self._note(text)

    def _note(self, text: str) -> None:
        if text != self._noted:
            self._noted = text
            self._say(text)

    def _fill(self, left: int) -> None:
        """Submit jobs up to the requested number; a refusal is an error only if there is no job."""
        cores = self._engine.cluster.cores or 1
        wanted = min(self._engine.cluster.jobs, max(1, math.ceil(left / cores)))
        while len(self._engine.jobs) < wanted:
            try:
                self._engine.add_job()
            except WeftError as error:
                if not self._engine.jobs and not self.workers:
                    raise
                self._note(f"{error}; continuing with fewer jobs")
                return


def _answer(ask: Callable[[], int]) -> int:
    try:
        return ask()
    except (CommandClientTimeoutError, CommandClientBadError):
        raise WeftError(
            "Parsl's interchange does not answer; all results are kept; run the same command to"
            " resume",
            UNFINISHED,
        ) from None
