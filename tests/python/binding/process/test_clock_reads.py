# SPDX-License-Identifier: LGPL-2.1-only
"""Programs that spin on a clock that never advances because computation takes no simulated time."""

import pytest

from tests.support.simulated import Program, Run, weft_says

NOTE = "weft: note: rank"
READS = ("mpi", "timeofday", "gettime")
MANY = "120000"


@pytest.mark.parametrize("read", READS)
def test_a_clock_that_many_reads_find_still_is_told_of_once(run: Run, read: str) -> None:
    result = run("clock_reads.c", read, "row", MANY, ranks=2)
    assert result.stderr.count(NOTE) == 1
    assert "--host-speed" in result.stderr


@pytest.mark.parametrize("read", READS)
def test_a_clock_that_the_reads_alone_move_is_told_of_too(program: Program, read: str) -> None:
    """By default, each read advances the clock by 10 ns."""
    said = weft_says(
        *("run", "-q", "--fabric", "tofino-4", "-n", "2", "--"),
        *(str(program("clock_reads.c")), read, "row", MANY),
    )
    assert said.returncode == 0
    assert said.stderr.count(NOTE) == 1


@pytest.mark.parametrize("read", READS)
def test_calls_of_mpi_move_the_clock(run: Run, read: str) -> None:
    assert NOTE not in run("clock_reads.c", read, "calls", MANY, ranks=2).stderr


def test_timed_computation_moves_the_clock(run: Run) -> None:
    result = run("clock_reads.c", "mpi", "row", MANY, ranks=1, options=("--host-speed", "10Gf"))
    assert NOTE not in result.stderr


def test_the_note_comes_while_the_program_still_waits(run: Run) -> None:
    result = run(
        "clock_reads.c", "mpi", "wait", "0", ranks=1, options=("--timeout", "5"), status=124
    )
    assert result.stderr.count(NOTE) == 1


def test_many_steps_between_reads_are_told_of_though_calls_move_the_clock(run: Run) -> None:
    assert run("clock_reads.c", "mpi", "steps", "24000", ranks=2).stderr.count(NOTE) == 1
    assert NOTE not in run("clock_reads.c", "mpi", "steps", "2000", ranks=2).stderr


@pytest.mark.slow
def test_computation_between_reads_is_told_of_though_calls_move_the_clock(run: Run) -> None:
    result = run("clock_reads.c", "mpi", "work", "2200", ranks=1)
    assert result.stderr.count(NOTE) == 1
