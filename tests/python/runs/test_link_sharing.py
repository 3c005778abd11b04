# SPDX-License-Identifier: LGPL-2.1-only
"""Full links shared by flow, by host and by job: closed forms in whole runs, invalid values."""

from pathlib import Path
from typing import Any

import pytest

import weft
from tests.support import compiled
from tests.support.jobs import job, said
from tests.support.places import TESTS
from tests.support.simulated import weft_says
from weft.runs.record import Record

CLOSE = 1e-9
ENVELOPE = 16
"""Bytes that SMPI adds to a message."""
SIZE, LARGE = 4 << 20, 8 << 20
LONG = 1_000_000_000
"""Bytes of a background message that outlasts the run."""


@pytest.fixture(scope="module")
def program() -> str:
    return str(compiled.program(TESTS / "smpi" / "jobs.c"))


@pytest.fixture(scope="module")
def rate(program: str) -> float:
    """Return the rate of a message that does not share its links."""
    options: Any = {"ranks": 2, "fabric": "tofino-4"}
    alone = [time_of(weft.run(program, ["flow", str(size)], **options)) for size in (SIZE, LARGE)]
    return (LARGE - SIZE) / (alone[1] - alone[0])


def time_of(record: Record) -> float:
    record.check()
    return float(record.output.split()[-1])


def goal(folder: Path, *counts: int) -> str:
    """Write a schedule in which each of the first ranks sends long messages to the last."""
    to = len(counts)
    ranks = ["\n".join(f"a{k}: send {LONG}b to {to}" for k in range(count)) for count in counts]
    pairs = [(source, k) for source, count in enumerate(counts) for k in range(count)]
    ranks.append("\n".join(f"r{source}x{k}: recv {LONG}b from {source}" for source, k in pairs))
    blocks = [f"rank {number} {{\n{rank}\n}}" for number, rank in enumerate(ranks)]
    (folder / "long.goal").write_text("\n".join([f"num_ranks {to + 1}", *blocks, ""]))
    return 'pattern = "goal"\nfile = "long.goal"\n'


def sends(folder: Path, hosts: str, *counts: int, weight: object) -> str:
    """Write a traffic file with these messages to the last host."""
    path = folder / "traffic.toml"
    table = goal(folder, *counts)
    path.write_text(f'[[traffic]]\n{table}hosts = "host-[{hosts}]"\nweight = {weight}\n')
    return str(path)


def stretched(program: str, traffic: str, **more: Any) -> float:
    """Return the extra time of a message from host-0 to host-1 because of the traffic."""
    options: Any = {"ranks": 2, "fabric": "tofino-4", **more}
    beside = time_of(weft.run(program, ["flow", str(SIZE)], traffic=traffic, **options))
    options.pop("set", None)
    return beside - time_of(weft.run(program, ["flow", str(SIZE)], **options))


@pytest.mark.parametrize(
    ("sharing", "counts", "weight", "share"),
    [
        ("flow", (3,), 1, 1 / 4),
        ("host", (3,), 1, 1 / 2),
        ("host", (2, 1), 1, 1 / 3),
        ("job", (3,), 1, 1 / 2),
        ("job", (2, 1), 1, 1 / 2),
        ("job", (2, 2), 3, 1 / 4),
        ("job", (1,), 0.25, 4 / 5),
    ],
)
def test_background_traffic_takes_the_share_of_its_class(
    program: str,
    rate: float,
    tmp_path: Path,
    sharing: str,
    counts: tuple[int, ...],
    weight: float,
    share: float,
) -> None:
    traffic = sends(tmp_path, "2,3,1" if len(counts) > 1 else "2,1", *counts, weight=weight)
    longer = stretched(program, traffic, set={"link.sharing": sharing})
    expected = (SIZE + ENVELOPE) * (1 / share - 1) / rate
    assert longer == pytest.approx(expected, rel=CLOSE)


