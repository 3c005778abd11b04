# SPDX-License-Identifier: LGPL-2.1-only
"""Requests with MPI_PROC_NULL complete at once; MPI_Isendrecv returns the status of its receive."""

import pytest

from tests.support.simulated import Run

_MESSAGES = [("--messages", "weft"), ("--messages", "smpi")]


@pytest.mark.parametrize("options", _MESSAGES)
@pytest.mark.parametrize("what", ["null", "exchange", "any"])
def test_nobody_and_exchanges(run: Run, what: str, options: tuple[str, ...]) -> None:
    """SMPI aborted at the start of a message to MPI_PROC_NULL, and left exchanges pending."""
    assert run("null_peers.c", what, ranks=4, options=options).lines == ["right"]
