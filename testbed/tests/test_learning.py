# SPDX-License-Identifier: LGPL-2.1-only
"""First packets on switches that learn addresses, and the published ranges of round trips."""

import math
from pathlib import Path

import pytest

import weft
from tests.support.in_process import run
from weft.base.errors import WeftError
from weft_testbed.hardware.medians import measured


@pytest.fixture(scope="module")
def star() -> weft.TestbedPlan:
    return weft.testbed_plan("topocloud-64", ["star-8"])


@pytest.fixture(scope="module")
def torus() -> weft.TestbedPlan:
    return weft.testbed_plan("topocloud-64", ["torus-3x3"])


@pytest.mark.parametrize("learning_ms", [0, 0.2, 1, 2.5, 7])
@pytest.mark.parametrize("gap_ms", [0.5, 1])
def test_packets_are_flooded_until_both_hosts_are_learned(
    star: weft.TestbedPlan, learning_ms: float, gap_ms: float
) -> None:
    """Pings start a gap apart: those before the entries are ceil(learning / gap)."""
    found = star.learning("host-1", "host-6", learning_ms=learning_ms, gap_ms=gap_ms, packets=20)
    assert found["packet"].to_list() == ["ARP", *map(str, range(1, 21))]
    pings = found.slice(1)
    flooded = math.ceil(learning_ms / gap_ms)
    # The slice floods request and reply, and each reaches the six other hosts.
    assert pings["flooding"].to_list() == [2] * flooded + [0] * (20 - flooded)
    assert pings["copies"].to_list() == [12] * flooded + [0] * (20 - flooded)
    # A request of ARP is broadcast; its reply is flooded unless learning takes no time.
    later = 6 if learning_ms else 0
    assert found["copies"][0] == 6 + later
    assert set(found["round_trip_ns"]) == {1446.0}


def test_frames_follow_the_spanning_tree_where_there_are_rings(torus: weft.TestbedPlan) -> None:
    """Each pair's copies reach all hosts once, however many rings there are."""
    hosts = [f"host-{number}" for number in range(9)]
    for source, target in zip(hosts, hosts[1:] + hosts[:1], strict=True):
        arp, first, second = torus.learning(source, target, learning_ms=0.5, packets=2).to_dicts()
        assert arp["copies"] == first["copies"] == 2 * 7
        assert second["copies"] == second["flooding"] == 0


def test_packets_of_an_unknown_address_go_no_further_once_it_is_known(
    torus: weft.TestbedPlan,
) -> None:
    found = torus.learning("host-0", "host-5", learning_ms=0)
    assert found["copies"].to_list() == [7, 0, 0, 0, 0]


def test_larger_frames_wait_as_in_the_latency(star: weft.TestbedPlan) -> None:
    frames = {
        size: star.learning("host-0", "host-1", learning_ms=0, frame_bytes=size)
        for size in (64, 1500)
    }
    for size, found in frames.items():
        (row,) = (
            row
            for row in star.latency(frame_bytes=size).to_dicts()
            if (row["source"], row["target"]) == ("host-0", "host-1")
        )
        assert set(found["round_trip_ns"]) == {row["round_trip_ns"]}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("host-0", "host-9", "1"), "TARGET: found 'host-9'; the hosts are host-0"),
        (("host-0", "host-0", "1"), "TARGET: found 'host-0', the source; name another host"),
        (("host-0", "host-1", "-1"), "--learning: found -1; write a number of ms, 0 or more"),
        (("host-0", "host-1", "nan"), "--learning: found nan; write a number of ms, 0 or more"),
        (("host-0", "host-1", "1", "--packets", "0"), "--packets: found 0; allowed are 1 to"),
        (("host-0", "host-1", "1", "--frame", "20"), "--frame: found 20; allowed are 64 to"),
    ],
)
def test_wrong_input(
    star: weft.TestbedPlan, arguments: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    plan = tmp_path / "star.json"
    star.save(plan)
    source, target, learning, *more = arguments
    status, _, error = run(
        ["testbed", "learning", str(plan), source, target, f"--learning={learning}", *more]
    )
    assert status == 2
    assert said in error


def test_hosts_without_a_switch_learn_nothing() -> None:
    pair = weft.testbed_plan("topocloud-64", ["server-pair"])
    with pytest.raises(WeftError, match="no switch connects client with server"):
        pair.learning("client", "server", learning_ms=1)


def test_a_round_trip_spans_the_published_ranges(torus: weft.TestbedPlan) -> None:
    """182 to 217 % above a direct cable, and 17 to 20 % below a layer 2 switch, to the medians."""
    (pair,) = weft.testbed_plan("topocloud-64", ["server-pair"]).latency().to_dicts()
    assert pair["least_ns"] == pytest.approx(455 * 2.82)
    assert pair["most_ns"] == pair["round_trip_ns"] == 1446
    low, high = measured().l2_pass_range
    assert 455 + 2 * low == 1703
    assert 455 + 2 * high == pytest.approx(1446 / 0.8)
    for row in torus.latency().to_dicts():
        chassis = (1446 - 455 * 2.82) / 2 * row["passes"]
        assert row["round_trip_ns"] - row["least_ns"] == pytest.approx(chassis)
        above = (1446 / 0.8 - 1703) / 2 * row["layer2"]
        assert row["most_ns"] - row["round_trip_ns"] == pytest.approx(above)
