# SPDX-License-Identifier: LGPL-2.1-only
"""Program behaviour outside MPI: libraries, files, threads, child processes, exits."""

import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.support import simulated
from tests.support.places import TESTS
from tests.support.simulated import Program, Run
from weft.base.errors import WeftError
from weft.runs.privatization.libraries import private_libraries
from weft.runs.simgrid import SimGrid

# ---- Shared libraries of the program's own ----

LIBRARIES = {
    # Both the outer library and the program depend on the inner one.
    "inner.c": "int inner_count; int inner(void) { return ++inner_count; }\n",
    "outer.c": """
        int inner(void);
        static int count;
        int outer(void) { return ++count + inner(); }
    """,
    "constant.c": "int constant(void) { return 1; }\n",
    "main.c": """
        #include <mpi.h>
        #include <stdio.h>
        int inner(void); int outer(void); int constant(void); extern int inner_count;
        int main(int argc, char** argv)
        {
          int rank;
          MPI_Init(&argc, &argv);
          MPI_Comm_rank(MPI_COMM_WORLD, &rank);
          inner();
          MPI_Barrier(MPI_COMM_WORLD);
          int sum = outer() + constant();
          MPI_Barrier(MPI_COMM_WORLD);
          printf("rank %d: %d %d\\n", rank, sum, inner_count);
          MPI_Finalize();
        }
    """,
}


@pytest.fixture(scope="module")
def with_libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build a program with libraries whose names are as short as possible."""
    here = tmp_path_factory.mktemp("libraries")
    for name, text in LIBRARIES.items():
        (here / name).write_text(text)

    def link(target: str, *arguments: str) -> None:
        compiler = str(SimGrid().compiler("smpicc"))
        common = [compiler, "-O1", "-L.", f"-Wl,-rpath,{here}"]
        subprocess.run([*common, *arguments, "-o", target], cwd=here, check=True)

    link("libi.so", "inner.c", "-shared")
    link("libo.so", "outer.c", "-shared", "-li")
    link("libconstant.so", "constant.c", "-shared")
    link("program", "main.c", "-lo", "-li", "-lconstant")
    return here


def test_each_rank_has_the_variables_of_the_programs_libraries(
    with_libraries: Path, tmp_path: Path
) -> None:
    command = simulated.weft_command(with_libraries / "program", ranks=4)
    result = simulated.run_command(command, {"TMPDIR": str(tmp_path)})
    assert result.status == 0, result.stderr
    assert result.lines == [f"rank {rank}: 4 2" for rank in range(4)]
    assert list(tmp_path.iterdir()) == []


def test_simgrids_option_is_weft_s(with_libraries: Path) -> None:
    option = ("--cfg", "smpi/privatize-libs:libconstant.so;libi.so")
    command = simulated.weft_command(with_libraries / "program", ranks=2, options=option)
    result = simulated.run_command(command)
    assert result.status == 0, result.stderr
    assert result.lines == ["rank 0: 4 2", "rank 1: 4 2"]


def names(program: Path, *settings: str) -> list[str]:
    launcher = SimGrid().launcher
    environment = SimGrid().environment(os.environ)
    found = private_libraries(program, launcher, environment, settings)
    return sorted(library.name for library in found)


def test_only_libraries_with_variables_are_copied_unless_asked(with_libraries: Path) -> None:
    program = with_libraries / "program"
    assert names(program) == ["libi.so", "libo.so"]
    asked = names(program, "smpi/privatize-libs:libconstant.so")
    assert asked == ["libconstant.so", "libi.so", "libo.so"]
    with pytest.raises(
        WeftError, match=r"found 'libx.so', which is not a shared library of .* it has:"
    ):
        names(program, "smpi/privatize-libs:libx.so")


def test_a_library_that_is_missing_is_named(with_libraries: Path, tmp_path: Path) -> None:
    shutil.copytree(with_libraries, tmp_path / "copy")
    subprocess.run(
        [SimGrid().compiler("smpicc"), "main.c", "-L.", "-lo", "-li", "-lconstant", "-o", "alone"],
        cwd=tmp_path / "copy",
        check=True,
    )
    with pytest.raises(
        WeftError, match=r"alone needs the shared library libo\.so, which the loader"
    ):
        names(tmp_path / "copy" / "alone")


def test_a_library_that_uses_another_mpi_is_refused(with_libraries: Path, tmp_path: Path) -> None:
    """The loader may find a distribution's library in place of the one that was just built."""
    here = tmp_path / "copy"
    shutil.copytree(with_libraries, here)
    subprocess.run(["cc", "-shared", "-x", "c", "/dev/null", "-o", "libmpi.so.40"], cwd=here)
    smpicc = str(SimGrid().compiler("smpicc"))
    linked = ["-Wl,--no-as-needed", "-L.", f"-Wl,-rpath,{here}"]
    for words in (
        ["cc", "-shared", "-fPIC", "outer.c", *linked, "-l:libmpi.so.40", "-li", "-o", "libo.so"],
        [smpicc, "main.c", *linked, "-lo", "-li", "-lconstant", "-o", "main"],
    ):
        subprocess.run(words, cwd=here, check=True)
    result = simulated.run_command(simulated.weft_command(here / "main", ranks=2))
    assert result.status == 2
    assert (
        f"{here}/main loads the library {here}/libo.so, which uses another MPI, libmpi.so.40;"
        " compile the library with `weft cc`, `weft cxx` or `weft f90`, and put the folder of that"
        " build first in LD_LIBRARY_PATH\n"
    ) in result.stderr


