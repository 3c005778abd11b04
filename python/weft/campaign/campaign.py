# SPDX-License-Identifier: LGPL-2.1-only
"""Prepared campaign: its runs, their states and their results.

Usage:

    prepared = prepare(Path("slots.toml"))
    carry_out(prepared, on_done=print)
    weft.campaign.table.frame(prepared)
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

from weft import _core
from weft.base.errors import WeftError
from weft.benchmarks import measured
from weft.campaign.cluster.file import Cluster
from weft.campaign.execution import build, local
from weft.campaign.execution.work import Task, TaskResult
from weft.campaign.file import runs
from weft.campaign.file.axes import Point
from weft.campaign.file.file import Campaign, read
from weft.campaign.file.runs import Run, Runs
from weft.campaign.store import index
from weft.campaign.store.index import Index
from weft.campaign.store.store import Result, Store
from weft.runs.faults import description as faults
from weft.runs.faults.changes import of_fabric, of_faults
from weft.runs.options import Placement


class Make(Protocol):
    """Executor of runs: processes on this machine, or workers on a cluster."""

    def __call__(
        self,
        tasks: Sequence[Task],
        on_done: local.OnDone,
        *,
        memory: local.Memory,
        on_running: local.OnRunning | None,
    ) -> None:
        """Execute all tasks."""


STATES = ("done", "failed", "refused")


@dataclass(frozen=True)
class Prepared:
    """Campaign whose programs are built."""

    campaign: Campaign
    store: Store
    found: Runs

    @property
    def runs(self) -> list[Run]:
        """One run per combination; equivalent combinations share a digest."""
        return self.found.runs

    @cached_property
    def counted(self) -> list[Run]:
        """Runs of combinations and of interval ends; a run may occur several times."""
        return [*self.runs, *self.found.ends]

    @cached_property
    def every(self) -> list[Run]:
        """The runs of `counted` without duplicates."""
        return list({run.digest: run for run in self.counted}.values())

    def index(self) -> Index:
        """Return the store's index, brought up to date."""
        campaign = self.campaign
        return index.read(self.store).under(campaign.timeout_s, campaign.memory_bytes)

    def missing(self, found: Index | None = None) -> list[Run]:
        """Return the runs that have no result yet, without duplicates."""
        there = set((found or self.index()).rows["run"])
        return [run for run in self.every if run.digest not in there]

    def results(self) -> Iterator[tuple[Run, Result]]:
        """Yield the finished runs with their results, including records."""
        there = set(self.index().rows["run"])
        for run in self.runs:
            if run.digest in there:
                yield run, self.store.read(run.digest)


def prepare(
    file: Path, store: Path | None = None, *, again: bool = True, look: bool = False
) -> Prepared:
    """Read a campaign, build its programs and open its store (default: FILE's name with `.runs`).

    Without `again`, build commands are not called for programs that exist. With `look`, the store
    may be read-only; programs are then built in a temporary directory.
    """
    return prepare_read(read(file), store, again=again, look=look)


def prepare_read(
    campaign: Campaign, store: Path | None = None, *, again: bool = True, look: bool = False
) -> Prepared:
    """Prepare a campaign that has already been read, or was built from tables."""
    file = campaign.file
    folder = store or file.with_suffix(".runs")
    opened = Store(folder, campaign.name, look=look)
    with TemporaryDirectory(prefix="weft-") as spare:
        programs = build.programs(campaign, folder, Path(spare) if look else None, again=again)
        found = runs.of(campaign, programs)
    if not found.runs:
        reason = found.impossible[0][1]
        raise WeftError(f"{file}: no combination can be run: {reason}")
    return Prepared(campaign, opened, found)


