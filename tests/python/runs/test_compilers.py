# SPDX-License-Identifier: LGPL-2.1-only
"""Compiler wrappers such as `weft cc`: as fast as a compiler, and usable by configure and CMake."""

import os
import re
import resource
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest

from tests.support import simulated
from tests.support.places import TESTS
from weft.base import paths

SCRIPTS = Path(sysconfig.get_path("scripts"))
PROGRAM = """
#include <malloc.h>
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  free(malloc(100));
  MPI_Finalize();
  return 0;
}
"""


def weft(*command: str, cwd: Path | None = None) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [str(SCRIPTS / command[0]), *command[1:]],
        text=True,
        capture_output=True,
        cwd=cwd,
        check=False,
    )


@pytest.fixture
def here(tmp_path: Path) -> Path:
    (tmp_path / "program.c").write_text(PROGRAM)
    return tmp_path


@pytest.mark.parametrize("compiler", [("weft-cc",), ("weft", "cc")])
def test_a_call_takes_little_more_than_the_compiler(here: Path, compiler: tuple[str, ...]) -> None:
    """Imports of weft took 0.4 s of CPU time; the bound allows for a slow machine."""

    def cpu_time() -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    start = cpu_time()
    assert weft(*compiler, "--version").returncode == 0
    assert cpu_time() - start < 0.2


@pytest.mark.parametrize("name", ["weft-cc", "weft-cxx", "weft-f90"])
def test_the_version_is_the_compilers(name: str) -> None:
    words = weft(name, "--version").stdout
    assert "Free Software Foundation" in words or "clang" in words


def test_the_version_says_which_functions_there_are() -> None:
    lines = weft("weft-cc", "--version").stdout.splitlines()
    start = next(place for place, line in enumerate(lines) if line.startswith("weft "))
    assert lines[start + 1].split() == ["38", "of", "38", "Collective", "Communication"]
    rows = [line.split() for line in lines[start + 1 :]]
    there, listed = (sum(int(row[column]) for row in rows[:-1]) for column in (0, 2))
    assert rows[-1] == [str(there), "of", str(listed), "all"]
    assert there == listed


@pytest.mark.parametrize("question", ["-print-prog-name=ld", "-dumpmachine", "-v"])
def test_questions_are_answered_by_the_compiler(here: Path, question: str) -> None:
    result = weft("weft-cc", question, cwd=here)
    assert result.returncode == 0, result.stderr
    assert "simgrid" not in result.stdout + result.stderr
    assert list(here.iterdir()) == [here / "program.c"]


@pytest.mark.parametrize(("name", "source"), [("weft-cc", "program.c"), ("weft-cxx", "p.cpp")])
def test_malloc_h_can_be_included(here: Path, name: str, source: str) -> None:
    (here / source).write_text(PROGRAM)
    result = weft(name, "-Wall", "-Werror", source, "-o", "program", cwd=here)
    assert result.returncode == 0, result.stderr
    command = simulated.weft_command(here / "program", ranks=2)
    assert simulated.run_command(command).status == 0


@pytest.mark.parametrize("flags", ["-O0", "-O2 -flto"])
@pytest.mark.parametrize(
    ("name", "source", "expected"),
    [
        ("weft-cc", "own_words.c", "6 3 5 42 7; 3.001 3 3"),
        ("weft-cxx", "own_words.cpp", "3 5 4; 0.020"),
    ],
)
def test_names_of_the_c_library_are_words_like_others(
    here: Path, name: str, source: str, expected: str, flags: str
) -> None:
    """They may name a program's members, parameters, variables and functions; calls go to SMPI."""
    path = TESTS / "smpi" / source
    warnings = ("-Wall", "-Wextra", "-Werror", "-Wno-lto-type-mismatch")
    result = weft(name, *flags.split(), *warnings, str(path), "-o", "program", cwd=here)
    assert result.returncode == 0, result.stderr
    ended = simulated.run_command(simulated.weft_command(here / "program", ranks=2))
    assert ended.status == 0, ended.stderr
    assert ended.lines == [expected] * 2


