# SPDX-License-Identifier: LGPL-2.1-only
"""MPI_Test… and MPI_Iprobe: results, timing, and the cost of unsuccessful polls."""

from pathlib import Path

import pytest

from tests.support import fabrics
from tests.support.simulated import Result, Run

POLL_NS = 100.0
TESTS = ("test", "testall", "testany", "testsome", "status")


def timed(
    run: Run, *arguments: str, ranks: int = 2, options: tuple[str, ...] = (), on: str = "tofino-4"
) -> float:
    result: Result = run("polls.c", *arguments, on=on, ranks=ranks, options=options)
    assert "warning" not in result.stderr
    return float(result.lines[0])


@pytest.mark.parametrize("us", [1, 40, 5000])
@pytest.mark.parametrize("call", [*TESTS, "iprobe", "both"])
def test_a_loop_ends_with_the_poll_in_which_the_message_comes(
    run: Run, call: str, us: int, tmp_path: Path
) -> None:
    """`both` may find the message one poll late, if it had already checked the request.

    After 31 polls, weft charges two polls at a time, so the loop may end another poll later.
    Receiving takes no time here, as MPI_Wait is charged for it, but not MPI_Request_get_status.
    """
    free = str(fabrics.with_free_hosts(tmp_path, "tofino-4"))
    waits = [timed(run, "wait", way, str(us), on=free) for way in ("wait", "probe")]
    expected = max(waits) if call in TESTS else min(waits)
    polled = timed(run, "wait", call, str(us), on=free)
    assert expected - 1 <= polled <= max(waits) + (3 if call == "both" else 1) * POLL_NS + 1


def test_a_message_that_is_probed_for_comes_when_it_does_for_a_receive(run: Run) -> None:
    assert timed(run, "wait", "probe", "500") == pytest.approx(timed(run, "wait", "wait", "500"))


@pytest.mark.parametrize("call", [*TESTS, "iprobe"])
@pytest.mark.parametrize("polls", [1, 2, 31, 1000, 100_000])
def test_polls_that_find_nothing_cost_what_they_do_each(run: Run, call: str, polls: int) -> None:
    took = timed(run, "count", call, str(polls))
    assert took >= polls * POLL_NS * (1 - 1e-9) - 0.001
    assert took <= polls * POLL_NS * (1 if polls < 32 else 17 / 16) + 0.001


@pytest.mark.parametrize("call", ["test", "iprobe"])
def test_a_loop_that_looks_at_the_clock_ends_by_it(run: Run, call: str) -> None:
    """MPI_Wtime is free in tests, and polls are charged in advance."""
    took = timed(run, "clock", call, "50")
    assert 50_000 <= took <= 50_000 * 17 / 16 + POLL_NS


@pytest.mark.parametrize("call", ["test", "iprobe"])
def test_a_fabric_says_what_polls_cost(run: Run, call: str) -> None:
    options = ("--set", "mpi.poll_overhead=2us")
    took = timed(run, "count", call, "20", options=options)
    assert took == pytest.approx(40_000, abs=0.01)
    record = run("polls.c", "count", call, "1", ranks=2, options=options).record
    assert record["poll_overhead_s"] == pytest.approx(2e-6)


@pytest.mark.parametrize(
    ("call", "option"), [("test", "smpi/test"), ("testany", "smpi/test"), ("iprobe", "smpi/iprobe")]
)
def test_options_of_simgrid_come_first(run: Run, call: str, option: str) -> None:
    options = ("--cfg", f"{option}:1e-5", "--cfg", "smpi/grow-injected-times:no")
    result = run("polls.c", "count", call, "1", ranks=2, options=options)
    assert float(result.lines[0]) == pytest.approx(10_000, abs=0.01)
    assert result.record["poll_overhead_s"] is None


@pytest.mark.parametrize("ranks", [2, 16])
def test_a_wavefront_that_polls_takes_what_one_that_waits_takes(run: Run, ranks: int) -> None:
    """The pattern is SNAP's sweeps. A rank adds at most one poll per step."""
    steps = 20
    waits, polls = (timed(run, "sweep", way, str(steps), ranks=ranks) for way in ("wait", "test"))
    assert waits - 1 <= polls <= waits + (steps + ranks) * POLL_NS


@pytest.mark.parametrize("offload", ["stream", "off"])
@pytest.mark.parametrize("fallback", ["openmpi-5.0", "smpi:ompi"])
@pytest.mark.parametrize("ranks", [3, 16])
def test_questions_are_answered_while_ranks_poll(
    run: Run, ranks: int, fallback: str, offload: str
) -> None:
    """hypre's neighbour discovery alternates MPI_Iprobe and MPI_Testall, then polls a barrier."""
    options = ("--offload", offload, "--fallback", fallback)
    took = timed(run, "replies", "test", "10", ranks=ranks, options=options)
    assert 0 < took < 10 * 100_000
