# SPDX-License-Identifier: LGPL-2.1-only
"""Inventories with several chassis: the devices of each, and the choice of chassis for plans."""

import json
import re
import time
from pathlib import Path

import pytest

from tests.support import simulated
from tests.support.testbed_files import fabric_file
from tests.support.testbed_reader import check_plan
from weft.base.errors import WeftError, suggestion
from weft_testbed.hardware import inventory
from weft_testbed.plan import fabric, plan, ports, wanted_topology
from weft_testbed.plan import file as plan_file
from weft_testbed.plan.latency import predict
from weft_testbed.plan.plan import Plan
from weft_testbed.running import diff
from weft_testbed.tables import tables

# Servers of the second chassis are on other ports than those of the first.
POD = """
[testbed]
name = "pod"

[[chassis]]
name = "tofino-a"
ports = 16
speed = "100Gbps"
loopback = ["[13-16]"]

[[chassis]]
name = "tofino-b"
ports = 32
speed = "25Gbps"
recirculation = ["[33-36]"]
recirculation_speed = "400Gbps"
max_sharing = 4

[[ports]]
chassis = "tofino-b"
numbers = ["[1-20]"]
speed = "100Gbps"

[[servers]]
name = "a-[1-4]"
nics = ["eth0"]
speed = "100Gbps"

[[servers]]
name = "b-[1-9]"
nics = ["eth0"]
speed = "100Gbps"

[[servers]]
name = "far"
nics = ["eth0"]
speed = "100Gbps"

[[switches]]
name = "l2"
ports = 4
speed = "100Gbps"

[[cables]]
between = ["a-[1-4]:eth0", "tofino-a:[1-4]"]

[[cables]]
between = ["b-[1-9]:eth0", "tofino-b:[11-19]"]

[[cables]]
between = ["l2:[1-3]", "tofino-b:[1-3]"]

[[cables]]
between = ["l2:4", "far:eth0"]
"""


@pytest.fixture
def pod(tmp_path: Path) -> Path:
    path = tmp_path / "pod.toml"
    path.write_text(POD)
    return path


def star(hosts: int, directory: Path) -> Path:
    return fabric_file(directory, f'kind = "star"\nhosts = {hosts}', f"s{hosts}")


def placed(directory: Path, *fabrics: str | int) -> Plan:
    """Return the plan on the first chassis that fits; a number is a star of that many hosts."""
    names = [str(star(one, directory)) if isinstance(one, int) else one for one in fabrics]
    topologies = [wanted_topology.read(name) for name in names]
    chassis = inventory.parse_all(POD, "pod.toml")
    return plan.on_first(chassis, lambda there: plan.make(there, topologies))


def weft(*arguments: str | Path, status: int = 0) -> str:
    """Run a command of `weft testbed`; return its output, or its message."""
    ended = simulated.weft("testbed", *map(str, arguments))
    assert ended.status == status, ended.stderr
    return ended.stderr if status else ended.stdout


def test_each_chassis_has_what_is_cabled_to_it() -> None:
    first, second = inventory.parse_all(POD, "pod.toml")
    assert (first.chassis.name, second.chassis.name) == ("tofino-a", "tofino-b")
    assert [*first.servers] == ["a-1", "a-2", "a-3", "a-4"]
    assert not first.switches
    # Includes connections through the layer 2 switch.
    assert [*second.servers] == [*(f"b-{k}" for k in range(1, 10)), "far"]
    assert [*second.switches] == ["l2"]
    assert (len(first.peers), len(second.peers)) == (8, 2 * (9 + 3 + 1))
    assert {port.speed for port in first.chassis.ports.values()} == {100_000_000_000}
    assert [second.chassis.ports[k].speed for k in (20, 21)] == [100_000_000_000, 25_000_000_000]
    addresses = [
        mac
        for one in (first, second)
        for server in one.servers.values()
        for mac in server.macs.values()
    ]
    assert len(set(addresses)) == 14


def test_one_chassis_in_a_list_is_one_chassis() -> None:
    text = (
        '[testbed]\nname = "t"\n[[chassis]]\nname = "c"\nports = 4\nspeed = "100Gbps"\n'
        '[[ports]]\nnumbers = ["4"]\nspeed = "25Gbps"\n'
        '[[servers]]\nname = "d[1-2]"\nnics = ["e"]\nspeed = "100Gbps"\n'
        '[[cables]]\nbetween = ["d[1-2]:e", "c:[1-2]"]\n'
    )
    (listed,) = inventory.parse_all(text, "t")
    (table,) = inventory.parse_all(text.replace("[[chassis]]", "[chassis]"), "t")
    assert (listed.chassis, listed.peers) == (table.chassis, table.peers)
    assert listed.called == "t"


