# SPDX-License-Identifier: LGPL-2.1-only
"""Data of one-sided calls as messages of weft's network: times, packets, faults, jobs, results."""

from pathlib import Path
from typing import Any

import pytest
from msgspec import UnsetType

import weft
from tests.support import compiled
from tests.support.faults import fault_file
from tests.support.jobs import job
from tests.support.places import TESTS
from weft.runs.record import Record

STAR = """
[fabric]
name = "star"
[topology]
kind = "star"
hosts = 8
[host]
speed = "1Gf"
cores = 8
loopback_bandwidth = "10GBps"
loopback_latency = "0s"
[nic]
preset = "connectx-6-dx"
[link]
bandwidth = "8Gbps"
latency = "1us"
[switch]
preset = "ideal"
"""
LATENCY, BANDWIDTH, ENVELOPE = 2e-6, 1e9, 16
BYTES = 100_000
ALONE = LATENCY + (BYTES + ENVELOPE) / BANDWIDTH
CLOCK = ("smpi/wtime:0",)
PACKETS = {"network.model": "packets", "network.packet": "4KiB"}


@pytest.fixture(scope="module")
def program() -> str:
    return str(compiled.program(TESTS / "smpi" / "one_sided.c"))


@pytest.fixture
def star(tmp_path: Path) -> str:
    path = tmp_path / "star.toml"
    path.write_text(STAR)
    return str(path)


def run(program: str, star: str, *arguments: object, ranks: int = 2, **more: Any) -> Record:
    words = [str(argument) for argument in arguments]
    return weft.run(program, words, ranks=ranks, fabric=star, cfg=CLOCK, **more).check()


def times(record: Record) -> list[float]:
    return [float(line.split()[-1]) for line in record.output.splitlines()]


@pytest.mark.parametrize("messages", ["weft", "smpi"])
@pytest.mark.parametrize("call", ["put", "get"])
def test_a_call_takes_the_time_of_a_message(
    program: str, star: str, call: str, messages: str
) -> None:
    found = times(run(program, star, call, BYTES, 3, messages=messages))
    assert found == pytest.approx([ALONE] * 3, rel=1e-4)


@pytest.mark.parametrize("network", [{}, PACKETS], ids=["flows", "packets"])
def test_it_shares_links_with_messages(program: str, star: str, network: dict[str, str]) -> None:
    both = times(run(program, star, "beside", BYTES, ranks=3, set=network))
    expected = LATENCY + 2 * (BYTES + ENVELOPE) / BANDWIDTH
    assert both == pytest.approx([expected] * 2, rel=0.05)


def test_data_are_not_there_before_they_arrive(program: str, star: str) -> None:
    assert run(program, star, "early", BYTES).output == "right\n"


def test_its_packets_are_counted(program: str, star: str) -> None:
    record = run(program, star, "put", BYTES, 2, set=PACKETS)
    assert not isinstance(record.packets, UnsetType)
    assert record.packets.packets >= 2 * (BYTES // 4096 + 1)
    assert times(record) == pytest.approx([ALONE] * 2, rel=0.05)


def test_a_cut_link_delays_it_by_timeouts(program: str, star: str, tmp_path: Path) -> None:
    faults = fault_file(tmp_path, 'link = "host-1"\nat = "50us"\nuntil = "250us"')
    record = run(program, star, "put", BYTES, 1, faults=faults)
    assert record.faults and record.faults.cut == record.faults.resumed == 1
    assert times(record)[0] > ALONE + 200e-6


def test_a_host_that_nothing_reaches_is_named(program: str, star: str, tmp_path: Path) -> None:
    faults = fault_file(tmp_path, 'nic = "host-1"\nat = "50us"')
    words = ["put", str(BYTES), "1"]
    record = weft.run(program, words, ranks=2, fabric=star, faults=faults)
    assert record.outcome.kind == "network-failure"
    assert "host-0 cannot reach host-1" in record.outcome.message


def test_a_nic_limits_its_rate(program: str, star: str) -> None:
    limited = {"nic.message_rate": "1MHz"}
    free, queued = (
        times(run(program, star, "incast", 8, ranks=8, set=keys))[0] for keys in ({}, limited)
    )
    assert queued - free == pytest.approx(6e-6, rel=0.5)


def test_its_bytes_are_those_of_its_job(program: str, star: str) -> None:
    described = [
        job("first", program, "put", BYTES, 3, ranks=2, hosts="host-[0,1]"),
        job("second", program, "get", BYTES, 1, ranks=2, hosts="host-[2,3]"),
    ]
    record = weft.run_jobs(described, fabric=star)
    assert record.jobs
    sent = {one.name: sum(link.bytes for link in one.links) for one in record.jobs}
    assert sent["first"] >= 2 * 3 * BYTES
    assert 2 * BYTES <= sent["second"] < 3 * BYTES
