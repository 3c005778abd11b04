# SPDX-License-Identifier: LGPL-2.1-only
"""A plan: which device each host and switch of some wanted topologies is, and how cables run.

A plan is a JSON file that holds all it was made from (the texts of the inventory and of the
fabrics), so that every other command needs nothing else. Slices have numbers from 1, and the ends
of recirculated cables virtual ports, numbered above the chassis' own. Read plans are checked whole:
what is wired twice or fits no cable of the inventory is refused.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from msgspec import UNSET, UnsetType

from weft.base.errors import WeftError, named, printable
from weft.base.models import Model, Whole
from weft.base.output import whole_file
from weft.base.reading import UnreadableError, read_json
from weft.testbed import inventory as inventories
from weft.testbed import shortage, solver, wanted
from weft.testbed.alike import Demand, Link, Node
from weft.testbed.inventory import Inventory, Port
from weft.testbed.solver import Assignment
from weft.testbed.wanted import Wanted

FORMAT: Literal["weft-testbed-plan/1"] = "weft-testbed-plan/1"
# Above the nine bits of a port number, so that the two never mix.
FIRST_VIRTUAL = 512

Kind = Literal["direct", "wire", "recirculated"]


@dataclass(frozen=True)
class Way:
    """How a wanted cable runs.

    A direct one is a fixed cable of the testbed, and `ports` are its two ends (the chassis' where a
    slice is). A wire has four: the two devices' and between them the chassis' two. A recirculated
    one has none: frames up pass the first of its looping ports, frames down the second, and they
    leave and enter the slices at its lower and its upper end by virtual ports.
    """

    kind: Kind
    ports: tuple[Port, ...] = ()
    loops: tuple[int, ...] = ()
    virtual: tuple[int, ...] = ()


@dataclass(frozen=True)
class Experiment:
    """One wanted topology and where it is; a switch is a slice's number or a device's name."""

    name: str
    wanted: Wanted
    hosts: Mapping[str, str]
    switches: Mapping[str, int | str]
    cables: Mapping[str, Way]


@dataclass(frozen=True)
class Plan:
    """All experiments on one inventory."""

    inventory: Inventory
    experiments: tuple[Experiment, ...]
    proven: bool = True
    """Whether no plan has fewer recirculations."""

    @property
    def ways(self) -> Iterator[tuple[Experiment, str, Way]]:
        """Every cable of every experiment."""
        for experiment in self.experiments:
            for name, way in experiment.cables.items():
                yield experiment, name, way

    @property
    def recirculated(self) -> int:
        """The number of recirculated cables."""
        return sum(way.kind == "recirculated" for _, _, way in self.ways)

    @cached_property
    def shares(self) -> dict[int, Counter[int]]:
        """By looping port: how many directions of which speed it carries."""
        shares: dict[int, Counter[int]] = defaultdict(Counter)
        for experiment, name, way in self.ways:
            for loop in way.loops:
                shares[loop][experiment.wanted.cables[name].speed] += 1
        return dict(shares)

    def sharing(self, loop: int) -> float:
        """Return how many times its speed a looping port is asked for when all send."""
        load = sum(speed * count for speed, count in self.shares[loop].items())
        return load / self.inventory.chassis.ports[loop].speed

    def end(self, experiment: Experiment, cable: str, node: str) -> int | Port:
        """Return the port by which a cable enters a host or switch; a slice's is a number."""
        way = experiment.cables[cable]
        upper = node == experiment.wanted.cables[cable].upper
        if way.kind == "recirculated":
            return way.virtual[upper]
        port = way.ports[-1 if upper else 0]
        return int(port.name) if port.device == self.inventory.chassis.name else port

    def experiment(self, name: str | None) -> Experiment:
        """Return one experiment, the only one where no name is given."""
        names = [one.name for one in self.experiments]
        if name is None and len(names) == 1:
            return self.experiments[0]
        if name not in names:
            found = "is not given" if name is None else f"found '{name}'"
            raise WeftError(f"{named('experiment')}: {found}; this plan has {', '.join(names)}")
        return self.experiments[names.index(name)]


