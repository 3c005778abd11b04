# SPDX-License-Identifier: LGPL-2.1-only
"""Windows: requests, epochs, attributes and hints as in MPI."""

import pytest

from tests.support.simulated import Run


@pytest.mark.parametrize("ranks", [2, 5])
@pytest.mark.parametrize("what", ["requests", "swaps", "epochs", "attributes"])
def test_windows_follow_mpi(run: Run, what: str, ranks: int) -> None:
    assert run("window_rules.c", what, ranks=ranks).lines == ["right"]


@pytest.mark.parametrize("messages", ["weft", "smpi"])
@pytest.mark.parametrize("seed", range(1, 7))
def test_random_calls_in_random_epochs_are_right(run: Run, seed: int, messages: str) -> None:
    ranks = (2, 5, 8)[seed % 3]
    options = ("--messages", messages, "--ppn", "2")
    found = run("random_one_sided.c", str(seed), "12", ranks=ranks, on="tofino-16", options=options)
    assert found.lines == ["right"]
