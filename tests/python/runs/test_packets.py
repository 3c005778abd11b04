# SPDX-License-Identifier: LGPL-2.1-only
"""Messages as packets: results and times of programs, records, and refusals."""

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec import UnsetType

import weft
from tests.support import compiled
from tests.support.places import TESTS
from tests.support.simulated import weft_says
from weft.runs.record import Record
from weft.runs.record_data import CollectivePart, PacketsPart

BYTES = 100_000


@pytest.fixture(scope="module")
def program() -> str:
    return str(compiled.program(TESTS / "smpi" / "incast.c"))


def incast(program: str, ranks: int, network: dict[str, Any] | None, **more: Any) -> Record:
    """Run the program with keys of [network]; without keys, on flows."""
    keys = {} if network is None else {"network.model": "packets"}
    keys |= {f"network.{key}": value for key, value in (network or {}).items()}
    record = weft.run(
        program, [str(BYTES), "3"], ranks=ranks, **{"fabric": "tofino-4", **more}, set=keys
    )
    record.check()
    assert record.output.split()[1] == "right"
    return record


def packets_of(record: Record) -> PacketsPart:
    assert not isinstance(record.packets, UnsetType)
    return record.packets


def time_of(record: Record) -> float:
    return float(record.output.split()[0])


def test_an_incast_takes_as_long_as_flows(program: str) -> None:
    flows = incast(program, 4, None, offload="off")
    packets = incast(program, 4, {}, offload="off")
    assert time_of(packets) == pytest.approx(time_of(flows), rel=0.01)
    assert isinstance(flows.packets, UnsetType)
    work = packets_of(packets)
    assert (work.flow_control, work.congestion_control) == ("credits", "none")
    assert work.hops == 2 * work.packets
    assert work.packets >= 9 * (BYTES // 4096 + 1)
    assert work.dropped == 0
    assert f"as {work.packets:,} packets" in str(packets).splitlines()[-1]


LOSSES = {"flow_control": "none", "buffer": "8KiB", "retransmission_timeout": "100us"}


@pytest.mark.parametrize("control", ["none", "swift"])
def test_results_are_right_despite_losses(program: str, control: str) -> None:
    asked = LOSSES | {"congestion_control": control}
    first, second = (incast(program, 4, asked) for _ in range(2))
    work = packets_of(first)
    assert work.dropped > 0
    assert work.sent_again >= work.dropped
    assert work == packets_of(second)
    assert first.simulated_time_s == second.simulated_time_s


@pytest.mark.parametrize("control", ["none", "nscc"])
def test_trimmed_packets_are_sent_again(program: str, control: str) -> None:
    asked = LOSSES | {"overflow": "trim", "congestion_control": control}
    first, second = (incast(program, 4, asked) for _ in range(2))
    work = packets_of(first)
    assert work.trimmed > 0
    assert work.sent_again >= work.trimmed
    assert work.dropped == 0
    assert work.retransmission == "selective"
    assert work == packets_of(second)
    assert first.simulated_time_s == second.simulated_time_s


INFINIBAND = {
    "congestion_control": "infiniband",
    "infiniband.ccti_timer": "100us",
    "infiniband.marking_rate": 0,
}


@pytest.mark.parametrize("faulty", [False, True])
def test_infiniband_notifies_senders_of_marks(program: str, faulty: bool, tmp_path: Path) -> None:
    file = tmp_path / "faults.toml"
    file.write_text(FAULTS)
    options = {"faults": str(file)} if faulty else {}
    first, second = (incast(program, 4, INFINIBAND, **options) for _ in range(2))
    work = packets_of(first)
    assert work.congestion_control == "infiniband"
    assert 0 < work.notifications <= work.marked
    assert faulty or work.notifications == work.marked
    assert work.dropped == 0
    assert (work.lost > 0) == faulty
    assert work == packets_of(second)
    assert first.simulated_time_s == second.simulated_time_s


def test_infiniband_delays_packets_by_its_table(program: str) -> None:
    slow = INFINIBAND | {"infiniband.cct": "0:0,0:3", "infiniband.ccti_min": 1}
    free, slowed = (incast(program, 2, keys, offload="off") for keys in (INFINIBAND, slow))
    delays = BYTES // (4096 * 0.961934)  # one behind each packet but the last; tofino-4's factor
    assert packets_of(free).marked == packets_of(slowed).marked == 0
    assert time_of(slowed) - time_of(free) == pytest.approx(3 * delays * 4096 / 12.5e3, abs=1e-5)


@pytest.mark.parametrize("balancer", ["spray", "random", "shortest-queue"])
@pytest.mark.parametrize("control", ["credits", "none"])
def test_switches_balance_loads(program: str, balancer: str, control: str) -> None:
    asked = (LOSSES if control == "none" else {"lanes": 15}) | {"flow_control": control}
    asked |= {"packet": "1KiB", "load_balancing": balancer}
    first, second = (incast(program, 8, asked, fabric="torus-3x3") for _ in range(2))
    work = packets_of(first)
    assert (work.load_balancing, work.retransmission) == (balancer, "selective")
    assert work.overtaken > 0
    assert (work.sent_again > 0) == (work.dropped > 0) == (control == "none")
    assert work == packets_of(second)
    assert first.simulated_time_s == second.simulated_time_s


def test_selective_retransmission_repeats_what_was_lost(program: str) -> None:
    work = packets_of(incast(program, 4, LOSSES | {"retransmission": "selective"}))
    assert work.dropped > 0
    assert work.retransmission == "selective"
    assert work.overtaken > 0


def test_pauses_lose_nothing(program: str) -> None:
    work = packets_of(incast(program, 4, {"flow_control": "pfc", "packet": "1KiB"}))
    assert work.pauses > 0
    assert work.paused_s > 0
    assert work.dropped == 0


def int_allreduce(record: Record) -> CollectivePart:
    asked = ("allreduce", "MPI_INT")
    (row,) = [row for row in record.collectives if (row.collective, row.datatype) == asked]
    return row


@pytest.mark.parametrize("control", ["credits", "pfc"])
@pytest.mark.parametrize(
    ("fabric", "ranks"), [("tofino-16", 16), ("hdr100-128", 64), ("superpod-h100-32", 32)]
)
def test_switches_combine_packets(control: str, fabric: str, ranks: int) -> None:
    faults = str(compiled.program(TESTS / "smpi" / "faults.c"))
    options = {"ranks": ranks, "fabric": fabric, "offload": "stream"}
    keys = {"network.model": "packets", "network.flow_control": control}
    flows, packets = (
        weft.run(faults, ["allreduce", str(1 << 20)], set=its, **options)  # type: ignore[arg-type]
        for its in ({}, keys)
    )
    assert any(row.offloaded for row in packets.collectives)
    assert packets.simulated_time_s == pytest.approx(flows.simulated_time_s, rel=0.01)
    assert packets_of(packets).packets > 2 * ranks * (1 << 20) / 4096


@pytest.mark.parametrize(
    ("keys", "options"),
    [
        ({"packet": "256B"}, {}),
        ({}, {"offload": "message"}),
    ],
)
def test_hosts_execute_what_packets_do_not_carry(
    program: str, keys: dict[str, Any], options: dict[str, Any]
) -> None:
    assert int_allreduce(incast(program, 4, {})).offloaded
    row = int_allreduce(incast(program, 4, keys, **options))
    assert row.reason == "network of packets"


LOSSY = """
[recovery]
timeout = "200us"
[[fault]]
link = "host-0"
kind = "lossy"
loss = "0.1%"
at = 0
"""


def test_lost_packets_of_a_call_are_sent_again(tmp_path: Path) -> None:
    """Streams assume the mean wait of a slot; here, one of 256 slots lost two of its packets."""
    file = tmp_path / "lossy.toml"
    file.write_text(LOSSY)
    options: Any = {"ranks": 4, "fabric": "tofino-4", "offload": "stream"}
    faults = str(compiled.program(TESTS / "smpi" / "faults.c"))
    flows, packets, again = (
        weft.run(faults, ["allreduce", str(1 << 22)], set=keys, faults=str(file), **options)
        for keys in ({}, {"network.model": "packets"}, {"network.model": "packets"})
    )
    assert int_allreduce(packets).offloaded
    assert packets_of(packets).lost > 0
    assert packets_of(packets).sent_again > 0
    assert packets_of(packets) == packets_of(again)
    idle = weft.run(
        faults, ["allreduce", str(1 << 22)], set={"network.model": "packets"}, **options
    )
    assert packets.simulated_time_s - idle.simulated_time_s == pytest.approx(2 * 200e-6, rel=0.02)
    assert 0 < flows.simulated_time_s - idle.simulated_time_s < 200e-6


def test_calls_go_on_over_full_queues(program: str) -> None:
    record = incast(program, 8, {"flow_control": "none", "buffer": "20kB"})
    assert int_allreduce(record).offloaded
    assert packets_of(record).dropped > 0


def test_hosts_execute_collectives_beside_faults(program: str, tmp_path: Path) -> None:
    file = tmp_path / "faults.toml"
    file.write_text(FAULTS)
    assert int_allreduce(incast(program, 4, {}, faults=str(file))).reason == "network of packets"


FAULTS = """
[recovery]
timeout = "50us"
retries = 12
[[fault]]
link = "host-1"
at = "60us"
until = "150us"
[[fault]]
kind = "lossy"
link = "host-2"
loss = "2%"
at = "0s"
until = "1s"
"""


@pytest.mark.parametrize("control", ["credits", "pfc", "none"])
def test_what_faults_lose_is_sent_again(program: str, control: str, tmp_path: Path) -> None:
    file = tmp_path / "faults.toml"
    file.write_text(FAULTS)
    asked = {"flow_control": control}
    first, second = (incast(program, 4, asked, faults=str(file)) for _ in range(2))
    assert packets_of(first).lost > 0
    assert packets_of(incast(program, 4, asked)).lost == 0
    assert not isinstance(first.faults, UnsetType)
    assert first.faults.cut > 0
    assert first.faults.resumed >= first.faults.cut
    assert first.faults == second.faults
    assert packets_of(first) == packets_of(second)
    assert first.simulated_time_s == second.simulated_time_s


def test_a_cut_that_lasts_ends_the_run(program: str, tmp_path: Path) -> None:
    file = tmp_path / "faults.toml"
    file.write_text(
        '[recovery]\ntimeout = "50us"\nretries = 2\n[[fault]]\nlink = "host-0"\nat = "60us"\n'
    )
    said = weft_says(
        *("run", "--fabric", "tofino-4", "--network", "packets", "-n", "4"),
        *("--faults", str(file), "--", program, str(BYTES), "3"),
    )
    assert said.returncode == 1
    assert "2 retries after timeouts of 50us each" in said.stderr


def test_lanes_avoid_deadlock(program: str) -> None:
    record = incast(program, 6, {"lanes": 2}, fabric="ring-6", offload="off")
    assert packets_of(record).dropped == 0
    words = ["run", "--fabric", "ring-6", "--network", "packets", "-n", "4"]
    assert "allowed: at most 15" in refusal(*words, "--set=network.lanes=16", "--", program)


def refusal(*words: str) -> str:
    """Return the error with which weft refuses to run."""
    said = weft_says(*words)
    assert said.returncode == 2, said.stderr
    assert len(said.stderr.splitlines()) == 1, said.stderr
    return said.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--messages", "smpi"], "--messages smpi: found in a run whose messages are packets"),
        (["--offload", "off", "--no-contention"], "--no-contention: found in a run whose"),
        (["--set", "network.buffer=1kB"], "which is less than a packet (4KiB)"),
        (["--set", "network.xoff=64KiB"], "xoff: found without xon"),
        (
            ["--set", "network.load_balancing=spray", "--set", "network.retransmission=go-back-n"],
            'found "go-back-n", which rejects packets that overtake',
        ),
        (["--set", "routing.policy=spray"], "spreads flows over pools of links"),
        (
            ["--set", "network.congestion_control=infiniband"],
            "[network.infiniband] ccti_timer: is missing, which congestion_control =",
        ),
        (
            ["--set", "network.congestion_control=infiniband", "--set", "network.flow_control=pfc"],
            'congestion_control: found "infiniband" with flow_control = "pfc"; allowed:',
        ),
    ],
)
def test_what_packets_lack_is_refused(program: str, options: list[str], message: str) -> None:
    words = ["run", "--fabric", "tofino-4", "--network", "packets", "-n", "4", *options]
    assert message in refusal(*words, "--", program, "10", "1")


