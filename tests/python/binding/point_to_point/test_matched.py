# SPDX-License-Identifier: LGPL-2.1-only
"""Matched probes and receives with both transports; tests/smpi/matched.c checks the data."""

import pytest

from tests.support.simulated import Run


@pytest.mark.parametrize("messages", ["smpi", "weft"])
@pytest.mark.parametrize(("seed", "ranks"), [(1, 1), (2, 2), (3, 5), (4, 8)])
def test_matched_receives_get_the_messages_that_probes_have_seen(
    run: Run, messages: str, seed: int, ranks: int
) -> None:
    options = ("--messages", messages, "--ppn", "2")
    result = run("matched.c", str(seed), "21", on="fat-tree-8", ranks=ranks, options=options)
    assert result.lines == ["right"] * ranks
    functions = {one["call"]: one["calls"] for one in result.record["mpi_calls"]}
    assert functions.get("MPI_Mrecv", 0) + functions.get("MPI_Imrecv", 0) >= 21 * ranks
