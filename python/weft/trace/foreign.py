# SPDX-License-Identifier: LGPL-2.1-only
"""Traces of other tools as workloads: OTF2, DUMPI, SimGrid's time-independent traces, and GOAL.

OTF2 and DUMPI traces are translated into weft's calls when they are read (`weft.trace.otf2`,
`weft.trace.dumpi`).

A time-independent trace is an index (a text file that names a file of actions per rank), a single
file with the actions of all ranks, or a directory with either. GOAL is the language of LogGOPSim
and ATLAHS (`weft.trace.goal`). Both are translated into the replayer's lines when they are
replayed.
"""

import copy
import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from pathlib import Path

from weft.base.errors import WeftError, printable
from weft.base.user_files import UnreadableError, read_text
from weft.trace import goal
from weft.trace.actions import COLLECTIVES, UnfitError, Words
from weft.trace.dumpi import is_meta
from weft.trace.folder import (
    ACTIONS,
    MANIFEST,
    MOST_RANKS,
    Folder,
    Manifest,
    read_folder,
    read_manifest,
)
from weft.trace.kinds import kind_of
from weft.trace.recording import RecordedTrace
from weft.trace.requests import Requests
from weft.trace.simgrid import Sources, Translator, has_types, is_line, rank_of
from weft.trace.translation import translate

_LONGEST_LINE = 1 << 24
_FILES_AT_ONCE = 256
_SNIFFED_LINES = 1000
_PAGE = "docs/trace-files.md lists what weft replays"

Place = tuple[Path, int]
"""File and line number."""


@dataclass(frozen=True)
class SmpiTrace(Folder):
    """SimGrid's time-independent trace."""

    files: tuple[Path, ...] = ()
    typed: bool = False
    sources: Sources = field(default_factory=Sources, compare=False)
    requests: Requests = field(default_factory=Requests, compare=False)

    @property
    def form(self) -> str:
        """Format of the lines for the replayer."""
        return "actions"

    @property
    def lines(self) -> Path:
        """First file of actions."""
        return self.files[0]

    def unpack(self, target: Path) -> Path:
        """Write the lines for the replayer."""
        requests = copy.deepcopy(self.requests)
        with target.open("w", encoding="ascii") as file:
            for words in _translated(self.files, self.manifest.ranks, typed=self.typed):
                whole = self.sources.resolve(requests.complete(words))
                file.write(" ".join(whole) + "\n")
        return target


@dataclass(frozen=True)
class GoalTrace(Folder):
    """Schedule in GOAL."""

    schedule: goal.Schedule = field(default_factory=list, compare=False)

    @property
    def form(self) -> str:
        """Format of the lines for the replayer."""
        return "goal"

    @property
    def lines(self) -> Path:
        """File of the schedule."""
        return self.path

    @property
    def operations(self) -> int:
        """Number of operations of all ranks."""
        return sum(map(len, self.schedule))

    def replay_arguments(self, lines: Path) -> tuple[str, ...]:
        """Return the replayer's arguments, including the file for the ranks' end times."""
        return *super().replay_arguments(lines), str(_ends_of(lines))

    def rank_ends(self, lines: Path) -> list[float] | None:
        """Return the end time of each rank in seconds; None if the schedule has not ended."""
        file = _ends_of(lines)
        if not file.is_file():
            return None
        ends: list[float] = json.loads(file.read_text(encoding="ascii"))
        return ends

    def unpack(self, target: Path) -> Path:
        """Write the operations of each rank for the replayer, one per line."""
        with target.open("w", encoding="ascii") as file:
            for rank, operations in enumerate(self.schedule):
                for one in operations:
                    file.write(f"{rank} {one.line()}\n")
        return target


def read_trace(path: Path) -> Folder:
    """Read a trace of weft or another tool, and check it from end to end."""
    if (path / MANIFEST).exists() and _is_raw(path / ACTIONS):
        return _read_raw(path)
    if (path / MANIFEST).exists() or not path.exists():
        return read_folder(path)
    if path.is_file() and _is_goal(path):
        return _read_goal(path)
    if (recorded := _recorded(path)) is not None:
        return recorded
    files = _files_of(path)
    if not files:
        raise WeftError(f"trace: {path} is not a trace: {kind_of(path)}; {_PAGE}")
    return _read_smpi(path, files)


