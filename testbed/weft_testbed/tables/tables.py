# SPDX-License-Identifier: LGPL-2.1-only
"""Match-action entries of a plan for the shipped P4 program, and settings of layer 2 switches.

The tables are TopoCloud's, plus those for isolation and recirculation. `wire_table` is its virtual
wire, `arp_table` its broadcast of ARP requests, `forward_table` its forwarding, here by destination
MAC instead of IP address, so that protocols other than IP pass too. `slice_table` maps ports to
slices; `loop_table`, `tag_table` and the parser's `loop_ports` are the cables between slices;
`group` has the broadcast ports of a slice.

In topologies with loops, flooding would never end. So nothing floods: addresses are known in
advance, and the entries are weft's routes of the fabric; broadcasts follow a spanning tree. Layer 2
switches outside the chassis need the same as static entries, with learning and flooding off: these
are `SWITCH:forward` and `SWITCH:broadcast` here. All their ports except those of `SWITCH:port` are
disabled, since devices cabled there directly could send frames in.

Entries only ever let frames pass and never block one: with fewer entries, no frame reaches further.
"""

import json
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from weft_testbed.hardware.cables import Port
from weft_testbed.plan.plan import Experiment, Plan

FORMAT = "weft-testbed-tables/1"
Value = int | str
# Order of removal, beginning with tables that admit frames; the order of adding is the reverse.
ORDER = (
    "wire_table", "slice_table", "arp_table", "forward_table", "group", "loop_table", "tag_table",
    "loop_ports",
)  # fmt: skip


@dataclass(frozen=True, order=True)
class Entry:
    """One entry: match and action."""

    table: str
    key: tuple[Value, ...]
    action: str = ""
    data: tuple[Value, ...] = ()

    @property
    def external(self) -> bool:
        """True for a setting of a layer 2 switch outside the chassis."""
        return self.table not in ORDER

    def as_json(self) -> dict[str, Any]:
        """Return the form used in files."""
        return {"table": self.table, "key": self.key, "action": self.action, "data": self.data}


def entries(plan: Plan) -> list[Entry]:
    """Return all entries, in a valid order of adding."""
    found = {*_wires(plan), *_cables_of_slices(plan)}
    for experiment in plan.experiments:
        found |= {*forwards(plan, experiment), *_broadcasts(plan, experiment)}
    return sorted(found, key=adding)


def adding(entry: Entry) -> tuple[Any, ...]:
    """Return an entry's rank in the order of adding: entries that admit frames come last."""
    place = -1 if entry.external else len(ORDER) - ORDER.index(entry.table)
    return place, entry.table, *((isinstance(one, str), one) for one in entry.key)


def _wires(plan: Plan) -> Iterator[Entry]:
    """Yield virtual wires, and the ports of layer 2 switches where cables of the plan end."""
    for _, _, way in plan.ways:
        for port in way.ports:
            if port.device in plan.inventory.switches:
                yield Entry(f"{port.device}:port", (port.name,), "enable")
        if way.kind == "wire":
            one, other = (_device(plan, int(port.name)) for port in way.ports[1:3])
            yield Entry("wire_table", (one,), "wire", (other,))
            yield Entry("wire_table", (other,), "wire", (one,))


def _cables_of_slices(plan: Plan) -> Iterator[Entry]:
    for experiment, name, way in plan.ways:
        cable = experiment.wanted.cables[name]
        for node in (cable.lower, cable.upper):
            end = plan.end(experiment, name, node)
            if isinstance(end, int):
                number = _device(plan, end)
                yield Entry("slice_table", (number,), "in_slice", (_slice(experiment, node),))
        for leaves, enters, loop in zip(way.virtual, way.virtual[::-1], way.loops, strict=True):
            port = _device(plan, loop)
            yield Entry("loop_ports", (port,))
            yield Entry("loop_table", (leaves,), "loop", (port,))
            yield Entry("tag_table", (leaves,), "tag", (enters,))


def _slice(experiment: Experiment, switch: str) -> int:
    place = experiment.switches[switch]
    if not isinstance(place, int):
        raise AssertionError(f"{switch} is no slice")
    return place


def mac(plan: Plan, experiment: Experiment, host: str, cable: str) -> str:
    """Return the address of the NIC port at a host's end of a cable."""
    port = plan.end(experiment, cable, host)
    if not isinstance(port, Port):
        raise AssertionError(f"{host} is no server")
    return plan.inventory.servers[port.device].macs[port.name]


def forwards(plan: Plan, experiment: Experiment) -> Iterator[Entry]:
    """Yield each switch's next hop to each host, on all routes that pass through it."""
    for (_, target), route in experiment.wanted.routes.items():
        address = mac(plan, experiment, target, route.cables[-1])
        for switch, cable in zip(route.switches, route.cables[1:], strict=True):
            end = plan.end(experiment, cable, switch)
            if isinstance(end, Port):
                yield Entry(f"{end.device}:forward", (address,), "forward", (end.name,))
            else:
                key = (_slice(experiment, switch), address)
                yield Entry("forward_table", key, "forward", (_device(plan, end),))


def _device(plan: Plan, port: int) -> int:
    return plan.inventory.chassis.device(port)


def _broadcasts(plan: Plan, experiment: Experiment) -> Iterator[Entry]:
    for switch, cables in broadcast_tree(experiment).items():
        place = experiment.switches[switch]
        if isinstance(place, int) and cables:
            yield Entry("arp_table", (place,), "broadcast", (place,))
        for cable in cables:
            end = plan.end(experiment, cable, switch)
            if isinstance(end, Port):
                yield Entry(f"{end.device}:broadcast", (end.name,))
            else:
                yield Entry("group", (_slice(experiment, switch), _device(plan, end)))


def broadcast_tree(experiment: Experiment) -> dict[str, list[str]]:
    """Return each switch's cables for broadcasts: a spanning tree, and one cable per host."""
    wanted = experiment.wanted
    tree: dict[str, list[str]] = {}
    for root in wanted.switches:
        if root in tree:
            continue
        tree[root], waiting, hosts = [], deque([root]), set[str]()
        while waiting:
            at = waiting.popleft()
            for cable in wanted.at[at]:
                other = cable.other(at)
                if other in tree or other in hosts:
                    continue
                tree[at].append(cable.name)
                if other in wanted.hosts:
                    hosts.add(other)
                else:
                    tree[other] = [cable.name]
                    waiting.append(other)
    return tree


def as_json(plan: Plan) -> str:
    """Return the entries as the text of a file."""
    return _dump(
        {"format": FORMAT, "entries": [entry.as_json() for entry in entries(plan)]}, "entries"
    )


def _dump(content: dict[str, Any], listed: str) -> str:
    """Return JSON with one line per entry."""
    head = json.dumps({key: value for key, value in content.items() if key != listed}, indent=1)
    lines = ",\n".join(f"  {json.dumps(one)}" for one in content[listed])
    return f'{head[:-2]},\n "{listed}": [\n{lines}\n ]\n}}\n'


def changes_as_json(steps: Iterable[dict[str, Any]]) -> str:
    """Return the steps of a change as the text of a file."""
    return _dump({"format": "weft-testbed-changes/1", "steps": [*steps]}, "steps")
