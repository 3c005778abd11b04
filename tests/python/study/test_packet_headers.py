# SPDX-License-Identifier: LGPL-2.1-only
"""Headers that figures 2 and 12 of the multicast study add to both sides of a comparison."""

import pytest

from studies.multicast import MULTICAST, figure_12, headers
from studies.multicast.figure_2 import less, with_headers
from studies.study import DOCS, read_table

TABLES = DOCS / "multicast"
LEAVES, HOSTS = 12, 188


def test_packets_of_both_sides_have_their_headers() -> None:
    assert headers.messages(16 * 4096) == 16 * (4096 + 26)
    chunks, signals = 3, 5
    counted = chunks * 4096 + signals * 16
    expected = chunks * (4096 + 78) + signals * (16 + 26)
    assert headers.multicast(counted, chunks * 4096) == expected


def test_figure_12_finds_the_ports_of_the_tree() -> None:
    """A chunk crosses the ports of the hosts, and two for each leaf's link to one spine."""
    rows = read_table(TABLES / "figure-12.csv")
    counted, bare = (
        next(
            float(row["port_bytes"])
            for row in rows
            if (row["collective"], row["mode"]) == ("bcast", mode)
        )
        for mode in (MULTICAST, figure_12.BARE)
    )
    chunks = figure_12.TRAFFIC_ITERATIONS * figure_12.TRAFFIC_BYTES / headers.PACKET
    assert (counted - bare) / headers.DATAGRAM == chunks * (HOSTS + 2 * LEAVES)


def test_figure_2_charges_a_chunk_more_than_a_message() -> None:
    rows = read_table(TABLES / "figure-2.csv")
    bare = less(rows, 1024, lambda row: float(row["port_bytes"]))
    assert less(rows, 1024, with_headers) == pytest.approx(
        bare * (4096 + 26) / (4096 + 78), rel=1e-3
    )
