# SPDX-License-Identifier: LGPL-2.1-only
"""`weft cc`, `weft cxx` and `weft f90` interpret programs as the system's compilers do."""

import re
import subprocess
import sysconfig
from pathlib import Path

import pytest

from tests.support import simulated
from tests.support.places import ROOT

SCRIPTS = Path(sysconfig.get_path("scripts"))

FORTRAN = """
real function twice(x)
  real :: x
  twice = 2 * x
end function
complex function turned(z)
  complex :: z
  turned = (0.0, 1.0) * z
end function
program functions
  use mpi
  use iso_c_binding
  implicit none
  interface
    real(c_float) function sqrtf(x) bind(c)
      import
      real(c_float), value :: x
    end function
    complex(c_float_complex) function conjf(z) bind(c)
      import
      complex(c_float_complex), value :: z
    end function
  end interface
  real, external :: half, four_times
  complex, external :: swapped, turned_back
  integer :: error
  call MPI_Init(error)
  print '(9f6.1)', half(5.0), sqrtf(16.0), four_times(1.5), conjf((1.0, 2.0)), &
    swapped((3.0, 4.0)), turned_back((5.0, 6.0))
  call MPI_Finalize(error)
end program
"""
OF_C = """
#include <complex.h>
float half_(float* x) { return *x / 2; }
float complex conjf_of(float complex z) { return conjf(z); }
float complex swapped_(float complex* z) { return cimagf(*z) + I * crealf(*z); }
float twice_(float*);
float complex turned_(float complex*);
float four_times_(float* x) { float doubled = twice_(x); return twice_(&doubled); }
float complex turned_back_(float complex* z) { return -I * turned_(z); }
"""
STATIC = """
#include <mpi.h>
#include <stdio.h>
static MPI_Comm world = MPI_COMM_WORLD;
static const struct { MPI_Comm comm; MPI_Datatype type; MPI_Op op; } table[] = {
  {MPI_COMM_SELF, MPI_INT, MPI_SUM}, {MPI_COMM_WORLD, MPI_DOUBLE, MPI_MAX}};
static MPI_Info environment = MPI_INFO_ENV;
static MPI_Errhandler handlers[] = {MPI_ERRORS_ABORT, MPI_ERRORS_RETURN, MPI_ERRORS_ARE_FATAL};
int main(int argc, char** argv)
{
  int rank, size, alone, sum = 0, keys, same;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(world, &rank);
  MPI_Comm_size(table[1].comm, &size);
  MPI_Comm_size(table[0].comm, &alone);
  MPI_Allreduce(&rank, &sum, 1, table[0].type, table[0].op, table[0].comm);
  MPI_Info_get_nkeys(environment, &keys);
  MPI_Comm_compare(world, MPI_COMM_WORLD, &same);
  printf("%d of %d, self %d sum %d, %d%d%d\\n", rank, size, alone, sum, same == MPI_IDENT,
         MPI_Comm_f2c(MPI_Comm_c2f(world)) == MPI_COMM_WORLD,
         MPI_Comm_f2c(MPI_Comm_c2f(table[0].comm)) == MPI_COMM_SELF);
  MPI_Comm_set_errhandler(world, handlers[0]);
  if (argc > 1)
    MPI_Send(&rank, 1, MPI_INT, size, 0, world);
  MPI_Finalize();
  return 0;
}
"""
CONSTANT = """
#include <mpi.h>
constexpr MPI_Comm comms[] = {MPI_COMM_WORLD, MPI_COMM_SELF, MPI_COMM_NULL};
constexpr MPI_Datatype types[] = {MPI_INT, MPI_CXX_BOOL, MPI_PACKED, MPI_DATATYPE_NULL};
constexpr MPI_Op ops[] = {MPI_SUM, MPI_OP_NULL};
constexpr MPI_Info infos[] = {MPI_INFO_ENV, MPI_INFO_NULL};
constexpr MPI_Errhandler handlers[] = {MPI_ERRORS_ABORT, MPI_ERRORS_ARE_FATAL};
constexpr MPI_Group groups[] = {MPI_GROUP_EMPTY, MPI_GROUP_NULL};
"""
WORDS = """
#include <mpi.h>
static int link(int from, int to) { return 10 * from + to; }
static int pause(int count) { return count + 1; }
static double log_(int x) { return x; }
static int sleep, SEED = 3, assert = 4, xbt_free = 5, ssize_t = 6;
int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  int wrong = link(1, 2) != 12 || pause(1) != 2 || log_(1) != 1 || sleep != 0;
  MPI_Finalize();
  return wrong || SEED + assert + xbt_free + ssize_t != 18;
}
"""
CHECKS = """
#include <assert.h>
#include <mpi.h>
#include <stdio.h>
int main(int argc, char** argv)
{
  int evaluated = 0;
  MPI_Init(&argc, &argv);
  assert(++evaluated == 7);
  printf("%d\\n", evaluated);
  MPI_Finalize();
  return 0;
}
"""
PORTABLE = """
#include <mpi.h>
#ifdef _GNU_SOURCE
#error "the program's feature macros"
#endif
#include <string.h>
int is_posix(void) { char text[99]; return strerror_r(2, text, sizeof text) + 1; }
int main(void) { return 0; }
"""
ENDED = (
    "#include <mpi.h>\nint main() { MPI_Init(0, 0); MPI_Barrier(MPI_COMM_WORLD); MPI_Finalize(); }"
)
WRAPPER = """
#include <mpi.h>
#include <stdio.h>
int MPI_Barrier(MPI_Comm comm) { printf("wrapped\\n"); return PMPI_Barrier(comm); }
"""


