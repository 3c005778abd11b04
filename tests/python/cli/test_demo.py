# SPDX-License-Identifier: LGPL-2.1-only
"""The demonstration delivers what it promises."""

import csv
from pathlib import Path

import pytest

from tests.support.places import ROOT
from weft.base import measured, plots
from weft.base.units import format_size
from weft.study import demo
from weft.study.demo import COMPARISONS, HOSTS, Results
from weft.study.validation import validate


@pytest.fixture(scope="module")
def results() -> Results:
    seen: list[int] = []
    results = demo.run(lambda mode, size: seen.append(size))
    assert len(seen) == demo.simulations()
    return results


def test_stream_is_near_the_testbed_at_all_19_sizes(results: Results) -> None:
    error = results.error(COMPARISONS[0])
    assert len(results.simulated("stream")) == 19
    assert error.mean <= 0.02
    assert error.worst <= 0.05


def test_stream_is_nearer_than_message(results: Results) -> None:
    stream, message = (results.error(comparison).mean for comparison in COMPARISONS[:2])
    assert stream < message < 0.10


@pytest.mark.parametrize("mode", ["stream", "message"])
def test_more_hosts_cost_less_than_a_microsecond(results: Results, mode: str) -> None:
    latencies = results.hosts(mode)
    assert tuple(latencies) == HOSTS
    assert max(latencies.values()) - min(latencies.values()) < 1


def test_tables_and_figures_are_written(results: Results, tmp_path: Path) -> None:
    files = demo.write_files(results, tmp_path)
    assert sorted(tmp_path.iterdir()) == sorted(files)
    assert {file.suffix for file in files} == {".csv", ".png", ".pdf"}
    with (tmp_path / "errors_4x1.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 19 * len(COMPARISONS)
    for row in rows:
        off = float(row["simulated_us"]) / float(row["measured_us"]) - 1
        assert float(row["error"]) == pytest.approx(off, abs=1e-6)
    for name in ("allreduce_4x1.png", "allreduce_1KiB_by_hosts.png"):
        committed = ROOT / "docs" / "images" / name
        assert plots.drawn(tmp_path / name) == plots.drawn(committed) != "", (
            f"{committed} is older than the simulator: copy it from build/demo after `make demo`"
        )


def test_it_says_of_open_mpi_what_the_accuracy_page_says(results: Results) -> None:
    comparison = COMPARISONS[2]
    (check,) = [
        one
        for one in validate.read_checks()
        if (one.table, one.column, one.rows, one.mode)
        == (measured.OSU_4X1, comparison.measured, "all", comparison.mode)
    ]
    assert check.settings == ()
    shown = f"| {results.error(comparison).mean:.1%}".replace("%", " %")
    page = (ROOT / "docs" / "accuracy-tables.md").read_text(encoding="utf-8")
    row = next(
        one for one in page.splitlines() if "openmpi_tuned_us | openmpi-4.1, tofino-4 " in one
    )
    assert shown in row
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (line,) = [one for one in readme.splitlines() if one.startswith("| `openmpi-4.1`:")]
    assert shown in line


def test_what_offloading_gains_is_told_beside_what_the_paper_says(results: Results) -> None:
    gains = results.gains()
    page = (ROOT / "docs" / "accuracy.md").read_text(encoding="utf-8")
    for name, gain in gains.items():
        most = f"{gain.most:.2f} at {format_size(gain.most_at)}"
        assert f"| {name} | {gain.mean:.2f} | {most} | {format_size(gain.pays_from)} |" in page
    measured_gain, simulated = gains["measured"], gains["simulated"]
    assert simulated.mean == pytest.approx(measured_gain.mean, rel=0.02)
    assert simulated.pays_from == measured_gain.pays_from == 4096
    assert measured_gain.mean < demo.PAPER_GAIN < measured_gain.most


def test_a_gain_is_taken_from_two_columns() -> None:
    gain = demo.gain({4: 1.0, 8: 2.0, 16: 8.0, 32: 4.0}, {4: 2.0, 8: 2.0, 16: 2.0, 32: 1.0})
    assert gain.mean == pytest.approx(8**0.25)
    assert (gain.most, gain.most_at, gain.pays_from) == (4, 16, 16)
