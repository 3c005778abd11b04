# SPDX-License-Identifier: LGPL-2.1-only
"""Local execution: one simultaneous run per core, limited by memory.

The memory of a run is estimated from finished runs: the peak of runs of the same program with the
same number of ranks, else scaled up from runs with fewer ranks.
"""

import ctypes
import multiprocessing
import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from pathlib import Path

from weft.base.errors import Interrupted
from weft.base.process import raise_on_signals
from weft.campaign.execution.work import Task, TaskResult, carry_out

OnDone = Callable[[Task, TaskResult], None]
OnRunning = Callable[[int], None]
_KIB = 1024
_FIRST_GUESS = 128 * _KIB**2
_OF_A_RANK = 256 * _KIB
"""Estimate per rank until runs have finished; plain runs need 20 to 100 KiB (docs/performance.md).
"""
SHARE = 0.9
"""Fraction of the machine's free memory available to runs."""
_TRIES = 3
_PR_SET_PDEATHSIG = 1  # linux/prctl.h


class Memory:
    """Memory estimates of runs, learned from finished runs."""

    def __init__(self) -> None:
        """Start without observations."""
        self._peaks: dict[tuple[str, int], int] = {}

    def learn(self, task: Task, peak: int) -> None:
        """Record the peak memory of a run."""
        key = self._key(task)
        self._peaks[key] = max(peak, self._peaks.get(key, 0))

    def need(self, task: Task) -> int:
        """Return the estimated memory of a run, in bytes."""
        program, ranks = self._key(task)
        if known := self._peaks.get((program, ranks)):
            return known
        most = task.request.limits.memory_bytes or sys.maxsize
        others = [
            peak * max(1, -(-ranks // other))
            for (name, other), peak in self._peaks.items()
            if name == program
        ]
        return min(most, min(others, default=_FIRST_GUESS + _OF_A_RANK * ranks))

    @staticmethod
    def _key(task: Task) -> tuple[str, int]:
        return task.request.workload.program, task.request.placement.ranks


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0))


def free_memory() -> int:
    """Return the machine's free memory in bytes, or the control group's if lower."""
    with suppress(OSError, ValueError, StopIteration):
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        free = next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable"))
        return min([free * _KIB, *_of_control_group()])
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES")


def _of_control_group() -> Iterator[int]:
    with suppress(OSError, ValueError):
        group = Path("/proc/self/cgroup").read_text(encoding="ascii").strip().rpartition(":")[2]
        folder = Path("/sys/fs/cgroup") / group.lstrip("/")
        most = (folder / "memory.max").read_text(encoding="ascii").strip()
        if most != "max":
            yield int(most) - int((folder / "memory.current").read_text(encoding="ascii"))


def run(
    tasks: Sequence[Task],
    on_done: OnDone,
    at_once: int,
    memory: Memory,
    on_running: OnRunning | None = None,
) -> None:
    """Execute all runs; at the end, retry runs that were killed or whose worker was killed."""
    waiting = deque(tasks)
    tries: dict[str, int] = {}
    while waiting:
        lost = _in_one_pool(waiting, on_done, at_once, memory, on_running)
        for task in lost:
            tries[task.digest] = tries.get(task.digest, 0) + 1
            if tries[task.digest] < _TRIES:
                waiting.append(task)
            else:
                message = (
                    f"it was killed {_TRIES} times from outside, perhaps for lack of memory;"
                    " [campaign] memory ends such runs with a result"
                )
                on_done(task, TaskResult(task.digest, "killed", message))


def _in_one_pool(
    waiting: deque[Task],
    on_done: OnDone,
    at_once: int,
    memory: Memory,
    on_running: OnRunning | None,
) -> list[Task]:
    """Execute runs until no run is left or a worker is killed; return the lost runs."""
    budget = int(SHARE * free_memory())
    running: dict[Future[TaskResult], Task] = {}
    killed: list[Task] = []
    pool = ProcessPoolExecutor(
        at_once, multiprocessing.get_context("fork"), initializer=_begin, initargs=(os.getpid(),)
    )
    try:
        while waiting or running:
            while waiting and _fits(waiting[0], running, at_once, budget, memory):
                task = waiting.popleft()
                running[pool.submit(_work, task)] = task
            if on_running is not None:
                on_running(len(running))
            ended, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in ended:
                done = future.result()
                task = running.pop(future)
                if done.peak_memory_bytes:
                    memory.learn(task, done.peak_memory_bytes)
                if done.state == "killed":
                    memory.learn(task, 2 * done.peak_memory_bytes)  # fewer runs beside it next time
                    killed.append(task)
                else:
                    on_done(task, done)
    except BrokenProcessPool:
        return [*killed, *running.values()]
    except BaseException:  # Ctrl-C also reaches the workers; other signals do not
        for worker in multiprocessing.active_children():
            worker.terminate()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    return killed


def _begin(parent: int) -> None:
    """Have the kernel kill a worker when its parent dies.

    The worker's child processes then exit as well (`weft.base.process`).
    """
    _be_quiet()
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # the parent has already died
        os._exit(1)


def _be_quiet() -> None:
    """Restore the default signal handlers, so that an idle worker exits without a traceback."""
    for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(signum, signal.SIG_DFL)


def _work(task: Task) -> TaskResult:
    """Execute a run in a worker; a signal ends the run, then the worker."""
    raise_on_signals()
    try:
        return carry_out(task)
    except Interrupted as interrupted:
        os._exit(128 + interrupted.signum)
    finally:
        _be_quiet()


def _fits(
    task: Task, running: dict[Future[TaskResult], Task], at_once: int, budget: int, memory: Memory
) -> bool:
    taken = sum(memory.need(one) for one in running.values())
    return not running or (len(running) < at_once and taken + memory.need(task) <= budget)