@pytest.mark.parametrize(
    ("fabrics", "chassis"),
    [([4], "tofino-a"), ([5], "tofino-b"), ([3, 3], "tofino-b"), (["torus-3x3"], "tofino-b")],
)
def test_a_plan_is_on_the_first_chassis_with_room(
    fabrics: list[str | int], chassis: str, tmp_path: Path
) -> None:
    made = placed(tmp_path, *fabrics)
    assert made.inventory.chassis.name == chassis
    path = tmp_path / "plan.json"
    plan_file.write(made, path)
    assert json.loads(path.read_text())["chassis"] == chassis
    assert plan_file.read(path) == made
    routes = {
        one.name: {pair: route.switches for pair, route in one.wanted.routes.items()}
        for one in made.experiments
    }
    assert check_plan(json.loads(path.read_text()), tables.as_json(made), routes) > 0


def test_what_is_written_of_a_plan_is_its_own_chassis(tmp_path: Path) -> None:
    made = placed(tmp_path, 9)
    assert {entry.key for entry in tables.entries(made) if entry.table == "slice_table"} == {
        (port,) for port in range(11, 20)
    }
    uses = ports.uses(made)
    assert len(uses) == 36
    assert {str(use.peer) for use in uses if use.experiment} == {
        f"b-{k}:eth0" for k in range(1, 10)
    }
    assert len(predict(made, made.experiments[0])) == 9 * 8 // 2
    fabric.write(made, made.experiments[0], tmp_path / "planned.toml")
    assert "on pod, chassis tofino-b" in (tmp_path / "planned.toml").read_text()


