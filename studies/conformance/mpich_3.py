# SPDX-License-Identifier: LGPL-2.1-only
"""MPICH 3's test programs, as in SimGrid's source distribution.

The compilation follows SimGrid's CMakeLists.txt next to the programs, but without optimisation,
which halves the compile time; run time is dominated by SimGrid.
"""

import struct
import subprocess
import tarfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

from studies.archives import renamed, with_filter
from studies.conformance import suite
from studies.conformance.suite import BUILD, CannotBuild, Suite, Test, Under, unpack_once
from studies.study import DOCS, ROOT
from weft.base import paths
from weft.runs.simgrid import SimGrid
from weft.runs.toolchain import OF_SOURCES

_FOLDER = "teshsuite/smpi/mpich3-test"
# Programs whose source has another name, or with several sources.
_SOURCES = {
    "bcast_full": ("bcast.c",),
    "bcast_min_datatypes": ("bcast.c",),
    "bcast_comm_world": ("bcast.c",),
    "reduce_mpich": ("reduce.c",),
    "transpose3_shm": ("transpose3.c",),
    "c2f2cf": ("c2f2cf.f", "c2f2c.c"),
    "ctypesinf": ("ctypesinf.f", "ctypesfromc.c"),
    "c2f2cwinf": ("c2f2cwinf.f", "c2f2cwin.c"),
    "c2f2cwinf90": ("c2f2cwinf90.f90", "c2f902cwin.c"),
    "greqf": ("greqf.f", "dummyf.f"),
    "greqf90": ("greqf90.f90", "dummyf90.f90"),
}
_DEFINITIONS = {
    "bcast_min_datatypes": ("-DBCAST_MIN_DATATYPES_ONLY",),
    "bcast_comm_world": ("-DBCAST_COMM_WORLD_ONLY",),
    "hindexed_block": ("-DTEST_HINDEXED_BLOCK",),
    "transpose3_shm": ("-DUSE_WIN_ALLOCATE",),
}
_RMA_DEFINITIONS = (
    *(
        "-DHAVE_STDLIB_H",
        "-DHAVE_UNISTD_H",
        "-DHAVE_STRING_H",
        "-DUSE_STDARG",
        "-DHAVE_LONG_DOUBLE",
    ),
    *("-DHAVE_PROTOTYPES", "-DHAVE_SIGNAL_H", "-DHAVE_SIGACTION", "-DHAVE_SLEEP", "-DHAVE_SYSCONF"),
)
_FLAGS = {
    # SimGrid's copy uses its own macros, which SimGrid's mpi.h provides and weft's does not.
    ".c": ("-O0", "-w", *("-include", "smpi/smpi.h", "-include", "xbt/base.h")),
    ".f": ("-O0", "-w", "-std=legacy"),
    ".f90": ("-O0", "-w", "-std=legacy"),
}
# Utilities shared by all programs of a language.
_UTILITIES = {
    ".c": tuple(
        f"util/{name}.c" for name in ("dtypes", "mtest", "mtest_datatype", "mtest_datatype_gen")
    ),
    ".f": ("f77/util/mtestf.f",),
    ".f90": ("f90/util/mtestf90.f90",),
}


def source_tree() -> Path:
    """Return the suite's directory, unpacked from the tarball that the set-up stored."""
    return unpack_once(BUILD / "source", _unpack)


def _unpack(target: Path) -> None:
    with with_filter(tarfile.open(_tarball())) as archive:
        archive.extractall(target, members=_members(archive))
    _configure(target)


def _tarball() -> Path:
    command = [str(ROOT / "setup" / "simgrid"), "source"]
    answer = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return Path(answer.stdout.splitlines()[-1])