def test_each_rank_has_the_variables_of_its_templates(tmp_path: Path) -> None:
    """GCC makes such variables unique in the process, even if a library is loaded repeatedly."""
    source = tmp_path / "unique.cpp"
    source.write_text("""
        #include <mpi.h>
        #include <cstdio>
        template <class T> struct Counter { static int value; };
        template <class T> int Counter<T>::value = 0;
        inline int calls() { static int count = 0; return ++count; }
        int main(int argc, char** argv)
        {
          MPI_Init(&argc, &argv);
          int both = ++Counter<int>::value + calls();
          std::printf("%d\\n", both);
          MPI_Finalize();
        }
    """)
    compiler = [*simulated.WEFT, "cxx", str(source), "-o", str(tmp_path / "unique")]
    subprocess.run(compiler, check=True)
    result = simulated.run_command(simulated.weft_command(tmp_path / "unique", ranks=3))
    assert result.lines == ["2"] * 3


# ---- Fortran ----


@pytest.mark.parametrize("how", ["stop", "exit"])
def test_stop_after_finalize_is_a_good_end(run: Run, how: str) -> None:
    result = run("stop.f90", how)
    assert result.record["outcome"]["kind"] == "completed"
    assert result.row(collective="allreduce")["calls"] == 1
    assert result.stdout.split() == ["sum", "6"]
    assert "allreduce" in result.stderr


@pytest.mark.parametrize(
    ("how", "status", "kind", "says"),
    [
        ("late", 4, "exit", "rank 0 ended with exit status 4"),
        ("early", 3, "early-exit", "rank 1 ended with exit status 3 before it called MPI_Finalize"),
        ("error", 1, "early-exit", "rank 1 ended with exit status 1 before it called MPI_Finalize"),
    ],
)
def test_a_stop_with_a_status_is_said(
    run: Run, how: str, status: int, kind: str, says: str
) -> None:
    result = run("stop.f90", how, status=status)
    assert result.messages[-1:] == [f"weft: {says}"]
    assert result.record["outcome"]["kind"] == kind
    assert result.stdout.split() == ["sum", "6"]


