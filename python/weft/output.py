"""Files that appear whole or not at all: written beside their target, then renamed."""

import errno
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from weft.errors import WeftError


def check_writable(option: str, target: Path) -> None:
    """Prove before the work starts that this file can be written when it is done."""
    if target.is_dir():
        raise WeftError(f"{option}: {target} is a directory; name a file in it")
    if _is_stream(target):
        return
    directory = _directory(target)
    if not directory.is_dir():
        raise WeftError(
            f"{option}: cannot write {target}: there is no directory {directory}; create it"
        )
    try:
        _probe(directory, target)
    except OSError as error:
        raise _cannot_write(option, target, error) from None


def check_distinct(targets: dict[str, Path | None]) -> None:
    """Prove that no two options name the same file."""
    seen: dict[Path, str] = {}
    for option, target in targets.items():
        if target is None or _is_stream(target):
            continue
        other = seen.setdefault(target.resolve(), option)
        if other != option:
            raise WeftError(f"{option}: {target} is the file of {other} too; name another one")


@contextmanager
def whole_file(option: str, target: Path) -> Iterator[IO[str]]:
    """Open a text file that takes its target's place only when all of it was written."""
    try:
        with _open_stream(target) if _is_stream(target) else _replacing(target) as file:
            yield file
    except BrokenPipeError:
        raise
    except OSError as error:
        raise _cannot_write(option, target, error) from None


@contextmanager
def whole_path(option: str, target: Path) -> Iterator[Path]:
    """Give a path to write to, which takes its target's place only when nothing went wrong."""
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
def _replacing(target: Path) -> Iterator[IO[str]]:
    final = target.resolve()
    descriptor, name = tempfile.mkstemp(dir=_directory(target), prefix=f".{final.name}.")
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
    return target.open("a", encoding="utf-8")  # /dev/stdout may be a file that the program wrote to


def _is_stream(target: Path) -> bool:
    """Whether it is something like /dev/stdout, whose place nothing can take."""
    if target.is_relative_to("/dev"):
        return True
    try:
        mode = target.stat().st_mode
    except OSError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _directory(target: Path) -> Path:
    return target.resolve().parent


def _probe(directory: Path, target: Path) -> None:
    with tempfile.TemporaryFile(dir=directory, prefix=f".{target.name}."):
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
    return WeftError(f"{option}: cannot write {target}: {error.strerror}; {todo}")