def call(name: str, *arguments: str, cwd: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [str(SCRIPTS / name), *arguments], text=True, capture_output=True, cwd=cwd, check=False
    )


def built(where: Path, name: str, source: str, text: str, *flags: str) -> Path:
    (where / source).write_text(text)
    program = Path(source).stem
    result = call(name, source, *flags, "-o", program, cwd=where)
    assert result.returncode == 0, result.stderr
    return where / program


def lines(program: Path, *arguments: str, ranks: int = 1) -> list[str]:
    ended = simulated.run_command([*simulated.weft_command(program, ranks=ranks), *arguments])
    assert ended.status == 0, ended.stderr
    return ended.lines


def test_functions_of_fortran_and_c_call_each_other(tmp_path: Path) -> None:
    (tmp_path / "of_c.c").write_text(OF_C)
    assert call("weft-cc", "-c", "of_c.c", cwd=tmp_path).returncode == 0
    program = built(tmp_path, "weft-f90", "functions.f90", FORTRAN, "of_c.o", "-lm")
    numbers = [2.5, 4.0, 6.0, 1.0, -2.0, 4.0, 3.0, 5.0, 6.0]
    assert [float(word) for word in lines(program)[0].split()] == numbers


def test_handles_initialize_static_variables(tmp_path: Path) -> None:
    program = built(tmp_path, "weft-cc", "static.c", STATIC)
    assert sorted(lines(program, ranks=3)) == [
        f"{rank} of 3, self 1 sum {rank}, 111" for rank in range(3)
    ]
    ended = simulated.run_command([*simulated.weft_command(program, ranks=3), "error"])
    assert ended.status != 0
    assert "MPI_Abort" in ended.stderr


