# SPDX-License-Identifier: LGPL-2.1-only
"""Checks a run's minimum requirements against the machine's resources before it starts.

A machine that runs out of memory kills the run or another process; other system limits abort it
midway with an error from SimGrid. Here, each limit has one error with both numbers. Requirements
are lower bounds, since the program's own requirements are unknown: a run that fits is never
refused.
"""

import os
import shutil
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

from weft.base.errors import WeftError, named
from weft.base.file_cache import kept
from weft.base.machine import Machine
from weft.base.units import format_size

# Bytes, below the measured peak_memory_bytes of runs of a program that only calls MPI_Init and
# MPI_Finalize, with a margin for other machines and versions.
_PROCESS = 10 << 20
"""Fixed bytes of a run: 14.2 MB measured for 4 ranks on tofino-64x64."""
_RANK = 5800
"""Bytes per rank: 6.1 KB measured for 4,096 to 262,144 ranks on fat-tree-65536, 16 per host, of
which 4 KiB are stack.

Real programs need more: examples/allreduce_latency.c with calls of 1 KiB uses 10.8 KB per rank at
1,048,576 ranks.
"""
_COPY = 16 << 10
"""Bytes per copy: 21.9 KB measured for 1,024 ranks of a program whose only variable is a 400-byte
array.
"""
_PAGE_TABLE_PAGE = 4 << 10
"""Page table pages charged to the control group: one per stack of 8 or 2 MiB, one per eight stacks
of 256 KiB.
"""
_LINK = 120
"""Bytes per link, two links per cable, including hosts and switches: 140 measured for the 393,216
links of fat-tree-65536.
"""
_LARGE_STACK_RANKS = 32768
_SMALL_STACKS_A_PAGE = 8
_OTHER_MAPPINGS = 500
"""Mappings of smpimain and its libraries, without Python: 150 measured for tofino-4."""
_HOST_LINE = 7
"""Bytes per rank in the host file: the shortest host name, such as `host-0`."""
_RECORD = 4 << 10
"""Lower bound of a record's size in bytes."""
_TEMPORARY_FILES = 6
"""Files of a run: the directory, its lock, hosts, two logs, and the record."""
_WRITABLE = 2
"""Flag of a segment in an ELF file."""
_MOMENT_S = 1.0
"""Validity of an observation of the machine's resources, in seconds."""
_SHARED = f"{named('privatize=False')} if the program writes no global variable"


@dataclass(frozen=True)
class ResourceInputs:
    """Inputs of the resource requirements."""

    ranks: int
    links: int = 0
    copied: tuple[Path, ...] = ()
    """Files of which each rank gets a copy."""
    settings: Sequence[str] = ()

    def setting(self, key: str) -> str:
        """Return the user's value of a SimGrid setting; empty if not set."""
        values = [one.partition(":")[2] for one in self.settings if one.startswith(f"{key}:")]
        return values[-1] if values else ""

    @property
    def has_threads(self) -> bool:
        """True if each rank is a system thread."""
        return self.setting("contexts/factory") == "thread"

    @property
    def memory_bytes(self) -> int:
        """Minimum memory of the run."""
        shared = _SMALL_STACKS_A_PAGE if self.ranks > _LARGE_STACK_RANKS else 1
        rank = _RANK + _PAGE_TABLE_PAGE // shared + (_COPY if self.copied else 0)
        return _PROCESS + self.ranks * rank + self.links * _LINK


@dataclass(frozen=True)
class StartResources:
    """Resources at the start of a run, for checks before it and for the diagnosis of its end."""

    memory_bytes: int
    whose: str
    oom_kills: int
    machine: Machine
    seen_s: float
    """Time of the observation, from `time.monotonic`."""

    @classmethod
    def seen(cls, machine: Machine | None = None) -> Self:
        """Observe the machine."""
        machine = machine or Machine()
        return cls(*machine.memory(), machine.oom_kills(), machine, time.monotonic())

    def renewed(self) -> Self:
        """Observe again if the last observation is old, as a prepared run may start much later."""
        old = time.monotonic() - self.seen_s > _MOMENT_S
        return self.seen(self.machine) if old else self

    def why_killed(self, peak_bytes: int) -> str:
        """Return the most likely reason for an external kill, given the peak memory."""
        surely = self.machine.oom_kills() > self.oom_kills
        who = (
            "the system killed it for lack of memory"
            if surely
            else "another process killed it, perhaps for lack of memory"
        )
        return (
            f"{who}: it used {format_size(peak_bytes)}, and {self.whose} had"
            f" {format_size(self.memory_bytes)} left when it began"
        )


def check(needs: ResourceInputs, machine: Machine | None = None) -> StartResources:
    """Check that the machine meets the minimum requirements; return its resources."""
    start = StartResources.seen(machine)
    _check_memory(needs, start)
    for each in _CHECKS:
        each(needs, start.machine)
    return start


