# SPDX-License-Identifier: LGPL-2.1-only
"""Progress of runs while they simulate: the simulated time, and the MPI calls so far.

libweft.so shows both in a file of one page (`src/binding/run/progress_page.hpp`), which is only
made if somebody listens. When the program will end is unknown, so there is no end in it.
"""

import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

_PAGE = struct.Struct("=dq")
_NAME = "progress"
_LOOK_S = 0.5


@dataclass(frozen=True)
class RunProgress:
    """State of a run that simulates."""

    wall_time_s: float
    """Since its start."""
    simulated_time_s: float
    """0 until the ranks have used any."""
    calls: int
    """MPI calls of all ranks."""


class Listener(Protocol):
    """Receiver of the progress of runs of this process."""

    def take(self, now: RunProgress) -> None:
        """Take the state of a run, about twice a second, in a thread."""

    def ended(self, wall_time_s: float) -> None:
        """Take the end of a run."""


_listeners: list[Listener] = []


@contextmanager
def reported_to(listener: Listener) -> Iterator[None]:
    """Report the progress of runs to `listener`."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def page(work: Path) -> str:
    """Create the page of a run in its work directory; return its path, empty if nobody listens."""
    if not _listeners:
        return ""
    path = work / _NAME
    path.write_bytes(bytes(_PAGE.size))
    return str(path)


@contextmanager
def followed(work: Path) -> Iterator[None]:
    """Report the progress of the run whose page is in this work directory."""
    path = work / _NAME
    if not path.exists():
        yield
        return
    over = threading.Event()
    start = time.monotonic()

    def look() -> None:
        while not over.wait(_LOOK_S):
            with suppress(OSError):
                simulated_s, calls = _PAGE.unpack(path.read_bytes())
                now = RunProgress(time.monotonic() - start, simulated_s, calls)
                for listener in tuple(_listeners):
                    listener.take(now)

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        for listener in tuple(_listeners):
            listener.ended(time.monotonic() - start)
