# SPDX-License-Identifier: LGPL-2.1-only
"""Errors in statuses and return values, as MPI defines them."""

import pytest

from tests.support.simulated import Run


@pytest.mark.parametrize("messages", ["weft", "smpi"])
@pytest.mark.parametrize("what", ["kept", "truncated"])
def test_errors_of_completed_requests(run: Run, what: str, messages: str) -> None:
    """SMPI set the errors of single messages, but did not return the errors of MPI_Waitsome."""
    assert run("statuses.c", what, ranks=2, options=("--messages", messages)).lines == ["right"]
