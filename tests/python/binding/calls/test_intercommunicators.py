# SPDX-License-Identifier: LGPL-2.1-only
"""Intercommunicators: queries, copies, splits, messages, traces and invalid arguments.

tests/smpi/intercommunicators.c compares the results with values that all ranks can compute.
"""

from pathlib import Path

import pytest

from tests.support.simulated import Run

PROGRAM = "intercommunicators.c"
TRANSPORTS = ("weft", "smpi")
FATAL = "the error handler MPI_ERRORS_ARE_FATAL ends the program"

WRONG = {
    "merge": "MPI_Intercomm_merge, which failed with MPI_ERR_COMM (the communicator is an intra",
    "remote-size": "MPI_Comm_remote_size, which failed with MPI_ERR_COMM",
    "create-of-inter": "MPI_Intercomm_create, which failed with MPI_ERR_COMM",
    "leader": "MPI_Intercomm_create, which failed with MPI_ERR_RANK (the local leader is -1",
    "remote-leader": "MPI_Intercomm_create, which failed with MPI_ERR_RANK (the remote leader is 4",
    "tag": "MPI_Intercomm_create, which failed with MPI_ERR_TAG (the tag is -1",
    "rank": "MPI_Send, which failed with MPI_ERR_RANK",
    "scan": "MPI_Scan, which failed with MPI_ERR_COMM (the communicator is an intercommunicator)",
    "root": "MPI_Bcast, which failed with MPI_ERR_ROOT (the root is 2; allowed: MPI_ROOT,",
    "in-place": "MPI_Allreduce, which failed with MPI_ERR_BUFFER",
    "grid": "MPI_Cart_create, which failed with MPI_ERR_COMM (the communicator is an inter",
    "graph": "MPI_Graph_create, which failed with MPI_ERR_COMM (the communicator is an inter",
    "neighbors": "MPI_Neighbor_allgather, which failed with MPI_ERR_COMM",
    "window": "MPI_Win_create, which failed with MPI_ERR_COMM (the communicator is an inter",
    "overlap": "failed with MPI_ERR_COMM (the two groups have a rank in common)",
}
"""Error text for each invalid call, on four ranks."""


@pytest.mark.parametrize("messages", TRANSPORTS)
@pytest.mark.parametrize("ranks", [2, 3, 7])
def test_queries_copies_and_parts(run: Run, messages: str, ranks: int) -> None:
    """The program tests all divisions of the ranks into two groups."""
    options = ("--messages", messages, "--ppn", "2")
    result = run(PROGRAM, "basics", on="fat-tree-8", ranks=ranks, options=options)
    assert result.lines == ["done"]
    functions = {one["call"]: one["calls"] for one in result.record["mpi_calls"]}
    assert functions["MPI_Intercomm_create"] == ranks * (ranks - 1)


@pytest.mark.parametrize("messages", TRANSPORTS)
@pytest.mark.parametrize(("seed", "ranks"), [(1, 2), (2, 3), (3, 6), (4, 8), (5, 8), (6, 8)])
def test_messages_cross(run: Run, messages: str, seed: int, ranks: int) -> None:
    """Six concurrent intercommunicators, with all forms of send and receive."""
    options = ("--messages", messages)
    result = run(PROGRAM, "messages", str(seed), on="fat-tree-8", ranks=ranks, options=options)
    assert result.lines == ["done"]


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--fallback", "mpich-4", "--messages", "smpi"),
        ("--offload", "message", "--fallback", "best", "--ppn", "2"),
        ("--fallback", "smpi:ompi"),
    ],
    ids=["openmpi", "mpich", "best", "smpi"],
)
@pytest.mark.parametrize("ranks", [2, 6, 7, 8])
def test_collectives_give_each_group_what_the_other_gives(
    run: Run, options: tuple[str, ...], ranks: int
) -> None:
    """Four concurrent intercommunicators, with blocking, non-blocking and persistent calls."""
    calls = ["collectives", str(ranks), "150"]
    result = run(PROGRAM, *calls, on="fat-tree-8", ranks=ranks, options=options)
    assert result.lines == ["done"]


@pytest.mark.parametrize("messages", TRANSPORTS)
@pytest.mark.parametrize("ranks", [2, 5, 8])
@pytest.mark.parametrize("source", ["across.f90", "across_2008.f90"])
def test_fortran_has_their_collectives(run: Run, source: str, ranks: int, messages: str) -> None:
    """Tests the modules mpi and mpi_f08, with groups of leaders and of a session."""
    result = run(source, on="fat-tree-8", ranks=ranks, options=("--messages", messages))
    assert result.lines == ["right"] * ranks
    algorithms = {row["algorithm"] for row in result.record["collectives"]}
    assert "inter_reduce_exchange_bcast" in algorithms


def test_collectives_are_not_offloaded(run: Run) -> None:
    result = run(PROGRAM, "collectives", "1", "40", on="tofino-16", ranks=8)
    for row in result.record["collectives"]:
        if row["algorithm"].startswith("inter_"):
            assert (row["path"], row["reason"]) == ("fallback", "collective")


@pytest.mark.parametrize("case", WRONG)
def test_wrong_calls_get_an_error_class(run: Run, case: str) -> None:
    returned = run(PROGRAM, "wrong", case, "return", on="fat-tree-8", ranks=4)
    assert returned.lines == ["done", "right", "right", "right", "right"]
    ended = run(PROGRAM, "wrong", case, on="fat-tree-8", ranks=4, status=1)
    assert ended.status == 1
    assert WRONG[case] in ended.messages[0]
    assert ended.messages[0].endswith(FATAL)


def test_a_trace_says_that_it_has_no_intercommunicators(run: Run, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    result = run(
        PROGRAM, "basics", on="fat-tree-8", ranks=2, options=("--record", str(trace)), status=2
    )
    assert "MPI_Intercomm_create, which traces do not support" in result.messages[0]
    assert not trace.exists()


@pytest.mark.parametrize(("per_host", "unguided"), [(1, 1), (2, 2), (4, 0)])
def test_parts_by_resource(run: Run, per_host: int, unguided: int) -> None:
    """The only hardware resource is a host; process sets are all ranks and each rank."""
    options = ("--ppn", str(per_host))
    result = run("resources.c", on="fat-tree-8", ranks=4, options=options)
    sizes = [per_host, per_host, per_host, 0, unguided, per_host, 4, 1]
    assert result.lines == [" ".join(map(str, sizes))] * 4
