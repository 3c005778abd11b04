# SPDX-License-Identifier: LGPL-2.1-only
"""Gains in campaigns: over the library's default and the best of all algorithms, with intervals.

The runs are real, and the page's statements are checked against `weft.compare`.
"""

import html
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import weft
from tests.support.campaign_files import LATENCY, head, written
from tests.support.campaign_files import weft as campaign
from tests.support.computed_campaigns import PROGRAM, done, made
from tests.support.simulated import weft as run_weft
from weft import _core
from weft.base.units import format_ratio
from weft.campaign.file.axes import Point
from weft.campaign.file.file import read
from weft.campaign.file.runs import best_points
from weft.report.data.study import Study
from weft.report.page import payload, sections
from weft.report.page.ranking import ranked
from weft.report.page.sentences import headline

RUNS = """
[[runs]]
program = "latency"
fabric = "tofino-4"
ranks = 4
bytes = ["1KiB", "256KiB"]
offload = ["stream", "off"]
"""
INTERVALS = {"switch.processing_latency": ("2us", "4us"), "link.latency": ("0.9us", "1us")}
Compare = Callable[..., weft.Comparison]


@pytest.fixture
def calibrated(tmp_path: Path) -> Path:
    """Return a Tofino whose latency and cables have intervals."""
    lines = [f'"{key}" = ["{low}", "{high}"]' for key, (low, high) in INTERVALS.items()]
    text = Path(_core.load_fabric("tofino-4").file).read_text(encoding="utf-8")
    target = tmp_path / "calibrated.toml"
    target.write_text("\n".join([text, "[calibration.intervals]", *lines, ""]), encoding="utf-8")
    return target


def compared(fabric: Path | str, size: int, **more: Any) -> weft.Comparison:
    return weft.compare(
        LATENCY, arguments=[str(size), "2"], fabric=fabric, ranks=4, privatize=False, **more
    )


def page_of(file: Path) -> str:
    """Run a campaign and return the text of its page."""
    ended = campaign("run", str(file))
    assert ended.status == 0, ended.stderr
    page = file.with_suffix(".html")
    assert campaign("report", str(file), "-o", str(page)).status == 0
    text = page.read_text(encoding="utf-8").partition("<script")[0]
    return html.unescape(re.sub(r"<[^>]+>", " ", text))


# ---- Over the best of all algorithms -------------------------------------------------------------


def test_the_default_report_has_both_gains(tmp_path: Path) -> None:
    file = written(tmp_path, head(best=True) + RUNS)
    said = page_of(file)
    gains = [compared("tofino-4", size) for size in (1 << 10, 1 << 18)]
    for name, values in {
        "openmpi-5.0": [one.speed_up for one in gains],
        "best of all algorithms": [one.speed_up_over_best for one in gains],
    }.items():
        known = [value for value in values if value is not None]
        assert len(known) == 2
        faster = sum(value > 1.005 for value in known)
        assert (
            f"On tofino-4, program latency, stream is faster than the hosts ({name}) in {faster} of"
            f" 2 combinations: at most {format_ratio(max(known))} times"
        ) in said
        assert re.search(rf"stream +{name} +2 +{faster} ", said), "the table"
    assert gains[1].speed_up != gains[1].speed_up_over_best
    assert "the algorithm of any library with the lowest predicted time" in said


def test_what_it_costs_is_said_and_can_be_left_out(tmp_path: Path) -> None:
    file = written(tmp_path, head(best=True) + RUNS)
    assert campaign("plan", str(file)).stdout == (
        "small: 6 runs: 0 done, 6 to do\n"
        "including 2 runs with the hosts' fastest algorithms (fallback best), for the gain over"
        " the best algorithm; [campaign] best = false omits them\n"
    )
    ended = campaign("run", str(file))
    assert "weft: its runs include 2 runs with the hosts' fastest algorithms" in ended.stderr
    assert campaign("run", str(file)).stderr == "", "nothing is to do"
    file = written(tmp_path, head(best=False) + RUNS)
    assert campaign("plan", str(file)).stdout == "small: 4 runs: 4 done\n"
    assert "best of all" not in page_of(file)


