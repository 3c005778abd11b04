# SPDX-License-Identifier: LGPL-2.1-only
"""Results equal stock SMPI's bit for bit, for every offload mode and kind of communicator."""

from collections.abc import Callable

import pytest

from tests.support import simulated
from tests.support.simulated import Program, Result, Run

# Two ranks per host on some hosts, one on others; a power of two.
RANKS = (7, 8)
CALLS = ("1", "40")

Stock = Callable[[int], Result]


@pytest.fixture(scope="module")
def stock(program: Program) -> Stock:
    """Return stock SMPI's results of the reductions by number of ranks."""
    results: dict[int, Result] = {}

    def on(ranks: int) -> Result:
        if ranks not in results:
            results[ranks] = simulated.run_stock(program("reductions.c"), *CALLS, ranks=ranks)
            assert results[ranks].status == 0, results[ranks].stderr
        return results[ranks]

    return on


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("offload", ["stream", "message", "off"])
def test_random_calls_on_all_kinds_of_communicators_give_what_stock_smpi_gives(
    run: Run, stock: Stock, ranks: int, offload: str
) -> None:
    result = run("reductions.c", *CALLS, ranks=ranks, options=("--offload", offload))
    assert result.lines == stock(ranks).lines
    sums = result.rows(datatype="MPI_INT", op="MPI_SUM", communicator_size=ranks)
    # Calls on the hosts have a row for each algorithm.
    assert {row["path"] for row in sums} == {"fallback" if offload == "off" else offload}
    assert {row["path"] for row in result.rows(datatype="derived")} == {"fallback"}


@pytest.mark.parametrize("offload", ["stream", "message"])
def test_a_switch_that_does_all_types_gives_what_stock_smpi_gives(
    run: Run, stock: Stock, offload: str
) -> None:
    result = run(
        "reductions.c",
        *CALLS,
        on=simulated.fabric("every-type"),
        ranks=8,
        options=("--offload", offload),
    )
    assert result.lines == stock(8).lines
    offloaded = {(row["datatype"], row["op"]) for row in result.rows(path=offload)}
    for kind in [
        ("MPI_DOUBLE", "MPI_SUM"),
        ("MPI_2INT", "MPI_MAXLOC"),
        ("MPI_DOUBLE_INT", "MPI_MINLOC"),
        ("MPI_SHORT", "MPI_MAX"),
    ]:
        assert kind in offloaded


def test_another_seed_makes_other_calls(run: Run, stock: Stock) -> None:
    """Guard: the calls depend on the seed, so the comparisons above are not trivial."""
    other = run(
        "reductions.c", "2", CALLS[1], ranks=8, options=("--fallback", "recursive_doubling")
    )
    assert len(other.lines) != 0
    assert other.lines != stock(8).lines


# ---- Programs with global variables ----


@pytest.mark.parametrize("offload", ["stream", "message", "off"])
def test_each_rank_has_its_own_global_variables(run: Run, offload: str) -> None:
    result = run("statics.c", ranks=6, options=("--offload", offload))
    assert result.lines == [f"rank {rank} of 6: 0 wrong, last 600009" for rank in range(6)]


def test_without_privatization_global_variables_are_shared(run: Run) -> None:
    """Guard: SimGrid itself does not separate the variables, so the test above is not trivial."""
    run("statics.c", ranks=6, options=("--no-privatize",), status=1)


@pytest.mark.parametrize("offload", ["stream", "message"])
def test_without_privatization_all_else_is_right(run: Run, stock: Stock, offload: str) -> None:
    options = ("--no-privatize", "--offload", offload)
    assert run("reductions.c", *CALLS, ranks=7, options=options).lines == stock(7).lines


# ---- Languages ----


@pytest.mark.parametrize("offload", ["stream", "message"])
def test_fortran_90_integers_are_offloaded(run: Run, offload: str) -> None:
    result = run("reductions_f90.f90", ranks=6, options=("--offload", offload))
    assert result.lines == [f"rank {rank} of 6: 0 wrong" for rank in range(6)]
    # SMPI maps MPI_INTEGER to MPI_INT.
    assert result.row(communicator_size=6, datatype="MPI_INT")["path"] == offload
    assert result.row(communicator_size=6, datatype="MPI_INT")["calls"] == 3
    assert result.row(communicator_size=3, datatype="MPI_INT")["calls"] == 2
    assert result.row(datatype="MPI_DOUBLE")["reason"] == "datatype"


@pytest.mark.parametrize("offload", ["stream", "message"])
def test_fortran_77_integers_are_offloaded(run: Run, offload: str) -> None:
    result = run("reductions_f77.f", ranks=6, options=("--offload", offload))
    assert result.lines == [f"rank{rank:3} of  6:     0 wrong" for rank in range(6)]
    assert result.row(datatype="MPI_INT", op="MPI_SUM")["path"] == offload
    assert result.row(datatype="MPI_INT", op="MPI_SUM")["calls"] == 2
    assert result.row(datatype="MPI_INT", op="MPI_MAX")["reason"] == "op"


