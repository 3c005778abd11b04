# SPDX-License-Identifier: LGPL-2.1-only
"""Scripts that set up a Tofino's ports and entries through bfrt_python, BF Runtime's Python shell.

`bfshell -b FILE` runs them (Intel's P4 Studio). They have never been run on a switch. The commands
follow public scripts: YitaoYuan/p4_examples, sample_switch/bfrt_t.py (tables, `pre.node`,
`pre.mgid`) and dcomp-leris/ARCG-DP-Deployment, Tofino/v1 (`port.port`). Values of tables and groups
are positional, keys first, since their names differ between versions of the SDE; those of ports are
named. A value of a parser's set has a mask (barefootnetworks/Open-Tofino,
p4-examples/p4_16_programs/tna_pvs/test.py).
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import PurePath

from weft_testbed.hardware.inventory import ChassisPort, Fec, Inventory
from weft_testbed.p4.info import GROUP, SET
from weft_testbed.p4.program import TNA, shipped
from weft_testbed.plan.plan import FIRST_VIRTUAL
from weft_testbed.tables.tables import Entry

NEVER_RUN = "# Never tested on a switch: review it before use."
# bf_port_speed_t and bf_fec_type_t (barefootnetworks/Open-Tofino, include/bf_types/bf_types.h).
_SPEEDS = {gbps * 10**9: f"BF_SPEED_{gbps}G" for gbps in (1, 10, 25, 40, 50, 100, 200, 400)}
_FECS: dict[Fec, str] = {
    "none": "BF_FEC_TYP_NONE",
    "fc": "BF_FEC_TYP_FIRECODE",
    "rs": "BF_FEC_TYP_REED_SOLOMON",
}


def program(inventory: Inventory, text: str) -> str:
    """Return the program for Tofino, with the parser's set sized for the inventory.

    Raises `ValueError` if the program has no such set.
    """
    size = inventory.chassis.parser_values
    found, times = re.subn(rf"(value_set<bit<9>>\()\d+(\) {SET};)", rf"\g<1>{size}\g<2>", text)
    if times != 1:
        raise ValueError(f"{TNA} has {times} sets of values called {SET}")
    return found


# ---- Ports ---------------------------------------------------------------------------------------


def ports(inventory: Inventory) -> Iterator[str]:
    """Yield the script that brings up ports: cabled ones and looping ones."""
    chassis = inventory.chassis
    cabled = {int(port.name) for port in inventory.peers if port.device == chassis.name}
    yield f"# Ports of {chassis.name} for bfrt_python: speed, FEC, loopback (weft testbed tables)."
    yield NEVER_RUN
    for port in chassis.ports.values():
        if port.kind == "recirculation":
            yield from _recirculating(port)
        elif port.kind == "loopback" or port.number in cabled:
            yield from _front(port)
    yield "bfrt.complete_operations()"


def _recirculating(port: ChassisPort) -> Iterator[str]:
    yield f"# port {port.number}: internal"
    yield (f"bfrt.tf1.pktgen.port_cfg.mod(dev_port={port.device}, recirculation_enable=True)")


def _front(port: ChassisPort) -> Iterator[str]:
    yield f"# port {port.number}"
    if port.speed not in _SPEEDS:
        yield f"# {port.speed / 1e9:g} Gb/s is not a Tofino port speed: configure this port by hand"
        return
    values = f'SPEED="{_SPEEDS[port.speed]}", FEC="{_FECS[port.fec]}"'
    if port.kind == "loopback":
        # Nothing is plugged in, so there is no peer for auto-negotiation.
        values += ', AUTO_NEGOTIATION="PM_AN_FORCE_DISABLE", LOOPBACK_MODE="BF_LPBK_MAC_NEAR"'
    yield f"bfrt.port.port.add(DEV_PORT={port.device}, {values}, PORT_ENABLE=True)"


# ---- Entries -------------------------------------------------------------------------------------


def entries(added: Iterable[Entry]) -> Iterator[str]:
    """Yield the script that adds entries to empty tables, in order."""
    found = [entry for entry in added if not entry.external]
    loops = {int(one.key[0]): int(one.data[0]) for one in found if one.table == "loop_table"}
    groups = _groups(found, loops)
    tna = shipped(TNA)
    yield "# Entries for bfrt_python (weft testbed tables): of the program compiled as testbed_tna."
    yield NEVER_RUN
    yield f"pipe = bfrt.{PurePath(TNA).stem}.pipe"
    for entry in found:
        if entry.table == GROUP:
            yield from groups.pop(int(entry.key[0]), ())
        elif entry.table == SET:
            values = tna.value_sets[SET]
            yield f"pipe.{values.full_name}.add({entry.key[0]}, {(1 << values.width) - 1:#x})"
        else:
            words = ", ".join(_word(value) for value in (*entry.key, *entry.data))
            table = tna.tables[entry.table].full_name
            yield f"pipe.{table}.add_with_{entry.action}({words})"
    yield "bfrt.complete_operations()"


def _groups(found: Iterable[Entry], loops: dict[int, int]) -> dict[int, list[str]]:
    """Return the commands that create each group: a node per copy, then the group.

    A copy's replication id is its egress port, real or virtual.
    """
    copies: dict[int, list[int]] = defaultdict(list)
    for entry in found:
        if entry.table == GROUP:
            copies[int(entry.key[0])].append(int(entry.key[1]))
    commands: dict[int, list[str]] = {}
    node = 0
    for group, leaving in sorted(copies.items()):
        nodes, lines = [], []
        for port in sorted(leaving):
            node += 1
            nodes.append(node)
            real = loops[port] if port >= FIRST_VIRTUAL else port
            lines.append(f"bfrt.pre.node.add({node}, {port}, [], [{real}])")
        count = len(nodes)
        lines.append(f"bfrt.pre.mgid.add({group}, {nodes}, {[False] * count}, {[0] * count})")
        commands[group] = lines
    return commands


def _word(value: int | str) -> str:
    return f"0x{value.replace(':', '')}" if isinstance(value, str) else str(value)
