# SPDX-License-Identifier: LGPL-2.1-only
"""Memory and limits of this machine, as Linux reports them under /proc and /sys."""

import os
import resource
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from weft.base.units import format_size


@dataclass(frozen=True)
class Machine:
    """Sources of system information; tests use their own directories."""

    proc: Path = Path("/proc")
    cgroups: Path = Path("/sys/fs/cgroup")
    temporary: Path = field(default_factory=lambda: Path(tempfile.gettempdir()))

    def number(self, name: str, otherwise: int) -> int:
        """Return the first number in a file of /proc."""
        return _number(self.proc / name, otherwise)

    def memory(self) -> tuple[int, str]:
        """Return the bytes available to a new process, and the name of the limiting resource."""
        return min([(self._available(), "this machine"), *self._memory_groups()])

    def oom_kills(self) -> int:
        """Return the number of processes that Linux's OOM killer has killed since boot."""
        with suppress(OSError, ValueError):
            lines = (self.proc / "vmstat").read_text(encoding="ascii").splitlines()
            return next((int(line.split()[1]) for line in lines if line.startswith("oom_kill ")), 0)
        return 0

    def tasks(self) -> tuple[int, str]:
        """Return how many processes and threads can still be created, and the name of the limit."""
        limits = list(self._pid_groups())
        for name in ("threads-max", "pid_max"):
            limits.append((self.number(f"sys/kernel/{name}", 1 << 62), f"/proc/sys/kernel/{name}"))
        soft, _ = resource.getrlimit(resource.RLIMIT_NPROC)
        if soft != resource.RLIM_INFINITY and os.geteuid() != 0:  # unlimited for root
            limits.append(
                (max(0, soft - self._tasks_of(os.getuid())), f"ulimit -u, limit {soft:,}")
            )
        return min(limits)

    def _tasks_of(self, user: int) -> int:
        """Return the number of threads in a user's visible processes."""
        count = 0
        for process in self.proc.glob("[0-9]*"):
            with suppress(OSError):  # the process may have ended
                if process.stat().st_uid == user:
                    count += sum(1 for _ in (process / "task").iterdir())
        return count

    def _pid_groups(self) -> Iterator[tuple[int, str]]:
        names = ("pids.max", "pids.current", None)
        for folder, most, left in self._groups("pids", names, names):
            yield left, f"the control group {folder}, limit {most:,}"

    def _available(self) -> int:
        """Return available memory and free swap, in bytes."""
        with suppress(OSError, ValueError):
            lines = (self.proc / "meminfo").read_text(encoding="ascii").splitlines()
            kib = {line.split(":")[0]: int(line.split()[1]) for line in lines}
            return (kib["MemAvailable"] + kib["SwapFree"]) << 10
        return 1 << 62

    def _memory_groups(self) -> Iterator[tuple[int, str]]:
        first = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_")
        second = ("memory.max", "memory.current", "")
        for folder, most, left in self._groups("memory", first, second):
            yield left, f"the control group {folder} (limit {format_size(most)})"

    def _groups(
        self,
        controller: str,
        first: tuple[str, str, str | None],
        second: tuple[str, str, str | None],
    ) -> Iterator[tuple[Path, int, int]]:
        """Yield this process's control group and its ancestors, with limit and remainder.

        File names differ between the two versions of control groups: limit, use, statistics prefix.
        """
        with suppress(OSError, ValueError):
            for line in (self.proc / "self/cgroup").read_text(encoding="utf-8").splitlines():
                _, controllers, path = line.split(":", 2)
                if controllers == "":
                    yield from _left(self.cgroups, path, *second)
                elif controller in controllers.split(","):
                    yield from _left(self.cgroups / controller, path, *first)


def _left(
    root: Path, path: str, most: str, used: str, prefix: str | None
) -> Iterator[tuple[Path, int, int]]:
    group = root / path.lstrip("/")
    for folder in (group, *group.parents):
        if (limit := _number(folder / most, -1)) >= 0:  # "max" if there is no limit
            held = _number(folder / used, 0)
            if prefix is not None:
                held -= _cached(folder / "memory.stat", prefix)
            yield folder, limit, max(0, limit - held)
        if folder == root:
            return


def _cached(file: Path, prefix: str) -> int:
    """Return the bytes of a group's page cache, which is reclaimed on demand."""
    kinds = {f"{prefix}active_file", f"{prefix}inactive_file"}
    with suppress(OSError, ValueError):
        lines = file.read_text(encoding="ascii").splitlines()
        return sum(int(line.split()[1]) for line in lines if line.split()[0] in kinds)
    return 0


def _number(file: Path, otherwise: int) -> int:
    try:
        return int(file.read_text(encoding="ascii").split()[0])
    except (OSError, ValueError, IndexError):
        return otherwise
