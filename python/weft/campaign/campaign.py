# SPDX-License-Identifier: LGPL-2.1-only
"""A campaign that is ready: its runs, what of them has ended, and what came of it.

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
from weft.campaign.cluster.file import Cluster
from weft.campaign.execution import build, local
from weft.campaign.execution.work import Done, Task
from weft.campaign.file import runs
from weft.campaign.file.axes import Point
from weft.campaign.file.file import Campaign, read
from weft.campaign.file.runs import Run, Runs
from weft.campaign.store import index
from weft.campaign.store.index import Index
from weft.campaign.store.store import Result, Store
from weft.runs.options import Placement


class Make(Protocol):
    """What makes runs: processes of this machine, or a cluster's."""

    def __call__(
        self,
        tasks: Sequence[Task],
        on_done: local.OnDone,
        *,
        memory: local.Memory,
        on_running: local.OnRunning | None,
    ) -> None:
        """Make all of them."""


STATES = ("done", "failed", "refused")


@dataclass(frozen=True)
class Prepared:
    """A campaign whose programs are built."""

    campaign: Campaign
    store: Store
    found: Runs

    @property
    def runs(self) -> list[Run]:
        """A run for each combination; those that cannot differ have one digest."""
        return self.found.runs

    @cached_property
    def counted(self) -> list[Run]:
        """Runs of combinations, and those at the ends of intervals; some may be the same."""
        return [*self.runs, *self.found.ends]

    @cached_property
    def every(self) -> list[Run]:
        """The same, each once."""
        return list({run.digest: run for run in self.counted}.values())

    def index(self) -> Index:
        """Return what the store has, brought up to date."""
        campaign = self.campaign
        return index.read(self.store).under(campaign.timeout_s, campaign.memory_bytes)

    def missing(self, found: Index | None = None) -> list[Run]:
        """Return the runs that nobody has made, each once."""
        there = set((found or self.index()).rows["run"])
        return [run for run in self.every if run.digest not in there]

    def results(self) -> Iterator[tuple[Run, Result]]:
        """Yield the runs that have ended, with what came of them, records and all."""
        there = set(self.index().rows["run"])
        for run in self.runs:
            if run.digest in there:
                yield run, self.store.read(run.digest)


def prepare(
    file: Path, store: Path | None = None, *, again: bool = True, look: bool = False
) -> Prepared:
    """Read a campaign, build its programs, open its store: by default FILE's name and `.runs`.

    Without `again`, the commands of programs that are there are not called. Who only looks
    needs no folder to write in: programs are then built for this look alone.
    """
    return prepare_read(read(file), store, again=again, look=look)


def prepare_read(
    campaign: Campaign, store: Path | None = None, *, again: bool = True, look: bool = False
) -> Prepared:
    """Do the same with a campaign that has been read, or made of tables."""
    file = campaign.file
    folder = store or file.with_suffix(".runs")
    opened = Store(folder, campaign.name, look=look)
    with TemporaryDirectory(prefix="weft-") as spare:
        programs = build.programs(campaign, folder, Path(spare) if look else None, again=again)
        found = runs.of(campaign, programs)
    if not found.runs:
        reason = found.impossible[0][1]
        raise WeftError(f"{file}: none of its combinations can be run: {reason}")
    return Prepared(campaign, opened, found)


def carry_out(
    prepared: Prepared,
    on_done: Callable[[Run, Done], None],
    at_once: int | None = None,
    on_running: Callable[[int], None] | None = None,
    make: Make | None = None,
) -> None:
    """Make the runs that are missing, those whose files are damaged, and those whose limit grew.

    `on_running` is told how many are being made whenever that changes. `make` is who makes them;
    by default this machine, `at_once` at a time.
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
    """Return what makes runs on a cluster; `say` gets a line about its jobs now and then."""
    if where is None:
        return None
    from weft.campaign.cluster import cluster  # Parsl is slow to load, and only needed here

    return partial(cluster.run, cluster=where, say=say)


def _learned(prepared: Prepared, found: Index) -> local.Memory:
    """Return what the runs that have ended say of the others."""
    memory = local.Memory()
    ended = found.rows.filter(found.rows["peak_memory_bytes"] > 0)
    peaks = dict(zip(ended["run"], ended["peak_memory_bytes"], strict=True))
    for run in prepared.every:
        if run.digest in peaks:
            memory.learn(_task(prepared, run), peaks[run.digest])
    return memory


def refusals(prepared: Prepared, found: Index) -> Iterator[tuple[Point, str]]:
    """Yield the runs to do whose fabric cannot be as they change it, and why; nothing is started.

    Each fabric is read once with each of its changes, which takes long where they are thousands.
    """
    said: dict[tuple[str | None, tuple[str, ...]], str] = {}
    for run in prepared.missing(found):
        place = run.request.placement
        asked = (place.fabric, place.changes)
        if asked not in said:
            said[asked] = _why_not(place)
        if said[asked]:
            yield run.point, said[asked]


def _why_not(place: Placement) -> str:
    try:
        _core.load_fabric(place.fabric or "", place.changes)
    except _core.UserError as error:
        return str(error)
    return ""


def forget_failures(prepared: Prepared) -> None:
    """Remove the results of runs that have failed or were refused, so that they are made again."""
    found = prepared.index().rows
    own = {run.digest for run in prepared.every}
    for name in own.intersection(found.filter(found["state"] != "done")["run"]):
        prepared.store.path(name).unlink(missing_ok=True)


def _task(prepared: Prepared, run: Run) -> Task:
    store = prepared.store.folder.absolute()
    return Task(store, prepared.campaign.name, run.digest, run.point, run.request)


def states(prepared: Prepared, found: Index | None = None) -> Counter[str]:
    """Count the runs by state: `done`, `failed`, `refused`, `missing`.

    A run counts once for each combination that has its result.
    """
    rows = (found or prepared.index()).rows
    by_run = dict(zip(rows["run"], rows["state"], strict=True))
    return Counter(by_run.get(run.digest, "missing") for run in prepared.counted)


def others(prepared: Prepared, found: Index) -> int:
    """Return how many results are of older files, fabrics or programs."""
    own = {run.digest for run in prepared.every}
    return sum(name not in own for name in found.rows["run"])
