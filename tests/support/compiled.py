# SPDX-License-Identifier: LGPL-2.1-only
"""Programs for the tests, compiled once for all tests, workers and later runs.

Each program is in a directory of build/tests/programs, named by a checksum of all inputs: the
sources, included files next to them, the compiler and its flags.
"""

import fcntl
import hashlib
import os
import shlex
import shutil
import subprocess
import sysconfig
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from tests.support.places import ROOT
from weft.base import paths
from weft.runs.simgrid import SimGrid
from weft.runs.toolchain import OF_SOURCES

FORTRAN = (".f", ".f90")
CACHE = ROOT / "build" / "tests" / "programs"
BY_WEFT = {
    *("matched.c", "persistent.c", "planned.c", "partitioned.c", "large_counts.c", "late.c"),
    *("request_states.c", "intercommunicators.c", "resources.c", "awkward_forms.c"),
    "random_programs",
    *("error_codes.c", "type_functions.c", "sessions.c", "tools.c"),
    *("small_functions.c", "large_types.c", "large_statuses.c", "message_forms.c"),
    *("type_contents.c", "object_names.c", "mpi_4.c", "complex_products.c"),
    *("dynamic.c", "mpi_4_0_changes.c", "mpi_4_1_changes.c", "mpi_5_0_changes.c"),
}
"""Programs that use functions or constants which only weft's mpi.h declares."""


def program(source: Path, flags: Sequence[str] = ("-O1", "-g")) -> Path:
    """Return the program that SimGrid's compiler builds from a source, or a directory's C files.

    `weft f90` compiles Fortran, with weft's modules.
    """
    sources = sorted(source.glob("*.c")) if source.is_dir() else [source]
    modules: list[Path] = []
    if source.suffix.lower() in FORTRAN:
        compiler = str(Path(sysconfig.get_path("scripts"), "weft-f90"))
        modules = sorted(paths.installed("fortran").glob("mpi*"))
        (CACHE / "modules").mkdir(parents=True, exist_ok=True)
        flags = (*flags, f"-J{CACHE / 'modules'}")
    elif source.name in BY_WEFT:
        compiler = str(Path(sysconfig.get_path("scripts"), "weft-cc"))
        modules = sorted(paths.installed("include").rglob("*.h"))
    else:
        compiler = str(SimGrid().compiler(OF_SOURCES[sources[0].suffix]))
    if source.suffix == ".f":
        # for MPI_IN_PLACE, which mpif.h declares as a procedure, and for numbers passed as arrays
        flags = ("-std=legacy", "-w")
    command = [compiler, *flags, *map(str, sources), "-lm"]
    return made(source.stem, sources, command, modules)


def example(name: str) -> Path:
    """Return a shipped example, compiled by weft."""
    return program(paths.example(f"{name}.c"), ("-O2",))


def with_simgrid(source: Path) -> Path:
    """Return the program that the system's compiler builds from a C++ source with SimGrid calls."""
    prefix = paths.simgrid_prefix()
    library = next(prefix.glob("lib*/libsimgrid.so")).parent
    where = [f"-I{prefix}/include", f"-L{library}", f"-Wl,-rpath,{library}"]
    compiler = os.environ.get("CXX", "c++")
    command = [compiler, "-std=c++17", "-O0", *where, str(source), "-lsimgrid"]
    return made(source.stem, [source], command)


def made(
    name: str, sources: Sequence[Path], command: Sequence[str], others: Sequence[Path] = ()
) -> Path:
    """Return the file that `command -o FILE` builds from the sources, which depend on `others`."""
    folder = CACHE / _checksum([*sources, *others], command)[:16]
    target = folder / name
    if not target.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with _locked(folder):
            if not target.exists():
                _make(command, target)
    return target


def _checksum(sources: Sequence[Path], command: Sequence[str]) -> str:
    folders = {source.parent for source in sources}
    headers = {header for folder in folders for header in folder.glob("*.h")}
    found = hashlib.sha256(f"{shlex.join(command)}\n{_identity(command[0])}".encode())
    for path in sorted({*sources, *headers}):
        found.update(f"{path}\n".encode() + path.read_bytes())
    return found.hexdigest()


@cache
def _identity(compiler: str) -> str:
    """Return version and modification time of the compiler and of SimGrid."""
    version = subprocess.run([compiler, "--version"], text=True, capture_output=True, check=True)
    library = SimGrid().launcher.parent.parent / "libsimgrid.so"
    path = Path(shutil.which(compiler) or compiler)
    made_at = [one.stat().st_mtime_ns for one in (path, library)]
    return f"{version.stdout}{SimGrid().prefix} {made_at}"


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Lock a folder against other processes; the lock ends with the process."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _make(command: Sequence[str], target: Path) -> None:
    """Build next to the target and rename, so that interruptions leave no partial file."""
    unfinished = target.with_suffix(".unfinished")
    result = subprocess.run(
        [*command, "-o", str(unfinished)], text=True, capture_output=True, check=False
    )
    assert result.returncode == 0, result.stderr
    unfinished.replace(target)