def test_gains_of_calls_that_fell_back_name_what_was_not_measured(tmp_path: Path) -> None:
    text = head(best=False) + RUNS.replace('"tofino-4"', '"star-8"')
    text += '"link.bandwidth" = ["100Gbps", "200Gbps"]\n'
    rows = weft.Campaign(written(tmp_path, text)).run(progress=False).frame()
    fallen = rows.filter(offload="stream")
    assert set(fallen["offloaded_calls"]) == {0}
    assert set(fallen["speed_up"]) == {1}
    assert fallen["speed_up_says"].is_null().all()
    cables = "hosts: cables of 200 Gb/s (up to 100 Gb/s)"
    assert set(fallen.select("link.bandwidth", "not_measured").rows()) == {
        ("100Gbps", ""),
        ("200Gbps", cables),
    }


def test_tables_have_the_best_beside_the_hosts(tmp_path: Path) -> None:
    results = weft.Campaign(written(tmp_path, head(best=True) + RUNS)).run(progress=False)
    rows = results.frame()
    assert "fallback" not in rows.columns
    best = results.record(bytes="256KiB", offload="off", fallback="best")
    own = results.record(bytes="256KiB", offload="off")
    assert (own.fallback, best.fallback) == ("openmpi-5.0", "best")
    assert best.simulated_time_s < own.simulated_time_s
    times = rows.select("bytes", "offload", "best_time_s").rows()
    assert {key[:2] for key in times if key[2]} == {("1KiB", "off"), ("256KiB", "off")}
    assert ("256KiB", "off", best.simulated_time_s) in times
    assert set(results.collectives()["run"]) == set(rows["run"])


@pytest.mark.parametrize(
    ("points", "number"),
    [
        ([{"offload": "off"}, {"offload": "stream"}], 1),
        ([{"offload": "off"}, {}], 1),
        ([{"offload": "off"}], 0),
        ([{"offload": "stream"}, {}], 0),
        ([{"offload": "off", "contention": False}, {"offload": "stream"}], 0),
        ([{"offload": "off", "fallback": "best"}, {"offload": "stream", "fallback": "best"}], 0),
        ([{"offload": "off", "fallback": one} for one in "ab"] + [{"offload": "auto"}], 1),
        ([{"offload": "off", "ranks": ranks} for ranks in (2, 4)] + [{"offload": "auto"}], 2),
    ],
)
def test_the_best_is_run_once_where_hosts_are_a_baseline(points: list[Point], number: int) -> None:
    found = best_points(points)
    assert len(found) == number
    assert all((one["offload"], one["fallback"]) == ("off", "best") for one in found)


VENDORS = (
    PROGRAM
    + """
[[runs]]
program = "sum"
fabric = ["smart", "plain"]
ranks = [4, 8]
bytes = "1KiB"
offload = ["off", "stream"]
fallback = ["openmpi-5.0", "best"]
leave_out = [{ fabric = "plain", offload = "stream" }, { offload = "stream", fallback = "best" }]
"""
)


def of_vendors(point: Point) -> dict[str, Any]:
    """Return a switch that is faster than the library, but not faster than the best algorithms."""
    if point["offload"] == "off":
        return dict(done(1.0 if point["fallback"] == "best" else 2.0))
    return dict(done(1.0, offloaded=1))


def both(folder: Path, baseline: str = "") -> Study:
    return made(folder, VENDORS + baseline, of_vendors)


