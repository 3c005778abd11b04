# SPDX-License-Identifier: LGPL-2.1-only
"""Batches of iproute2 commands; a failure is one message that cites the command."""

import re
import subprocess
from collections.abc import Sequence

from weft.base.errors import WeftError

TOOLS = ("ip", "bridge", "tc")
_TIMEOUT_S = 60


def ip(space: str | None, lines: Sequence[str]) -> None:
    """Run `ip` commands in a namespace, or in the current one."""
    _batch(["ip", *(["-n", space] if space else []), "-batch", "-"], lines)


def tc(space: str, lines: Sequence[str]) -> None:
    """Run `tc` commands in a namespace."""
    _batch(["tc", "-n", space, "-batch", "-"], lines)


def bridge(space: str, lines: Sequence[str]) -> None:
    """Run `bridge` commands in a namespace."""
    _batch(["bridge", "-n", space, "-batch", "-"], lines)


def _batch(command: Sequence[str], lines: Sequence[str]) -> None:
    if lines:
        run(command, lines)


def run(command: Sequence[str], lines: Sequence[str] = ()) -> str:
    """Run a command with some input, and return its output."""
    try:
        result = subprocess.run(
            command,
            input="".join(f"{line}\n" for line in lines),
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise WeftError(f"`{' '.join(command)}` did not finish within {_TIMEOUT_S} s") from None
    if result.returncode != 0:
        words = " ".join(line.strip() for line in result.stderr.splitlines() if line.strip())
        failed = re.search(r"Command failed -:(\d+)", words)
        said = lines[int(failed[1]) - 1] if failed else ""
        raise WeftError(f"`{' '.join([command[0], said] if said else command)}` failed: {words}")
    return result.stdout