def test_units_and_files_are_each_rank_s_own(run: Run, tmp_path: Path) -> None:
    result = run("units.f90", cwd=tmp_path)
    ranks = range(4)
    read = [f"rank {rank} status   0 read 42" for rank in ranks]
    own = [f"rank {rank} unit 20 T line of {rank}" for rank in ranks]
    assert result.lines == sorted([*read, *own, *(f"output of {r}" for r in (0, 2, 3))])
    files = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert files == {
        "shared.in": "          42\n",
        **{f"own.{rank}": f"line of {rank}\n" for rank in ranks},
        "redirected": "output of 1\n",
        "fort.30": "unnamed\n",
    }


# ---- Threads and processes ----


def test_children_of_ranks_end_alone(run: Run) -> None:
    result = run("leaving.c", "fork", options=("--host-speed", "1Gf"))
    assert result.lines == sorted(
        line
        for rank in range(4)
        for line in (
            f"rank {rank}",
            f"child of rank {rank}",
            f"child of rank {rank} ended with 9",
            *(["sum 4, level 1 and 1"] if rank == 0 else []),
        )
    )


def test_process_numbers_name_ranks_and_nobody_else(run: Run) -> None:
    lines = run("signals.c", "numbers").lines
    assert lines == sorted(
        [
            *(
                line
                for rank in range(4)
                for line in (
                    f"rank {rank}: real 0 equal 0 same 1 affinity 0 group 1",
                    f"rank {rank}: next 0 1 none 1 parent 1 itself 0 0",
                    f"rank {rank}: signals {3 * (rank % 2)}",
                )
            ),
            "child: real 1 parent 1",
            "rank 2: signals 1 status 0",
        ]
    )


@pytest.mark.parametrize("how", ["raise", "kill"])
@pytest.mark.parametrize("signum", [signal.SIGKILL, signal.SIGTERM, signal.SIGABRT, signal.SIGUSR1])
def test_a_rank_that_ends_itself_by_a_signal_ends_the_run(
    run: Run, how: str, signum: signal.Signals
) -> None:
    stranger = subprocess.Popen(["sleep", "600"])
    try:
        result = run("signals.c", how, str(signum.value), status=128 + signum)
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()
    assert result.record["outcome"]["rank"] == 1
    assert f"rank 1 crashed ({signum.name})" in result.stderr