def test_the_best_is_a_baseline_and_never_an_answer(tmp_path: Path) -> None:
    study = both(tmp_path, '[report]\nbaseline = { fabric = "plain" }\n')
    assert [one.name for one in study.references[:4]] == [
        "fabric plain",
        "fabric plain (best of all algorithms)",
        "the hosts (offload = off)",
        "the hosts (best of all algorithms)",
    ]
    assert {one.point["fallback"] for one in study.compared} == {"openmpi-5.0"}
    assert study.uncompared == 0
    assert headline(study) == [
        "Program sum, off, fabric smart is as fast as fabric plain, within 0.5 %, in all of 2"
        " combinations.",
        "Program sum, stream, fabric smart is faster than fabric plain in 2 of 2 combinations: at"
        " most 2.00 times, for 4 ranks (1 s against 2 s), and as much in 1 more.",
        "Program sum, stream, fabric smart is as fast as fabric plain (best of all algorithms),"
        " within 0.5 %, in all of 2 combinations.",
    ]
    assert ranked(both(tmp_path / "other")) == [
        "The fastest fabric for sum, each with its fastest mode (off, stream), of 2"
        " combinations: smart in 2; never plain."
    ]


def test_the_page_offers_both_and_no_choice_of_fallbacks(tmp_path: Path) -> None:
    data = payload.payload(both(tmp_path))
    first, best = data["baselines"][:2]
    assert (first["overBest"], best["overBest"]) == (1, None)
    assert first["reference"]["name"] == "the hosts (offload = off)"
    assert best["reference"]["said"] == "best of all algorithms"
    assert "fallback" in data["fixed"]
    assert "fallback" not in first["further"]
    assert len(data["best"]) == 4
    assert "best of all algorithms" in sections.verdict_table(both(tmp_path))


def test_a_comparisons_file_brings_all_its_runs(calibrated: Path, tmp_path: Path) -> None:
    comparison = compared(calibrated, 1 << 18)
    page = tmp_path / "page.html"
    weft.write_report([comparison], page)
    said = html.unescape(page.read_text(encoding="utf-8"))
    assert comparison.speed_up is not None
    low, high = (format_ratio(end) for end in comparison.speed_up_interval or (0, 0))
    ratio = format_ratio(comparison.speed_up)
    within = f"{low} to {high} within the intervals of the fabric's values"
    assert f"is {ratio} times as fast as the hosts (openmpi-5.0), {within} (" in said
    ratio = format_ratio(comparison.speed_up_over_best)
    over = comparison.certainty_over_best
    assert over is not None
    low, high = (format_ratio(end) for end in (over.low, over.high))
    within = f"{low} to {high} in 80 % of measured cases"
    assert f"is {ratio} times as fast as the hosts (best of all algorithms), {within} (" in said


# ---- Intervals -----------------------------------------------------------------------------------


def test_tables_have_gains_with_their_intervals(tmp_path: Path) -> None:
    file = written(tmp_path, head(best=True) + RUNS)
    page_of(file)
    frame = weft.Campaign(file).results().frame()
    offloaded = frame.filter(frame["offload"] == "stream").to_dicts()
    hosts = frame.filter(frame["offload"] == "off").to_dicts()
    for own, other in zip(offloaded, hosts, strict=True):
        assert own["speed_up"] == other["simulated_time_s"] / own["simulated_time_s"]
        assert own["speed_up_over_best"] == other["best_time_s"] / own["simulated_time_s"]
        low, high = own["speed_up_low"], own["speed_up_high"]
        assert low * high == pytest.approx(own["speed_up"] ** 2)
        says = "faster" if low > 1 else "slower" if high < 1 else "cannot tell"
        assert own["speed_up_says"] == says
        assert own["not_measured"] == ""
        assert (other["speed_up"], other["speed_up_says"]) == (None, None)
    reported = campaign("report", str(file), "-o", str(tmp_path / "page.html")).stdout
    assert "small: offloading against the hosts, 80% intervals: 1 faster, 1 slower\n" in reported