def test_ranks_share_memory_by_the_place_that_asks_for_it(here: Path) -> None:
    path = TESTS / "smpi" / "own_words.c"
    assert weft("weft-cc", str(path), "-o", "program", cwd=here).returncode == 0
    settings = ("smpi/shared-malloc:local", "smpi/auto-shared-malloc-thresh:500000")
    options = [word for setting in settings for word in ("--cfg", setting)]
    command = simulated.weft_command(here / "program", "share", ranks=3, options=options)
    assert simulated.run_command(command).lines == ["1 2 0", "1 2 0", "1 2 1"]


# The essence of a configure script: does the compiler work, do its programs run, how large is a
# type, does a function exist, is there MPI?
CONFIGURE = r"""
set -e
try() { "$CC" $CFLAGS -o conftest conftest.c $LIBS >conftest.out 2>&1; }
echo 'int main(void) { return 0; }' > conftest.c
"$CC" conftest.c > conftest.out 2>&1 && [ ! -s conftest.out ] && ./a.out && echo runs
echo '#include <stdio.h>' > conftest.c
echo 'int main(void) { printf("%zu", sizeof(long)); return 0; }' >> conftest.c
try && ./conftest > size && echo "long $(cat size)"
echo 'char cosh(); int main(void) { return cosh(); }' > conftest.c
LIBS=-lm; try && echo cosh
printf '#include <mpi.h>\nint main(void) { return MPI_Init(0, 0); }\n' > conftest.c
try && echo mpi
LD=$("$CC" -print-prog-name=ld)
command -v "$LD" >/dev/null && echo ld
"$CC" -E conftest.c | grep -c 'int MPI_Init' >/dev/null && echo preprocessor
printf 'CC=%s\nprogram: program.o; $(CC) $^ -o $@\n' "$CC" > Makefile
"""


def test_configure_works_with_one_word(here: Path) -> None:
    (here / "configure").write_text(CONFIGURE)
    environment = {**os.environ, "CC": str(SCRIPTS / "weft-cc"), "CFLAGS": "-g -O2"}
    environment.pop("LD_LIBRARY_PATH", None)
    result = subprocess.run(
        ["sh", "configure"], cwd=here, env=environment, text=True, capture_output=True, check=False
    )
    said = result.stdout.split("\n")
    assert said[:-1] == ["runs", "long 8", "cosh", "mpi", "ld", "preprocessor"], result
    # The make that runs the tests disables built-in rules and passes this setting on.
    alone = {name: value for name, value in os.environ.items() if name != "MAKEFLAGS"}
    subprocess.run(["make", "-s"], cwd=here, env=alone, check=True)
    assert simulated.run_command(simulated.weft_command(here / "program", ranks=2)).status == 0


CMAKE = """
cmake_minimum_required(VERSION 3.16)
project(small C)
include(CheckCSourceRuns)
include(CheckTypeSize)
check_c_source_runs("int main(void) { return 0; }" PROGRAMS_RUN)
check_type_size(long LONG)
find_package(MPI REQUIRED COMPONENTS C)
message(STATUS "runs ${PROGRAMS_RUN} long ${LONG}")
add_library(part SHARED part.c)
add_executable(program program.c)
target_link_libraries(program PRIVATE part MPI::MPI_C)
"""


@pytest.mark.slow
def test_cmake_works_with_one_word(here: Path) -> None:
    cmake = shutil.which("cmake", path=f"{SCRIPTS}:{os.environ['PATH']}")
    assert cmake is not None
    (here / "CMakeLists.txt").write_text(CMAKE)
    (here / "part.c").write_text("int part(void) { return 1; }\n")
    configure = [cmake, "-S", ".", "-B", "build", f"-DCMAKE_C_COMPILER={SCRIPTS / 'weft-cc'}"]
    result = subprocess.run(configure, cwd=here, text=True, capture_output=True, check=False)
    assert result.returncode == 0, result.stderr
    assert re.search(r"-- runs 1 long 8\n", result.stdout)
    subprocess.run([cmake, "--build", "build"], cwd=here, check=True, capture_output=True)
    program = here / "build" / "program"
    assert simulated.run_command(simulated.weft_command(program, ranks=2)).status == 0


