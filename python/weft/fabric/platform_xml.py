# SPDX-License-Identifier: LGPL-2.1-only
"""Export of a fabric as a SimGrid platform file, for `smpirun` and `weft run --platform`.

Every link of the fabric is a link of the platform with the same name. A switch is the shared link
`NAME.forwarding`, without contention, which adds the delay of forwarding a packet; a smart switch
is also a host with properties (Belbeisi et al., figure 2; all of them:
src/binding/platform/switch_properties.hpp). All routes are listed as weft routes them. The factors
of point-to-point messages and all other network settings of SimGrid are options in the file.
`losses` names the features that the format cannot express.
"""

import math
import sys
import tomllib
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast
from xml.sax.saxutils import quoteattr

from weft import _core
from weft.base.errors import WeftError, named
from weft.fabric.graph import Graph, counts

if TYPE_CHECKING:
    from weft._core import Fabric, Host, Mpi, MpiOverheads, Nic, Offload, Switch

MOST_HOSTS = 512
ENVELOPE_BYTES = _core.SMPI_ENVELOPE_BYTES
# Speed of a switch as a host (Belbeisi et al., CF '26, figure 2); its computation is not timed.
_SWITCH_SPEED = "100Gf"
# Forwarding links are faster than every cable, so that they only add delay.
_FASTER = 100

# Tables that have no equivalent outside weft.
_UNSAYABLE = (
    *("routing", "policy", "multicast", "progress_engine", "noise", "disk", "storage"),
    "network",
)
# Placement of tree roots, named as in src/binding/platform/switch_properties.hpp.
_MEETING = {"star": "centre", "fat_tree": "centre"}
# Preset of a switch that is fully described by its properties.
_NO_PRESET = "none"

# Links of a route, and the switches along it.
_Way = tuple[Sequence[str], Sequence[str]]


def render(fabric: "Fabric") -> Iterator[str]:
    """Yield the lines of the file."""
    if len(fabric.hosts) > MOST_HOSTS:
        raise WeftError(
            f"{named('output')}:"
            f" {fabric.name} has {len(fabric.hosts):,} hosts, but a platform file lists all routes"
            f" between hosts and is limited to {MOST_HOSTS}; export to .dot, or run on the"
            " fabric itself"
        )
    return _Platform(fabric).lines()


def losses(fabric: "Fabric") -> list[str]:
    """Return the features of a fabric that a platform file cannot express, by name."""
    file = tomllib.loads(Path(fabric.file).read_text(encoding="utf-8"))
    lost = [f"[{table}]" for table in _UNSAYABLE if table in file]
    factors = {(row["latency_factor"], row["bandwidth_factor"]) for row in fabric.point_to_point}
    if factors != {(1.0, 1.0)}:
        lost.append("[[point_to_point]], except for a message without contention between two hosts")
    if "mpi" in file:
        text = "[mpi] for messages without payload (no cost) or within a host (as between hosts)"
        if file["mpi"].get("progress") != "thread":
            text += ", and progress only inside MPI calls (progress, rendezvous)"
        lost.append(text)
    nic = fabric.nic
    if nic["calls"] or nic["reduce_scatter"] != "parts" or nic["packet_copy_rate_Bps"] < math.inf:
        lost.append("[nic] costs by size, packet copies, and Reduce_scatter as Allreduce")
    if nic["message_rate_per_s"] < math.inf:
        lost.append("[nic] message_rate")
    if fabric.stripes > 1:
        lost.append("messages divided over several cables of a host (they take one)")
    if _hosts_cost(fabric.host):
        lost.append("[host] costs of reductions and copies, or messages within a host (loopback)")
    hosts = len(fabric.hosts)
    ends = [(cable["lower"], cable["upper"]) for cable in fabric.cables()]
    if len(set(ends)) < len(ends) and any(lower >= hosts for lower, _ in ends):
        lost.append("parallel cables (trees may bypass the switches that they connect)")
    if any(switch["looks_up_by"] for switch in fabric.switches):
        lost.append("[switch.forwarding] (only the latency of a cache hit is included)")
    return lost


