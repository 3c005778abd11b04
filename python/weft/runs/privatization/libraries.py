# SPDX-License-Identifier: LGPL-2.1-only
"""Shared libraries of a program: libraries with variables are copied for each rank.

On a real machine a rank is a process with its own copy of every global variable, including
variables in shared libraries. System libraries are not copied: their state does not belong to the
program.
"""

import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.segments import InterpSegment

from weft.base.errors import WeftError, named
from weft.base.file_cache import kept
from weft.runs.privatization.needed import other_mpi
from weft.runs.privatization.variables import library_holds_variables

OPTION = "smpi/privatize-libs"
_LINE = re.compile(r"\s*(?P<name>\S.*?)(?: => (?P<path>.*?))?(?: \(0x[0-9a-f]+\))?")
_MISSING = re.compile(r"error while loading shared libraries: (.*?): cannot open shared object")
_SYSTEM = tuple(map(Path, ("/lib", "/lib32", "/lib64", "/usr/lib", "/usr/lib32", "/usr/lib64")))
# Runtime systems that serve the process as a whole.
_RUNTIMES = (
    *("ld-linux", "libsimgrid.", "libweft.", "libgfortran.", "libquadmath."),
    *("libgomp.", "libomp.", "libiomp5."),
)


@dataclass(frozen=True)
class Library:
    """A shared library: its name in the program, and the file found by the loader."""

    name: str
    path: Path


def private_libraries(
    program: Path, launcher: Path, environment: Mapping[str, str], settings: Sequence[str]
) -> list[Library]:
    """Return the libraries that each rank needs a copy of, including libraries named by --cfg.

    Raises:
        WeftError: A library uses another MPI, whose handles are invalid in SimGrid's MPI.
    """
    variables = tuple(sorted(environment.items()))
    of_simgrid = {library.name for library in _loaded(launcher, launcher, variables)}
    own = [
        library
        for library in _loaded(program, launcher, variables)
        if library.name not in of_simgrid and not Path(library.name).name.startswith(_RUNTIMES)
    ]
    _refuse_other_mpis(own, program)
    asked = [_find(name, own, program) for name in _named(settings)]
    return [
        library
        for library in own
        if library in asked
        or (not _is_systems(library.path) and library_holds_variables(library.path))
    ]


def fortran_runtime(program: Path, launcher: Path, environment: Mapping[str, str]) -> str:
    """Return the path of libgfortran if the program needs it, else an empty text.

    SMPI passes the arguments to libgfortran before it loads the program, and SimGrid itself may not
    depend on it, so weft preloads it.
    """
    if b"libgfortran.so" not in program.read_bytes():
        return ""
    loaded = _loaded(program, launcher, tuple(sorted(environment.items())))
    return next((str(one.path) for one in loaded if one.name.startswith("libgfortran.")), "")


@kept
def uses_cxx_streams(binary: Path) -> bool:
    """Return True if a program or library may use std::cout and similar streams."""
    return b"libstdc++.so" in binary.read_bytes()


def without_private_libraries(settings: Sequence[str]) -> list[str]:
    """Return the settings without the list of libraries to copy, which weft handles itself."""
    return [setting for setting in settings if setting.partition(":")[0] != OPTION]


def _refuse_other_mpis(libraries: Sequence[Library], program: Path) -> None:
    for path in (library.path for library in libraries if library.path.is_file()):
        if other := other_mpi(path):
            raise WeftError(
                f"program: {program} loads the library {path}, which uses another MPI, {other};"
                " compile the library with `weft cc`, `weft cxx` or `weft f90`, and put the folder"
                " of that build first in LD_LIBRARY_PATH"
            )


def _named(settings: Sequence[str]) -> list[str]:
    values = [value for key, _, value in (s.partition(":") for s in settings) if key == OPTION]
    return [name for value in values for name in value.split(";") if name]


def _find(name: str, libraries: Sequence[Library], program: Path) -> Library:
    for library in libraries:
        if name in (library.name, library.path.name, str(library.path)):
            return library
    known = ", ".join(sorted(library.path.name for library in libraries)) or "none of its own"
    raise WeftError(
        f"{named('config')}:"
        f" {OPTION}: found '{name}', which is not a shared library of {program}; it has: {known}"
    )


@kept
def _loaded(binary: Path, launcher: Path, variables: tuple[tuple[str, str], ...]) -> list[Library]:
    """List libraries with the dynamic loader, which alone decides where they are found."""
    answer = subprocess.run(
        [_loader(launcher), "--list", str(binary.absolute())],
        env=dict(variables),
        text=True,
        errors="replace",
        capture_output=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    if missing := _MISSING.search(answer.stderr):
        raise WeftError(
            f"program: {binary} needs the shared library {missing[1]}, which the loader does not"
            " find; add its folder to LD_LIBRARY_PATH"
        )
    lines = filter(None, map(_LINE.fullmatch, answer.stdout.splitlines()))
    return [Library(line["name"], Path(line["path"] or line["name"])) for line in lines]


def _loader(launcher: Path) -> str:
    with launcher.open("rb") as file:
        for segment in ELFFile(file).iter_segments():
            if isinstance(segment, InterpSegment):
                return str(segment.get_interp_name())
    raise WeftError(f"SimGrid: {launcher} is no program; build weft again with `make build`")


def _is_systems(path: Path) -> bool:
    return any(path.is_relative_to(directory) for directory in _SYSTEM)
