# SPDX-License-Identifier: LGPL-2.1-only
"""The [mpi] table: costs that an MPI library adds to messages, compared with closed forms."""

from pathlib import Path

import pytest

from tests.support import compiled
from tests.support.simulated import run_command, weft_command

FABRIC = """
[fabric]
name = "costly"
[topology]
kind = "star"
hosts = 2
[host]
speed = "1Gf"
cores = 72
loopback_bandwidth = "10GBps"
loopback_latency = "1us"
[nic]
preset = "connectx-6-dx"
[link]
bandwidth = "10GBps"
latency = "1us"
[switch]
preset = "l2"
forwarding_latency = "0s"
"""
MPI = """
[mpi]
eager_threshold = "1000B"
send_overhead = "3us"
send_copy_rate = "1GBps"
receive_overhead = "5us"
receive_copy_rate = "2GBps"
"""
NETWORK_US = 2.0
SIZES = (0, 100, 999, 1000, 5000)


def network_us(size: int) -> float:
    return NETWORK_US + (size + 16) / 10e9 * 1e6


@pytest.fixture(scope="module")
def ping_pong() -> Path:
    return compiled.example("pingpong")


def times(
    program: Path, directory: Path, fabric: str, *options: str, platform: str = ""
) -> dict[int, tuple[float, float]]:
    """Return the one-way time and the time in MPI_Send in microseconds, by size."""
    path = directory / "costly.toml"
    path.write_text(fabric)
    command = weft_command(program, ",".join(map(str, SIZES)), on=str(path), ranks=2)
    where = command.index("--fabric")
    if platform:
        command[where : where + 2] = ["--platform", platform]
    command[where:where] = [*options, "-q"]
    result = run_command(command)
    assert result.status == 0, result.stderr
    rows = [line.split() for line in result.stdout.splitlines() if not line.startswith("#")]
    return {int(size): (float(one_way), float(send)) for size, one_way, send in rows}


def test_eager_messages_cost_both_sides_and_rendezvous_the_network(
    ping_pong: Path, tmp_path: Path
) -> None:
    found = times(ping_pong, tmp_path, FABRIC + MPI)
    for size in SIZES:
        eager = size < 1000
        send = 3 + size * 1e-3 if eager else 0
        receive = 5 + size * 0.5e-3 if eager else 0
        one_way, in_send = found[size]
        assert one_way == pytest.approx(send + network_us(size) + receive, rel=1e-6)
        assert in_send == pytest.approx(send if eager else network_us(size), rel=1e-6)


def test_without_the_table_there_are_no_costs(ping_pong: Path, tmp_path: Path) -> None:
    for size, (one_way, _) in times(ping_pong, tmp_path, FABRIC).items():
        assert one_way == pytest.approx(network_us(size), rel=1e-6)


def test_ranks_of_one_host_pay_the_loopback_only(ping_pong: Path, tmp_path: Path) -> None:
    found = times(ping_pong, tmp_path, FABRIC + MPI, "--ppn", "2")
    for size, (one_way, _) in found.items():
        assert one_way == pytest.approx(1 + (size + 16) / 10e9 * 1e6, rel=1e-6)


def test_the_command_line_comes_first(ping_pong: Path, tmp_path: Path) -> None:
    options = ("--cfg", "smpi/os:0:7e-6:0", "--cfg", "smpi/send-is-detached-thresh:500")
    found = times(ping_pong, tmp_path, FABRIC + MPI, *options)
    assert found[100][1] == pytest.approx(7)
    assert found[999][1] == pytest.approx(network_us(999))


def test_an_exported_platform_has_the_costs_too(ping_pong: Path, tmp_path: Path) -> None:
    platform = tmp_path / "costly.xml"
    expected = times(ping_pong, tmp_path, FABRIC + MPI)
    command = [*weft_command("", on="")[:3], "fabric", "export", str(tmp_path / "costly.toml")]
    assert run_command([*command, "-o", str(platform)]).status == 0
    found = times(ping_pong, tmp_path, FABRIC + MPI, platform=str(platform))
    for size in SIZES[1:]:  # SMPI's options do not support a cost for empty messages
        assert found[size] == pytest.approx(expected[size], rel=1e-6)
