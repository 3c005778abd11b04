# SPDX-License-Identifier: LGPL-2.1-only
"""Arguments and contents that SMPI takes, refuses or forgets, unlike MPI."""

import pytest

from tests.support.simulated import Run


@pytest.mark.parametrize("messages", ["weft", "smpi"])
def test_arguments_and_contents(run: Run, messages: str) -> None:
    assert run("small_rules.c", ranks=4, options=("--messages", messages)).lines == ["right"]
