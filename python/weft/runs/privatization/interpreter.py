# SPDX-License-Identifier: LGPL-2.1-only
"""Python as an MPI program: each rank gets its own interpreter.

An interpreter is an executable, which cannot be loaded once per rank, but its shared library can.
weft therefore links a launcher with this library by `weft cc`; the launcher calls the interpreter's
main function. Each rank gets a copy of the library and of the modules that it loads.
"""

import hashlib
import json
import os
import re
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from weft.base import inputs, paths
from weft.base.file_cache import kept

_QUESTION = """
import os, sysconfig
value = sysconfig.get_config_var
if value("Py_ENABLE_SHARED"):
    print(os.path.realpath(os.path.join(value("LIBDIR"), value("INSTSONAME"))))
"""
_SOURCE = """
int Py_BytesMain(int count, char **words);
int main(int count, char **words)
{
  words[0] = NAME; /* by which Python finds its modules and its virtual environment */
  return Py_BytesMain(count, words);
}
"""
_FOLDER = "interpreters"
_SYSTEM = tuple(map(Path, ("/lib", "/lib64", "/usr/lib", "/usr/lib64")))
"""Folders whose libraries are shared by all ranks (`libraries.py`), so an interpreter there has
only one state.
"""
_TIMEOUT_S = 20

Call = Callable[[Sequence[str]], None]
"""Runs a build tool."""


def launcher_of(python: Path, call: Call) -> Path | None:
    """Return the launcher of an interpreter for each rank; `call` links it when first needed.

    The result is None if the file is not a Python interpreter with a shared library that can be
    copied per rank.
    """
    if not re.fullmatch(r"python[\d.]*", python.name):
        return None
    library = _library(python)
    return None if library is None else _made(python.absolute(), library, call)


def is_launcher(program: Path) -> bool:
    """Return True for a program that `launcher_of` created."""
    return program.parent.parent == _cache()


@kept
def _library(python: Path) -> Path | None:
    """Return the interpreter's shared library."""
    try:
        answer = subprocess.run(
            [str(python.absolute()), "-I", "-S", "-c", _QUESTION],
            stdin=subprocess.DEVNULL,
            text=True,
            errors="replace",
            capture_output=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    library = Path(answer.stdout.strip())
    own = not any(library.is_relative_to(folder) for folder in _SYSTEM)
    return library if answer.returncode == 0 and library.is_file() and own else None


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "weft" / _FOLDER


def _made(python: Path, library: Path, call: Call) -> Path:
    """Link the launcher, unless an earlier run with this weft already did."""
    compiler = paths.installed("weft-compiler")
    about = f"{python}\0{library}\0{compiler}\0{compiler.stat().st_mtime_ns}\0{_SOURCE}"
    digest = hashlib.sha256(about.encode(errors="surrogateescape")).hexdigest()[:16]
    target = _cache() / digest / "python3"
    if target.exists():
        return target
    with inputs.unobserved():
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".weft-", dir=target.parent) as beside:
            source, made = Path(beside, "main.c"), Path(beside, "python3")
            source.write_text(f"#define NAME {json.dumps(str(python))}\n{_SOURCE}")
            where = f"-Wl,-rpath,{library.parent}"
            words = ["cc", "-O2", str(source), str(library), where, "-o", str(made)]
            call([str(compiler), *words])
            made.replace(target)
    return target
