# SPDX-License-Identifier: LGPL-2.1-only
"""Compilation of MPI programs."""

import hashlib
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from weft.api.input_checks import PathLike, call, existing, words
from weft.base import inputs, paths
from weft.base.errors import WeftError
from weft.base.output import check_writable
from weft.runs import toolchain
from weft.runs.toolchain import LANGUAGES, call_tool

__all__ = ["compile", "mpi_commands"]

DEFAULT_FLAGS = ("-O2",)


@call
def compile(
    source: PathLike, output: PathLike | None = None, *, flags: Sequence[str] = DEFAULT_FLAGS
) -> Path:
    """Compile an MPI program for the simulator, as `weft cc`, `weft cxx` and `weft f90` do.

    Args:
        source: A file in C, C++ or Fortran, according to its suffix: .c, .cpp, .cc, .cxx, .f, .f77,
            .f90.
        output: The program to write. By default, the program is written to the user's cache under a
            key of source path and flags, and replaces earlier results.
        flags: Compiler flags.

    Returns:
        The program, for `weft.run`.

    Raises:
        WeftError: The file has another suffix, or does not compile; the text contains the
            compiler's output.
    """
    file = existing("source", source)
    if file.suffix not in LANGUAGES:
        raise WeftError(f"source: found '{file}'; allowed are files of {', '.join(LANGUAGES)}")
    options = words("flags", flags)
    target = _place(file, options) if output is None else Path(output)
    target.parent.mkdir(parents=True, exist_ok=True)
    inputs.declare_inputs({file: "source names to be read"})
    if output is None:  # in the cache, where other threads may replace the program
        with inputs.unobserved():
            check_writable("output", target)
    else:
        check_writable("output", target)
    with tempfile.TemporaryDirectory(prefix=".weft-", dir=target.parent) as beside:
        made = Path(beside, target.name)
        compiler = [str(paths.installed("weft-compiler")), LANGUAGES[file.suffix]]
        call_tool("compiler", [*compiler, *options, str(file), "-o", str(made), "-lm"])
        made.replace(target)
    return target


@call
def mpi_commands() -> Path:
    """Return the directory of `mpicc`, `mpiexec` and other MPI commands, as `weft env` does.

    Put it first in the `PATH` of a build system or a test suite that expects an MPI library.

    Returns:
        The directory, which contains nothing else.
    """
    return toolchain.mpi_commands()


def is_source(program: PathLike) -> bool:
    """Return true if the file's suffix is one of a source."""
    return Path(program).suffix in LANGUAGES


def _place(source: Path, flags: Sequence[str]) -> Path:
    """Return the program's path, which is stable across runs so that records are identical."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    text = "\0".join([str(source.resolve()), *flags])
    digest = hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()[:16]
    return cache / "weft" / "programs" / digest / source.stem
