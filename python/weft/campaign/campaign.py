# SPDX-License-Identifier: LGPL-2.1-only
"""A campaign that is ready: its runs, what of them has ended, and what came of it.

prepared = prepare(Path("slots.toml"))
carry_out(prepared, on_done=print)
rows = table(prepared)
"""

import os
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weft.base.errors import WeftError
from weft.campaign import build, local, runs
from weft.campaign.file import Campaign, read
from weft.campaign.runs import Run, Runs
from weft.campaign.store import Result, Store
from weft.campaign.work import Done, Task, said

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

    def missing(self) -> list[Run]:
        """Return the runs that nobody has made, each once."""
        there = self.store.names()
        return list({run.digest: run for run in self.runs if run.digest not in there}.values())

    def results(self) -> Iterator[tuple[Run, Result]]:
        """Yield the runs that have ended, with what came of them."""
        there = self.store.names()
        for run in self.runs:
            if run.digest in there:
                yield run, self.store.read(run.digest)


def prepare(file: Path, store: Path | None = None) -> Prepared:
    """Read a campaign, build its programs, open its store: by default FILE's name and `.runs`."""
    campaign = read(file)
    folder = store or file.with_suffix(".runs")
    opened = Store(folder, campaign.name)
    programs = build.programs(campaign, folder)
    found = runs.of(campaign, programs)
    if not found.runs:
        reason = found.impossible[0][1]
        raise WeftError(f"{file}: none of its combinations can be run: {reason}")
    return Prepared(campaign, opened, found)


def carry_out(
    prepared: Prepared, on_done: Callable[[Run, Done], None], at_once: int | None = None
) -> None:
    """Make the runs that are missing."""
    missing = prepared.missing()
    if not missing:  # then nothing that has ended needs to be read
        return
    by_digest = {run.digest: run for run in missing}
    memory = local.Memory()
    for run, result in prepared.results():
        memory.learn(_task(prepared, run), said(run.digest, result).peak_memory_bytes)
    local.run(
        [_task(prepared, run) for run in missing],
        lambda task, done: on_done(by_digest[task.digest], done),
        at_once or os.cpu_count() or 1,
        memory,
    )


def forget_failures(prepared: Prepared) -> None:
    """Remove the results of runs that have failed or were refused, so that they are made again."""
    for run, result in prepared.results():
        if result.state != "done":
            prepared.store.path(run.digest).unlink(missing_ok=True)


def _task(prepared: Prepared, run: Run) -> Task:
    store = prepared.store.folder.absolute()
    return Task(store, prepared.campaign.name, run.digest, run.point, run.request)


def states(prepared: Prepared) -> Counter[str]:
    """Count the runs by state: `done`, `failed`, `refused`, `missing`."""
    found = Counter(result.state for _, result in prepared.results())
    found["missing"] = len(prepared.runs) - found.total()
    return found


def table(prepared: Prepared) -> list[dict[str, Any]]:
    """Return a row for each run that has ended: its keys, and what came of it, in seconds."""
    keys = list(runs.columns(prepared.runs))
    return [_row(run, result, keys) for run, result in prepared.results()]


def _row(run: Run, result: Result, keys: list[str]) -> dict[str, Any]:
    row: dict[str, Any] = {key: run.point.get(key) for key in keys}
    record = result.record
    done = said(run.digest, result)
    row |= {"run": run.digest, "state": result.state, "message": done.message}
    if not record:
        return row
    return row | {
        "simulated_time_s": record.simulated_time_s,
        "collectives_s": sum(one.total_time_s or 0 for one in record.collectives) / record.ranks,
        "offloaded_calls": sum(one.calls for one in record.collectives if one.offloaded),
        "calls": sum(one.calls for one in record.collectives),
        "wall_time_s": record.wall_time_s,
        "cpu_time_s": record.cpu_time_s,
        "peak_memory_bytes": record.peak_memory_bytes,
    }