def ended(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


@pytest.mark.parametrize("how", ["daemons", "loop"])
def test_what_ranks_have_started_ends_with_the_run(run: Run, how: str) -> None:
    """The run ends when main returns, or at its time limit."""
    options = ("--timeout", "5") if how == "loop" else ()
    result = run("signals.c", how, options=options, status=124 if how == "loop" else 0)
    pids = [int(line) for line in result.lines]
    assert len(pids) == 8
    assert all(map(ended, pids))


def test_programs_that_ranks_start_are_not_weft_s(run: Run) -> None:
    assert run("leaving.c", "exec").lines == ["LD_PRELOAD=", "sum 4, level 1 and 1"]


# ---- Memory ----


@pytest.mark.parametrize(
    ("name", "value", "whose"),
    [
        ("GLIBC_TUNABLES", "glibc.rtld.optional_static_tls=512", "weft-malloc.so"),
        ("GLIBC_TUNABLES", "glibc.malloc.perturb=0", "libc.so.6"),
        ("LD_PRELOAD", "libm.so.6", "libc.so.6"),
    ],
)
def test_a_rank_s_memory_is_as_the_c_library_s(
    run: Run, monkeypatch: pytest.MonkeyPatch, name: str, value: str, whose: str
) -> None:
    """With and without mimalloc, a rank's calloc of 1 GiB occupies only the touched pages."""
    monkeypatch.setenv(name, value)
    result = run("allocator.c")
    assert result.lines == [whose]
    assert result.record["peak_memory_bytes"] < 512 << 20


@pytest.mark.parametrize(
    ("setting", "whose"),
    [
        ("contexts/factory:thread", "libc.so.6"),
        ("smpi/privatization:no", "weft-malloc.so"),
    ],
)
def test_memory_is_so_however_ranks_are_kept_apart(run: Run, setting: str, whose: str) -> None:
    assert run("allocator.c", options=("--cfg", setting)).lines == [whose]


def test_memory_is_so_where_addresses_are_limited(run: Run) -> None:
    """With limited addresses, mimalloc cannot reserve its address range."""
    result = run("allocator.c", addresses=64 << 30)
    assert result.lines == ["weft-malloc.so"]


def test_what_no_machine_has_is_an_exception(run: Run) -> None:
    assert run("no_memory.cpp").lines == 4 * ["std::bad_alloc"]
    assert (
        "asked for memory, which the system refused" in run("no_memory.cpp", "die", status=1).stderr
    )


def test_more_threads_than_there_are_to_have_is_said_once(run: Run) -> None:
    options = ("--cfg", "contexts/factory:thread")
    (said,) = run("leaving.c", "threads", options=options).messages
    assert "requests MPI_THREAD_MULTIPLE, weft provides MPI_THREAD_FUNNELED" in said


def test_exit_after_finalize_is_a_good_end(run: Run) -> None:
    assert run("leaving.c", "late-exit").messages == []


def test_openmp_works_in_each_rank(tmp_path: Path) -> None:
    source = TESTS / "smpi" / "hybrid.c"
    compiler = [*simulated.WEFT, "cc", "-fopenmp", "-O1", str(source), "-o", str(tmp_path / "h")]
    subprocess.run(compiler, check=True)
    command = simulated.weft_command(tmp_path / "h", on="star-8", ranks=8)
    result = simulated.run_command(command, {"OMP_NUM_THREADS": "4"})
    assert result.lines == ["threads 4 sum 80480000"], result.stderr


# ---- Leftovers after weft is killed ----


def start(program: Program, temporary: Path) -> "subprocess.Popen[str]":
    process = subprocess.Popen(
        simulated.weft_command(program("failures.c"), "run-for-ever"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "TMPDIR": str(temporary)},
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "running\n"
    return process


def of_directory(directory: Path) -> list[int]:
    """Return the processes whose command lines contain the directory."""
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            try:
                line = (process / "cmdline").read_bytes()
            except OSError:
                continue
            if os.fsencode(directory) in line:
                found.append(int(process.name))
    return found


def test_nothing_is_left_of_a_run_that_was_killed(program: Program, tmp_path: Path) -> None:
    process = start(program, tmp_path)
    assert len(of_directory(tmp_path)) == 2
    process.kill()
    process.wait()
    deadline = time.monotonic() + 30
    while (of_directory(tmp_path) or any(tmp_path.iterdir())) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert of_directory(tmp_path) == []
    assert list(tmp_path.iterdir()) == []


def test_the_next_run_removes_what_was_left_together_with_its_cleaner(
    program: Program, tmp_path: Path
) -> None:
    process = start(program, tmp_path)
    for pid in of_directory(tmp_path):
        os.kill(pid, signal.SIGKILL)
    process.kill()
    process.wait()
    (left,) = tmp_path.iterdir()
    (tmp_path / "weft-results").mkdir()
    command = simulated.weft_command(program("failures.c"), "return")
    assert simulated.run_command(command, {"TMPDIR": str(tmp_path)}).status == 5
    assert not left.exists()
    assert [path.name for path in tmp_path.iterdir()] == ["weft-results"]


def test_the_next_run_leaves_those_alone_that_run(program: Program, tmp_path: Path) -> None:
    process = start(program, tmp_path)
    (its,) = tmp_path.iterdir()
    command = simulated.weft_command(program("failures.c"), "return")
    assert simulated.run_command(command, {"TMPDIR": str(tmp_path)}).status == 5
    assert its.exists()
    process.terminate()
    process.wait()
    assert not its.exists()


# ---- SimGrid's advice ----


def test_simgrids_advice_on_its_own_tools_is_not_passed_on(run: Run) -> None:
    result = run("failures.c", "truncate", status=1)
    assert not re.search(r"trace-call-location|--log=|smpirun", result.stderr)
