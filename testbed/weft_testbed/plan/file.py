# SPDX-License-Identifier: LGPL-2.1-only
"""Plan files (JSON).

A file contains the texts of the inventory and of the fabrics, so that all other commands need
nothing else. Plans are validated on reading: a port wired twice, or a cable that is not in the
inventory, is refused.
"""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from msgspec import UNSET, UnsetType

from weft.base.errors import WeftError, named, printable
from weft.base.models import Model, Whole
from weft.base.output import whole_file
from weft.base.user_files import UnreadableError, read_json
from weft_testbed.hardware import inventory as inventories
from weft_testbed.hardware.cables import Port
from weft_testbed.hardware.inventory import Inventory
from weft_testbed.plan import wanted_topology
from weft_testbed.plan.plan import FIRST_VIRTUAL, MOST_VIRTUAL, Experiment, Kind, Plan, Way

FORMAT: Literal["weft-testbed-plan/1"] = "weft-testbed-plan/1"
# Numbers of ports, looping ports and virtual ports of each kind of cable.
_PARTS: Mapping[Kind, tuple[int, int, int]] = {
    "direct": (2, 0, 0),
    "wire": (4, 0, 0),
    "recirculated": (0, 2, 2),
}
# An experiment's number is the second byte of its hosts' addresses.
_MOST_NUMBER = 255


def write(plan: Plan, target: Path) -> None:
    """Write the plan."""
    with whole_file(named("output"), target) as file:
        json.dump(_as_record(plan).to_json(), file, indent=1, ensure_ascii=False)
        file.write("\n")


class CableRecord(Model, kw_only=True):
    """Realisation of a cable: `ports` of fixed ones, or looping ports and virtual ones."""

    kind: Kind
    ports: list[str] | UnsetType = UNSET
    loops: list[Whole] | UnsetType = UNSET
    virtual_ports: list[Whole] | UnsetType = UNSET


class ExperimentRecord(Model, kw_only=True):
    """One topology on the testbed."""

    name: str
    number: Whole | UnsetType = UNSET
    """Number in its hosts' addresses; by default the position in the list."""
    hosts: dict[str, str]
    """Server of each host."""
    switches: dict[str, Whole | str]
    """Slice of the chassis, or layer 2 switch, of each switch."""
    cables: dict[str, CableRecord]
    fabric: str
    """Complete fabric file."""


class PlanRecord(Model, kw_only=True):
    """File of a plan."""

    format: Literal["weft-testbed-plan/1"]
    proven: bool
    """True if no plan with the same kept experiments has fewer recirculated cables."""
    recirculated: Whole
    experiments: list[ExperimentRecord]
    inventory: str
    """Complete inventory file."""
    chassis: str | UnsetType = UNSET
    """Chassis of the inventory that the plan uses; absent if there is only one."""


def _as_record(plan: Plan) -> PlanRecord:
    return PlanRecord(
        format=FORMAT,
        proven=plan.proven,
        recirculated=plan.recirculated,
        experiments=[
            ExperimentRecord(
                name=one.name,
                number=one.number,
                hosts=dict(one.hosts),
                switches=dict(one.switches),
                cables={name: _cable_record(way) for name, way in one.cables.items()},
                fabric=one.wanted.text,
            )
            for one in plan.experiments
        ],
        inventory=plan.inventory.text,
        chassis=plan.inventory.chassis.name if plan.inventory.several else UNSET,
    )


def _cable_record(way: Way) -> CableRecord:
    if way.kind == "recirculated":
        return CableRecord(kind=way.kind, loops=[*way.loops], virtual_ports=[*way.virtual])
    return CableRecord(kind=way.kind, ports=[str(port) for port in way.ports])


def read(path: Path) -> Plan:
    """Read a plan, and check it against its inventory and its fabrics."""
    try:
        found = read_json(path)
    except UnreadableError as error:
        raise WeftError(f"{path}: not a plan of weft: {error}") from None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        said = found.get("format") if isinstance(found, dict) else None
        raise WeftError(
            f"{path}: not a plan of weft: its format is {said!r}, not {FORMAT!r}; create one with"
            " `weft testbed plan`"
        )
    try:
        plan = _from_record(PlanRecord.from_json(found), str(path))
        _check(plan)
    except UnreadableError as error:
        raise _damaged(path, str(error)) from None
    except _MisfitError as error:
        raise _damaged(path, printable(str(error))) from None
    except (KeyError, IndexError, TypeError, ValueError, AttributeError):
        raise _damaged(path, "its parts are inconsistent") from None
    return plan


class _MisfitError(ValueError):
    """An inconsistency in a plan, as a clause."""


