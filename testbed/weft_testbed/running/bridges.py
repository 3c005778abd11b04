# SPDX-License-Identifier: LGPL-2.1-only
"""Entries realised on Linux: bridges, forwarding entries, redirects and veth pairs of a namespace.

A slice is a bridge, and a layer 2 switch is its namespace's only bridge; neither learns nor floods.
A virtual wire is a redirect of all incoming frames. A recirculated cable is a veth pair between two
bridges, which exists while all entries of both directions do. Only the differences between two sets
of entries are applied. A bridge is down until its ports are configured, since a new port floods and
learns. After a failure, `observed` reads the state from the kernel.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from weft.base.errors import WeftError
from weft_testbed.plan.layout import ONLY_BRIDGE
from weft_testbed.plan.plan import FIRST_VIRTUAL
from weft_testbed.running import linux
from weft_testbed.tables.tables import Entry

# First letter of the interface names of recirculated cables' ends.
VIRTUAL = "v"
# Both match all frames; kernels have one or the other.
CLASSIFIERS = ("matchall", "u32 match u32 0 0")


@dataclass(frozen=True)
class State:
    """Configuration of a namespace, by interface names."""

    bridges: frozenset[str] = frozenset()
    masters: dict[str, str] = field(default_factory=dict)
    """Bridge of each interface."""
    forwards: frozenset[tuple[str, str]] = frozenset()
    """Interfaces, and the destination addresses that they serve."""
    broadcasts: frozenset[str] = frozenset()
    wires: frozenset[tuple[str, str]] = frozenset()
    cables: frozenset[tuple[str, str]] = frozenset()


def of_chassis(entries: Iterable[Entry]) -> State:
    """Return the state for the chassis' entries."""
    by: dict[str, dict[tuple[int | str, ...], tuple[int | str, ...]]] = {}
    for entry in entries:
        by.setdefault(entry.table, {})[entry.key] = entry.data
    cables = frozenset(_cables(by))
    ends = {end for pair in cables for end in pair}
    masters = {
        port_name(int(key[0])): f"slice{data[0]}"
        for key, data in by.get("slice_table", {}).items()
        if int(key[0]) < FIRST_VIRTUAL or port_name(int(key[0])) in ends
    }

    def inside(port: int, number: int | str) -> bool:
        return masters.get(port_name(port)) == f"slice{number}"

    return State(
        frozenset(f"slice{data[0]}" for data in by.get("slice_table", {}).values()),
        masters,
        frozenset(
            (port_name(int(data[0])), str(key[1]))
            for key, data in by.get("forward_table", {}).items()
            if inside(int(data[0]), key[0])
        ),
        frozenset(
            port_name(int(key[1]))
            for key in by.get("group", {})
            if inside(int(key[1]), key[0]) and (key[0],) in by.get("arp_table", {})
        ),
        frozenset(
            (port_name(int(key[0])), port_name(int(data[0])))
            for key, data in by.get("wire_table", {}).items()
        ),
        cables,
    )


def _cables(
    by: dict[str, dict[tuple[int | str, ...], tuple[int | str, ...]]],
) -> Iterator[tuple[str, str]]:
    """Yield the pairs of virtual ports that are tagged as each other and looped both ways."""
    tags, loops = by.get("tag_table", {}), by.get("loop_table", {})
    for (leaves,), (enters,) in tags.items():
        both = ((leaves,), (enters,))
        paired = int(leaves) < int(enters) and tags.get((enters,)) == (leaves,)
        if paired and all(loops.get(one) in by.get("loop_ports", {}) for one in both):
            yield port_name(int(leaves)), port_name(int(enters))


def of_switch(device: str, entries: Iterable[Entry]) -> State:
    """Return the state for a layer 2 switch's settings."""
    own = [one for one in entries if one.table.rpartition(":")[0] == device]
    ports = {f"p{one.key[0]}" for one in own if one.table.endswith(":port")}
    if not ports:
        return State()
    return State(
        frozenset({ONLY_BRIDGE}),
        dict.fromkeys(sorted(ports), ONLY_BRIDGE),
        frozenset(
            (f"p{one.data[0]}", str(one.key[0]))
            for one in own
            if one.table.endswith(":forward") and f"p{one.data[0]}" in ports
        ),
        frozenset(f"p{one.key[0]}" for one in own if one.table.endswith(":broadcast")) & ports,
    )


def port_name(port: int) -> str:
    """Return the interface of a port of the chassis."""
    return f"{VIRTUAL if port >= FIRST_VIRTUAL else 'p'}{port}"


def port_of(name: str) -> int:
    """Return the chassis port of an interface, or 0 if it is none."""
    return int(name[1:]) if name[1:].isdecimal() else 0


# ---- What there is -------------------------------------------------------------------------------


