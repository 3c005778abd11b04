# SPDX-License-Identifier: LGPL-2.1-only
"""Programs of a campaign: compiled into its store, or built by their own commands."""

import hashlib
import json
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from weft.base import paths
from weft.base.errors import WeftError, suggestion
from weft.base.options import parse
from weft.base.output import whole_file
from weft.base.user_files import UnreadableError, read_text
from weft.campaign.file.file import Campaign
from weft.campaign.file.programs import Program
from weft.campaign.store.store import can_write, cannot_make, make
from weft.runs.jobs.file import read as read_jobs
from weft.runs.program import check_program, find_program
from weft.runs.toolchain import LANGUAGES, call_tool
from weft.training.file import models
from weft.training.formats.reading import detect

_INCLUDE = re.compile(r"""^\s*\#?include\s*['"]([^'"]+)['"]""", re.MULTILINE | re.IGNORECASE)


def programs(
    campaign: Campaign, store: Path, spare: Path | None = None, *, again: bool = True
) -> dict[str, Path]:
    """Build all programs; return their files by name. Raises `WeftError` with compiler messages.

    Compilers and build commands run in the campaign's folder, hence with absolute paths to the
    store. If the store is read-only, missing programs are compiled into `spare`. Without `again`,
    build commands are not called for programs that exist.
    """
    places = (store.absolute() / "programs", spare)
    return {
        name: _made(campaign, one, places, again=again) for name, one in campaign.programs.items()
    }


def _made(
    campaign: Campaign, program: Program, places: tuple[Path, Path | None], *, again: bool
) -> Path:
    if program.jobs is not None:
        return _jobs_file(campaign, program)
    if program.model:
        return _model_file(campaign, program)
    if program.trace is not None:
        return _trace_path(campaign, program)
    if program.source is not None:
        source = campaign.folder.absolute() / program.source
        return _compiled(campaign, program, source, *places)
    assert program.path is not None
    path = campaign.folder.absolute() / program.path
    if program.build and (again or not path.exists()):
        call_tool(f"program {program.name}", ["/bin/sh", "-c", program.build], campaign.folder)
    try:
        check_program(path)
    except WeftError as error:
        raise WeftError(f"{campaign.file}: [programs.{program.name}] path: {error}") from None
    return path


def _jobs_file(campaign: Campaign, program: Program) -> Path:
    """Return a jobs file, after a check that it and the programs in it can be read."""
    assert program.jobs is not None
    path = campaign.folder.absolute() / program.jobs
    try:
        for job in read_jobs(path).jobs:
            if job.trace is None and job.iteration is None:
                check_program(find_program(job.program))
    except WeftError as error:
        raise WeftError(f"{campaign.file}: [programs.{program.name}] jobs: {error}") from None
    return path


def _model_file(campaign: Campaign, program: Program) -> Path:
    """Return a training file, or the name of a preset, after a check that it can be read.

    The keys of the training file are checked for each combination.
    """
    path = campaign.folder.absolute() / program.model
    if not path.exists() and program.model in models():
        return Path(program.model)
    try:
        if not path.exists():
            raise WeftError(
                f"found '{program.model}'; {path} is no file; {suggestion(program.model, models())}"
            )
        parse(read_text(path), program.model)
    except (WeftError, UnreadableError) as error:
        raise WeftError(f"{campaign.file}: [programs.{program.name}] model: {error}") from None
    return path


def _trace_path(campaign: Campaign, program: Program) -> Path:
    """Return a trace of training, after a check that it exists."""
    assert program.trace is not None
    path = campaign.folder.absolute() / program.trace
    if detect(path) is None:
        raise WeftError(
            f"{campaign.file}: [programs.{program.name}] trace: {path} is no trace of training;"
            " allowed are Chakra's files NAME.<rank>.et, Kineto's JSON files and SimAI's workload"
            " text. Traces of MPI programs run as a job of a jobs file"
        )
    return path


def _compiled(
    campaign: Campaign, program: Program, source: Path, folder: Path, spare: Path | None
) -> Path:
    """Return the program for these sources and flags, compiled if missing."""
    place = f"{campaign.file}: [programs.{program.name}] source"
    language = LANGUAGES.get(source.suffix)
    if language is None:
        raise WeftError(
            f"{place}: found '{program.source}'; allowed are files of {', '.join(LANGUAGES)}"
        )
    try:
        source.read_bytes()
    except OSError as error:
        raise WeftError(f"{place}: {source} cannot be read: {error.strerror}") from None
    words = [str(paths.installed("weft-compiler")), language, "-O2", *program.flags, str(source)]
    known = folder / f"{_digest([' '.join(words).encode()])}.json"  # sources of the program
    target = _place(folder, known, program, words)
    if target is None or not target.exists():
        if spare is not None and not can_write(folder):
            folder, known = spare, spare / known.name
        make(folder)
        try:
            target = _compile(campaign, program, language, words, known)
        except OSError as error:
            raise cannot_make(folder, error) from None
    return target


def _compile(
    campaign: Campaign, program: Program, language: str, words: Sequence[str], known: Path
) -> Path:
    """Compile into a temporary folder, record the files that were read, and move the program."""
    folder = known.parent
    with tempfile.TemporaryDirectory(dir=folder) as beside:
        made, uses = Path(beside) / "made", Path(beside) / "uses"
        listing = ["-MMD", f"-MF{uses}"] if language != "f90" else []
        call_tool(
            f"program {program.name}", [*words, f"-o{made}", *listing, "-lm"], campaign.folder
        )
        files = list(_listed(uses)) if listing else list(_included(Path(words[-1])))
        with whole_file("store", known) as file:
            json.dump([str(one) for one in files], file)
        target = _place(folder, known, program, words)
        assert target is not None
        make(target.parent)
        made.replace(target)
    return target


def _place(folder: Path, known: Path, program: Program, words: Sequence[str]) -> Path | None:
    """Return the program's path, derived from the dependencies recorded by its last compilation."""
    with suppress(OSError, ValueError, TypeError):
        files = [Path(one) for one in json.loads(known.read_text(encoding="utf-8"))]
        contents = [one.read_bytes() for one in files]
        return folder / _digest([*contents, *(word.encode() for word in words)]) / program.name
    return None


def _digest(parts: Sequence[bytes]) -> str:
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]


def _listed(uses: Path) -> Iterator[Path]:
    """Yield the dependencies in a make rule as written by C and C++ compilers."""
    text = uses.read_text(encoding="utf-8", errors="surrogateescape").replace("\\\n", " ")
    for name in re.findall(r"(?:\\.|\S)+", text.partition(": ")[2]):
        yield Path(re.sub(r"\\(.)", r"\1", name).replace("$$", "$"))


def _included(source: Path, seen: tuple[Path, ...] = ()) -> Iterator[Path]:
    """Yield a Fortran source and the files that it includes from its folder, recursively."""
    yield source
    text = source.read_text(encoding="utf-8", errors="replace")
    for name in _INCLUDE.findall(text):
        file = source.parent / name
        if file.is_file() and file not in (*seen, source):
            yield from _included(file, (*seen, source))
