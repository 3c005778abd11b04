# SPDX-License-Identifier: LGPL-2.1-only
"""The switch program, the scripts that fill it, and a P4Runtime switch."""

import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import grpc
import pytest

from tests.support.p4_servers import Serve, serving
from weft.base.errors import WeftError
from weft_testbed.hardware import inventory
from weft_testbed.p4 import info as p4info
from weft_testbed.p4 import program as p4_program
from weft_testbed.p4 import script, script_check
from weft_testbed.p4.client import Client, pipeline
from weft_testbed.plan import file as plan_file
from weft_testbed.plan import plan, wanted_topology
from weft_testbed.plan.plan import Plan
from weft_testbed.running import bridges, diff
from weft_testbed.tables import tables
from weft_testbed.tables.tables import Entry

WEFT = (sys.executable, "-m", "weft.cli.main")
PROGRAM = (inventory.FOLDER / p4_program.V1MODEL).read_text("utf-8")


def planned(*fabrics: str, on: str = "topocloud-64") -> Plan:
    return plan.make(inventory.read(on), [wanted_topology.read(fabric) for fabric in fabrics])


def of_chassis(made: Plan) -> list[Entry]:
    return [entry for entry in tables.entries(made) if not entry.external]


# ---- The program ---------------------------------------------------------------------------------


def test_the_program_has_the_tables_that_entries_are_for() -> None:
    program = p4_program.shipped()
    assert {*program.tables, *program.value_sets, "group"} == {*tables.ORDER}
    forward = program.tables["forward_table"]
    assert [(one.name, one.width, one.match) for one in forward.key] == [
        ("metadata.slice", 16, "exact"),
        ("headers.ethernet.destination", 48, "exact"),
    ]
    assert program.value_sets["loop_ports"].full_name == "Parse.loop_ports"
    assert program.tables["tag_table"].full_name == "Egress.tag_table"


def test_tofinos_program_has_the_same_tables() -> None:
    ours, tna = p4_program.shipped(), p4_program.shipped(p4_program.TNA)
    assert ours.actions == tna.actions
    assert [(one.full_name, one.width) for one in ours.value_sets.values()] == [
        (one.full_name, one.width) for one in tna.value_sets.values()
    ]
    for name, table in ours.tables.items():
        other = tna.tables[name]
        assert (table.actions, table.size) == (other.actions, other.size)
        assert [key.width for key in table.key] == [key.width for key in other.key]
    text = (inventory.FOLDER / p4_program.TNA).read_text("utf-8")
    assert "NEVER COMPILED" in text.splitlines()[1]


