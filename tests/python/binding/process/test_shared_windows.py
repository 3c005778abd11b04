# SPDX-License-Identifier: LGPL-2.1-only
"""MPI_Win_allocate_shared: each rank has its own part, which every rank of the host can access."""

import pytest

from tests.support.simulated import Run

PLACES = [(1, 1), (2, 2), (4, 4), (8, 4), (6, 2)]
"""Numbers of ranks and ranks per host."""


@pytest.mark.parametrize("noncontig", [(), ("noncontig", "1")])
@pytest.mark.parametrize(("ranks", "ppn"), PLACES)
def test_parts_of_different_sizes_are_where_the_query_says(
    run: Run, ranks: int, ppn: int, noncontig: tuple[str, ...]
) -> None:
    """SMPI returned the first rank's part and size for every rank."""
    options = ("--ppn", str(ppn))
    lines = run("shared_windows.c", "parts", *noncontig, ranks=ranks, options=options).lines
    assert lines == ["right"]


@pytest.mark.parametrize(("ranks", "ppn"), [(4, 4), (8, 4), (6, 3), (4, 1)])
def test_a_hybrid_halo_exchange_is_right(run: Run, ranks: int, ppn: int) -> None:
    options = ("--ppn", str(ppn))
    lines = run("shared_windows.c", "halo", "20", ranks=ranks, options=options).lines
    assert lines == ["right"]