def _hosts_cost(host: "Host") -> bool:
    """Return true if hosts have any costs except the loopback's."""
    overheads = (
        *(host["message_overhead_s"], host["piece_overhead_s"], host["intersocket_latency_s"]),
    )
    rates = (
        *(host["copy_rate_Bps"], host["memory_bandwidth_Bps"], host["reduction_rate_Bps"]),
        *(host["shared_cache_rate_Bps"], host["core_memory_rate_Bps"]),
        host["intersocket_rate_Bps"],
    )
    return max(overheads) > 0 or min(rates) < math.inf


class _Platform:
    def __init__(self, fabric: "Fabric") -> None:
        self.fabric = fabric
        self.graph = Graph(fabric)
        hosts = range(len(self.graph.hosts))
        smart = (
            vertex
            for vertex, switch in enumerate(self.graph.switches, len(hosts))
            if switch["smart"]
        )
        self.vertices = [*hosts, *smart]
        self.delayed = {
            switch["name"] for switch in self.graph.switches if switch["forwarding_latency_s"] > 0
        }

    def lines(self) -> Iterator[str]:
        yield "<?xml version='1.0'?>"
        yield '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">'
        yield f"<!-- {_comment(f'{self.fabric.name}: {counts(self.fabric)}.')}"
        yield "     Smart switches are hosts here: give smpirun a host file without them. -->"
        yield '<platform version="4.1">'
        yield from self._options()
        yield f'  <zone id={quoteattr(self.fabric.name)} routing="Full">'
        yield from self._hosts()
        yield from self._switches()
        yield from self._links()
        yield from self._routes()
        yield "  </zone>"
        yield "</platform>"

    def _options(self) -> Iterator[str]:
        host = self.fabric.host
        options = {
            "network/crosstraffic": "no",
            "network/TCP-gamma": "0",
            "network/weight-S": "0",
            "network/latency-factor": self._factors("latency_factor"),
            "network/bandwidth-factor": self._factors("bandwidth_factor"),
            "network/loopback-bw": _number(host["loopback_bandwidth_Bps"]),
            "network/loopback-lat": _number(host["loopback_latency_s"]),
            **_mpi_options(self.fabric.mpi),
        }
        yield "  <config>"
        for key, value in options.items():
            yield f'    <prop id="{key}" value="{value}"/>'
        yield "  </config>"

    def _factors(self, which: Literal["latency_factor", "bandwidth_factor"]) -> str:
        """Return the factors by segment; SimGrid's segments begin above the size that they name."""
        first, *others = self.fabric.point_to_point
        pairs = [(0, first[which])]
        for segment in others:
            pairs.append((math.ceil(segment["from_bytes"]) + ENVELOPE_BYTES - 1, segment[which]))
        return ";".join(f"{size}:{_number(factor)}" for size, factor in pairs)

    def _hosts(self) -> Iterator[str]:
        host = self.fabric.host
        speed = f'speed="{_number(host["speed_flops"])}f" core="{host["cores"]}"'
        for number, name in enumerate(self.graph.hosts):
            yield f"    <host id={quoteattr(name)} {speed}>"
            yield f'      <prop id="number" value="{number}"/>'
            yield "    </host>"

    def _switches(self) -> Iterator[str]:
        for vertex in self.vertices[len(self.graph.hosts) :]:
            switch = self.graph.switches[vertex - len(self.graph.hosts)]
            yield f'    <host id={quoteattr(switch["name"])} speed="{_SWITCH_SPEED}">'
            own = _properties(switch, self.fabric.nic, self._across_pipes_s(vertex, switch))
            own["meeting"] = _MEETING.get(self.fabric.topology, "next-to-hosts")
            own["number"] = str(vertex)
            for key, value in own.items():
                yield f'      <prop id="{key}" value={quoteattr(value)}/>'
            yield "    </host>"

    def _across_pipes_s(self, vertex: int, switch: "Switch") -> float:
        """Return the extra time of a result across pipelines: platforms do not model ports."""
        ports = [one["upper_port"] for one in self.graph.cables if one["upper"] == vertex]
        pipes = {port // switch["pipe_ports"] for port in ports if switch["pipe_ports"]}
        return switch["pipe_latency_s"] if len(pipes) > 1 else 0.0

    def _links(self) -> Iterator[str]:
        fastest = max(cable["bandwidth_Bps"] for cable in self.graph.cables)
        for switch in self.graph.switches:
            if switch["name"] in self.delayed:
                name = _forwarding(switch["name"])
                numbers = _numbers(_FASTER * fastest, switch["forwarding_latency_s"])
                yield f'    <link id={quoteattr(name)} {numbers} sharing_policy="FATPIPE"/>'
        for cable in self.graph.cables:
            numbers = _numbers(cable["bandwidth_Bps"], cable["latency_s"])
            for direction in ("up", "down"):
                name = quoteattr(f"{cable['name']}.{direction}")
                yield f"    <link id={name} {numbers}/>"
        for number, medium in enumerate(self.fabric.shared):
            numbers = _numbers(medium["bandwidth_Bps"], 0)
            yield f"    <link id={quoteattr(_shared(number))} {numbers}/>"

    def _routes(self) -> Iterator[str]:
        switches = self.vertices[len(self.graph.hosts) :]
        for destination in self.vertices:
            ways = self._ways_to(destination)
            if destination in switches:
                ways |= self._ways_on(destination, switches, ways)
            for source in self.vertices:
                if source != destination:
                    yield from self._route(source, destination, ways[source])

    def _ways_to(self, destination: int) -> dict[int, _Way]:
        """Return the routes from all hosts and, to a host, also the routes from all switches."""
        hosts = len(self.graph.hosts)
        sources = self.vertices if destination < hosts else range(hosts)
        ways = {
            source: self.fabric.route(source, destination)
            for source in sources
            if source != destination
        }
        return {source: (way["links"], way["through"]) for source, way in ways.items()}

    def _ways_on(
        self, switch: int, others: Sequence[int], ways: Mapping[int, _Way]
    ) -> dict[int, _Way]:
        """Return the routes from all other switches, along the routes of host packets."""
        vertex_of = {self.graph.name(vertex): vertex for vertex in others}
        tails: dict[int, _Way] = {}
        for links, through in ways.values():
            for place, name in enumerate(through):
                if name in vertex_of:
                    tails[vertex_of[name]] = links[place + 1 :], through[place + 1 :]
        missing = set(others) - set(tails) - {switch}
        return tails | (self._shortest_ways(switch, missing) if missing else {})

    def _shortest_ways(self, destination: int, sources: Iterable[int]) -> dict[int, _Way]:
        """Return routes that weft never uses: SimGrid requires a route between any two hosts."""
        towards: dict[int, tuple[str, int]] = {}
        waiting = deque([destination])
        while waiting:
            at = waiting.popleft()
            for link, neighbour in self._links_to[at]:
                if neighbour not in towards and neighbour != destination:
                    towards[neighbour] = link, at
                    waiting.append(neighbour)
        return {source: self._follow(towards, source, destination) for source in sources}

    def _follow(
        self, towards: Mapping[int, tuple[str, int]], source: int, destination: int
    ) -> _Way:
        links: list[str] = []
        through: list[str] = []
        at = source
        while at != destination:
            link, at = towards[at]
            links.append(link)
            through.append(self.graph.name(at))
        return links, through[:-1]

    @cached_property
    def _links_to(self) -> dict[int, list[tuple[str, int]]]:
        """Links that end at each vertex, with the switches at their opposite ends."""
        links: dict[int, list[tuple[str, int]]] = defaultdict(list)
        for cable in self.graph.cables:
            if cable["lower"] >= len(self.graph.hosts):
                links[cable["upper"]].append((f"{cable['name']}.up", cable["lower"]))
                links[cable["lower"]].append((f"{cable['name']}.down", cable["upper"]))
        return links

    def _route(self, source: int, destination: int, way: _Way) -> Iterator[str]:
        ends = f"src={self._quoted_names[source]} dst={self._quoted_names[destination]}"
        links, through = way
        parts = [links[0]]
        for switch, link in zip(through, links[1:], strict=True):
            parts += [_forwarding(switch), link] if switch in self.delayed else [link]
        parts += [self._shared_by[link] for link in links if link in self._shared_by]
        listed = "".join(f"<link_ctn id={quoteattr(part)}/>" for part in parts)
        yield f'    <route {ends} symmetrical="NO">{listed}</route>'

    @cached_property
    def _shared_by(self) -> dict[str, str]:
        """Shared link that a packet crosses in addition to each link."""
        return {
            link: _shared(number)
            for number, medium in enumerate(self.fabric.shared)
            for link in medium["links"]
        }

    @cached_property
    def _quoted_names(self) -> dict[int, str]:
        return {vertex: quoteattr(self.graph.name(vertex)) for vertex in self.vertices}


def _shared(number: int) -> str:
    """Return the name of a link shared by several links."""
    return f"weft.shared.{number}"


def _properties(switch: "Switch", nic: "Nic", across_pipes_s: float) -> dict[str, str]:
    """Return the properties of a smart switch, in bytes and seconds as in the paper."""
    values = cast("Mapping[str, Any]", switch)
    properties = {
        "preset": switch["preset"] or _NO_PRESET,
        **{key: values[name] for key, name in _core.switch_properties()},
        "processing_latency": switch["processing_latency_s"] + across_pipes_s,
        "turnaround": switch["turnaround_s"] + across_pipes_s,
        "offload": _offload(switch["offload"]),
        "offload_overhead": nic["offload_overhead_s"],
        "message_gap": nic["message_gap_s"],
        "offload_copy_rate": nic["offload_copy_rate_Bps"],
        "contributions": nic["contributions"],
        "host_reduce": nic["host_reduce"],
        "host_bcast": nic["host_bcast"],
    }
    # Omitted if infinite (for no limit), a count of zero, or the default.
    usual = {"contributions": "per-rank", "host_reduce": "binomial", "host_bcast": "binomial"}
    return {
        key: _number(value) if isinstance(value, float) else str(value)
        for key, value in properties.items()
        if value != math.inf and not (isinstance(value, int) and value == 0)
        if usual.get(key) != value
    }


def _offload(rows: "Sequence[Offload]") -> str:
    """Return the offloaded calls and their mechanism: `allreduce MPI_INT,MPI_LONG MPI_SUM; …`."""
    return "; ".join(
        " ".join(
            word
            for word in (
                ",".join(row["collectives"]),
                ",".join(row["datatypes"]),
                ",".join(row["operations"]),
                row["conversion"],
                _number(row["conversion_rate_Bps"]) if row["conversion"] else "",
            )
            if word
        )
        for row in rows
    )


def _forwarding(switch: str) -> str:
    return f"{switch}.forwarding"


def _numbers(bandwidth: float, latency: float) -> str:
    return f'bandwidth="{_number(bandwidth)}Bps" latency="{_number(latency)}s"'


def _mpi_options(mpi: "Mpi | None") -> dict[str, str]:
    if mpi is None:
        return {}
    eager = int(mpi["eager_threshold_bytes"])
    send, receive = (_mpi_costs(mpi, eager, side) for side in ("send", "receive"))
    return {
        "smpi/send-is-detached-thresh": str(eager),
        "smpi/async-small-thresh": str(eager),
        "smpi/os": send,
        "smpi/ois": send,
        "smpi/or": receive,
    }


def _mpi_costs(mpi: "Mpi", eager: int, side: Literal["send", "receive"]) -> str:
    """Return SMPI's option for these costs: segments of `lower size:fixed:per byte`."""
    rows: list[tuple[int, Mpi | MpiOverheads]] = [(0, mpi)]
    rows += [(int(row["from_bytes"]), row) for row in mpi["overheads"]]
    ends = [start for start, _ in rows[1:]] + [sys.maxsize]
    pieces = []
    for (start, row), end in zip(rows, ends, strict=True):
        if side == "send":
            fixed, rate = row["send_overhead_s"], row["send_copy_rate_Bps"]
        else:
            fixed, rate = row["receive_overhead_s"], row["receive_copy_rate_Bps"]
        if start < eager:
            pieces.append((start, fixed, 1 / rate))
        # rendezvous copies nothing
        if end > eager:
            pieces.append((max(start, eager), fixed, 0.0))
    # SMPI applies a segment to messages larger than its first size.
    return ";".join(
        f"{max(0, start - 1)}:{_number(fixed)}:{_number(per_byte)}"
        for start, fixed, per_byte in pieces
    )


def _number(value: float) -> str:
    """Return the shortest text that represents the number exactly."""
    return str(int(value)) if value == int(value) else repr(value)


def _comment(text: str) -> str:
    """Return the text without comment terminators."""
    return text.replace("--", "- -")