WRONG = {
    "field": (
        "metadata.slice = slice",
        "metadata.slise = slice",
        "metadata_t has no field 'slise'",
    ),
    "action": ("actions = { wire;", "actions = { wyre;", "there is no action 'wyre' in Ingress"),
    "default": (
        "actions = { tag; drop; }",
        "actions = { tag; }",
        "its default action 'drop' is none of its actions",
    ),
    "state": ("transition ethernet;", "transition ethernt;", "there is no state 'ethernt'"),
    "table": ("slice_table.apply()", "slize_table.apply()", "'slize_table' is not declared"),
    "control": ("Deparse()) main", "Deparser()) main", "there is no 'Deparser'"),
    "match": ("exact; }", "exakt; }", "there is no match kind 'exakt'"),
    "width": (
        "action wire(bit<9> port)",
        "action wire(bit<8> port)",
        "bit<9> and bit<8> do not go together",
    ),
    "twice": ("table tag_table", "table arp_table", "'arp_table' is there twice"),
    "syntax": ("apply {", "apply [", "unsupported P4: found '['"),
    "end": ("Deparse()) main;", "Deparse()) main", "unsupported P4"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_program_is_one_message(case: str) -> None:
    old, new, message = WRONG[case]
    assert old in PROGRAM
    with pytest.raises(WeftError) as caught:
        p4_program.read(PROGRAM.replace(old, new, 1), "x.p4")
    assert str(caught.value).startswith("x.p4:")
    assert message in str(caught.value)


# ---- Scripts -------------------------------------------------------------------------------------


class Runtime:
    """Simulates a script's effect on the tables of simple_switch, by words alone."""

    def __init__(self, there: inventory.Inventory) -> None:
        self.tables: dict[str, dict[str, str]] = {}
        self.sets: dict[str, set[str]] = {}
        self.groups: set[tuple[str, str]] = set()
        self.nodes: list[list[str]] = []
        self.run(script.init(there))

    def run(self, lines: "Iterator[str] | Sequence[str]") -> None:
        for line in lines:
            words = line.partition("#")[0].split()
            if words and words[0] != "shell":
                getattr(self, words[0])(*words[1:])

    def table_add(self, table: str, action: str, *rest: str) -> None:
        key, _, data = " ".join(rest).partition(" =>")
        entries = self.tables.setdefault(table, {})
        assert key not in entries, (table, key)
        entries[key] = f"{action}{data.rstrip()}"

    def table_clear(self, table: str) -> None:
        self.tables[table].clear()

    def pvs_add(self, name: str, value: str) -> None:
        self.sets.setdefault(name, set()).add(value)

    def pvs_remove(self, name: str, value: str) -> None:
        self.sets[name].remove(value)

    def mc_mgrp_create(self, group: str) -> None:
        pass

    def mc_node_create(self, rid: str, port: str) -> None:
        self.nodes.append([rid, port])

    def mc_node_update(self, node: str, port: str) -> None:
        self.nodes[int(node)][1] = port

    def mc_node_associate(self, group: str, node: str) -> None:
        assert (group, node) not in self.groups
        self.groups.add((group, node))

    def mc_node_dissociate(self, group: str, node: str) -> None:
        self.groups.remove((group, node))

    def entries(self) -> dict[str, Any]:
        full = {name: entries for name, entries in self.tables.items() if entries}
        copies = {(group, *self.nodes[int(node)]) for group, node in self.groups}
        return {"tables": full, "sets": self.sets, "groups": copies}


CHANGES: list[tuple[list[str], list[str]]] = [
    (["star-8"], ["torus-3x3"]),
    (["torus-3x3", "star-8"], ["star-8"]),
    (["torus-3x3"], ["torus-3x3", "star-8"]),
]


@pytest.mark.parametrize(("before", "after"), CHANGES)
@pytest.mark.parametrize("on", ["topocloud-64", "recirculating-64"])
def test_scripts_fit_the_program_and_lead_to_the_plan(
    before: list[str], after: list[str], on: str
) -> None:
    old = planned(*before, on=on)
    found = diff.change(old, planned(*after, on=on))
    program, there = p4_program.shipped(), old.inventory
    first = [*script.added(tables.entries(old), there)]
    change = [*found.script()]
    for lines in ([*script.init(there)], first, change):
        assert script_check.check(lines, program, "script")
    changed, anew = Runtime(there), Runtime(there)
    changed.run(first)
    changed.run(change)
    anew.run([*script.added(tables.entries(found.plan), there)])
    changed_sets = {name for name, values in changed.sets.items() if values}
    assert changed.entries()["tables"] == anew.entries()["tables"]
    assert changed.entries()["groups"] == anew.entries()["groups"]
    assert {name: changed.sets[name] for name in changed_sets} == anew.sets


BROKEN = {
    "table_delete_match wire_table 1": "simple_switch_CLI has no command 'table_delete_match'",
    "pvs_add loop_ports 41": "there is no set of values 'loop_ports'; did you mean Parse.loop",
    "pvs_add Parse.loop_ports 512": "Parse.loop_ports has 9 bits; found '512'",
    "table_add wires wire 1 => 2": "there is no table 'wires'; allowed are wire_table",
    "table_add wire_table wyre 1 => 2": "table wire_table has no action 'wyre'; did you mean wire?",
    "table_add wire_table wire 1 2 => 2": "table wire_table takes 1 values",
    "table_add wire_table wire 1 =>": "action wire takes 1 values (port); found 0",
    "table_add wire_table wire 1 2 3": "'=>' is missing",
    "table_add wire_table wire x => 2": "standard_metadata.ingress_port has 9 bits; found 'x'",
    "mc_node_associate 1": "mc_node_associate takes 2 words or more, at most 2; found 1",
}


@pytest.mark.parametrize("line", BROKEN)
def test_a_script_that_does_not_fit_is_refused(line: str) -> None:
    with pytest.raises(WeftError) as caught:
        script_check.check(["# first", line], p4_program.shipped(), "runtime.txt")
    assert str(caught.value).startswith("runtime.txt:2: ")
    assert BROKEN[line] in str(caught.value)


def test_a_table_takes_as_many_entries_as_the_program_says() -> None:
    lines = [f"table_add wire_table wire {k} => 0" for k in range(512)]
    script_check.check(lines, p4_program.shipped(), "x")
    with pytest.raises(WeftError, match="has an entry for 0 already"):
        script_check.check([*lines, lines[0]], p4_program.shipped(), "x")


# ---- P4Runtime -----------------------------------------------------------------------------------


@pytest.fixture
def serve() -> Iterator[Serve]:
    with serving() as start:
        yield start


def test_numbers_are_found_in_a_p4info_by_names() -> None:
    program = p4_program.shipped()
    info = p4info.p4info(program)
    for one in (*info.tables, *info.actions, *info.value_sets):
        one.preamble.id += 7
    shifted = p4info.Names(program, info)
    for entry in of_chassis(planned("torus-3x3")):
        for _, entity in p4info.entities([entry], shifted):
            assert p4info.entries(entity, shifted) == [entry]


@pytest.mark.parametrize(("before", "after"), CHANGES)
def test_a_switch_is_filled_changed_and_emptied(
    before: list[str], after: list[str], serve: Serve
) -> None:
    address, history = serve()
    old = planned(*before, on="recirculating-64")
    found = diff.change(old, planned(*after, on="recirculating-64"))
    first, last = tables.entries(old), tables.entries(found.plan)
    with Client(address, pipeline()) as switch:
        switch.configure()
        switch.change([], first, 0)
        assert switch.read() == sorted(of_chassis(old))
        told = len(history)
        switch.change(first, last, 0)
        assert switch.read() == sorted(of_chassis(found.plan))
        # Common entries never disappear, and entries that admit frames come last, never more than
        # one at a time.
        stays = {*of_chassis(old)} & {*of_chassis(found.plan)}
        for state in history[told:]:
            assert stays <= {*state}
            assert {*state} <= {*of_chassis(old)} or {*state} <= {*of_chassis(found.plan)}
        switch.change(switch.read(), [], 0)
        assert switch.read() == []


def test_a_second_controller_is_told_that_there_is_a_first(serve: Serve) -> None:
    address, _ = serve()
    with Client(address, pipeline()), pytest.raises(WeftError, match="another controller"):
        Client(address, pipeline()).__enter__()
    with Client(address, pipeline()) as again:  # the first has disconnected
        again.configure()


def test_a_controller_that_only_reads_is_never_primary(serve: Serve) -> None:
    address, _ = serve()
    with Client(address, pipeline(), primary=False) as watching:
        assert watching.primary_controller() == "none"
        with Client(address, pipeline()) as switch:  # it can still become primary
            switch.fill([Entry("wire_table", (1,), "wire", (2,))])
            with Client(address, pipeline(), primary=False) as other:
                assert other.primary_controller() == "election id 0:1"
                assert len(other.read()) == 1
                with pytest.raises(WeftError, match="the switch has changed in the meantime"):
                    other.change([], [], 0)
        assert len(watching.read()) == 1
        with pytest.raises(WeftError, match="not the primary controller"):
            watching.change(watching.read(), [], 0)


def test_the_server_refuses_what_does_not_fit(serve: Serve) -> None:
    address, _ = serve()
    wire = Entry("wire_table", (1,), "wire", (2,))
    with Client(address, pipeline()) as switch:
        with pytest.raises(WeftError, match="there is no pipeline yet"):
            switch.read()
        switch.configure()
        switch.change([], [wire], 0)
        _, ((insert,),) = p4info.batches([], [wire], switch.names)
        other = Entry("wire_table", (3,), "wire", (2,))
        ((delete,),), _ = p4info.batches([other], [], switch.names)
        with pytest.raises(WeftError, match=r"P4Runtime: .*: wire_table has that entry already"):
            switch.write([insert])
        with pytest.raises(WeftError, match="there is no such entry"):
            switch.write([delete])
        assert switch.read() == [wire]


def test_protocol_errors_have_the_protocols_codes(serve: Serve) -> None:
    from finsy.proto.p4.v1 import p4runtime_pb2, p4runtime_pb2_grpc

    address, _ = serve()
    with grpc.insecure_channel(address) as channel:
        stub = p4runtime_pb2_grpc.P4RuntimeStub(channel)
        asked: list[tuple[Any, Any, grpc.StatusCode]] = [
            (stub.Write, p4runtime_pb2.WriteRequest(device_id=2), grpc.StatusCode.NOT_FOUND),
            (
                stub.Write,
                p4runtime_pb2.WriteRequest(device_id=1),
                grpc.StatusCode.PERMISSION_DENIED,
            ),
            (
                stub.GetForwardingPipelineConfig,
                p4runtime_pb2.GetForwardingPipelineConfigRequest(device_id=1),
                grpc.StatusCode.FAILED_PRECONDITION,
            ),
        ]
        for call, request, code in asked:
            with pytest.raises(grpc.RpcError) as caught:
                call(request, timeout=10)
            assert caught.value.code() == code
        said = stub.Capabilities(p4runtime_pb2.CapabilitiesRequest(), timeout=10)
        assert said.p4runtime_api_version.startswith("1.")


def test_a_program_of_others_is_not_taken(serve: Serve, tmp_path: Path) -> None:
    address, _ = serve()
    ours = pipeline()
    odd = type(ours)(ours.info, b"header x {")
    message = "unsupported P4"
    with Client(address, odd) as switch, pytest.raises(WeftError, match=message):
        switch.configure()
    info = tmp_path / "p4info.txt"
    info.write_text('tables { preamble { id: 1 name: "Other.table" } }')
    with pytest.raises(WeftError, match=r"it has no 'Ingress.wire_table'"):
        Client("x", pipeline(info, info))
    info.write_text("tables [")
    with pytest.raises(WeftError, match="not a P4Info in text format"):
        pipeline(info, info)


def test_commands_fill_change_and_empty_a_switch(serve: Serve, tmp_path: Path) -> None:
    address, history = serve()
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    plan_file.write(planned("star-8", on="recirculating-64"), old)
    plan_file.write(planned("line-4", on="recirculating-64"), new)
    now = tmp_path / "now.json"
    for arguments, said in (
        (["up", str(old)], "update"),
        (["diff", str(old), str(new), "--plan", str(now)], "remove "),
        (["down"], "which has no entry now"),
    ):
        command = [*WEFT, "testbed", *arguments, "--p4runtime", address]
        result = subprocess.run(command, text=True, capture_output=True, timeout=60, check=False)
        assert (result.returncode, said in result.stdout) == (0, True), result
    assert of_chassis(plan_file.read(old)) != of_chassis(plan_file.read(now))
    sizes = [len(state) for state in history]
    assert len(of_chassis(plan_file.read(old))) in sizes
    assert len(of_chassis(plan_file.read(now))) in sizes
    assert sizes[-1] == 0


# ---- What entries mean on Linux ------------------------------------------------------------------


def test_half_a_recirculated_cable_is_none() -> None:
    made = of_chassis(planned("line-4", on="recirculating-64"))
    whole = bridges.of_chassis(made)
    assert len(whole.cables) == 3
    for table in ("tag_table", "loop_table", "loop_ports"):
        one = next(entry for entry in made if entry.table == table)
        less = bridges.of_chassis(entry for entry in made if entry != one)
        assert len(less.cables) == 2
        assert {*less.masters} < {*whole.masters}
    none = bridges.of_chassis(entry for entry in made if entry.table != "slice_table")
    assert (none.bridges, none.masters, none.forwards) == (frozenset(), {}, frozenset())
