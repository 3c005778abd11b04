# SPDX-License-Identifier: LGPL-2.1-only
"""Slowdown of jobs among other jobs: `weft run --jobs FILE --alone`."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft
from tests.support import compiled
from tests.support.jobs import job, part
from tests.support.places import TESTS
from tests.support.simulated import weft_says
from weft.runs.jobs.durations import RankCalls, ratios

CLOSE = 1e-9
ENVELOPE = 16
"""Bytes that SMPI adds to a message."""
CHANNELS = 2
"""As many as one job of `sum` needs, so that two jobs get one channel each."""


@pytest.fixture(scope="module")
def jobs() -> str:
    return str(compiled.program(TESTS / "smpi" / "jobs.c"))


def flow(jobs: str, name: str, size: int) -> dict[str, Any]:
    return job(name, jobs, "flow", size, ranks=2, hosts="host-[0,1]")


def test_each_job_also_runs_alone(jobs: str) -> None:
    tables = [
        job("a", jobs, "sum", 3, ranks=6, placement="random"),
        job("b", jobs, "sum", 4, ranks=5, placement="fragments", start="20us", offload="off"),
    ]
    record = weft.run_jobs(tables, alone=True, fabric="fat-tree-8")
    assert sorted(record.output.splitlines()) == ["a: right", "b: right"]
    for one in record.jobs or ():
        names = dict.fromkeys(one.hosts)
        table = next(table for table in tables if table["name"] == one.name)
        table = {key: table[key] for key in table if key not in ("placement", "seed")}
        only = weft.run_jobs(
            [table | {"hosts": list(names), "ppn": one.ppn}],
            fabric="fat-tree-8",
        )
        same = part(only, one.name)
        assert one.alone
        alone = one.alone.to_json()
        assert len(alone.pop("ratios")) == len(same.durations)
        assert alone == {key: same.to_json()[key] for key in alone}
        assert one.time_s is not None
        assert one.slowdown == one.time_s / same.time_s
        assert [row.alone for row in one.slowdowns()] == same.durations
        for row in one.slowdowns():
            ranks = row.together.communicator_size
            assert row.ratio.rank_calls == row.together.calls * ranks == row.alone.calls * ranks
            assert row.ratio.p50 <= row.ratio.p95 <= row.ratio.p99 <= row.ratio.max


def test_ratios_are_those_of_the_same_calls() -> None:
    """Ranks 0 and 1 make two calls each, whose order in time differs between the runs."""
    together = RankCalls(np.array([0, 1, 1, 0], np.int32), np.array([2.0, 6.0, 4.0, 8.0]))
    alone = RankCalls(np.array([1, 0, 0, 1], np.int32), np.array([3.0, 1.0, 2.0, 0.0]))
    kind = ("allreduce", 2, "INT", "SUM")
    (row,) = ratios({kind: together, ("barrier", 2, "", ""): together}, {kind: alone})
    # 2/1, 8/2 and 6/3; the second call of rank 1 took no time alone.
    assert (row.rank_calls, row.mean, row.p50, row.p99, row.max) == (3, 8 / 3, 2, 4, 4)
    # Quantiles of the durations themselves would give 4/1 and 8/3.
    assert row.of == kind


def test_a_run_that_ended_early_lacks_calls() -> None:
    together = RankCalls(np.array([0, 0, 1], np.int32), np.array([2.0, 3.0, 4.0]))
    alone = RankCalls(np.array([0, 2], np.int32), np.array([1.0, 1.0]))
    kind = ("bcast", 3, "INT", "")
    (row,) = ratios({kind: together}, {kind: alone})
    assert (row.rank_calls, row.max) == (1, 2)
    assert ratios({kind: together}, {kind: RankCalls(alone.ranks[1:], alone.durations_s[1:])}) == []


def test_frames_of_jobs_that_also_ran_alone(jobs: str) -> None:
    tables = [job("a", jobs, "sum", 3, ranks=6), job("b", jobs, "sum", 4, ranks=5)]
    record = weft.run_jobs(tables, alone=True, fabric="fat-tree-8")
    frame = record.frame("slowdowns")
    assert set(frame["job"]) == {"a", "b"}
    assert frame["rank_calls"].to_list() == [
        row.together.calls * row.together.communicator_size
        for one in record.jobs or ()
        for row in one.slowdowns()
    ]
    assert record.frame("jobs").select("job", "slowdown").rows() == [
        (one.name, one.slowdown) for one in record.jobs or ()
    ]


def test_slowdown_of_flows_on_one_link(jobs: str) -> None:
    small, large = 4 << 20, 8 << 20
    record = weft.run_jobs(
        [flow(jobs, "small", small), flow(jobs, "large", large)],
        shared_hosts=True,
        alone=True,
        fabric="tofino-4",
    )
    alone = {name: float(part(record, name).alone.time_s) for name in ("small", "large")}
    rate = (large - small) / (alone["large"] - alone["small"])
    for one in record.jobs or ():
        # The large flow gets half of the link while the small flow runs, and loses the small flow's
        # bytes.
        expected = 1 + (small + ENVELOPE) / rate / alone[one.name]
        assert one.slowdown == pytest.approx(expected, rel=CLOSE)


def test_jobs_with_too_few_channels_are_slower(jobs: str, tmp_path: Path) -> None:
    file = tmp_path / "jobs.toml"
    file.write_text(
        "".join(
            f'[[jobs]]\nname = "{name}"\nprogram = "{jobs}"\narguments = ["sum", "5"]\n'
            "ranks = 8\noffload = 'stream'\n"
            for name in ("first", "second")
        )
    )
    options = (
        "--fabric",
        "tofino-16",
        "--set",
        f"switch.channels={CHANNELS}",
        "--jobs",
        str(file),
        "--alone",
    )
    result = weft_says("run", *options)
    assert result.returncode == 0
    assert sorted(result.stdout.splitlines()) == ["first: right", "second: right"]
    record = weft.run_jobs(file, alone=True, fabric="tofino-16", set={"switch.channels": CHANNELS})
    rows = [line.split() for line in result.stderr.splitlines()]
    for name in ("first", "second"):
        one = part(record, name)
        assert (one.offloaded_calls, one.alone.offloaded_calls) == (5, 10)
        assert one.slowdown > 1
        worst = max(row.ratio.max for row in one.slowdowns())
        assert worst > max(row.ratio.p50 for row in one.slowdowns()) == pytest.approx(1, rel=CLOSE)
        assert [name, "switch", "50.0%", "10", "5"] in rows


def test_a_job_that_fails_has_no_slowdown(jobs: str) -> None:
    record = weft.run_jobs(
        [job("a", jobs, "sum"), job("b", jobs, "abort", 2)], alone=True, fabric="tofino-16"
    )
    assert part(record, "b").slowdown is None
    assert part(record, "b").alone.outcome.kind == "abort"
    assert part(record, "a").slowdown == pytest.approx(1, rel=CLOSE)
    assert "slowdown" in str(record)


def test_alone_needs_jobs(jobs: str) -> None:
    result = weft_says("run", "--fabric", "tofino-4", "-n", "2", "--alone", "--", jobs, "sum")
    assert result.stderr == "weft: --alone: found without --jobs, whose jobs it compares\n"
