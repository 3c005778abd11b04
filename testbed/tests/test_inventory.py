# SPDX-License-Identifier: LGPL-2.1-only
"""Inventories and plan files as users write them, latencies, port maps, fabrics, changes."""

import itertools
import json
import math
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.simulated import Run
from tests.support.testbed_files import fabric_file
from weft import _core
from weft.base.errors import WeftError
from weft_testbed.hardware import inventory, medians
from weft_testbed.hardware.medians import measured
from weft_testbed.p4 import script
from weft_testbed.plan import distribution, fabric, plan, ports, wanted_topology
from weft_testbed.plan import file as plan_file
from weft_testbed.plan import picture as pictures
from weft_testbed.plan.latency import predict
from weft_testbed.plan.plan import Plan
from weft_testbed.running import diff
from weft_testbed.running import namespaces as netns
from weft_testbed.tables import tables

SMALL = """
[testbed]
name = "small"

[chassis]
name = "tofino"
ports = 16
speed = "100Gbps"
loopback = ["[13-16]"]

[[servers]]
name = "node-[1-4]"
nics = ["eth0"]
speed = "100Gbps"

[[switches]]
name = "l2"
ports = 4
speed = "100Gbps"

[[cables]]
between = ["node-[1-4]:eth0", "tofino:[1-4]"]

[[cables]]
between = ["l2:[1-4]", "tofino:[5-8]"]
"""


def topology(text: str, directory: Path, speed: str = "100Gbps") -> wanted_topology.Wanted:
    return wanted_topology.read(str(fabric_file(directory, text, "w", speed)))


def planned(*fabrics: str, on: str = "topocloud-64") -> Plan:
    return plan.make(inventory.read(on), [wanted_topology.read(one) for one in fabrics])


# ---- Bad input -----------------------------------------------------------------------------------

