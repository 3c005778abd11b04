# SPDX-License-Identifier: LGPL-2.1-only
"""Programs that wait for a clock that stands still, as computation takes no simulated time."""

import pytest
from conftest import Run

NOTE = "weft: note: rank"
READS = ("mpi", "timeofday", "gettime")
MANY = "120000"


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("takes", ["0", "1e-8"])
def test_a_clock_that_many_reads_find_still_is_told_of_once(
    run: Run, read: str, takes: str
) -> None:
    # The fixture's own setting comes first, and the last one holds.
    options = ("--cfg", f"smpi/wtime:{takes}")
    result = run("clock_reads.c", read, "row", MANY, ranks=2, options=options)
    assert result.stderr.count(NOTE) == 1
    assert "--host-speed" in result.stderr


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


@pytest.mark.slow
def test_computation_between_reads_is_told_of_though_calls_move_the_clock(run: Run) -> None:
    result = run("clock_reads.c", "mpi", "work", "4000", ranks=1)
    assert result.stderr.count(NOTE) == 1
