# SPDX-License-Identifier: LGPL-2.1-only
"""Entries as commands of simple_switch_CLI, the runtime CLI of the P4 reference switch (bmv2).

Commands and names are those of p4lang/behavioral-model, tools/runtime_CLI.py. The switch assigns
replication nodes consecutive handles from 0. To make them predictable for later changes, `init`
creates all nodes at once: one per port, by its number, and a fixed number of virtual ones.

Table entries can only be deleted by handle, and handles depend on all earlier additions and
deletions. A change therefore clears each table with removals, and refills it with the remaining and
new entries. P4Runtime instead deletes by key, and touches nothing else.
"""

from collections.abc import Iterable, Iterator, Sequence

from weft_testbed.hardware.inventory import Inventory
from weft_testbed.p4 import program as p4_program
from weft_testbed.plan.plan import FIRST_VIRTUAL
from weft_testbed.tables.tables import Entry

VIRTUAL_PORTS = 512


def init(inventory: Inventory) -> Iterator[str]:
    """Yield the commands to run once, after the switch has started with the program."""
    yield "# Once, after the switch has started: a group a slice, a node a port."
    for group in range(1, inventory.chassis.slices + 1):
        yield f"mc_mgrp_create {group}"
    for port in _front(inventory):
        yield f"mc_node_create {port} {port}"
    for port in range(FIRST_VIRTUAL, FIRST_VIRTUAL + VIRTUAL_PORTS):
        yield f"mc_node_create {port} 0"


def _front(inventory: Inventory) -> list[int]:
    return [port.device for port in inventory.chassis.ports.values() if port.kind == "front"]


def _node(inventory: Inventory, port: int) -> int:
    """Return the handle of a port's node, real or virtual."""
    front = _front(inventory)
    return len(front) + port - FIRST_VIRTUAL if port >= FIRST_VIRTUAL else front.index(port)


def added(entries: Iterable[Entry], inventory: Inventory) -> Iterator[str]:
    """Yield the commands that add entries."""
    for entry in entries:
        yield from _add(entry, inventory)


def changed(
    removed: Sequence[Entry],
    added_: Sequence[Entry],
    after: Sequence[Entry],
    inventory: Inventory,
    pause_s: float,
) -> Iterator[str]:
    """Yield the commands from one plan to another; `after` are all entries of the new one."""
    emptied = list(dict.fromkeys(one.table for one in removed if _in_table(one)))
    for entry in removed:
        if not _in_table(entry):
            yield from _remove(entry, inventory)
        elif entry.table in emptied:
            emptied.remove(entry.table)
            yield f"table_clear {entry.table}"
    if removed and added_:
        yield f"shell sleep {pause_s:g}"
    cleared = {one.table for one in removed if _in_table(one)}
    new = {*added_}
    yield from added((one for one in after if one in new or one.table in cleared), inventory)


def _in_table(entry: Entry) -> bool:
    return not entry.external and entry.table not in ("group", "loop_ports")


def _add(entry: Entry, inventory: Inventory) -> Iterator[str]:
    key, data = _words(entry.key), _words(entry.data)
    if entry.external:
        yield f"# {_external(entry)}"
    elif entry.table == "group":
        yield f"mc_node_associate {key[0]} {_node(inventory, int(key[1]))}"
    elif entry.table == "loop_ports":
        yield f"pvs_add {_loop_ports()} {key[0]}"
    else:
        if entry.table == "loop_table":
            yield f"mc_node_update {_node(inventory, int(key[0]))} {data[0]}"
        yield f"table_add {entry.table} {entry.action} {' '.join(key)} => {' '.join(data)}"


def _remove(entry: Entry, inventory: Inventory) -> Iterator[str]:
    key = _words(entry.key)
    if entry.external:
        yield f"# remove: {_external(entry)}"
    elif entry.table == "group":
        yield f"mc_node_dissociate {key[0]} {_node(inventory, int(key[1]))}"
    else:
        yield f"pvs_remove {_loop_ports()} {key[0]}"


def _loop_ports() -> str:
    """Return the full name of the parser's set; the CLI abbreviates only tables and actions."""
    return p4_program.shipped().value_sets["loop_ports"].full_name


def _external(entry: Entry) -> str:
    """Describe a setting of a layer 2 switch, worded by its kind."""
    switch, _, what = entry.table.rpartition(":")
    if what == "port":
        return f"{switch}: port {entry.key[0]} is up"
    if what == "broadcast":
        return f"{switch}: port {entry.key[0]} takes part in broadcasts"
    return f"{switch}: static address {entry.key[0]} at port {entry.data[0]}"


def _words(values: Sequence[object]) -> list[str]:
    return [str(value) for value in values]
