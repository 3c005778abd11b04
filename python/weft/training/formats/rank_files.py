# SPDX-License-Identifier: LGPL-2.1-only
"""Files of traces with one file per rank."""

import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path

from weft.base.errors import WeftError, named
from weft.training.formats.options import ReadOptions

_RANK_FILE = re.compile(r"(?P<name>.+)\.(?P<rank>\d{1,9})(?P<kind>\.et|\.json)(?P<packed>\.gz)?")
_MOST_NAMED = 8


def numbered(path: Path, accept: Callable[[Path], bool]) -> dict[int, Path]:
    """Return the files `NAME.<rank>.et` (`.json`, `.gz`) that a path refers to, by rank.

    The path is a folder with one trace, the prefix NAME, or the file of one rank, which stands for
    the files of all ranks.

    Args:
        path: Folder, prefix or file.
        accept: Returns True if a file with a matching name belongs to a trace.

    Raises:
        WeftError: A folder contains several traces, or a rank has several files.
    """
    if path.is_file():
        match = _RANK_FILE.fullmatch(path.name)
        if match is None:
            return {0: path}
        accepted = [one for one in _siblings(path.parent, match["name"]) if accept(one)]
        return _by_rank(accepted or [path])
    if path.is_dir():
        traces: dict[str, list[Path]] = defaultdict(list)
        for one in sorted(path.iterdir()):
            match = _RANK_FILE.fullmatch(one.name)
            if match is not None and one.is_file() and accept(one):
                traces[match["name"]].append(one)
        if len(traces) > 1:
            names = ", ".join(sorted(traces)[:_MOST_NAMED])
            raise WeftError(
                f"trace: {path}: found several traces ({names}); name one of them, as"
                f" {path / min(traces)}"
            )
        return _by_rank(next(iter(traces.values()), []))
    return _by_rank([one for one in _siblings(path.parent, path.name) if accept(one)])


def _siblings(folder: Path, name: str) -> list[Path]:
    if not folder.is_dir():
        return []
    matches = ((one, _RANK_FILE.fullmatch(one.name)) for one in sorted(folder.iterdir()))
    return [one for one, match in matches if match is not None and match["name"] == name]


def _by_rank(files: list[Path]) -> dict[int, Path]:
    found: dict[int, Path] = {}
    for one in files:
        match = _RANK_FILE.fullmatch(one.name)
        rank = int(match["rank"]) if match is not None else 0
        if rank in found:
            raise WeftError(
                f"trace: rank {rank} has two files, {found[rank]} and {one}; remove one of them"
            )
        found[rank] = one
    return dict(sorted(found.items()))


def number_of_ranks(
    path: Path, files: Mapping[int, Path], options: ReadOptions, world: int | None = None
) -> int:
    """Return the number of ranks of a trace, after a check that it is complete.

    Args:
        path: The trace, for error messages.
        files: File of each rank.
        options: With `replicate`, one recorded rank represents all ranks.
        world: Number of ranks that the trace itself states.

    Raises:
        WeftError: Ranks are missing.
    """
    if options.replicate is not None:
        if len(files) != 1:
            raise WeftError(
                f"trace: {path}: found the files of {len(files):,} ranks, and {named('replicate')}"
                " repeats the only one; leave the option out, or name a folder with one file"
            )
        rank = next(iter(files))
        if not rank < options.replicate:
            raise WeftError(
                f"trace: {path}: found rank {rank}, and {named('replicate')}"
                f" {options.replicate}; a job of {options.replicate} ranks has no rank"
                f" {rank}: name a larger number"
            )
        return options.replicate
    ranks = max(world or 0, max(files) + 1)
    missing = [rank for rank in range(ranks) if rank not in files]
    if missing:
        listed = ", ".join(map(str, missing[:_MOST_NAMED]))
        more = f" and {len(missing) - _MOST_NAMED:,} more" if len(missing) > _MOST_NAMED else ""
        word = "rank" if len(missing) == 1 else "ranks"
        advice = "add their files"
        if len(files) == 1:
            advice += f", or use {named('replicate')} {ranks} if all ranks do the same"
        raise WeftError(
            f"trace: {path}: {word} {listed}{more} of {ranks:,} missing: found the"
            f" {'files' if len(files) > 1 else 'file'} of {len(files):,}; {advice}"
        )
    return ranks
