# SPDX-License-Identifier: LGPL-2.1-only
"""Build systems link main from libraries, run compiled programs, and look for MPI commands."""

import json
import os
import pty
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

import weft
from tests.support import simulated
from weft.base import paths

SCRIPTS = Path(sysconfig.get_path("scripts"))
COMMANDS = paths.installed("bin")

START = """
#include <mpi.h>
int run(int, char **);
int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  const int status = run(argc, argv);
  MPI_Finalize();
  return status;
}
"""
RUN = """
#include <stdio.h>
int run(int argc, char **argv)
{
  printf("ran with %d arguments, the last %s\\n", argc - 1, argv[argc - 1]);
  return 0;
}
"""
FORTRAN_START = """
program start
  use mpi
  integer :: code
  call MPI_Init(code)
  call work()
  call MPI_Finalize(code)
end program
"""
FORTRAN_RUN = """
subroutine work()
  character(len=9) :: last
  call get_command_argument(command_argument_count(), last)
  print '(a, i0, 2a)', 'ran with ', command_argument_count(), ' arguments, the last ', trim(last)
end subroutine
"""
NO_MPI_C = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <getopt.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static int ready;
__attribute__((constructor)) static void prepare(void) { ready = 1; }
static void at_end(void) { puts("at exit"); fflush(stdout); }
static void handler(int number) { printf("signal %d\n", number); }
int main(int argc, char **argv)
{
  struct stat here;
  struct timeval now;
  struct timespec moment;
  const time_t epoch = 86400;
  int option, file = open("made", O_CREAT | O_RDWR, 0644);
  atexit(at_end);
  printf("%d %d %d\n", ready, file >= 0, write(file, "x", 1) == 1);
  const int found = stat("made", &here);
  printf("%d %d\n", found, (int)here.st_size);
  srand(7);
  printf("%d %ld\n", rand(), random());
  signal(SIGUSR1, handler);
  kill(getpid(), SIGUSR1);
  setenv("TZ", "UTC", 1);
  putenv("OWN=word");
  printf("%s %s %d\n", getenv("OWN"), getenv("TZ"), localtime(&epoch)->tm_mday);
  printf("%d %d %d\n", gettimeofday(&now, 0), clock_gettime(CLOCK_REALTIME, &moment), sleep(0));
  while ((option = getopt(argc, argv, "a:b")) != -1)
    printf("%c %s\n", option, optarg ? optarg : "");
  char *text = strdup("text");
  text = realloc(text, 1 << 20);
  char *zeros = calloc(3, 5);
  void *aligned;
  printf("%s %d %d\n", text, zeros[14], posix_memalign(&aligned, 64, 100));
  free(text), free(zeros), free(aligned);
  char words[] = "a b";
  printf("%s %s %d\n", strtok(words, " "), setlocale(LC_ALL, "C"), argc);
  exit(3);
}
"""
NO_MPI_CXX = r"""
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
struct Static {
  Static() { std::cout << "begins\n"; }
  ~Static() { std::cout << "ends" << std::endl; }
};
static Static object;
int main()
{
  std::ofstream("made.txt") << 42;
  int number = 0;
  std::ifstream("made.txt") >> number;
  std::map<std::string, std::unique_ptr<int>> map;
  map["one"] = std::make_unique<int>(number);
  std::thread([&] { ++*map["one"]; }).join();
  try {
    throw std::runtime_error("thrown");
  } catch (const std::exception& error) {
    std::cout << error.what() << ' ' << *map["one"] << '\n';
  }
  try {
    std::cout << new char[static_cast<std::size_t>(-1) / 4] << '\n';
  } catch (const std::bad_alloc&) {
    std::cerr << "no memory\n";
  }
  std::exit(4);
}
"""
NO_MPI_FORTRAN = """
      PROGRAM PLAIN
      INTEGER I
      REAL X
      OPEN (10, FILE='made.dat')
      WRITE (10, *) 42
      REWIND (10)
      READ (10, *) I
      CLOSE (10, STATUS='DELETE')
      CALL RANDOM_NUMBER(X)
      WRITE (*, *) I, X .LT. 1.0, IARGC()
      STOP 5
      END
