# SPDX-License-Identifier: LGPL-2.1-only
"""The [noise] table: OS noise and link jitter compared with closed forms; reproducible seeds."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from tests.support import compiled
from tests.support.places import TESTS
from tests.support.simulated import Result, run_command, weft_command
from weft import _core
from weft.fabric.platform_xml import losses

FABRIC = """
[fabric]
name = "noisy"
[topology]
kind = "star"
hosts = 8
[host]
preset = "xeon-8360"
speed = "1Gf"
[nic]
preset = "connectx-6-dx"
offload_overhead = "0s"
[link]
bandwidth = "10GBps"
latency = "1us"
[switch]
preset = "ideal"
"""
NETWORK_US = 2.0
JITTER = """
[[noise.link]]
jitter = "3us"
distribution = "{}"
"""
DETOURS = """
[[noise.host]]
interval = "1ms"
intervals = "exponential"
detour = "1us"
distribution = "fixed"
"""


def run(
    directory: Path,
    program: Path,
    arguments: tuple[str, ...],
    fabric: str,
    *options: str,
    **how: Any,
) -> Result:
    """Run a program that must succeed, and return its output with the record."""
    path = directory / "noisy.toml"
    path.write_text(fabric)
    record = directory / "record.json"
    command = weft_command(program, *arguments, on=str(path), ranks=how.pop("ranks", 8))
    where = command.index("--fabric")
    command[where:where] = ["-q", "--json", str(record), *options]
    result = run_command(command, **how)
    assert result.status == 0 and "simgrid" not in result.stderr, result.stderr
    return Result(result.status, result.stdout, result.stderr, json.loads(record.read_text()))


def simulated(record: dict[str, Any]) -> dict[str, Any]:
    """Return the parts of a record that do not depend on the machine."""
    real = {"wall_time_s", "cpu_time_s", "peak_memory_bytes", "command"}
    return {key: value for key, value in record.items() if key not in real}


@pytest.fixture(scope="module")
def phases() -> Path:
    return compiled.program(TESTS / "smpi" / "noisy.c")


@pytest.fixture(scope="module")
def ping_pong() -> Path:
    return compiled.example("pingpong")


@pytest.fixture(scope="module")
def allreduce() -> Path:
    return compiled.example("allreduce_latency")


def test_jitter_is_added_on_each_link(ping_pong: Path, tmp_path: Path) -> None:
    for fabric, quiet_us in (
        (FABRIC, NETWORK_US),
        (FABRIC.replace('latency = "1us"', 'latency = "0s"'), 0),
    ):
        text = fabric + JITTER.format("fixed")
        rows = run(tmp_path, ping_pong, ("100",), text, ranks=2).stdout.splitlines()
        (line,) = [line for line in rows if not line.startswith("#")]
        expected = quiet_us + 2 * 3 + 116 / 10e3
        assert float(line.split()[1]) == pytest.approx(expected, abs=2e-4)


@pytest.mark.parametrize("mode", ["stream", "message"])
def test_jitter_delays_the_way_up_and_down(allreduce: Path, tmp_path: Path, mode: str) -> None:
    arguments = ("4", "3")

    def latency_us(fabric: str) -> float:
        rows = run(tmp_path, allreduce, arguments, fabric, "--offload", mode).stdout
        return float(rows.splitlines()[-1].split()[1])

    jitter = latency_us(FABRIC + JITTER.format("fixed")) - latency_us(FABRIC)
    assert jitter == pytest.approx(2 * 3, rel=1e-6)


@pytest.mark.parametrize(
    "options", [("--offload", "off", "--fallback", "recursive_doubling"), ("--offload", "message")]
)
def test_flows_of_weft_s_and_of_simgrid_s_get_the_same_jitter(
    allreduce: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    fabric = FABRIC + JITTER.format("exponential")
    ours = run(tmp_path, allreduce, ("4,65536", "3"), fabric, *options)
    monkeypatch.setenv("WEFT_HOST_FLOWS", "simgrid")
    theirs = run(tmp_path, allreduce, ("4,65536", "3"), fabric, *options)
    assert ours.record["simulated_time_s"] == pytest.approx(
        theirs.record["simulated_time_s"], rel=1e-6
    )
    assert len(ours.stdout) > 0


def slowest_of_poisson(mean: float, count: int) -> float:
    """Return the expected maximum of `count` Poisson variates."""
    below = 0.0
    largest = 0.0
    for k in range(100):
        below += math.exp(-mean) * mean**k / math.factorial(k)
        largest += 1 - below**count
    return largest


@pytest.mark.parametrize("offload", ["stream", "off"])
def test_a_barrier_waits_for_the_core_with_most_detours(
    phases: Path, tmp_path: Path, offload: str
) -> None:
    work_us = 5000.0
    options = ("--offload", offload)
    arguments = (f"{work_us * 1e3}", "300")
    noisy = run(tmp_path, phases, arguments, FABRIC + DETOURS, *options)
    quiet = run(tmp_path, phases, (arguments[0], "1"), FABRIC, *options)
    times = [float(line) * 1e6 for line in noisy.stdout.splitlines()]
    lost = sum(times) / len(times) - float(quiet.stdout) * 1e6
    # Such a maximum has a standard deviation of about 1.6; detours within the barrier add little.
    assert lost == pytest.approx(slowest_of_poisson(5, 8), abs=3 * 1.6 / math.sqrt(300) + 0.02)
    assert min(times) >= float(quiet.stdout) * 1e6 - 1e-3


def test_a_seed_repeats_a_run_and_another_does_not(phases: Path, tmp_path: Path) -> None:
    fabric = FABRIC + "[noise]\nseed = 5\n" + DETOURS + JITTER.format("exponential")
    arguments = ("5e6", "3")
    first = run(tmp_path, phases, arguments, fabric, "--offload", "off")
    again = run(tmp_path, phases, arguments, fabric, "--offload", "off")
    other = run(tmp_path, phases, arguments, fabric, "--offload", "off", "--seed", "6")
    assert other.record["fabric"].pop("changes") == ["noise.seed=6"]
    same = run(tmp_path, phases, arguments, fabric.replace("= 5\n", "= 6\n"), "--offload", "off")
    assert first.record["noise"] == {"seed": 5}
    assert other.record["noise"] == {"seed": 6}
    assert simulated(first.record) == simulated(again.record)
    assert simulated(other.record) == simulated(same.record)
    assert first.record["simulated_time_s"] != other.record["simulated_time_s"]


def test_what_is_drawn_does_not_depend_on_who_else_computes(phases: Path, tmp_path: Path) -> None:
    """A single noisy host delays a run of eight ranks as much as a run of two."""
    fabric = FABRIC + DETOURS + 'match = "host-0"\n'
    times = [
        run(tmp_path, phases, ("5e6", "1"), fabric, "--offload", "stream", ranks=ranks).stdout
        for ranks in (2, 8)
    ]
    assert times[0] == times[1]


def test_without_the_table_a_record_says_nothing_of_noise(phases: Path, tmp_path: Path) -> None:
    assert "noise" not in run(tmp_path, phases, ("5e6", "1"), FABRIC).record


def test_a_seed_without_noise_is_refused(phases: Path, tmp_path: Path) -> None:
    path = tmp_path / "quiet.toml"
    path.write_text(FABRIC)
    command = weft_command(phases, "1", "1", on=str(path), ranks=2, options=("--seed", "3"))
    result = run_command(command)
    assert result.status == 2
    assert result.stderr == (
        f"weft: {path} with noise.seed=3: [noise] seed: found 3, but no random numbers need it;"
        " add a [[noise.host]] or [[noise.link]], or remove the seed\n"
    )


def test_an_export_says_that_noise_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "noisy.toml"
    path.write_text(FABRIC)
    quiet = losses(_core.load_fabric(str(path)))
    path.write_text(FABRIC + DETOURS)
    assert set(losses(_core.load_fabric(str(path)))) - set(quiet) == {"[noise]"}


@pytest.fixture(scope="module")
def broadcast() -> Path:
    return compiled.example("collective_times")


def test_multicasts_have_jitter_on_each_way(broadcast: Path, tmp_path: Path) -> None:
    """Barrier, multicast and handshake each cross two links; only one of two ranks receives."""

    def phases_us(fabric: str) -> list[float]:
        arguments = ("bcast", "mpi", "4096", "1")
        options = ("--offload", "multicast")
        (call,) = run(tmp_path, broadcast, arguments, fabric, *options, ranks=2).record["multicast"]
        names = ("barrier_s", "multicast_s", "recovery_s", "handshake_s")
        return [call[name] * 1e6 for name in names]

    quiet, later = phases_us(FABRIC), phases_us(FABRIC + JITTER.format("fixed"))
    more = [one - other for one, other in zip(later, quiet, strict=True)]
    assert sum(more) == pytest.approx((3 + 2) / 2 * 2 * 3, abs=1e-6)
    assert more[0] == pytest.approx(2 * 3, abs=1e-6)


def test_detours_delay_a_multicast_but_not_its_chunks(broadcast: Path, tmp_path: Path) -> None:
    arguments = ("bcast", "mpi", "65536", "20")
    options = ("--offload", "multicast")
    often = DETOURS.replace('"1ms"', '"20us"').replace('"1us"', '"5us"')
    quiet = run(tmp_path, broadcast, arguments, FABRIC, *options).record
    noisy = run(tmp_path, broadcast, arguments, FABRIC + often, *options).record
    again = run(tmp_path, broadcast, arguments, FABRIC + often, *options).record
    assert simulated(noisy) == simulated(again)
    (call,) = noisy["multicast"]
    assert call["drops"] == 0
    # Detours cost at most a quarter of the time: a few steps of each call.
    assert 1.02 < noisy["simulated_time_s"] / quiet["simulated_time_s"] < 2
