# SPDX-License-Identifier: LGPL-2.1-only
"""Fault files and their keys as axes of a campaign, and the report of the cost of faults."""

import shutil
from pathlib import Path

import pytest

from tests.support.campaign_files import LATENCY, Write, head, weft, written
from weft.base.errors import WeftError
from weft.campaign import campaign as api
from weft.campaign import table
from weft.report.data import loading
from weft.report.data.losses import Lost, losses
from weft.report.page.page import render

HEAD = head("own", "own", "own.c")
RUNS = """
[[runs]]
program = "own"
fabric = "tofino-4"
ranks = 4
bytes = "1MiB"
"""
FAULTS = """
[recovery]
routing = "local"
timeout = "20us"
retries = 1000

[[fault]]
link = "*"
mtbf = "1ms"
repair = "20us"
end = "10ms"
"""


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Return a function that writes a campaign's file next to its program and a fault file."""
    shutil.copy(LATENCY, tmp_path / "own.c")
    (tmp_path / "faults.toml").write_text(FAULTS)
    return lambda text: written(tmp_path, text, "own")


def test_keys_of_the_fault_file_are_axes(write: Write) -> None:
    axes = 'faults = "faults.toml"\nfault.scale = [0, 2]\nrecovery.timeout = ["20us", "50us"]\n'
    runs = api.prepare(write(HEAD + RUNS + axes)).runs
    assert len({run.digest for run in runs}) == 4
    assert runs[1].request.placement.changes == ("fault.scale=0", "recovery.timeout=50us")
    faults = runs[0].request.placement.faults
    assert faults is not None
    assert faults.is_file()  # found in the campaign's folder


def test_a_changed_fault_file_makes_other_runs(write: Write, tmp_path: Path) -> None:
    file = write(HEAD + RUNS + 'faults = "faults.toml"\n')
    (before,) = api.prepare(file).runs
    (tmp_path / "faults.toml").write_text(FAULTS.replace("20us", "30us"))
    (after,) = api.prepare(file).runs
    assert before.digest != after.digest


def test_keys_that_no_fault_file_has_are_refused(write: Write) -> None:
    axes = 'faults = "faults.toml"\n'
    with pytest.raises(WeftError, match=r"fault.mtfb: fault files have no such key; did you"):
        api.prepare(write(HEAD + RUNS + axes + "fault.mtfb = [1]\n"))
    for lines, message in {
        axes + 'fault.until = "1s"\n': r"fault.until: no table \[\[fault\]\] of .* has until",
        "fault.scale = 2\n": "faults: is missing, but required by fault.scale",
        axes + "recovery.backoff = 0\n": "backoff: found 0; allowed is a number from 1 to 1000",
    }.items():
        with pytest.raises(WeftError, match=f"no combination can be run: .*{message}"):
            api.prepare(write(HEAD + RUNS + lines))


def test_a_plan_refuses_what_a_run_refuses(write: Write, tmp_path: Path) -> None:
    """Axes of the fault file are not keys of the fabric, and their runs are executed."""
    axes = """
faults = "faults.toml"
fault.scale = [0, 2]
recovery.timeout = ["20us", "50us"]
switch.slots = 64
"""
    file = write(HEAD + RUNS + axes)
    assert weft("plan", str(file)).stderr == ""
    weft("run", str(file))
    prepared = api.prepare(file)
    assert set(table.frame(prepared)["state"]) == {"done"}
    (tmp_path / "faults.toml").write_text(FAULTS.replace('"*"', '"none-*"'))
    again = api.prepare(file)
    whys = {why for _, why in api.refusals(again, again.index())}
    assert len(whys) == 4
    weft("run", str(file))
    assert set(table.frame(api.prepare(file))["state"]) == {"refused"}


