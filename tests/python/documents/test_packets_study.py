# SPDX-License-Identifier: LGPL-2.1-only
"""The rules of docs/packets.md hold in the table of its study."""

from studies.packets import LOADS, TABLE, ratios
from studies.study import Table, read_table

IDLE, LOADED = LOADS
LOSSLESS = ("credits", "PFC", "PFC, DCQCN")
LOSSY = ("loss, go-back-N", "loss, Swift")
INCASTS = ("incast", "beside")


def rows(load: str, *sizes: int) -> Table:
    """Return the rows of a load and of these sizes, or all, without incasts."""
    return [
        row
        for row in read_table(TABLE)
        if row["load"] == load
        and row["pattern"] not in INCASTS
        and (not sizes or int(row["bytes"]) in sizes)
    ]


def beside_incasts() -> Table:
    return [row for row in read_table(TABLE) if row["pattern"] == "beside"]


def far(found: Table, *networks: str) -> float:
    """Return the ratio that is farthest from 1."""
    return max((one for name in networks for one in ratios(found, name)), key=lambda r: abs(r - 1))


def test_flows_suffice_for_collectives_on_idle_lossless_networks() -> None:
    calls = [row for row in rows(IDLE) if row["pattern"] != "permutation"]
    assert abs(far(calls, *LOSSLESS) - 1) <= 0.04
    assert abs(far(rows(IDLE), *LOSSLESS) - 1) <= 0.09


def test_long_messages_agree_on_a_loaded_fabric() -> None:
    long = rows(LOADED, 1 << 16)
    others = [row for row in long if row["pattern"] not in ("allgather", "switches")]
    assert abs(far(others, *LOSSLESS) - 1) <= 0.15
    assert far(long, *LOSSLESS) <= 1.36


def test_what_needs_packets() -> None:
    assert 11.5 < far(beside_incasts(), *LOSSLESS) < 12.4
    assert 2.5 < far(rows(LOADED, 1 << 10), *LOSSLESS) < 2.65
    whole = read_table(TABLE)
    assert [round(far(whole, name)) for name in LOSSY] == [60, 22]
