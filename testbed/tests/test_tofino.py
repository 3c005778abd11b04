# SPDX-License-Identifier: LGPL-2.1-only
"""Files for a real Tofino: device ports, scripts for BF Runtime's Python, the parser's set.

The scripts run with a recording object in place of `bfrt`; these tests do not prove that a switch
accepts them.
"""

from pathlib import Path
from typing import Any

import pytest

from weft.base.errors import WeftError
from weft_testbed.hardware import inventory
from weft_testbed.hardware.inventory import Inventory
from weft_testbed.p4 import bfrt
from weft_testbed.p4 import files as table_files
from weft_testbed.p4 import program as p4_program
from weft_testbed.plan import file as plan_file
from weft_testbed.plan import plan, wanted_topology
from weft_testbed.plan.layout import Layout
from weft_testbed.plan.plan import Plan
from weft_testbed.running import bridges, diff
from weft_testbed.tables import tables


def with_chassis(chassis: str, ports: str = "") -> Inventory:
    return inventory.parse(
        f"""
[testbed]
name = "t"
[chassis]
name = "c"
ports = 14
speed = "100Gbps"
loopback = ["[9-12]"]
recirculation = ["15", "16"]
recirculation_speed = "100Gbps"
max_sharing = 8
{chassis}
{ports}
[[servers]]
name = "s[1-8]"
nics = ["e"]
speed = "100Gbps"
[[cables]]
between = ["s[1-8]:e", "c:[1-8]"]
""",
        "t",
    )


def planned(there: Inventory, *fabrics: str) -> Plan:
    return plan.make(there, [wanted_topology.read(fabric) for fabric in fabrics])


MIXED = 'device_ports = ["[128-135]", "0", "[60-62]", "12", "13", "68", "196"]'


# ---- Device ports --------------------------------------------------------------------------------


def test_entries_have_device_ports(tmp_path: Path) -> None:
    plain, mixed = planned(with_chassis(""), "line-4"), planned(with_chassis(MIXED), "line-4")
    device = mixed.inventory.chassis.device
    assert [device(k) for k in (1, 8, 9, 10, 15, 16, 512)] == [128, 135, 0, 60, 68, 196, 512]
    places = {"slice_table": "key", "group": "key", "forward_table": "data", "loop_table": "data",
              "loop_ports": "key"}  # fmt: skip

    def numbered(entry: tables.Entry) -> tables.Entry:
        def one(values: tuple[tables.Value, ...], at: int) -> tuple[tables.Value, ...]:
            return tuple(device(int(v)) if k == at else v for k, v in enumerate(values))

        if entry.table not in places:
            return entry
        if places[entry.table] == "key":
            at = 1 if entry.table == "group" else 0
            return tables.Entry(entry.table, one(entry.key, at), entry.action, entry.data)
        return tables.Entry(entry.table, entry.key, entry.action, one(entry.data, 0))

    assert {*map(numbered, tables.entries(plain))} == {*tables.entries(mixed)}
    plan_file.write(mixed, tmp_path / "plan.json")
    again = plan_file.read(tmp_path / "plan.json")
    assert tables.entries(again) == tables.entries(mixed)


def test_wires_have_device_ports() -> None:
    made = planned(with_chassis(MIXED), "server-pair")
    ports = {(one.key, one.data) for one in tables.entries(made)}
    assert ports == {((128,), (129,)), ((129,), (128,))}
    layout = Layout(made)
    wires = [tuple(end.name for end in pair) for pair in layout.wires()]
    assert {*wires} == {*bridges.of_chassis(tables.entries(made)).wires} & {*wires} != set()


def test_a_change_keeps_what_has_device_ports() -> None:
    there = with_chassis(MIXED)
    first = planned(there, "server-pair")
    both = plan.make(there, [wanted_topology.read("tofino-4")], first.experiments)
    found = diff.change(first, both)
    assert (found.removed, found.kept) == ([], 2)


WRONG = {
    'device_ports = ["[128-135]"]': "device_ports: found 8 numbers; write one for each of the 16",
    'device_ports = ["[497-512]"]': "device_ports: found '511'; allowed are port numbers from 0 to",
    'device_ports = ["[1-15]", "1"]': "device_ports: port 1 is named twice",
    'fec = "reed"': "fec: found 'reed'; allowed are none, fc, rs",
    "parser_values = 5": "parser_values: found 5; allowed is",
    "parser_values = 253": "parser_values: found 253; allowed is",
}


@pytest.mark.parametrize("line", WRONG)
def test_wrong_keys_are_refused(line: str) -> None:
    with pytest.raises(WeftError) as caught:
        with_chassis(line)
    assert WRONG[line] in str(caught.value)


def test_more_looping_ports_than_a_parser_has_rows_are_refused() -> None:
    text = '[testbed]\nname = "t"\n[chassis]\nname = "c"\nports = 300\nspeed = "100Gbps"\n'
    with pytest.raises(WeftError, match=r"found 253 looping ports.*at most 252"):
        inventory.parse(f'{text}loopback = ["[1-253]"]\n', "t")
    assert inventory.parse(f'{text}loopback = ["[1-252]"]\n', "t").chassis.parser_values == 252


# ---- Scripts for BF Runtime ----------------------------------------------------------------------


