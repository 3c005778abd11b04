# SPDX-License-Identifier: LGPL-2.1-only
"""Neighbourhood collectives: results, counts, times, traces and invalid arguments.

tests/smpi/neighbors.c compares random calls on random topologies with point-to-point messages.
"""

from pathlib import Path

import pytest

from tests.support import simulated
from tests.support.simulated import Run

PROGRAM = "neighbors.c"
CASES = 60
CALLS = ("allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw")


def random_cases(seed: int) -> list[str]:
    return ["random", str(seed), str(CASES)]


@pytest.mark.parametrize("ranks", [1, 2, 7, 8])
@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--messages", "weft", "--fallback", "mpich-4"),
        ("--offload", "message", "--fallback", "best"),
        ("--fallback", "smpi:ompi", "--ppn", "2"),
    ],
    ids=["openmpi", "mpich", "best", "smpi"],
)
def test_results_are_those_of_messages(run: Run, ranks: int, options: tuple[str, ...]) -> None:
    """Topologies: Cartesian and sub-grids, graphs, and distributed graphs of two kinds."""
    result = run(PROGRAM, *random_cases(ranks), on="fat-tree-8", ranks=ranks, options=options)
    assert [line for line in result.lines if "wrong" in line] == []
    assert len(result.lines) == CASES
    if ranks > 1:
        names = {row["collective"] for row in result.record["collectives"]}
        wanted = {f"{form}neighbor_{call}" for form in ("", "i") for call in CALLS}
        assert wanted <= names


def test_the_profile_and_the_record_name_calls_and_algorithms(run: Run) -> None:
    result = run(PROGRAM, "grid", "1000", on="fat-tree-8", ranks=8)
    row = result.row(collective="neighbor_alltoall")
    assert (row["calls"], row["path"]) == (1, "fallback")
    functions = {one["call"]: one["calls"] for one in result.record["mpi_calls"]}
    assert functions["MPI_Neighbor_alltoall"] == 8


@pytest.mark.parametrize("library", ["openmpi-5.0", "mpich-4"])
def test_a_call_takes_as_long_as_the_same_messages(run: Run, library: str) -> None:
    """Periodic ring of eight ranks, one per host; each host sends two blocks of BYTES in turn."""
    options = ("--fallback", library)
    result = run(PROGRAM, "grid", "1000000", on="fat-tree-8", ranks=8, options=options)
    times = {line.split()[0]: float(line.split()[1]) for line in result.lines}
    assert times["collective"] == pytest.approx(times["messages"], rel=0.1)


def test_a_trace_replays_in_the_same_time(run: Run, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    recorded = run(
        PROGRAM,
        *random_cases(3),
        on="fat-tree-8",
        ranks=8,
        options=("--record", str(trace)),
    )
    record = tmp_path / "replayed.json"
    replayed = simulated.weft(
        "replay", str(trace), "--fabric", "fat-tree-8", "--json", str(record), "--quiet"
    )
    assert replayed.status == 0, replayed.stderr
    again = simulated.read_record(record)
    assert again["simulated_time_s"] == pytest.approx(recorded.record["simulated_time_s"], rel=0.02)
    calls = {
        row["collective"]: row["calls"]
        for row in again["collectives"]
        if "neighbor" in row["collective"]
    }
    assert len(calls) > 0


WRONG = {
    "no-topology": "MPI_ERR_TOPOLOGY",
    "negative-count": "MPI_ERR_COUNT",
    "no-type": "MPI_ERR_TYPE",
    "in-place": "MPI_ERR_BUFFER",
    "no-request": "MPI_ERR_ARG",
    "too-many-nodes": "MPI_ERR_ARG",
    "no-such-rank": "MPI_ERR_ARG",
    "one-sided-edge": "MPI_ERR_TOPOLOGY",
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_arguments_have_an_error_class(run: Run, what: str) -> None:
    returned = run(PROGRAM, "wrong", what, "return", ranks=2)
    assert returned.lines == [f"rank {rank}: {WRONG[what]}" for rank in range(2)]
    fatal = run(PROGRAM, "wrong", what, ranks=2, status=1)
    (message,) = fatal.messages
    assert f"which failed with {WRONG[what]}" in message
    assert "MPI_ERRORS_ARE_FATAL" in message
