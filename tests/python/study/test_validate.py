# SPDX-License-Identifier: LGPL-2.1-only
"""Every measured table compared with the simulator: bounds, document, exit status."""

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from msgspec import structs

from tests.support.places import ROOT
from weft.base import pages, paths, plots
from weft.base.errors import WeftError
from weft.calibrate.measurements.tables import read_table
from weft.cli.root import weft
from weft.study.validation import accuracy, gain, gain_report, gain_runs, validate
from weft.study.validation.gain import GainResult
from weft.study.validation.validate import Check, Point, Result

# Each test needs all rows simulated: minutes on a busy machine.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

# Results of simulations, facts of presets, jobs of clusters instead of times, and training
# iterations, which the study `training` compares.
NO_CHECK = {
    "errors.csv",
    "presets.csv",
    "hosts_left_out.csv",
    "topocloud_rtt.csv",
    "job_sizes_swf.csv",
    "training_iterations.csv",
}


@pytest.fixture(scope="module")
def results() -> list[Result]:
    return validate.run(validate.read_checks())


@pytest.fixture(scope="module")
def gains() -> list[GainResult]:
    return gain_runs.run(gain.read_gains())


def test_every_gain_is_within_its_bounds(gains: list[GainResult]) -> None:
    above = [
        f"{one.gain.name}: {one.error.mean:.1%} mean, wrong side: {len(one.wrong)}"
        for one in gains
        if not one.holds
    ]
    assert not above


def test_intervals_contain_70_to_90_percent_of_gains_that_they_do_not_rest_on(
    gains: list[GainResult],
) -> None:
    pairs = [(pair, one.gain.unfitted) for one in gains for pair in one.pairs]
    inside = [pair.inside for pair, _ in pairs]
    assert len(inside) > 200
    assert 0.7 <= sum(inside) / len(inside) <= 0.9
    of_fitted = [pair.inside for pair, unfitted in pairs if not unfitted]
    assert 0.7 <= sum(of_fitted) / len(of_fitted) <= 0.9
    of_unfitted = [pair.inside for pair, unfitted in pairs if unfitted]
    assert sum(of_unfitted) >= 0.8 * len(of_unfitted)


def test_intervals_contain_the_gain_where_the_simulated_side_is_wrong(
    gains: list[GainResult],
) -> None:
    wrong = [pair for one in gains for pair in one.pairs if not pair.right]
    assert wrong
    for pair in wrong:
        off = abs(math.log(pair.measured.factor / pair.simulated.factor))
        assert off <= min(pair.width, pair.unseen_width), pair


def test_every_error_is_within_its_bounds(results: list[Result]) -> None:
    above = [
        f"{one.check.name}: {one.error.mean:.1%} mean, {one.error.worst:.1%} worst"
        for one in results
        if not one.holds
    ]
    assert not above


def test_every_table_of_times_is_checked(results: list[Result], gains: list[GainResult]) -> None:
    tables = {path.name for path in paths.installed("data").glob("*.csv")}
    checked = {one.check.table for one in results} | {one.gain.table for one in gains}
    # Other ABCI tables are used in studies of hosts, other NCCL tables in docs/nccl.md.
    others = ("abci_", "nccl_")
    assert {one for one in tables - NO_CHECK - checked if not one.startswith(others)} == set()
    assert checked <= tables


def test_even_and_odd_rows_are_all_rows(results: list[Result]) -> None:
    osu = [one for one in results if one.check.mode == "stream" and "osu" in one.check.table]
    by_rows = {one.check.rows: set(one.points) for one in osu}
    assert by_rows["even"] | by_rows["odd"] == by_rows["all"]
    assert not by_rows["even"] & by_rows["odd"]


def test_what_is_asked_of_the_model(results: list[Result]) -> None:
    """The bounds in data/checks.toml are no looser than these."""
    asked = {
        ("tofino_osu_allreduce_4x1.csv", "mpitofino_us", "stream"): (0.015, 0.045),
        ("tofino_micro_allreduce_4x1.csv", "mpitofino_us", "stream"): (0.04, None),
        ("tofino_micro_allreduce_vs_ranks.csv", "mpitofino_us", "stream"): (0.04, None),
        ("tofino_osu_allreduce_4x1.csv", "openmpi_tuned_us", "openmpi-4.1"): (0.03, 0.1),
        ("sharp_thor_4x1.csv", "sharp_us", "stream"): (0.06, 0.15),
        ("sharp_thor_8x1.csv", "sharp_us", "stream"): (0.06, 0.15),
    }
    for one in results:
        check = one.check
        if bounds := asked.pop((check.table, check.column, check.mode), None):
            assert (check.mean, check.worst) == bounds
    assert not asked