def carry_out(
    prepared: Prepared,
    on_done: Callable[[Run, TaskResult], None],
    at_once: int | None = None,
    on_running: Callable[[int], None] | None = None,
    make: Make | None = None,
) -> None:
    """Execute runs that are missing, have damaged files, or hit a limit that has since been raised.

    `on_running` is called with the number of runs in progress whenever it changes. `make` executes
    the runs; by default on this machine, `at_once` simultaneously.
    """
    found = prepared.index()
    own = {run.digest for run in prepared.every}
    for name in own.intersection((*found.damaged, *found.outgrown)):
        prepared.store.path(name).unlink(missing_ok=True)
    missing = prepared.missing(found)
    if not missing:
        return
    by_digest = {run.digest: run for run in missing}
    make = make or partial(local.run, at_once=at_once or local.cores())
    make(
        [_task(prepared, run) for run in missing],
        lambda task, done: on_done(by_digest[task.digest], done),
        memory=_learned(prepared, found),
        on_running=on_running,
    )


def on_cluster(where: Cluster | None, say: Callable[[str], None]) -> Make | None:
    """Return the executor of runs on a cluster; `say` receives occasional lines about its jobs."""
    if where is None:
        return None
    from weft.campaign.cluster import cluster  # deferred: Parsl is slow to load

    return partial(cluster.run, cluster=where, say=say)


def _learned(prepared: Prepared, found: Index) -> local.Memory:
    """Return memory estimates learned from the finished runs."""
    memory = local.Memory()
    ended = found.rows.filter(found.rows["peak_memory_bytes"] > 0)
    peaks = dict(zip(ended["run"], ended["peak_memory_bytes"], strict=True))
    for run in prepared.every:
        if run.digest in peaks:
            memory.learn(_task(prepared, run), peaks[run.digest])
    return memory


def refuse_unmeasured(prepared: Prepared) -> None:
    """Refuse a campaign with values outside the measured ranges. Raises WeftError."""
    seen = set()
    for run in prepared.runs:
        place, offload = run.request.placement, run.request.collectives.offload
        asked = (place.fabric, place.changes, place.ranks, place.ppn, offload != "off")
        if asked in seen:
            continue
        seen.add(asked)
        fabric = _core.load_fabric(place.fabric or "", of_fabric(place.changes))
        ppn = place.ppn or -(-place.ranks // len(fabric.compute_hosts))
        measured.refuse(measured.run_beyond(fabric, place.ranks, ppn, offloads=offload != "off"))


def refusals(prepared: Prepared, found: Index) -> Iterator[tuple[Point, str]]:
    """Yield the pending runs whose fabric or faults are invalid, with the reason; start nothing.

    Each fabric is loaded once per set of changes, which is slow for thousands of sets.
    """
    said: dict[tuple[str | None, tuple[str, ...], Path | None], str] = {}
    for run in prepared.missing(found):
        place = run.request.placement
        asked = (place.fabric, place.changes, place.faults)
        if asked not in said:
            said[asked] = _why_not(place)
        if said[asked]:
            yield run.point, said[asked]


def _why_not(place: Placement) -> str:
    try:
        fabric = _core.load_fabric(place.fabric or "", of_fabric(place.changes))
        if place.faults is not None:
            faults.prepare(place.faults, of_faults(place.changes), fabric)
    except (_core.UserError, WeftError) as error:
        return str(error)
    return ""


def forget_failures(prepared: Prepared) -> None:
    """Remove the results of failed and refused runs, so that they are executed again."""
    found = prepared.index().rows
    own = {run.digest for run in prepared.every}
    for name in own.intersection(found.filter(found["state"] != "done")["run"]):
        prepared.store.path(name).unlink(missing_ok=True)


def _task(prepared: Prepared, run: Run) -> Task:
    store = prepared.store.folder.absolute()
    request = run.request.changed(isolated=True)
    return Task(
        *(store, prepared.campaign.name, run.digest, run.point, request, run.jobs),
        iteration=run.iteration,
    )


def states(prepared: Prepared, found: Index | None = None) -> Counter[str]:
    """Count the runs by state: `done`, `failed`, `refused`, `missing`.

    A run counts once per combination that shares its result.
    """
    rows = (found or prepared.index()).rows
    by_run = dict(zip(rows["run"], rows["state"], strict=True))
    return Counter(by_run.get(run.digest, "missing") for run in prepared.counted)


def others(prepared: Prepared, found: Index) -> int:
    """Return the number of results from older files, fabrics or programs."""
    own = {run.digest for run in prepared.every}
    return sum(name not in own for name in found.rows["run"])
