# SPDX-License-Identifier: LGPL-2.1-only
"""Sources of MPI programs, made into what can be run."""

import hashlib
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from weft.api.asking import PathLike, call, existing, words
from weft.base import inputs, paths
from weft.base.errors import WeftError
from weft.base.output import check_writable
from weft.runs.toolchain import LANGUAGES, call_tool

DEFAULT_FLAGS = ("-O2",)


@call
def compile(
    source: PathLike, output: PathLike | None = None, *, flags: Sequence[str] = DEFAULT_FLAGS
) -> Path:
    """Compile an MPI program for the simulator, as `weft cc`, `weft cxx` and `weft f90` do.

    Args:
        source: A file of C, C++ or Fortran; its ending says which: .c, .cpp, .cc, .cxx, .f, .f77,
            .f90.
        output: The program to write. By default it goes into the user's cache, by the source's
            path and the flags, and takes the place of what was compiled from it before.
        flags: What the compiler is told.

    Returns:
        The program, which `weft.run` takes.

    Raises:
        WeftError: The file has another ending, or does not compile; the text has the compiler's
            words.
    """
    file = existing("source", source)
    if file.suffix not in LANGUAGES:
        raise WeftError(f"source: found '{file}'; allowed are files of {', '.join(LANGUAGES)}")
    options = words("flags", flags)
    target = _place(file, options) if output is None else Path(output)
    target.parent.mkdir(parents=True, exist_ok=True)
    inputs.declare_inputs({file: "source names to be read"})
    if output is None:  # a file of weft's own, which calls in other threads may replace meanwhile
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


def is_source(program: PathLike) -> bool:
    """Whether something is a file to compile, by its ending."""
    return Path(program).suffix in LANGUAGES


def _place(source: Path, flags: Sequence[str]) -> Path:
    """Return where the program goes: the same for all runs, so that records are alike."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    text = "\0".join([str(source.resolve()), *flags])
    digest = hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()[:16]
    return cache / "weft" / "programs" / digest / source.stem
