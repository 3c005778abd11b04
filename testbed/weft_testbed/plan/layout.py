# SPDX-License-Identifier: LGPL-2.1-only
"""Representation of a plan on Linux: namespaces and their interfaces.

Each server, each layer 2 switch and the chassis are a namespace `weft-NAME.DEVICE`. A port of the
chassis or of a layer 2 switch is the interface `pNUMBER` by its device port, an end of a
recirculated cable is `vNUMBER`, and a NIC port keeps its own name. A slice is a bridge in the
chassis; a layer 2 switch has a single bridge.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from weft_testbed.hardware.cables import Port
from weft_testbed.plan.plan import Experiment, Plan
from weft_testbed.plan.wanted_topology import Route

# Name of the single bridge in a layer 2 switch's namespace.
ONLY_BRIDGE = "switch"


@dataclass(frozen=True, order=True)
class Interface:
    """Interface of a device."""

    device: str
    name: str

    def __str__(self) -> str:
        """Return the form used in messages."""
        return f"{self.device}:{self.name}"


class Layout:
    """Interfaces of a plan."""

    def __init__(self, plan: Plan) -> None:
        """Store the plan."""
        self.plan = plan
        self.chassis = plan.inventory.chassis.name

    def interface(self, end: Port | int) -> Interface:
        """Return the interface of a port, including the chassis' virtual ports."""
        if isinstance(end, int):
            real = end in self.plan.inventory.chassis.ports
            number = self.plan.inventory.chassis.device(end)
            return Interface(self.chassis, f"{'p' if real else 'v'}{number}")
        if end.device in self.plan.inventory.servers:
            return Interface(end.device, end.name)
        return Interface(end.device, f"p{end.name}")

    def bridge(self, place: int | str) -> Interface:
        """Return the bridge of a switch."""
        if isinstance(place, int):
            return Interface(self.chassis, f"slice{place}")
        return Interface(place, ONLY_BRIDGE)

    def address(self, experiment: Experiment, host: str) -> str:
        """Return a host's IP address: 10, its experiment's number, and its own number from 1."""
        number = experiment.wanted.hosts.index(host) + 1
        return f"10.{experiment.number}.{number >> 8}.{number & 255}"

    def devices(self) -> list[str]:
        """Return all devices in use: the chassis, servers, layer 2 switches."""
        used = [self.chassis]
        for one in self.plan.experiments:
            used += [*one.hosts.values()]
            used += [place for place in one.switches.values() if isinstance(place, str)]
        return used

    def cabled(self) -> Iterator[tuple[Interface, Interface]]:
        """Yield all fixed cables of the inventory, used or not, the lesser end of each first."""
        for port, peer in self.plan.inventory.peers.items():
            one, other = (self.interface(self._end(end)) for end in (port, peer))
            if one < other:
                yield one, other

    def fixed(self) -> Iterator[tuple[Interface, Interface]]:
        """Yield the fixed cables in use, the lesser end of each first."""
        for _, _, way in self.plan.ways:
            for ends in zip(way.ports[::2], way.ports[1::2], strict=True):
                one, other = sorted(self.interface(self._end(end)) for end in ends)
                yield one, other

    def cables(self) -> Iterator[tuple[Interface, Interface]]:
        """Yield all connections: the fixed cables in use, and recirculated cables end to end."""
        yield from self.fixed()
        for _, _, way in self.plan.ways:
            if way.virtual:
                yield self.interface(way.virtual[0]), self.interface(way.virtual[1])

    def _end(self, port: Port) -> Port | int:
        return int(port.name) if port.device == self.chassis else port

    def wires(self) -> Iterator[tuple[Interface, Interface]]:
        """Yield the chassis' ports of each virtual wire."""
        for _, _, way in self.plan.ways:
            if way.kind == "wire":
                one, other = (self.interface(self._end(port)) for port in way.ports[1:3])
                yield one, other

    def entered(self, experiment: Experiment, cable: str, target: str) -> list[Interface]:
        """Return the interfaces at which a frame arrives on a cable to a host or switch."""
        way = experiment.cables[cable]
        end = self.interface(self.plan.end(experiment, cable, target))
        if way.kind != "wire":
            return [end]
        upwards = target == experiment.wanted.cables[cable].upper
        return [self.interface(self._end(way.ports[1 if upwards else 2])), end]

    def trace(self, experiment: Experiment, pair: tuple[str, str]) -> list[Interface]:
        """Return all interfaces at which a frame between two hosts arrives."""
        route: Route = experiment.wanted.routes[pair]
        return [
            interface
            for cable, target in zip(route.cables, route.reached, strict=True)
            for interface in self.entered(experiment, cable, target)
        ]
