# SPDX-License-Identifier: LGPL-2.1-only
"""What memory processes hold, as Linux counts it in /proc."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_KIB = 1024


def held(pid: int, enough: int) -> int:
    """Return the bytes that a process and its children hold, resident, at least if over `enough`.

    Pages count once, however many processes have them and however often one has mapped them.
    Finding that out takes long, so that up to `enough` the sum of the resident sets does.
    """
    tree = list(_tree(pid))
    resident = sum(_resident(one) for one in tree)
    return resident if resident <= enough else sum(_proportional(one) for one in tree)


def peak(pid: int) -> int:
    """Return the largest resident set that a process has had, or 0 where it has ended."""
    with suppress(OSError, ValueError, StopIteration):
        lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
        found = next(line for line in lines.splitlines() if line.startswith("VmHWM:"))
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
