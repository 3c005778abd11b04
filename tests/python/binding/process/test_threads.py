# SPDX-License-Identifier: LGPL-2.1-only
"""Threads of programs: MPI calls from threads other than main, and in OpenMP parallel regions."""

from pathlib import Path

import pytest

import weft
from tests.support import compiled, simulated
from tests.support.places import TESTS


def threaded(name: str) -> Path:
    return compiled.program(TESTS / "smpi" / name, ("-O1", "-fopenmp"))


def times(lines: list[str]) -> list[str]:
    return [line for line in lines if line.startswith("part ")]


@pytest.mark.parametrize("ranks", [1, 2, 5, 8])
def test_threads_may_call_mpi_one_at_a_time(ranks: int) -> None:
    command = simulated.weft_command(threaded("threads.c"), on="star-8", ranks=ranks)
    result = simulated.run_command(command)
    right = sorted(line for line in result.lines if line not in times(result.lines))
    assert right == sorted(f"rank {rank} is right" for rank in range(ranks)), result.stderr
    # The times of collectives and exchanges do not depend on the calling thread.
    again = simulated.run_command(command)
    assert times(again.lines)[:2] == times(result.lines)[:2]


@pytest.mark.parametrize(
    "options", [("--messages", "smpi"), ("--offload", "stream"), ("--host-speed", "1e9")]
)
def test_threads_may_call_mpi_in_all_kinds_of_runs(options: tuple[str, ...]) -> None:
    command = simulated.weft_command(
        threaded("threads.c"), on="fat-tree-8", ranks=8, options=options
    )
    result = simulated.run_command(command)
    assert sum("is right" in line for line in result.lines) == 8, result.stderr


def test_calls_of_several_threads_wait_for_each_other() -> None:
    command = simulated.weft_command(threaded("threads_at_once.c"), "polling", on="star-8", ranks=3)
    result = simulated.run_command(command)
    # Each of 3 threads receives rank + thread of the left neighbour 5 times.
    assert result.lines == [f"provided 1, sum {5 * 3 * (0 + 1 + 2) + 5 * 3 * (0 + 1 + 2)}"]


def test_a_rank_that_waits_for_its_own_thread_is_a_deadlock_that_says_so() -> None:
    command = simulated.weft_command(threaded("threads_at_once.c"), "self", on="star-8", ranks=2)
    result = simulated.run_command(command)
    assert result.status == 1
    assert (
        "2 threads of the program wait for another thread of the same rank to leave MPI"
        " (MPI_THREAD_SERIALIZED)" in result.stderr
    )


@pytest.mark.parametrize(
    ("how", "status", "message"),
    [
        ("0", 0, ""),
        ("5", 5, "rank 1 ended with exit status 5"),
        ("early", 3, "rank 1 ended with exit status 3 before it called MPI_Finalize"),
        ("abort", 4, "rank 1 called MPI_Abort with error code 4"),
    ],
)
def test_a_thread_may_end_its_rank(how: str, status: int, message: str) -> None:
    command = simulated.weft_command(threaded("thread_exits.c"), how, on="star-8", ranks=3)
    result = simulated.run_command(command)
    assert result.status == status
    assert message in result.stderr
    if how in ("0", "5"):  # all other ranks continue
        assert sorted(result.lines) == ["rank 0", "rank 2"]


@pytest.mark.parametrize("how", ["abort", "early"])
def test_a_thread_may_end_its_job_alone(how: str) -> None:
    program = str(threaded("thread_exits.c"))
    tables = [
        {"name": "whole", "program": program, "arguments": ["0"], "ranks": 3},
        {"name": "stopped", "program": program, "arguments": [how], "ranks": 3},
    ]
    record = weft.run_jobs(tables, fabric="tofino-16", timeout=60)
    assert record.jobs
    whole, stopped = record.jobs
    assert whole.outcome.kind == "completed"
    assert stopped.outcome.kind == {"abort": "abort", "early": "early-exit"}[how]


@pytest.mark.parametrize("ranks", [1, 2, 5])
@pytest.mark.parametrize("messages", ["weft", "smpi"])
def test_variables_of_openmps_threads_persist(ranks: int, messages: str) -> None:
    """With a shared pool, ranks got each other's threads, and smaller teams ended a rank's own."""
    command = simulated.weft_command(
        threaded("thread_state.c"), on="star-8", ranks=ranks, options=("--messages", messages)
    )
    result = simulated.run_command(command)
    assert result.lines == ["right"] * ranks, result.stderr
