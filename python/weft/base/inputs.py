# SPDX-License-Identifier: LGPL-2.1-only
"""The files that a command or a call reads, so that no output replaces one of them.

Reads are observed where they happen: Python raises an audit event for every file that it opens
(PEP 578), and the compiled core raises the same event. So a file counts however its name reached
weft: as an option's value, as part of one, or from within another file. Inputs that only a child
process opens are declared: programs, their arguments, standard input.

Outputs are declared before the work (`declare_output`). Reading one of them from then on is an
error, and so is writing a file that has been read. Files are identified by device and inode.
"""

import os
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from weft.base.errors import WeftError


class InUseError(WeftError):
    """An output that is a file that is read."""


Identity = tuple[int, int]
"""Device and inode."""


@dataclass
class Uses:
    """Files that one command or call reads and is about to write."""

    reader: str
    """Name in messages: "the command" or "the call"."""
    read: dict[Identity, tuple[Path, str]] = field(default_factory=dict)
    """The path of each file that is read, and why it is."""
    written: dict[Identity, tuple[Path, str]] = field(default_factory=dict)
    """The path of each declared output that exists, and its option."""

    def reads(self, found: Identity | None, path: Path, why: str) -> None:
        """Take note of a file that is read. Raises `InUseError` where it is an output."""
        if found is None:
            return
        self.read.setdefault(found, (path, why))
        target, option = self.written.get(found, (None, ""))
        if target is not None and identity(target) == found:
            raise _is_read(option, target, self.read[found][1])


_current: ContextVar[Uses | None] = ContextVar("weft.uses", default=None)
_observed: list[bool] = []
_STDIN = Path("/dev/stdin")


def identity(path: Path | str | bytes | int) -> Identity | None:
    """Return what tells a regular file from all others; None where there is no such file."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) else None


def current() -> Uses | None:
    """Return what the command or call that is being carried out reads."""
    return _current.get()


@contextmanager
def observed(reader: str, before: "Uses | None" = None) -> Iterator[Uses]:
    """Observe the reads of a command or a call; one within another counts as part of it.

    What `before` has read counts as read.
    """
    outer = _current.get()
    if outer is not None:
        _inherit(outer, before)
        yield outer
        return
    if not _observed:  # an audit hook stays until the process ends
        sys.addaudithook(_on_event)
        _observed.append(True)
    uses = Uses(reader)
    _inherit(uses, before)
    uses.reads(identity(0), _STDIN, "standard input comes from")
    token = _current.set(uses)
    try:
        yield uses
    finally:
        _current.reset(token)


def _inherit(uses: Uses, before: Uses | None) -> None:
    if before is not None:
        uses.read = {**before.read, **uses.read}


@contextmanager
def unobserved() -> Iterator[None]:
    """Read what is then written anew: pages whose places are filled, records of what runs."""
    token = _current.set(None)
    try:
        yield
    finally:
        _current.reset(token)


def declare_inputs(inputs: Mapping[Path, str]) -> None:
    """Take note of files that are read, each with the clause that says why, whoever opens them."""
    if (uses := _current.get()) is not None:
        for path, why in inputs.items():
            uses.reads(identity(path), path, why)


def declare_output(option: str, target: Path) -> None:
    """Refuse from now on that this file is read. Raises `WeftError` where it has been."""
    uses, found = _current.get(), identity(target)
    if uses is None or found is None:
        return
    refuse_input(option, target)
    uses.written[found] = (target, option)


def refuse_input(option: str, target: Path) -> None:
    """Raise `WeftError` where an output is a file that has been read."""
    uses, found = _current.get(), identity(target)
    if uses is None or found not in uses.read:
        return
    path, why = uses.read[found]
    # The number of a file that has gone may be another's by now.
    if path == _STDIN or identity(path) == found:
        raise _is_read(option, target, why)


def noted(path: Path) -> None:
    """Take note that a file is read, where what it holds is remembered and it is not opened."""
    _on_read(path)


def _on_event(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open" and _current.get() is not None:
        path, mode, flags = arguments
        if not isinstance(path, int) and _reads(mode, flags):
            _on_read(path)


def _reads(mode: object, flags: object) -> bool:
    if isinstance(mode, str):
        return "r" in mode and "+" not in mode
    return isinstance(flags, int) and flags & os.O_ACCMODE == os.O_RDONLY


def _on_read(path: Any) -> None:
    if (uses := _current.get()) is not None:
        uses.reads(identity(path), Path(os.fsdecode(path)), f"{uses.reader} reads")


def _is_read(option: str, target: Path, why: str) -> InUseError:
    return InUseError(f"{option}: {target} is a file that {why}; name another one to write")
