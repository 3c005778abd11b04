# SPDX-License-Identifier: LGPL-2.1-only
"""The profile of simulated time, and the cost of creating communicators."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support import fabrics, simulated
from tests.support.simulated import Program, Run

KINDS = ("dup", "split", "split_type", "create", "create_group", "cart_create", "cart_sub")


def means(record: dict[str, Any]) -> dict[str, float]:
    return {part["kind"]: part["mean_s"] for part in record["profile"]}


def calls(record: dict[str, Any]) -> dict[str, int]:
    return {call["call"]: call["calls"] for call in record["mpi_calls"]}


# ---- Creating communicators ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ranks", "options"),
    [
        (4, ()),
        (7, ("--ppn", "2")),
        (8, ("--ppn", "3", "--offload", "message")),
        (1, ()),
        (6, ("--ppn", "2", "--offload", "off")),
        (9, ("--ppn", "3", "--cfg", "smpi/coll-selector:mvapich2")),
    ],
)
def test_communicators_have_their_members_and_messages(
    run: Run, ranks: int, options: tuple[str, ...]
) -> None:
    result = run("making.c", "check", ranks=ranks, options=options)
    assert result.stdout == "all right\n"


def test_making_a_communicator_costs_an_allreduce(run: Run, tmp_path: Path) -> None:
    """The Allreduce has 260 bytes; SMPI's Bcast over the new communicator took 196 us."""
    free = str(fabrics.with_free_hosts(tmp_path, "tofino-4"))  # ranks leave the creation together
    result = run("making.c", *KINDS, on=free, ranks=64, options=("--ppn", "16"))
    times = {name: float(time) for name, time in (line.split() for line in result.lines)}
    together = times["dup"]
    assert times["create"] == times["create_group"] == times["cart_create"] == together
    assert times["split"] == times["split_type"] == times["cart_sub"]
    assert together < times["split"] < 4 * together
    assert together < 100
    assert not result.rows(communicator_size=64, collective="allgather")  # the program calls none


def test_a_thousand_ranks_make_a_grid_in_the_time_of_a_tree(run: Run) -> None:
    result = run(
        "making.c", "cart_create", on="fat-tree-1024", ranks=1024, options=("--offload", "off")
    )
    name, time_us = result.stdout.split()
    assert name == "cart_create"
    assert float(time_us) < 300  # at least 20 steps; a ring took 9,300 us


@pytest.mark.parametrize("selector", ["ompi", "mpich", "mvapich2"])
def test_the_first_collective_costs_about_what_the_second_does(
    run: Run, selector: str, tmp_path: Path
) -> None:
    """SMPI determines the ranks that share a host, which took 2,300 us with one step per rank."""
    free = str(fabrics.with_free_hosts(tmp_path, "fat-tree-1024"))
    options = ("--offload", "off", "--cfg", f"smpi/coll-selector:{selector}")
    result = run("first.c", on=free, ranks=256, options=options)
    first, second = (float(time) for time in result.stdout.split())
    assert first < 10 * second  # their starting conditions differ


# ---- The profile -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def timeline(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("profile") / "timeline.json"


@pytest.fixture(scope="module")
def profiled(run: Run, timeline: Path) -> Any:
    free = str(fabrics.with_free_hosts(timeline.parent, "tofino-4"))
    return run("profiled.c", on=free, options=("--trace", str(timeline)))


def test_times_add_up_to_the_run(profiled: Any) -> None:
    record = profiled.record
    assert sum(means(record).values()) == pytest.approx(record["simulated_time_s"], rel=1e-12)
    for rank in range(4):
        times = [part["ranks_s"][rank] for part in record["profile"]]
        assert sum(times) == pytest.approx(record["simulated_time_s"], rel=1e-12)


