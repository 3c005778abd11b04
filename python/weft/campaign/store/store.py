# SPDX-License-Identifier: LGPL-2.1-only
"""Store of results: a folder with one file per run, named by the run's digest.

    STORE/
      store.json            what this folder is
      runs/3f/3f02….json    a result: combination, program output, record
      index.parquet         data that tables need (`weft.campaign.store.index`)
      claims/3f02…          locked by the process that executes this run, while it lives

Files appear atomically. Any number of processes on machines that share the folder may write to it:
the process that locks a claim executes the run, and the lock ends with the process, however it
exits. To merge stores, copy the `runs` of one store into another.
"""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from errno import EDQUOT, ENOSPC
from pathlib import Path
from typing import Any, Literal

from msgspec import UNSET, UnsetType

from weft.base.errors import WeftError
from weft.base.models import Model
from weft.base.output import check_directory, whole_file
from weft.base.user_files import UnreadableError, read_json
from weft.iterations.record import IterationRecord
from weft.runs.record import Record

_KIND = "weft-campaign-store"
_VERSION = 1
_PARTS = ("store.json", "index.parquet", "runs", "claims")


class IterationPart(Model, kw_only=True):
    """Outcome of a training iteration, and the cost of its simulation."""

    outcome: str
    """Kind of outcome in the record; or the limit that ended the iteration: `timeout` or
    `memory-limit`.
    """
    message: str
    """Reason if the iteration could not continue, or if a limit of the campaign ended it."""
    wall_time_s: float
    cpu_time_s: float
    peak_memory_bytes: int
    record: IterationRecord | None
    """None if a limit ended it."""


class Result(Model, kw_only=True):
    """Result file of a run."""

    schema: Literal["weft-campaign-run-1"] = "weft-campaign-run-1"
    point: dict[str, str | int | float | bool]
    """Combination for which the run was first executed."""
    output: str = ""
    """Last 64 KiB of the program's output."""
    refused: str = ""
    """Reason why weft did not start the run."""
    record: Record | UnsetType = UNSET
    iteration: IterationPart | UnsetType = UNSET
    """Present in place of a record if the run is a training iteration."""

    @property
    def state(self) -> str:
        """Return one of `done`, `failed`, `refused`."""
        if self.iteration is not UNSET:
            return "done" if self.iteration.outcome == "completed" else "failed"
        if self.record is UNSET:
            return "refused"
        return "failed" if self.record.failed else "done"


class Store:
    """Folder of results."""

    def __init__(self, folder: Path, campaign: str, *, look: bool = False) -> None:
        """Open a store, creating it if necessary. Raises `WeftError`.

        With `look`, write permission is not required: a store that cannot be created reads as
        empty.
        """
        self.folder = folder
        about = folder / "store.json"
        _refuse_links(folder)
        if look and not can_write(folder) and (about.exists() or not _has_others(folder)):
            if about.exists():
                _check(about, campaign)
            return
        if not about.exists():
            if _has_others(folder) and not about.exists():  # may have just been created
                raise WeftError(_not_a_store(folder, about, campaign))
            make(folder)
            with whole_file("store", about) as file:
                file.write(_about(campaign))
        _check(about, campaign)
        for part in ("runs", "claims"):
            make(folder / part)

    def path(self, digest: str) -> Path:
        """Return the path of a run's result."""
        return self.folder / "runs" / digest[:2] / f"{digest}.json"

    def has(self, digest: str) -> bool:
        """Return True if a run has a result."""
        return self.path(digest).exists()

    def read(self, digest: str) -> Result:
        """Return a run's result. Raises `WeftError`."""
        path = self.path(digest)
        try:
            return Result.from_json(read_json(path))
        except UnreadableError as error:
            raise WeftError(f"store {path}: {error}; `weft campaign run` repeats it") from None

    def write(self, digest: str, result: Result) -> None:
        """Store a run's result."""
        path = self.path(digest)
        make(path.parent)
        with whole_file("store", path) as file:
            file.write(json.dumps(result.to_json()))  # `dump` is ten times slower

    @contextmanager
    def claim(self, digest: str) -> Iterator[bool]:
        """Yield True if this process must execute the run: it has no result and no other claim."""
        path = self.folder / "claims" / digest
        try:
            lock = os.open(path, os.O_CREAT | os.O_RDWR, 0o644)
        except OSError as error:
            raise cannot_make(path, error) from None
        try:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
                return
            except OSError as error:
                raise WeftError(
                    f"store {path}: cannot be locked ({error.strerror}); choose a folder on a file"
                    " system that has locks"
                ) from None
            yield not self.has(digest)
            with suppress(OSError):
                path.unlink()
        finally:
            os.close(lock)

    def is_claimed(self, digest: str) -> bool:
        """Return True if some process is executing a run."""
        return _is_locked(self.folder / "claims" / digest)

    def at_work(self) -> int:
        """Return the number of runs in progress."""
        return sum(_is_locked(path) for path in (self.folder / "claims").glob("*"))


