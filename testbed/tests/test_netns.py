# SPDX-License-Identifier: LGPL-2.1-only
"""Plans in real operation: namespaces, bridges and redirects, probed frame by frame.

All namespaces have names unique to this run. If this machine cannot create them, the tests are
skipped with the reason.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from weft.base.errors import WeftError
from weft_testbed.hardware import inventory
from weft_testbed.p4.client import Client, pipeline
from weft_testbed.plan import file as plan_file
from weft_testbed.plan import plan, wanted_topology
from weft_testbed.plan.layout import Layout
from weft_testbed.plan.plan import Plan
from weft_testbed.running import diff, linux, probe
from weft_testbed.running import namespaces as netns
from weft_testbed.running import registry as running
from weft_testbed.tables import tables

WEFT = (sys.executable, "-m", "weft.cli.main")
NAME = f"test-{os.getpid()}"
REASON = netns.missing()
pytestmark = pytest.mark.skipif(REASON is not None, reason=f"weft testbed up: {REASON}")

Up = Callable[[Plan], Layout]


@pytest.fixture
def up() -> Iterator[Up]:
    """Build a plan; cleanup is unconditional."""

    def build(made: Plan) -> Layout:
        netns.up(made, NAME)
        return Layout(made)

    yield build
    netns.down(NAME)
    assert not netns.there(NAME)


def planned(*fabrics: str, on: str = "topocloud-64") -> Plan:
    return plan.make(inventory.read(on), [wanted_topology.read(fabric) for fabric in fabrics])


def inside(device: str, *command: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        ["ip", "netns", "exec", netns.namespace(NAME, device), *command],
        text=True,
        capture_output=True,
        timeout=30,
        check=False,
    )


def pings(layout: Layout, source: str, target: str) -> bool:
    """Return true if a host of the first experiment reaches any host by ARP and ICMP."""
    (server,) = [one.hosts[source] for one in layout.plan.experiments[:1]]
    (address,) = [
        layout.address(one, target) for one in layout.plan.experiments if target in one.hosts
    ][:1]
    return inside(server, "ping", "-c1", "-W1", address).returncode == 0


@pytest.mark.parametrize("on", ["topocloud-64", "recirculating-64"])
@pytest.mark.parametrize("fabric", ["ring-6", "fat-tree-8", "torus-3x3"])
def test_all_and_only_the_wanted_pairs_reach_each_other(fabric: str, on: str, up: Up) -> None:
    made = planned(fabric, on=on)
    layout = up(made)
    found = probe.check(made, NAME)
    hosts = made.experiments[0].wanted.hosts
    assert found.problems == []
    assert found.pairs == len(hosts) * (len(hosts) - 1)
    assert found.stopped == found.broadcasts == len(hosts)
    if shutil.which("ping"):
        assert all(pings(layout, hosts[0], other) for other in hosts[1:])


def test_experiments_do_not_see_each_other(up: Up) -> None:
    made = planned("torus-3x3", "star-8")
    up(made)
    found = probe.check(made, NAME)
    assert found.problems == []
    assert found.pairs == 9 * 8 + 8 * 7
    # To the other experiment's hosts, and to the unused address.
    assert found.stopped == 2 * 9 * 8 + 17
    a, b = (next(iter(one.hosts.values())) for one in made.experiments)
    address = Layout(made).address(made.experiments[1], next(iter(made.experiments[1].hosts)))
    inside(a, "ip", "route", "add", "10.0.0.0/8", "dev", "eth0")
    assert inside(a, "ping", "-c1", "-W1", address).returncode != 0, b


def test_two_chassis_of_an_inventory_are_up_at_the_same_time(up: Up) -> None:
    text = "".join(
        f'[[chassis]]\nname = "c{k}"\nports = 8\nspeed = "100Gbps"\n'
        f'[[servers]]\nname = "s{k}-[1-2]"\nnics = ["e"]\nspeed = "100Gbps"\n'
        f'[[cables]]\nbetween = ["s{k}-[1-2]:e", "c{k}:[{k}-{k + 1}]"]\n'
        for k in (1, 2)
    )
    pair = wanted_topology.read("server-pair")
    chassis = inventory.parse_all(f'[testbed]\nname = "t"\n{text}', "t")
    one, other = (plan.make(there, [pair]) for there in chassis)
    up(one)
    second = f"{NAME}-b"
    netns.up(other, second)
    try:
        for made, name in ((one, NAME), (other, second)):
            found = probe.check(made, name)
            assert (found.problems, found.pairs) == ([], 2)
    finally:
        netns.down(second)
    assert netns.there(NAME)


def test_data_cross_wires_slices_and_recirculation(up: Up) -> None:
    if not shutil.which("iperf3"):
        pytest.skip("there is no iperf3; install it")
    made = planned("torus-3x3")
    layout = up(made)
    experiment = made.experiments[0]
    server, client = experiment.hosts["host-8"], experiment.hosts["host-0"]
    space = netns.namespace(NAME, server)
    with subprocess.Popen(
        ["ip", "netns", "exec", space, "iperf3", "-s", "-1"],
        stdout=subprocess.DEVNULL,
    ) as listening:
        try:
            for _ in range(50):
                if "5201" in inside(server, "ss", "-ltn").stdout:
                    break
                time.sleep(0.05)
            address = layout.address(experiment, "host-8")
            result = inside(client, "iperf3", "-c", address, "-n", "4M", "--json")
            assert result.returncode == 0, result.stdout
        finally:
            listening.kill()


def test_hosts_with_two_ports_reach_each_other(up: Up, tmp_path: Path) -> None:
    path = tmp_path / "two.toml"
    path.write_text(
        '[fabric]\nname = "two"\n[topology]\nkind = "fat_tree"\ndown = [2, 2]\nup = [2, 2]\n'
        '[host]\npreset = "xeon-8360"\n[nic]\npreset = "connectx-6-dx"\n'
        '[link]\nbandwidth = "100Gbps"\nlatency = "1us"\n[switch]\npreset = "l2"\n'
    )
    there = inventory.parse(
        '[testbed]\nname = "two"\n'
        '[chassis]\nname = "c"\nports = 40\nspeed = "100Gbps"\nmax_sharing = 2\n'
        'loopback = ["[20-40]"]\n'
        '[[servers]]\nname = "s[1-4]"\nnics = ["a", "b"]\nspeed = "100Gbps"\n'
        '[[cables]]\nbetween = ["s[1-4]:a", "c:[1-4]"]\n'
        '[[cables]]\nbetween = ["s[1-4]:b", "c:[5-8]"]\n',
        "two",
    )
    made = plan.make(there, [wanted_topology.read(str(path))])
    layout = up(made)
    found = probe.check(made, NAME)
    assert found.problems == []
    assert found.pairs == 4 * 3
    assert all(pings(layout, "host-0", other) for other in ("host-1", "host-2", "host-3"))


def test_two_servers_over_a_virtual_wire(up: Up) -> None:
    made = planned("server-pair", "star-8")
    layout = up(made)
    found = probe.check(made, NAME)
    assert found.problems == []
    assert found.pairs == 2 + 8 * 7
    assert found.broadcasts == 2 + 8
    assert pings(layout, "client", "server")


def test_a_cable_of_two_hosts_beside_a_switch(up: Up, tmp_path: Path) -> None:
    path = tmp_path / "beside.toml"
    path.write_text(
        '[fabric]\nname = "beside"\n[topology]\nkind = "custom"\nhosts = ["a", "b", "c"]\n'
        'switches = ["s"]\ncables = [{between = ["a", "s"]}, {between = ["b", "s"]},'
        ' {between = ["c", "s"]}, {between = ["a", "b"]}]\n'
        '[host]\npreset = "xeon-8360"\n[nic]\npreset = "connectx-6-dx"\n'
        '[link]\nbandwidth = "100Gbps"\nlatency = "1us"\n[switch]\npreset = "l2"\n'
    )
    there = inventory.parse(
        '[testbed]\nname = "two"\n[chassis]\nname = "c"\nports = 8\nspeed = "100Gbps"\n'
        '[[servers]]\nname = "s[1-3]"\nnics = ["a", "b"]\nspeed = "100Gbps"\n'
        '[[cables]]\nbetween = ["s[1-3]:a", "c:[1-3]"]\n'
        '[[cables]]\nbetween = ["s[1-3]:b", "c:[4-6]"]\n',
        "two",
    )
    made = plan.make(there, [wanted_topology.read(str(path))])
    layout = up(made)
    found = probe.check(made, NAME)
    assert found.problems == []
    assert found.pairs == 3 * 2
    assert all(pings(layout, one, other) for one in "abc" for other in "abc" if one != other)


# ---- From plan to plan ---------------------------------------------------------------------------


def test_a_change_leaves_what_runs_alone(up: Up) -> None:
    there = inventory.read("topocloud-64")
    star, torus, ring = (wanted_topology.read(one) for one in ("line-4", "torus-3x3", "fat-tree-8"))
    first = plan.make(there, [torus, star])
    layout = up(first)
    kept = first.experiments[1]
    a, b = kept.hosts["host-0"], layout.address(kept, "host-1")
    pinging = subprocess.Popen(
        ["ip", "netns", "exec", netns.namespace(NAME, a), "ping", "-i", "0.05", "-c", "60", b],
        stdout=subprocess.PIPE,
        text=True,
    )
    with pinging:
        for fabrics in ([ring], []):
            found = diff.change(first, plan.make(there, fabrics, [kept]))
            netns.apply(first, found, NAME)
            checked = probe.check(found.plan, NAME)
            assert checked.problems == []
            hosts = [len(one.hosts) for one in found.plan.experiments]
            assert checked.pairs == sum(count * (count - 1) for count in hosts)
            first = found.plan
        said = pinging.communicate()[0]
    assert "60 packets transmitted, 60 received" in said


def test_servers_go_from_one_experiment_to_another(up: Up) -> None:
    first = planned("ring-6", on="recirculating-64")
    up(first)
    sleeping = subprocess.Popen(
        ["ip", "netns", "exec", netns.namespace(NAME, "node-1"), "sleep", "60"]
    )
    for after in ("torus-3x3", "server-pair", "ring-6"):
        found = diff.change(first, planned(after, on="recirculating-64"))
        netns.apply(first, found, NAME)
        checked = probe.check(found.plan, NAME)
        assert checked.problems == []
        hosts = found.plan.experiments[0].wanted.hosts
        assert pings(Layout(found.plan), hosts[0], hosts[-1])
        first = found.plan
    assert sleeping.wait(5) != 0  # it belonged to the old plan


def test_a_change_of_another_plan_is_refused(up: Up) -> None:
    up(planned("star-8"))
    ring = planned("ring-6")
    message = (
        r"testbed diff: OLD does not match the running testbed .*: it lacks ring-6 \(67 entries\)"
    )
    with pytest.raises(WeftError, match=message):
        netns.apply(ring, diff.change(ring, planned("star-8")), NAME)


def test_the_switch_is_controlled_from_outside(up: Up, tmp_path: Path) -> None:
    """Entries deleted by a controller are gone, and entries it writes take effect."""
    made = planned("star-8")
    up(made)
    found = [entry for entry in tables.entries(made) if not entry.external]
    with Client(running.address(NAME), pipeline()) as switch:
        assert switch.read() == sorted(found)
        gone = [entry for entry in found if entry.table == "slice_table" and entry.key != (1,)]
        switch.change(found, [entry for entry in found if entry not in gone], 0)
        assert probe.check(made, NAME).problems
        switch.change([entry for entry in found if entry not in gone], found, 0)
    assert probe.check(made, NAME).problems == []


# ---- Faults are detected -------------------------------------------------------------------------


def sabotage(made: Plan, command: str) -> list[str]:
    device = netns.namespace(NAME, made.inventory.chassis.name)
    tool, rest = command.split(" ", 1)
    subprocess.run([tool, "-n", device, *rest.split()], check=True, timeout=10)
    return probe.check(made, NAME).problems


def test_a_port_in_a_wrong_slice_is_seen(up: Up) -> None:
    made = planned("star-8", "ring-6", on="topocloud-64")
    up(made)
    ring = made.experiments[1]
    port = next(way.ports[1] for way in ring.cables.values() if len(way.ports) == 2)
    problems = sabotage(made, f"ip link set p{port.name} master slice1")
    assert any(f"was not at tofino:p{port.name}" not in one for one in problems)
    assert any("and was at" in one or " was at " in one for one in problems)


def test_a_wrong_way_is_seen_though_all_pairs_reach_each_other(up: Up) -> None:
    """In a ring, one host is reached the longer way round."""
    made = planned("ring-6", on="recirculating-64")
    layout = up(made)
    ring = made.experiments[0]
    target = ring.hosts["host-06"]
    address = made.inventory.servers[target].macs["eth0"]
    pairs = {(one, "host-06"): ring.wanted.routes[one, "host-06"] for one in ("host-00",)}
    (route,) = pairs.values()
    first, other = (
        layout.interface(made.end(ring, cable.name, route.switches[0])).name
        for cable in ring.wanted.at[route.switches[0]]
        if "--" in cable.name
    )
    taken = layout.interface(made.end(ring, route.cables[1], route.switches[0])).name
    wrong = other if taken == first else first
    sabotage(made, f"bridge fdb del {address} dev {taken} master")
    problems = sabotage(made, f"bridge fdb add {address} dev {wrong} master static")
    assert any("from host-00" in one for one in problems), problems


def test_a_cut_wire_is_seen(up: Up) -> None:
    made = planned("ring-6")
    layout = up(made)
    one, _ = next(layout.wires())
    problems = sabotage(made, f"tc qdisc del dev {one.name} ingress")
    assert problems


def test_flooding_is_seen(up: Up) -> None:
    made = planned("star-8")
    up(made)
    problems = sabotage(made, "bridge link set dev p2 flood on")
    assert any("to nobody was at node-2:eth0" in one for one in problems)


# ---- No leftovers --------------------------------------------------------------------------------


def test_a_failing_up_undoes_what_it_did(
    up: Up, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = tmp_path / "bridge"
    fake.write_text("#!/bin/sh\necho no >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(WeftError, match=r"bridge.* failed: no"):
        up(planned("ring-6"))
    assert not netns.there(NAME)


def test_an_address_that_cannot_be_listened_on_is_said(up: Up) -> None:
    with pytest.raises(WeftError, match=r"testbed up: P4Runtime: cannot listen on 127.0.0.1:x;"):
        netns.up(planned("star-8"), NAME, "127.0.0.1:x")
    assert not netns.there(NAME)


@pytest.mark.slow
def test_of_two_that_build_at_once_one_does_and_the_other_removes_nothing(
    up: Up, tmp_path: Path
) -> None:
    path = tmp_path / "plan.json"
    made = planned("torus-3x3")
    plan_file.write(made, path)
    command = [*WEFT, "testbed", "up", "--netns", str(path), "--name", NAME]
    both = [
        subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    said = [one.communicate(timeout=120)[1] for one in both]
    assert sorted(one.returncode for one in both) == [0, 2], said
    loser = said[0] or said[1]
    assert "another weft is building" in loser or "already exists" in loser
    assert probe.check(made, NAME).problems == []


def test_one_that_comes_while_another_builds_removes_nothing(
    up: Up, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = planned("star-8")
    build = netns._build

    def meanwhile(*arguments: Any) -> None:
        build(*arguments)
        with pytest.raises(WeftError, match="another weft is building, changing or removing"):
            netns.up(made, NAME)

    monkeypatch.setattr(netns, "_build", meanwhile)
    up(made)
    assert probe.check(made, NAME).problems == []


@pytest.mark.slow
@pytest.mark.parametrize("signum", [signal.SIGKILL, signal.SIGTERM])
def test_down_removes_what_a_crash_has_left(signum: int, tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    plan_file.write(planned("torus-3x3"), path)
    command = [*WEFT, "testbed", "up", "--netns", str(path), "--name", NAME]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
        while not netns.there(NAME) and running.poll() is None:
            time.sleep(0.005)
        running.send_signal(signum)
    if signum == signal.SIGTERM:
        assert running.returncode == 128 + signum
        assert not netns.there(NAME)
    result = subprocess.run(
        [*WEFT, "testbed", "down", "--name", NAME], text=True, capture_output=True, check=True
    )
    assert "removed" in result.stdout or "is not up" in result.stdout
    assert not netns.there(NAME)


def test_down_ends_the_processes_in_a_testbed(up: Up) -> None:
    up(planned("star-8"))
    space = netns.namespace(NAME, "node-1")
    with subprocess.Popen(["ip", "netns", "exec", space, "sleep", "60"]) as sleeping:
        while not subprocess.run(
            ["ip", "netns", "pids", space], capture_output=True, check=True
        ).stdout:
            time.sleep(0.01)
        assert netns.down(NAME) > 0
        assert sleeping.wait(5) != 0


def test_a_testbed_is_up_once(up: Up) -> None:
    made = planned("star-8")
    up(made)
    with pytest.raises(WeftError, match="already exists"):
        netns.up(made, NAME)
    assert netns.there(NAME)
    with pytest.raises(
        WeftError,
        match=r"testbed check: PLAN does not match the running testbed"
        " .*lacks ring-6",
    ):
        probe.check(planned("ring-6"), NAME)
    linux.ip(None, [f"netns del {netns.namespace(NAME, 'node-8')}"])
    with pytest.raises(WeftError, match="is not this plan, or only a part of it"):
        probe.check(made, NAME)


@pytest.mark.slow
def test_iterate_has_each_topology_up(tmp_path: Path) -> None:
    result = subprocess.run(
        [
            *(*WEFT, "testbed", "iterate", "topocloud-64", "--fabric", "line-4"),
            *("--fabric", "ring-6", "--netns", "--name", NAME, "--", "sh", "-c"),
            f"{sys.executable} -m weft.cli.main testbed check $WEFT_TESTBED_PLAN --name {NAME}",
        ],
        text=True,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert "56 pairs reached" in result.stdout
    assert "132 pairs reached" in result.stdout
    assert not netns.there(NAME)