def _damaged(path: Path, reason: str) -> WeftError:
    return WeftError(
        f"{path}: this plan is damaged: {reason}; create it again with `weft testbed plan`"
    )


def _from_record(found: PlanRecord, source: str) -> Plan:
    inventory = _chassis(found, source)
    experiments = tuple(
        Experiment(
            one.name,
            place if one.number is UNSET else one.number,
            wanted_topology.kept(one.fabric, source),
            one.hosts,
            one.switches,
            {name: _way(cable) for name, cable in one.cables.items()},
        )
        for place, one in enumerate(found.experiments)
    )
    return Plan(inventory, experiments, found.proven)


def _chassis(found: PlanRecord, source: str) -> Inventory:
    """Return the chassis of a plan."""
    there = inventories.parse_all(found.inventory, f"{source}: its inventory")
    names = [one.chassis.name for one in there]
    if found.chassis is UNSET and len(there) == 1:
        return there[0]
    if found.chassis not in names:
        said = "no chassis" if found.chassis is UNSET else f"the chassis '{found.chassis}'"
        raise _MisfitError(f"it names {said}, and its inventory has {', '.join(names)}")
    return there[names.index(found.chassis)]


def _way(found: CableRecord) -> Way:
    ports = tuple(Port(*text.split(":", 1)) for text in found.ports or ())
    return Way(found.kind, ports, tuple(found.loops or ()), tuple(found.virtual_ports or ()))


def _check(plan: Plan) -> None:
    """Check that a plan's devices are the inventory's and that cables connect what they claim.

    All readers of plans rely on it.
    """
    used: Counter[Any] = Counter()
    for experiment in plan.experiments:
        used.update(experiment.hosts.values())
        used.update(experiment.switches.values())
        used[f"the number {experiment.number}"] += 1
        if not 0 <= experiment.number <= _MOST_NUMBER:
            raise _MisfitError(f"the number of {experiment.name} is {experiment.number}")
        _check_devices(plan.inventory, experiment)
    for experiment, name, way in plan.ways:
        used.update(way.ports)
        used.update(-1 - port for port in way.virtual)  # negative: distinct from slices
        _check_way(plan, experiment, name, way)
    for thing, times in used.items():
        if times > 1:
            raise _MisfitError(f"{thing} is used {times} times")


def _check_devices(inventory: Inventory, experiment: Experiment) -> None:
    asked = experiment.wanted
    for what, found, wanted_ in (
        ("hosts", experiment.hosts, asked.hosts),
        ("switches", experiment.switches, asked.switches),
        ("cables", experiment.cables, asked.cables),
    ):
        if set(found) != set(wanted_):
            raise _MisfitError(f"the {what} of {experiment.name} are not those of its fabric")
    for host, server in experiment.hosts.items():
        if server not in inventory.servers:
            raise _MisfitError(f"{host} is on {server!r}, which is not a server of its inventory")
    for switch, place in experiment.switches.items():
        slices = range(1, inventory.chassis.slices + 1)
        if place not in (inventory.switches if isinstance(place, str) else slices):
            raise _MisfitError(
                f"{switch} is on {place!r}; its inventory has slices from 1 to {slices[-1]}"
                f"{' and ' if inventory.switches else ''}{', '.join(inventory.switches)}"
            )


def _check_way(plan: Plan, experiment: Experiment, name: str, way: Way) -> None:
    parts = (len(way.ports), len(way.loops), len(way.virtual))
    if parts != _PARTS[way.kind]:
        raise _MisfitError(
            "{}: is {} and has {} ports, {} loops and {} virtual_ports; such a cable has {}, {}"
            " and {}".format(name, way.kind, *parts, *_PARTS[way.kind])
        )
    for port in way.virtual:
        if not FIRST_VIRTUAL <= port <= MOST_VIRTUAL:
            raise _MisfitError(
                f"{name}: found the virtual port {port}; allowed are {FIRST_VIRTUAL} to"
                f" {MOST_VIRTUAL}"
            )
    cable = experiment.wanted.cables[name]
    peers = plan.inventory.peers
    for one, other in zip(way.ports[::2], way.ports[1::2], strict=True):
        if peers.get(one) != other:
            raise _MisfitError(f"{name}: no cable joins {one} and {other}")
    loops = {port.number for port in plan.inventory.chassis.loops}
    if not loops.issuperset(way.loops):
        raise _MisfitError(f"{name}: {way.loops} are not loopback ports")
    for node in (cable.lower, cable.upper):
        place = experiment.hosts.get(node) or experiment.switches[node]
        end = plan.end(experiment, name, node)
        if (end.device if isinstance(end, Port) else 0) != (place if isinstance(place, str) else 0):
            raise _MisfitError(f"{name}: does not end at {place}")
