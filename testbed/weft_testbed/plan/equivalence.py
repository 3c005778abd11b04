# SPDX-License-Identifier: LGPL-2.1-only
"""Demand and supply of a plan, with interchangeable items merged.

Hosts with the same cables form a group, servers with the same ports a class, and likewise layer 2
switches that are cabled to the chassis only.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from weft_testbed.hardware.inventory import Inventory, Layer2, Server
from weft_testbed.plan.wanted_topology import Cable, Wanted

Node = tuple[int, str]
"""Host or switch: number of its experiment, and name."""
CHASSIS = ""
"""Destination of a host's cable that does not go directly to a layer 2 switch."""


@dataclass(frozen=True)
class Link:
    """Requested cable by nodes."""

    name: Node
    lower: Node
    upper: Node
    speed: int


@dataclass(frozen=True)
class ServerClass:
    """Servers with the same ports: speeds of those to the chassis, and to layer 2 switches."""

    speed: int
    to_chassis: int
    direct: tuple[tuple[str, int], ...]
    """Number of cables to each layer 2 switch."""


@dataclass(frozen=True)
class SwitchClass:
    """Layer 2 switches with the same ports, all to the chassis; any other is a class of its own."""

    speed: int
    to_chassis: int
    alone: str
    latency_ns: float
    forwarding: str


class Demand:
    """Requests of all experiments."""

    def __init__(self, experiments: Sequence[Wanted]) -> None:
        """Store the experiments, numbered from 0."""
        self.hosts = [(k, name) for k, one in enumerate(experiments) for name in one.hosts]
        self.switches = [(k, name) for k, one in enumerate(experiments) for name in one.switches]
        cables = [(k, cable) for k, one in enumerate(experiments) for cable in one.cables.values()]
        self.links = [_link(k, cable) for k, cable in cables]
        self.at: dict[Node, list[Link]] = {node: [] for node in (*self.hosts, *self.switches)}
        for link in self.links:
            self.at[link.lower].append(link)
            self.at[link.upper].append(link)
        known = set(self.switches)
        self.between = [one for one in self.links if {one.lower, one.upper} <= known]
        self.speeds = sorted({link.speed for link in self.links})

    @cached_property
    def groups(self) -> dict[tuple[tuple[Node, int], ...], list[Node]]:
        """Hosts by their cables: the switch and the speed of each."""
        groups: dict[tuple[tuple[Node, int], ...], list[Node]] = {}
        for host in self.hosts:
            ends = tuple((other_end(link, host), link.speed) for link in self.at[host])
            groups.setdefault(ends, []).append(host)
        return groups


def _link(experiment: int, cable: Cable) -> Link:
    name, lower, upper = ((experiment, text) for text in (cable.name, cable.lower, cable.upper))
    return Link(name, lower, upper, cable.speed)


def other_end(link: Link, node: Node) -> Node:
    """Return the other end of a cable."""
    return link.upper if link.lower == node else link.lower


class Supply:
    """Inventory by classes."""

    def __init__(self, inventory: Inventory) -> None:
        """Sort the devices into classes."""
        self.inventory = inventory
        self.servers: dict[ServerClass, list[str]] = {}
        for server in inventory.servers.values():
            self.servers.setdefault(self._server_class(server), []).append(server.name)
        self.switches: dict[SwitchClass, list[str]] = {}
        for switch in inventory.switches.values():
            self.switches.setdefault(self._switch_class(switch), []).append(switch.name)
        self.class_of = {name: kind for kind, names in self.switches.items() for name in names}
        self.between = self._cables_between()

    def _peers(self, device: Server | Layer2) -> Counter[str]:
        return Counter(self.inventory.peers[port].device for port in self.inventory.cabled(device))

    def _server_class(self, server: Server) -> ServerClass:
        peers = self._peers(server)
        direct = {name: peers[name] for name in sorted(peers) if name in self.inventory.switches}
        return ServerClass(server.speed, peers[self.inventory.chassis.name], tuple(direct.items()))

    def _switch_class(self, switch: Layer2) -> SwitchClass:
        peers = self._peers(switch)
        to_chassis = peers[self.inventory.chassis.name]
        alone = switch.name if len(peers) > (to_chassis > 0) else ""
        return SwitchClass(switch.speed, to_chassis, alone, switch.latency_ns, switch.forwarding)

    def _cables_between(self) -> Counter[tuple[str, str]]:
        """Count the fixed cables between each pair of layer 2 switches, the lesser name first."""
        switches = self.inventory.switches
        return Counter(
            (port.device, peer.device)
            for port, peer in self.inventory.peers.items()
            if port.device in switches and peer.device in switches and port < peer
        )