"""
ALONE = """
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
  int ranks, character;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  while ((character = getchar()) != EOF)
    putchar(character);
  printf("%s %d %d\\n", argv[argc - 1], argc, ranks);
  MPI_Finalize();
  return argc;
}
"""


def call(
    *command: str, cwd: Path, text: str = "", environment: Mapping[str, str] | None = None
) -> "subprocess.CompletedProcess[str]":
    """Run a command with weft's commands in PATH, and without a path to weft's libraries."""
    path = f"{COMMANDS}:{SCRIPTS}:{os.environ['PATH']}"
    clean = {
        name: value
        for name, value in os.environ.items()
        if name not in ("LD_LIBRARY_PATH", "MAKEFLAGS", "CC", "CXX", "FC")
    }
    return subprocess.run(
        command,
        cwd=cwd,
        env={**clean, "PATH": path, **(environment or {})},
        input=text,
        text=True,
        capture_output=True,
        check=False,
    )


def done(*command: str, cwd: Path) -> str:
    result = call(*command, cwd=cwd)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text)


LINKED: dict[str, Sequence[str]] = {
    "archive": (
        "weft-cc -c start.c run.c",
        "ar rcs libstart.a start.o",
        "weft-cc run.o libstart.a -o program",
    ),
    "option -l": (
        "weft-cc -c start.c run.c",
        "ar rcs libstart.a start.o",
        "weft-cc run.o -L. -lstart -o program",
    ),
    "shared library": (
        "weft-cc -shared -fPIC start.c -o libstart.so",
        "weft-cc run.c -L. -lstart -Wl,-rpath,$PWD -o program",
    ),
    "archive of C++": (
        'sed -i "s/^int run/extern \\"C\\" int run/" start.c',
        "weft-cxx -x c++ -c start.c -o start.o",
        "weft-cc -c run.c",
        "ar rcs libstart.a start.o",
        "weft-cxx run.o -L. -lstart -o program",
    ),
    "hidden": ("weft-cc -fvisibility=hidden start.c run.c -o program",),
    "archive of Fortran": (
        "weft-f90 -c first.f90 second.f90",
        "ar rcs libfirst.a first.o",
        "weft-f90 second.o libfirst.a -o program",
    ),
    "shared library of Fortran": (
        "weft-f90 -shared first.f90 -o libfirst.so",
        "weft-f90 second.f90 -L. -lfirst -Wl,-rpath,$PWD -o program",
    ),
    "link-time optimisation": (
        "weft-cc -O2 -flto -ffat-lto-objects -c start.c run.c",
        "ar rcs libstart.a start.o",
        "weft-cc -O2 -flto run.o libstart.a -o program",
    ),
    "pie, static": ("weft-cc -fPIE -pie -static start.c run.c -o program",),
}


@pytest.mark.parametrize("way", LINKED)
def test_main_may_come_from_a_library(tmp_path: Path, way: str) -> None:
    write(tmp_path, start_c=START, run_c=RUN, first_f90=FORTRAN_START, second_f90=FORTRAN_RUN)
    for command in LINKED[way]:
        done("sh", "-c", command, cwd=tmp_path)
    program = tmp_path / "program"
    ended = simulated.run_command(simulated.weft_command(program, "one", "two", ranks=2))
    assert ended.lines == ["ran with 2 arguments, the last two"] * 2, ended.stderr
    assert done(str(program), "one", cwd=tmp_path) == "ran with 1 arguments, the last one\n"


def test_a_program_without_main_does_not_link(tmp_path: Path) -> None:
    write(tmp_path, run_c=RUN)
    result = call("weft-cc", "run.c", "-o", "program", cwd=tmp_path)
    assert result.returncode != 0
    assert "undefined reference to `main'" in result.stderr


@pytest.mark.parametrize(
    ("source", "text", "compilers"),
    [
        ("plain.c", NO_MPI_C, ("cc", "weft-cc")),
        ("conftest.c", NO_MPI_C, ("cc", "mpicc")),
        ("plain.cpp", NO_MPI_CXX, ("c++ -pthread", "weft-cxx -pthread")),
        ("plain.f", NO_MPI_FORTRAN, ("gfortran", "weft-f90")),
        ("plain.f77", NO_MPI_FORTRAN, ("gfortran -x f77", "mpif77")),
    ],
)
def test_a_program_without_mpi_runs_as_if_compiled_by_the_system(
    tmp_path: Path, source: str, text: str, compilers: tuple[str, str]
) -> None:
    answers = []
    for number, compiler in enumerate(compilers):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / source).write_text(text)
        done(*compiler.split(), source, "-o", "plain", cwd=folder)
        result = call("./plain", "-a", "word", "-b", cwd=folder)
        answers.append((result.returncode, result.stdout, result.stderr))
    assert answers[0] == answers[1]
    assert answers[0][0] in (3, 4, 5)
    needed = done("ldd", "plain", cwd=folder)
    assert "weft" not in needed
    assert "simgrid" not in needed


def test_a_program_with_mpi_runs_as_the_only_rank(tmp_path: Path) -> None:
    write(tmp_path, alone_c=ALONE)
    done("weft-cc", "alone.c", "-o", "alone", cwd=tmp_path)
    simulators = f"{paths.simgrid_prefix()}/lib:{paths.platform_library().parent}"
    for library_path in ("", simulators):
        environment = {"LD_LIBRARY_PATH": library_path} if library_path else {}
        result = call("./alone", "word", cwd=tmp_path, text="input\n", environment=environment)
        assert (result.returncode, result.stdout) == (2, "input\nword 2 1\n")
        assert result.stderr == "weft: rank 0 ended with exit status 2\n"
    (tmp_path / "linked").symlink_to("alone")
    assert call("./linked", cwd=tmp_path).stdout == "./linked 1 1\n"


def test_mpi_may_be_in_a_shared_library(tmp_path: Path) -> None:
    write(tmp_path, start_c=START.replace("main(", "begin("), run_c=RUN)
    (tmp_path / "main.c").write_text(
        "int begin(int, char**);\nint main(int n, char** w) { return begin(n, w); }"
    )
    done("mpicc", "-shared", "-fPIC", "start.c", "run.c", "-o", "libstart.so", cwd=tmp_path)
    done("mpicc", "main.c", "-L.", "-lstart", f"-Wl,-rpath,{tmp_path}", "-o", "p", cwd=tmp_path)
    assert done("./p", "x", cwd=tmp_path) == "ran with 1 arguments, the last x\n"


def test_other_processes_are_told_how_mpi_runs(tmp_path: Path) -> None:
    write(tmp_path, start_c=START.replace("main(", "begin("), run_c=RUN)
    done("mpicc", "-shared", "-fPIC", "start.c", "run.c", "-o", "libstart.so", cwd=tmp_path)
    script = (
        "import ctypes; own = ctypes.CDLL('./libstart.so'); flag = ctypes.c_int(7);"
        " own.MPI_Initialized(ctypes.byref(flag)); print(flag.value, flush=True);"
        " own.begin(0, None)"
    )
    result = call(sys.executable, "-c", script, cwd=tmp_path)
    assert (result.returncode, result.stdout) == (2, "0\n")
    assert "found a call of MPI_Init outside a simulation" in result.stderr
    assert "weft run --fabric NAME -n RANKS" in result.stderr


PYTHON = """
import ctypes
import sys
import threading