def test_each_kind_has_its_time(profiled: Any) -> None:
    record = profiled.record
    parts = {part["kind"]: part for part in record["profile"]}
    assert [part["calls"] for part in record["profile"]] == [8, 10, 4, 4, 4, 20, 8, 0, 0]
    # Rank r sleeps r * 100 us, and the last rank 1 ms more.
    outside = parts["outside MPI"]["ranks_s"]
    assert outside == pytest.approx([0, 1e-4, 2e-4, 1.3e-3], abs=1e-12)
    # All ranks create the communicator together; the first rank waits longest.
    making = parts["communicators"]["ranks_s"]
    assert [making[0] - time for time in making] == pytest.approx([0, 1e-4, 2e-4, 3e-4], abs=1e-9)
    # Ranks 0 and 1 exchange 1 MiB while all other ranks wait for them.
    assert parts["point-to-point"]["ranks_s"][2] < 1e-6 < parts["point-to-point"]["ranks_s"][0]
    assert parts["ended"]["least_s"] == 0
    assert all(part["least_s"] <= part["mean_s"] <= part["most_s"] for part in record["profile"])


def test_functions_are_counted_once(profiled: Any) -> None:
    counted = calls(profiled.record)
    assert counted["MPI_Comm_dup"] == counted["MPI_Comm_free"] == 4
    assert counted["MPI_Allreduce"] == 4  # without those of communicators and windows
    assert counted["MPI_Win_fence"] == 8
    assert counted["MPI_Send"] == 5
    total = sum(call["total_time_s"] for call in profiled.record["mpi_calls"])
    inside = sum(
        4 * time
        for kind, time in means(profiled.record).items()
        if kind not in ("outside MPI", "ended")
    )
    assert total == pytest.approx(inside, rel=1e-12)


def test_the_table_has_them(profiled: Any) -> None:
    lines = [line for line in profiled.stderr.splitlines() if line.startswith(("time per", "comm"))]
    assert lines[0].split()[:5] == ["time", "per", "rank", "calls", "min(us)"]
    record = profiled.record
    share = means(record)["communicators"] / record["simulated_time_s"]
    assert lines[1].endswith(f" {share * 100:.1f}")


def test_a_comparison_has_what_is_not_collective(program: Program) -> None:
    command = simulated.weft_command(
        program("profiled.c"), on="tofino-4", ranks=4, options=("--compare",)
    )
    lines = simulated.run_command(command).stderr.splitlines()
    (line,) = [line for line in lines if line.startswith("communicators")]
    with_us, without_us, speed_up, *best = line.split()[1:]
    assert with_us == without_us
    assert speed_up == "1.00"
    assert best


def test_the_timeline_shows_what_simgrid_does_not(profiled: Any, timeline: Path) -> None:
    events = json.loads(timeline.read_text())["traceEvents"]
    slices = [event for event in events if event["ph"] == "X" and event["pid"] == 1]
    made = [event for event in slices if event["name"] == "MPI_Comm_dup"]
    assert sorted(event["tid"] for event in made) == [0, 1, 2, 3]
    longest = next(c for c in profiled.record["mpi_calls"] if c["call"] == "MPI_Comm_dup")
    assert max(event["dur"] for event in made) == pytest.approx(
        longest["max_time_s"] * 1e6, abs=2e-3
    )
    names = {event["name"] for event in slices}
    assert {"MPI_Win_create", "MPI_Win_free", "MPI_Iprobe"} <= names


def test_fortran_calls_are_counted(run: Run) -> None:
    result = run("reductions_f90.f90", ranks=2)
    assert calls(result.record)["MPI_Allreduce"] >= 2


def test_a_call_that_the_run_ends_in_counts_until_then(run: Run) -> None:
    result = run("failures.c", "crossed", status=1)
    record = result.record
    assert sum(means(record).values()) == pytest.approx(record["simulated_time_s"], abs=1e-15)
    assert sum(calls(record).values()) > 0


def test_simulated_computation_is_not_in_calls(run: Run) -> None:
    """SMPI converts computation into simulated time when the next call begins."""
    result = run("spinning.c", "0.02", ranks=2, options=("--host-speed", "1Gf"))
    assert means(result.record)["outside MPI"] > 0.5 * result.record["simulated_time_s"] > 0