@pytest.mark.parametrize("offload", ["stream", "message"])
def test_an_alltoall_from_fortran_is_offloaded(run: Run, offload: str) -> None:
    options = ("--offload", offload)
    result = run("alltoall_f90.f90", on="fat-tree-1024-radix-32", ranks=6, options=options)
    assert result.lines == [f"rank {rank} of 6: 0 wrong" for rank in range(6)]
    calls = {row["collective"]: (row["path"], row["calls"]) for row in result.rows()}
    assert calls == {"alltoall": (offload, 3), "ialltoall": (offload, 1)}


@pytest.mark.parametrize("offload", ["stream", "message"])
def test_cxx_programs_are_offloaded(run: Run, offload: str) -> None:
    result = run("reductions_cxx.cpp", ranks=6, options=("--offload", offload))
    assert result.lines == [f"rank {rank} of 6: right" for rank in range(6)]
    assert result.row()["path"] == offload
    assert result.row()["calls"] == 3


# ---- Many communicators ----


@pytest.mark.parametrize("offload", ["stream", "message"])
def test_a_communicator_gives_its_channel_back(run: Run, offload: str) -> None:
    result = run("channels.c", "one-by-one", "70", options=("--offload", offload))
    assert result.row(collective="allreduce")["calls"] == 70
    assert result.switch["offloaded"] == 70
    # The first ranks may create the next communicator before the last have freed the previous one.
    assert 1 <= result.switch["channels_used_max"] <= 2


@pytest.mark.parametrize("offload", ["stream", "message"])
def test_more_communicators_than_channels_fall_back(run: Run, offload: str) -> None:
    result = run("channels.c", "together", "70", options=("--offload", offload))
    # After all of them are freed, another communicator gets a channel.
    assert result.row(path=offload)["calls"] == 64 + 1
    fallback = result.row(collective="allreduce", path="fallback")
    assert fallback["reason"] == "no free channel"
    assert fallback["calls"] == 70 - 64
    assert result.switch["channels_used_max"] == 64


def test_a_switch_ends_its_work_for_a_communicator_with_it(run: Run) -> None:
    """Each SimGrid actor reserves 8 MiB of address space: 2,000 leftover actors would not fit."""
    run(
        "channels.c",
        "one-by-one",
        "2000",
        options=("--offload", "message"),
        addresses=6 << 30,
    )


def test_a_rank_may_end_after_its_part_of_a_call(run: Run) -> None:
    result = run("leaver.c")
    assert result.lines == [f"rank {rank}: 42" for rank in range(4)]
    assert result.row()["calls"] == 2


def test_who_has_ended_is_not_sent_to(run: Run) -> None:
    result = run("gone.c", ranks=2, status=134)
    assert "simgrid: Actor pid=2 is gone??" in result.stderr


# ---- Fortran's numbers for requests ----


def test_a_request_has_a_number_when_it_is_asked_for(run: Run) -> None:
    """Only every other request is queried; previously, every request took a number and a slot."""
    assert run("numbers.c", ranks=2).lines == ["31"]


@pytest.mark.parametrize("options", [(), ("--cfg", "smpi/display-allocs:yes")])
def test_fortran_has_requests_by_numbers(run: Run, options: tuple[str, ...]) -> None:
    assert "right" in run("requests.f90", ranks=2, options=options).lines


# ---- Calls without data ----

# SMPI's own algorithms crash on these calls, for instance MPI_Allreduce on 2 to 5 ranks.
WITHOUT_DATA = ("nothing", "empty-reduce", "empty-bcast", "empty-allgatherv")


@pytest.mark.parametrize("offload", ["stream", "off"])
@pytest.mark.parametrize("ranks", [3, 4])
def test_calls_without_data_take_no_time(run: Run, ranks: int, offload: str) -> None:
    options = ("--offload", offload)
    result = run("calls.c", *WITHOUT_DATA, ranks=ranks, options=options)
    assert [row["collective"] for row in result.rows(bytes=0, max_time_s=0)] == [
        "allgatherv",
        "allreduce",
        "bcast",
        "reduce",
    ]
    reason = "policy" if offload == "off" else "zero count"
    assert result.row(collective="allreduce")["reason"] == reason
    assert result.row(collective="allreduce")["calls"] == 2
    assert result.switch["offloaded"] == 0
    assert result.record["simulated_time_s"] == 0


def test_a_call_without_data_does_not_disturb_the_next(run: Run) -> None:
    result = run("calls.c", *WITHOUT_DATA, "int-sum", "nothing", "int-sum")
    assert result.row(path="stream")["calls"] == 2


@pytest.mark.parametrize("offload", ["stream", "off"])
def test_wrong_arguments_are_refused_and_right_ones_done_as_stock_smpi_does(
    run: Run, program: Program, offload: str
) -> None:
    stock = simulated.run_stock(program("checked.c"), ranks=8)
    assert stock.status == 0, stock.stderr
    result = run(
        "checked.c",
        on=simulated.fabric("every-type"),
        ranks=8,
        options=("--offload", offload),
    )
    assert result.lines == stock.lines