def make(inventory: Inventory, fabrics: Sequence[Wanted]) -> Plan:
    """Return the plan with the fewest recirculations, or say what is short."""
    demand = Demand(fabrics)
    shortage.check_servers(demand, inventory)
    found = solver.solve(demand, inventory)
    if isinstance(found, solver.Shortage):
        raise WeftError(shortage.explain(found, demand, inventory))
    return _Builder(inventory, fabrics, demand, found).plan()


class _Builder:
    """Names ports for what the solver has counted, in the inventory's order."""

    def __init__(
        self, inventory: Inventory, fabrics: Sequence[Wanted], demand: Demand, found: Assignment
    ) -> None:
        self.inventory, self.fabrics, self.found = inventory, fabrics, found
        self.demand = demand
        slices = (node for node in demand.switches if node not in found.externals)
        self.slices = {node: number for number, node in enumerate(slices, 1)}
        # By device and peer: the ports of the fixed cables between them that are still free.
        self.free: dict[tuple[str, str], list[Port]] = defaultdict(list)
        for device in inventory.devices.values():
            for port in inventory.cabled(device):
                self.free[device.name, inventory.peers[port].device].append(port)
        self.virtual = iter(range(FIRST_VIRTUAL, 1 << 16))
        self.loops = self._shared_loops()

    def plan(self) -> Plan:
        experiments = []
        for number, (name, one) in enumerate(wanted.named_apart(list(self.fabrics))):
            links = [link for link in self.demand.links if link.name[0] == number]
            experiments.append(
                Experiment(
                    name,
                    one,
                    {host: self.found.servers[number, host] for host in one.hosts},
                    {switch: self._place((number, switch)) for switch in one.switches},
                    {link.name[1]: self._way(link) for link in links},
                )
            )
        return Plan(self.inventory, tuple(experiments), self.found.proven)

    def _place(self, switch: Node) -> int | str:
        return self.slices.get(switch) or self.found.externals[switch]

    def _device(self, node: Node) -> str | None:
        """Return the device that a host or switch is; nothing for a slice."""
        return self.found.servers.get(node) or self.found.externals.get(node)

    def _shared_loops(self) -> dict[int, list[int]]:
        """Return the looping ports of each speed, as evenly filled as they can be."""
        directions = Counter(
            speed
            for link in self.demand.between
            if link.lower in self.slices and link.upper in self.slices
            for speed in (link.speed, link.speed)
        )
        even = solver.loads(self.inventory, directions)
        if even is None:
            even = {port: [*load.elements()] for port, load in self.found.loops.items()}
        ports: dict[int, list[int]] = defaultdict(list)
        for port, speeds in even.items():
            for speed in speeds:
                ports[speed].append(port)
        return ports

    def _way(self, link: Link) -> Way:
        lower, upper = self._device(link.lower), self._device(link.upper)
        if lower is None and upper is None:
            loops = self.loops[link.speed].pop(0), self.loops[link.speed].pop(0)
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
        """Return a free port of a device and the chassis' end of its cable; none for a slice."""
        if device is None:
            return ()
        port = self.free[device, self.inventory.chassis.name].pop(0)
        return port, self.inventory.peers[port]


# ---- The file ------------------------------------------------------------------------------------


def write(plan: Plan, target: Path) -> None:
    """Write the plan."""
    with whole_file(named("output"), target) as file:
        json.dump(_as_record(plan).to_json(), file, indent=1, ensure_ascii=False)
        file.write("\n")


class CableRecord(Model, kw_only=True):
    """How a cable is made: `ports` of fixed ones, or looping ports and virtual ones."""

    kind: Kind
    ports: list[str] | UnsetType = UNSET
    loops: list[Whole] | UnsetType = UNSET
    virtual_ports: list[Whole] | UnsetType = UNSET


class ExperimentRecord(Model, kw_only=True):
    """One topology on the testbed."""

    name: str
    hosts: dict[str, str]
    """The server of each host."""
    switches: dict[str, Whole | str]
    """The slice of the chassis that each switch is, or the layer 2 switch."""
    cables: dict[str, CableRecord]
    fabric: str
    """The fabric file, whole."""


class PlanRecord(Model, kw_only=True):
    """The file of a plan."""

    format: Literal["weft-testbed-plan/1"]
    proven: bool
    """Whether no plan has fewer recirculated cables."""
    recirculated: Whole
    experiments: list[ExperimentRecord]
    inventory: str
    """The inventory file, whole."""