def test_each_job_has_its_world_in_static_variables(tmp_path: Path) -> None:
    built(tmp_path, "weft-cc", "static.c", STATIC)
    job = '[[jobs]]\nname = "{}"\nranks = {}\nprogram = "./static"\n'
    (tmp_path / "jobs.toml").write_text(job.format("one", 1) + job.format("two", 2))
    result = call("weft", "run", "--fabric", "tofino-4", "--jobs", "jobs.toml", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    found = re.findall(r"(\d of \d, self 1 sum \d), 1", result.stdout)
    assert sorted(found) == ["0 of 1, self 1 sum 0", "0 of 2, self 1 sum 0", "1 of 2, self 1 sum 1"]


def test_handles_are_constants_of_cxx(tmp_path: Path) -> None:
    (tmp_path / "constant.cpp").write_text(CONSTANT)
    result = call("weft-cxx", "-std=c++17", "-c", "constant.cpp", cwd=tmp_path)
    assert result.returncode == 0, result.stderr


def test_shared_programs_have_no_handles_of_a_rank(tmp_path: Path) -> None:
    built(tmp_path, "weft-cc", "static.c", STATIC)
    command = ("run", "--no-privatize", "--fabric", "tofino-4", "-n", "2", "--", "./static")
    result = call("weft", *command, cwd=tmp_path)
    assert result.returncode == 2
    assert "MPI_COMM_SELF" in result.stderr
    assert "--no-privatize" in result.stderr


@pytest.mark.parametrize("standard", ["c89", "c17"])
def test_mpi_h_declares_mpi_alone(tmp_path: Path, standard: str) -> None:
    (tmp_path / "empty.c").write_text("")
    (tmp_path / "header.c").write_text("#include <mpi.h>\n")
    flags = (f"-std={standard}", "-pedantic-errors")
    macros = [
        set(
            re.findall(
                r"#define (\w+)", call("weft-cc", *flags, "-E", "-dM", file, cwd=tmp_path).stdout
            )
        )
        for file in ("empty.c", "header.c")
    ]
    result = call("weft-cc", *flags, "-c", "-aux-info", "functions", "header.c", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    functions = re.findall(r"(\w+) \(.*\);", (tmp_path / "functions").read_text())
    assert len(functions) > 900
    words = re.sub(r"\b(struct|enum) \w+|\{[^}]*\}|\([^*()][^()]*\)", "", preprocessed(tmp_path))
    types = re.findall(r"(\w+)\)?;", " ".join(re.findall(r"typedef [^;]*;", words)))
    assert "MPI_Comm" in types
    names = {*(macros[1] - macros[0]), *functions, *types}
    allowed = re.compile(r"P?MPI_|MPIX_|_[A-Z_]")
    assert sorted(name for name in names if not allowed.match(name)) == []


def preprocessed(where: Path) -> str:
    return call("weft-cc", "-E", "-P", "header.c", cwd=where).stdout


def test_programs_may_use_names_of_the_c_library(tmp_path: Path) -> None:
    lines(built(tmp_path, "weft-cc", "words.c", WORDS, "-fno-builtin", "-Wall", "-Werror"))


def test_assertions_are_those_of_c(tmp_path: Path) -> None:
    assert lines(built(tmp_path, "weft-cc", "checks.c", CHECKS, "-DNDEBUG")) == ["0"]
    program = built(tmp_path, "weft-cc", "checks.c", CHECKS)
    ended = simulated.run_command(simulated.weft_command(program, ranks=1))
    assert "checks.c:9: main: Assertion `++evaluated == 7' failed." in ended.stderr


def test_feature_macros_are_the_programs(tmp_path: Path) -> None:
    flags = ("-std=c11", "-D_POSIX_C_SOURCE=200809L", "-Werror")
    built(tmp_path, "weft-cc", "portable.c", PORTABLE, *flags)


def test_libraries_may_leave_symbols_to_programs(tmp_path: Path) -> None:
    text = "extern int offset; int shifted(void) { return offset; }"
    built(tmp_path, "weft-cc", "plugin.c", text, "-shared", "-fPIC")
    (tmp_path / "program.c").write_text("extern int offset; int main(void) { return offset; }")
    result = call("weft-cc", "program.c", "-o", "program", cwd=tmp_path)
    assert result.returncode != 0
    assert "undefined reference to `offset'" in result.stderr


def test_wrappers_of_mpi_are_found_in_archives(tmp_path: Path) -> None:
    (tmp_path / "wrapper.c").write_text(WRAPPER)
    assert call("weft-cc", "-c", "wrapper.c", cwd=tmp_path).returncode == 0
    subprocess.run(["ar", "rcs", "libwrapper.a", "wrapper.o"], cwd=tmp_path, check=True)
    program = built(tmp_path, "weft-cc", "ended.c", ENDED, "-L.", "-lwrapper")
    assert lines(program, ranks=2) == ["wrapped"] * 2


@pytest.mark.parametrize("name", ["cc", "cxx", "f90"])
def test_the_documented_flags_are_those_passed(tmp_path: Path, name: str) -> None:
    source = {"cc": "a.c", "cxx": "a.cpp", "f90": "a.f90"}[name]
    (tmp_path / source).write_text("")
    passed = call(f"weft-{name}", "-show", source, "-o", "a", cwd=tmp_path).stdout.split()[1:]
    paths = re.compile(r"-[IL]\.?/|-Wl,/|-o|-isystem|/|a\.|a$|-l:")
    flags = {word for word in passed if not paths.match(word)}
    page = (ROOT / "docs/compiling.md").read_text()
    table = page.partition("## Flags")[2].partition("\n## ")[0]
    rows = [row.split("|")[1:4] for row in table.splitlines() if row.startswith("| `")]
    documented = {
        flag
        for flags_of_row, compilers, fate in rows
        for flag in re.findall(r"`([^`]+)`", flags_of_row)
        if name in compilers.split(", ") or name in compilers.replace(" ", "").split(",")
        if fate.strip() != "dropped"
    }
    assert documented == flags