def _ends_of(lines: Path) -> Path:
    return lines.with_name(f"{lines.name}.ends")


def is_trace(path: Path) -> bool:
    """Return True for a directory, and for a trace or schedule file of another tool."""
    if path.is_dir():
        return True
    if not path.is_file():
        return False
    return (
        _is_goal(path)
        or _otf2_of(path) is not None
        or _dumpi_of(path) is not None
        or bool(_files_of(path))
    )


def _origin(path: Path, ranks: int) -> Manifest:
    """Return the origin of a trace that does not state it."""
    return Manifest(
        weft="",
        simgrid="",
        program=path.name or str(path),
        arguments=(),
        command=(),
        ranks=ranks,
        fabric="",
        offload="",
        simulated_time_s=0.0,
        polls=False,
    )


# ---- Timed traces


def _recorded(path: Path) -> Folder | None:
    """Read an OTF2 or DUMPI trace; None if the path is neither."""
    for kind, find in (("OTF2", _otf2_of), ("DUMPI", _dumpi_of)):
        if (file := find(path)) is not None:
            ranks, packed = translate(kind, file)
            return RecordedTrace(path, _origin(path, ranks), packed)
    return None


def _otf2_of(path: Path) -> Path | None:
    """Return the anchor file of an OTF2 archive; None if there is none."""
    if path.is_dir():
        return _only(path, sorted(path.glob("*.otf2")), "OTF2 archives")
    return path if path.suffix == ".otf2" else None


def _dumpi_of(path: Path) -> Path | None:
    """Return the description of a DUMPI trace; None if there is none."""
    if path.is_dir():
        return _only(
            path, [one for one in sorted(path.glob("*.meta")) if is_meta(one)], "DUMPI traces"
        )
    return path if is_meta(path) else None


def _only(folder: Path, found: Sequence[Path], what: str) -> Path | None:
    if len(found) > 1:
        names = ", ".join(one.name for one in found)
        raise WeftError(f"trace: {folder}: found several {what} ({names}); name one of them")
    return found[0] if found else None


# ---- GOAL


def _is_goal(path: Path) -> bool:
    with path.open("rb") as file:
        head = file.read(_SNIFFED_LINES)
    return path.suffix == ".goal" or b"num_ranks" in head


def _read_goal(path: Path) -> GoalTrace:
    try:
        schedule = goal.parse_goal(read_text(path))
    except UnreadableError as error:
        what = f" ({kind_of(path)})" if "is not text" in error.message else ""
        raise WeftError(
            f"trace: {path}: {error}{what}; name a GOAL schedule in its text form"
        ) from None
    except goal.GoalError as error:
        raise WeftError(f"trace: {path}: {printable(str(error))}; correct the schedule") from None
    return GoalTrace(path, _origin(path, len(schedule)), schedule)


# ---- SimGrid's


def _is_raw(actions: Path) -> bool:
    """Return True if actions next to a manifest are SimGrid's: with `init`, or numbered types.

    Actions written by earlier versions of weft contain neither.
    """
    for words in _head(actions) if actions.is_file() else ():
        name = words[1].lower() if len(words) > 1 else ""
        if name == "init" or (name in COLLECTIVES and len(words) > 2 and words[-1].isdigit()):
            return True
    return False


def _read_raw(path: Path) -> SmpiTrace:
    manifest = read_manifest(path)
    trace = _read_smpi(path, (path / ACTIONS,))
    if trace.manifest.ranks != manifest.ranks:
        raise WeftError(
            f"trace: {path}: {MANIFEST} states {manifest.ranks} ranks, and {ACTIONS} has"
            f" {trace.manifest.ranks}; correct the manifest"
        )
    return replace(trace, manifest=manifest)


def _files_of(path: Path) -> tuple[Path, ...]:
    """Return the files of actions that a path refers to; none if it is not a trace."""
    if path.is_file():
        named = _named_by(path)
        return named or ((path,) if _has_actions(path) else ())
    inside = [one for one in sorted(path.iterdir()) if one.is_file()]
    found = [(one, named) for one in inside if (named := _named_by(one))]
    if len(found) > 1:
        names = ", ".join(one.name for one, _ in found)
        raise WeftError(f"trace: {path}: found several indexes ({names}); name one of them")
    if found:
        return found[0][1]
    return tuple(one for one in inside if _has_actions(one))