def _as_record(plan: Plan) -> PlanRecord:
    return PlanRecord(
        format=FORMAT,
        proven=plan.proven,
        recirculated=plan.recirculated,
        experiments=[
            ExperimentRecord(
                name=one.name,
                hosts=dict(one.hosts),
                switches=dict(one.switches),
                cables={name: _cable_record(way) for name, way in one.cables.items()},
                fabric=one.wanted.text,
            )
            for one in plan.experiments
        ],
        inventory=plan.inventory.text,
    )


def _cable_record(way: Way) -> CableRecord:
    if way.kind == "recirculated":
        return CableRecord(kind=way.kind, loops=[*way.loops], virtual_ports=[*way.virtual])
    return CableRecord(kind=way.kind, ports=[str(port) for port in way.ports])


def read(path: Path) -> Plan:
    """Read a plan, and prove that it fits its inventory and its fabrics."""
    try:
        found = read_json(path)
    except UnreadableError as error:
        raise WeftError(f"{path}: no plan of weft's: {error}") from None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        said = found.get("format") if isinstance(found, dict) else None
        raise WeftError(
            f"{path}: no plan of weft's: its format is {said!r}, not {FORMAT!r}; make one with"
            " `weft testbed plan`"
        )
    try:
        plan = _from_record(PlanRecord.from_json(found), str(path))
        _check(plan)
    except UnreadableError as error:
        raise _damaged(path, str(error)) from None
    except _OddError as error:
        raise _damaged(path, printable(str(error))) from None
    except (KeyError, IndexError, TypeError, ValueError, AttributeError):
        raise _damaged(path, "its parts do not belong together") from None
    return plan


class _OddError(ValueError):
    """What does not fit in a plan; its text is a clause."""


def _damaged(path: Path, reason: str) -> WeftError:
    return WeftError(
        f"{path}: this plan is damaged: {reason}; make it again with `weft testbed plan`"
    )


def _from_record(found: PlanRecord, source: str) -> Plan:
    inventory = inventories.parse(found.inventory, f"{source}: its inventory")
    experiments = tuple(
        Experiment(
            one.name,
            wanted.kept(one.fabric, source),
            one.hosts,
            one.switches,
            {name: _way(cable) for name, cable in one.cables.items()},
        )
        for one in found.experiments
    )
    return Plan(inventory, experiments, found.proven)


def _way(found: CableRecord) -> Way:
    ports = tuple(Port(*text.split(":", 1)) for text in found.ports or ())
    return Way(found.kind, ports, tuple(found.loops or ()), tuple(found.virtual_ports or ()))


def _check(plan: Plan) -> None:
    used: Counter[Any] = Counter()
    for experiment in plan.experiments:
        used.update(experiment.hosts.values())
        used.update(experiment.switches.values())
        if set(experiment.cables) != set(experiment.wanted.cables):
            raise _OddError(f"the cables of {experiment.name} are not those of its fabric")
    for experiment, name, way in plan.ways:
        used.update(way.ports)
        used.update(-1 - port for port in way.virtual)  # apart from slices, which count up
        _check_way(plan, experiment, name, way)
    for thing, times in used.items():
        if times > 1:
            raise _OddError(f"{thing} is used {times} times")


def _check_way(plan: Plan, experiment: Experiment, name: str, way: Way) -> None:
    cable = experiment.wanted.cables[name]
    peers = plan.inventory.peers
    for one, other in zip(way.ports[::2], way.ports[1::2], strict=True):
        if peers[one] != other:
            raise _OddError(f"{name}: no cable joins {one} and {other}")
    loops = {port.number for port in plan.inventory.chassis.loops}
    if not loops.issuperset(way.loops):
        raise _OddError(f"{name}: {way.loops} are not looping ports")
    for node in (cable.lower, cable.upper):
        place = experiment.hosts.get(node) or experiment.switches[node]
        end = plan.end(experiment, name, node)
        if (end.device if isinstance(end, Port) else 0) != (place if isinstance(place, str) else 0):
            raise _OddError(f"{name}: does not end at {place}")


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