own = ctypes.CDLL("./libring.so")
own.begin()
threads = [threading.Thread(target=sys.stdout.write, args=("thread\\n",)) for _ in range(2)]
for thread in threads:
    thread.start()
    thread.join()
sys.stdout.write(f"{own.sum(own.rank())} {sys.executable} {sys.argv}\\n")
own.end()
if sys.argv[1:] == ["fails"]:
    sys.exit(3)
"""
RING = """
#include <mpi.h>
static int here = -1;
void begin(void) { MPI_Init(0, 0); MPI_Comm_rank(MPI_COMM_WORLD, &here); }
int rank(void) { return here; }
int sum(int part)
{
  int all;
  MPI_Allreduce(&part, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return all;
}
void end(void) { MPI_Finalize(); }
"""


@pytest.mark.skipif(
    not sysconfig.get_config_var("Py_ENABLE_SHARED")
    or str(sysconfig.get_config_var("LIBDIR")).startswith(("/usr/lib", "/lib")),
    reason="needs a Python with a shared library of its own",
)
def test_each_rank_has_a_python(tmp_path: Path) -> None:
    write(tmp_path, ring_py=PYTHON, ring_c=RING)
    done("mpicc", "-shared", "-fPIC", "ring.c", "-o", "libring.so", cwd=tmp_path)
    command = (sys.executable, "ring.py")
    said = done("mpiexec", "-n", "4", *command, cwd=tmp_path).splitlines()
    assert sorted(said) == [*(f"6 {sys.executable} ['ring.py']",) * 4, *("thread",) * 8]
    run = ("weft", "run", "--fabric", "tofino-4", "-n", "1", "--json", "run.json", "--")
    ended = call(*run, *command, "fails", cwd=tmp_path)
    assert ended.returncode == 3
    assert "0 " in ended.stdout
    assert json.loads((tmp_path / "run.json").read_text())["program"] == sys.executable
    (tmp_path / "jobs.toml").write_text(
        f'[[jobs]]\nname = "a"\nranks = 2\nprogram = "{sys.executable}"\narguments = ["ring.py"]\n'
        '[[jobs]]\nname = "b"\nranks = 1\nprogram = "./alone"\n'
    )
    (tmp_path / "alone.c").write_text(ALONE)
    done("mpicc", "alone.c", "-o", "alone", cwd=tmp_path)
    jobs = call("weft", "run", "--fabric", "tofino-4", "--jobs", "jobs.toml", cwd=tmp_path)
    assert f"1 {sys.executable} ['ring.py']" in jobs.stdout, jobs.stderr


def test_a_program_whose_weft_is_gone_says_so(tmp_path: Path) -> None:
    write(tmp_path, alone_c=ALONE)
    done("weft-cc", "alone.c", "-o", "alone", cwd=tmp_path)
    outside = tmp_path / "weft" / "outside"
    shutil.copytree(paths.installed("outside"), outside)
    preloaded = ":".join(map(str, outside.iterdir()))
    result = call("./alone", cwd=tmp_path, environment={"LD_PRELOAD": preloaded})
    assert result.returncode == 2
    assert "weft: ./alone calls MPI" in result.stderr
    assert "install weft" in result.stderr


def test_a_rank_may_start_another_mpi_program(tmp_path: Path) -> None:
    text = (
        '#include <stdlib.h>\nint run(int c, char **v) { return system("./alone inner") != 512; }'
    )
    write(tmp_path, alone_c=ALONE, start_c=START, run_c=text)
    done("mpicc", "alone.c", "-o", "alone", cwd=tmp_path)
    done("mpicc", "start.c", "run.c", "-o", "outer", cwd=tmp_path)
    assert done("mpiexec", "-q", "-n", "1", "./outer", cwd=tmp_path) == "inner 2 1\n"


MAKEFILE = """
CC = cc
run: program
\tmpiexec -n 3 ./program word
program: start.o liball.a
\t$(CC) $(LDFLAGS) $^ -o $@
liball.a: run.o
\tar rcs $@ $^
"""


@pytest.mark.parametrize("flags", [("CC=mpicc",), ("MPICC=mpicc", "CC=mpicc -std=c99")])
def test_makefiles_use_mpicc(tmp_path: Path, flags: tuple[str, ...]) -> None:
    write(tmp_path, start_c=START, run_c=RUN, Makefile=MAKEFILE)
    said = done("make", "-s", *flags, cwd=tmp_path)
    assert said.splitlines() == ["ran with 1 arguments, the last word"] * 3


def test_printed_flags_make_programs(tmp_path: Path) -> None:
    write(tmp_path, start_c=START, run_c=RUN)
    script = (
        "cc $(mpicc -showme:compile) -c start.c run.c && cc start.o run.o $(mpicc --showme:link)"
        " -o program && mpiexec -q -n 2 ./program word && ./program alone"
    )
    said = done("sh", "-c", script, cwd=tmp_path).splitlines()
    assert said == [f"ran with 1 arguments, the last {word}" for word in ("word", "word", "alone")]


@pytest.mark.parametrize("name", ["mpicc", "mpicxx", "mpic++", "mpif77", "mpif90", "mpifort"])
def test_compilers_answer_questions(tmp_path: Path, name: str) -> None:
    whole = done(name, "-show", cwd=tmp_path)
    assert done(name, "-link_info", cwd=tmp_path) == whole
    compiling = done(name, "-compile_info", cwd=tmp_path)
    assert (
        whole.split()[0]
        == compiling.split()[0]
        == done(name, "-showme:command", cwd=tmp_path).strip()
    )
    assert "-Wl," not in compiling
    assert "-fPIC" in done(name, "-showme:compile", cwd=tmp_path)
    assert "-l:libweft.so" in done(name, "-showme:link", cwd=tmp_path)
    assert done(name, "-showme:version", cwd=tmp_path).startswith("weft ")
    assert not list(tmp_path.iterdir())
    refused = call(name, "-showme:colour", cwd=tmp_path)
    assert refused.returncode == 2
    assert "-showme:colour: allowed are -showme:compile, link" in refused.stderr


def test_code_for_executables_alone_is_named(tmp_path: Path) -> None:
    """Packages compile serial parts with `cc`, which generates code for executables by default."""
    write(
        tmp_path,
        serial_c='#include <stdio.h>\nvoid tell(void) { fputs("told\\n", stdout); }\n',
        main_c="void tell(void);\nint main(void) { tell(); return 0; }\n",
    )
    done("cc", "-fPIE", "-c", "serial.c", "-o", "serial.o", cwd=tmp_path)
    done("ar", "cr", "libserial.a", "serial.o", cwd=tmp_path)
    refused = call("mpicc", "main.c", "-L.", "-lserial", "-o", "main", cwd=tmp_path)
    assert refused.returncode == 1
    assert refused.stderr.splitlines()[-1] == (
        "weft cc: ./libserial.a(serial.o): found code for executables alone, which other compilers"
        " make by default; all parts of a program must be position-independent: configure with"
        " CC=mpicc, or compile with -fPIC"
    )
    done("mpicc", "-c", "serial.c", "-o", "serial.o", cwd=tmp_path)
    done("ar", "cr", "libserial.a", "serial.o", cwd=tmp_path)
    done("mpicc", "main.c", "-L.", "-lserial", "-o", "main", cwd=tmp_path)
    assert done("./main", cwd=tmp_path) == "told\n"


def test_weft_env_names_the_directory_of_mpis_commands(tmp_path: Path) -> None:
    assert weft.mpi_commands() == COMMANDS
    line = done("weft", "env", cwd=tmp_path)
    assert len(line.splitlines()) == 1
    found = subprocess.run(
        ["sh", "-c", f"{line}\ncommand -v mpicc && command -v mpiexec"],
        text=True,
        capture_output=True,
        check=True,
    )
    assert found.stdout.split() == [f"{COMMANDS}/mpicc", f"{COMMANDS}/mpiexec"]


def test_mpiexec_names_the_fabric_on_terminals_only(tmp_path: Path) -> None:
    """Test suites treat any line on standard error as a failure."""
    write(tmp_path, alone_c=ALONE.replace("return argc", "return 0"))
    done("mpicc", "alone.c", "-o", "alone", cwd=tmp_path)
    silent = call("mpiexec", "-n", "2", "./alone", cwd=tmp_path)
    assert silent.stderr == ""
    for options, names in (((), True), (("--quiet",), False)):
        ours, theirs = pty.openpty()
        try:
            subprocess.run(
                [str(COMMANDS / "mpiexec"), *options, "-n", "2", "./alone"],
                cwd=tmp_path,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=theirs,
                check=False,
            )
            os.write(theirs, b"end\n")
            assert (b"fabric star-8" in os.read(ours, 4096)) == names
        finally:
            os.close(ours)
            os.close(theirs)


def test_mpiexec_runs_on_a_default_fabric(tmp_path: Path) -> None:
    write(tmp_path, alone_c=ALONE)
    done("mpicc", "alone.c", "-o", "alone", cwd=tmp_path)
    for options in (
        ("-n", "4"),
        ("-np", "4", "--oversubscribe", "--bind-to", "none", "--mca", "btl", "self"),
        ("-x", "OWN=1", "-genv", "OTHER", "2", "-wdir", "."),
    ):
        result = call("mpiexec", *options, "-v", "./alone", "-n", cwd=tmp_path)
        ranks = 4 if "4" in options else 1
        assert result.stdout == f"-n 2 {ranks}\n" * ranks, result.stderr
        assert result.returncode == 2
        first = result.stderr.splitlines()[0]
        assert first == (
            f"mpiexec: {ranks} ranks on the simulated fabric star-8;"
            " --fabric or WEFT_FABRIC names another"
        )
    result = call(
        "mpiexec", "-n", "2", "./alone", cwd=tmp_path, environment={"WEFT_FABRIC": "nowhere"}
    )
    assert result.returncode == 2
    assert "nowhere" in result.stderr


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (("-n", "2"), "found no program to run"),
        (("-n",), "-n: found no value"),
        (("--colour", "red", "./alone"), "found the option '--colour'; allowed are -n, --fabric"),
        (("-n", "1", "./a", ":", "-n", "1", "./b"), "`weft run --jobs FILE`"),
    ],
)
def test_mpiexec_refuses(tmp_path: Path, words: tuple[str, ...], found: str) -> None:
    result = call("mpirun", *words, cwd=tmp_path)
    assert result.returncode == 2
    assert result.stderr.startswith("mpirun: ")
    assert found in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_files_of_mpi_are_those_of_the_directory(tmp_path: Path) -> None:
    text = """
#include <mpi.h>
int main(int argc, char **argv)
{
  MPI_File file;
  MPI_Init(&argc, &argv);
  MPI_File_open(MPI_COMM_WORLD, "made", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
  MPI_File_write(file, "word", 4, MPI_CHAR, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
  MPI_Finalize();
  return 0;
}
"""
    write(tmp_path, writes_c=text)
    done("mpicc", "writes.c", "-o", "writes", cwd=tmp_path)
    done("./writes", cwd=tmp_path)
    assert (tmp_path / "made").read_text() == "word"


SIZES = r"""
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
  printf("#define SIZE_OF_LONG %zu\n", sizeof(long));
  exit(0);
}
"""
PART = r"""
#include <iostream>
#include <mpi.h>
extern "C" void part()
{
  int ranks;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::cout << ranks << std::endl;
}
"""
CMAKE = """
cmake_minimum_required(VERSION 3.16)
project(three C CXX Fortran)
set(MPI_DETERMINE_LIBRARY_VERSION TRUE)
find_package(MPI 3 REQUIRED)
include(CheckCSourceRuns)
include(CheckFunctionExists)
check_c_source_runs("#include <stdlib.h>\\nint main(void) { exit(0); }" RUNS)
check_function_exists(pow POW)
message(STATUS "runs ${RUNS} pow [${POW}] library [${MPI_C_LIBRARY_VERSION_STRING}]")
add_executable(generator generator.c)
add_custom_command(OUTPUT size.h COMMAND generator > size.h)
add_library(start STATIC start.c)
target_link_libraries(start PUBLIC MPI::MPI_C)
add_library(part SHARED part.cpp)
target_link_libraries(part PRIVATE MPI::MPI_CXX)
add_executable(program run.c size.h)
target_include_directories(program PRIVATE ${CMAKE_CURRENT_BINARY_DIR})
target_link_libraries(program PRIVATE start part)
add_executable(fortran start.f90 run.f90)
target_link_libraries(fortran PRIVATE MPI::MPI_Fortran)
enable_testing()
set(start ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} 4)
add_test(NAME program COMMAND ${start} $<TARGET_FILE:program> word)
add_test(NAME fortran COMMAND ${start} $<TARGET_FILE:fortran> word)
set_tests_properties(program fortran PROPERTIES PASS_REGULAR_EXPRESSION "the last word")
add_test(NAME alone COMMAND program word)
"""


@pytest.mark.slow
@pytest.mark.parametrize("compilers", [("mpicc", "mpicxx", "mpifort"), ("cc", "c++", "gfortran")])
def test_cmake_finds_mpi(tmp_path: Path, compilers: tuple[str, str, str]) -> None:
    """Covers weft's compilers, and the system's, to which FindMPI passes mpicc's flags."""
    run = RUN.replace("#include", '#include "size.h"\nvoid part(void);\n#include').replace(
        "return 0", "part(); return SIZE_OF_LONG != sizeof(long)"
    )
    write(
        tmp_path,
        start_c=START,
        run_c=run,
        generator_c=SIZES,
        start_f90=FORTRAN_START,
        run_f90=FORTRAN_RUN,
    )
    write(tmp_path, part_cpp=PART, CMakeLists_txt=CMAKE)
    languages = zip(("C", "CXX", "Fortran"), compilers, strict=True)
    chosen = [f"-DCMAKE_{language}_COMPILER={name}" for language, name in languages]
    said = done("cmake", "-S", ".", "-B", "build", *chosen, cwd=tmp_path)
    assert "-- runs 1 pow [] library [SMPI Version" in said
    done("cmake", "--build", "build", cwd=tmp_path)
    done("ctest", "--test-dir", "build", "--output-on-failure", cwd=tmp_path)
    ended = call("build/program", "x", cwd=tmp_path)
    assert (ended.returncode, ended.stdout) == (0, "ran with 1 arguments, the last x\n1\n")


CONFIGURE = """
AC_INIT([probe],[1])
AC_CONFIG_HEADERS([config.h])
AC_PROG_CC
AC_PROG_CXX
AC_PROG_F77
AC_PROG_FC
AC_FC_WRAPPERS
AC_USE_SYSTEM_EXTENSIONS
AC_C_BIGENDIAN
AC_C_RESTRICT
AC_SYS_LARGEFILE
AC_HEADER_STDBOOL
AC_HEADER_STAT
AC_TYPE_GETGROUPS
AC_TYPE_LONG_DOUBLE
AC_FUNC_ALLOCA
AC_FUNC_CHOWN
AC_FUNC_CLOSEDIR_VOID
AC_FUNC_ERROR_AT_LINE
AC_FUNC_FORK
AC_FUNC_GETGROUPS
AC_FUNC_LSTAT_FOLLOWS_SLASHED_SYMLINK
AC_FUNC_MALLOC
AC_FUNC_MBRTOWC
AC_FUNC_MEMCMP
AC_FUNC_MKTIME
AC_FUNC_MMAP
AC_FUNC_OBSTACK
AC_FUNC_REALLOC
AC_FUNC_SETVBUF_REVERSED
AC_FUNC_STAT
AC_FUNC_STRCOLL
AC_FUNC_STRERROR_R
AC_FUNC_STRNLEN
AC_FUNC_STRTOD
AC_FUNC_UTIME_NULL
AC_CHECK_SIZEOF([long double])
AC_STRUCT_TIMEZONE
AC_CHECK_DECLS([strerror_r, getopt, sleep, exit])
AC_SEARCH_LIBS([clock_gettime],[rt])
AC_CHECK_FUNCS([exit open stat rand signal localtime setenv sleep getopt getpid malloc memalign])
AC_CHECK_FUNCS([pow floor sqrt strlcpy issetugid clock_gettime backtrace reallocarray setproctitle])
AC_CHECK_LIB([m],[cos])
AC_OPENMP
AC_OUTPUT
"""


@pytest.mark.slow
def test_configure_gets_the_answers_of_the_systems_compiler(tmp_path: Path) -> None:
    (tmp_path / "configure.ac").write_text(CONFIGURE)
    for name in ("config.guess", "config.sub", "install-sh"):
        (tmp_path / name).write_text("#!/bin/sh\necho x86_64-pc-linux-gnu\n")
        (tmp_path / name).chmod(0o755)
    done("autoconf", cwd=tmp_path)
    done("autoheader", cwd=tmp_path)
    made = {
        "system": ("CC=cc", "CXX=c++", "FC=gfortran", "F77=gfortran"),
        "weft": ("CC=mpicc", "CXX=mpicxx", "FC=mpifort", "F77=weft f90"),
    }
    for name, compilers in made.items():
        (tmp_path / name).mkdir()
        done("../configure", *compilers, cwd=tmp_path / name)
    system, own = ((tmp_path / name / "config.h").read_text() for name in made)
    assert system == own
    assert "#define HAVE_STDLIB_H 1" in own
