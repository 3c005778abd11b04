# SPDX-License-Identifier: LGPL-2.1-only
"""The programs of a campaign: compiled into its store, or made by their own command."""

import hashlib
import subprocess
from pathlib import Path

from weft.base import paths
from weft.base.errors import WeftError
from weft.campaign.file import Campaign, Program
from weft.runs.program import check_program

_LANGUAGES = {
    **dict.fromkeys((".c",), "cc"),
    **dict.fromkeys((".cpp", ".cc", ".cxx"), "cxx"),
    **dict.fromkeys((".f", ".f90", ".f77"), "f90"),
}
_LAST_LINES = 20


def programs(campaign: Campaign, store: Path) -> dict[str, Path]:
    """Make all programs; return their files by name. Raises `WeftError` with a compiler's words.

    They are called in the campaign's folder, where a path from elsewhere means something else.
    """
    place = store.absolute()
    return {name: _made(campaign, one, place) for name, one in campaign.programs.items()}


def _made(campaign: Campaign, program: Program, store: Path) -> Path:
    if program.source is not None:
        return _compiled(campaign, program, campaign.folder.absolute() / program.source, store)
    assert program.path is not None
    if program.build:
        _call(program, ["/bin/sh", "-c", program.build], campaign.folder)
    path = campaign.folder.absolute() / program.path
    try:
        check_program(path)
    except WeftError as error:
        raise WeftError(f"{campaign.file}: [programs.{program.name}] path: {error}") from None
    return path


def _compiled(campaign: Campaign, program: Program, source: Path, store: Path) -> Path:
    place = f"{campaign.file}: [programs.{program.name}] source"
    language = _LANGUAGES.get(source.suffix)
    if language is None:
        raise WeftError(
            f"{place}: found '{program.source}'; allowed are files of {', '.join(_LANGUAGES)}"
        )
    try:
        content = source.read_bytes()
    except OSError as error:
        raise WeftError(f"{place}: {source} cannot be read: {error.strerror}") from None
    words = [str(paths.installed("weft-compiler")), language, "-O2", *program.flags, str(source)]
    digest = hashlib.sha256(b"\0".join([content, *(word.encode() for word in words)])).hexdigest()
    target = store / "programs" / digest[:16] / program.name
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        beside = target.with_suffix(".new")
        _call(program, [*words, f"-o{beside}", "-lm"], campaign.folder)
        beside.rename(target)
    return target


def _call(program: Program, command: list[str], folder: Path) -> None:
    ended = subprocess.run(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    if ended.returncode != 0:
        said = "\n".join(ended.stdout.rstrip().splitlines()[-_LAST_LINES:])
        raise WeftError(
            f"program {program.name}: {' '.join(command)} ended with status {ended.returncode}:\n"
            + said
        )
