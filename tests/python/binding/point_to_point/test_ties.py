# SPDX-License-Identifier: LGPL-2.1-only
"""Simultaneous messages: MPI_ANY_SOURCE receives them in the order of their senders' ranks."""

import pytest

from tests.support.simulated import Run

SENDERS = 6
"""Number of senders; further ranks send nothing."""
SIZES = {"eager": 8, "rendezvous": 200_000}


def order(run: Run, how: str, way: str, *, ranks: int, size: int, messages: str) -> list[str]:
    """Return the senders in the order of rank 0's receives, then the end time."""
    arguments = (how, way, str(SENDERS), str(size))
    options = ("--ppn", "2" if ranks > 8 else "1", "--messages", messages)
    (line,) = run("ties.c", *arguments, ranks=ranks, on="hdr100-8", options=options).lines
    return line.split()


@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
@pytest.mark.parametrize("how", ["early", "late", "recv", "probe", "iprobe"])
def test_ties_are_decided_by_rank(run: Run, how: str, size: int) -> None:
    in_order = [str(rank) for rank in range(1, SENDERS + 1)]
    runs = [
        order(run, how, way, ranks=ranks, size=size, messages="weft")
        for way in ("up", "down", "turns")
        for ranks in (SENDERS + 1, SENDERS + 2)
    ]
    assert [one[:-2] for one in runs] == [in_order] * len(runs)
    assert len({one[-1] for one in runs}) == 1


def test_more_ranks_do_not_change_ties(run: Run) -> None:
    few, many = (
        order(run, "recv", "down", ranks=ranks, size=8, messages="weft") for ranks in (10, 16)
    )
    assert few == many


def test_smpi_decides_ties_by_its_rounds(run: Run) -> None:
    """MPI allows any order here, so programs must not depend on it."""
    ours, theirs = (
        order(run, "recv", "up", ranks=SENDERS + 1, size=200_000, messages=messages)
        for messages in ("weft", "smpi")
    )
    assert theirs[:-2] == ours[-3::-1]
    assert theirs[-1] == ours[-1]
