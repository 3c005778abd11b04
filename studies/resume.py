# SPDX-License-Identifier: LGPL-2.1-only
"""Resumable long-running jobs: completed results are stored and not recomputed.

A job's result is a file whose name contains a digest of all inputs, including weft's library. After
Ctrl-C, running jobs complete.
"""

import hashlib
import json
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain
from pathlib import Path

from studies.study import OPTION, ROOT, Table
from weft.base import paths
from weft.base.output import whole_file

RESULTS = ROOT / "build" / "studies"


@dataclass(frozen=True)
class Job:
    """Work to be done once."""

    target: Path
    """Resulting file, written atomically; if it exists, the job is skipped."""
    run: Callable[[], None]

    @property
    def name(self) -> str:
        """Name for progress and errors."""
        return self.target.stem


def digest(*parts: str | bytes) -> str:
    """Return a digest of a result's inputs."""
    joined = b"\0".join(part.encode() if isinstance(part, str) else part for part in parts)
    return hashlib.sha256(joined).hexdigest()[:12]


@cache
def weft_digest(*names: str) -> str:
    """Return a digest of the weft build, its fabrics and presets, and programs.

    Other versions may produce other results. The programs are the named programs of examples/, or
    all.
    """
    named = [paths.example(name) for name in names]
    programs = named or sorted((ROOT / "examples").glob("*.[ch]"))
    shipped = [sorted((ROOT / kind).rglob("*.toml")) for kind in ("fabrics", "presets")]
    files = (paths.platform_library(), *chain(*shipped), *programs)
    return digest(*(file.read_bytes() for file in files))


def carry_out(jobs: Sequence[Job], at_once: int = 1) -> None:
    """Run the jobs without a result; after Ctrl-C, only finish jobs that have started."""
    todo = [job for job in jobs if not job.target.exists()]
    done = len(jobs) - len(todo)
    with _interrupts() as interrupted, ThreadPoolExecutor(at_once) as pool:
        for job in pool.map(partial(_unless, interrupted), todo):
            done += 1
            if not interrupted.is_set():
                print(f"{done} of {len(jobs)}: {job.name}", flush=True)


def kept_rows(
    study: str, parts: Sequence[tuple[str, Callable[[], Table]]], programs: Sequence[str] = ()
) -> Table:
    """Return the rows of all parts, each with a name that identifies its inputs.

    Rows also depend on weft, and on the named programs of examples/, or on all.
    """
    names = [name for name, _ in parts]
    if len(set(names)) < len(names):
        raise ValueError(f"{study}: two parts have one name, and would have one result: {names}")
    folder = RESULTS / study
    folder.mkdir(parents=True, exist_ok=True)
    jobs = [
        Job(target, partial(_keep, target, compute))
        for name, compute in parts
        for target in [folder / f"{name}-{digest(weft_digest(*programs), name)}.json"]
    ]
    carry_out(jobs)
    rows: Table = []
    for job in jobs:
        rows += json.loads(job.target.read_text(encoding="utf-8"))
    return rows


def _keep(target: Path, compute: Callable[[], Table]) -> None:
    rows = compute()
    with whole_file(OPTION, target) as file:
        json.dump(rows, file)


def _unless(interrupted: threading.Event, job: Job) -> Job:
    try:
        if not interrupted.is_set():
            job.run()
    except BaseException:
        interrupted.set()
        raise
    return job


@contextmanager
def _interrupts() -> Iterator[threading.Event]:
    """Let Ctrl-C set an event, and raise its exception only at the end."""
    came = threading.Event()
    before = signal.signal(signal.SIGINT, lambda _number, _frame: came.set())
    try:
        yield came
    finally:
        signal.signal(signal.SIGINT, before)
    if came.is_set():
        raise KeyboardInterrupt
