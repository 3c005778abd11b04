# SPDX-License-Identifier: LGPL-2.1-only
"""Atomic file writes: a temporary file next to the target, then a rename.

A file that was read as input is never replaced (`weft.base.inputs`).
"""

import errno
import os
import stat
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from weft.base import inputs
from weft.base.errors import WeftError
from weft.base.inputs import Identity

STANDARD_OUTPUT = Path("/dev/stdout")

_stdout: list[int] = []
"""Saved descriptor of standard output while everything else goes to standard error."""


def shown(target: Path) -> str:
    """Return the name of a target for error messages."""
    return "standard output" if target == STANDARD_OUTPUT else str(target)


def is_standard_output(target: Path) -> bool:
    """Return true for `-`, and for any path to the file behind standard output."""
    if target in (Path("-"), STANDARD_OUTPUT):
        return True
    try:
        there, own = target.stat(), os.fstat(1)
    except (OSError, ValueError):
        return False
    return os.path.samestat(there, own) and not os.path.samestat(there, os.stat(os.devnull))


@contextmanager
def alone_on_standard_output() -> Iterator[None]:
    """Reserve standard output for the file `-`; redirect everything else to standard error."""
    sys.stdout.flush()
    _stdout.append(os.dup(1))
    os.dup2(2, 1)
    try:
        yield
        sys.stdout.flush()
    finally:
        os.dup2(_stdout[-1], 1)
        os.close(_stdout.pop())


def check_targets(targets: Iterable[tuple[str, Path]]) -> None:
    """Check before the work that all of these files, by option, can be written afterwards."""
    seen: dict[Identity | Path, str] = {}
    for option, target in targets:
        check_writable(option, target)
        key = file_key(target)
        if (target == STANDARD_OUTPUT or not _is_stream(target)) and key in seen:
            where = "goes to" if target == STANDARD_OUTPUT else "is the file of"
            other = f"standard output, as {seen[key]} does" if where == "goes to" else seen[key]
            raise WeftError(f"{option}: {shown(target)} {where} {other} too; name another one")
        seen[key] = option
    if (uses := inputs.current()) is not None:
        uses.targets |= seen


def file_key(target: Path) -> Identity | Path:
    """Return a key common to all names of a file; for a stream, its own name."""
    return target if _is_stream(target) else (inputs.identity(target) or target.resolve())


def check_beside_targets(option: str, target: Path) -> None:
    """Refuse a file that the command also writes as another output or through a redirection."""
    uses, key = inputs.current(), file_key(target)
    other = uses.targets.get(key) if uses is not None else None
    if other is not None:
        raise WeftError(f"{option}: {shown(target)} is the file of {other} too; name another one")
    for number, name in ((1, "standard output"), (2, "standard error")):
        if inputs.identity(number) == key:
            raise WeftError(f"{option}: {target} is where {name} goes; name another file")


def check_writable(option: str, target: Path) -> None:
    """Check in advance that the output file can be written."""
    if target.is_dir():
        raise WeftError(f"{option}: {target} is a directory; name a file in it")
    if _is_stream(target):
        return
    inputs.declare_output(option, target)
    directory = _directory(target)
    if not directory.is_dir():
        raise WeftError(
            f"{option}: cannot write {target}: there is no directory {directory}; create it"
        )
    try:
        _probe(directory, target)
    except OSError as error:
        raise _cannot_write(option, target, error) from None


def check_directory(option: str, directory: Path) -> None:
    """Check before the work that files can be written to this directory, which need not exist."""
    there = directory.resolve()
    while not there.exists() and there != there.parent:
        there = there.parent
    try:
        with tempfile.TemporaryDirectory(dir=there, prefix=".weft-"):
            pass
    except OSError as error:
        raise _cannot_write(option, directory, error) from None


@contextmanager
def whole_file(option: str, target: Path) -> Iterator[IO[str]]:
    """Open a text file that atomically replaces its target once it has been written completely."""
    try:
        with _open_stream(target) if _is_stream(target) else _replacing(option, target) as file:
            yield file
    except BrokenPipeError:
        raise
    except OSError as error:
        raise _cannot_write(option, target, error) from None


@contextmanager
def whole_path(option: str, target: Path) -> Iterator[Path]:
    """Yield a path for writing that replaces its target only if no error occurs."""
    inputs.refuse_input(option, target)
    final = target.resolve()
    unfinished = final.with_name(f".{final.stem}.{os.getpid()}{final.suffix}")
    try:
        yield unfinished
        unfinished.replace(final)
    except OSError as error:
        raise _cannot_write(option, target, error) from None
    finally:
        unfinished.unlink(missing_ok=True)


@contextmanager
def _replacing(option: str, target: Path) -> Iterator[IO[str]]:
    inputs.refuse_input(option, target)
    final = target.resolve()
    descriptor, name = tempfile.mkstemp(dir=_directory(target), prefix=f".{final.name[:100]}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
            yield file
            os.fchmod(file.fileno(), _permissions(final))
        os.replace(name, final)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise


def _open_stream(target: Path) -> IO[str]:
    if target == STANDARD_OUTPUT and _stdout:
        return os.fdopen(os.dup(_stdout[-1]), "w", encoding="utf-8")
    return target.open("a", encoding="utf-8")  # /dev/stdout may be a file with output


def _is_stream(target: Path) -> bool:
    """Return true for stream devices such as /dev/stdout, which cannot be replaced by a rename."""
    if target.is_relative_to("/dev") and not target.is_relative_to("/dev/shm"):
        return True
    try:
        mode = target.stat().st_mode
    except (OSError, ValueError):
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _directory(target: Path) -> Path:
    return target.resolve().parent


def _probe(directory: Path, target: Path) -> None:
    with tempfile.TemporaryFile(dir=directory, prefix=f".{target.name[:100]}."):
        pass


def _permissions(final: Path) -> int:
    with suppress(OSError):
        return stat.S_IMODE(final.stat().st_mode)
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask


def _cannot_write(option: str, target: Path, error: OSError) -> WeftError:
    todo = "choose another place"
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        todo = "free some space, or choose another place"
    return WeftError(f"{option}: cannot write {shown(target)}: {error.strerror}; {todo}")


def show_files(directory: Path, into: Path) -> None:
    """Fill the directory `into` with links to the entries of `directory`.

    Creating, renaming or removing entries in `into` does not change `directory`.
    """
    into.mkdir()
    for entry in os.scandir(directory):
        (into / entry.name).symlink_to(Path(entry.path).absolute())
