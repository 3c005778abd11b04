# SPDX-License-Identifier: LGPL-2.1-only
"""Gains of jobs among other jobs: the time of each job, not of the whole run."""

import re
from pathlib import Path

import pytest

import weft
from tests.support import compiled
from tests.support.jobs import job, part
from tests.support.places import ROOT, TESTS
from tests.support.simulated import weft_says
from weft.base.errors import WeftError


@pytest.fixture(scope="module")
def jobs() -> str:
    return str(compiled.program(TESTS / "smpi" / "jobs.c"))


def test_each_job_has_a_gain_of_its_own(jobs: str) -> None:
    tables = [
        job("sums", jobs, "sum", 40, ranks=8),
        job("late", jobs, "sum", 3, ranks=4, start="2ms", offload="off"),
    ]
    record = weft.run_jobs(tables, compare=True, fabric="tofino-16").check()
    hosts = weft.run_jobs(tables, offload="off", fabric="tofino-16").check()
    for name in ("sums", "late"):
        one, without = part(record, name), part(hosts, name)
        assert one.without_offload
        found = one.without_offload.to_json()
        assert found.pop("ratios") == []  # are only of runs alone
        assert found == {key: without.to_json()[key] for key in found}
        assert one.time_s is not None and without.time_s is not None
        assert one.speed_up == without.time_s / one.time_s
    # The run ends with the late job, which gains nothing, so its end does not show the other job's
    # gain.
    assert record.simulated_time_s == pytest.approx(hosts.simulated_time_s, rel=1e-3)
    assert part(record, "sums").speed_up != pytest.approx(1, rel=0.01)
    for text in (str(record), record._repr_html_()):
        assert "Gains are for this placement of the jobs" in text
    assert part(record, "late").speed_up == pytest.approx(1, rel=1e-9)
    text = str(record)
    assert "gain of jobs, --offload stream and off for all" in text


def test_frames_have_rows_of_each_job(jobs: str) -> None:
    tables = [job(name, jobs, "sum", count, ranks=4) for name, count in (("a", 3), ("b", 5))]
    record = weft.run_jobs(tables, fabric="tofino-16").check()
    for kind in ("collectives", "profile"):
        frame = record.frame(kind)
        for name in ("a", "b"):
            own = frame.filter(frame["job"] == name)
            assert len(own) == len(getattr(part(record, name), kind)) > 0
    alone = weft.run(jobs, ["sum", "3"], ranks=4, fabric="tofino-16").check()
    assert "job" not in alone.frame("collectives").columns


def test_jobs_that_all_run_on_hosts_have_nothing_to_compare(jobs: str) -> None:
    with pytest.raises(WeftError, match="compare: found with jobs that all have offload off"):
        weft.run_jobs(
            [job("a", jobs, "sum", 3, ranks=4, offload="off")], compare=True, fabric="tofino-4"
        )


def test_gains_of_jobs_have_what_those_of_single_runs_have(jobs: str, tmp_path: Path) -> None:
    path, written = tmp_path / "jobs.toml", tmp_path / "run.json"
    path.write_text(
        f'[[jobs]]\nname = "sums"\nprogram = "{jobs}"\narguments = ["sum", "40"]\nranks = 8\n'
        f'[[jobs]]\nname = "own"\nprogram = "{jobs}"\narguments = ["sum", "3"]\nranks = 4\n'
        'offload = "off"\n'
    )
    run = ["run", "--fabric", "tofino-16", "--jobs", str(path), "--compare"]
    result = weft_says(*run, "--json", str(written))
    assert result.returncode == 0
    lines = [one for one in result.stderr.splitlines() if re.match("job sums[,:]", one)]
    for line, name in zip(lines, ("job sums: ", "job sums, over --fallback best: "), strict=True):
        assert re.fullmatch(
            rf"{name}[\d.]+ times as fast \([\d.]+ to [\d.]+, 80 %\)(: cannot tell)?", line
        )
    assert result.stderr.count("not measured: ") == 1
    assert "job own: no gain" in result.stderr  # executed by the hosts in both runs
    record = weft.read_record(written)
    sums, own = part(record, "sums"), part(record, "own")
    assert sums.certainty.low < sums.speed_up < sums.certainty.high
    assert sums.certainty_over_best.low < sums.speed_up_over_best < sums.certainty_over_best.high
    assert (own.certainty, own.certainty_over_best) == (None, None)
    assert own.with_best
    # A job that runs by itself has the gain and the intervals of a run of its program.
    alone = weft.run_jobs([job("sums", jobs, "sum", 40, ranks=8)], compare=True, fabric="tofino-16")
    single = weft.compare(jobs, arguments=["sum", "40"], ranks=8, fabric="tofino-16")
    its = part(alone, "sums")
    assert (its.speed_up, its.certainty) == (single.speed_up, single.certainty)
    assert its.speed_up_over_best == single.speed_up_over_best
    assert its.certainty_over_best == single.certainty_over_best
    frame = record.frame("jobs")
    assert frame["low"][0] == sums.certainty.low
    assert frame["says_over_best"][0] == sums.certainty_over_best.says
    assert frame["not_measured"][0] == "; ".join(sums.certainty.beyond)
    assert "over best" in record._repr_html_()
    without = weft_says(*run, "--no-best")
    assert "fastest algorithms" not in without.stderr
    assert "over best" not in without.stderr


def test_gains_of_jobs_on_a_calibrated_fabric_have_its_intervals(jobs: str, tmp_path: Path) -> None:
    fabric = tmp_path / "own.toml"
    fabric.write_text(
        (ROOT / "fabrics" / "tofino-4.toml").read_text()
        + '\n[calibration.intervals]\n"nic.offload_overhead" = ["0.1us", "2us"]\n'
    )
    tables = [job("sums", jobs, "sum", 40, ranks=4)]
    its = part(weft.run_jobs(tables, compare=True, fabric=fabric), "sums")
    single = weft.compare(jobs, arguments=["sum", "40"], ranks=4, fabric=fabric)
    assert its.certainty.basis == "calibration"
    assert its.certainty == single.certainty
    none = part(weft.run_jobs(tables, compare=True, intervals=False, fabric=fabric), "sums")
    assert none.certainty.basis == "measurements"
