# SPDX-License-Identifier: LGPL-2.1-only
"""What memory processes hold, as Linux counts it in /proc."""

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_KIB = 1024
_REST = 50
"""Times the CPU time of a look that the next is put off: looks take two hundredths of a core."""


class Gauge:
    """Resident memory of a process and its children; pages count once, however often mapped.

    Linux finds the last out by walking all that is mapped, which takes seconds where ranks map one
    block a hundred thousand times. So it is asked only where the sum of the resident sets, in which
    such pages count again and again, is over the bound, and rests then for a multiple of the time
    that it took.
    """

    def __init__(self, pid: int) -> None:
        """Begin with a process."""
        self._pid = pid
        self._held = 0
        self._rests_until = 0.0

    def held(self, enough: int) -> int:
        """Return the bytes, at least if over `enough`; of shared pages, as last seen."""
        if (all_pages := resident(self._pid)) <= enough:
            return all_pages
        # Pages of its own are those of nobody else: what grows fast is found at once.
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
    """Return the memory of a process and its children, each page counted once, in bytes."""
    return sum(_proportional(one) for one in _tree(pid))


def peak(pid: int) -> int:
    """Return the largest resident set that a process has had, or 0 where it has ended."""
    return _status(pid, "VmHWM:")


def _anonymous(pid: int) -> int:
    """Return the bytes of the pages that a process has made and no file has."""
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
    with suppress(OSError, ValueError, IndexError):  # it has ended
        pages = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")
    return 0


def _proportional(pid: int) -> int:
    with suppress(OSError, ValueError, StopIteration):
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) * _KIB
    return _resident(pid)
