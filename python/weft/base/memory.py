# SPDX-License-Identifier: LGPL-2.1-only
"""Memory of processes, from Linux's counters in /proc."""

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_KIB = 1024
_REST = 50
"""Pause after a proportional scan, in multiples of its CPU time: scans take 2 % of a core."""


class Gauge:
    """Resident memory of a process and its children, with shared pages counted once.

    Linux computes the proportional set size by walking all mappings, which takes seconds when ranks
    map one block a hundred thousand times. The gauge therefore reads it only if the sum of the
    resident sets, which counts shared pages repeatedly, exceeds the bound. After each read it
    pauses for a multiple of the time that the read took.
    """

    def __init__(self, pid: int) -> None:
        """Start with the process `pid`."""
        self._pid = pid
        self._held = 0
        self._rests_until = 0.0

    def held(self, enough: int) -> int:
        """Return the bytes: exact above `enough`, with shared pages as of the last scan."""
        if (all_pages := resident(self._pid)) <= enough:
            return all_pages
        # Anonymous pages are private, so fast growth is noticed at once.
        if (own := _anonymous(self._pid)) > enough:
            return own
        if time.monotonic() >= self._rests_until:
            start = time.thread_time()
            self._held = proportional(self._pid)
            cost = time.thread_time() - start
            self._rests_until = time.monotonic() + _REST * cost
        return self._held


def resident(pid: int) -> int:
    """Return the sum of the resident sets of a process and its children, in bytes."""
    return sum(_resident(one) for one in _tree(pid))


def proportional(pid: int) -> int:
    """Return the memory of a process and its children in bytes, with each page counted once."""
    return sum(_proportional(one) for one in _tree(pid))


def peak(pid: int) -> int:
    """Return the peak RSS of a process, or 0 if it has ended."""
    return _status(pid, "VmHWM:")


def _anonymous(pid: int) -> int:
    """Return the bytes of a process's resident anonymous pages."""
    return _status(pid, "RssAnon:")


def _status(pid: int, name: str) -> int:
    with suppress(OSError, ValueError, StopIteration):
        lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
        found = next(line for line in lines.splitlines() if line.startswith(name))
        return int(found.split()[1]) * _KIB
    return 0


def _tree(pid: int) -> Iterator[int]:
    yield pid
    with suppress(OSError, ValueError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            for child in (thread / "children").read_text(encoding="ascii").split():
                yield from _tree(int(child))


def _resident(pid: int) -> int:
    with suppress(OSError, ValueError, IndexError):  # # the process has ended
        pages = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")
    return 0


def _proportional(pid: int) -> int:
    with suppress(OSError, ValueError, StopIteration):
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) * _KIB
    return _resident(pid)
