# SPDX-License-Identifier: LGPL-2.1-only
"""Port map: the use of each port of the chassis in a plan."""

from collections.abc import Iterator
from dataclasses import dataclass

from weft_testbed.hardware.cables import Port
from weft_testbed.hardware.inventory import ChassisPort
from weft_testbed.plan.plan import Experiment, Plan, Way


@dataclass(frozen=True)
class Use:
    """Port, its cable peer, and its use; `wire` is the other end of a virtual wire.

    `switches` are the requested switches that it serves: for a slice's port one; for a looping port
    the sender and the receiver of each direction that shares it.
    """

    port: ChassisPort
    peer: Port | None
    experiment: str = ""
    cable: str = ""
    wire: int | None = None
    switches: tuple[str, ...] = ()
    shared: int = 0

    @property
    def role(self) -> str:
        """Describe the port's role, as shown in the table."""
        if self.wire is not None:
            return f"wire to {self.wire}"
        if self.shared:
            directions = f"{self.shared} directions" if self.shared > 1 else self.way
            return f"loop: {directions}"
        if self.switches:
            return f"slice {self.switches[0]}"
        return "" if self.port.kind == "front" else "loop"

    @property
    def way(self) -> str:
        """Describe the direction in which a looping port carries frames."""
        return " > ".join(self.switches[:2])


def uses(plan: Plan) -> list[Use]:
    """Return all ports in order."""
    chassis = plan.inventory.chassis
    peers = {
        int(port.name): peer
        for port, peer in plan.inventory.peers.items()
        if port.device == chassis.name
    }
    found: dict[int, Use] = {
        number: Use(port, peers.get(number)) for number, port in chassis.ports.items()
    }
    for experiment, name, way in plan.ways:
        for use in _of_cable(found, experiment, name, way, chassis.name):
            found[use.port.number] = use
    return [found[number] for number in sorted(found)]


def _of_cable(
    found: dict[int, Use], experiment: Experiment, name: str, way: Way, chassis: str
) -> Iterator[Use]:
    cable = experiment.wanted.cables[name]
    about = experiment.name, name
    numbers = [int(port.name) for port in way.ports if port.device == chassis]
    if way.kind == "wire":
        for one, other in (numbers, numbers[::-1]):
            yield Use(found[one].port, found[one].peer, *about, other)
    elif way.kind == "direct" and numbers:
        here = cable.upper if way.ports[-1].device == chassis else cable.lower
        yield Use(found[numbers[0]].port, found[numbers[0]].peer, *about, None, (here,))
    ends = (cable.lower, cable.upper)
    for loop, pair in zip(way.loops, (ends, ends[::-1]), strict=False):
        before = found[loop]
        shared = before.shared + 1
        yield Use(
            before.port,
            None,
            experiment.name if before.experiment in ("", experiment.name) else "several",
            name if shared == 1 else "",
            None,
            (*before.switches, *pair),
            shared,
        )
