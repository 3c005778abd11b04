# SPDX-License-Identifier: LGPL-2.1-only
"""GPCNeT's results in docs/packets.md are those of their table, as are its factors."""

import pytest

from studies.study import DOCS, Table, read_table

RESULTS: Table = read_table(DOCS / "gpcnet.csv")
TESTS = ("latency", "bandwidth with barrier", "Allreduce")
PAGE = (DOCS / "packets.md").read_text(encoding="utf-8")


def results(network: str) -> Table:
    """Return the results of a network with the longest limit, in the order of the columns."""
    incast = "16" if network == "flows" else "512"
    found = [
        row
        for row in RESULTS
        if (row["network"], row["limit_ms"], row["incast"]) == (network, "100", incast)
    ]
    assert tuple(row["test"] for row in found) == TESTS
    return found


def cells(row: dict[str, str]) -> str:
    return (
        f"{float(row['isolated_mean']):,} → {float(row['congested_mean']):,}"
        f" | {row['factor_mean']}, {row['factor_99']}"
    )


@pytest.mark.parametrize(
    "network", ["flows", "credits", "PFC, DCQCN", "loss, Swift", "trimming, NSCC"]
)
def test_results_are_those_of_the_table(network: str) -> None:
    line = f"| {network} | {' | '.join(cells(row) for row in results(network))} |"
    assert line in PAGE


@pytest.mark.parametrize("row", RESULTS, ids=lambda row: f"{row['network']} {row['test']}")
def test_factors_are_ratios(row: dict[str, str]) -> None:
    for kind in ("mean", "99"):
        ratio = float(row[f"congested_{kind}"]) / float(row[f"isolated_{kind}"])
        if row["unit"] == "MiB/s":
            ratio = 1 / ratio
        assert float(row[f"factor_{kind}"]) == pytest.approx(ratio, abs=0.051)
