# SPDX-License-Identifier: LGPL-2.1-only
"""Child processes that never outlive weft, and the signals that stop weft and its children.

In commands, SIGINT, SIGTERM and SIGHUP raise `Interrupted`, so that cleanup runs while the stack
unwinds. A program that imports weft keeps its own handlers; cleanup then runs for the exceptions
that they raise. The child does not receive the terminal's Ctrl-C, on which SimGrid would print the
state of every rank; weft ends the child instead.

The child's descendants are killed with it, in any process group or session: a variable in their
environment identifies them.

No code of weft runs if weft itself is killed (kill -9, a batch system, the OOM killer). The kernel
then kills the child, which requests this at its start (libweft.so, through `PARENT`), and a shell
that waits for weft's end removes the temporary directory. If that shell is killed as well, the next
weft removes the directory: a directory whose lock is free has no owner.
"""

import fcntl
import importlib.machinery
import importlib.util
import math
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType, ModuleType
from typing import IO

from weft.base import memory
from weft.base.blocked import BlockedWatch
from weft.base.errors import Interrupted, WeftError
from weft.base.machine import Machine
from weft.base.units import format_size

_STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_PATIENCE_S = 2.0
_LONGEST_LINE = 1 << 20
"""Characters; longer lines are split, so that one line cannot exhaust weft's memory."""
_TASKS = 4
"""Tasks of one run: weft, its cleanup shell, the simulator, and the memory polling thread."""
_LAST_BYTES = 256 << 20
"""Upper bound of the memory that a child can allocate between two polls."""
_FIRST_LOOK_S, _LOOK_S = 0.005, 0.05
"""Polling intervals of memory: the first one, doubled up to the second one."""
_LOOK_FOR_ORPHANS_S = 10.0
"""Minimum interval between searches for orphans: otherwise, thousands of short runs would each scan
a directory of possibly thousands of files.
"""
_looked: dict[str, float] = {}
PARENT = "WEFT_PARENT"
"""Environment variable with weft's PID; the child requests to be killed when weft dies."""
_RUN = "WEFT_RUN"
"""Environment variable that identifies the child's descendants after the child has ended."""
_LISTED = 4096
"""Limit on the PIDs to probe one by one; beyond it, /proc is listed."""
_PREFIX = "weft-"
_LOCK = "owner.lock"
# The pipe closes when weft ends, and the child dies a moment later: the second pass removes what it
# wrote in between.
_CLEANER = """trap '' HUP INT TERM
read -r end
[ -d "$1" ] || exit 0
rm -rf -- "$1"
sleep 1
rm -rf -- "$1"
"""