BAD = {
    "cabled twice": (
        ("tofino:[5-8]", "tofino:[4-7]"),
        "[[cables]] between: tofino:4 has two cables, to node-4:eth0 and to l2:1; a port has one"
        " cable",
    ),
    "unknown device": (
        ('"l2:[1-4]"', '"l3:[1-4]"'),
        "[[cables]] between: found 'l3:1', but there is no device 'l3' among 6; allowed are tofino,"
        " node-1, node-2, node-3, node-4, l2",
    ),
    "unknown port": (
        ("tofino:[5-8]", "tofino:[15-18]"),
        "[[cables]] between: tofino:15 is a loopback port, which loops frames back; cable another",
    ),
    "no such port": (
        ('"l2:[1-4]", "tofino:[5-8]"', '"l2:5", "tofino:5"'),
        "[[cables]] between: found 'l2:5'; the ports of l2 are 1, 2, 3, 4",
    ),
    "speeds": (
        ('ports = 4\nspeed = "100Gbps"', 'ports = 4\nspeed = "25Gbps"'),
        "[[cables]] between: l2:1 has 25 Gb/s and tofino:5 100 Gb/s; both ends of a cable run at"
        " the same speed (a port's own is set in [[ports]], [[servers]] or [[switches]])",
    ),
    "uneven ranges": (
        ("tofino:[5-8]", "tofino:[5-7]"),
        "[[cables]] between: found 4 ports at one end and 3 at the other; both ends must have"
        " equally many",
    ),
    "falling range": (
        ("tofino:[5-8]", "tofino:[8-5]"),
        "[[cables]] between: found 'tofino:[8-5]'; a range must increase and have at most 4096"
        " numbers",
    ),
    "no port": (
        ('"l2:[1-4]"', '"l2"'),
        "[[cables]] between: found 1 ports at one end and 4 at the other; both ends must have"
        " equally many",
    ),
    "same device": (
        ('"l2:[1-4]", "tofino:[5-8]"', '"tofino:5", "tofino:6"'),
        "[[cables]] between: found tofino:5 and tofino:6, both of tofino; a cable joins two devices"
        ' (loopback ports are listed in [chassis] loopback = ["…"])',
    ),
    "unknown key": (
        ("loopback =", "loopbacks ="),
        "[chassis] loopbacks: no such key; did you mean loopback?",
    ),
    "missing key": (('name = "small"', ""), "[testbed] name: is missing, but required"),
    "missing table": (
        ('[testbed]\nname = "small"', ""),
        "[testbed]: is missing, but required",
    ),
    "unit": (
        ('loopback = ["[13-16]"]', 'pass_latency = "495"'),
        "[chassis] pass_latency: found '495'; write a text with one of the units ps, ns, us, ms,"
        ' s, m, h, d, w, more than 0, such as "495.5ns"',
    ),
    "type": (
        ("ports = 16", 'ports = "16"'),
        "[chassis] ports: found '16'; allowed is a whole number from 1 to 510",
    ),
    "word": (
        ('loopback = ["[13-16]"]', 'forwarding = "fast"'),
        "[chassis] forwarding: found 'fast'; allowed are cut-through, store-and-forward",
    ),
    "port number": (
        ("[13-16]", "[13-17]"),
        "[chassis] loopback: found '17'; allowed are port numbers from 1 to 16, such as"
        ' ["1", "[5-8]"]',
    ),
    "same name": (
        ('name = "l2"', 'name = "node-1"'),
        "2 devices have the name 'node-1'; rename all but one",
    ),
    "same NIC": (
        ('nics = ["eth0"]', 'nics = ["eth0", "eth0"]'),
        "[[servers]] nics: 'eth0' is named twice; name each port once",
    ),
    "long NIC": (
        ('nics = ["eth0"]', 'nics = ["ethernet-port-0000"]'),
        "[[servers]] nics: found 'ethernet-port-0000'; allowed are up to 15 letters, digits, '-',"
        " '_', '.'",
    ),
    "addresses": (
        ('nics = ["eth0"]', 'nics = ["eth0"]\nmacs = ["02:00:00:00:00:01"]'),
        "[[servers]] macs: found 1; write one for each NIC port of one server",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_a_wrong_inventory_is_one_message(case: str) -> None:
    (old, new), message = BAD[case]
    assert old in SMALL
    with pytest.raises(WeftError) as caught:
        inventory.parse(SMALL.replace(old, new), "small.toml")
    assert str(caught.value) == f"small.toml: {message}"


def test_what_is_no_inventory_is_said(tmp_path: Path) -> None:
    with pytest.raises(WeftError, match=r"there is no such file, and no shipped inventory"):
        inventory.read("topocloud")
    with pytest.raises(WeftError, match=r"x: invalid TOML: "):
        inventory.parse("[", "x")
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"\xff\xfe")
    with pytest.raises(WeftError, match="is not text: line 1 is not UTF-8"):
        inventory.read(str(binary))


SHORT = {
    "hosts": (
        'kind = "star"\nhosts = 6',
        "100Gbps",
        "no plan: not enough servers: 6 hosts wanted with 1 cable of 100 Gb/s or more, 4 servers"
        " with such ports cabled in small: 2 short; take a smaller topology, or cable more servers",
    ),
    "speed": (
        'kind = "star"\nhosts = 3',
        "400Gbps",
        "no plan: not enough servers: 3 hosts wanted with 1 cable of 400 Gb/s or more, 0 servers"
        " with such ports cabled in small (and 4 with fewer or slower): 3 short; take a smaller"
        " topology, or cable more servers",
    ),
    "NIC ports": (
        'kind = "fat_tree"\ndown = [2]\nup = [2]',
        "100Gbps",
        "no plan: not enough servers: 2 hosts wanted with 2 cables of 100 Gb/s or more, 0 servers"
        " with such ports cabled in small (and 4 with fewer or slower): 2 short; take a smaller"
        " topology, or cable more servers",
    ),
    # Six cables between four switches, three of them at the layer 2 switch.
    "recirculation": (
        'kind = "dragonfly"\ngroups = 1\nrouters = 4\nhosts = 1',
        "100Gbps",
        "no plan: not enough recirculation bandwidth: 6 directions of cables between slices, 4"
        " looping ports of"
        " 400 Gb/s together at max_sharing = 1: at least 200 Gb/s short; list more [chassis]"
        " loopback ports, raise max_sharing, or cable more layer 2 switches (proven by the solver)",
    ),
}


@pytest.mark.parametrize("case", SHORT)
def test_a_testbed_that_is_too_small_says_what_is_short(case: str, tmp_path: Path) -> None:
    text, speed, message = SHORT[case]
    with pytest.raises(WeftError) as caught:
        plan.make(inventory.parse(SMALL, "small"), [topology(text, tmp_path, speed)])
    assert str(caught.value) == message


def test_too_few_slices_are_said(tmp_path: Path) -> None:
    one = topology('kind = "mesh"\ndimensions = [4]\nhosts_per_switch = 1', tmp_path)
    few = SMALL.replace("ports = 16", "ports = 16\nslices = 2\nmax_sharing = 2")
    with pytest.raises(WeftError) as caught:
        plan.make(inventory.parse(few, "small"), [one])
    assert str(caught.value) == (
        "no plan: not enough slices: 4 switches wanted, 2 allowed on tofino beside 1 layer 2"
        " switch:"
        " 1 short; raise [chassis] slices, or cable more layer 2 switches (proven by the solver)"
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda found: found.update(format="x"), "not a plan of weft: its format is 'x'"),
        (lambda found: found.pop("experiments"), "this plan is damaged"),
        (lambda found: found["experiments"][0].update(number=256), "the number of star-8 is 256"),
        (lambda found: found["experiments"][0]["cables"].popitem(), "are not those of its fabric"),
        (
            lambda found: found["experiments"][0]["hosts"].update({"host-0": "node-2"}),
            "does not end at node-2",
        ),
        (
            lambda found: found["experiments"][0]["cables"]["host-0"].update(
                ports=["node-1:eth0", "tofino:9"]
            ),
            "no cable joins node-1:eth0 and tofino:9",
        ),
    ],
)
def test_a_damaged_plan_is_refused(change: Any, message: str, tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    plan_file.write(planned("star-8"), path)
    found = json.loads(path.read_text())
    change(found)
    path.write_text(json.dumps(found))
    with pytest.raises(WeftError, match=re.escape(message)):
        plan_file.read(path)


def _cable(kind: str, /, **keys: object) -> Callable[[dict[str, Any]], None]:
    """Return a change that gives the first cable of a kind other values."""

    def change(found: dict[str, Any]) -> None:
        cables = found["experiments"][0]["cables"].values()
        next(one for one in cables if one["kind"] == kind).update(keys)

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            _cable("recirculated", loops=[]),
            "0 loops and 2 virtual_ports; such a cable has",
        ),
        (_cable("recirculated", loops=[65]), "has 0 ports, 1 loops and 2"),
        (_cable("recirculated", loops=[65, 9999]), "are not loopback ports"),
        (_cable("recirculated", virtual_ports=[512]), "2 loops and 1 virtual_ports"),
        (_cable("recirculated", virtual_ports=[512, 70000]), "found the virtual port 70000"),
        (_cable("recirculated", virtual_ports=[1, 2]), "found the virtual port 1; allowed are 512"),
        (_cable("recirculated", virtual_ports=[600, 600]), "is used 2 times"),
        (_cable("recirculated", kind="direct"), "has 0 ports, 2 loops"),
        (_cable("recirculated", kind="wire"), "such a cable has 4, 0 and 0"),
        (_cable("wire", ports=[]), "has 0 ports"),
        (_cable("wire", kind="direct"), "such a cable has 2, 0 and 0"),
        (_cable("wire", loops=[65, 66]), "has 4 ports, 2 loops"),
        (lambda found: found["experiments"][0]["hosts"].clear(), "the hosts of"),
        (lambda found: found["experiments"][0]["hosts"].update(x="node-1"), "the hosts of"),
        (lambda found: found["experiments"][0]["switches"].clear(), "the switches of"),
        (lambda found: found["experiments"][0]["switches"].update(x=1), "the switches of"),
        (
            lambda found: found["experiments"][0]["switches"].update(
                dict.fromkeys(found["experiments"][0]["switches"], 9999)
            ),
            "is on 9999; its inventory has slices from 1 to",
        ),
    ],
)
def test_a_plan_that_is_no_whole_is_refused_before_anything_uses_it(
    change: Callable[[dict[str, Any]], None], message: str, tmp_path: Path
) -> None:
    path = tmp_path / "plan.json"
    plan_file.write(
        plan.make(inventory.read("topocloud-64"), [wanted_topology.read("torus-3x3")]), path
    )
    found = json.loads(path.read_text())
    assert {one["kind"] for one in found["experiments"][0]["cables"].values()} == {
        "direct",
        "recirculated",
        "wire",
    }
    change(found)
    path.write_text(json.dumps(found))
    with pytest.raises(WeftError, match="this plan is damaged: ") as caught:
        plan_file.read(path)
    assert message in str(caught.value)


