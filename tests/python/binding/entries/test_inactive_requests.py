# SPDX-License-Identifier: LGPL-2.1-only
"""Null, inactive and cancelled requests, and requests of single-rank collectives, follow MPI."""

import pytest

from tests.support.simulated import Run


@pytest.mark.parametrize("what", ["tests", "alone", "partial", "status"])
@pytest.mark.parametrize("fallback", ["openmpi-5.0", "smpi:ompi"])
@pytest.mark.parametrize("offload", ["stream", "off"])
def test_completion_says_what_mpi_says(run: Run, offload: str, fallback: str, what: str) -> None:
    options = ("--offload", offload, "--fallback", fallback)
    assert run("inactive.c", what, ranks=2, options=options).lines == ["right"]


@pytest.mark.parametrize("what", ["tests", "alone"])
def test_one_rank_needs_no_other(run: Run, what: str) -> None:
    assert run("inactive.c", what, ranks=1).lines == ["right"]


@pytest.mark.parametrize(
    ("what", "option"),
    [
        *((what, "smpi/pedantic:yes") for what in ("tests", "alone", "partial", "status")),
        ("alone", "smpi/test:1e-6"),
    ],
)
def test_so_it_is_with_options_of_simgrids(run: Run, what: str, option: str) -> None:
    assert run("inactive.c", what, ranks=2, options=("--cfg", option)).lines == ["right"]


@pytest.mark.parametrize("messages", [0, 1, 2, 9])
def test_persistent_receives_are_cancelled_and_started_again(run: Run, messages: int) -> None:
    """SMPI released the last message of a reused persistent receive twice, which ended the run."""
    assert run("inactive.c", "cancel", str(messages), ranks=3).lines == ["right"]


@pytest.mark.parametrize("size", [1, 1000, 10_000_000])
def test_a_receive_that_has_its_message_is_not_cancelled(run: Run, size: int) -> None:
    assert run("inactive.c", "late", str(size), ranks=2).lines == ["right"]
