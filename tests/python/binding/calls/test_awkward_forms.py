# SPDX-License-Identifier: LGPL-2.1-only
"""Calls in newer forms that failed in random programs (tests/smpi/awkward_forms.c)."""

import pytest

from tests.support.simulated import Run

CASES = ("replace", "reused", "operation", "freed", "large-across", "idle", "matched")


@pytest.mark.parametrize("messages", ["weft", "smpi"])
@pytest.mark.parametrize("ranks", [3, 8])
def test_awkward_forms_give_right_data(run: Run, messages: str, ranks: int) -> None:
    options = ("--messages", messages)
    result = run("awkward_forms.c", *CASES, on="fat-tree-8", ranks=ranks, options=options)
    assert result.lines == sorted(
        f"{case} {rank}: right" for case in CASES for rank in range(ranks)
    )