def test_what_is_no_plan_is_said(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    with pytest.raises(WeftError, match="cannot be read: No such file"):
        plan_file.read(path)
    path.write_text("[1]")
    with pytest.raises(WeftError, match="create one with `weft testbed plan`"):
        plan_file.read(path)
    path.write_text("no")
    with pytest.raises(WeftError, match="not a plan of weft: is not valid JSON: error at line 1"):
        plan_file.read(path)


def test_an_experiment_must_be_one_of_the_plan() -> None:
    made = planned("star-8", "line-4")
    for name, found in ((None, "is not given"), ("x", "found 'x'")):
        with pytest.raises(WeftError, match=f"^experiment: {found}; this plan has star-8, line-4"):
            made.experiment(name)


def test_up_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    made = planned("star-8")
    with pytest.raises(WeftError, match=r"^name: found 'A b'; allowed are"):
        netns.up(made, "A b")
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    with pytest.raises(WeftError, match="testbed up: creating network namespaces needs root"):
        netns.up(made, "x")
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(
        WeftError, match=r"there is no ip and no bridge and no tc; install iproute2"
    ):
        netns.up(made, "x")


# ---- Latency -------------------------------------------------------------------------------------

DIRECT = SMALL.replace('"l2:[1-4]", "tofino:[5-8]"', '"l2:[1-2]", "tofino:[5-6]"').replace(
    '"node-[1-4]:eth0", "tofino:[1-4]"', '"node-[1-2]:eth0", "l2:[3-4]"'
)


def round_trips(there: str, directory: Path, frame: int = 64) -> list[float]:
    one = topology('kind = "star"\nhosts = 2', directory)
    made = plan.make(inventory.parse(there, "small"), [one])
    return [trip.round_trip_ns for trip in predict(made, made.experiments[0], frame)]


def test_the_papers_medians_are_predicted_within_one_percent(tmp_path: Path) -> None:
    # As measured (TopoCloud, section IV): over the chassis, and with both servers at the switch.
    assert round_trips(SMALL, tmp_path) == [pytest.approx(1446, rel=0.01)]
    assert round_trips(DIRECT, tmp_path) == [pytest.approx(1703, rel=0.01)]
    assert measured().direct == pytest.approx(455, rel=0.01)
    assert measured().chassis_pass == 495.5
    assert measured().over("direct") == pytest.approx(218, abs=0.5)
    assert measured().over("l2") == pytest.approx(-15, abs=0.5)


def test_the_fabric_wide_link_is_a_hosts_cable(tmp_path: Path) -> None:
    """Applies although most cables are recirculated, which cost a pass but add no wire."""
    made = planned("torus-3x3", on="recirculating-64")
    path = tmp_path / "planned.toml"
    fabric.write(made, made.experiments[0], path)
    found = tomllib.loads(path.read_text())
    assert found["link"]["latency"] == "940ns"
    assert {one["latency"] for one in found["links"]} == {"0ns"}
    assert len(found["links"]) == made.recirculated == 18


def test_two_servers_over_a_virtual_wire_have_the_papers_median(tmp_path: Path) -> None:
    made = planned("server-pair")
    (trip,) = predict(made, made.experiments[0])
    assert (trip.wires, trip.passes, trip.switches) == (2, 2, 0)
    assert trip.round_trip_ns == pytest.approx(1446, rel=0.01)
    path = tmp_path / "planned.toml"
    fabric.write(made, made.experiments[0], path)
    way = _core.load_fabric(str(path)).route(0, 1)
    assert (way["links"], way["through"]) == (["client--server.up"], [])
    assert way["latency_s"] == pytest.approx(2 * 0.94e-6 + 495.5e-9)


def test_programs_run_on_two_servers_and_on_their_virtual_wire(tmp_path: Path, run: Run) -> None:
    """A byte takes the cable's latency in each direction, plus a chassis pass over the wire.

    Both are scaled by the latency factor of the fabric's messages.
    """
    factor = _core.load_fabric("server-pair").point_to_point[0]["latency_factor"]
    made = planned("server-pair")
    path = tmp_path / "planned.toml"
    fabric.write(made, made.experiments[0], path)
    times = []
    for on in ("server-pair", str(path)):
        options = ("--quiet",)
        result = run("pingpong.c", "1", on=on, ranks=2, options=options)
        times.append(float(result.stdout.split()[1]))
    assert times[0] == pytest.approx(1.88e-6, rel=0.01)
    assert times[1] - times[0] == pytest.approx(factor * 495.5e-9, rel=1e-3)


def test_store_and_forward_waits_for_the_frame(tmp_path: Path) -> None:
    wait = 2 * (1500 - 64) * 8 / 100
    assert round_trips(SMALL, tmp_path, 1500) == [pytest.approx(1446)]
    assert round_trips(DIRECT, tmp_path, 1500) == [pytest.approx(1703 + wait)]
    through = DIRECT.replace("ports = 4", 'ports = 4\nforwarding = "cut-through"')
    assert round_trips(through, tmp_path, 1500) == [pytest.approx(1703)]
    holds = SMALL.replace("ports = 16", 'ports = 16\nforwarding = "store-and-forward"')
    assert round_trips(holds, tmp_path, 1500) == [pytest.approx(1446 + wait)]
    with pytest.raises(WeftError, match=r"^frame_bytes: found 63; allowed are 64 to 9018 bytes"):
        round_trips(SMALL, tmp_path, 63)


def test_each_recirculation_is_one_pass_more() -> None:
    made = planned("torus-3x3", on="recirculating-64")
    for trip in predict(made, made.experiments[0]):
        assert trip.passes == 2 + trip.recirculations
        assert trip.round_trip_ns == pytest.approx(455 + 495.5 * trip.passes)


def test_wires_and_layer_2_switches_add_up() -> None:
    made = planned("torus-3x3")
    for trip in predict(made, made.experiments[0]):
        assert trip.passes - trip.wires + trip.layer2 == trip.switches
        expected = 455 + 495.5 * trip.passes + 624 * trip.layer2
        assert trip.round_trip_ns == pytest.approx(expected)


def test_the_probes_formula(tmp_path: Path) -> None:
    assert medians.round_trip(1000, 500, 2500, 4446) == 1446
    path = tmp_path / "probe.csv"
    path.write_text("# two\nc1,s1,s2,c2\n1000,500,2500,4446\n0,0,10,1456\n5,5,6,1000\n")
    trips = medians.read_probe(path)
    assert sorted(trips) == [994, 1446, 1446]
    assert [distribution.quantile(trips, share) for share in (0, 25, 50, 100)] == [
        994, 1220, 1446, 1446,
    ]  # fmt: skip
    figure = distribution.figure_of({"a": trips})
    (axes,) = figure.axes
    curve, *medians_of_paper = (np.asarray(one.get_xydata()).tolist() for one in axes.lines)
    assert curve == [[994, 0], [994, 100 / 3], [1446, 200 / 3], [1446, 100]]
    assert medians_of_paper == [[[455, 50]], [[1446, 50]], [[1703, 50]]]
    for text, message in (
        ("a,b\n", "its first line must be c1,s1,s2,c2"),
        ("c1,s1,s2,c2\n", "has no rows"),
        ("c1,s1,s2,c2\n1,2,x,4\n", "row 2: write four numbers"),
        ("c1,s1,s2,c2\n1,2,3\n", "row 2: write four numbers"),
        ("c1,s1,s2,c2\n9,2,3,4\n", "c2 before c1"),
    ):
        path.write_text(text)
        with pytest.raises(WeftError, match=message):
            medians.read_probe(path)


# ---- Port map, scripts, fabric -------------------------------------------------------------------


def test_the_port_map_says_what_each_port_does(tmp_path: Path) -> None:
    made = planned("torus-3x3", "star-8")
    uses = {use.port.number: use for use in ports.uses(made)}
    assert len(uses) == 64
    for _, _, way in made.ways:
        if way.kind == "wire":
            one, other = (int(port.name) for port in way.ports[1:3])
            assert (uses[one].wire, uses[other].wire) == (other, one)
        for loop in way.loops:
            assert uses[loop].shared == 1
    assert {use.experiment for use in uses.values()} == {"", "torus-3x3", "star-8"}
    target = tmp_path / "ports.png"
    pictures.draw(made, target, "--picture")
    assert target.stat().st_size > 10_000
    (axes,) = pictures.figure_of(made).axes
    texts = {text.get_text() for text in axes.texts}
    places = [at for one in made.experiments for at in one.switches.values()]
    slices = [at for at in places if isinstance(at, int)]
    for use in uses.values():  # by letters, not by colours alone
        if use.role.startswith("slice"):
            assert any(text.startswith(f"{use.port.number}\n") for text in texts)
    legend = axes.get_legend()
    assert legend is not None
    letters = [text.get_text() for text in legend.get_texts() if ": " in text.get_text()]
    assert len(letters) == len(slices) == len({text.split(":")[0] for text in letters})


def test_the_program_has_the_tables_and_the_script_fills_them() -> None:
    text = (inventory.FOLDER / "testbed.p4").read_text()
    program = {
        name: {word.strip() for word in actions.split(";")}
        for name, actions in re.findall(r"table (\w+) \{.*?actions = \{(.*?)\}", text, re.DOTALL)
    }
    made = planned("torus-3x3")
    entries = tables.entries(made)
    chassis = [entry for entry in entries if not entry.external]
    used = {entry.table for entry in chassis} - {"group", "loop_ports"}
    assert used == set(program)
    for entry in chassis:
        if entry.table in program:
            assert entry.action in program[entry.table]
    assert "value_set<bit<9>>(512) loop_ports;" in text
    lines = [*script.added(entries, made.inventory)]
    adds = [line for line in lines if line.startswith("table_add ")]
    assert len(adds) == sum(entry.table in program for entry in entries)
    # Nodes have the handles that init assigns, counted from 0.
    nodes = [
        line.split()[1]
        for line in script.init(made.inventory)
        if line.startswith("mc_node_create ")
    ]
    groups = {entry.key for entry in entries if entry.table == "group"}
    associated = [line.split()[1:] for line in lines if line.startswith("mc_node_associate ")]
    assert {(int(group), int(nodes[int(node)])) for group, node in associated} == groups


@pytest.mark.parametrize(
    "name", ["ring-6", "fat-tree-8", "dragonfly-12", "torus-3x3", "server-pair"]
)
def test_a_planned_fabric_has_the_routes_and_latencies_of_the_plan(
    name: str, tmp_path: Path
) -> None:
    made = planned(name)
    experiment = made.experiments[0]
    path = tmp_path / "planned.toml"
    fabric.write(made, experiment, path)
    loaded = _core.load_fabric(str(path))
    hosts = experiment.wanted.hosts
    one_way = {}
    for (source, target), route in experiment.wanted.routes.items():
        way = loaded.route(hosts.index(source), hosts.index(target))
        assert tuple(way["through"]) == route.switches
        one_way[source, target] = way["latency_s"]
    for trip in predict(made, experiment):
        both = one_way[trip.source, trip.target] + one_way[trip.target, trip.source]
        # In addition to the hosts' part, 0.94 us at each end.
        passes = (trip.passes * 495.5 + trip.layer2 * 624) * 1e-9
        assert both == pytest.approx(4 * 0.94e-6 + passes)


def test_recirculation_costs_bandwidth(tmp_path: Path) -> None:
    made = planned("torus-3x3", "torus-3x3", "torus-3x3", on="recirculating-64")
    # 108 directions on 28 looping ports of 100 Gb/s: at most four per port.
    assert max(map(made.sharing, made.shares)) == 4
    path = tmp_path / "planned.toml"
    experiment = made.experiments[1]
    fabric.write(made, experiment, path)
    loaded = _core.load_fabric(str(path))
    speeds = {one["name"]: one["bandwidth_Bps"] * 8e-9 for one in loaded.cables()}
    assert {speed for name, speed in speeds.items() if "--" not in name} == {100}
    shared = {link: one["bandwidth_Bps"] * 8e-9 for one in loaded.shared for link in one["links"]}
    for name, way in experiment.cables.items():
        for direction, loop in zip(("up", "down"), way.loops, strict=False):
            own = sum(other.loops.count(loop) for other in experiment.cables.values())
            sharers = sum(made.shares[loop].values())
            found = min(speeds[name], shared.get(f"{name}.{direction}", math.inf))
            assert found == pytest.approx(100 * own / sharers)


def test_one_looping_port_is_shared_by_all_that_pass_it(tmp_path: Path) -> None:
    """A line of three slices: two cables, and thus four links, on one port."""
    alone = (
        SMALL[: SMALL.index("[[switches]]")]
        + SMALL[SMALL.index("[[cables]]") : SMALL.rindex("[[cables]]")]
    )
    there = inventory.parse(alone.replace('["[13-16]"]', '["13"]\nmax_sharing = 4'), "small")
    one = topology('kind = "mesh"\ndimensions = [3]\nhosts_per_switch = 1', tmp_path)
    made = plan.make(there, [one])
    path = tmp_path / "planned.toml"
    fabric.write(made, made.experiments[0], path)
    (medium,) = _core.load_fabric(str(path)).shared
    assert len(medium["links"]) == 4
    assert medium["bandwidth_Bps"] == 12.5e9


def test_a_message_takes_the_bandwidth_that_links_share(tmp_path: Path, run: Run) -> None:
    """One direction passes two links that share: it gets half the bandwidth."""
    times = []
    for more in ("", '[[shared]]\nlinks = ["host-0.up", "host-1.down"]\nbandwidth = "8Gbps"\n'):
        topology('kind = "star"\nhosts = 2', tmp_path, "8Gbps")
        path = tmp_path / "w.toml"
        path.write_text(path.read_text() + more)
        options = ("--quiet",)
        result = run("pingpong.c", "1000000", on=str(path), ranks=2, options=options)
        times.append(float(result.stdout.split()[1]))
    # A million bytes and SMPI's 16 at half of 1 GB/s.
    assert times[1] - times[0] == pytest.approx(1000016 / 1e9 / 2, rel=1e-6)


# ---- Changes -------------------------------------------------------------------------------------


def least_by_enumeration(old: Plan, new: Plan) -> int:
    """Return the most entries in common over all numberings of slices and virtual ports."""
    before = {*tables.entries(old)}
    slices = sorted(
        {one for e in new.experiments for one in e.switches.values() if type(one) is int}
    )
    old_slices = {one for e in old.experiments for one in e.switches.values() if type(one) is int}
    virtual = sorted({port for _, _, way in new.ways for port in way.virtual})
    old_virtual = {port for _, _, way in old.ways for port in way.virtual}
    spare = [*range(100, 100 + len(slices))], [*range(900, 900 + len(virtual))]
    best = 0
    for numbers in itertools.permutations([*old_slices, *spare[0]], len(slices)):
        for tags in itertools.permutations([*old_virtual, *spare[1]], len(virtual)):
            labels = dict(zip(slices, numbers, strict=True)), dict(zip(virtual, tags, strict=True))
            after = {*tables.entries(plan.relabelled(new, *labels))}
            best = max(best, len(before & after))
    return best


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('kind = "mesh"\ndimensions = [2]\nhosts_per_switch = 2', 'kind = "star"\nhosts = 4'),
        (
            'kind = "mesh"\ndimensions = [2]\nhosts_per_switch = 2',
            'kind = "custom"\nhosts = ["a", "b", "c", "d"]\nswitches = ["y", "x"]\n'
            'cables = [{between = ["a", "x"]}, {between = ["b", "y"]}, {between = ["c", "y"]},'
            ' {between = ["d", "y"]}, {between = ["x", "y"]}]',
        ),
    ],
)
def test_a_change_is_the_least(before: str, after: str, tmp_path: Path) -> None:
    alone = (
        SMALL[: SMALL.index("[[switches]]")]
        + SMALL[SMALL.index("[[cables]]") : SMALL.rindex("[[cables]]")]
    )
    there = inventory.parse(alone, "small")
    old, new = (plan.make(there, [topology(text, tmp_path)]) for text in (before, after))
    assert old.recirculated == 1
    for one, other in ((old, new), (new, old)):
        found = diff.change(one, other)
        assert found.kept == least_by_enumeration(one, other)
        assert len(found.removed) + found.kept == len(tables.entries(one))
        assert len(found.added) + found.kept == len(tables.entries(other))


def test_plans_of_two_inventories_have_no_change() -> None:
    with pytest.raises(WeftError, match="the plans are on two inventories, 'topocloud-64' and"):
        diff.change(planned("star-8"), planned("star-8", on="recirculating-64"))
