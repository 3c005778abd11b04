# SPDX-License-Identifier: LGPL-2.1-only
"""Tracking of the files that a command or call reads, so that no output overwrites one of them.

Reads are observed where they happen: Python raises an audit event for every file that it opens (PEP
578), and the compiled core raises the same event. It therefore does not matter if the name of a
file came from an option or from another file. Inputs that only a child process opens are declared:
programs, their arguments, standard input.

Outputs are declared before the work (`declare_output`). From then on, reading one of them is an
error, as is writing a file that has been read. Files are identified by device and inode.
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


class OutputIsInputError(WeftError):
    """Raised if an output is also an input."""


Identity = tuple[int, int]
"""Device and inode."""


@dataclass
class FileUses:
    """Files that one command or call reads and will write."""

    reader: str
    """Name in error messages: "the command" or "the call"."""
    read: dict[Identity, tuple[Path, str]] = field(default_factory=dict)
    """Path of each file read, and the reason as a clause."""
    written: dict[Identity, tuple[Path, str]] = field(default_factory=dict)
    """Path of each declared output that exists, and its option."""
    targets: dict[Identity | Path, str] = field(default_factory=dict)
    """Option of each output that the command names, existing or not."""

    def reads(self, found: Identity | None, path: Path, why: str) -> None:
        """Record that a file is read. Raises `InUseError` if it is an output."""
        if found is None:
            return
        self.read.setdefault(found, (path, why))
        target, option = self.written.get(found, (None, ""))
        if target is not None and identity(target) == found:
            raise _is_read(option, target, self.read[found][1])


_current: ContextVar[FileUses | None] = ContextVar("weft.uses", default=None)
_observed: list[bool] = []
_STDIN = Path("/dev/stdin")


def identity(path: Path | str | bytes | int) -> Identity | None:
    """Return device and inode of a regular file, or None if there is no such file."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) else None


def current() -> FileUses | None:
    """Return the file uses of the command or call in progress."""
    return _current.get()


@contextmanager
def observed(reader: str, before: "FileUses | None" = None) -> Iterator[FileUses]:
    """Observe the reads of a command or call; a nested one counts as part of the outer one.

    Files in `before.read` count as read.
    """
    outer = _current.get()
    if outer is not None:
        _inherit(outer, before)
        yield outer
        return
    if not _observed:  # # an audit hook cannot be removed
        sys.addaudithook(_on_event)
        _observed.append(True)
    uses = FileUses(reader)
    _inherit(uses, before)
    uses.reads(identity(0), _STDIN, "standard input comes from")
    token = _current.set(uses)
    try:
        yield uses
    finally:
        _current.reset(token)


def _inherit(uses: FileUses, before: FileUses | None) -> None:
    if before is not None:
        uses.read = {**before.read, **uses.read}


@contextmanager
def unobserved() -> Iterator[None]:
    """Suspend observation for files that are read and then rewritten: pages, live records."""
    token = _current.set(None)
    try:
        yield
    finally:
        _current.reset(token)


def declare_inputs(inputs: Mapping[Path, str]) -> None:
    """Record files that a child process reads, each with the reason as a clause."""
    if (uses := _current.get()) is not None:
        for path, why in inputs.items():
            uses.reads(identity(path), path, why)


def declare_output(option: str, target: Path) -> None:
    """Refuse later reads of this output. Raises `WeftError` if the file has already been read."""
    uses, found = _current.get(), identity(target)
    if uses is None or found is None:
        return
    refuse_input(option, target)
    uses.written[found] = (target, option)


def refuse_input(option: str, target: Path) -> None:
    """Raise `WeftError` if an output is a file that has been read."""
    uses, found = _current.get(), identity(target)
    if uses is None or found not in uses.read:
        return
    path, why = uses.read[found]
    # The inode of a deleted file may have been reused.
    if path == _STDIN or identity(path) == found:
        raise _is_read(option, target, why)


def noted(path: Path) -> None:
    """Record the read of a file whose content is cached and which is therefore not opened."""
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


def _is_read(option: str, target: Path, why: str) -> OutputIsInputError:
    return OutputIsInputError(
        f"{option}: {target} is a file that {why}; choose another output file"
    )