def test_gains_have_the_intervals_of_comparisons(calibrated: Path, tmp_path: Path) -> None:
    file = written(tmp_path, head() + RUNS.replace("tofino-4", calibrated.name))
    said = page_of(file)
    gains = [compared(calibrated, size) for size in (1 << 10, 1 << 18)]
    best = max(gains, key=lambda one: one.speed_up or 0)
    low, high = (format_ratio(end) for end in best.speed_up_interval or (0, 0))
    within = f"{low} to {high} within the intervals of the fabric's values"
    assert f"at most {format_ratio(best.speed_up)} times, {within}, for 256KiB" in said
    assert f"{format_ratio(best.speed_up)}\N{MULTIPLICATION SIGN} ({low} to {high})" in said, (
        "the table"
    )
    assert "Gains with a calibrated interval (2 of 2)" in said
    unsure = sum(
        (low < 1 < high) for low, high in (one.speed_up_interval or (0, 0) for one in gains)
    )
    assert ("cannot tell in 1: " in said) is (unsure == 1)


def test_what_intervals_cost_is_said_and_can_be_left_out(calibrated: Path, tmp_path: Path) -> None:
    text = head() + RUNS.replace("tofino-4", calibrated.name)
    file = written(tmp_path, text)
    assert campaign("plan", str(file)).stdout == (
        "small: 20 runs: 0 done, 20 to do\n"
        "including 16 runs at the ends of the fabrics' calibration intervals, for the interval of"
        " each gain; [campaign] intervals = false omits them\n"
    )
    written(tmp_path, text.replace("best = false", "best = false\nintervals = false"))
    assert campaign("plan", str(file)).stdout == "small: 4 runs: 0 done, 4 to do\n"
    assert "calibrated interval" not in page_of(file)
    # Without host runs there is no gain; a value set by the user has no interval.
    written(tmp_path, text.replace('["stream", "off"]', '"stream"'))
    assert campaign("plan", str(file)).stdout.startswith("small: 2 runs")
    written(tmp_path, text + '"link.latency" = ["0.9us", "1us"]\n')
    assert campaign("plan", str(file)).stdout.startswith("small: 24 runs")


def test_runs_at_ends_are_in_no_table_and_gains_wait_for_all(
    calibrated: Path, tmp_path: Path
) -> None:
    file = written(tmp_path, head() + RUNS.replace("tofino-4", calibrated.name))
    first = page_of(file)
    assert page_of(file) == first
    results = weft.Campaign(file).results()
    assert (len(results), results.frame().height, results.status.total) == (4, 4, 20)
    end = next(results._prepared.found.ends)
    results._prepared.store.path(end.digest).unlink()
    assert campaign("status", str(file)).status == 3
    assert campaign("report", str(file), "-o", str(tmp_path / "again.html")).status == 0
    said = (tmp_path / "again.html").read_text(encoding="utf-8")
    assert "Gains with a calibrated interval (1 of 2)" in said
    assert "Gains with an interval (1 of 2): it holds 80 % of the measured gains" in said


def test_an_end_that_makes_no_fabric_is_named_before_anything_runs(
    calibrated: Path, tmp_path: Path
) -> None:
    with calibrated.open("a", encoding="utf-8") as file:
        file.write('"link.bandwidth" = ["0Bps", "1GBps"]\n')
    ended = campaign(
        "plan", str(written(tmp_path, head() + RUNS.replace("tofino-4", calibrated.name)))
    )
    assert "link.bandwidth 0Bps" in ended.stderr
    assert "calibrated.toml" in ended.stderr


# ---- Errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["best", "intervals"])
def test_a_key_is_true_or_false(key: str, tmp_path: Path) -> None:
    text = head().replace("best = false", f'{key} = "no"')
    with pytest.raises(
        weft.WeftError, match=rf"\[campaign\] {key}: found 'no'; allowed are true, false"
    ):
        read(written(tmp_path, text + RUNS))


def test_what_gains_need_counts_as_runs(calibrated: Path, tmp_path: Path) -> None:
    text = head(best=True).replace("best = true", "best = true\nmost_runs = 10")
    file = written(tmp_path, text + RUNS.replace("tofino-4", calibrated.name))
    ended = run_weft("campaign", "run", str(file))
    assert ended.status == 2
    assert (
        f"{file}: [campaign] most_runs: found more than 10 runs: among the first 15 are 3 of"
        " [[runs]], 0 by the hosts' fastest algorithms, 12 at the ends of the fabrics' intervals;"
        " raise it"
    ) in ended.stderr
