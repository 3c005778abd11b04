"""How a run ended, from what its process left: exit status or signal, raw record, SimGrid's log."""

import json
import signal
from pathlib import Path

from weft.errors import USER_ERROR, WeftError
from weft.process import Ended
from weft.record import OutcomePart, Record

MPI_LOG = "mpi.log"
TIMED_OUT = 124
_STACK_HINT = (
    "; if it needs more stack than SimGrid's 8 MiB a rank,"
    " try --cfg contexts/stack-size:65536 (in KiB)"
)
_HINTS = {
    signal.SIGSEGV: _STACK_HINT,
    signal.SIGBUS: _STACK_HINT,
    signal.SIGABRT: "; what it said, if anything, is above",
    signal.SIGKILL: "; something else killed it, perhaps for want of memory:"
    " try --no-privatize or fewer ranks",
}


def read_raw_record(path: Path) -> Record | None:
    """Return what libweft.so wrote, or nothing where the run ended before it could."""
    try:
        return Record.from_json(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except json.JSONDecodeError:
        raise incomplete(path) from None


def incomplete(path: Path) -> WeftError:
    """Return the error for a temporary file whose end is missing."""
    return WeftError(
        f"temporary directory: {path} is incomplete, so the disk may be full; free some space,"
        " or set TMPDIR to a directory on another disk"
    )


def judge(
    reported: OutcomePart, ended: Ended, work: Path, timeout_s: float | None
) -> tuple[OutcomePart, int]:
    """Return the outcome and weft's exit status."""
    if ended.timed_out:
        message = f"the run was given up after {timeout_s:g} s; allow more with --timeout"
        return OutcomePart(kind="timeout", message=message), TIMED_OUT
    if ended.returncode < 0:
        return _killed(-ended.returncode)
    if _aborted(work):
        return OutcomePart(
            kind="abort", message="the program called MPI_Abort"
        ), ended.returncode or 1
    if reported.kind == "unfinished" and ended.returncode == USER_ERROR:
        raise WeftError("")  # libweft.so has said what is wrong
    if ended.returncode > 0 and reported.kind in ("completed", "unfinished"):
        message = f"the program ended with exit status {ended.returncode}"
        return OutcomePart(kind="exit", message=message), ended.returncode
    if reported.kind == "unfinished":
        reported.message = (
            "the program left the simulation before its end, perhaps by _exit;"
            " let every rank call MPI_Finalize"
        )
    return reported, 0 if reported.kind == "completed" else 1


def _killed(signum: int) -> tuple[OutcomePart, int]:
    name = signal.Signals(signum).name if signum in signal.valid_signals() else f"signal {signum}"
    message = f"the program crashed ({name}){_HINTS.get(signum, '')}"  # type: ignore[call-overload]
    return OutcomePart(kind="signal", message=message, extra={"signal": name}), 128 + signum


def _aborted(work: Path) -> bool:
    try:
        return "MPI_Abort was called" in (work / MPI_LOG).read_text(
            encoding="utf-8", errors="replace"
        )
    except FileNotFoundError:
        return False
