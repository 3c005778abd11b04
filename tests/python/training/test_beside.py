# SPDX-License-Identifier: LGPL-2.1-only
"""Iterations with faults and background traffic, compared with closed forms; failures as values."""

import json
from pathlib import Path
from typing import Any

import pytest

import weft
from tests.support.simulated import weft_says as weft_command
from weft import _core
from weft.iterations.iteration import Conditions, Iteration, simulate
from weft.training.variants import MULTICAST
from weft.training.workload import Workload

FABRIC = "superpod-h100-32"
BYTES = 1e9
"""Size of a message from the first GPU of a node to the first GPU of the next node."""

RECOVERY = """
[recovery]
detection = "1us"
convergence = "1us"
timeout = "1ms"
retries = 40
"""


def message_workload() -> Workload:
    """Return a message between GPUs of two nodes; all other ranks do nothing."""
    sends, receives, idle = (_core.WorkloadProgram(True) for _ in range(3))
    sends.send(0, 8, BYTES)
    receives.receive(0, -8, BYTES)
    return Workload([sends, receives, idle], [0, *[2] * 7, 1], [])


def iterated(tmp_path: Path, faults: str = "", traffic: str = "", **more: Any) -> Iteration:
    conditions: dict[str, Any] = {"fabric": FABRIC, **more}
    for name, text in (("faults", faults), ("traffic", traffic)):
        if text:
            path = tmp_path / f"{name}.toml"
            path.write_text(text, encoding="utf-8")
            conditions[name] = path
    return simulate(message_workload(), Conditions(**conditions))


def receiver() -> str:
    """Return the host of rank 8."""
    return _core.load_fabric(FABRIC, []).hosts[8]


def links_to_the_receiver() -> list[str]:
    """Return the cables between the receiver and the network's leaf switches."""
    fabric = _core.load_fabric(FABRIC, [])
    node, _, gpu = fabric.hosts[8].rpartition(".gpu-")
    ends = (f"{node}.gpu-{gpu}--", f"{node}.nic-{gpu}--")
    return [one["name"] for one in fabric.cables() if one["name"].startswith(ends)]


def faults_of(*tables: str) -> str:
    return RECOVERY + "".join(f"\n[[fault]]\n{table}\n" for table in tables)


def nic_link() -> str:
    """Return the cable from the NIC to the leaf switch."""
    return next(one for one in links_to_the_receiver() if "leaf" in one)


def test_a_link_at_half_its_bandwidth_takes_twice_as_long(tmp_path: Path) -> None:
    usual = iterated(tmp_path)
    slow = iterated(
        tmp_path,
        faults_of(f'link = "{nic_link()}"\nkind = "slow"\nbandwidth = "50%"\nat = "0s"'),
    )
    latency = 1e-5
    assert slow.time_s == pytest.approx(2 * usual.time_s, abs=latency)
    assert slow.faults is not None and slow.faults.failures == 1


def test_a_gpu_without_cables_delays_by_its_time_and_the_retry(tmp_path: Path) -> None:
    usual = iterated(tmp_path)
    # The NIC fails at 2 ms; the sender then retries every millisecond. The NIC is up again at 7.5
    # ms.
    late = iterated(tmp_path, faults_of(f'link = "{receiver()}--*"\nat = "2ms"\nuntil = "7.5ms"'))
    # The remainder pays the latency of the route again.
    assert late.time_s == pytest.approx(usual.time_s + 6e-3, abs=1e-5)
    assert late.faults is not None
    assert (late.faults.cut, late.faults.resumed, late.faults.given_up) == (1, 1, 0)
    assert late.faults.waited_s == pytest.approx(6e-3)


def test_a_message_takes_another_way_once_routing_knows(tmp_path: Path) -> None:
    usual = iterated(tmp_path)
    # At the first timeout, the remainder takes the route over NVSwitches and another NIC.
    late = iterated(tmp_path, faults_of(f'link = "{nic_link()}"\nat = "2ms"'))
    assert late.time_s == pytest.approx(usual.time_s + 1e-3, abs=1e-5)


def test_a_nic_that_is_down_leaves_the_nvlinks(tmp_path: Path) -> None:
    usual = iterated(tmp_path)
    late = iterated(tmp_path, faults_of(f'nic = "{receiver()}"\nat = "2ms"'))
    assert late.time_s == pytest.approx(usual.time_s + 1e-3, abs=1e-5)


def test_what_cannot_go_on_is_a_value(tmp_path: Path) -> None:
    dead = iterated(tmp_path, faults_of(f'link = "{receiver()}--*"\nat = "2ms"'))
    assert dead.failed
    assert dead.outcome.kind == "network-failure"
    assert "40 retries" in dead.outcome.message
    assert dead.time_s == pytest.approx(2e-3 + 41e-3)
    assert sum(one.mean_s for one in dead.parts) == pytest.approx(dead.time_s)
    killed = iterated(tmp_path, faults_of(f'host = "{receiver()}"\nat = "2ms"'))
    assert killed.outcome.kind == "host-failure"
    assert "rank 8" in killed.outcome.message
    assert killed.time_s == pytest.approx(2e-3)


def test_keys_of_the_fault_file_can_be_changed(tmp_path: Path) -> None:
    faults = faults_of(f'link = "{receiver()}--*"\nat = "2ms"\nuntil = "7.5ms"')
    usual = iterated(tmp_path)
    late = iterated(tmp_path, faults, changes=("recovery.timeout=4ms",))
    assert late.time_s == pytest.approx(usual.time_s + 8e-3, abs=1e-5)


