# SPDX-License-Identifier: LGPL-2.1-only
"""A sample of the fuzzer (`make fuzz` is the long run): every file format, every option."""

import pytest

from tests.python.fuzz.driver import NAMES, fuzz

_SECONDS = 6


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_nothing_but_answers_and_messages(name: str) -> None:
    done, findings = fuzz(name, count=3000, seed=13, seconds=_SECONDS)
    assert done > 0
    assert not findings, "\n".join(f"{one.content[:500]!r}: {one.problem}" for one in findings)
