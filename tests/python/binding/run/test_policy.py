# SPDX-License-Identifier: LGPL-2.1-only
"""Offloaded calls; fallbacks with their algorithms and reported reasons.

Offloaded calls change the switch's counters; other calls do not (Belbeisi et al., section 5).
"""

from pathlib import Path

import pytest

import weft
from tests.support import simulated
from tests.support.simulated import Program, Run

COUNT = 300
INT_SUM_BYTES = 4 * COUNT

# Call of tests/smpi/calls.c -> its entry in the record.
FALL_BACK = {
    "int-max": ("allreduce", "MPI_INT", "MPI_MAX", "op"),
    "int-own-sum": ("allreduce", "MPI_INT", "user-defined", "op"),
    "double-sum": ("allreduce", "MPI_DOUBLE", "MPI_SUM", "datatype"),
    "long-sum": ("allreduce", "MPI_LONG", "MPI_SUM", "datatype"),
    "pair-sum": ("allreduce", "derived", "user-defined", "datatype"),
    "reduce": ("reduce", "MPI_INT", "MPI_SUM", "collective"),
    "reduce_scatter": ("reduce_scatter", "MPI_INT", "MPI_SUM", "collective"),
    "barrier": ("barrier", "", "", "collective"),
    "bcast": ("bcast", "", "", "collective"),
    "gather": ("gather", "", "", "collective"),
    "scatter": ("scatter", "", "", "collective"),
    "allgather": ("allgather", "", "", "collective"),
    "alltoall": ("alltoall", "", "", "collective"),
    "allgatherv": ("allgatherv", "", "", "collective"),
    "alltoallv": ("alltoallv", "", "", "collective"),
}
# Open MPI 4.1's choices for 4 ranks and these sizes; Allreduce and Reduce for any operation.
OPEN_MPI = {
    "allreduce": "recursive_doubling",
    "reduce": "binary",
    "reduce_scatter": "recursive_halving",
    "barrier": "linear",
    "bcast": "binary_tree",
    "gather": "basic_linear",
    "scatter": "binomial",
    "allgather": "recursive_doubling",
    "alltoall": "linear_sync",
    "allgatherv": "default",
    "alltoallv": "basic_linear",
}
COUNTERS = (
    "offloaded",
    "packets_reduced",
    "packets_passed_on",
    "bytes_reduced",
    "bytes_multicast",
    "slots_used_max",
    "channels_used_max",
)


def counters(switch: dict[str, float]) -> dict[str, float]:
    return {name: switch[name] for name in COUNTERS}


@pytest.mark.parametrize("offload", ["stream", "message"])
def test_a_supported_call_moves_the_counters(run: Run, offload: str) -> None:
    result = run("calls.c", "int-sum", options=("--offload", offload))
    row = result.row()
    assert (row["path"], row["reason"], row["algorithm"]) == (offload, "", "")
    assert (row["calls"], row["bytes"]) == (1, INT_SUM_BYTES)
    assert counters(result.switch) == {
        "offloaded": 1,
        "packets_reduced": 5,  # of 256 B
        "packets_passed_on": 0,
        "bytes_reduced": 4 * INT_SUM_BYTES,
        "bytes_multicast": 4 * INT_SUM_BYTES,
        "slots_used_max": 5,
        "channels_used_max": 1,
    }


@pytest.mark.parametrize("call", FALL_BACK)
def test_an_unsupported_call_leaves_the_counters_alone_and_says_why(run: Run, call: str) -> None:
    collective, datatype, op, reason = FALL_BACK[call]
    result = run("calls.c", call)
    row = result.row()
    assert (row["collective"], row["datatype"], row["op"]) == (collective, datatype, op)
    assert (row["path"], row["reason"]) == ("fallback", reason)
    assert row["algorithm"] == OPEN_MPI[collective]
    assert row["calls"] == 1
    assert counters(result.switch) == dict.fromkeys(COUNTERS, 0)


def test_all_kinds_of_calls_stand_in_one_record(run: Run) -> None:
    result = run("calls.c", "int-sum", *FALL_BACK, "int-sum", *reversed(FALL_BACK))
    collectives = {row["collective"] for row in result.rows()}
    assert collectives == {collective for collective, *_ in FALL_BACK.values()}
    assert len(collectives) == 11
    assert {row["calls"] for row in result.rows()} == {2}
    assert [row["datatype"] for row in result.rows(path="stream")] == ["MPI_INT"]
    assert result.switch["offloaded"] == 2


def test_offloading_can_be_switched_off(run: Run) -> None:
    result = run("calls.c", "int-sum", "barrier", options=("--offload", "off"))
    assert {row["reason"] for row in result.rows()} == {"policy"}
    assert {row["path"] for row in result.rows()} == {"fallback"}
    assert counters(result.switch) == dict.fromkeys(COUNTERS, 0)


def test_one_rank_has_nothing_to_offload(run: Run) -> None:
    result = run("calls.c", "int-sum", ranks=1)
    assert result.row()["reason"] == "one rank"
    assert result.row()["communicator_size"] == 1
    assert counters(result.switch) == dict.fromkeys(COUNTERS, 0)


def test_ranks_of_one_host_do_not_need_the_switch(run: Run) -> None:
    result = run("calls.c", "int-sum", ranks=3, options=("--ppn", "3"))
    assert result.row()["reason"] == "one host"
    assert counters(result.switch) == dict.fromkeys(COUNTERS, 0)


def test_a_switch_that_only_forwards_offloads_nothing(run: Run) -> None:
    result = run("calls.c", "int-sum", on=simulated.fabric("plain-switch"))
    assert result.row()["path"] == "fallback"
    assert result.row()["reason"] != ""
    assert counters(result.switch) == dict.fromkeys(COUNTERS, 0)