def observed(space: str) -> State:
    """Return a namespace's state as read from the kernel.

    Half-configured parts match no plan's state, so that `change` configures them again: a port
    whose bridge is down, or that still learns or floods, has the bridge "", and a cable with an end
    that is down, or a wire without a redirect, has the other end "".
    """
    links = json.loads(linux.run(["ip", "-n", space, "-j", "-d", "link", "show"]))
    kinds = {one["ifname"]: one.get("linkinfo", {}).get("info_kind") for one in links}
    is_up = {one["ifname"] for one in links if "UP" in one["flags"]}
    ports = {one["ifname"]: one for one in links if "master" in one}
    masters = {
        name: one["master"] if one["master"] in is_up and not _floods(one) else ""
        for name, one in ports.items()
    }
    ends = {
        one["ifname"]: one.get("link", "")
        for one in links
        if kinds[one["ifname"]] == "veth" and one["ifname"][0] == VIRTUAL
    }
    known = json.loads(linux.run(["bridge", "-n", space, "-j", "fdb", "show"]) or "[]")
    return State(
        frozenset(name for name, kind in kinds.items() if kind == "bridge"),
        masters,
        frozenset(
            (one["ifname"], one["mac"])
            for one in known
            if one.get("state") == "static" and "master" in one
        ),
        frozenset(name for name, one in ports.items() if _settings_of(one)["bcast_flood"]),
        frozenset(_observed_wires(space)),
        frozenset(
            (one, other if {one, other} <= is_up else "")
            for one, other in ends.items()
            if port_of(one) < port_of(other)
        ),
    )


def _settings_of(link: Mapping[str, Any]) -> Mapping[str, bool]:
    found: Mapping[str, bool] = link["linkinfo"]["info_slave_data"]
    return found


def _floods(link: Mapping[str, Any]) -> bool:
    found = _settings_of(link)
    return found["learning"] or found["flood"] or found["mcast_flood"]


def _observed_wires(space: str) -> Iterator[tuple[str, str]]:
    for name in re.findall(r"^qdisc ingress .*? dev (\S+)", _tc(space, "qdisc show"), re.M):
        target = re.search(r"to device ([^\s)]+)", _tc(space, f"filter show dev {name} ingress"))
        yield name, target[1] if target else ""


def _tc(space: str, command: str) -> str:
    return linux.run(["tc", "-n", space, *command.split()])


# ---- From one to another -------------------------------------------------------------------------


def change(space: str, old: State, new: State) -> None:
    """Change a namespace from one state to another; parts that admit frames come last."""
    linux.tc(space, [f"qdisc del dev {one} ingress" for one, _ in sorted(old.wires - new.wires)])
    linux.ip(space, [*_leaving(old, new)])
    linux.bridge(space, [*_forgotten(old, new)])
    linux.ip(space, [*_made(old, new)])
    linux.bridge(space, [*_settings(old, new)])
    linux.ip(space, [f"link set dev {name} up" for name in _waiting(old, new)])
    _wire(space, sorted(new.wires - old.wires))


def _leaving(old: State, new: State) -> Iterator[str]:
    gone = old.cables - new.cables
    ends = {end for pair in gone for end in pair}
    for name, master in sorted(old.masters.items()):
        if new.masters.get(name) != master and name not in ends:
            yield f"link set dev {name} nomaster"
    for one, _ in sorted(gone):
        yield f"link del {one}"
    for name in sorted(old.bridges - new.bridges):
        yield f"link del {name}"


def _moved(old: State, new: State) -> set[str]:
    """Return the interfaces newly attached to a bridge, which have no settings yet."""
    fresh = {end for pair in new.cables - old.cables for end in pair}
    return {
        name
        for name, master in new.masters.items()
        if old.masters.get(name) != master or name in fresh
    }


def _forgotten(old: State, new: State) -> Iterator[str]:
    """Yield the removals for interfaces that stay; others lose their settings when they move."""
    stay = {*new.masters} - _moved(old, new)
    for name, address in sorted(old.forwards - new.forwards):
        if name in stay:
            yield f"fdb del {address} dev {name} master"
    for name in sorted(old.broadcasts - new.broadcasts):
        if name in stay:
            yield f"link set dev {name} bcast_flood off"


def _made(old: State, new: State) -> Iterator[str]:
    for one, other in sorted(new.cables - old.cables):
        yield f"link add name {one} type veth peer name {other}"
    for name in sorted(new.bridges - old.bridges):
        yield f"link add name {name} type bridge stp_state 0 mcast_snooping 0"
    for pair in sorted(new.cables - old.cables):
        for name in pair:
            yield f"link set dev {name} up"
    for name in _waiting(old, new):
        yield f"link set dev {name} down"
    for name in sorted(_moved(old, new)):
        yield f"link set dev {name} master {new.masters[name]}"


def _waiting(old: State, new: State) -> list[str]:
    """Return the bridges that get ports and are down meanwhile."""
    return sorted({new.masters[name] for name in _moved(old, new)} | (new.bridges - old.bridges))


def _settings(old: State, new: State) -> Iterator[str]:
    moved = _moved(old, new)
    for name in sorted(moved):
        broadcasts = "on" if name in new.broadcasts else "off"
        yield (
            f"link set dev {name} learning off flood off mcast_flood off bcast_flood {broadcasts}"
        )
    for name in sorted(new.broadcasts - old.broadcasts - moved):
        yield f"link set dev {name} bcast_flood on"
    for name, address in sorted(new.forwards):
        if name in moved or (name, address) not in old.forwards:
            yield f"fdb replace {address} dev {name} master static"


def redirect(one: str, other: str, classifier: str) -> str:
    """Return the redirect of all frames that arrive at an interface."""
    return (
        f"filter add dev {one} parent ffff: protocol all {classifier}"
        f" action mirred egress redirect dev {other}"
    )


def _wire(space: str, pairs: list[tuple[str, str]]) -> None:
    if not pairs:
        return
    linux.tc(space, [f"qdisc add dev {one} ingress" for one, _ in pairs])
    for kind in CLASSIFIERS:
        try:
            linux.tc(space, [redirect(*pairs[0], kind)])
        except WeftError as error:
            refused = error
            continue
        linux.tc(space, [redirect(one, other, kind) for one, other in pairs[1:]])
        return
    raise refused
