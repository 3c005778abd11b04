# SPDX-License-Identifier: LGPL-2.1-only
"""Predicted round-trip times between the hosts of a plan.

A route costs a direct round trip plus, in each direction, the cost of every device on it: a slice
or a virtual wire is one pass through the chassis, and between two slices the frame is recirculated,
which is the next slice's pass. Store-and-forward devices hold a frame until all of it has arrived;
their cost was measured with a probe's small frame, so larger frames add the difference.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from weft.base.errors import WeftError, named
from weft_testbed.hardware.cables import Port
from weft_testbed.hardware.medians import PROBE_FRAME_BYTES, measured
from weft_testbed.plan.plan import Experiment, Plan
from weft_testbed.plan.wanted_topology import Route

# Largest jumbo frame (9,000 bytes of IP, 14 of Ethernet, 4 of check sequence).
MOST_FRAME_BYTES = 9018


@dataclass(frozen=True)
class Prediction:
    """Path from one host to another and back: all counts are sums over both directions.

    `passes` is the number of passes through the chassis, `wires` that of virtual wires among them.
    `least_ns` and `most_ns` are the round trip if each device with TopoCloud's latency costs the
    least and the most of its published range, which contains the median.
    """

    source: str
    target: str
    switches: int
    passes: int
    wires: int
    recirculations: int
    layer2: int
    round_trip_ns: float
    least_ns: float
    most_ns: float


def predict(
    plan: Plan, experiment: Experiment, frame_bytes: int = PROBE_FRAME_BYTES
) -> list[Prediction]:
    """Return the round-trip time of each unordered pair of hosts."""
    check_frame(frame_bytes)
    hosts = experiment.wanted.hosts
    return [
        _prediction(plan, experiment, source, target, frame_bytes)
        for k, source in enumerate(hosts)
        for target in hosts[k + 1 :]
    ]


def check_frame(frame_bytes: int) -> None:
    """Raise an error if no Ethernet frame has this size."""
    if not PROBE_FRAME_BYTES <= frame_bytes <= MOST_FRAME_BYTES:
        raise WeftError(
            f"{named('frame_bytes')}:"
            f" found {frame_bytes}; allowed are {PROBE_FRAME_BYTES} to {MOST_FRAME_BYTES}"
            " bytes"
        )


def _prediction(
    plan: Plan, experiment: Experiment, source: str, target: str, frame_bytes: int
) -> Prediction:
    both = [experiment.wanted.routes[pair] for pair in ((source, target), (target, source))]
    kinds = [experiment.cables[cable].kind for route in both for cable in route.cables]
    places = [experiment.switches[name] for route in both for name in route.switches]
    slices = sum(isinstance(place, int) for place in places)
    wires = kinds.count("wire")
    round_trip_ns = measured().direct + sum(
        one_way_ns(plan, experiment, route, frame_bytes) for route in both
    )
    passes = slices + wires
    switches = [plan.inventory.switches[place] for place in places if isinstance(place, str)]
    ranges = [
        *passes * [_around(plan.inventory.chassis.pass_ns, measured().chassis_pass, chassis=True)],
        *(_around(switch.latency_ns, measured().l2_pass, chassis=False) for switch in switches),
    ]
    return Prediction(
        source,
        target,
        len(places),
        passes,
        wires,
        kinds.count("recirculated"),
        len(places) - slices,
        round_trip_ns,
        round_trip_ns + sum(low for low, _ in ranges),
        round_trip_ns + sum(high for _, high in ranges),
    )


def _around(pass_ns: float, median_ns: float, *, chassis: bool) -> tuple[float, float]:
    """Return the published range around TopoCloud's cost of a device, or none around another."""
    if pass_ns != median_ns:
        return 0.0, 0.0
    low, high = measured().chassis_pass_range if chassis else measured().l2_pass_range
    return low - median_ns, high - median_ns


def one_way_ns(plan: Plan, experiment: Experiment, route: Route, frame_bytes: int) -> float:
    """Return the one-way cost of the devices of a route."""
    return sum(_costs(plan, experiment, route, frame_bytes))


def _costs(plan: Plan, experiment: Experiment, route: Route, frame_bytes: int) -> Iterator[float]:
    """Yield the cost of each pass; a frame arrives at the speed of the preceding cable."""
    chassis = plan.inventory.chassis
    more_bits = 8 * (frame_bytes - PROBE_FRAME_BYTES)
    for k, name in enumerate(route.cables):
        way = experiment.cables[name]
        if way.kind == "wire":
            speed = plan.inventory.speed(way.ports[0 if _upwards(experiment, route, k) else -1])
            yield chassis.pass_ns + _held(chassis.forwarding, more_bits, speed)
        if k == len(route.switches):
            return
        place = experiment.switches[route.switches[k]]
        speed = _entering_speed(plan, experiment, name, route.switches[k])
        if isinstance(place, int):
            yield chassis.pass_ns + _held(chassis.forwarding, more_bits, speed)
        else:
            switch = plan.inventory.switches[place]
            yield switch.latency_ns + _held(switch.forwarding, more_bits, speed)


def _upwards(experiment: Experiment, route: Route, k: int) -> bool:
    """Return true if a route traverses its k-th cable from the lower to the upper end."""
    return experiment.wanted.cables[route.cables[k]].upper == route.reached[k]


def _entering_speed(plan: Plan, experiment: Experiment, cable: str, switch: str) -> int:
    end = plan.end(experiment, cable, switch)
    if isinstance(end, Port):
        return plan.inventory.speed(end)
    if end in plan.inventory.chassis.ports:
        return plan.inventory.chassis.ports[end].speed
    loops = experiment.cables[cable].loops
    return min(plan.inventory.chassis.ports[loop].speed for loop in loops)


def _held(forwarding: str, more_bits: int, speed: int) -> float:
    """Return how long a frame is held beyond the probe's, in nanoseconds."""
    return more_bits / speed * 1e9 if forwarding == "store-and-forward" else 0.0
