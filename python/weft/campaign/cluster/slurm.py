# SPDX-License-Identifier: LGPL-2.1-only
"""Slurm operations that Parsl lacks: query job states with pending reasons, and cancel jobs."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

from weft.base.errors import WeftError, named, printable

_COMMANDS = ("sbatch", "squeue", "scancel")
_ANSWER_S = 20.0
_WAITING = ("PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD", "SPECIAL_EXIT")


class SlurmUnreachableError(Exception):
    """Raised if Slurm does not answer; the text is the output of Slurm's command."""


@dataclass(frozen=True)
class State:
    """State of a job as reported by squeue."""

    name: str
    """Slurm's name of the state, such as RUNNING."""
    reason: str = ""
    """Reason why the job does not run."""

    @property
    def waits(self) -> bool:
        """True if the job has not started."""
        return self.name in _WAITING


def check(source: str) -> None:
    """Check that Slurm's commands exist. Raises `WeftError`."""
    for name in _COMMANDS:
        if shutil.which(name) is None:
            raise WeftError(
                f"{source}: {name} is not on PATH; start weft where Slurm's commands are, on a"
                f" login node, or write {named('cluster')} local"
            )


def states(numbers: Sequence[str]) -> dict[str, State]:
    """Return the states of those jobs that have not ended. Raises `AwayError`."""
    said = _ask("squeue", "--noheader", f"--user={os.getuid()}", "--format=%i|%T|%r")
    found = {}
    for line in said.splitlines():
        number, _, rest = line.strip().partition("|")
        name, _, reason = rest.partition("|")
        found[number] = State(name, reason)
    return {number: found[number] for number in numbers if number in found}


def cancel(numbers: Sequence[str]) -> str:
    """Cancel jobs; on failure, return instructions for the user, else an empty text."""
    if not numbers:
        return ""
    try:
        _ask("scancel", "--quiet", *numbers)
    except SlurmUnreachableError as error:
        return f"jobs could not be cancelled ({error}); write: scancel {' '.join(numbers)}"
    return ""


def _ask(*command: str) -> str:
    try:
        ended = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_ANSWER_S,
            check=False,
            process_group=0,  # keeps the terminal's Ctrl-C for weft, which then cancels the jobs
        )
    except subprocess.TimeoutExpired:
        raise SlurmUnreachableError(
            f"{command[0]} has not answered for {_ANSWER_S:.0f} s"
        ) from None
    except OSError as error:
        raise SlurmUnreachableError(f"{command[0]}: {error.strerror}") from None
    if ended.returncode != 0:
        said = ended.stderr.strip().splitlines() or [f"status {ended.returncode}"]
        raise SlurmUnreachableError(f"{command[0]} said: {printable(said[-1])}")
    return ended.stdout
