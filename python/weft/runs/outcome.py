# SPDX-License-Identifier: LGPL-2.1-only
"""Outcome of a run, derived from the exit status or signal, the raw record and SimGrid's log."""

import json
import resource
import signal
from pathlib import Path

from msgspec import UNSET

from weft.base.errors import USER_ERROR, WeftError
from weft.base.process import ChildExit
from weft.base.units import format_size
from weft.base.user_files import UnreadableError
from weft.runs.limits import StartResources
from weft.runs.record import Record
from weft.runs.record_data import OutcomePart

RAW_RECORD = "record.json"
QUEUE = RAW_RECORD + ".queue"
"""File in which libweft.so describes the longest queue of unexpected messages, if it is long."""
CRASHED = RAW_RECORD + ".crashed"
"""File in which libweft.so writes the number of the crashed rank.

On a stack overflow, the size of the rank's stack in bytes follows; if Linux allows the process no
more mappings, the word `mappings`.
"""
REFUSED = "refused"
"""File in which libweft.so writes its reason for not starting."""
TIMED_OUT = 124
_STACK_HINT = (
    "; if its stack arrays are larger than that, try --cfg contexts/stack-size:65536 (in KiB)"
)
_LARGER_STACK = 8
"""Suggested stack size in the error message, as a multiple of the present size."""
_MAPPINGS = "mappings"
_HINTS = {
    signal.SIGSEGV: _STACK_HINT,
    signal.SIGBUS: _STACK_HINT,
    signal.SIGABRT: "; see its output above, if any",
}


_TOLD = (
    *("job-failed", "signal", "exit", "early-exit", "abort", "error", "unsupported"),
    *("stack-overflow", "disk-full"),
)
"""Outcomes that libweft.so reports with the matching exit status."""


def read_raw_record(path: Path) -> Record | None:
    """Return the record written by libweft.so; None if the run ended before that."""
    try:
        return Record.from_own_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except json.JSONDecodeError:
        raise incomplete(path) from None
    except UnreadableError as error:
        raise WeftError(
            f"installation: libweft.so and weft's Python have different versions: in the record,"
            f" {error}; build weft again with `make build`"
        ) from None


def incomplete(path: Path) -> WeftError:
    """Return the error for a temporary file that is truncated."""
    return WeftError(
        f"temporary directory: {path} is incomplete; the disk may be full: free some space, or set"
        " TMPDIR to a directory on another disk"
    )


def judge(
    reported: OutcomePart,
    ended: ChildExit,
    work: Path,
    timeout_s: float | None,
    memory_bytes: int | None = None,
    start: StartResources | None = None,
) -> tuple[OutcomePart, int]:
    """Return the outcome and weft's exit status."""
    if ended.timed_out:
        message = f"the run exceeded its time limit of {timeout_s:g} s; raise it with --timeout"
        return OutcomePart(kind="timeout", message=message), TIMED_OUT
    if ended.over_memory:
        most = format_size(memory_bytes or 0)
        message = f"the run exceeded its memory limit of {most}{_longest_queue(work)}"
        return OutcomePart(kind="memory-limit", message=f"{message}; raise it with --memory"), (
            128 + signal.SIGKILL
        )
    if ended.starved:
        message = (
            "the run ran out of memory: it used"
            f" {format_size(ended.starved_bytes)}, and {ended.starved}{_longest_queue(work)};"
            " use fewer ranks, or a machine with more memory"
        )
        killed = signal.SIGKILL
        return OutcomePart(kind="signal", message=message, signal=killed.name), 128 + killed
    if ended.returncode < 0:
        return _killed(-ended.returncode, ended, work, start)
    if reported.kind in _TOLD:
        return reported, ended.returncode
    if reported.kind == "unfinished" and ended.returncode == USER_ERROR:
        raise WeftError(_refusal(work))
    if ended.returncode > 0 and reported.kind in ("completed", "unfinished"):
        message = f"the program ended with exit status {ended.returncode}"
        return OutcomePart(kind="exit", message=message), ended.returncode
    if reported.kind == "unfinished":
        reported.message = (
            "the program exited before the simulation ended, perhaps by _exit; let every rank call"
            " MPI_Finalize"
        )
    return reported, 0 if reported.kind == "completed" else 1


def _refusal(work: Path) -> str:
    """Return libweft.so's reason for not starting; empty if one has already been printed."""
    try:
        return (work / REFUSED).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _killed(
    signum: int, ended: ChildExit, work: Path, start: StartResources | None
) -> tuple[OutcomePart, int]:
    name = signal.Signals(signum).name if signum in signal.valid_signals() else f"signal {signum}"
    hint = _hint(signum, ended, start)
    rank, cause = _crashed_rank(work)
    at = UNSET if rank is None else rank
    if cause == _MAPPINGS:
        return OutcomePart(
            kind="memory", message=_few_mappings(rank, start or StartResources.seen()), rank=at
        ), 1
    if cause:
        message = _small_stack(rank, int(cause), name)
        return OutcomePart(kind="stack-overflow", message=message, signal=name, rank=at), (
            128 + signum
        )
    who = "the program" if rank is None else f"rank {rank}"
    message = f"{who} crashed ({name}){hint}"
    return OutcomePart(kind="signal", message=message, signal=name, rank=at), 128 + signum


def _hint(signum: int, ended: ChildExit, start: StartResources | None) -> str:
    allowed_s, _ = resource.getrlimit(resource.RLIMIT_CPU)
    if signum in (signal.SIGKILL, signal.SIGXCPU) and 0 <= allowed_s <= ended.cpu_time_s + 1:
        return (
            f"; it took {ended.cpu_time_s:.1f} s of CPU time, and the system allows {allowed_s} s"
            " (ulimit -t): allow more"
        )
    if signum == signal.SIGXFSZ:
        most, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
        return (
            f"; a file would be larger than {format_size(most)}, the most that the system allows"
            " (ulimit -f): allow more"
        )
    if signum == signal.SIGKILL:
        why = (start or StartResources.seen()).why_killed(ended.peak_memory_bytes)
        return f"; {why}; try --no-privatize or fewer ranks"
    return _HINTS.get(signum, "")  # type: ignore[call-overload,no-any-return]


def _small_stack(rank: int | None, stack: int, name: str) -> str:
    return (
        f"stack overflow: rank {rank} needs more stack than the {format_size(stack)} that it has"
        f" ({name}):"
        f" give each rank more, for example --cfg contexts/stack-size:"
        f"{stack // 1024 * _LARGER_STACK} (in KiB)"
    )


def _few_mappings(rank: int | None, start: StartResources) -> str:
    most = start.machine.number("sys/vm/max_map_count", 65530)
    return (
        f"rank {rank} asked for memory, and the process already has as many mappings as Linux"
        f" allows (vm.max_map_count is {most}): raise the limit (as root, by sysctl), or use fewer"
        " ranks; if arrays are larger than a shared block, larger blocks help, for example"
        " --cfg smpi/shared-malloc-blocksize:33554432 (in bytes); static arrays with"
        " --no-privatize need none"
    )


def _longest_queue(work: Path) -> str:
    """Return receiver and length of the longest unexpected message queue; empty if short."""
    try:
        return f"; {(work / QUEUE).read_text(encoding='utf-8')}"
    except OSError:
        return ""


def _crashed_rank(work: Path) -> tuple[int | None, str]:
    """Return the crashed rank, and what follows it in the file."""
    try:
        rank, _, cause = (work / CRASHED).read_text(encoding="ascii").strip().partition(" ")
        return int(rank), cause
    except (OSError, ValueError):
        return None, ""
