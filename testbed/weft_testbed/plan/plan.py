# SPDX-License-Identifier: LGPL-2.1-only
"""Plan: devices for the hosts and switches of the requested topologies, and paths of their cables.

Slices are numbered from 1, and the ends of recirculated cables are virtual ports, numbered above
the chassis' own. Running experiments can be kept: then only new ones are placed, on free
resources.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, TypeVar

from weft.base.errors import WeftError, named
from weft_testbed.hardware.cables import Port
from weft_testbed.hardware.inventory import Inventory
from weft_testbed.plan import shortage, solver, wanted_topology
from weft_testbed.plan.equivalence import Demand, Link, Node
from weft_testbed.plan.solver import Assignment, NoPlanError
from weft_testbed.plan.wanted_topology import Wanted

# Above the nine bits of a port number, so that the two ranges are disjoint.
FIRST_VIRTUAL = 512
# The program's ports have 16 bits (inventories/testbed.p4).
MOST_VIRTUAL = (1 << 16) - 1

Made = TypeVar("Made")
Kind = Literal["direct", "wire", "recirculated"]


@dataclass(frozen=True)
class Way:
    """Realisation of a requested cable.

    A direct cable is a fixed cable of the testbed, and `ports` are its two ends (the chassis' if it
    ends at a slice). A wire has four: the two devices' and between them the chassis' two. A
    recirculated cable has none: frames upwards pass the first of its looping ports, frames
    downwards the second, and they leave and enter the slices at its lower and its upper end by
    virtual ports.
    """

    kind: Kind
    ports: tuple[Port, ...] = ()
    loops: tuple[int, ...] = ()
    virtual: tuple[int, ...] = ()


@dataclass(frozen=True)
class Experiment:
    """One requested topology and its placement; a switch is a slice's number or a device's name.

    `number`, from 0, is part of its hosts' addresses and unique in the plan.
    """

    name: str
    number: int
    wanted: Wanted
    hosts: Mapping[str, str]
    switches: Mapping[str, int | str]
    cables: Mapping[str, Way]


@dataclass(frozen=True)
class Plan:
    """All experiments on one chassis of an inventory."""

    inventory: Inventory
    experiments: tuple[Experiment, ...]
    proven: bool = True
    """True if no plan with the same kept experiments has fewer recirculations."""

    @property
    def ways(self) -> Iterator[tuple[Experiment, str, Way]]:
        """All cables of all experiments."""
        for experiment in self.experiments:
            for name, way in experiment.cables.items():
                yield experiment, name, way

    @property
    def recirculated(self) -> int:
        """Number of recirculated cables."""
        return sum(way.kind == "recirculated" for _, _, way in self.ways)

    @cached_property
    def shares(self) -> dict[int, Counter[int]]:
        """Number of directions by speed on each looping port."""
        shares: dict[int, Counter[int]] = defaultdict(Counter)
        for experiment, name, way in self.ways:
            for loop in way.loops:
                shares[loop][experiment.wanted.cables[name].speed] += 1
        return dict(shares)

    def sharing(self, loop: int) -> float:
        """Return the load of a looping port, relative to its speed, when all send."""
        load = sum(speed * count for speed, count in self.shares[loop].items())
        return load / self.inventory.chassis.ports[loop].speed

    def end(self, experiment: Experiment, cable: str, node: str) -> int | Port:
        """Return the port at one end of a cable, a host or switch; a number for a slice."""
        way = experiment.cables[cable]
        upper = node == experiment.wanted.cables[cable].upper
        if way.kind == "recirculated":
            return way.virtual[upper]
        port = way.ports[-1 if upper else 0]
        return int(port.name) if port.device == self.inventory.chassis.name else port

    def experiment(self, name: str | None) -> Experiment:
        """Return one experiment; the name may be omitted if there is only one."""
        names = [one.name for one in self.experiments]
        if name is None and len(names) == 1:
            return self.experiments[0]
        if name not in names:
            found = "is not given" if name is None else f"found '{name}'"
            raise WeftError(f"{named('experiment')}: {found}; this plan has {', '.join(names)}")
        return self.experiments[names.index(name)]


def make(inventory: Inventory, fabrics: Sequence[Wanted], keep: Sequence[Experiment] = ()) -> Plan:
    """Return the plan with the fewest recirculations, or raise an error that names the shortage.

    Kept experiments stay unchanged: hosts, ports, looping ports, numbers.
    """
    if not fabrics:
        return Plan(inventory, tuple(keep))
    demand = Demand(fabrics)
    free = left_over(inventory, keep)
    try:
        shortage.check_servers(demand, free)
        found = solver.solve(demand, free)
        if isinstance(found, solver.Shortage):
            raise NoPlanError(shortage.explain(found, demand, free))
    except NoPlanError as error:
        if not keep:
            raise
        raise _does_not_fit(error, inventory, fabrics, keep) from None
    return _Builder(free, fabrics, demand, found, keep).plan(inventory)


def on_first(chassis: Sequence[Inventory], planned: Callable[[Inventory], Made]) -> Made:
    """Return the plan on the first chassis that fits, or raise an error with each one's shortage.

    No experiment spans chassis.
    """
    if len(chassis) == 1:
        return planned(chassis[0])
    short = []
    for one in chassis:
        try:
            return planned(one)
        except NoPlanError as error:
            short.append(f"{one.chassis.name}: {error.message.removeprefix('no plan: ')}")
    raise NoPlanError(
        f"no plan on any of the {len(chassis)} chassis of {chassis[0].name}: {' | '.join(short)}"
    )


def left_over(inventory: Inventory, keep: Sequence[Experiment]) -> Inventory:
    """Return the resources that experiments leave: devices, cables, slices, looping ports."""
    if not keep:
        return inventory
    used = {place for one in keep for place in (*one.hosts.values(), *one.switches.values())}
    taken: Counter[int] = Counter()
    for one in keep:
        for name, way in one.cables.items():
            for loop in way.loops:
                taken[loop] += one.wanted.cables[name].speed
    chassis = inventory.chassis
    slices = sum(isinstance(place, int) for place in used)
    gone = {place for place in used if isinstance(place, str)}
    return replace(
        inventory,
        chassis=replace(chassis, slices=max(0, chassis.slices - slices), taken=taken),
        servers={name: one for name, one in inventory.servers.items() if name not in gone},
        switches={name: one for name, one in inventory.switches.items() if name not in gone},
        peers={
            port: peer
            for port, peer in inventory.peers.items()
            if not {port.device, peer.device} & gone
        },
    )


def _does_not_fit(
    error: WeftError, inventory: Inventory, fabrics: Sequence[Wanted], keep: Sequence[Experiment]
) -> NoPlanError:
    """Return the error for experiments that do not fit next to the kept ones."""
    try:
        make(inventory, [*(one.wanted for one in keep), *fabrics])
        else_ = f"a new plan of all, without {named('keep')}, fits, but moves running experiments"
    except NoPlanError:
        else_ = f"a new plan of all, without {named('keep')}, does not fit either"
    names = ", ".join(one.name for one in keep)
    return NoPlanError(f"{error.message}; counted beside what is kept ({names}): {else_}")


class _Builder:
    """Assigns concrete ports to the solver's counts, in the inventory's order."""

    def __init__(
        self,
        inventory: Inventory,
        fabrics: Sequence[Wanted],
        demand: Demand,
        found: Assignment,
        keep: Sequence[Experiment],
    ) -> None:
        self.inventory, self.fabrics, self.found = inventory, fabrics, found
        self.demand, self.keep = demand, keep
        slices = (node for node in demand.switches if node not in found.externals)
        kept = {place for one in keep for place in one.switches.values()}
        self.slices = dict(zip(slices, _free(1, kept), strict=False))
        # Free ports of the fixed cables, by device and peer.
        self.free: dict[tuple[str, str], list[Port]] = defaultdict(list)
        for device in inventory.devices.values():
            for port in inventory.cabled(device):
                self.free[device.name, inventory.peers[port].device].append(port)
        ends = {port for one in keep for way in one.cables.values() for port in way.virtual}
        self.virtual = _free(FIRST_VIRTUAL, ends)
        self.loops = self._shared_loops()

    def plan(self, inventory: Inventory) -> Plan:
        """Return the plan, with kept experiments first."""
        experiments = [*self.keep]
        numbers = _free(0, {one.number for one in self.keep})
        named_apart = wanted_topology.named_apart(self.fabrics, [one.name for one in self.keep])
        for number, (name, one) in enumerate(named_apart):
            links = [link for link in self.demand.links if link.name[0] == number]
            experiments.append(
                Experiment(
                    name,
                    next(numbers),
                    one,
                    {host: self.found.servers[number, host] for host in one.hosts},
                    {switch: self._place((number, switch)) for switch in one.switches},
                    {link.name[1]: self._way(link) for link in links},
                )
            )
        return Plan(inventory, tuple(experiments), self.found.proven)

    def _place(self, switch: Node) -> int | str:
        return self.slices.get(switch) or self.found.externals[switch]

    def _device(self, node: Node) -> str | None:
        """Return the device of a host or switch; None for a slice."""
        return self.found.servers.get(node) or self.found.externals.get(node)

    def _shared_loops(self) -> dict[tuple[int, int], list[int]]:
        """Return the looping ports of each experiment and speed.

        Experiments are balanced one after the other, so that each one's ports are independent of
        later ones. If that overloads a port, the solver's assignment is used.
        """
        chassis = self.inventory.chassis
        taken = Counter(chassis.taken)
        ports: dict[tuple[int, int], list[int]] = defaultdict(list)
        for number in range(len(self.fabrics)):
            even = solver.loads(chassis, self._directions(number), taken)
            if even is None:
                return self._loops_of_solver()
            for port, speeds in even.items():
                taken[port] += sum(speeds)
                for speed in speeds:
                    ports[number, speed].append(port)
        return ports

    def _directions(self, number: int) -> Counter[int]:
        """Count an experiment's recirculated directions by speed."""
        return Counter(
            speed
            for link in self.demand.between
            if link.name[0] == number and link.lower in self.slices and link.upper in self.slices
            for speed in (link.speed, link.speed)
        )

    def _loops_of_solver(self) -> dict[tuple[int, int], list[int]]:
        left: dict[int, list[int]] = defaultdict(list)
        for port, load in self.found.loops.items():
            for speed in load.elements():
                left[speed].append(port)
        return {
            (number, speed): [left[speed].pop(0) for _ in range(count)]
            for number in range(len(self.fabrics))
            for speed, count in self._directions(number).items()
        }

    def _way(self, link: Link) -> Way:
        lower, upper = self._device(link.lower), self._device(link.upper)
        if lower is None and upper is None:
            left = self.loops[link.name[0], link.speed]
            loops = left.pop(0), left.pop(0)
            return Way("recirculated", (), loops, (next(self.virtual), next(self.virtual)))
        if lower is not None and upper is not None and self._straight(link):
            port = self.free[lower, upper].pop(0)
            peer = self.inventory.peers[port]
            self.free[upper, lower].remove(peer)
            return Way("direct", (port, peer))
        begin = self._to_chassis(lower)
        ports = (*begin, *reversed(self._to_chassis(upper)))
        return Way("wire" if len(ports) == 4 else "direct", ports)

    def _straight(self, link: Link) -> bool:
        return link.name in self.found.direct or link.name in self.found.straight.get(
            link.lower, self.found.straight.get(link.upper, {})
        )

    def _to_chassis(self, device: str | None) -> tuple[Port, ...]:
        """Return a free port of a device and the chassis' end of its cable; empty for a slice."""
        if device is None:
            return ()
        port = self.free[device, self.inventory.chassis.name].pop(0)
        return port, self.inventory.peers[port]


def _free(first: int, taken: set[int] | set[int | str]) -> Iterator[int]:
    """Yield the free numbers in order."""
    return (number for number in range(first, MOST_VIRTUAL + 1) if number not in taken)


def relabelled(plan: Plan, slices: Mapping[int, int], virtual: Mapping[int, int]) -> Plan:
    """Return the same plan with other numbers for slices and virtual ports."""
    experiments = (
        replace(
            one,
            switches={
                name: slices[place] if isinstance(place, int) else place
                for name, place in one.switches.items()
            },
            cables={
                name: replace(way, virtual=tuple(virtual[port] for port in way.virtual))
                for name, way in one.cables.items()
            },
        )
        for one in plan.experiments
    )
    return replace(plan, experiments=tuple(experiments))
