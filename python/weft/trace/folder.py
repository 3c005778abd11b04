# SPDX-License-Identifier: LGPL-2.1-only
"""Recorded trace on disk: a directory with `manifest.json` and the lines of all ranks.

The lines are `calls.gz`, recorded by weft (`weft.trace.calls`), or `actions.txt`, converted from
SimGrid's trace (`weft.trace.actions`). weft checks the lines before each replay, which would hang
on a truncated file.
"""

import json
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta

from weft.base import inputs
from weft.base.errors import WeftError, printable
from weft.base.models import Model, Number, SchemaModel, Whole
from weft.base.user_files import UnreadableError, described, read_json
from weft.trace import calls
from weft.trace.actions import UnfitError, Words
from weft.trace.survey import Survey

SCHEMA: Literal["weft-trace/1"] = "weft-trace/1"
CALLS_SCHEMA: Literal["weft-trace/2"] = "weft-trace/2"
MANIFEST = "manifest.json"
ACTIONS = "actions.txt"
MOST_RANKS = 1 << 20
_SHORTEST_LINE = len("0 finalize\n")
_SHORTEST_PACKED = 0.01
"""Bytes per rank: gzip compresses identical lines to a thousandth, and rank lines differ."""
_LONGEST_LINE = 1 << 24


class TraceOrigin(Model, kw_only=True):
    """Origin of a trace."""

    schema: str
    weft: str
    simgrid: str
    program: str
    arguments: tuple[str, ...]
    command: tuple[str, ...]
    ranks: Whole
    ppn: Annotated[int, Meta(ge=1, le=MOST_RANKS)] | None = None
    """Ranks per host, if the user chose them."""
    fabric: str
    offload: str
    simulated_time_s: Number
    """Simulated time of the recorded run."""


class Manifest(TraceOrigin, kw_only=True):
    """Origin of a trace in SimGrid's form."""

    schema: Literal["weft-trace/1"] = SCHEMA
    polls: bool
    """True if the program calls MPI_Test, so that its behaviour may depend on the network."""


class CallsManifest(TraceOrigin, kw_only=True):
    """Origin of a trace recorded by weft."""

    schema: Literal["weft-trace/2"] = CALLS_SCHEMA
    changes: tuple[str, ...] = ()
    """Differences from the fabric file."""
    fallback: str
    host_speed: str
    """Speed assumed for the machine that computed; empty if computation was not timed."""
    config: tuple[str, ...]
    """SimGrid options."""
    lines: Whole
    """Calls of all ranks, and the computation between them."""


@dataclass(frozen=True)
class Folder:
    """Trace that has been checked for replay."""

    path: Path
    manifest: Manifest | CallsManifest

    @property
    def form(self) -> str:
        """Format of the lines for the replayer: `actions`, `calls` or `goal`."""
        return "calls" if isinstance(self.manifest, CallsManifest) else "actions"

    @property
    def lines(self) -> Path:
        """File with the lines."""
        return self.path / (calls.CALLS if self.form == "calls" else ACTIONS)

    @property
    def operations(self) -> int:
        """Number of operations of a schedule."""
        return 0

    def replay_arguments(self, lines: Path) -> tuple[str, ...]:
        """Return the replayer's arguments; compressed lines are first decompressed into a file."""
        return self.form, str(self.unpack(lines))

    def rank_ends(self, lines: Path) -> list[float] | None:
        """Return the end times of a schedule's ranks in seconds; None for other traces."""
        del lines
        return None

    def unpack(self, target: Path) -> Path:
        """Return the file for the replayer: the original, or the decompressed target."""
        if self.form == "actions":
            return self.lines
        calls.unpack(self.lines, target)
        return target


def check_target(option: str, target: Path) -> None:
    """Check before a run that the trace can be written to this directory."""
    parent = target.resolve().parent
    if not parent.is_dir():
        raise WeftError(
            f"{option}: cannot write {target}: there is no directory {parent}; create it"
        )
    if target.exists() and not (target.is_dir() and _is_ours(target)):
        raise WeftError(
            f"{option}: found {target}, which is not a trace; name a new directory, or a trace to"
            " replace"
        )
    for file in target.iterdir() if target.exists() else ():
        inputs.declare_output(option, file)
    try:
        tempfile.TemporaryDirectory(dir=parent, prefix=f".{target.name}.").cleanup()
    except OSError as error:
        raise WeftError(
            f"{option}: cannot write {target}: {error.strerror}; choose another place"
        ) from None


