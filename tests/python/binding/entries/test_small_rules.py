# SPDX-License-Identifier: LGPL-2.1-only
"""Arguments and contents that SMPI takes, refuses or forgets, unlike MPI."""

import pytest

from tests.support.simulated import Run


@pytest.mark.parametrize("messages", ["weft", "smpi"])
def test_arguments_and_contents(run: Run, messages: str) -> None:
    assert run("small_rules.c", ranks=4, options=("--messages", messages)).lines == ["right"]


def test_datatypes_say_how_they_were_made(run: Run) -> None:
    """SMPI names the simpler constructors of its own, and forgets types without data."""
    assert run("type_contents.c", ranks=2).lines == ["right"]
