# SPDX-License-Identifier: LGPL-2.1-only
"""Worker on a cluster node: checks its environment, waits for memory, executes a run.

A worker without access to the sender's store would write results that nobody finds, and a worker
with another version of weft would produce different results. Such a worker executes no run and
returns the reason.
"""

import ctypes
import fcntl
import os
import platform
import signal
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from weft import _core
from weft.base.errors import Interrupted
from weft.base.paths import file_name
from weft.base.process import raise_on_signals
from weft.campaign.execution import local
from weft.campaign.execution.work import Task, TaskResult, carry_out
from weft.campaign.file import runs

_PR_SET_PDEATHSIG = 1  # linux/prctl.h
_MIB = 1 << 20
_LOOK_S = 0.05
_NUMBER = struct.Struct("<q")


@dataclass(frozen=True)
class Site:
    """Properties that a worker checks on its node."""

    folder: Path
    """Folder of the sending command, in the store."""
    token: str
    """Expected content of the file `token` in `folder`."""
    weft: str
    """Version of weft and SimGrid, with a digest of their files."""


@dataclass(frozen=True)
class RunTask:
    """Run to be executed by a worker."""

    site: Site
    task: Task
    need_bytes: int
    """Estimated memory of the run on the node."""


@dataclass(frozen=True)
class UnsuitableWorker:
    """Reply of a worker that cannot execute the run: its host and the reason."""

    host: str
    reason: str


def version() -> str:
    """Return the versions and the digest of files that must match on all nodes of a campaign."""
    digest = runs.simulator_digest()[:12]
    return f"weft {_core.version} with SimGrid {_core.simgrid_version} (files {digest})"


def carry(order: RunTask) -> TaskResult | UnsuitableWorker:
    """Execute a run on a node, provided that it sees the store and has the same weft."""
    if reason := unfit(order.site) or _unseen(order.task):
        return UnsuitableWorker(platform.node(), reason)
    _die_with_parent()
    raise_on_signals()
    try:
        with memory(order.site.folder / "memory", order.need_bytes):
            return carry_out(order.task)
    except Interrupted as interrupted:  # The job ends; another job repeats the run.
        os._exit(128 + interrupted.signum)
    finally:
        for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(signum, signal.SIG_DFL)


@cache
def unfit(site: Site) -> str:
    """Return the reason why this node cannot execute runs; empty if it can."""
    store = site.folder.parent.parent
    try:
        found = (site.folder / "token").read_text(encoding="utf-8")
    except OSError:
        there = "has another folder of this name" if store.is_dir() else "does not see it"
        return f"store {store}: {there}; choose a folder that all nodes share"
    if found != site.token:
        return f"store {store}: is another folder on this node; choose one that all nodes share"
    if (own := version()) != site.weft:
        return f"has {own}, and this command is {site.weft}; use the same weft for all runs"
    return ""


def _unseen(task: Task) -> str:
    """Return the name of a run's file that is not visible on this node; empty if all are."""
    fabric = task.request.placement.fabric or ""
    for name in (task.request.workload.program, fabric):
        if name.startswith("/") and not os.path.exists(name):
            return f"{name}: cannot see it; choose a folder that all nodes share"
    return ""


@cache
def _die_with_parent() -> None:
    """Have the kernel kill this worker and its run when the worker pool dies."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


# ---- Memory: a file per worker pool, with the node memory that each worker uses


@contextmanager
def memory(folder: Path, need: int) -> Iterator[None]:
    """Wait until the memory of a run fits next to the runs of the pool's other workers.

    A waiting worker holds the file lock, so that later workers start after it even if they need
    less memory.
    """
    table, rank = _table(folder)
    place = rank * _NUMBER.size
    os.pwrite(table, _NUMBER.pack(0), place)  # clears the entry of a killed worker
    fcntl.flock(table, fcntl.LOCK_EX)
    try:
        budget = _budget()
        while (taken := _taken(table)) and taken + need > budget:
            time.sleep(_LOOK_S)
        os.pwrite(table, _NUMBER.pack(need), place)
    finally:
        fcntl.flock(table, fcntl.LOCK_UN)
    try:
        yield
    finally:
        os.pwrite(table, _NUMBER.pack(0), place)


@cache
def _table(folder: Path) -> tuple[int, int]:
    """Return the open file of this worker's pool, and the offset of the worker's entry."""
    folder.mkdir(exist_ok=True)
    name = os.environ.get("PARSL_WORKER_POOL_ID", str(os.getppid()))
    file_name("PARSL_WORKER_POOL_ID", name)
    file = os.open(folder / name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    return file, int(os.environ.get("PARSL_WORKER_RANK", "0"))


def _taken(table: int) -> int:
    content = os.pread(table, os.fstat(table).st_size, 0)
    return sum(number for (number,) in _NUMBER.iter_unpack(content))


@cache
def _budget() -> int:
    """Return the pool's memory budget in bytes: a share of the free memory, or the job's limit."""
    limits = [local.free_memory()]
    with suppress(KeyError, ValueError):
        limits.append(int(os.environ["SLURM_MEM_PER_NODE"]) * _MIB)
    with suppress(KeyError, ValueError):
        cores = int(os.environ["SLURM_CPUS_ON_NODE"])
        limits.append(int(os.environ["SLURM_MEM_PER_CPU"]) * cores * _MIB)
    return int(local.SHARE * min(limits))