def test_routes_that_can_deadlock_are_refused(program: str) -> None:
    words = ["run", "--fabric", "ring-6", "--network", "packets", "-n", "4", "--", program]
    said = refusal(*words, "10", "1")
    assert "with which routes can deadlock" in said
    assert "allowed: lanes = 2 or more" in said


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["--multicast"], "Allgathers by multicast"),
        (["--detail", "call"], 'the detail "call"'),
    ],
)
def test_training_refuses_what_packets_lack(words: list[str], found: str) -> None:
    train = ["train", "llama-3-8b", "--fabric", "dgx-h100", "--gpu", "h100-sxm"]
    layout = ["--with", "parallel.tensor=8", "--with", "batch.global=4"]
    assert f"found together with {found}" in refusal(*train, *layout, *PACKETS, *words)


def test_training_on_packets_takes_the_time_of_flows_on_an_idle_fabric(tmp_path: Path) -> None:
    """One node of eight GPUs, whose NVLinks carry the layers' Allreduces and nothing else."""
    train = ["train", "llama-3-8b", "--fabric", "dgx-h100", "--gpu", "h100-sxm"]
    layout = ["--with", "parallel.tensor=8", "--with", "batch.global=1", "--with", "model.layers=2"]
    records = []
    for words in ([], [*PACKETS, "--set", "network.packet=64KiB"]):
        file = tmp_path / "record.json"
        weft_says(*train, *layout, *words, "-q", "--json", str(file))
        records.append(json.loads(file.read_text()))
    flows, packets = records
    assert packets["time_s"] == pytest.approx(flows["time_s"], rel=0.05)
    assert packets["packets"]["packets"] > packets["messages"]
    assert flows["packets"] is None


PACKETS = ("--set", "network.model=packets")