class _HandlerKeeper:
    """Import hook that undoes a library's change of signal handlers once the library is loaded.

    polars installs its own handler for SIGINT with SA_RESTART, which calls Python's handler. A
    blocking system call, such as waiting for a worker process, then restarts after the signal, and
    Python never runs weft's handler.
    """

    libraries = frozenset({"polars"})

    def find_spec(
        self, name: str, _path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Find a library that changes handlers; ignore all other modules."""
        if name not in self.libraries:
            return None
        sys.meta_path.remove(self)
        try:
            spec = importlib.util.find_spec(name)
        finally:
            sys.meta_path.insert(0, self)
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def load_and_restore(module: ModuleType) -> None:
                load(module)
                for signum in _STOPPING:
                    signal.siginterrupt(signum, True)

            spec.loader.exec_module = load_and_restore  # type: ignore[method-assign]
        return spec


def raise_on_signals() -> None:
    """Turn the signals that ask weft to stop into exceptions; under nohup, SIGHUP stays ignored."""
    for signum in _STOPPING:
        if signum != signal.SIGHUP or signal.getsignal(signum) is not signal.SIG_IGN:
            signal.signal(signum, _raise)
    if not any(isinstance(finder, _HandlerKeeper) for finder in sys.meta_path):
        sys.meta_path.insert(0, _HandlerKeeper())


def _raise(signum: int, _frame: FrameType | None = None) -> None:
    ignore_signals()
    raise Interrupted(signum)


@contextmanager
def signals_held() -> Iterator[None]:
    """Defer signals where an exception would lose a child or leave an unfinished file.

    Python runs signal handlers in the main thread only, so other threads have nothing to defer.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = {signum: signal.getsignal(signum) for signum in _STOPPING}
    held = {signum: handler for signum, handler in before.items() if callable(handler)}
    for signum in held:
        signal.signal(signum, lambda number, _frame: came.append(number))
    try:
        yield
    finally:
        for signum, handler in held.items():
            signal.signal(signum, handler)
        if came:
            signal.raise_signal(came[0])


def ignore_signals() -> None:
    """Protect the cleanup from signals.

    The handler is a function that does nothing: with SIG_IGN, Python would report a signal already
    pending on standard error.
    """
    for signum in _STOPPING:
        signal.signal(signum, lambda _number, _frame: None)


@contextmanager
def work_directory() -> Iterator[Path]:
    """Create the directory for all temporary files, which is removed even if weft is killed.

    Its name contains no blank, comma or colon, which SimGrid's options do not allow.
    """
    root = _temporary_root()
    _remove_orphans(root)
    with tempfile.TemporaryDirectory(prefix=_PREFIX, dir=root, ignore_cleanup_errors=True) as name:
        lock = _lock(name)
        cleaner = _start_cleaner(name)
        try:
            yield Path(name)
        finally:
            shutil.rmtree(name, ignore_errors=True)
            os.close(lock)
            if cleaner is not None:
                cleaner.communicate()


def _lock(directory: str) -> int:
    """Lock the directory for the lifetime of this process; the lock file never exists unlocked."""
    path = os.path.join(directory, _LOCK)
    lock = os.open(path + ".new", os.O_CREAT | os.O_RDWR, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    os.rename(path + ".new", path)
    return lock


def _start_cleaner(directory: str) -> "subprocess.Popen[bytes] | None":
    with suppress(OSError), signals_held():
        return subprocess.Popen(
            ["/bin/sh", "-c", _CLEANER, "weft-cleaner", directory],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    return None


def _remove_orphans(root: str) -> None:
    """Remove directories of processes that were killed together with their cleanup shell."""
    now = time.monotonic()
    if now < _looked.get(root, -math.inf) + _LOOK_FOR_ORPHANS_S:
        return
    _looked[root] = now
    with suppress(OSError), os.scandir(root) as entries:
        for entry in entries:
            if entry.name.startswith(_PREFIX) and _is_orphan(entry.path):
                shutil.rmtree(entry.path, ignore_errors=True)


def _is_orphan(directory: str) -> bool:
    try:
        lock = os.open(os.path.join(directory, _LOCK), os.O_RDWR | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.fstat(lock).st_uid == os.getuid()
    except OSError:
        return False
    finally:
        os.close(lock)


def _temporary_root() -> str:
    candidates = [tempfile.gettempdir(), "/tmp", "/var/tmp"]
    for path in candidates:
        if not set(path) & set(" \t\n,:") and os.access(path, os.W_OK | os.X_OK):
            return path
    raise WeftError(
        f"temporary directory: cannot use {candidates[0]}; set TMPDIR to a writable directory"
        " without spaces, commas or colons in its name"
    )


@dataclass(frozen=True)
class ChildExit:
    """End of a child; `returncode` is the negative signal number if a signal killed it."""

    returncode: int
    timed_out: bool
    wall_time_s: float
    cpu_time_s: float
    peak_memory_bytes: int
    over_memory: bool = False
    """True if the child was killed for exceeding its memory limit."""
    starved: str = ""
    """Exhausted memory (machine or job) and its remainder, if the child was killed for it."""
    starved_bytes: int = 0
    """Memory of the child at that time, with pages shared by ranks counted once."""


@dataclass(frozen=True)
class Streams:
    """Standard streams of a child, as file descriptors; None inherits weft's."""

    stdin: int | None = None
    stdout: int | None = None
    stderr: int | None = None


def run_child(
    command: Sequence[str],
    environment: Mapping[str, str],
    *,
    timeout_s: float | None = None,
    memory_bytes: int | None = None,
    there_bytes: int | None = None,
    on_line: Callable[[str], None] | None = None,
    streams: Streams | None = None,
) -> ChildExit:
    """Run a command to its end, or kill it when it exceeds its time limit or a memory limit.

    Linux's OOM killer may pick any process, often after minutes of thrashing. A child that takes
    more than half of the memory available at its start is therefore killed shortly before memory
    runs out. Callers that have just queried the machine pass the available memory as `there_bytes`.

    `on_line` receives standard output line by line, and standard input is empty unless given.
    Without `on_line`, the child uses the given streams, or inherits weft's. Standard error joins
    the output if it is `subprocess.STDOUT`.
    """
    start = time.monotonic()
    streams = streams or Streams()
    if on_line is not None:
        stdin = subprocess.DEVNULL if streams.stdin is None else streams.stdin
        streams = Streams(stdin, subprocess.PIPE, streams.stderr)
    with _running(command, environment, streams) as child:
        own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        clock, meter = _Clock(child, timeout_s), _Meter(child, memory_bytes, there_bytes)
        try:
            if on_line is not None:
                _read_lines(child.stdout, on_line)
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
        finally:
            clock.cancel()
            meter.cancel()
    return ChildExit(
        returncode=child.returncode,
        timed_out=clock.rang,
        wall_time_s=time.monotonic() - start,
        cpu_time_s=usage.ru_utime + usage.ru_stime,
        peak_memory_bytes=meter.peak(usage.ru_maxrss * 1024, own),
        over_memory=meter.over_bytes > 0,
        starved=meter.starved,
        starved_bytes=meter.starved_bytes,
    )


@contextmanager
def _running(
    command: Sequence[str], environment: Mapping[str, str], streams: Streams
) -> "Iterator[subprocess.Popen[str]]":
    """Start a child, and kill it on exit if it is still running."""
    child = None
    mark = f"{os.getpid()}-{time.monotonic_ns()}-{threading.get_ident()}"
    try:
        with signals_held():
            child = _start(command, {**environment, _RUN: mark}, streams)
        yield child
    finally:
        if child is not None:
            with signals_held():
                if child.returncode is None:
                    _stop(child)
                _end_descendants(child.pid, f"{_RUN}={mark}".encode())
        if child is not None and child.stdout is not None:
            child.stdout.close()


def _end_descendants(child: int, mark: bytes) -> None:
    """Kill the descendants of a child that has ended: processes with the mark in their environment.

    They may be in any group or session, and may have been reparented. Processes forked during a
    pass are found by one of the next passes.
    """
    end = time.monotonic() + _PATIENCE_S
    while time.monotonic() < end:
        marked = [pid for pid in _started_since(child) if _has_mark(pid, mark)]
        for pid in marked:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        if not marked:
            return
        time.sleep(_FIRST_LOOK_S)


def _started_since(process: int) -> Sequence[int]:
    """Return the PIDs of all processes that can be younger; usually few, as PIDs count up."""
    with suppress(OSError, ValueError):
        latest = int(Path("/proc/loadavg").read_text(encoding="ascii").split()[-1])
        if process <= latest <= process + _LISTED:
            return range(process + 1, latest + 1)
    with suppress(OSError), os.scandir("/proc") as entries:
        return [int(entry.name) for entry in entries if entry.name.isdigit()]
    return []


def _has_mark(pid: int, mark: bytes) -> bool:
    with suppress(OSError):
        return mark in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    return False


class _Clock:
    """Kills a child that exceeds its time limit."""

    def __init__(self, child: "subprocess.Popen[str]", timeout_s: float | None) -> None:
        self.rang = False
        self._child = child
        self._timer = threading.Timer(timeout_s, self._ring) if timeout_s is not None else None
        if self._timer is not None:
            self._timer.daemon = True
            _start_thread(self._timer)

    def _ring(self) -> None:
        self.rang = True
        _signal(self._child, signal.SIGKILL)

    def cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()


class _Meter:
    """Polls the memory of a child and its descendants, and kills the child above a limit.

    It also signals a simulator whose current rank is blocked for ever.

    System limits do not help: RLIMIT_AS counts address space, which the stacks of all ranks reserve
    but hardly use, and creating a control group requires rights that users often lack.
    """

    def __init__(
        self, child: "subprocess.Popen[str]", most_bytes: int | None, there_bytes: int | None
    ) -> None:
        self.over_bytes = 0
        """Memory of the child when it was killed for exceeding the limit."""
        self.starved = ""
        """See `ChildExit.starved`."""
        self.starved_bytes = 0
        self._machine = Machine()
        self._there_bytes = self._machine.memory()[0] if there_bytes is None else there_bytes
        self._peak_bytes = 0
        self._child = child
        self._ended = threading.Event()
        _start_thread(threading.Thread(target=self._look, args=(most_bytes,), daemon=True))

    def peak(self, remembered_bytes: int, own_bytes: int) -> int:
        """Return the child's peak RSS, based on the value the kernel reports for it.

        The kernel's value starts at this process's RSS, whose memory the child briefly shares
        (Linux's setmax_mm_hiwater_rss in exec): up to that value, the polled peak is more accurate.
        """
        seen = remembered_bytes <= own_bytes and self._peak_bytes > 0
        return max(self._peak_bytes if seen else remembered_bytes, self.over_bytes)

    def _look(self, most_bytes: int | None) -> None:
        gauge = memory.Gauge(self._child.pid)
        watch = BlockedWatch(self._child.pid)
        wait_s = _FIRST_LOOK_S
        while not self._ended.wait(wait_s):
            wait_s = min(2 * wait_s, _LOOK_S)
            watch.look()
            self._peak_bytes = max(self._peak_bytes, memory.peak(self._child.pid))
            if most_bytes is not None:
                held = gauge.held(most_bytes)
                self.over_bytes = held if held > most_bytes else 0
            if self.over_bytes > 0 or self._is_starved(gauge):
                _signal(self._child, signal.SIGKILL)
                return

    def _is_starved(self, gauge: memory.Gauge) -> bool:
        """Return true if the child has left less than 1 % of the memory free at its start."""
        half = self._there_bytes // 2
        if self._peak_bytes <= half:
            return False
        left, whose = self._machine.memory()
        if left > min(self._there_bytes // 100, _LAST_BYTES) or gauge.held(half) <= half:
            return False
        self.starved = f"{whose} had {format_size(left)} left"
        # Walking all mappings takes Linux seconds if there are many: stop the child meanwhile.
        _signal(self._child, signal.SIGSTOP)
        self.starved_bytes = memory.proportional(self._child.pid)
        return True

    def cancel(self) -> None:
        self._ended.set()


def _start_thread(thread: threading.Thread) -> None:
    try:
        thread.start()
    except RuntimeError:
        raise no_more_tasks("weft cannot start a thread") from None


def no_more_tasks(what: str) -> WeftError:
    """Return the error for exceeding the limit on processes and threads."""
    left, whose = Machine().tasks()
    return WeftError(
        f"processes: {what}: a run needs {_TASKS} processes and threads with weft itself, and the"
        f" system allows {left:,} more ({whose}); raise the limit (ulimit -u, or pids.max of the"
        " control group)"
    )


def _start(
    command: Sequence[str], environment: Mapping[str, str], streams: Streams
) -> "subprocess.Popen[str]":
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return subprocess.Popen(
            command,
            env={**environment, PARENT: str(os.getpid())},
            stdin=streams.stdin,
            stdout=streams.stdout,
            stderr=streams.stderr,
            text=True,
            errors="replace",
            process_group=0 if _own_group(streams) else None,
        )
    except BlockingIOError:
        raise no_more_tasks(f"SimGrid cannot be started ({command[0]})") from None
    except OSError as error:
        raise WeftError(f"SimGrid: cannot start {command[0]}: {error.strerror}") from None
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


def _own_group(streams: Streams) -> bool:
    """Return false if the child may read the terminal, which only the foreground group may."""
    return streams.stdin is not None or not sys.stdin or not sys.stdin.isatty()


def _read_lines(stream: IO[str] | None, on_line: Callable[[str], None]) -> None:
    while stream is not None and (line := stream.readline(_LONGEST_LINE)):
        on_line(line.rstrip("\n"))


def _stop(child: "subprocess.Popen[str]") -> None:
    _signal(child, signal.SIGTERM)
    try:
        child.wait(_PATIENCE_S)
    except subprocess.TimeoutExpired:
        _signal(child, signal.SIGKILL)
        child.wait()


def _signal(child: "subprocess.Popen[str]", signum: int) -> None:
    with suppress(ProcessLookupError):
        if os.getpgid(child.pid) == child.pid:
            os.killpg(child.pid, signum)
        else:
            os.kill(child.pid, signum)
