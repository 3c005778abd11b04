# SPDX-License-Identifier: LGPL-2.1-only
"""What a command and all that it starts cost: time, and the peak of their memory together.

Memory is looked at from outside while the command runs, in two ways that know nothing of each other
and nothing of what the command says of itself. Resident sets are quickly added up, and count what
two processes share twice. Proportional sets count it once, but Linux walks through all pages for
them; so they are looked at the less often the longer that takes.
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
"""The part of the time in which the proportional sets may be looked at."""


@dataclass(frozen=True)
class Usage:
    """How a command ended, and what it took, its children's share included."""

    status: int
    errors: str
    """What it wrote to standard error."""
    user_s: float
    system_s: float
    wall_s: float
    resident_bytes: int
    """The largest sum of the resident sets."""
    proportional_bytes: int
    """The largest sum of the proportional sets."""


class _Peak:
    """Remembers the largest value of something that takes long to look at."""

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
    """Run a command to its end; its standard output is dropped."""
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
    """Look at them until the body has ended."""
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