# ---- The fallback ----


@pytest.mark.parametrize("algorithm", ["rdb", "lr", "redbcast", "rab2"])
def test_smpis_algorithm_is_the_one_that_was_chosen(
    run: Run, program: Program, algorithm: str
) -> None:
    """The record names the algorithm, and every rank leaves at the same time as in stock SMPI."""
    sizes = "4,1024,100000"
    options = ("--offload", "off", "--fallback", f"smpi:{algorithm}")
    result = run("latency.c", sizes, on=simulated.fabric("equal-platforms"), options=options)
    stock = simulated.run_stock(
        program("latency.c"), sizes, settings=(f"smpi/allreduce:{algorithm}",)
    )
    assert result.row()["algorithm"] == result.record["fallback"] == f"smpi:{algorithm}"
    ours, theirs = (
        [float(word) for word in " ".join(one.lines).split()] for one in (result, stock)
    )
    assert ours == pytest.approx(theirs, rel=1e-12)


def test_algorithms_differ(run: Run) -> None:
    """Guard: if the algorithms did not differ, the test above would pass for any algorithm."""
    outputs = {
        tuple(run("latency.c", "100000", options=("--offload", "off", "--fallback", name)).lines)
        for name in ("smpi:rdb", "smpi:lr", "smpi:redbcast", "smpi:ompi")
    }
    assert len(outputs) == 4


def test_the_fallback_serves_what_cannot_be_offloaded(run: Run) -> None:
    result = run("calls.c", "int-sum", "int-max", "barrier", options=("--fallback", "smpi:rdb"))
    assert result.row(path="stream")["algorithm"] == ""
    assert result.row(op="MPI_MAX")["algorithm"] == "smpi:rdb"
    assert result.row(collective="barrier")["algorithm"] == "linear"


# ---- SMPI algorithms that must not run ----


@pytest.mark.parametrize(
    ("algorithm", "reason"),
    [
        ("smp_rdb", "hangs if the ranks of a host are not a power of two"),
        ("smp_binomial", "hangs if the ranks of a host are not a power of two"),
        ("smp_rsag", "adds wrongly"),
        ("smp_rsag_lr", "adds wrongly"),
        ("smp_rsag_rab", "adds wrongly"),
        ("pair_rma", "moves wrong data, or crashes"),
        ("ompi_two_procs", "hangs with more than two ranks"),
        ("arrival_scatter", "overflows its stack"),
        ("arrival_pattern_aware_wait", "looks for messages of other calls"),
        ("NTSL", "crashes on MPI_IN_PLACE"),
    ],
)
def test_an_algorithm_known_to_be_wrong_is_refused(
    program: Program, algorithm: str, reason: str
) -> None:
    result = simulated.run_command(
        simulated.weft_command(
            program("calls.c"), "int-sum", options=("--fallback", f"smpi:{algorithm}")
        )
    )
    assert result.status == 2
    assert f'SMPI\'s "{algorithm}" {reason}' in result.stderr


def test_privatization_that_moves_wrong_data_is_refused(program: Program) -> None:
    options = ("--cfg", "smpi/privatization:mmap")
    result = simulated.run_command(simulated.weft_command(program("calls.c"), options=options))
    assert result.status == 2
    assert "smpi/privatization: found mmap, with which SMPI's collectives move" in result.stderr


REFUSING = {
    "allgather": "pair",
    "allgatherv": "pair",
    "allreduce": "rab1",
    "alltoall": "2dmesh",
    "alltoallv": "pair_mpi_barrier",
    "bcast": "SMP_linear",
    "reduce": "scatter_gather",
    "reduce_scatter": "mpich_noncomm",
}
"""SMPI algorithms that cannot execute calls on seven ranks, each on its own host."""


def test_the_library_decides_calls_that_smpis_algorithm_cannot_do(run: Run) -> None:
    fallback = ",".join(f"{collective}=smpi:{name}" for collective, name in REFUSING.items())
    options = ("--offload", "off", "--fallback", fallback)
    result = run("random_calls", "31", "0", "39", on="star-8", ranks=7, options=options)
    assert len(result.lines) == 7 * 40
    for collective, name in REFUSING.items():
        named = {
            row["algorithm"]
            for row in result.rows(collective=collective)
            if row["communicator_size"] == 7 and row["bytes"] > 0
        }
        assert all(one.endswith(" (openmpi-5.0)") for one in named), (name, named)


def test_the_table_says_what_smpis_algorithm_cannot_do(program: Program, tmp_path: Path) -> None:
    """SMPI's pair algorithms exchange with the rank `rank XOR step`, hence need a power of two."""
    record = tmp_path / "record.json"
    options = ("--fallback", "alltoallv=smpi:pair_mpi_barrier", "--json", str(record))
    command = simulated.weft_command(program("awkward.c"), "alltoallv", ranks=3, options=options)
    assert simulated.run_command(command).status == 0
    said = str(weft.read_record(record))
    assert "alltoallv: smpi:pair_mpi_barrier cannot execute " in said
    assert " on 3 ranks; openmpi-5.0 selects " in said


@pytest.mark.parametrize("selector", ["impi", "mvapich2", "mpich"])
def test_all_ranks_know_where_the_others_are(run: Run, selector: str) -> None:
    """SMPI's selectors choose algorithms by how ranks share hosts, which rank 0 sets last."""
    options = ("--offload", "off", "--ppn", "3", "--fallback", f"smpi:{selector}")
    result = run(
        "intercommunicators.c", "messages", "4", on="fat-tree-1024", ranks=6, options=options
    )
    assert result.lines == ["done"]
