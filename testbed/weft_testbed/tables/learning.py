# SPDX-License-Identifier: LGPL-2.1-only
"""First packets between two hosts whose switches learn addresses, as TopoCloud's Ethernet switch.

Plans fill tables in advance, so nothing is learned (tables.py). TopoCloud's switch learns MAC
addresses (section III): its control plane adds an entry some time after the first frame of a
source, and until then frames to that source are flooded. A flooded frame takes as long as another
one, since the chassis copies cut-through, but all hosts receive it. Flooding needs a loop-free
topology, so all frames follow the spanning tree of broadcasts, whose paths may be longer than
weft's routes.

The flight of a frame, about a microsecond, is neglected beside the time of learning: all switches
see a frame at the instant at which it is sent.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from weft.base.errors import WeftError, named
from weft_testbed.hardware.medians import PROBE_FRAME_BYTES, measured
from weft_testbed.plan.latency import check_frame, one_way_ns
from weft_testbed.plan.plan import Experiment, Plan
from weft_testbed.plan.wanted_topology import Route
from weft_testbed.tables.tables import broadcast_tree

MOST_PACKETS = 10_000


@dataclass(frozen=True)
class Exchange:
    """A request and its reply: the exchange of ARP, or a ping.

    `flooding` counts the switches that flooded the request or the reply, `copies` the frames that
    reached hosts other than the two.
    """

    packet: str
    round_trip_ns: float
    flooding: int
    copies: int


@dataclass
class _Network:
    """Spanning tree, and by switch and address the cable learned, with the time of the entry."""

    experiment: Experiment
    learning_ms: float
    tree: dict[str, list[str]]
    learned: dict[tuple[str, str], tuple[float, str]] = field(default_factory=dict)

    def send(self, source: str, target: str | None, now_ms: float) -> tuple[int, int]:
        """Send a frame, to all without a target; return flooding switches and frames of others."""
        flooding = copies = 0
        (first,) = self._cables(source)
        frames = [(first, source)]
        while frames:
            cable, came_from = frames.pop()
            at = self.experiment.wanted.cables[cable].other(came_from)
            if at not in self.tree:
                copies += at != target
                continue
            self.learned.setdefault((at, source), (now_ms + self.learning_ms, cable))
            since, known = self.learned.get((at, target or ""), (None, ""))
            if since is not None and since <= now_ms:
                leaves = [known]
            else:
                leaves = self.tree[at]
                flooding += target is not None
            frames += [(one, at) for one in leaves if one != cable]
        return flooding, copies

    def _cables(self, host: str) -> Iterator[str]:
        return (
            cable.name
            for cable in self.experiment.wanted.at[host]
            if cable.name in self.tree.get(cable.other(host), ())
        )

    def route(self, source: str, target: str) -> Route:
        """Return the path in the spanning tree."""
        cables = self.experiment.wanted.cables
        paths: list[tuple[str, tuple[str, ...], tuple[str, ...]]] = [
            (source, (cable,), ()) for cable in self._cables(source)
        ]
        while paths:
            came_from, taken, through = paths.pop()
            at = cables[taken[-1]].other(came_from)
            if at == target:
                return Route((source, target), taken, through)
            paths += [
                (at, (*taken, one), (*through, at))
                for one in self.tree.get(at, ())
                if one != taken[-1]
            ]
        raise WeftError(
            f"{named('target')}: no switch connects {source} with {target}; a cable between two"
            " hosts has no switch that learns"
        )


def first_packets(
    plan: Plan,
    experiment: Experiment,
    hosts: tuple[str, str],
    *,
    learning_ms: float,
    gap_ms: float = 1.0,
    packets: int = 4,
    frame_bytes: int = PROBE_FRAME_BYTES,
) -> list[Exchange]:
    """Return the exchange of ARP and the first pings from one host to another.

    The request of ARP is broadcast when no switch knows either host; the pings follow it, the first
    at once and the others a gap apart. TopoCloud's probe waits 1 ms between pings (section III).
    """
    _check(experiment, hosts, learning_ms, gap_ms, packets)
    check_frame(frame_bytes)
    source, target = hosts
    network = _Network(experiment, learning_ms, broadcast_tree(experiment))
    ways = (network.route(source, target), network.route(target, source))
    trip = measured().direct + sum(one_way_ns(plan, experiment, way, frame_bytes) for way in ways)
    found: list[Exchange] = []
    for number in range(packets + 1):
        now_ms = max(number - 1, 0) * gap_ms
        request = network.send(source, target if number else None, now_ms)
        reply = network.send(target, source, now_ms)
        others = request[1] + reply[1] - (0 if number else 1)
        found.append(Exchange(str(number or "ARP"), trip, request[0] + reply[0], others))
    return found


def _check(
    experiment: Experiment,
    hosts: tuple[str, str],
    learning_ms: float,
    gap_ms: float,
    packets: int,
) -> None:
    for name, host in zip(("source", "target"), hosts, strict=True):
        if host not in experiment.wanted.hosts:
            known = ", ".join(experiment.wanted.hosts[:8])
            raise WeftError(f"{named(name)}: found '{host}'; the hosts are {known}, …")
    if hosts[0] == hosts[1]:
        raise WeftError(f"{named('target')}: found '{hosts[1]}', the source; name another host")
    for name, value in (("learning_ms", learning_ms), ("gap_ms", gap_ms)):
        if not 0 <= value < float("inf"):
            raise WeftError(f"{named(name)}: found {value:g}; write a number of ms, 0 or more")
    if not 1 <= packets <= MOST_PACKETS:
        raise WeftError(f"{named('packets')}: found {packets}; allowed are 1 to {MOST_PACKETS}")
