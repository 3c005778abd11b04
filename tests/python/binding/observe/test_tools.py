# SPDX-License-Identifier: LGPL-2.1-only
"""MPI tool information interface: values read by programs, compared with the record."""

from collections import defaultdict
from typing import Any

import pytest

from tests.support.simulated import Result, Run

RANKS = 4


@pytest.mark.parametrize("ranks", [1, 3])
def test_variables_categories_and_errors(run: Run, ranks: int) -> None:
    options = ("--offload", "message")
    result = run("tools.c", "check", on="fat-tree-8", ranks=ranks, options=options)
    assert result.lines == ["right"] * ranks


@pytest.fixture(params=["stream", "off"])
def counted(run: Run, request: pytest.FixtureRequest) -> Result:
    options = ("--offload", request.param, "--messages", "weft")
    return run("tools.c", "count", on="tofino-4", ranks=RANKS, options=options)


def values(result: Result) -> dict[str, list[float]]:
    """Return the values of all ranks by variable."""
    found: dict[str, list[float]] = defaultdict(list)
    for line in result.lines:
        name, value = line.split()
        found[name].append(float(value))
    return found


def test_counters_of_functions_are_those_of_the_record(counted: Result) -> None:
    said = values(counted)
    calls: list[dict[str, Any]] = counted.record["mpi_calls"]
    of = {row["call"]: row for row in calls}
    for name in ("MPI_Allreduce", "MPI_Send", "MPI_Recv", "MPI_Init", "MPI_Finalize"):
        assert sum(said[f"{name}_calls"]) == of[name]["calls"], name
    assert sum(said["MPI_Allreduce_time"]) == pytest.approx(of["MPI_Allreduce"]["total_time_s"])
    assert max(said["MPI_Allreduce_longest"]) == pytest.approx(of["MPI_Allreduce"]["max_time_s"])


def test_counters_of_kinds_are_those_of_the_profile(counted: Result) -> None:
    said = values(counted)
    of = {row["kind"]: row for row in counted.record["profile"]}
    assert sum(said["collectives_calls"]) == of["collectives"]["calls"]
    assert sorted(said["collectives_time"]) == pytest.approx(sorted(of["collectives"]["ranks_s"]))
    expected = sorted(of["point-to-point"]["ranks_s"])
    assert sorted(said["point_to_point_time"]) == pytest.approx(expected)


def test_counters_of_collectives_are_those_of_the_record(counted: Result) -> None:
    said = values(counted)
    rows = [row for row in counted.record["collectives"] if row["collective"].endswith("allreduce")]
    assert sum(said["allreduce_calls"]) == sum(
        row["calls"] * row["communicator_size"] for row in rows
    )
    assert sum(said["allreduce_bytes"]) == sum(
        row["bytes"] * row["communicator_size"] for row in rows
    )
    offloaded = [row for row in rows if row["path"] == "stream"]
    assert (offloaded != []) == (counted.record["offload"] == "stream")
    assert sum(said["allreduce_offloaded"]) == sum(
        row["calls"] * row["communicator_size"] for row in offloaded
    )
    times = [(row["total_time_s"], row["max_time_s"]) for row in rows]
    assert sum(said["allreduce_time"]) == pytest.approx(sum(total for total, _ in times))
    assert max(said["allreduce_longest"]) == pytest.approx(max(most for _, most in times))
    assert max(said["simulated_time"]) == pytest.approx(counted.record["simulated_time_s"])


def test_counters_of_a_communicator_are_its_own(counted: Result) -> None:
    said = values(counted)
    assert said["communicator_calls"] == [2] * RANKS
    assert said["communicator_bytes"] == [17 * 4] * RANKS
