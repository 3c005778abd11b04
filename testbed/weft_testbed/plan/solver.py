# SPDX-License-Identifier: LGPL-2.1-only
"""Constraint program (OR-tools CP-SAT) that assigns servers to hosts and places switches.

Interchangeable items are merged (`weft_testbed.plan.equivalence`): the solver counts members of
groups and classes, and individuals are assigned afterwards in the inventory's order. This removes
symmetries from the search.

A switch that is not placed on a layer 2 switch becomes a slice of the chassis. A cable between two
slices is recirculated: each direction uses its bandwidth of a looping port. A cable that ends at a
layer 2 switch uses one of its ports to the chassis, unless a fixed cable serves.

The first solve minimises, in this order, recirculated cables, virtual wires, and layer 2 switches.
If there is no plan, a second solve relaxes everything that may be short and minimises the shortage:
hosts without a server, excess slices, bandwidth that does not fit on looping ports.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING

from weft.base.errors import WeftError
from weft_testbed.hardware.inventory import Chassis, Inventory
from weft_testbed.plan.equivalence import (
    CHASSIS,
    Demand,
    Link,
    Node,
    ServerClass,
    Supply,
    SwitchClass,
    other_end,
)

if TYPE_CHECKING:
    from ortools.sat.python.cp_model import CpModel, CpSolver, IntVar, LinearExpr, LinearExprT

# Deterministic: one worker, one seed, and a limit on the solver's own measure of work, not time.
_SEED = 1
_MOST_WORK = 60.0


class NoPlanError(WeftError):
    """Raised without a plan: the message names the shortage, or says that the solver gave up."""


@dataclass
class Assignment:
    """Result of the solver: devices of hosts and switches, direct cables, looping ports."""

    servers: dict[Node, str] = field(default_factory=dict)
    straight: dict[Node, dict[Node, str]] = field(default_factory=dict)
    """By host: the layer 2 switches that its cables go directly to."""
    externals: dict[Node, str] = field(default_factory=dict)
    direct: set[Node] = field(default_factory=set)
    """Cables between switches that use fixed cables."""
    loops: dict[int, Counter[int]] = field(default_factory=dict)
    """Number of directions by speed on each looping port."""
    proven: bool = True


@dataclass(frozen=True)
class Shortage:
    """Smallest shortage: hosts without a server, slices, bandwidth."""

    hosts: int
    slices: int
    bandwidth: int
    recirculated: int
    """Directions of cables that remain recirculated."""
    proven: bool


@dataclass(frozen=True)
class Mode:
    """Way to map a host of a group to a server of a class: the destination of each cable."""

    group: int
    servers: ServerClass
    ways: tuple[str, ...]


class _Program:
    """Constraint program; `open` relaxes everything that may be short."""

    def __init__(self, demand: Demand, supply: Supply, *, open: bool) -> None:
        from ortools.sat.python import cp_model

        self.demand, self.supply, self.open = demand, supply, open
        self.model: CpModel = cp_model.CpModel()
        self.hosts_of = list(demand.groups.items())
        self._place_switches()
        self._place_hosts()
        self._lay_cables()
        self._limit_ports()
        self._loop()
        self._minimise()

    def _count(self, most: int, name: str) -> "IntVar":
        return self.model.new_int_var(0, max(0, most), name)

    # ---- Switches and hosts --------------------------------------------------------------------

    def _place_switches(self) -> None:
        self.external: dict[tuple[Node, SwitchClass], IntVar] = {}
        self.slice: dict[Node, IntVar] = {}
        for switch in self.demand.switches:
            self.slice[switch] = self.model.new_bool_var("slice")
            for kind in self.supply.switches:
                if self._could_be(switch, kind):
                    self.external[switch, kind] = self.model.new_bool_var("external")
            chosen = [var for (node, _), var in self.external.items() if node == switch]
            self.model.add_exactly_one([self.slice[switch], *chosen])
        for kind, names in self.supply.switches.items():
            used = [var for (_, one), var in self.external.items() if one == kind]
            self.model.add(sum(used) <= len(names))
        slices = sum(self.slice.values())
        self.more_slices = self._count(len(self.slice) if self.open else 0, "more slices")
        self.model.add(slices <= self.supply.inventory.chassis.slices + self.more_slices)

    def _could_be(self, switch: Node, kind: SwitchClass) -> bool:
        links = self.demand.at[switch]
        if any(link.speed > kind.speed for link in links):
            return False
        return bool(kind.alone) or len(links) <= kind.to_chassis

    def _is(self, switch: Node, name: str) -> "LinearExprT":
        """Return true if the switch is placed on this layer 2 switch, a class of its own."""
        return self.external.get((switch, self.supply.class_of[name]), 0)

    def _place_hosts(self) -> None:
        self.modes: dict[Mode, IntVar] = {}
        self.unplaced: list[IntVar] = []
        for number, (ends, hosts) in enumerate(self.hosts_of):
            missing = self._count(len(hosts) if self.open else 0, "unplaced")
            self.unplaced.append(missing)
            for kind in self.supply.servers:
                for mode in _modes(number, ends, kind):
                    self._add_mode(mode, ends, len(hosts))
            placed = [var for mode, var in self.modes.items() if mode.group == number]
            self.model.add(sum(placed) + missing == len(hosts))
        for kind, names in self.supply.servers.items():
            used = [var for mode, var in self.modes.items() if mode.servers == kind]
            self.model.add(sum(used) <= len(names))

    def _add_mode(self, mode: Mode, ends: tuple[tuple[Node, int], ...], hosts: int) -> None:
        var = self._count(min(hosts, len(self.supply.servers[mode.servers])), "mode")
        self.modes[mode] = var
        for (switch, _), way in zip(ends, mode.ways, strict=True):
            if way != CHASSIS:
                self.model.add(var <= hosts * self._is(switch, way))

    # ---- Cables --------------------------------------------------------------------------------

    def _lay_cables(self) -> None:
        """Decide which cables between switches are fixed, recirculated, or wires."""
        self.direct: dict[tuple[Link, str, str], IntVar] = {}
        self.recirculated: dict[Link, IntVar] = {}
        self.wires: list[IntVar] = []
        for link in self.demand.between:
            var = self.recirculated[link] = self.model.new_bool_var("recirculated")
            self.model.add(var >= self.slice[link.lower] + self.slice[link.upper] - 1)
            fixed = [*self._add_direct(link)]
            wire = self.model.new_bool_var("wire")
            self.wires.append(wire)
            self.model.add(wire + self.slice[link.lower] + self.slice[link.upper] + sum(fixed) >= 1)
        for (one, other), cables in self.supply.between.items():
            used = [var for (_, *ends), var in self.direct.items() if {one, other} == {*ends}]
            self.model.add(sum(used) <= cables)

    def _add_direct(self, link: Link) -> "Iterator[IntVar]":
        for pair in self.supply.between:
            for one, other in (pair, pair[::-1]):
                if (link.lower, self.supply.class_of[one]) not in self.external:
                    continue
                var = self.direct[link, one, other] = self.model.new_bool_var("direct")
                self.model.add(var <= self._is(link.lower, one))
                self.model.add(var <= self._is(link.upper, other))
                yield var

    def _limit_ports(self) -> None:
        """Limit a layer 2 switch's cables through the chassis to its ports there."""
        for switch in self.demand.switches:
            through = len(self.demand.at[switch]) - sum(self._straight(switch))
            for (node, kind), var in self.external.items():
                if node == switch:
                    self.model.add(through <= kind.to_chassis).only_enforce_if(var)
            hosts = self._hosts_at(switch) - sum(self._straight_hosts(switch))
            wires = self._count(self._hosts_at(switch), "wires")
            self.wires.append(wires)
            self.model.add(wires >= hosts - self._hosts_at(switch) * self.slice[switch])

    def _hosts_at(self, switch: Node) -> int:
        return sum(other_end(link, switch) not in self.slice for link in self.demand.at[switch])

    def _straight(self, switch: Node) -> "Iterator[LinearExpr]":
        yield from self._straight_hosts(switch)
        for (link, *_), var in self.direct.items():
            if switch in (link.lower, link.upper):
                yield var

    def _straight_hosts(self, switch: Node) -> "Iterator[LinearExpr]":
        for mode, var in self.modes.items():
            ends = self.hosts_of[mode.group][0]
            cables = sum(
                end == switch and way != CHASSIS
                for (end, _), way in zip(ends, mode.ways, strict=True)
            )
            if cables:
                yield cables * var

    # ---- Looping ports -------------------------------------------------------------------------

    def _loop(self) -> None:
        """Assign the directions of recirculated cables to looping ports, by speed."""
        chassis = self.supply.inventory.chassis
        speeds = sorted({link.speed for link in self.demand.between})
        self.looped: dict[tuple[int, int], IntVar] = {}
        self.unlooped: dict[int, IntVar] = {}
        for speed in speeds:
            links = [link for link in self.demand.between if link.speed == speed]
            for port in chassis.loops:
                fit = chassis.room(port) // speed
                self.looped[port.number, speed] = self._count(min(fit, 2 * len(links)), "looped")
            self.unlooped[speed] = self._count(2 * len(links) if self.open else 0, "unlooped")
            taken = [var for (_, one), var in self.looped.items() if one == speed]
            wanted = sum(self.recirculated[link] for link in links)
            self.model.add(sum(taken) + self.unlooped[speed] == 2 * wanted)
        if len(speeds) > 1:
            self._fill_loops()

    def _fill_loops(self) -> None:
        chassis = self.supply.inventory.chassis
        loads: dict[int, LinearExprT] = {
            port.number: sum(
                speed * var for (one, speed), var in self.looped.items() if one == port.number
            )
            for port in chassis.loops
        }
        for port in chassis.loops:
            self.model.add(loads[port.number] <= chassis.room(port))
        # Ports of one speed are interchangeable: order them by load.
        for one, other in zip(chassis.loops, chassis.loops[1:], strict=False):
            if (one.speed, chassis.room(one)) == (other.speed, chassis.room(other)):
                self.model.add(loads[one.number] >= loads[other.number])

    # ---- Solving -------------------------------------------------------------------------------

    def _minimise(self) -> None:
        recirculated, wires = sum(self.recirculated.values()), sum(self.wires)
        externals = sum(self.external.values())
        if self.open:
            self.steps: list[LinearExprT] = [
                sum(self.unplaced),
                self.more_slices,
                sum(_mbps(speed) * var for speed, var in self.unlooped.items()),
            ]
            return
        fewer = len(self.demand.switches) + 1
        self.steps = [
            recirculated * fewer * (len(self.demand.links) + 1) + wires * fewer + externals
        ]

    def solve(self) -> "CpSolver | None":
        """Minimise the objectives in order; None if there is no plan."""
        from ortools.sat.python import cp_model

        proven = True
        for step in self.steps:
            self.model.minimize(step)
            solver = cp_model.CpSolver()
            solver.parameters.num_workers = 1
            solver.parameters.random_seed = _SEED
            solver.parameters.linearization_level = 2
            solver.parameters.max_deterministic_time = _MOST_WORK
            status = solver.solve(self.model)
            if status == cp_model.INFEASIBLE:
                return None
            if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
                raise NoPlanError(
                    "plan: the solver stopped before it found a plan or proved that none exists;"
                    " plan a smaller topology, or add servers and loopback ports"
                )
            proven = proven and status == cp_model.OPTIMAL
            self.model.add(step <= solver.value(step))
        self.proven = proven
        return solver


