# SPDX-License-Identifier: LGPL-2.1-only
"""MPICH 4's test programs from Debian's source package, built with their own configure and make.

The configuration is the suite's configuration for other libraries: strict MPI, processes, threads,
Fortran 77 to 2008. `FROM_MPICH` is set because `configure` otherwise omits Fortran 2008. The C++
bindings, which MPI 3.0 removed, are not built.
"""

import subprocess
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from studies.archives import renamed, with_filter
from studies.conformance.suite import (
    BUILD,
    Builder,
    CannotBuild,
    Suite,
    Test,
    Under,
    locked,
    read_list,
    unpack_once,
)
from studies.debian import download
from studies.study import DOCS, run_command
from weft.base import paths
from weft.runs.simgrid import SimGrid

# Source package mpich 4.0.2-3 of Debian 12, with the checksum from its .dsc.
_PACKAGE = "pool/main/m/mpich/mpich_4.0.2.orig.tar.xz"
_SHA256 = "b27039f964afeb6b8a3e009c56b441cbe368c26d6d6476ad3bb7190996875860"
_ROOT = "mpich-4.0.2/"
_FOLDER = "test/mpi"
# `configure` reads the version of MPI from this header.
_HEADER = "src/include/mpi.h.in"
_SETTINGS = (
    *("--enable-strictmpi", "--enable-threads=multiple", "--enable-fortran=all"),
    *("--disable-cxx", "--disable-ft-tests"),
)
# Variables of `configure` when called by MPICH.
_AS_MPICH = {"FROM_MPICH": "yes", "MPICH_ENABLE_FC": "yes"}
_FLAGS = {
    "CFLAGS": "-O0 -w",
    "FFLAGS": "-O0 -w -std=legacy",
    "FCFLAGS": "-O0 -w -std=legacy",
}
# Directory that `configure` omits under strict MPI.
_MORE = "perf"
# Built before the programs, which link with these libraries.
_LIBRARIES = ("util", "dtpools")


def _source() -> Path:
    return unpack_once(BUILD / "source-4", _unpack) / _FOLDER


def _unpack(target: Path) -> None:
    with with_filter(tarfile.open(download(_PACKAGE, _SHA256))) as archive:
        for member in archive:
            name = member.name.removeprefix(_ROOT)
            if name.startswith((f"{_FOLDER}/", _HEADER)):
                archive.extract(renamed(member, name), target)


@dataclass(frozen=True)
class _Builder:
    """Builds in one configured directory."""

    target: Path
    compilers: dict[str, str]
    """make variables that name the compilers."""

    def build(self, directory: str, program: str) -> Path | CannotBuild:
        """Return the compiled program of a directory."""
        made = self.target / directory / program
        if not made.exists():
            with locked(self.target / directory / "weft-lock"):
                said = self._make("-C", directory, program)
            if said is not None:
                return CannotBuild(said)
        return made

    def configure(self) -> None:
        """Configure the directory and build the libraries, once."""
        done = self.target / "weft-configured"
        self.target.mkdir(parents=True, exist_ok=True)
        with locked(self.target.with_suffix(".lock")):
            if done.exists():
                return
            flags = {f"WRAPPER_{name}": value for name, value in _FLAGS.items()}
            root = {"mpich_top_srcdir": str(_source().parents[1])}
            # Programs built by SimGrid's own compilers do not run outside a simulation, which makes
            # `configure` fail.
            settings = _weft_compilers() | _AS_MPICH | flags | root
            variables = [f"{name}={value}" for name, value in settings.items()]
            configure = str(_source() / "configure")
            run_command(["env", "-C", str(self.target), *variables, configure, *_SETTINGS])
            for library in _LIBRARIES:
                self._make("-k", "-C", library)
            done.touch()

    def _make(self, *arguments: str) -> str | None:
        """Run make; return its output on failure."""
        variables = [f"{name}={value}" for name, value in (self.compilers | _FLAGS).items()]
        command = ["make", "--no-print-directory", *arguments, *variables]
        result = subprocess.run(
            command,
            cwd=self.target,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        return result.stdout if result.returncode else None


def _make_builder(simgrid: SimGrid, by_weft: bool) -> Builder:
    if by_weft:
        compilers = _weft_compilers()
    else:
        names = {"CC": "smpicc", "F77": "smpiff", "FC": "smpif90"}
        compilers = {name: str(simgrid.compiler(wrapper)) for name, wrapper in names.items()}
    folder = f"4-{simgrid.prefix.name}-{'weft' if by_weft else 'stock'}"
    builder = _Builder(BUILD / folder, compilers)
    builder.configure()
    return builder


def _weft_compilers() -> dict[str, str]:
    compiler = paths.installed("weft-compiler")
    return {"CC": f"{compiler} cc", "F77": f"{compiler} f90", "FC": f"{compiler} f90"}


def _read_tests() -> list[Test]:
    """Return the tests that the configured suite runs, in list order."""
    builder = _make_builder(SimGrid(), True)
    assert isinstance(builder, _Builder)
    return [*_tests_in("", builder.target), *_tests_in(_MORE, builder.target)]


def _tests_in(directory: str, configured: Path) -> Iterator[Test]:
    """Yield the tests in a directory's list, and in the lists of its subdirectories."""
    lists = [root / directory / "testlist" for root in (configured, _source())]
    for test in read_list(next(filter(Path.exists, lists)), directory):
        if (_source() / directory / test.program).is_dir():
            yield from _tests_in(f"{directory}/{test.program}".strip("/"), configured)
        else:
            yield test


MPICH_4 = Suite(
    name="mpich-4",
    origin="the test programs of MPICH 4.0.2, from Debian's source package",
    summary=DOCS / "conformance-mpich-4.csv",
    ways=(Under.STOCK, Under.WEFT),
    tests=_read_tests,
    make_builder=_make_builder,
)