def test_the_document_says_what_comes_out(results: list[Result], gains: list[GainResult]) -> None:
    for name in (
        "docs/accuracy.md",
        "docs/accuracy-tables.md",
        "README.md",
        "docs/release-0.1.0.md",
    ):
        text = (ROOT / name).read_text()
        fresh = pages.update(text, accuracy.on_page(text, accuracy.render(results, gains)))
        assert text == fresh, "run `make accuracy`"


def test_the_rows_say_what_comes_out(results: list[Result], tmp_path: Path) -> None:
    accuracy.write_rows(tmp_path / "rows.csv", results)
    stored = (ROOT / "docs" / "accuracy.csv").read_text()
    assert (tmp_path / "rows.csv").read_text() == stored, "run `make accuracy`"


def test_documents_without_a_place_are_refused(results: list[Result], tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("<!-- summary -->\n<!-- end -->\n")
    with pytest.raises(WeftError, match="no place `<!-- tofino_osu"):
        accuracy.write([page], results)
    assert page.read_text() == "<!-- summary -->\n<!-- end -->\n"


def test_each_table_has_its_figure(
    results: list[Result], gains: list[GainResult], tmp_path: Path
) -> None:
    drawn = validate.plot(results, tmp_path / "figures")
    drawn.append(gain_report.plot(gains, tmp_path / "figures"))
    for path in drawn:
        committed = ROOT / "docs" / "figures" / path.name
        assert plots.drawn(path) == plots.drawn(committed) != "", (
            f"{committed} is older than its data: run `weft validate --figures docs/figures`"
        )


def test_a_figure_says_what_its_table_has(results: list[Result]) -> None:
    rates = [one for one in results if one.check.column.endswith("_GBps")]
    assert rates
    for rate in rates:
        assert rate.unit == "bandwidth (GB/s)"
        table = read_table(paths.data(rate.check.table), "Allreduce")
        for row in table.rows:
            measured = rate.in_unit(rate.measured)[int(table.number(row, rate.by))]
            assert measured == pytest.approx(table.number(row, rate.check.column))
    for name in dict.fromkeys(one.check.table for one in results):
        title = validate._title(name)
        assert ".csv" not in title


def one_result(mean: float | None, worst: float | None) -> Result:
    check = Check("t.csv", "a_us", "stream", "nothing", fabric="tofino-4", mean=mean, worst=worst)
    return Result(check, "bytes", (Point(4, 1.1, 1.0), Point(8, 1.0, 1.0)))


@pytest.mark.parametrize(
    ("mean", "worst", "holds"),
    [(None, None, True), (0.05, 0.11, True), (0.04, None, False), (0.05, 0.09, False)],
)
def test_a_result_holds_within_both_bounds(
    mean: float | None, worst: float | None, holds: bool
) -> None:
    assert one_result(mean, worst).holds is holds


def test_the_command_says_what_is_above_its_bound(
    results: list[Result],
    gains: list[GainResult],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bad = replace(results[0], check=structs.replace(results[0].check, mean=0.001))
    monkeypatch.setattr("weft.cli.validate.run", lambda _checks, _progress: [bad, results[1]])
    much = replace(gains[0], gain=structs.replace(gains[0].gain, mean=0.001))
    monkeypatch.setattr("weft.study.validation.gain_runs.run", lambda _gains: [much, gains[1]])
    target = tmp_path / "errors.json"
    result = CliRunner().invoke(weft, ["validate", "--json", str(target)], standalone_mode=False)
    assert result.return_value == 1
    assert result.stdout.count("BOUND EXCEEDED") == 2
    record = json.loads(target.read_text())
    assert record["schema"] == "weft-validate/1"
    assert [one["holds"] for one in record["checks"]] == [False, True]
    assert [one["holds"] for one in record["gains"]] == [False, True]
    pair = record["gains"][0]["pairs"][0]
    factor = pair["measured"]["hosts_us"] / pair["measured"]["offloaded_us"]
    assert pair["measured_factor"] == pytest.approx(factor) == pytest.approx(4.75 / 7.89)
    first = record["checks"][0]
    assert first["points"][0] == {
        "key": 4,
        "simulated_us": pytest.approx(7.783, abs=0.01),
        "measured_us": pytest.approx(7.89),
    }


def test_a_check_with_an_unknown_key_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "checks.toml"
    path.write_text('[[check]]\ntable = "t"\nmeen = 0.1\n')
    with pytest.raises(WeftError, match="check 1: unknown key 'meen'"):
        validate.read_checks(path)
