# SPDX-License-Identifier: LGPL-2.1-only
"""Windows: requests, epochs, attributes and hints as in MPI."""

import pytest

from tests.support.simulated import Run


@pytest.mark.parametrize("ranks", [2, 5])
@pytest.mark.parametrize("what", ["requests", "swaps", "epochs", "attributes"])
def test_windows_follow_mpi(run: Run, what: str, ranks: int) -> None:
    assert run("window_rules.c", what, ranks=ranks).lines == ["right"]