def _is_ours(directory: Path) -> bool:
    return {path.name for path in directory.iterdir()} <= {MANIFEST, ACTIONS, calls.CALLS}


def write_calls(raw: Path, manifest: CallsManifest, target: Path) -> Folder:
    """Write a trace recorded by weft, atomically. Raises an `UnfitError`."""

    def write(new: Path) -> CallsManifest:
        manifest.lines = calls.pack(raw, manifest.ranks, new / calls.CALLS)
        return manifest

    return _write_whole(target, write)


def _write_whole(target: Path, write: Callable[[Path], CallsManifest]) -> Folder:
    """Let `write` fill a directory next to the target, and rename it into place."""
    final = target.resolve()
    with tempfile.TemporaryDirectory(dir=final.parent, prefix=f".{final.name}.") as beside:
        new = Path(beside) / "new"
        new.mkdir()
        manifest = write(new)
        text = json.dumps(manifest.to_json(), indent=1)
        (new / MANIFEST).write_text(text + "\n", encoding="utf-8")
        if final.is_dir():
            final.rename(Path(beside) / "old")
        new.rename(final)
    return Folder(final, manifest)


def read_folder(path: Path) -> Folder:
    """Read a trace and check it from end to end."""
    folder = Folder(path, read_manifest(path))
    try:
        if folder.form == "calls":
            calls.look_through(folder.lines, folder.manifest.ranks)
        else:
            _look_through(folder.lines, folder.manifest.ranks)
    except OSError as error:
        raise _unreadable(folder, error) from None
    return folder


def _look_through(actions: Path, ranks: int) -> None:
    found = Survey(ranks)
    place = str(actions)
    try:
        for number, words in enumerate(_lines(actions), start=1):
            place = f"{actions}: line {number}"
            found.add(words)
        place = str(actions)
        found.check()
    except UnfitError as error:
        raise WeftError(
            f"trace: {place}: {printable(str(error))}; record the program with `weft run --record`"
        ) from None


def _lines(path: Path) -> Iterator[Words]:
    with path.open(encoding="ascii", errors="replace") as file:
        while line := file.readline(_LONGEST_LINE):
            if len(line) >= _LONGEST_LINE:
                raise UnfitError(f"found a line of more than {_LONGEST_LINE >> 20} MiB")
            yield line.split()


def read_manifest(path: Path) -> Manifest | CallsManifest:
    """Read a trace's origin, and check its ranks against the size of the lines."""
    try:
        data = read_json(path / MANIFEST)
        found = SchemaModel.from_json(data).schema
        if found not in _MANIFESTS:
            allowed = " and ".join(f"'{one}'" for one in _MANIFESTS)
            raise _no_trace(path, f"its schema is {described(found)}; allowed are {allowed}")
        manifest = _manifest(_MANIFESTS[found], data)
        _check_ranks(Folder(path, manifest))
    except UnreadableError as error:
        raise _no_trace(path, f"{MANIFEST} {error}") from None
    return manifest


_MANIFESTS: dict[str, type[Manifest] | type[CallsManifest]] = {
    SCHEMA: Manifest,
    CALLS_SCHEMA: CallsManifest,
}


def _manifest(kind: type[Manifest] | type[CallsManifest], data: Any) -> Manifest | CallsManifest:
    try:
        return kind.from_json(data)
    except UnreadableError as error:
        raise UnreadableError(f"is wrong: {error}") from None


def _check_ranks(folder: Folder) -> None:
    """Check the number of ranks against the file size: each rank has at least `RANK finalize`."""
    ranks = folder.manifest.ranks
    try:
        size = folder.lines.stat().st_size
    except OSError as error:
        raise _unreadable(folder, error) from None
    least = _SHORTEST_LINE if folder.form == "actions" else _SHORTEST_PACKED
    if not 1 <= ranks <= MOST_RANKS or ranks * least > size:
        raise UnreadableError(f"states {ranks} ranks, unlike {folder.lines.name}")


def _unreadable(folder: Folder, error: OSError) -> WeftError:
    return _no_trace(folder.path, f"{folder.lines.name} cannot be read: {error.strerror}")


def _no_trace(path: Path, reason: str) -> WeftError:
    return WeftError(
        f"trace: {path} is not a trace ({reason}); name a directory written by `weft run --record`"
    )
