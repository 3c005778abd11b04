# SPDX-License-Identifier: LGPL-2.1-only
"""Slowdown of jobs among other jobs: `weft run --jobs FILE --alone`."""

from pathlib import Path
from typing import Any

import pytest

import weft
from tests.support import compiled
from tests.support.jobs import job, part
from tests.support.places import TESTS
from tests.support.simulated import weft_says

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
        assert one.alone.to_json() == {key: same.to_json()[key] for key in one.alone.to_json()}
        assert one.time_s is not None
        assert one.slowdown == one.time_s / same.time_s
        assert [row.alone for row in one.slowdowns()] == same.durations
        for row in one.slowdowns():
            assert row.mean == row.together.mean_s / row.alone.mean_s
            assert row.max == row.together.max_s / row.alone.max_s


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
        worst = max(row.max for row in one.slowdowns())
        assert worst > max(row.p50 for row in one.slowdowns()) == pytest.approx(1, rel=CLOSE)
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
