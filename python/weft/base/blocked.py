# SPDX-License-Identifier: LGPL-2.1-only
"""Detection of simulators whose current rank is blocked in a system call, so that no rank can run.

All ranks run on one thread. A rank that waits for another one outside MPI (a socket, a pipe, a
semaphore, a file lock) therefore waits for ever. The simulator is blocked when its main thread
sleeps in such a system call and the whole process uses no CPU time: computing helper threads would
use some. A signal notifies it, and it then ends the rank's program
(src/binding/process/blocked_rank.cpp).

A rank may wait for something that is not in the simulation. weft does not interfere if the rank has
child processes, or reads standard input, a regular file, or the end of a pipe or connection whose
other end belongs to another process.
"""

import ctypes
import os
import platform
import signal
import stat
import time
from contextlib import suppress
from pathlib import Path

LIMIT_S = 10
"""Limit on the real time in a call that only another rank can end."""
TIMED_LIMIT_S = 60
"""Limit on the real time in calls that end by themselves, such as sleeps until a file appears."""
_LOOK_S = 1.0
_MAIN_STATE, _CPU_TIMES = 0, slice(11, 13)
"""Fields of /proc/PID/stat after the name: state, and utime and stime of all threads."""
# System calls of x86-64, with the argument index of their file descriptor or timeout, if any.
_READS = {0: "read", 19: "readv", 45: "recvfrom", 47: "recvmsg"}
_WRITES = {1: "write", 20: "writev", 44: "sendto", 46: "sendmsg"}
_NULL_TIMEOUT = {202: 3, 23: 4, 270: 4, 271: 2, 220: 3, 128: 2, 242: 4, 243: 4}
"""futex, select, pselect6, ppoll, semtimedop, rt_sigtimedwait, mq_timed…: NULL means no limit."""
_NEGATIVE_TIMEOUT = {7: 2, 232: 3, 281: 3}
"""poll, epoll_wait, epoll_pwait: timeouts in milliseconds; -1 means no limit."""
_ALWAYS = {2, 257, 34, 42, 43, 288, 65, 69, 70, 72, 73, 130}
"""open and openat (of a FIFO), pause, connect, accept, semop, msgsnd, msgrcv, fcntl, flock."""
_SLEEPS = {35, 230}
"""nanosleep, clock_nanosleep."""
_HANDLED = signal.SIGRTMAX - 1


class BlockedWatch:
    """Checks once a second if a simulator's rank is blocked, and then signals the simulator."""

    def __init__(self, pid: int) -> None:
        """Watch the process `pid`."""
        self._pid = pid
        self._next = 0.0
        self._since = 0.0
        self._seen: list[str] = []
        self._over = platform.machine() != "x86_64"

    def look(self) -> None:
        """Check the process, unless the last check was less than a second ago."""
        now = time.monotonic()
        if self._over or now < self._next:
            return
        self._next = now + _LOOK_S
        fields = self._stat()
        seen = fields[_CPU_TIMES]
        if not fields or fields[_MAIN_STATE] != "S" or seen != self._seen:
            self._seen, self._since = seen, now
        elif now - self._since >= LIMIT_S:
            with suppress(OSError, ValueError):
                self._judge(now - self._since)

    def _stat(self) -> list[str]:
        with suppress(OSError):
            text = Path(f"/proc/{self._pid}/stat").read_text(encoding="utf-8", errors="replace")
            return text.rpartition(")")[2].split()
        return []

    def _judge(self, waited_s: float) -> None:
        words = self._read("syscall").split()
        if not words or not words[0].isdecimal():
            return
        number, arguments = int(words[0]), [int(word, 16) for word in words[1:7]]
        limit_s = self._limit_s(number, arguments)
        if limit_s is None or waited_s < limit_s or self._read(f"task/{self._pid}/children"):
            return
        if self._handles():
            self._over = True
            _send(self._pid, number, limit_s)

    def _limit_s(self, number: int, arguments: list[int]) -> int | None:
        if number in _READS or number in _WRITES:
            return LIMIT_S if self._is_within(arguments[0]) else None
        if number in _NULL_TIMEOUT:
            return LIMIT_S if arguments[_NULL_TIMEOUT[number]] == 0 else TIMED_LIMIT_S
        if number in _NEGATIVE_TIMEOUT:
            timeout = arguments[_NEGATIVE_TIMEOUT[number]] & 0xFFFFFFFF
            return LIMIT_S if timeout >= 1 << 31 else TIMED_LIMIT_S
        if number in _SLEEPS:
            return TIMED_LIMIT_S
        return LIMIT_S if number in _ALWAYS else None

    def _is_within(self, descriptor: int) -> bool:
        """Return true if only this process can end a read or write of the descriptor."""
        folder = Path(f"/proc/{self._pid}/fd")
        here = os.readlink(folder / str(descriptor))
        standard = descriptor <= 2
        if standard or stat.S_ISREG((folder / str(descriptor)).stat().st_mode):
            return False
        if not here.startswith(("pipe:", "socket:", "/")):
            return True  # inotify, eventfd and the like
        links = [link for name in os.listdir(folder) if (link := _link(folder / name))]
        if not here.startswith("socket:"):
            return links.count(here) > 1
        inodes = {link[8:-1] for link in links if link.startswith("socket:")}
        return self._peer_is_among(here[8:-1], inodes)

    def _peer_is_among(self, inode: str, inodes: set[str]) -> bool:
        """Return false if a TCP connection leads to another process; other sockets do not."""
        rows = [
            line.split()
            for name in ("tcp", "tcp6")
            for line in self._read(f"net/{name}").splitlines()[1:]
        ]
        ends = {row[9]: (row[1], row[2]) for row in rows}
        if inode not in ends:
            return True
        peer = ends[inode][1].rpartition(":")[2]
        return any(ends[own][0].rpartition(":")[2] == peer for own in inodes if own in ends)

    def _read(self, name: str) -> str:
        return Path(f"/proc/{self._pid}/{name}").read_text(encoding="ascii", errors="replace")

    def _handles(self) -> bool:
        """Return true if the process handles the signal, which otherwise ends the process."""
        caught = self._read("status").partition("SigCgt:")[2].split()[0]
        return bool(int(caught, 16) >> (_HANDLED - 1) & 1)


def _link(path: Path) -> str:
    with suppress(OSError):
        return os.readlink(path)
    return ""


def _send(pid: int, number: int, waited_s: int) -> None:
    value = ctypes.c_void_p(waited_s << 16 | number)
    ctypes.CDLL(None).sigqueue(ctypes.c_int(pid), ctypes.c_int(_HANDLED), value)