def test_plans_of_one_chassis_are_written_as_ever(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    made = plan.make(inventory.read("topocloud-64"), [wanted_topology.read("star-8")])
    plan_file.write(made, path)
    assert "chassis" not in json.loads(path.read_text())
    assert plan_file.read(path) == made


def test_plans_of_two_chassis_are_not_compared(tmp_path: Path) -> None:
    with pytest.raises(WeftError) as caught:
        diff.change(placed(tmp_path, 4), placed(tmp_path, 9))
    assert str(caught.value) == (
        "diff: the plans are on two chassis of 'pod', tofino-a and tofino-b, which have separate"
        " entries; compare plans of one chassis (select it with `weft testbed plan --chassis`)"
    )


def test_the_shortage_of_each_chassis_is_said(tmp_path: Path) -> None:
    with pytest.raises(WeftError) as caught:
        placed(tmp_path, 11)
    message = (
        "{0}: not enough servers: 11 hosts wanted with 1 cable of 100 Gb/s or more, {1} servers"
        " with"
        " such ports cabled in pod, chassis {0}: {2} short; take a smaller topology, or cable more"
        " servers"
    )
    assert str(caught.value) == (
        "no plan on any of the 2 chassis of pod: "
        f"{message.format('tofino-a', 4, 7)} | {message.format('tofino-b', 10, 1)}"
    )


def test_a_short_resource_is_raised_in_its_table(tmp_path: Path) -> None:
    text = POD.replace('speed = "25Gbps"\n', 'speed = "25Gbps"\nslices = 1\n')
    (second,) = (one for one in inventory.parse_all(text, "t") if one.chassis.name == "tofino-b")
    with pytest.raises(WeftError, match=r"not enough slices: .*; raise \[\[chassis\]\] slices, or"):
        plan.make(second, [wanted_topology.read("torus-3x3")])


# ---- Commands ------------------------------------------------------------------------------------


def test_commands_plan_and_keep_on_a_chosen_chassis(pod: Path, tmp_path: Path) -> None:
    first, second, both = (tmp_path / name for name in ("a.json", "b.json", "both.json"))
    three, four = star(3, tmp_path), star(4, tmp_path)
    assert weft("plan", pod, three, "-o", first).startswith("s3 on tofino-a: 3 servers, 1 slice; ")
    found = weft("plan", pod, three, "--chassis", "tofino-b", "-o", second)
    assert found.startswith("s3 on tofino-b: 3 servers")
    # Kept experiments stay on their chassis, even if the first one would fit.
    found = weft("plan", pod, four, "--keep", second, "-o", both)
    names = [line.split(":")[0] for line in found.splitlines()]
    assert names == ["s3 on tofino-b", "s4 on tofino-b"]
    assert plan_file.read(both).experiments[0] == plan_file.read(second).experiments[0]
    assert "remove 0, " in weft("diff", second, both)
    message = weft("plan", pod, three, "--keep", first, "-o", both, status=2)
    assert "no plan: not enough servers: 3 hosts wanted" in message
    assert "counted beside what is kept (s3)" in message
    message = weft(
        "plan", pod, four, "--keep", second, "--chassis", "tofino-a", "-o", both, status=2
    )
    assert message == (
        "weft: --chassis: found 'tofino-a', but --keep is a plan of tofino-b, and running"
        " experiments stay there; leave out --chassis, or plan on that chassis without --keep\n"
    )
    message = weft("plan", pod, four, "--chassis", "tofino-c", "-o", both, status=2)
    assert message == (
        f"weft: --chassis: found 'tofino-c', which {pod} does not have; did you mean tofino-b or"
        " tofino-a?\n"
    )


def test_a_shipped_inventory_is_called_by_its_name() -> None:
    """Regression: the message named its path in the installation."""
    with pytest.raises(WeftError, match="which inventory topocloud-64 does not have; "):
        inventory.read_all("topocloud-64", "nowhere")


def test_commands_for_each_topology_have_one_chassis(pod: Path, tmp_path: Path) -> None:
    program = ("--", "sh", "-c", "grep -o '\"chassis\": .*' $WEFT_TESTBED_PLAN")
    several = ("--fabric", star(3, tmp_path), "--fabric", star(9, tmp_path))
    assert weft("iterate", pod, *several, *program) == '"chassis": "tofino-b"\n' * 2
    message = weft("iterate", pod, *several, "--chassis", "tofino-a", *program, status=2)
    assert "no plan: not enough servers: 9 hosts wanted" in message


# ---- Bad input -----------------------------------------------------------------------------------

BAD = {
    "layer 2 switch of two": (
        ('["l2:4", "far:eth0"]', '["l2:4", "tofino-a:5"]'),
        "[[cables]] between: the cable of tofino-b:1 and l2:1 connects the devices of"
        " tofino-b and tofino-a",
    ),
    "two chassis cabled": (
        ('["l2:4", "far:eth0"]', '["tofino-a:5", "tofino-b:20"]'),
        "[[cables]] between: the cable of tofino-a:5 and tofino-b:20 connects the devices"
        " of tofino-a and tofino-b",
    ),
    "ports of none": (
        ('chassis = "tofino-b"\n', ""),
        "[[ports]] chassis: is missing, but required",
    ),
    "ports of another": (
        ('chassis = "tofino-b"', 'chassis = "tofino-d"'),
        "[[ports]] chassis: found 'tofino-d'; did you mean tofino-b or tofino-a?",
    ),
    "same name": (
        ('name = "tofino-b"', 'name = "tofino-a"'),
        "2 devices have the name 'tofino-a'; rename all but one",
    ),
    "unknown key": (
        ("max_sharing = 4", "max_share = 4"),
        "[[chassis]] max_share: no such key; did you mean max_sharing?",
    ),
    "port number": (
        ("[13-16]", "[13-17]"),
        "[[chassis]] loopback: found '17'; allowed are port numbers from 1 to 16",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_a_wrong_inventory_is_one_message(case: str) -> None:
    (old, new), message = BAD[case]
    assert old in POD
    with pytest.raises(WeftError) as caught:
        inventory.parse_all(POD.replace(old, new), "pod.toml")
    assert str(caught.value).startswith(f"pod.toml: {message}")


def test_a_server_is_cabled_to_one_chassis() -> None:
    text = (
        POD.replace('name = "far"\nnics = ["eth0"]', 'name = "far"\nnics = ["eth0", "eth1"]')
        + '[[cables]]\nbetween = ["far:eth1", "tofino-a:5"]\n'
    )
    with pytest.raises(WeftError) as caught:
        inventory.parse_all(text, "pod.toml")
    assert "connected devices must share one chassis" in str(caught.value)
    assert "tofino-a" in str(caught.value)


@pytest.mark.parametrize("value", ["[]", "3", "[1]", '"c"'])
def test_no_table_of_a_chassis_is_said(value: str) -> None:
    with pytest.raises(WeftError, match=r"^t: \[chassis\]: "):
        inventory.parse_all(f'chassis = {value}\n[testbed]\nname = "t"\n', "t")


@pytest.mark.parametrize(
    ("chassis", "said"),
    [
        (None, "it names no chassis, and its inventory has tofino-a, tofino-b"),
        ("x", "it names the chassis 'x', and its inventory has tofino-a, tofino-b"),
        ("tofino-a", "host-0 is on 'b-1', which is not a server of its inventory"),
    ],
)
def test_a_plan_of_a_wrong_chassis_is_damaged(
    chassis: str | None, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "plan.json"
    plan_file.write(placed(tmp_path, 9), path)
    found = json.loads(path.read_text())
    del found["chassis"]
    path.write_text(json.dumps(found if chassis is None else {**found, "chassis": chassis}))
    with pytest.raises(WeftError) as caught:
        plan_file.read(path)
    assert f"this plan is damaged: {said}; create it again" in str(caught.value)


def test_ranges_and_names_of_an_inventory_are_bounded() -> None:
    text = (inventory.FOLDER / "recirculating-64.toml").read_text()
    assert "node-[1-40]" in text
    start = time.process_time()
    for name, said in (
        ("node-[1-4096]node-[1-40]", "ranges may name at most 4096 things in total"),
        ("node-[1-40]" + "a" * 5000, "63 at most"),
    ):
        with pytest.raises(WeftError) as caught:
            inventory.parse_all(text.replace("node-[1-40]", name, 1), "t")
        assert said in str(caught.value)
        assert len(str(caught.value)) < 10_000
    assert time.process_time() - start < 2


def test_a_message_lists_no_more_words_than_people_read() -> None:
    assert suggestion("x", ["a", "b"]) == "allowed are a, b"
    said = suggestion("x", [f"word-{k}" for k in range(100_000)])
    assert len(said) < 500
    assert re.search(r", word-\d+ and 99,\d+ more$", said)
