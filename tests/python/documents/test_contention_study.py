# SPDX-License-Identifier: LGPL-2.1-only
"""The contention benchmark: times match times derived by counting messages."""

import pytest

from studies import contention
from studies.study import DOCS

pytestmark = pytest.mark.slow  # all tests need the measurements

LARGE = contention.SIZES[-1]
BANDWIDTH_BPS = 125e6


@pytest.fixture(scope="module")
def times() -> contention.Times:
    return contention.by_rank(contention.measure())


def last(times: contention.Times, collective: str, links: str) -> float:
    return max(times[collective, links, LARGE])


def test_without_contention_each_message_has_the_bandwidth(times: contention.Times) -> None:
    # 15 chunks leave the root sequentially, and each rank sends 15 chunks in an Alltoall.
    expected = pytest.approx(15 * LARGE / BANDWIDTH_BPS, rel=0.01)
    for collective in contention.COLLECTIVES:
        assert last(times, collective, "fatpipe") == expected


def test_shared_cables_take_what_crosses_them(times: contention.Times) -> None:
    chunk_s = LARGE / BANDWIDTH_BPS
    # 8 and 4 chunks within a switch, then four messages of 2 chunks and four of 1 share a cable.
    in_turn = 8 + 4 + 4 * 2 + 4 * 1
    # In the 15 steps, a cable carries 1, 2, 3, then 9 times 4, then 3, 2, 1 messages.
    all_to_all = 1 + 2 + 3 + 9 * 4 + 3 + 2 + 1
    assert last(times, "scatter", "shared") == pytest.approx(15 * chunk_s, rel=0.01)
    assert last(times, "scatter-cyclic", "shared") == pytest.approx(in_turn * chunk_s, rel=0.01)
    assert last(times, "alltoall", "shared") == pytest.approx(all_to_all * chunk_s, rel=0.01)


def test_the_document_shows_what_is_measured(times: contention.Times) -> None:
    assert contention.table(times) in (DOCS / "contention.md").read_text()
