# SPDX-License-Identifier: LGPL-2.1-only
"""Functions that weft adds to SMPI, and their Fortran bindings."""

import pytest

from tests.support.simulated import Run

ELEMENTS = 3_000_000_000


@pytest.mark.parametrize("ranks", [2, 5])
def test_large_count_forms_do_what_the_others_do(run: Run, ranks: int) -> None:
    result = run("large_counts.c", "small", on="fat-tree-8", ranks=ranks)
    assert result.lines == ["right"] * ranks


@pytest.mark.parametrize("messages", ["smpi", "weft"])
def test_more_than_two_billion_elements_take_their_time(run: Run, messages: str) -> None:
    """The buffer is shared memory with 1 MiB of physical pages."""

    def times(elements: int) -> dict[str, float]:
        options = ("--messages", messages)
        arguments = ("large", str(elements))
        result = run("large_counts.c", *arguments, on="fat-tree-8", ranks=2, options=options)
        return {line.split()[0]: float(line.split()[1]) for line in result.lines}

    large, small = times(ELEMENTS), times(ELEMENTS // 30)
    for what in ("message", "bcast"):
        assert large[what] == pytest.approx(30 * small[what], rel=0.01), what
    # Large reductions are executed in pieces, which doubles of the same total size do not need.
    assert large["allreduce"] == pytest.approx(large["allreduce-doubles"], rel=0.01)
    assert small["allreduce"] == small["allreduce-doubles"]
    assert large["reduce"] > 30 * small["reduce"]


@pytest.mark.parametrize(("messages", "arguments"), [("smpi", ("unprobed",)), ("weft", ())])
def test_statuses_count_more_than_two_gibibytes(
    run: Run, messages: str, arguments: tuple[str, ...]
) -> None:
    options = ("--messages", messages)
    result = run("large_statuses.c", *arguments, on="fat-tree-8", ranks=2, options=options)
    assert result.lines == ["right"] * 2


@pytest.mark.parametrize("messages", ["smpi", "weft"])
@pytest.mark.parametrize("ranks", [1, 2, 5])
def test_polls_of_several_requests_leave_them_as_they_are(
    run: Run, messages: str, ranks: int
) -> None:
    options = ("--messages", messages)
    result = run("request_states.c", "one", "two", on="fat-tree-8", ranks=ranks, options=options)
    assert result.lines == ["right"] * ranks


def test_programs_add_and_remove_error_codes(run: Run) -> None:
    assert run("error_codes.c", on="fat-tree-8", ranks=3).lines == ["right"] * 3


def test_datatypes_are_found_built_counted_and_packed(run: Run) -> None:
    assert run("type_functions.c", on="fat-tree-8", ranks=2).lines == ["right"] * 2


@pytest.mark.parametrize("messages", ["smpi", "weft"])
@pytest.mark.parametrize("ranks", [2, 5])
def test_buffers_statuses_integers_and_exposure_epochs(run: Run, messages: str, ranks: int) -> None:
    options = ("--messages", messages)
    result = run("small_functions.c", on="fat-tree-8", ranks=ranks, options=options)
    assert result.lines == ["right"] * ranks


@pytest.mark.parametrize("ranks", [1, 3])
def test_large_types_windows_operations_and_names(run: Run, ranks: int) -> None:
    assert run("large_types.c", on="fat-tree-8", ranks=ranks).lines == ["right"] * ranks


@pytest.mark.parametrize("init", [(), ("init",)], ids=["alone", "with-init"])
@pytest.mark.parametrize("ranks", [1, 3])
def test_sessions_run_with_and_without_init(run: Run, init: tuple[str, ...], ranks: int) -> None:
    assert run("sessions.c", *init, on="fat-tree-8", ranks=ranks).lines == ["right"] * ranks


@pytest.mark.parametrize("messages", ["smpi", "weft"])
@pytest.mark.parametrize("ranks", [1, 2, 5])
@pytest.mark.parametrize("source", ["neighbors.f90", "added_functions.f90", "sessions.f90"])
def test_fortran_has_the_functions_too(run: Run, messages: str, ranks: int, source: str) -> None:
    result = run(source, on="fat-tree-8", ranks=ranks, options=("--messages", messages))
    assert [line.strip() for line in result.lines] == ["right"] * ranks


@pytest.mark.parametrize("messages", ["smpi", "weft"])
@pytest.mark.parametrize("ranks", [1, 2, 4, 7, 8])
def test_exclusive_locks_of_windows_exclude_all_others(run: Run, ranks: int, messages: str) -> None:
    """SMPI loses track of the lock holder, so the program deadlocked at 4 or more ranks."""
    options = ("--messages", messages)
    lines = run("window_locks.c", on="star-8", ranks=ranks, options=options).lines
    assert lines == [f"{20 * ranks} and {20 * ranks} of {20 * ranks}"]
