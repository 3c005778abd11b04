# SPDX-License-Identifier: LGPL-2.1-only
"""Compilers: weft's, SimGrid's, and MPI's commands for build systems."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from weft.base import paths
from weft.base.errors import WeftError
from weft.runs.simgrid import SimGrid

COMPILERS = {"cc": "smpicc", "cxx": "smpicxx", "f90": "smpif90"}
"""SimGrid's compilers by weft command; `weft-compiler` distinguishes the source forms of Fortran.
"""
OF_SOURCES = {".c": "smpicc", ".cpp": "smpicxx", ".f": "smpiff", ".f90": "smpif90"}
"""SimGrid's compilers by source suffix, for sources of known form without `weft-compiler`."""

LANGUAGES = {
    ".c": "cc",
    **dict.fromkeys((".cpp", ".cc", ".cxx"), "cxx"),
    **dict.fromkeys((".f", ".f77", ".f90"), "f90"),
}
"""weft's compiler commands by source suffix."""
_LAST_LINES = 20


def call_tool(what: str, command: Sequence[str], folder: Path | None = None) -> None:
    """Run a build tool in a folder.

    Raises `WeftError` about `what`, with the last lines of its output.
    """
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
            f"{what}: {' '.join(command)} ended with status {ended.returncode}:\n{said}"
        )


def become_compiler(language: str, arguments: Sequence[str]) -> NoReturn:
    """Replace this process with the compiler, passing the arguments unchanged."""
    path = str(paths.installed("weft-compiler"))
    os.execv(path, [path, language, *arguments])


def mpi_commands() -> Path:
    """Return the directory of `mpicc`, `mpiexec` and other MPI commands."""
    return paths.installed("bin")


def compile_c(source: Path, program: Path) -> None:
    """Compile one C source into a program for `weft run`."""
    command = [str(SimGrid().compiler("smpicc")), "-O2", str(source), "-o", str(program), "-lm"]
    result = subprocess.run(command, text=True, capture_output=True, check=False)
    if result.returncode != 0:
        raise WeftError(
            f"compiler: {' '.join(command)} ended with status {result.returncode}:"
            f"\n{result.stderr.rstrip()}"
        )