CAMPAIGN = """
faults = "faults.toml"
offload = ["stream", "off"]
fault.scale = [0, 1, 4]
fault.seed = [1, 2, 3]
recovery.collectives = ["rebuild", "hosts"]
leave_out = [
  { "fault.scale" = 0, "fault.seed" = [2, 3] },
  { offload = "off", "recovery.collectives" = "rebuild" },
]
"""


def test_a_report_shows_what_faults_cost(write: Write, tmp_path: Path) -> None:
    file = write(HEAD + RUNS + CAMPAIGN)
    weft("run", str(file))
    prepared = api.prepare(file)
    rows = table.frame(prepared)
    assert set(rows["state"]) == {"done"}
    hit = rows.filter(rows["fault.scale"] == 4)
    assert all(hit["fault_events"] > 0)
    assert hit["messages_cut"].sum() > 0
    assert rows.filter(rows["fault.scale"] == 0)["fault_events"].sum() == 0
    # Losses are differences from the run with the scale 0.
    found = losses(loading.of(prepared))
    assert found is not None
    assert found.across is not None
    assert found.across.name == "fault.scale"
    assert [(one.way, one.x, len(one.lost_s)) for one in found.rows] == [
        (way, x, 3)
        for way in ("hosts alone", "stream, hosts", "stream, rebuild")
        for x in ("1", "4")
    ]
    one = found.rows[1]
    off = rows.filter(rows["offload"] == "off")
    alone = off.filter(off["fault.scale"] == 0)["simulated_time_s"].item()
    assert one.lost_s == sorted(off.filter(off["fault.scale"] == 4)["simulated_time_s"] - alone)
    # Budget: mean cost of a failure in the runs, multiplied by the failures per day without the
    # scale.
    hit = off.filter(off["fault.scale"] == 4)
    assert one.failures == hit["failures"].sum() > 0
    (per_day,) = set(rows["failures_per_day"])
    assert one.budget.per_failure_s == pytest.approx(sum(one.lost_s) / one.failures)
    lost_s = sum(one.lost_s) / one.failures * per_day
    assert one.budget.per_day_s == pytest.approx(lost_s)
    assert one.budget.fraction == pytest.approx(lost_s / 86_400)
    page = tmp_path / "page.html"
    weft("report", str(file), "-o", str(page))
    assert "What faults cost" in page.read_text()
    assert "Budget of faults" in page.read_text()


ENDED = """
faults = "faults.toml"
"""
UNREPAIRED = """
[recovery]
timeout = "20us"
retries = 2
detection = "1s"

[[fault]]
link = "host-0"
at = "200us"
every = "12h"
"""


def test_a_report_has_a_budget_of_failures_that_end_jobs(write: Write, tmp_path: Path) -> None:
    file = write(HEAD + RUNS + ENDED)
    (tmp_path / "faults.toml").write_text(UNREPAIRED)
    weft("run", str(file))
    prepared = api.prepare(file)
    (row,) = table.frame(prepared).iter_rows(named=True)
    assert (row["outcome"], row["failures"], row["failures_per_day"]) == ("network-failure", 1, 2)
    found = losses(loading.of(prepared))
    assert found
    (one,) = found.rows
    assert (one.ended, one.ends_per_day) == (1, 2)
    assert one.ended_s == [row["simulated_time_s"]]
    assert one.budget.per_day_s == pytest.approx(2 * row["simulated_time_s"])
    page = render(loading.of(prepared))
    assert "of these end the job" in page
    assert "A failure that ends the job costs the run until then" in page


def test_a_report_without_faults_has_no_such_section(write: Write) -> None:
    file = write(HEAD + RUNS)
    weft("run", str(file))
    assert "What faults cost" not in render(loading.of(api.prepare(file)))


def test_quantiles_are_those_of_the_seeds() -> None:
    one = Lost("1", "stream", {}, 1.0, [0.0, 1.0, 2.0, 3.0, 4.0], 0, [], 0, None)
    assert [one.quantile(part) for part in (0, 0.05, 0.5, 1)] == pytest.approx([0, 0.2, 2, 4])
