# SPDX-License-Identifier: LGPL-2.1-only
"""Output of jobs: one file per job, or lines prefixed with the job's name.

libweft.so redirects standard output and standard error whenever it switches between jobs. A job
without a file writes to two named pipes, which a thread here reads line by line.
"""

import os
import selectors
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from weft.base.process import Streams
from weft.runs.jobs.file import Job, fail

Emit = Callable[[str], object]
_CHUNK = 1 << 16
_LONGEST_LINE = 1 << 20
_LOOK_S = 0.1


@dataclass(frozen=True)
class Destination:
    """Files that libweft.so opens for a job."""

    output: Path
    error: Path


@dataclass
class _Pipe:
    """Named pipe of a job, with the incomplete last line."""

    prefix: str
    emit: Emit
    rest: bytes = b""

    def take(self, chunk: bytes) -> None:
        """Emit all complete lines, and also the incomplete last line if it is very long."""
        *lines, self.rest = (self.rest + chunk).split(b"\n")
        for line in lines:
            self._emit(line)
        if len(self.rest) > _LONGEST_LINE:
            self.end()

    def end(self) -> None:
        """Emit the incomplete last line."""
        if self.rest:
            self._emit(self.rest)
        self.rest = b""

    def _emit(self, line: bytes) -> None:
        self.emit(self.prefix + line.decode(errors="replace"))


@dataclass
class Outputs:
    """Destinations of all jobs, by name."""

    of_job: dict[str, Destination] = field(default_factory=dict)
    pipes: dict[Path, _Pipe] = field(default_factory=dict)


def _create(job: Job, path: Path) -> None:
    try:
        path.write_bytes(b"")
    except OSError as error:
        raise fail(job, "output", f"cannot write {path}: {error.strerror}") from None


@contextmanager
def outputs(
    jobs: Sequence[Job], work: Path, on_line: Emit | None, streams: Streams | None
) -> Iterator[Outputs]:
    """Create the destinations, and forward lines until the context exits.

    Lines go to `on_line` (standard error only if it joins standard output), else to weft's own
    streams.
    """
    joined = streams is not None and streams.stderr == subprocess.STDOUT
    out: Emit = on_line or _printer(sys.stdout)
    error: Emit = out if on_line is not None and joined else _printer(sys.stderr)
    found = Outputs()
    for number, job in enumerate(jobs):
        if job.output is not None:
            _create(job, job.output)
            found.of_job[job.name] = Destination(job.output.absolute(), job.output.absolute())
            continue
        ends = Destination(work / f"output-{number}", work / f"error-{number}")
        for path, emit in ((ends.output, out), (ends.error, error)):
            os.mkfifo(path)
            found.pipes[path] = _Pipe(f"{job.name}: ", emit)
        found.of_job[job.name] = ends
    with _forwarding(found.pipes):
        yield found


def _printer(stream: IO[str]) -> Emit:
    return lambda line: print(line, file=stream, flush=True)


@contextmanager
def _forwarding(pipes: dict[Path, _Pipe]) -> Iterator[None]:
    """Read the pipes in a thread, and drain them at the end."""
    if not pipes:
        yield
        return
    over = threading.Event()
    failed: list[BaseException] = []
    selector = selectors.DefaultSelector()
    for path, pipe in pipes.items():
        # Opened for reading and writing, so that a pipe without writers does not reach end of file.
        selector.register(os.open(path, os.O_RDWR | os.O_NONBLOCK), selectors.EVENT_READ, pipe)
    thread = threading.Thread(target=_forward, args=(selector, over, failed), daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        for key in list(selector.get_map().values()):
            os.close(key.fd)
        selector.close()
    if failed:
        raise failed[0]


def _forward(
    selector: selectors.BaseSelector, over: threading.Event, failed: list[BaseException]
) -> None:
    """Forward lines until the run is over and the pipes are empty."""
    try:
        while True:
            was_over = over.is_set()
            ready = selector.select(0 if was_over else _LOOK_S)
            for key, _ in ready:
                key.data.take(os.read(key.fd, _CHUNK))
            if was_over and not ready:
                break
        for key in selector.get_map().values():
            key.data.end()
    except BaseException as error:
        failed.append(error)
