# SPDX-License-Identifier: LGPL-2.1-only
"""Partitioned messages with both transports; tests/smpi/partitioned.c checks the data."""

import pytest

from tests.support.simulated import Run


@pytest.mark.parametrize("messages", ["smpi", "weft"])
@pytest.mark.parametrize(
    ("sent", "received"), [(1, 1), (8, 8), (240, 1), (1, 240), (16, 30), (30, 16)]
)
def test_all_partitions_arrive(run: Run, messages: str, sent: int, received: int) -> None:
    options = ("--messages", messages)
    arguments = (str(sent), str(received), "8")
    result = run("partitioned.c", *arguments, on="fat-tree-8", ranks=5, options=options)
    assert result.lines == ["right"] * 5