def test_an_equal_flow_on_a_link_leaves_half(tmp_path: Path) -> None:
    (tmp_path / "other.goal").write_text(
        "num_ranks 2\nrank 0 {\nl1: send 100000000000b to 1\n}\nrank 1 {\nl1: recv 100000000000b"
        " from 0\n}\n",
        encoding="utf-8",
    )
    hosts = _core.load_fabric(FABRIC, []).hosts
    traffic = (
        f'[[traffic]]\npattern = "goal"\nfile = "other.goal"\nhosts = "{hosts[16]},{hosts[8]}"\n'
    )
    usual, beside = iterated(tmp_path), iterated(tmp_path, traffic=traffic)
    assert beside.time_s == pytest.approx(2 * usual.time_s, abs=1e-5)
    assert beside.messages == usual.messages
    assert [one.name for one in beside.traffic] == ["goal"]


FILE = """
like = "llama-3-8b"
[parallel]
tensor = 8
data = 4
[batch]
sequence = 4096
global = 8
[train]
gpu = "h100-sxm"
"""


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("beside") / "model.toml"
    path.write_text(FILE, encoding="utf-8")
    return path


def test_faults_that_never_come_change_no_time(model: Path, tmp_path: Path) -> None:
    faults = tmp_path / "late.toml"
    faults.write_text(faults_of(f'link = "{nic_link()}"\nat = "100s"'), encoding="utf-8")
    usual = weft.train(model, FABRIC)
    late = weft.train(model, FABRIC, faults=faults)
    assert late.time_s == pytest.approx(usual.time_s, rel=1e-12)
    assert late.record.faults and late.record.faults.left_events == 1
    # The fault names a link outside NVSwitches, so the times of tensor parallel calls are reused.
    assert late.iteration.executed == usual.iteration.executed


def test_calls_on_links_with_faults_are_executed(model: Path, tmp_path: Path) -> None:
    faults = tmp_path / "nvlink.toml"
    nvlink = next(one for one in links_to_the_receiver() if "nvswitch" in one)
    faults.write_text(
        faults_of(f'link = "{nvlink}"\nkind = "slow"\nbandwidth = "50%"\nat = "0s"'),
        encoding="utf-8",
    )
    usual = weft.train(model, FABRIC)
    slow = weft.train(model, FABRIC, faults=faults)
    every = weft.train(model, FABRIC, faults=faults, execute_all=True)
    assert slow.time_s > usual.time_s
    assert slow.time_s == pytest.approx(every.time_s, rel=1e-9)
    assert usual.iteration.executed < slow.iteration.executed < every.iteration.executed


def test_traffic_beside_reused_calls_is_that_beside_all(model: Path, tmp_path: Path) -> None:
    traffic = tmp_path / "traffic.toml"
    traffic.write_text(
        '[[traffic]]\npattern = "uniform"\nload = "30%"\nbytes = "8MiB"\nhosts = "all"\n'
        'end = "20ms"\n',
        encoding="utf-8",
    )
    usual = weft.train(model, FABRIC)
    once = weft.train(model, FABRIC, traffic=traffic)
    every = weft.train(model, FABRIC, traffic=traffic, execute_all=True)
    assert once.time_s == pytest.approx(every.time_s, rel=1e-9)
    assert once.time_s > usual.time_s


def test_command_says_what_failed_and_how_it_was_met(model: Path, tmp_path: Path) -> None:
    faults, target = tmp_path / "faults.toml", tmp_path / "its.json"
    faults.write_text(
        faults_of(f'link = "{nic_link()}"\nat = "10ms"\nuntil = "15.5ms"'), encoding="utf-8"
    )
    run = ("train", str(model), "--fabric", FABRIC, "--faults", str(faults))
    done = weft_command(*run, "--json", str(target))
    assert done.returncode == 0, done.stderr
    assert f"link {nic_link()} down" in done.stdout
    assert "recovery: transport" in done.stdout
    record = json.loads(target.read_text("utf-8"))
    assert record["outcome"]["kind"] == "completed"
    assert record["faults"]["file"] == str(faults)
    assert record["faults"]["recovery"]["retries"] == 40
    faults.write_text(faults_of(f'link = "{receiver()}--*"\nat = "10ms"'), encoding="utf-8")
    done = weft_command(*run, "--json", str(target))
    assert done.returncode == 1
    assert "40 retries" in done.stderr
    record = json.loads(target.read_text("utf-8"))
    assert record["outcome"]["kind"] == "network-failure"
    assert record["training"]["mfu"] is None


def test_a_comparison_has_faults_in_each_variant(model: Path, tmp_path: Path) -> None:
    faults = tmp_path / "faults.toml"
    faults.write_text(
        faults_of(f'link = "{nic_link()}"\nkind = "slow"\nbandwidth = "10%"\nat = "0s"'),
        encoding="utf-8",
    )
    usual = weft.compare_training(model, FABRIC)
    slow = weft.compare_training(model, FABRIC, faults=faults)
    times = dict(
        zip(slow["collectives_by"], zip(slow["time_s"], usual["time_s"], strict=True), strict=True)
    )
    assert times.pop(MULTICAST)[0] is None  # not supported with faults
    assert all(disturbed > alone for disturbed, alone in times.values())


def test_wrong_files_are_refused(model: Path, tmp_path: Path) -> None:
    faults = tmp_path / "faults.toml"
    faults.write_text('[[fault]]\nlink = "nowhere"\nat = "1ms"\n', encoding="utf-8")
    with pytest.raises(weft.WeftError, match="no link of fabric"):
        weft.train(model, FABRIC, faults=faults)
    with pytest.raises(weft.WeftError, match="a key of fault files"):
        weft.train(model, FABRIC, set={"recovery.timeout": "1ms"})
