# SPDX-License-Identifier: LGPL-2.1-only
"""Simulated clocks: reads by programs, and sleeps."""

import os
import subprocess
import sysconfig
import time
from pathlib import Path

import pytest

from tests.support import compiled, simulated
from tests.support.places import TESTS
from weft.base import paths

COMPILERS = {".c": "cc", ".cpp": "cxx", ".f90": "f90"}
CLOCKS = {
    *("time", "gettimeofday", "timespec_get", "clock", "times", "getrusage"),
    *("CLOCK_REALTIME", "CLOCK_MONOTONIC", "CLOCK_MONOTONIC_RAW", "CLOCK_BOOTTIME"),
    *("CLOCK_PROCESS_CPUTIME_ID", "CLOCK_THREAD_CPUTIME_ID"),
    *("omp_get_wtime", "MPI_Wtime"),
}
TIMER_NOTE = (
    "weft: note: rank {rank} sets a timer (setitimer), which runs in real time, not in simulated"
    " time: when it expires differs from run to run; read MPI_Wtime instead, or sleep"
)


def by_weft(source: str, *flags: str) -> Path:
    """Return the program that weft's compilers build from a source in tests/smpi."""
    path = TESTS / "smpi" / source
    compiler = Path(sysconfig.get_path("scripts"), f"weft-{COMPILERS[path.suffix]}")
    command = [str(compiler), "-O1", *flags, str(path), "-lm"]
    return compiled.made(path.stem, [path], command, [paths.installed("weft-compiler")])


def run(program: Path, *arguments: str, ranks: int = 2) -> simulated.Result:
    result = simulated.run_command(
        simulated.weft_command(program, *arguments, ranks=ranks, options=("-q",))
    )
    assert result.status == 0, result.stderr
    return result


@pytest.fixture(scope="module")
def in_c() -> Path:
    return by_weft("simulated_clocks.c", "-fopenmp")


def test_all_clocks_of_c_show_simulated_time_from_before_init_until_the_end(in_c: Path) -> None:
    result = run(in_c, "clocks")
    assert not result.stderr
    moved = {tuple(line.split()[:2]): float(line.split()[2]) for line in result.lines}
    assert set(moved) == {(when, clock) for when in ("in", "after") for clock in CLOCKS}
    assert all(abs(seconds - 1000) < 1.01 for seconds in moved.values()), moved


def test_all_ways_to_sleep_in_c_take_simulated_time_only(in_c: Path) -> None:
    start = time.monotonic()
    result = run(in_c, "sleeps")
    assert time.monotonic() - start < 60
    assert result.stdout.splitlines() == [
        *("sleep 0 1000.000", "usleep 0 0.250", "nanosleep 0 1000.250"),
        *("clock_nanosleep 0 1000.250", "clock_nanosleep until 0 1000.000"),
        *("clock_nanosleep until then 0 0.000", "thrd_sleep 0 1000.250", "select 0 1000.250"),
        *("select without files 0 1000.000", "pselect 0 1000.250", "poll 0 1000.000"),
        *("poll without files 0 1000.000", "ppoll 0 1000.250", "invalid 1 1"),
    ]


def test_deadlines_of_waits_are_simulated_times(in_c: Path) -> None:
    assert run(in_c, "waits").stdout.splitlines() == [
        *("pthread_cond_timedwait 1 0.050", "steady pthread_cond_timedwait 1 0.050"),
        *("sem_timedwait 1 0.050", "sem_timedwait for a thread 0 0.000"),
    ]


def test_timers_are_told_of_once(in_c: Path) -> None:
    (note,) = run(in_c, "timers").messages
    assert note in {TIMER_NOTE.format(rank=rank) for rank in range(2)}


def test_clocks_sleeps_and_waits_of_cxx_are_simulated() -> None:
    assert run(by_weft("simulated_clocks.cpp")).stdout.splitlines() == [
        *("early 1 0.000", "steady 1 1000.500", "system 1 1000.500"),
        *("high_resolution 1 1000.500", "clock 1 10.000", "wait_for 1 0.050"),
        *("wait_until 1 0.050", "future 1 0.050", "future of a thread 1 0.000"),
    ]