def test_jobs_share_a_link_by_weight_and_give_their_shares_back(
    program: str, rate: float, tmp_path: Path
) -> None:
    """Both jobs and the traffic send to host-2."""
    jobs = [
        job("heavy", program, "flow", SIZE, ranks=2, hosts="host-[0,2]", weight=3),
        job("light", program, "flow", SIZE, ranks=2, hosts="host-[1,2]"),
    ]
    options: Any = {"shared_hosts": True, "fabric": "tofino-4"}
    alone = time_of(weft.run_jobs(jobs[:1], **options))
    whole = (SIZE + ENVELOPE) / rate
    latency = alone - whole

    def times(**more: Any) -> list[float]:
        record = weft.run_jobs(jobs, **options, **more)
        record.check()
        return [float(said(record, name)[0]) for name in ("heavy", "light")]

    assert times() == pytest.approx([latency + 2 * whole] * 2, rel=CLOSE)
    by_job = {"link.sharing": "job"}
    # The light job has sent a third of its bytes when the heavy job ends.
    expected = [latency + whole * 4 / 3, latency + whole * 2]
    assert times(set=by_job) == pytest.approx(expected, rel=CLOSE)
    goal = (
        f"num_ranks 2\nrank 0 {{\na: send {LONG}b to 1\n}}\nrank 1 {{\na: recv {LONG}b from 0\n}}"
    )
    (tmp_path / "one.goal").write_text(f"{goal}\n")
    traffic = tmp_path / "traffic.toml"
    traffic.write_text(
        '[[traffic]]\npattern = "goal"\nfile = "one.goal"\nhosts = "host-[3,2]"\nweight = 2\n'
    )
    # Shares of 3, 1 and 2 sixths; then a third for the light job.
    expected = [latency + whole * 2, latency + whole * (2 + 2 / 3 * 3)]
    assert times(set=by_job, traffic=traffic) == pytest.approx(expected, rel=CLOSE)


@pytest.mark.parametrize("sharing", ["host", "job"])
@pytest.mark.parametrize("offload", ["stream", "message", "multicast", "off"])
def test_collectives_run_as_before_where_nobody_competes(
    program: str, sharing: str, offload: str
) -> None:
    """All hosts send equally much, or there is one job: the class of a flow does not matter."""
    options: Any = {"ranks": 8, "fabric": "fat-tree-1024-radix-32", "offload": offload}
    before = weft.run(program, ["sum", "3"], **options)
    after = weft.run(program, ["sum", "3"], set={"link.sharing": sharing}, **options)
    after.check()
    assert after.simulated_time_s == pytest.approx(before.simulated_time_s, rel=CLOSE)


def test_an_offloaded_call_has_the_share_of_its_job(program: str) -> None:
    """Eight messages of another job leave a stream half of the links instead of a ninth."""
    jobs = [
        job("calls", program, "sum", 40, ranks=4, hosts="host-[00-03]"),
        *(
            job(f"flow{k}", program, "flow", 1 << 20, ranks=2, hosts=f"host-[{4 + k:02},00]")
            for k in range(8)
        ),
    ]
    options: Any = {"shared_hosts": True, "fabric": "tofino-16", "offload": "stream"}

    def end(weight: float) -> float:
        jobs[0]["weight"] = weight
        record = weft.run_jobs(jobs, set={"link.sharing": "job"}, **options)
        record.check()
        (found,) = (one for one in record.jobs or () if one.name == "calls")
        assert found.end_s is not None
        return found.end_s

    assert end(1000) <= end(1) <= end(0.001)
    assert end(1000) < end(0.001)


@pytest.mark.parametrize("value", ["0", "-1", "1e9", '"much"', "true", "nan"])
def test_wrong_weights_are_refused(program: str, tmp_path: Path, value: str) -> None:
    path = tmp_path / "jobs.toml"
    path.write_text(f'[[jobs]]\nname = "a"\nprogram = "{program}"\nranks = 2\nweight = {value}\n')
    result = weft_says("run", "--fabric", "tofino-4", "--jobs", str(path))
    message = "allowed is a number from 0.001 to 1000"
    assert (result.returncode, result.stderr.count("\n")) == (2, 1)
    assert f'{path}: [[jobs]] name = "a": weight: found ' in result.stderr
    assert message in result.stderr
    traffic = sends(tmp_path, "2,3", 1, weight=value)
    options = ("-n", "2", "--traffic", traffic, program, "flow", "1")
    result = weft_says("run", "--fabric", "tofino-4", *options)
    assert (result.returncode, message in result.stderr) == (2, True)


def test_unknown_ways_to_share_are_refused(program: str) -> None:
    options = ("--set", "link.sharing=rank", "-n", "2", program, "flow", "1")
    result = weft_says("run", "--fabric", "tofino-4", *options)
    assert result.returncode == 2
    assert 'sharing: found "rank"; ' in result.stderr
    assert "allowed: flow, host, job" in result.stderr
