# SPDX-License-Identifier: LGPL-2.1-only
"""Deletion of attributes by MPI_Finalize, calls of error handlers, and MPI_Dims_create."""

import pytest

from tests.support.simulated import Run

ATTRIBUTES = 30


def test_finalize_deletes_the_attributes_of_self_latest_first(run: Run) -> None:
    """The program finally sets attribute 0 again, and deletes attribute 1 itself."""
    order = " ".join(map(str, [0, *range(ATTRIBUTES - 1, 1, -1)]))
    result = run("ending.c", "attributes", on="fat-tree-8", ranks=3)
    assert result.lines == [f"{rank}: {order}" for rank in range(3)]


@pytest.mark.parametrize("window", [(), ("window",)], ids=["communicator", "window"])
@pytest.mark.parametrize("handler", ["return", "own"])
def test_error_handlers_are_called(run: Run, handler: str, window: tuple[str, ...]) -> None:
    assert run("ending.c", handler, *window, on="fat-tree-8", ranks=2).lines == ["right"] * 2


@pytest.mark.parametrize("window", [(), ("window",)], ids=["communicator", "window"])
def test_a_fatal_error_handler_ends_the_program(run: Run, window: tuple[str, ...]) -> None:
    result = run("ending.c", "fatal", *window, on="fat-tree-8", ranks=2, status=1)
    function = "MPI_Win_call_errhandler" if window else "MPI_Comm_call_errhandler"
    assert f"called {function}, which failed with NO_FLOUR; the error handler" in result.stderr


def test_dimensions_are_as_close_as_possible(run: Run) -> None:
    assert run("dimensions.c", on="fat-tree-8", ranks=1).lines == ["right"]