def _is_locked(path: Path) -> bool:
    try:
        lock = os.open(path, os.O_RDWR)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(lock)
    return False


def can_write(folder: Path) -> bool:
    """Return True if files can be written to a folder of a store, which need not exist yet."""
    try:
        check_directory("store", folder)
    except WeftError:
        return False
    return True


def _refuse_links(folder: Path) -> None:
    """Refuse a store with links to files or folders elsewhere; `folder` itself may be a link."""
    try:
        parts = [one for one in os.scandir(folder) if one.name in _PARTS]
        folders = [one for one in parts if one.name == "runs" and one.is_dir(follow_symlinks=False)]
        parts += [one for runs in folders for one in os.scandir(runs.path) if len(one.name) == 2]
    except OSError:
        return  # reported where the store is used
    for part in parts:
        if part.is_symlink():
            raise WeftError(
                f"store {folder}: {Path(part.path).relative_to(folder)} is a symbolic link to"
                f" {os.readlink(part.path)}, where another store's results may be; replace it by"
                " the folder or file itself, or let the store's own name be a link"
            )


def make(folder: Path) -> None:
    """Create a folder of a store. Raises `WeftError`."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_make(folder, error) from None


def cannot_make(path: Path, error: OSError) -> WeftError:
    """Return the error for a file or folder of a store that cannot be created."""
    todo = "free some space" if error.errno in (ENOSPC, EDQUOT) else "name another place"
    return WeftError(f"store {path}: cannot be made: {error.strerror}; {todo}")


def _has_others(folder: Path) -> bool:
    """Return True if the folder contains files that do not belong to a store being created."""
    try:
        return any(not name.startswith(".store.json") for name in os.listdir(folder))
    except FileNotFoundError:
        return False
    except OSError as error:
        raise WeftError(
            f"store {folder}: cannot be read: {error.strerror}; name a folder"
        ) from None


def _about(campaign: str) -> str:
    return json.dumps({"kind": _KIND, "version": _VERSION, "campaign": campaign})


def _not_a_store(folder: Path, about: Path, campaign: str) -> str:
    if (folder / "runs").is_dir():
        return (
            f"store {folder}: has runs/, but {about.name} is missing; if these are results of"
            f" '{campaign}', write that file again: {_about(campaign)}; else name another folder"
        )
    return f"store {folder}: is a folder with other files; choose another one, or an empty one"


def _check(about: Path, campaign: str) -> None:
    try:
        found: Any = read_json(about)
    except UnreadableError as error:
        raise WeftError(f"store {about}: {error}; name another folder") from None
    if not isinstance(found, dict) or found.get("kind") != _KIND:
        raise WeftError(f"store {about}: is not a store of weft; choose another folder")
    if found.get("version") != _VERSION:
        raise WeftError(
            f"store {about}: has version {found.get('version')}, and this weft knows {_VERSION};"
            " use the weft that wrote it, or a newer one"
        )
    if found.get("campaign") != campaign:
        raise WeftError(
            f"store {about}: belongs to the campaign '{found.get('campaign')}', and this is"
            f" '{campaign}'; name another folder"
        )