def _modes(group: int, ends: tuple[tuple[Node, int], ...], kind: ServerClass) -> Iterator[Mode]:
    """Yield the ways for a host's cables to leave a server: at most one per port."""
    if any(speed > kind.speed for _, speed in ends):
        return
    ports = {CHASSIS: kind.to_chassis, **dict(kind.direct)}
    for ways in product(ports, repeat=len(ends)):
        if all(count <= ports[way] for way, count in Counter(ways).items()):
            yield Mode(group, kind, ways)


def _mbps(speed: int) -> int:
    return max(1, speed // 1_000_000)


def solve(demand: Demand, inventory: Inventory) -> Assignment | Shortage:
    """Return a plan with the fewest recirculations, or the shortage."""
    supply = Supply(inventory)
    program = _Program(demand, supply, open=False)
    solver = program.solve()
    if solver is not None:
        return _assignment(program, solver)
    program = _Program(demand, supply, open=True)
    solver = program.solve()
    if solver is None:
        raise AssertionError("a program with everything open has a solution")
    unlooped = {speed: solver.value(var) for speed, var in program.unlooped.items()}
    return Shortage(
        hosts=sum(solver.value(var) for var in program.unplaced),
        slices=solver.value(program.more_slices),
        bandwidth=sum(speed * count for speed, count in unlooped.items()),
        recirculated=sum(unlooped.values()) + sum(map(solver.value, program.looped.values())),
        proven=program.proven,
    )


def _assignment(program: _Program, solver: "CpSolver") -> Assignment:
    found = Assignment(proven=program.proven)
    left = {kind: iter(names) for kind, names in program.supply.switches.items()}
    for (switch, kind), var in program.external.items():
        if solver.value(var):
            found.externals[switch] = next(left[kind])
    servers = {kind: iter(names) for kind, names in program.supply.servers.items()}
    hosts = [iter(hosts) for _, hosts in program.hosts_of]
    for mode, var in program.modes.items():
        for _ in range(solver.value(var)):
            host = next(hosts[mode.group])
            found.servers[host] = next(servers[mode.servers])
            links = program.demand.at[host]
            found.straight[host] = {
                link.name: way for link, way in zip(links, mode.ways, strict=True) if way != CHASSIS
            }
    found.direct = {link.name for (link, *_), var in program.direct.items() if solver.value(var)}
    for (port, speed), var in program.looped.items():
        if solver.value(var):
            found.loops.setdefault(port, Counter())[speed] = solver.value(var)
    return found


def loads(
    chassis: Chassis, directions: Mapping[int, int], taken: Mapping[int, int]
) -> dict[int, list[int]] | None:
    """Balance directions over looping ports, by speed; None if that overloads one.

    The fastest goes first, each to the port that is least loaded, including the load in `taken`.
    """
    loads: dict[int, list[int]] = {port.number: [] for port in chassis.loops}
    full = {port.number: taken.get(port.number, 0) for port in chassis.loops}
    for speed in sorted(directions, reverse=True):
        for _ in range(directions[speed]):
            fills = [(full[p.number] + speed) / p.speed for p in chassis.loops]
            if not fills or min(fills) > chassis.max_sharing:
                return None
            port = chassis.loops[fills.index(min(fills))].number
            loads[port].append(speed)
            full[port] += speed
    return loads
