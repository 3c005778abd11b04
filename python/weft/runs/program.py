# SPDX-License-Identifier: LGPL-2.1-only
"""Locates the MPI program as a shell does, and checks the file before the run."""

import os
import re
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from weft.base.errors import WeftError
from weft.base.file_cache import kept
from weft.runs.privatization.needed import needed, other_mpi_among

_START = "weft_program_start"
"""Entry point of programs linked by `weft cc`, whose main function may be in a shared library."""
_ENTRY_POINTS = {"main", "user_main_", _START}
_LONGEST_SHEBANG = 256


@dataclass(frozen=True)
class _Binary:
    libraries: tuple[str, ...]
    entry_points: frozenset[str]
    is_library: bool


def find_program(name: str) -> Path:
    """Return the path of the program; a name without a slash is looked up in PATH."""
    if "/" in name:
        return _existing(name)
    found = shutil.which(name)
    if found is not None:
        return Path(found)
    if Path(name).exists():
        raise WeftError(
            f"program: '{name}' is not in PATH; for the one in this directory, write ./{name}"
        )
    raise WeftError(
        f"program: '{name}' is not in PATH and not in this directory; name an existing file"
    )


def _existing(name: str) -> Path:
    path = Path(name)
    try:
        path.stat()
    except OSError as error:
        raise WeftError(
            f"program: cannot find {name} ({error.strerror}); name an existing file"
        ) from None
    return path


def check_program(path: Path) -> None:
    """Check that SimGrid can run this file."""
    if path.is_dir():
        raise WeftError(f"program: {path} is a directory; name the program in it")
    if _is_python(path):
        raise WeftError(
            f"program: {path} is a Python script; Python programs (mpi4py) cannot run unless their"
            " interpreter is the program, a Python built with `--enable-shared` whose library is"
            " not the system's (`weft run … -- python3 program.py`, `weft help compiling`);"
            " otherwise compile a program that makes the same calls with `weft cc`, or replay a"
            " trace of them with `weft replay` (`weft help traces`)"
        )
    binary = _read(path)
    if not os.access(path, os.X_OK):
        raise WeftError(
            f"program: {path} is not executable; compile it with `weft cc`,"
            f" or try `chmod +x {path}`"
        )
    reason = _why_not_smpi(binary)
    if reason:
        raise WeftError(
            f"program: {path} was not compiled for SMPI ({reason});"
            " compile it with `weft cc`, `weft cxx` or `weft f90`"
        )


def _is_python(path: Path) -> bool:
    """Return True for a Python interpreter or a Python program."""
    if re.fullmatch(r"(python|pypy)[\d.]*", path.name) or path.suffix in (".py", ".pyc"):
        return True
    with suppress(OSError), path.open("rb") as file:
        start = file.readline(_LONGEST_SHEBANG)
        return re.match(rb"#!.*\b(python|pypy)", start) is not None
    return False


@kept
def _read(path: Path) -> _Binary:
    try:
        with path.open("rb") as file:
            return _parse(path, file)
    except OSError as error:
        raise WeftError(f"program: cannot read {path} ({error.strerror})") from None
    except ELFError:
        raise WeftError(
            f"program: {path} is damaged: it starts as an ELF file but cannot be read; compile it"
            " again with `weft cc`"
        ) from None


def _parse(path: Path, file: BinaryIO) -> _Binary:
    start = file.read(4)
    if start != b"\x7fELF":
        what = "a script" if start.startswith(b"#!") else "not a compiled program (no ELF file)"
        raise WeftError(
            f"program: {path} is {what}; name the MPI program itself, compiled with `weft cc`,"
            " `weft cxx` or `weft f90`"
        )
    elf = ELFFile(file)
    entry_points = _entry_points(elf)
    is_library = _START in entry_points or not _has_interpreter(elf)
    return _Binary(needed(elf), entry_points, is_library)


def _entry_points(elf: ELFFile) -> frozenset[str]:
    section = elf.get_section_by_name(".dynsym")
    if not isinstance(section, SymbolTableSection):
        return frozenset()
    symbols = (
        symbol.name for symbol in section.iter_symbols() if symbol["st_shndx"] != "SHN_UNDEF"
    )
    return frozenset(_ENTRY_POINTS.intersection(symbols))


def _has_interpreter(elf: ELFFile) -> bool:
    return any(segment["p_type"] == "PT_INTERP" for segment in elf.iter_segments())


def _why_not_smpi(binary: _Binary) -> str:
    if other := other_mpi_among(binary.libraries):
        return f"it uses another MPI, {other}"
    if not binary.is_library:
        uses = any(name.startswith("libsimgrid") for name in binary.libraries)
        return (
            "it was not linked by one of SimGrid's compilers" if uses else "it does not use SimGrid"
        )
    return "" if binary.entry_points else "it has no main function that SMPI can call"
