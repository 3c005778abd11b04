# SPDX-License-Identifier: LGPL-2.1-only
"""Ping-pongs of many pairs of hosts: the fitted times, and the corresponding route of a base."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from tests.support.in_process import run
from weft import _core
from weft.base.errors import WeftError
from weft.base.measured import log_error
from weft.calibrate.measurements.samples import Pair, parse_pair, read_pingpong
from weft.calibrate.point_to_point import fabric_file
from weft.calibrate.point_to_point.p2p import calibrate

SIZES = [1 << k for k in range(22)]
FAR, NEAR = ("host-0", "host-4"), ("host-0", "host-1")


def microseconds(size: int, latency: float) -> float:
    return latency + size / 12_000 + (8 if size >= 65536 else 0)


def write(path: Path, latency_of: Mapping[Pair, float]) -> Path:
    lines = ["source,target,bytes,time_us"]
    for (source, target), latency in latency_of.items():
        lines += [f"{source},{target},{size},{microseconds(size, latency)!r}" for size in SIZES]
    path.write_text("\n".join(lines) + "\n")
    return path


ALL = {("a", "b"): 1.0, ("b", "a"): 3.0, ("a", "c"): 2.0}


def test_the_median_over_the_pairs_is_taken(tmp_path: Path) -> None:
    found = read_pingpong(write(tmp_path / "t.csv", ALL))
    assert found.one_way.seconds * 1e6 == pytest.approx([microseconds(n, 2.0) for n in SIZES])
    assert [*found.between] == [*ALL]
    assert found.between["b", "a"][0] * 1e6 == pytest.approx(microseconds(1, 3.0))
    assert len(found.of("even").between["b", "a"]) == len(SIZES) // 2


def test_one_of_the_pairs_is_taken(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", ALL)
    found = read_pingpong(path, None, parse_pair("b:a"))
    assert found.one_way.seconds * 1e6 == pytest.approx([microseconds(n, 3.0) for n in SIZES])
    assert [*found.between] == [("b", "a")]
    with pytest.raises(WeftError, match=r"pair: .* has no rows of b:c; did you mean b:a"):
        read_pingpong(path, None, parse_pair("b:c"))


@pytest.mark.parametrize("text", ["a", "a:", ":a", "a:a", ""])
def test_a_pair_is_two_hosts(text: str) -> None:
    with pytest.raises(WeftError, match="write two hosts as SOURCE:TARGET"):
        parse_pair(text)


def test_wrong_tables_of_pairs_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("source,target,bytes,time_us\na,b,1,1\na,b,2,1\nb,a,1,1\nb,a,4,1\n")
    with pytest.raises(WeftError, match="line 4: column 'bytes': b:a has other sizes than a:b"):
        read_pingpong(path)
    path.write_text("source,target,bytes,time_us\na,b,1,1\nb,b,1,1\n")
    with pytest.raises(WeftError, match="line 3: column 'target': found the source, 'b'"):
        read_pingpong(path)
    path.write_text("source,target,op,bytes,time_us\na,b,MPI_Send,1,1\na,b,MPI_Recv,1,1\n")
    with pytest.raises(WeftError, match="column 'op': has 1 pairs; name one by pair"):
        read_pingpong(path)
    assert read_pingpong(path, None, ("a", "b")).send_seconds is not None


def test_times_are_held_against_the_route_that_was_measured(tmp_path: Path) -> None:
    """The first two hosts are neighbours; between the measured hosts are two more switches."""
    base = "torus-3x3"
    fabric = _core.load_fabric(base)
    latency = {one: fabric.route(*map(fabric.hosts.index, one))["latency_s"] for one in (FAR, NEAR)}
    assert latency[FAR] > 1.2 * latency[NEAR]
    table = write(tmp_path / "t.csv", {FAR: 1.5})
    calibration = calibrate(read_pingpong(table))
    target = tmp_path / "fitted.toml"
    simulated = fabric_file.write_messages(calibration, base, target)
    assert log_error(simulated, calibration.measured).worst < 0.02
    made = _core.load_fabric(str(target))
    plain = tmp_path / "plain.csv"
    plain.write_text(table.read_text().replace("host-0,host-4,", "").replace("source,target,", ""))
    named = calibrate(read_pingpong(plain, None, FAR))
    again = fabric_file.write_messages(named, base, tmp_path / "named.toml")
    assert again == simulated
    nearest = calibrate(read_pingpong(plain))
    fabric_file.write_messages(nearest, base, tmp_path / "near.toml")
    near = _core.load_fabric(str(tmp_path / "near.toml"))
    shares = [one.point_to_point[0]["latency_factor"] for one in (made, near)]
    assert shares[1] / shares[0] == pytest.approx(latency[FAR] / latency[NEAR], rel=1e-4)


def test_of_many_pairs_the_route_with_the_median_latency_counts() -> None:
    fabric = _core.load_fabric("torus-3x3")
    far, near = ((0, 4), (0, 1))
    assert fabric_file.pair_of(fabric, []) == (0, 1)
    assert fabric_file.pair_of(fabric, [FAR, NEAR, ("host-4", "host-0")]) in (far, (4, 0))
    assert fabric_file.pair_of(fabric, [FAR, NEAR, ("host-1", "host-0")]) in (near, (1, 0))
    with pytest.raises(WeftError, match="base: torus-3x3 has no host 'node-1', which is measured"):
        fabric_file.pair_of(fabric, [("node-1", "host-0")])


def test_a_direct_cable_does_not_stand_for_a_fabric_unasked(tmp_path: Path) -> None:
    base = tmp_path / "beside.toml"
    base.write_text(
        '[fabric]\nname = "beside"\n[topology]\nkind = "custom"\nhosts = ["a", "b", "c"]\n'
        'switches = ["s"]\ncables = [{between = ["a", "s"]}, {between = ["b", "s"]},'
        ' {between = ["c", "s"]}, {between = ["a", "b"]}]\n'
        '[host]\npreset = "xeon-8360"\n[nic]\npreset = "connectx-6-dx"\n'
        '[link]\nbandwidth = "100Gbps"\nlatency = "1us"\n[switch]\npreset = "l2"\n'
    )
    fabric = _core.load_fabric(str(base))
    with pytest.raises(WeftError, match=r"a and b of beside share a cable of their own, .* 3 h"):
        fabric_file.pair_of(fabric, [])
    assert fabric_file.pair_of(fabric, [("a", "b")]) == (0, 1)
    assert fabric_file.pair_of(fabric, [("b", "c")]) == (1, 2)
    assert fabric_file.pair_of(_core.load_fabric("server-pair"), []) == (0, 1)


def test_the_command_says_how_far_pairs_are_apart(tmp_path: Path) -> None:
    table = write(tmp_path / "t.csv", ALL)
    output = tmp_path / "f.toml"
    status, _, said = run(["calibrate", "p2p", str(table), "-o", str(output)])
    assert status == 0, said
    assert "3 pairs of hosts, fitted to their median" in said
    row = next(line for line in said.splitlines() if line.strip().endswith("a:b      b:a"))
    assert np.allclose([float(word) for word in row.split()[2:5]], [1.0, 2.0, 3.0], atol=1e-3)
    status, _, said = run(["calibrate", "p2p", str(table), "-o", str(output), "--pair", "a"])
    assert (status, said) == (
        2,
        "weft: --pair: found 'a'; write two hosts as SOURCE:TARGET, such as node-1:node-2\n",
    )
