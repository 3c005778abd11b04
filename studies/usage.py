# SPDX-License-Identifier: LGPL-2.1-only
"""Resource usage of a command and its children: time, and peak of total memory.

Memory is polled from outside while the command runs, by two measures that are independent of each
other and of the command's own figures. Resident sets are cheap to sum but count shared pages
repeatedly. Proportional sets count shared pages once, but Linux walks all pages to compute them, so
the polling interval grows with the time of a reading.
"""

import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from weft.base import memory

_LOOK_S = 0.05
_SHARE = 0.05
"""Maximum fraction of time spent on reading proportional sets."""


@dataclass(frozen=True)
class Usage:
    """Exit status and resources of a command, including its children."""

    status: int
    errors: str
    """Output on standard error."""
    user_s: float
    system_s: float
    wall_s: float
    resident_bytes: int
    """Peak of the summed resident sets."""
    proportional_bytes: int
    """Peak of the summed proportional sets."""


class _Peak:
    """Tracks the maximum of a quantity that is expensive to read."""

    def __init__(self, look: Callable[[], int], share: float) -> None:
        self.most = 0
        self._look = look
        self._share = share
        self._next = 0.0

    def look(self) -> None:
        start = time.monotonic()
        if start < self._next:
            return
        self.most = max(self.most, self._look())
        end = time.monotonic()
        self._next = end + (end - start) / self._share


def watched(command: Sequence[str]) -> Usage:
    """Run a command to its end and discard its standard output."""
    start = time.monotonic()
    child = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    resident = _Peak(lambda: memory.resident(child.pid), 1.0)
    proportional = _Peak(lambda: memory.proportional(child.pid), _SHARE)
    errors = b""
    try:
        with _looking_at(resident, proportional):
            if child.stderr is not None:
                errors = child.stderr.read()
            _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    finally:
        if child.returncode is None:
            child.terminate()
            child.wait()
    return Usage(
        child.returncode,
        errors.decode(errors="replace").strip(),
        usage.ru_utime,
        usage.ru_stime,
        time.monotonic() - start,
        resident.most,
        proportional.most,
    )


@contextmanager
def _looking_at(*peaks: _Peak) -> Iterator[None]:
    """Poll memory for the peaks until the body has ended."""
    over = threading.Event()

    def watch() -> None:
        while True:
            for peak in peaks:
                peak.look()
            if over.wait(_LOOK_S):
                return

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