def test_fortran_in_fixed_form_has_a_compiler_of_its_own(here: Path) -> None:
    (here / "fixed.f").write_text(
        "      PROGRAM FIXED\n      INCLUDE 'mpif.h'\n      INTEGER E\n"
        "C     A COMMENT OF THE FIXED FORM\n"
        "      CALL MPI_INIT(E)\n      CALL MPI_FINALIZE(E)\n      END\n"
    )
    result = weft("weft-f90", "fixed.f", "-o", "fixed", cwd=here)
    assert result.returncode == 0, result.stderr
    assert simulated.run_command(simulated.weft_command(here / "fixed", ranks=2)).status == 0


CALLS = """Datatypes: Type_paint
the colours (MPI 9.0): Colour_get Colour_mix
"""
"""Calls that no MPI library defines."""
MISSING = {
    "c": (
        "int MPI_Colour_get(); int MPI_Type_paint_c(); int MPI_Own();\n"
        "int main(void) { MPI_Colour_get(); MPI_Type_paint_c();\n"
        "MPI_Own(); MPI_Type_paint_c(); return 0; }\n"
    ),
    "cpp": (
        "#include <mpi.h>\n"
        "int main() { MPI_Colour_mix(nullptr, nullptr);\n"
        "MPI_Type_paint_c(0, MPI_INT); MPI_Own(); return 0; }\n"
    ),
    "f90": (
        "program p\nuse mpi\ninteger :: kind, code\n"
        "call MPI_Colour_mix(kind, code)\n"
        "call MPI_Own(code)\nend program\n"
    ),
}
PARTS = {
    "c": {
        "MPI_Colour_get, of the colours (MPI 9.0),",
        "MPI_Type_paint_c, of the calls with large counts (_c) of Datatypes,",
    },
    "cpp": {
        "MPI_Type_paint_c, of the calls with large counts (_c) of Datatypes,",
        "MPI_Colour_mix, of the colours (MPI 9.0),",
    },
    "f90": {"MPI_Colour_mix, of the colours (MPI 9.0),"},
}


@pytest.mark.parametrize(("suffix", "name"), [("c", "cc"), ("cpp", "cxx"), ("f90", "f90")])
def test_a_call_that_the_simulator_lacks_is_named_with_its_part_of_mpi(
    here: Path, suffix: str, name: str
) -> None:
    compiler = paths.installed("weft-compiler")
    installed = here / "installed"
    installed.mkdir()
    for path in compiler.parent.iterdir():
        (installed / path.name).symlink_to(path)
    (installed / "mpi-calls").unlink()
    (installed / "mpi-calls").write_text(CALLS)
    (here / f"missing.{suffix}").write_text(MISSING[suffix])
    command = [str(installed / compiler.name), name, "-w", f"missing.{suffix}", "-o", "missing"]
    result = subprocess.run(command, cwd=here, text=True, capture_output=True, check=False)
    assert result.returncode != 0
    lines = [line for line in result.stderr.splitlines() if line.startswith(f"weft {name}: ")]
    end = " is not in the MPI of the simulator (SimGrid 4.1)"
    assert {line.removesuffix(end) for line in lines} == {
        f"weft {name}: {part}" for part in PARTS[suffix]
    }
    assert "MPI_Own" in result.stderr or "mpi_own" in result.stderr


def test_messages_of_the_compiler_come_through(here: Path) -> None:
    (here / "warns.c").write_text('int main(void) { int unused; return 0; }\n#warning "seen"\n')
    result = weft("weft-cc", "-Wall", "-c", "warns.c", cwd=here)
    assert result.returncode == 0
    assert "seen" in result.stderr
    assert "unused" in result.stderr
    assert not result.stdout


def test_fortran_programs_may_have_several_sources(tmp_path: Path) -> None:
    """SimGrid's compiler appended a source without the word "program" to the one before it."""
    sources = {
        "first.F90": "! a module of a program\nmodule first\ninteger :: three = 3\nend module\n",
        "second.F90": "module second\nuse first\nend module\n",
        "main.F90": "program main\nuse second\nif (three /= 3) stop 1\nend program\n",
    }
    for name, text in sources.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    for options in (("-o", "at-once", "-lm"), ("-c",)):
        result = weft("weft-f90", *sources, *options, cwd=tmp_path)
        assert (result.returncode, result.stderr) == (0, "")
    objects = ("first.o", "second.o", "main.o")
    result = weft("weft-f90", *objects, "-o", "linked", cwd=tmp_path)
    assert (result.returncode, result.stderr) == (0, "")
    assert (tmp_path / "at-once").exists()