def test_clocks_and_sleep_of_fortran_are_simulated_and_each_ranks_own() -> None:
    names = ("count_4", "count_8", "cpu", "cpu_8", "etime", "dtime", "second", "time", "mclock")
    lines = run(by_weft("simulated_clocks.f90")).lines
    assert len(lines) == 2
    for rank, line in enumerate(lines):
        seconds = 1000 * (rank + 1)
        words = line.split()
        assert words[:2] == ["rank", f"{rank}:"]
        moved = dict(zip(words[2::2], map(int, words[3::2]), strict=True))
        assert moved.pop("date") in (seconds // 60, seconds // 60 + 1)
        assert moved == dict.fromkeys((*names, "wtime"), seconds)


def test_computation_that_is_timed_moves_all_clocks(tmp_path: Path) -> None:
    source = tmp_path / "timed.cpp"
    source.write_text(
        "#include <chrono>\n#include <cstdio>\n#include <ctime>\n#include <mpi.h>\n"
        "int main(int argc, char** argv)\n{\n"
        "  MPI_Init(&argc, &argv);\n"
        "  const auto begin = std::chrono::steady_clock::now();\n"
        "  const auto used = std::clock();\n"
        "  const double wtime = MPI_Wtime();\n"
        "  volatile double sum = 0;\n"
        "  for (int i = 1; i < 100000000; ++i) sum = sum + 1.0 / i;\n"
        "  const double took = MPI_Wtime() - wtime;\n"
        "  const std::chrono::duration<double> steady = std::chrono::steady_clock::now() - begin;\n"
        "  const double cpu = double(std::clock() - used) / CLOCKS_PER_SEC;\n"
        '  std::printf("%d %d\\n", took > 0.01, steady.count() > 0.9 * took && cpu > 0.9 * took\n'
        "              && steady.count() < 2 * took && cpu < 2 * took);\n"
        "  MPI_Finalize();\n}\n"
    )
    program = tmp_path / "timed"
    assert simulated.weft("cxx", "-O1", str(source), "-o", str(program)).status == 0
    command = simulated.weft_command(program, ranks=1, options=("-q", "--host-speed", "10Gf"))
    assert simulated.run_command(command).lines == ["1 1"]


def test_a_clock_of_a_library_that_stands_still_is_told_of(tmp_path: Path) -> None:
    source = tmp_path / "still.cpp"
    source.write_text(
        "#include <chrono>\n#include <mpi.h>\n"
        "int main(int argc, char** argv)\n{\n"
        "  for (int i = 0; argc > 1 && i < 120000; ++i) std::chrono::steady_clock::now();\n"
        "  MPI_Init(&argc, &argv);\n"
        "  for (int i = 0; i < 120000; ++i) std::chrono::steady_clock::now();\n"
        "  MPI_Finalize();\n}\n"
    )
    program = tmp_path / "still"
    assert simulated.weft("cxx", str(source), "-o", str(program)).status == 0
    for arguments, remedy in ((), "times the computation"), (("early",), "MPI_Finalize alone"):
        (note,) = run(program, *arguments, ranks=1).messages
        assert note.startswith("weft: note: rank 0 keeps reading the clock")
        assert note.endswith(remedy)


def test_configure_tests_that_read_a_clock_run_without_a_simulation(tmp_path: Path) -> None:
    (tmp_path / "conftest.c").write_text(
        "#include <stdio.h>\n#include <time.h>\n"
        'int main(void) { printf("%ld\\n", (long)time(NULL)); return 0; }\n'
    )
    made = simulated.weft(
        "cc", str(tmp_path / "conftest.c"), "-o", str(tmp_path / "conftest"), cwd=tmp_path
    )
    assert made.status == 0, made.stderr
    environment = {key: value for key, value in os.environ.items() if key != "LD_LIBRARY_PATH"}
    ended = subprocess.run(
        [str(tmp_path / "conftest")], env=environment, text=True, capture_output=True, check=True
    )
    assert abs(int(ended.stdout) - time.time()) < 100


def test_a_program_that_only_begins_parallel_regions_is_linked_with_openmp(tmp_path: Path) -> None:
    source = tmp_path / "region.c"
    source.write_text(
        "#include <mpi.h>\n#include <stdio.h>\n"
        "int main(int argc, char** argv)\n{\n"
        "  int threads = 0;\n"
        "  MPI_Init(&argc, &argv);\n"
        "#pragma omp parallel num_threads(3) reduction(+ : threads)\n"
        "  threads++;\n"
        '  printf("%d\\n", threads);\n'
        "  MPI_Finalize();\n  return 0;\n}\n"
    )
    program = tmp_path / "region"
    assert simulated.weft("cc", "-fopenmp", str(source), "-o", str(program)).status == 0
    assert run(program).lines == ["3", "3"]
