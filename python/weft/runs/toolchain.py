"""SimGrid's compilers, so that nobody has to look for them."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from weft.base import paths
from weft.base.errors import WeftError
from weft.runs.simgrid import SimGrid

COMPILERS = {"cc": "smpicc", "cxx": "smpicxx", "f90": "smpif90"}
_FIXED_FORM = (".f", ".F", ".for", ".FOR", ".f77", ".F77")


def compiler_for(language: str, arguments: Sequence[str]) -> str:
    """Return SimGrid's compiler for these arguments; it has one for Fortran in fixed form."""
    if language == "f90" and any(argument.endswith(_FIXED_FORM) for argument in arguments):
        return "smpiff"
    return COMPILERS[language]


def become_compiler(language: str, arguments: Sequence[str]) -> NoReturn:
    """Replace this process by the compiler, with the arguments as they are."""
    path = str(paths.installed("weft-compiler"))
    os.execv(path, [path, language, *arguments])


def compile_c(source: Path, program: Path) -> None:
    """Compile one C source into a program that `weft run` takes."""
    command = [str(SimGrid().compiler("smpicc")), "-O2", str(source), "-o", str(program), "-lm"]
    result = subprocess.run(command, text=True, capture_output=True, check=False)
    if result.returncode != 0:
        raise WeftError(
            f"compiler: {' '.join(command)} ended with status {result.returncode}:"
            f"\n{result.stderr.rstrip()}"
        )
