# SPDX-License-Identifier: LGPL-2.1-only
"""Loops that wait for other ranks with calls that take no simulated time (docs/models.md)."""

import pytest

from tests.support.simulated import Run

CALLS = (
    *("fetch", "replace", "accumulate", "get", "rget", "swap", "put", "sync", "lock", "lock_all"),
    *("flush_all", "flush_local_all", "iprobe", "test", "testany", "testall", "testsome"),
    "attribute",
)


@pytest.mark.parametrize("call", CALLS)
def test_a_loop_ends_when_another_rank_sets_its_flag(run: Run, call: str) -> None:
    lines = run("idle_calls.c", "spin", call, ranks=2).lines
    seen, written = (float(line.split()[1]) for line in lines)
    assert seen > 50
    assert seen == pytest.approx(written, abs=1.5)


@pytest.mark.parametrize("messages", ["weft", "smpi"])
def test_a_token_passes_through_a_shared_window(run: Run, messages: str) -> None:
    result = run("idle_calls.c", "token", options=("--ppn", "4", "--messages", messages))
    assert result.lines == [f"rank {rank} passed" for rank in range(4)]


def test_calls_that_change_something_take_no_time(run: Run) -> None:
    result = run("idle_calls.c", "work", ranks=2)
    assert float(result.stdout) == 0
    assert "MPI_Win_sync" not in str(result.record["mpi_calls"])