def _check_memory(needs: ResourceInputs, start: StartResources) -> None:
    if needs.memory_bytes > start.memory_bytes:
        copies = ", each with a copy of the program" if needs.copied else ""
        less = f" {_SHARED}," if copies else ""
        raise WeftError(
            f"memory: the run needs at least {format_size(needs.memory_bytes)}"
            f" ({needs.ranks:,} ranks{copies}), and {start.whose} has"
            f" {format_size(start.memory_bytes)} left; take{less} fewer ranks, a smaller fabric,"
            " or a machine with more memory"
        )


_AMPLE = 256 << 10
"""Memory per rank for the program's data above which no warning is given."""
_THRESHOLD = "smpi/auto-shared-malloc-thresh"


def forecast(needs: ResourceInputs, start: StartResources) -> str:
    """Return a warning if the machine leaves each rank little memory for the program's data.

    The size of a program's data is unknown before the run, except for its copied variables. The
    warning therefore states the remaining memory and ways to save some. It is empty if the
    remaining memory is ample.
    """
    fixed = needs.memory_bytes + needs.ranks * sum(map(_variables, needs.copied))
    each = max(0, start.memory_bytes - fixed) // needs.ranks
    if each >= _AMPLE:
        return ""
    hints = []
    if not needs.setting(_THRESHOLD):
        hints.append(f"--cfg {_THRESHOLD}:4096 shares blocks of 4 KiB or more among all ranks")
    most = start.machine.number("sys/vm/max_map_count", 65530)
    if (count := _OTHER_MAPPINGS + needs.ranks) > most:
        hints.append(
            f"each shared block then takes a mapping per rank, and Linux allows {most:,}: raise it"
            f" first (as root, sysctl vm.max_map_count={4 * count})"
        )
    if needs.copied:
        hints.append(f"take {_SHARED}")
    return (
        f"memory: {needs.ranks:,} ranks need at least {format_size(fixed)}, and {start.whose} has"
        f" {format_size(start.memory_bytes)} left: {format_size(each)} for the data of each rank."
        f" If it needs more: {'; '.join([*hints, 'or take fewer ranks'])}"
    )


@kept
def _variables(path: Path) -> int:
    """Return the size of the variables of a program or library, in bytes."""
    try:
        with path.open("rb") as file:
            return sum(
                segment["p_memsz"]
                for segment in ELFFile(file).iter_segments()
                if segment["p_type"] == "PT_LOAD" and segment["p_flags"] & _WRITABLE
            )
    except (OSError, ELFError):
        return 0


def _check_disk(needs: ResourceInputs, machine: Machine) -> None:
    """Check the disk space for copies of the program, the host file and the record.

    SimGrid unlinks its copies, but they still occupy disk space.
    """
    with suppress(OSError):
        copies = needs.ranks * sum(path.stat().st_size for path in needs.copied)
        size = copies + needs.ranks * _HOST_LINE + _RECORD
        free = shutil.disk_usage(machine.temporary).free
        files = os.statvfs(machine.temporary)
        elsewhere = "set TMPDIR to a directory on another disk"
        if size > free:
            what = (
                f"copies of the program for {needs.ranks:,} ranks need" if copies else "a run needs"
            )
            less = f", or take {_SHARED}" if copies else ""
            raise WeftError(
                f"temporary directory: {what} {format_size(size)}, and {machine.temporary} has"
                f" {format_size(free)} left; {elsewhere}{less}"
            )
        if files.f_files and files.f_favail < _TEMPORARY_FILES:
            raise WeftError(
                f"temporary directory: a run needs {_TEMPORARY_FILES} files there, and"
                f" {machine.temporary} has room for {files.f_favail}; {elsewhere}"
            )


def _check_mappings(needs: ResourceInputs, machine: Machine) -> None:
    most = machine.number("sys/vm/max_map_count", 65530)
    each = sum(map(_mappings, needs.copied)) + (2 if needs.has_threads else 0)
    if (count := _OTHER_MAPPINGS + each * needs.ranks) > most and each > 0:
        less = f" take {_SHARED}," if needs.copied else ""
        raise WeftError(
            f"mappings: the run needs at least {count:,} ({each} for each of {needs.ranks:,}"
            f" ranks), and Linux gives a process {most:,};{less} raise the limit (as root, sysctl"
            f" vm.max_map_count={2 * count}), or use fewer ranks"
        )


@kept
def _mappings(path: Path) -> int:
    """Return the number of mappings per copy: the segments, and a separate mapping for RELRO."""
    try:
        with path.open("rb") as file:
            kinds = [segment["p_type"] for segment in ELFFile(file).iter_segments()]
    except (OSError, ELFError):
        return 0
    return kinds.count("PT_LOAD") + kinds.count("PT_GNU_RELRO")


def _check_threads(needs: ResourceInputs, machine: Machine) -> None:
    if not needs.has_threads:
        return
    there, whose = machine.tasks()
    if needs.ranks > there:
        raise WeftError(
            f"threads: with --cfg contexts/factory:thread each of {needs.ranks:,} ranks needs one,"
            f" and the system allows {there:,} ({whose}); leave out that setting, or use fewer"
            " ranks"
        )


_CHECKS: tuple[Callable[[ResourceInputs, Machine], None], ...] = (
    _check_disk,
    _check_mappings,
    _check_threads,
)
