# SPDX-License-Identifier: LGPL-2.1-only
"""Campaigns in examples/: they run, and their results match docs/campaigns.md."""

from itertools import islice
from pathlib import Path

import polars as pl
import pytest

from tests.support.places import ROOT
from weft.campaign import campaign as api
from weft.campaign import table
from weft.campaign.execution import local
from weft.campaign.execution.work import carry_out
from weft.campaign.file.axes import Value
from weft.report.data import loading
from weft.report.page.ranking import ranked
from weft.report.page.sentences import headline

EXAMPLES = ROOT / "examples" / "campaigns"
Key = tuple[Value, ...]


def allreduce_us(name: str, store: Path, *keys: str) -> dict[Key, float]:
    """Run an example; return the time of an Allreduce by the values of some keys."""
    prepared = api.prepare(EXAMPLES / f"{name}.toml", store / name)
    api.carry_out(prepared, lambda _run, _done: None, local.cores())
    assert api.states(prepared) == {"done": len(prepared.runs)}
    rows = table.collectives(prepared).filter(pl.col("collective") == "allreduce")
    return {tuple(row[key] for key in keys): row["mean_time_s"] * 1e6 for row in rows.to_dicts()}


@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("*.toml")), ids=lambda file: file.stem)
def test_the_examples_can_be_run(file: Path, tmp_path: Path) -> None:
    prepared = api.prepare(file, tmp_path / "store")
    assert prepared.runs
    assert prepared.found.impossible == []
    assert list(api.refusals(prepared, prepared.index())) == []


def test_which_layer_of_a_tree_to_make_smart(tmp_path: Path) -> None:
    times = allreduce_us("which-switches", tmp_path, "fabric", "ranks", "bytes")
    us = {
        (Path(str(fabric)).stem, ranks, size): time for (fabric, ranks, size), time in times.items()
    }
    assert us["plain", 4, "64B"] < us["leaves", 4, "64B"]  # faster without the leaf of the rack
    assert us["plain", 4, "4KiB"] > us["leaves", 4, "4KiB"]
    for size in ("64B", "4KiB"):
        assert us["leaves", 4, size] == us["all", 4, size]
        assert us["spines", 4, size] == us["plain", 4, size]
        # a single smart layer forwards results earlier than two layers
        assert us["spines", 16, size] < us["all", 16, size] < us["leaves", 16, size]
    assert us["all", 16, "256KiB"] < us["leaves", 16, "256KiB"]
    assert us["leaves", 16, "256KiB"] < us["plain", 16, "256KiB"] < us["spines", 16, "256KiB"]


@pytest.mark.slow
def test_which_vendors_switch(tmp_path: Path) -> None:
    prepared = api.prepare(EXAMPLES / "vendors.toml", tmp_path / "vendors")
    api.carry_out(prepared, lambda _run, _done: None, local.cores())
    study = loading.of(prepared)
    assert ranked(study) == [
        "The fastest fabric for allreduce, each with its fastest mode (off, stream), of 12"
        " combinations: vendors/sharp.toml in 9; vendors/tofino.toml in 3; never"
        " vendors/plain.toml."
    ]
    sharp, alone, tofino, _ = headline(study)[:4]
    assert "fabric vendors/sharp.toml is faster than fabric vendors/plain.toml in 8 of 12" in sharp
    assert "at most 4.09 times, 3.06 to 5.47 in 80" in sharp
    assert "for 16 ranks, 32KiB" in sharp
    assert "cannot tell in 4 (all with 4 ranks): 1.14 to 1.26 times" in sharp
    assert "cannot tell whether it is faster than fabric vendors/plain.toml in all of 12" in alone
    assert "faster than fabric vendors/plain.toml in 6 of 12 combinations: at most 3.86" in tofino
    assert "cannot tell in 6 (all with 4KiB or less)" in tofino
    sharp, tofino = headline(study)[4:6]
    best = "vendors/plain.toml (best of all algorithms) in"
    assert f"vendors/sharp.toml is faster than fabric {best} 7 of 12" in sharp
    assert f"vendors/tofino.toml is faster than fabric {best}" in tofino


@pytest.mark.slow
def test_which_algorithm_when(tmp_path: Path) -> None:
    us = allreduce_us("algorithms", tmp_path, "ranks", "bytes", "offload", "fallback")
    for ranks, size in {key[:2] for key in us}:
        by = {key[2:]: time for key, time in us.items() if key[:2] == (ranks, size)}
        switch, hosts = by.pop(("stream", "openmpi-5.0")), min(by.values())
        on_hosts = size in ("64B", "256B", "1KiB") and ranks == 4
        assert (hosts < switch) == on_hosts
        chosen = by["off", "openmpi-5.0"] / hosts
        assert chosen < 1.6
    assert us[16, "4KiB", "off", "openmpi-5.0"] > (
        1.5 * us[16, "4KiB", "off", "allreduce=recursive_doubling"]
    )


@pytest.mark.slow
def test_a_slice_of_the_thousand(tmp_path: Path) -> None:
    prepared = api.prepare(EXAMPLES / "thousand.toml", tmp_path / "store")
    assert len({run.digest for run in prepared.runs if not run.best}) == 1000
    for run in islice(prepared.runs, 0, 1000, 97):
        done = carry_out(api._task(prepared, run))
        assert (done.state, done.message) == ("done", "")
    assert api.states(prepared) == {"done": 11, "missing": 1489}