def _members(archive: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    """Yield the suite's files, with leading directories stripped."""
    for member in archive:
        _, found, path = member.name.partition(f"/{_FOLDER}/")
        if found:
            yield renamed(member, path)


def _configure(root: Path) -> None:
    """Generate the file that CMake configures, which defines the size of an address in Fortran."""
    template = root / "f77" / "datatype" / "typeaints.h.in"
    text = template.read_text(encoding="utf-8")
    made = text.replace("@CMAKE_SIZEOF_VOID_P@", str(struct.calcsize("P")))
    template.with_suffix("").write_text(made, encoding="utf-8")


def read_tests() -> list[Test]:
    """Return the tests of all directories, in list order."""
    root = source_tree()
    directories = (path.parent.relative_to(root) for path in sorted(root.rglob("testlist")))
    return [test for directory in directories for test in read_list(str(directory))]


def read_list(directory: str) -> list[Test]:
    """Return the tests of a directory, including tests that SimGrid disables."""
    place = source_tree() / directory
    tests = suite.read_list(place / "testlist", directory, with_disabled=True)
    return [test for test in tests if not (place / test.program).is_dir()]


@dataclass(frozen=True)
class _Builder:
    """Builds from one source tree into one directory."""

    root: Path
    target: Path
    simgrid: SimGrid
    by_weft: bool
    """True to use `weft cc`, which declares the functions that weft adds to SMPI.

    Fortran is always compiled by SimGrid: the modules of `weft f90` refuse programs that pass
    arrays for scalars.
    """
    lock: Lock = field(default_factory=Lock)

    def build(self, directory: str, program: str) -> Path | CannotBuild:
        """Return the compiled program of a directory."""
        target = self.target / "bin" / directory / program
        if target.exists():
            return target
        try:
            self._compile(directory, program, target)
        except subprocess.CalledProcessError as error:
            return CannotBuild(f"{' '.join(error.cmd)}\n{error.stderr}")
        return target

    def _compile(self, directory: str, program: str, target: Path) -> None:
        sources = [self.root / directory / name for name in self._sources(directory, program)]
        suffix = sources[0].suffix
        flags = (*_FLAGS[suffix], *_DEFINITIONS.get(program, ()))
        if directory == "rma":
            flags += _RMA_DEFINITIONS
        objects = self._utilities(suffix)
        target.parent.mkdir(parents=True, exist_ok=True)
        unfinished = target.with_name(f".{program}.unfinished")
        self._run(
            suffix, *flags, *map(str, sources), *map(str, objects), "-o", str(unfinished), "-lm"
        )
        unfinished.rename(target)

    def _sources(self, directory: str, program: str) -> Sequence[str]:
        suffix = {"f77": ".f", "f90": ".f90"}.get(directory.partition("/")[0], ".c")
        if (self.root / directory / f"{program}.c").exists():
            suffix = ".c"
        return _SOURCES.get(program, (program + suffix,))

    def _utilities(self, suffix: str) -> list[Path]:
        """Compile the functions shared by all programs of a language."""
        with self.lock:
            return [self._object(self.root / source) for source in _UTILITIES[suffix]]

    def _object(self, source: Path) -> Path:
        target = self.target / "util" / f"{source.name}.o"
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            unfinished = target.with_name(f"unfinished-{target.name}")
            flags = _FLAGS[source.suffix]
            self._run(source.suffix, *flags, "-c", str(source), "-o", str(unfinished))
            unfinished.rename(target)
        return target

    def _run(self, suffix: str, *arguments: str) -> None:
        if self.by_weft and suffix == ".c":
            compiler = [str(paths.installed("weft-compiler")), "cc"]
        else:
            compiler = [str(self.simgrid.compiler(OF_SOURCES[suffix]))]
        command = [*compiler, f"-I{self.root / 'include'}", *arguments]
        subprocess.run(command, text=True, capture_output=True, check=True)


def make_builder(simgrid: SimGrid, by_weft: bool) -> suite.Builder:
    """Return a builder with a directory for each version of SimGrid and each C compiler."""
    folder = f"{simgrid.prefix.name}-{'weft' if by_weft else 'stock'}"
    return _Builder(source_tree(), BUILD / folder, simgrid, by_weft)


MPICH_3 = Suite(
    name="mpich-3",
    origin="MPICH 3's test programs, as SimGrid's source distribution 4.1 has them",
    summary=DOCS / "conformance.csv",
    ways=tuple(Under),
    tests=read_tests,
    make_builder=make_builder,
)