class Recorder:
    """Records calls by their dotted names."""

    def __init__(self, name: str, calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]]) -> None:
        self._name, self._calls = name, calls

    def __getattr__(self, name: str) -> "Recorder":
        return Recorder(f"{self._name}.{name}", self._calls)

    def __call__(self, *arguments: Any, **named: Any) -> None:
        self._calls.append((self._name, arguments, named))


def run(text: str) -> list[tuple[str, tuple[Any, ...], dict[str, Any]]]:
    calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []
    exec(text, {"bfrt": Recorder("bfrt", calls)})
    assert calls.pop() == ("bfrt.complete_operations", (), {})
    return calls


def as_number(value: tables.Value) -> int:
    return int(value.replace(":", ""), 16) if isinstance(value, str) else value


@pytest.mark.parametrize("fabrics", [("line-4",), ("server-pair", "ring-6"), ("torus-3x3",)])
@pytest.mark.parametrize("on", ["topocloud-64", "recirculating-64"])
def test_the_script_adds_exactly_the_entries(fabrics: tuple[str, ...], on: str) -> None:
    made = planned(inventory.read(on), *fabrics)
    wanted_entries = [one for one in tables.entries(made) if not one.external]
    tna = p4_program.shipped(p4_program.TNA)
    by_name = {one.full_name: one for one in tna.tables.values()}
    found: set[tuple[str, tuple[int, ...], str, tuple[int, ...]]] = set()
    nodes: dict[int, tuple[int, int]] = {}
    order = []
    for name, arguments, named in run(table_files.contents(made)["bfrt_entries.py"]):
        assert not named
        place = name.removeprefix("bfrt.testbed_tna.pipe.")
        if name == "bfrt.pre.node.add":
            node, instance, lags, (port,) = arguments
            assert lags == []
            assert node not in nodes
            nodes[node] = instance, port
        elif name == "bfrt.pre.mgid.add":
            group, members, valid, excluded = arguments
            assert valid == [False] * len(members)
            assert excluded == [0] * len(members)
            found |= {("group", (group, nodes[one][0]), "", ()) for one in members}
            order.append("group")
        elif place == "Parse.loop_ports.add":
            assert arguments[1] == 0x1FF
            found.add(("loop_ports", (arguments[0],), "", ()))
            order.append("loop_ports")
        else:
            path, _, action = place.rpartition(".add_with_")
            table = by_name[path]
            fields = (*table.key, *tna.action(table, action).parameters)
            assert len(arguments) == len(fields)
            for field, value in zip(fields, arguments, strict=True):
                assert 0 <= value < 1 << field.width
            cut = len(table.key)
            found.add((table.name, arguments[:cut], action, arguments[cut:]))
            order.append(table.name)
    assert found == {
        (one.table, (*map(as_number, one.key),), one.action, (*map(as_number, one.data),))
        for one in wanted_entries
    }
    ranks = [tables.ORDER.index(table) for table in order]
    assert ranks == sorted(ranks, reverse=True)  # entries that admit frames come last
    loops = {one.key[0]: one.data[0] for one in wanted_entries if one.table == "loop_table"}
    assert all(port == loops.get(instance, instance) for instance, port in nodes.values())


def test_the_script_brings_up_what_is_cabled_or_loops() -> None:
    there = with_chassis(
        f'{MIXED}\nfec = "none"',
        '[[ports]]\nnumbers = ["[3-4]"]\nspeed = "100Gbps"\nfec = "rs"\n'
        '[[ports]]\nnumbers = ["12"]\nspeed = "56Gbps"',
    )
    made = planned(there, "server-pair")
    text = table_files.contents(made)["bfrt_ports.py"]
    calls = run(text)
    front = {named["DEV_PORT"]: named for name, _, named in calls if name == "bfrt.port.port.add"}
    assert {*front} == {*range(128, 136), 0, 60, 61}  # not 13 and 14, which are unplugged
    assert all(named["PORT_ENABLE"] for named in front.values())
    assert {named["SPEED"] for named in front.values()} == {"BF_SPEED_100G"}
    rs = {k for k, named in front.items() if named["FEC"] == "BF_FEC_TYP_REED_SOLOMON"}
    assert rs == {130, 131}
    looping = {k for k, named in front.items() if "LOOPBACK_MODE" in named}
    assert looping == {0, 60, 61}
    assert "# 56 Gb/s is not a Tofino port speed" in text
    inside = [named for name, _, named in calls if name == "bfrt.tf1.pktgen.port_cfg.mod"]
    assert inside == [{"dev_port": k, "recirculation_enable": True} for k in (68, 196)]


def test_the_program_has_as_many_values_as_the_inventory() -> None:
    for line, size in (("", 6), ("parser_values = 252", 252)):
        made = planned(with_chassis(line), "server-pair")
        text = table_files.contents(made)["testbed_tna.p4"]
        assert p4_program.read(text, "x").value_sets["loop_ports"].size == size
    with pytest.raises(ValueError, match="has 0 sets of values"):
        bfrt.program(made.inventory, "header x {}")


def test_what_was_never_tried_says_so() -> None:
    files = table_files.contents(planned(with_chassis(""), "server-pair"))
    for name in ("bfrt_ports.py", "bfrt_entries.py"):
        assert files[name].splitlines()[1] == bfrt.NEVER_RUN
    assert "NEVER COMPILED" in files["testbed_tna.p4"]
