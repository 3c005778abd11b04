# SPDX-License-Identifier: LGPL-2.1-only
"""Many messages in flight: the network's time resolution, its activation, and invalid values."""

from typing import Any

import pytest
from msgspec import UnsetType

import weft
from tests.support import compiled
from tests.support.places import TESTS
from tests.support.simulated import weft_says
from weft.runs.record import Record

FABRIC = "fat-tree-1024-radix-32"
BYTES = 100_000


@pytest.fixture(scope="module")
def program() -> str:
    return str(compiled.program(TESTS / "smpi" / "crowd.c"))


def crowd(program: str, ranks: int, messages: int, resolution: str | int | None = None) -> Record:
    options: Any = {} if resolution is None else {"set": {"network.resolution": resolution}}
    record = weft.run(program, [str(messages), str(BYTES)], ranks=ranks, fabric=FABRIC, **options)
    record.check()
    return record


def time_of(record: Record) -> float:
    return float(record.output.split()[-1])


def test_few_messages_are_exact(program: str) -> None:
    usual, exact = (crowd(program, 32, 8, asked) for asked in (None, 0))
    assert isinstance(usual.resolution, UnsetType)
    assert isinstance(exact.resolution, UnsetType)
    assert usual.simulated_time_s == exact.simulated_time_s
    assert "merged" not in str(usual)


def test_a_crowd_is_merged_within_one_percent(program: str) -> None:
    usual, exact = (crowd(program, 128, 16, asked) for asked in (None, 0))
    merged = usual.resolution
    assert not isinstance(merged, UnsetType)
    assert merged.asked == "automatic"
    assert merged.most_flows > 512
    assert 0 < merged.longest_s < 0.1 * usual.simulated_time_s
    assert isinstance(exact.resolution, UnsetType)
    assert time_of(usual) == pytest.approx(time_of(exact), rel=0.01)
    assert "rates updated every" in str(usual).splitlines()[-1]


def test_a_resolution_applies_to_few_messages_too(program: str) -> None:
    exact, merged, packet = (crowd(program, 32, 8, asked) for asked in (0, "20ns", "packet"))
    for record, longest in ((merged, 20e-9), (packet, 4096 / 25e9)):
        found = record.resolution
        assert not isinstance(found, UnsetType)
        assert found.longest_s == pytest.approx(longest)
        assert time_of(record) == pytest.approx(time_of(exact), abs=1)


@pytest.mark.parametrize(
    ("options", "reasons"),
    [
        (("--set", "network.resolution=-1us"), ['[network] resolution: found "-1us"']),
        (("--set", "network.resolution=soon"), ["resolution", "soon", "packet"]),
        (
            ("--set", "network.resolution=1ms"),
            ["longer than the shortest latency of a link", "coarse_resolution"],
        ),
        (
            ("--messages", "smpi", "--set", "network.resolution=20ns"),
            ["[network] resolution", "SMPI carries the messages", "--messages weft"],
        ),
    ],
)
def test_wrong_resolutions_are_refused(
    program: str, options: tuple[str, ...], reasons: list[str]
) -> None:
    said = weft_says("run", "--fabric", FABRIC, "-n", "2", *options, "--", program, "1", "8")
    assert said.returncode == 2
    for reason in reasons:
        assert reason in said.stderr