def _named_by(index: Path) -> tuple[Path, ...]:
    """Return the files named in an index, without duplicates; none if it is not an index."""
    head = _head(index)
    if not head or any(is_line(words) for words in head[:1]):
        return ()
    if not all(len(words) == 1 for words in head) or _at(index, head[0][0]) is None:
        return ()
    try:
        names = [line.strip() for line in read_text(index).splitlines()]
    except UnreadableError:
        return ()
    files = []
    for number, name in enumerate(names, start=1):
        if not name or name.startswith("#"):
            continue
        file = _at(index, name)
        if file is None:
            raise WeftError(
                f"trace: {index}: line {number}: found '{printable(name[:200])}', which is no file;"
                " an index names the file of each rank, from its own directory on"
            )
        files.append(file)
    return tuple(dict.fromkeys(files))


def _at(index: Path, name: str) -> Path | None:
    """Return the file for a name in an index.

    SimGrid writes names relative to the directory in which it ran; users move traces together with
    the index.
    """
    beside = index.parent / f"{index.name}_files" / Path(name).name
    for one in (index.parent / name, Path(name), beside, index.parent / Path(name).name):
        try:
            if one.is_file():
                return one
        except (OSError, ValueError):
            return None
    return None


def _has_actions(path: Path) -> bool:
    head = _head(path)
    return bool(head) and is_line(head[0])


def _head(path: Path) -> list[Words]:
    """Return the first lines that are neither empty nor comments; none for a binary file."""
    found: list[Words] = []
    try:
        with path.open("rb") as file:
            start = file.read(1 << 16)
    except OSError:
        return []
    if b"\0" in start:
        return []
    for line in start.decode("ascii", errors="replace").splitlines()[:_SNIFFED_LINES]:
        words = line.split()
        if words and not words[0].startswith("#"):
            found.append(words)
    return found


def _read_smpi(path: Path, files: tuple[Path, ...]) -> SmpiTrace:
    try:
        ranks, typed = _survey(files)
        sources, requests = Sources(), Requests()
        for words in _translated(files, ranks, typed=typed):
            sources.add(words)
            requests.note(words)
    except OSError as error:
        raise WeftError(f"trace: {path} cannot be read: {error.strerror}") from None
    return SmpiTrace(path, _origin(path, ranks), files, typed, sources, requests)


def _survey(files: tuple[Path, ...]) -> tuple[int, bool]:
    """Return the number of ranks, and True if lines contain datatypes."""
    last, typed = -1, False
    for file in files:
        typed = typed or has_types(words for _, words in _lines(file))
        last = max(last, *(rank_of(words[0]) or 0 for _, words in _lines(file)), 0)
    if not 0 <= last < MOST_RANKS:
        raise WeftError(f"trace: {files[0]}: found rank {last}; allowed are up to {MOST_RANKS:,}")
    return last + 1, typed


def _lines(file: Path) -> Iterator[tuple[Place, Words]]:
    with file.open(encoding="ascii", errors="replace") as lines:
        number = 0
        while line := lines.readline(_LONGEST_LINE):
            number += 1
            words = line.split()
            if words and not words[0].startswith("#"):
                yield (file, number), words


def _interleaved(files: tuple[Path, ...]) -> Iterator[tuple[Place, Words]]:
    """Interleave the lines of files: the replayer buffers the lines that it reads ahead."""
    for first in range(0, len(files), _FILES_AT_ONCE):
        some = [_lines(file) for file in files[first : first + _FILES_AT_ONCE]]
        with ExitStack() as stack:
            for one in some:
                stack.callback(getattr(one, "close"))  # noqa: B009
            for row in zip_longest(*some):
                yield from (one for one in row if one is not None)


def _translated(files: tuple[Path, ...], ranks: int, *, typed: bool) -> Iterator[Words]:
    """Yield all lines in weft's form; sources may still be unknown."""
    translator = Translator(ranks, typed=typed)
    place = str(files[0])
    try:
        for (file, number), words in _interleaved(files):
            place = f"{file}: line {number}"
            yield from translator.translate(words)
        place = str(files[0].parent)
        yield from translator.end()
    except UnfitError as error:
        raise WeftError(f"trace: {place}: {printable(str(error))}; {_PAGE}") from None
