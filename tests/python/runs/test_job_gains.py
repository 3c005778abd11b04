# SPDX-License-Identifier: LGPL-2.1-only
"""Gains of jobs among other jobs: the time of each job, not of the whole run."""

import pytest

import weft
from tests.support import compiled
from tests.support.jobs import job, part
from tests.support.places import TESTS
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
