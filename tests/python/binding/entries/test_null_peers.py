# SPDX-License-Identifier: LGPL-2.1-only
"""Requests of MPI_PROC_NULL end at once; MPI_Isendrecv has the status of its receive."""

import pytest

from tests.support.simulated import Run

_MESSAGES = [("--messages", "weft"), ("--messages", "smpi")]


@pytest.mark.parametrize("options", _MESSAGES)
@pytest.mark.parametrize("what", ["null", "exchange", "any"])
def test_nobody_and_exchanges(run: Run, what: str, options: tuple[str, ...]) -> None:
    """SMPI aborted at the start of a message to nobody, and left exchanges with nobody pending."""
    assert run("null_peers.c", what, ranks=4, options=options).lines == ["right"]
