# SPDX-License-Identifier: LGPL-2.1-only
"""Traffic of each job in the record, and the durations of its calls."""

from pathlib import Path
from typing import Any

import pytest

import weft
from tests.support import compiled
from tests.support.jobs import job, part
from tests.support.places import TESTS
from weft.runs.record import Record

CLOSE = 1e-9
ENVELOPE = 16
"""Bytes that SMPI adds to a message."""


@pytest.fixture(scope="module")
def jobs() -> str:
    return str(compiled.program(TESTS / "smpi" / "jobs.c"))


def links(record: Record, name: str) -> dict[str, float]:
    return {link.name: link.bytes for link in part(record, name).links}


def total(record: Record) -> dict[str, float]:
    """Return the bytes of all jobs on each link."""
    sums: dict[str, float] = {}
    for one in record.jobs or ():
        for link in one.links:
            sums[link.name] = sums.get(link.name, 0) + link.bytes
    return sums


def test_each_job_has_its_messages_and_its_part_of_links(jobs: str) -> None:
    small, large = 1 << 20, 3 << 20
    record = weft.run_jobs(
        [
            job("small", jobs, "flow", small, ranks=2, hosts="host-[0,2]"),
            job("large", jobs, "flow", large, ranks=2, hosts="host-[1,2]"),
        ],
        shared_hosts=True,
        fabric="tofino-4",
    )
    record.check()
    own = {"small": small + ENVELOPE, "large": large + ENVELOPE}
    for name, sent in own.items():
        one = part(record, name)
        assert (one.messages, one.message_bytes) == (1, sent)
        assert set(links(record, name).values()) == {sent}
        share = {link.name: link.share for link in one.links}
        assert share.pop("host-2.down") == pytest.approx(sent / sum(own.values()), rel=CLOSE)
        assert set(share.values()) == {1.0}
        (switch,) = one.switches
        assert (switch.bytes, switch.offloaded) == (sent, 0)
        assert switch.share == pytest.approx(sent / sum(own.values()), rel=CLOSE)


@pytest.mark.parametrize("offload", ["stream", "message", "multicast", "off"])
def test_the_parts_of_jobs_add_up(jobs: str, offload: str) -> None:
    options: Any = {"fabric": "fat-tree-1024-radix-32", "offload": offload}
    record = weft.run_jobs(
        [
            job("a", jobs, "sum", 3, ranks=8, hosts="host-[0000-0003,0016-0019]"),
            job("b", jobs, "sum", 2, ranks=5, hosts="host-[0004-0006,0032-0033]"),
        ],
        **options,
    )
    record.check()
    assert total(record) == pytest.approx({link.name: link.bytes for link in record.links})
    shared = [link for one in record.jobs or () for link in one.links if link.share < 1]
    assert shared
    for switch in record.switches:
        parts = [one for each in record.jobs or () for one in each.switches]
        own = [one for one in parts if one.name == switch.name]
        assert sum(one.offloaded for one in own) == switch.offloaded
        assert sum(one.bytes_reduced for one in own) == switch.bytes_reduced
        assert sum(one.bytes_multicast for one in own) == switch.bytes_multicast
        assert not own or sum(one.share for one in own) == pytest.approx(1)


def test_jobs_on_shared_hosts_have_their_own_traffic(jobs: str) -> None:
    tables = [job(name, jobs, "sum", n, hosts="host-[0-3]") for name, n in (("a", 1), ("b", 4))]
    options: Any = {"fabric": "tofino-4", "offload": "stream"}
    together = weft.run_jobs(tables, shared_hosts=True, **options)
    for table in tables:
        alone = weft.run_jobs([table], **options)
        name = table["name"]
        assert links(together, name) == links(alone, name)
        assert part(together, name).messages == part(alone, name).messages


def test_a_job_has_the_durations_of_its_calls(jobs: str) -> None:
    record = weft.run_jobs([job("a", jobs, "sum", 20, ranks=8)], fabric="tofino-16")
    one = part(record, "a")
    calls = {row.collective: row for row in one.collectives}
    assert {row.collective for row in one.durations} == set(calls)
    for row in one.durations:
        same = calls[row.collective]
        assert row.calls == same.calls
        assert row.max_s == same.max_time_s
        assert row.mean_s == pytest.approx(same.mean_time_s, rel=CLOSE)
        assert row.p50_s <= row.p95_s <= row.p99_s <= row.max_s * (1 + CLOSE)


def test_background_traffic_belongs_to_no_job(jobs: str, tmp_path: Path) -> None:
    tables = [job("a", jobs, "flow", 1 << 20, ranks=2, hosts="host-[0,1]")]
    file = tmp_path / "traffic.toml"
    file.write_text(
        '[[traffic]]\npattern = "permutation"\nload = "30%"\nbytes = "64KiB"\n'
        'hosts = "host-[0-3]"\n'
    )
    options: Any = {"fabric": "tofino-4"}
    alone = weft.run_jobs(tables, **options)
    beside = weft.run_jobs(tables, traffic=file, **options)
    beside.check()
    assert links(beside, "a") == links(alone, "a")
    assert part(beside, "a").messages == part(alone, "a").messages
    assert all(link.share < 1 for link in part(beside, "a").links)
    assert sum(link.bytes for link in beside.links) > sum(links(beside, "a").values())
