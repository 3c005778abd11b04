# SPDX-License-Identifier: LGPL-2.1-only
"""What a worker on a cluster's node does with a run: prove that it may, wait for memory, make it.

A worker that does not see the store of who sent it, or that is of another weft, would put results
where nobody finds them, or others than those asked for: it makes no run, and says why.
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
from weft.campaign.execution.work import Done, Task, carry_out
from weft.campaign.file import runs

_PR_SET_PDEATHSIG = 1  # linux/prctl.h
_MIB = 1 << 20
_LOOK_S = 0.05
_NUMBER = struct.Struct("<q")


@dataclass(frozen=True)
class Site:
    """What a worker must find where it is."""

    folder: Path
    """Of the command that sends runs, in the store."""
    token: str
    """What the file `token` there says."""
    weft: str
    """Version of weft and SimGrid, and what their files are."""


@dataclass(frozen=True)
class Order:
    """A run, for a worker."""

    site: Site
    task: Task
    need_bytes: int
    """What it will probably take of the node's memory."""


@dataclass(frozen=True)
class Unfit:
    """What a worker says that makes no runs."""

    host: str
    reason: str


def version() -> str:
    """Return what two machines must have in common that their results are the same."""
    digest = runs.simulator_digest()[:12]
    return f"weft {_core.version} with SimGrid {_core.simgrid_version} (files {digest})"


def carry(order: Order) -> Done | Unfit:
    """Make a run on a node, where the store is seen and weft is the same."""
    if reason := unfit(order.site) or _unseen(order.task):
        return Unfit(platform.node(), reason)
    _die_with_parent()
    raise_on_signals()
    try:
        with memory(order.site.folder / "memory", order.need_bytes):
            return carry_out(order.task)
    except Interrupted as interrupted:  # the job's end; the run is repeated in another
        os._exit(128 + interrupted.signum)
    finally:
        for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(signum, signal.SIG_DFL)


@cache
def unfit(site: Site) -> str:
    """Return why no run can be made here, or nothing."""
    store = site.folder.parent.parent
    try:
        found = (site.folder / "token").read_text(encoding="utf-8")
    except OSError:
        there = "has another folder of this name" if store.is_dir() else "does not see it"
        return f"store {store}: {there}; name one that all nodes share"
    if found != site.token:
        return f"store {store}: has another folder of this name; name one that all nodes share"
    if (own := version()) != site.weft:
        return f"has {own}, and this command is {site.weft}; make runs with one weft"
    return ""


def _unseen(task: Task) -> str:
    """Return which file of a run is not on this node, or nothing."""
    fabric = task.request.placement.fabric or ""
    for name in (task.request.workload.program, fabric):
        if name.startswith("/") and not os.path.exists(name):
            return f"{name}: does not see it; name a folder that all nodes share"
    return ""


@cache
def _die_with_parent() -> None:
    """Let the end of the pool of workers end this one and its run, however the pool ends."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


# ---- Memory: what the workers of one pool take of their node, one number each, in a file


@contextmanager
def memory(folder: Path, need: int) -> Iterator[None]:
    """Wait until a run fits beside those that the pool's other workers make now.

    Who waits holds the file's lock, so that the next one comes after it, however little it needs.
    """
    table, rank = _table(folder)
    place = rank * _NUMBER.size
    os.pwrite(table, _NUMBER.pack(0), place)  # what was here is of a worker that was killed
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
    """Return the file of this worker's pool, open, and which number of it is the worker's."""
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
    """Return the bytes that the pool's runs may take: of what is free, or of what the job has."""
    limits = [local.free_memory()]
    with suppress(KeyError, ValueError):
        limits.append(int(os.environ["SLURM_MEM_PER_NODE"]) * _MIB)
    with suppress(KeyError, ValueError):
        cores = int(os.environ["SLURM_CPUS_ON_NODE"])
        limits.append(int(os.environ["SLURM_MEM_PER_CPU"]) * cores * _MIB)
    return int(local.SHARE * min(limits))
