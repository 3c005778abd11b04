# SPDX-License-Identifier: LGPL-2.1-only
"""Entries as commands of simple_switch_CLI, the runtime of the P4 reference switch (bmv2).

Its replication nodes are known by handles that it counts up from 0. So that a later change knows
them, `init` makes them all once: one per port, by its number, and a fixed number of virtual ones.
"""

from collections.abc import Iterable, Iterator, Sequence

from weft.testbed.inventory import Inventory
from weft.testbed.plan import FIRST_VIRTUAL
from weft.testbed.tables import Entry

VIRTUAL_PORTS = 512


def init(inventory: Inventory) -> Iterator[str]:
    """Yield what to run once, when the switch has started with the program."""
    yield "# Once, after the switch has started: a group a slice, a node a port."
    for group in range(1, inventory.chassis.slices + 1):
        yield f"mc_mgrp_create {group}"
    for port in _front(inventory):
        yield f"mc_node_create {port} {port}"
    for port in range(FIRST_VIRTUAL, FIRST_VIRTUAL + VIRTUAL_PORTS):
        yield f"mc_node_create {port} 0"


def _front(inventory: Inventory) -> list[int]:
    return [port.number for port in inventory.chassis.ports.values() if port.kind == "front"]


def _node(inventory: Inventory, port: int) -> int:
    """Return the handle of the node of a port, real or virtual."""
    front = _front(inventory)
    return len(front) + port - FIRST_VIRTUAL if port >= FIRST_VIRTUAL else front.index(port)


def added(entries: Iterable[Entry], inventory: Inventory) -> Iterator[str]:
    """Yield the commands that add entries."""
    for entry in entries:
        yield from _add(entry, inventory)


def _add(entry: Entry, inventory: Inventory) -> Iterator[str]:
    key, data = _words(entry.key), _words(entry.data)
    if entry.external:
        yield f"# {_external(entry)}"
    elif entry.table == "group":
        yield f"mc_node_associate {key[0]} {_node(inventory, int(key[1]))}"
    elif entry.table == "loop_ports":
        yield f"pvs_add loop_ports {key[0]}"
    else:
        if entry.table == "loop_table":
            yield f"mc_node_update {_node(inventory, int(key[0]))} {data[0]}"
        yield f"table_add {entry.table} {entry.action} {' '.join(key)} => {' '.join(data)}"


def removed(entries: Iterable[Entry], inventory: Inventory) -> Iterator[str]:
    """Yield the commands that remove entries."""
    for entry in entries:
        key = _words(entry.key)
        if entry.external:
            yield f"# remove: {_external(entry)}"
        elif entry.table == "group":
            yield f"mc_node_dissociate {key[0]} {_node(inventory, int(key[1]))}"
        elif entry.table == "loop_ports":
            yield f"pvs_remove loop_ports {key[0]}"
        else:
            yield f"table_delete_match {entry.table} {' '.join(key)}"


def _external(entry: Entry) -> str:
    """Say a setting of a layer 2 switch, each kind of which has its own words for it."""
    switch, _, what = entry.table.rpartition(":")
    if what == "port":
        return f"{switch}: port {entry.key[0]} is up"
    if what == "broadcast":
        return f"{switch}: port {entry.key[0]} takes part in broadcasts"
    return f"{switch}: static address {entry.key[0]} at port {entry.data[0]}"


def _words(values: Sequence[object]) -> list[str]:
    return [str(value) for value in values]
