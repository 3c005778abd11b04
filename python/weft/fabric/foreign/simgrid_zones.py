# SPDX-License-Identifier: LGPL-2.1-only
"""Zones of a SimGrid platform, as hosts, switches and cables.

Hosts, routers, links and routes of all zones are merged into one graph
(`weft.fabric.foreign.simgrid_routes`): the route between two zones joins their gateways. Each host
of a <cluster> or <cabinet> has a cable to a switch, which a backbone, if present, connects to the
router (SimGrid, docs/source/Platform_examples.rst). Hosts that forward traffic get a router.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from xml.etree import ElementTree

from weft.base.units import plural
from weft.fabric.foreign.simgrid_routes import (
    PlatformGraph,
    PlatformLink,
    PlatformRoute,
    buses,
    graph_of,
    in_series,
    policy_of,
)
from weft.fabric.foreign.topology import (
    MOST_NODES,
    ForeignCable,
    ForeignTopology,
    bits_per_second,
    seconds,
    unique,
)

AS_IT_IS = "`weft run --platform FILE.xml` takes the platform as it is"
_WITH_ROUTES = ("full", "floyd", "dijkstra", "dijkstracache", "none")
_SEARCHING = ("floyd", "dijkstra", "dijkstracache")
"""Routings that chain the routes of a zone, so that hosts also forward."""
_BYPASSES = ("bypassRoute", "bypassASroute", "bypassASRoute", "bypassZoneRoute")


def rate_and_latency(
    element: ElementTree.Element, rate_key: str, latency_key: str
) -> tuple[float, float]:
    """Return bits per second and seconds of an element. Raises `ValueError` with a clause."""
    rate_text, latency_text = element.get(rate_key, ""), element.get(latency_key, "0")
    rate = bits_per_second(rate_text)
    latency = 0.0 if re.fullmatch(r"0*\.?0*", latency_text.strip()) else seconds(latency_text)
    if not rate or latency is None:
        raise ValueError(
            f"found {rate_key} '{rate_text}' and {latency_key} '{latency_text}'; write them"
            " with units, such as 12.5GBps and 1us"
        )
    return rate, latency


def numbers(radical: str) -> list[int]:
    """Return the host numbers of a cluster, such as `0-3,7`. Raises `ValueError` with a clause."""
    ranges = []
    for part in radical.split(","):
        match = re.fullmatch(r"\s*(\d{1,9})(?:-(\d{1,9}))?\s*", part)
        if match is None:
            raise ValueError(f"found radical '{radical}'; write numbers, such as 0-15")
        ranges.append(range(int(match[1]), int(match[2] or match[1]) + 1))
    count = sum(map(len, ranges))
    if not 0 < count <= MOST_NODES:
        raise ValueError(f"radical states {count} hosts; allowed are 1 to {MOST_NODES}")
    return [number for some in ranges for number in some]


def read(root: ElementTree.Element) -> ForeignTopology:
    """Return the graph of a platform. Raises `ValueError` with a clause."""
    platform = _Platform()
    for element in root:
        platform.add(element, "")
    platform.check()
    platform.replace_buses()
    try:
        graph = graph_of([*platform.hosts, *platform.routers], platform.links, platform.routes)
    except ValueError as error:
        raise ValueError(f"{error}; {AS_IT_IS}") from None
    return _topology(platform, graph)


@dataclass
class _Platform:
    """Content of all zones."""

    hosts: list[str] = field(default_factory=list)
    routers: list[str] = field(default_factory=list)
    links: dict[str, PlatformLink] = field(default_factory=dict)
    routes: list[PlatformRoute] = field(default_factory=list)
    forwarding: set[str] = field(default_factory=set)
    """Hosts that routes between other hosts may cross, because of the routing or as gateways."""
    notes: list[str] = field(default_factory=list)

    def add(self, element: ElementTree.Element, routing: str) -> None:
        """Add an element of the platform, or of a zone with this routing."""
        tag, name = element.tag, element.get("id", "")
        if tag in ("zone", "AS"):
            self._add_zone(element)
        elif tag == "host":
            self.hosts.append(name)
        elif tag == "router":
            self.routers.append(name)
        elif tag == "link":
            self._add_link(element)
        elif tag == "cluster":
            self._add_cluster(element)
        elif tag in ("route", "zoneRoute", "ASroute", "ASRoute"):
            self._add_route(element, routing)
        elif tag in ("peer", "include", "trunk"):
            raise ValueError(f"weft does not read <{tag}> of a platform; {AS_IT_IS}")
        elif tag in _BYPASSES and "bypasses of routes left out" not in self.notes:
            self.notes.append("bypasses of routes left out")

    def check(self) -> None:
        """Raise `ValueError` with a clause for names that repeat or do not exist."""
        names: set[str] = set()
        for name in (*self.hosts, *self.routers):
            if name in names:
                raise ValueError(f"two hosts or routers have the name {name}; {AS_IT_IS}")
            names.add(name)
        for route in self.routes:
            said = f"the route from {route.source} to {route.target}"
            for end in (route.source, route.target):
                if end not in names:
                    raise ValueError(f"{said} names {end}, which is neither a host nor a router")
            for link in route.links:
                if link not in self.links:
                    raise ValueError(f"{said} crosses {link}, which is no link")
            if not route.links:
                raise ValueError(f"{said} crosses no link; {AS_IT_IS}")

    def replace_buses(self) -> None:
        """Replace links that connect more than two nodes with switches."""
        found = buses([*self.hosts, *self.routers], self.links, self.routes)
        self.routers += found.names.values()
        self.links |= found.links
        self.routes = found.routes
        if found.names:
            self.notes.append(
                f"{plural(len(found.names), 'link')} between several nodes read as a switch, whose"
                f" cables have its rate each ({next(iter(found.names))})"
            )

    def _add_zone(self, zone: ElementTree.Element) -> None:
        routing = zone.get("routing", "").lower()
        if routing == "cluster":
            self._add_cabinets(zone)
        elif routing in _WITH_ROUTES:
            for child in zone:
                self.add(child, routing)
        else:
            raise ValueError(
                f"zone {zone.get('id')} has the routing {zone.get('routing')}, which states no"
                f" cables; {AS_IT_IS}"
            )

    def _add_link(self, link: ElementTree.Element) -> None:
        policy = link.get("sharing_policy", "SHARED").upper()
        if policy == "WIFI":
            raise ValueError(f"link {link.get('id')} is a wireless network; {AS_IT_IS}")
        self.links[link.get("id", "")] = PlatformLink(
            *rate_and_latency(link, "bandwidth", "latency"), policy
        )

    def _add_route(self, route: ElementTree.Element, routing: str) -> None:
        prefix = "" if route.tag == "route" else "gw_"
        source, target = route.get(f"{prefix}src", ""), route.get(f"{prefix}dst", "")
        if source == target:
            return
        links = tuple(self._link_named(one.get("id", "")) for one in route.iter("link_ctn"))
        symmetric = route.get("symmetrical", "YES").upper() in ("YES", "TRUE")
        self.routes.append(PlatformRoute(source, target, links, symmetric))
        if prefix or routing in _SEARCHING:
            self.forwarding |= {source, target}

    def _link_named(self, name: str) -> str:
        """Return the link of a name, which may include the direction: `l_UP`."""
        whole = re.sub(r"_(?:UP|DOWN)$", "", name)
        return whole if name not in self.links and whole in self.links else name

    def _add_cable(self, one: str, other: str, link: PlatformLink) -> None:
        name = f"{one} {other}"
        self.links[name] = link
        self.routes.append(PlatformRoute(one, other, (name,)))

    def _add_cluster(self, cluster: ElementTree.Element) -> None:
        name = cluster.get("id", "")
        if cluster.get("topology", "FLAT").upper() != "FLAT":
            raise ValueError(
                f"cluster {name} is a {cluster.get('topology')}, and not the only one; {AS_IT_IS}"
            )
        ends = cluster.get("prefix", ""), cluster.get("suffix", "")
        router = cluster.get("router_id") or f"{ends[0]}{name}_router{ends[1]}"
        self.routers.append(router)
        hub = router
        if cluster.get("bb_bw"):
            hub = f"{name}.hub"
            self.routers.append(hub)
            backbone = PlatformLink(*rate_and_latency(cluster, "bb_bw", "bb_lat"), "SPLITDUPLEX")
            self._add_cable(hub, router, backbone)
            self._leave_out_backbone()
        self._add_hosts(cluster, hub)

    def _add_hosts(self, cluster: ElementTree.Element, hub: str) -> None:
        """Add the hosts of a <cluster> or <cabinet>, each with a cable to its switch."""
        policy = cluster.get("sharing_policy", "SPLITDUPLEX").upper()
        link = PlatformLink(*rate_and_latency(cluster, "bw", "lat"), policy)
        for number in numbers(cluster.get("radical", "")):
            host = f"{cluster.get('prefix', '')}{number}{cluster.get('suffix', '')}"
            self.hosts.append(host)
            self._add_cable(host, hub, link)

    def _add_cabinets(self, zone: ElementTree.Element) -> None:
        """Add a zone in which each host has a link."""
        hub = f"{zone.get('id')}.hub"
        self.routers.append(hub)
        for child in zone:
            if child.tag == "cabinet":
                self._add_hosts(child, hub)
            elif child.tag != "host_link":
                self.add(child, "cluster")
        for router in zone.findall("router"):
            backbone = zone.find("backbone")
            link = PlatformLink(float("inf"), 0.0)
            if backbone is not None:
                link = PlatformLink(*rate_and_latency(backbone, "bandwidth", "latency"))
                self._leave_out_backbone()
            self._add_cable(hub, router.get("id", ""), link)
        for own in zone.findall("host_link"):
            names = [self._link_named(own.get(way, "")) for way in ("up", "down")]
            for name in names:
                if name not in self.links:
                    raise ValueError(f"host_link {own.get('id')} names {name}, which is no link")
            slower = min((self.links[name] for name in names), key=lambda one: one.bps)
            policy = slower.policy if names[0] == names[1] else "SPLITDUPLEX"
            self._add_cable(
                own.get("id", ""), hub, PlatformLink(slower.bps, slower.latency_s, policy)
            )

    def _leave_out_backbone(self) -> None:
        note = "backbones within clusters left out: their switches are no bottleneck"
        self.notes += [] if note in self.notes else [note]


def _topology(platform: _Platform, graph: PlatformGraph) -> ForeignTopology:
    """Return cables between hosts and switches, with a router for each forwarding host."""
    hosts = set(platform.hosts)
    near: dict[str, set[str]] = defaultdict(set)
    for edge in graph.edges:
        near[edge.one].add(edge.other)
        near[edge.other].add(edge.one)
    forwards = [
        host
        for host in platform.hosts
        if host in graph.crossed or (host in platform.forwarding and len(near[host]) > 1)
    ]
    for loop, node in graph.loops.items():
        if node in hosts:
            raise ValueError(f"link {loop} leads from {node} back to it; {AS_IT_IS}")
    names = unique((name, name) for name in (*platform.hosts, *platform.routers, *graph.added))
    routers = {host: f"{names[host]}.router" for host in forwards}
    rates = dict.fromkeys(forwards, 0.0)
    dead = _dead_ends(near, hosts)
    cables = []
    for edge in graph.edges:
        link = in_series(edge, platform.links)
        ends = (edge.one, edge.other)
        if dead & set(ends):
            continue
        for end in ends:
            if end in rates:
                rates[end] += link.bps
        one, other = (routers.get(end, names[end]) for end in ends)
        cables.append(ForeignCable(one, other, _finite(link.bps), link.latency_s))
    inner = [
        ForeignCable(names[host], routers[host], _finite(rates[host]), 0.0) for host in forwards
    ]
    switches = [name for name in (*platform.routers, *graph.added) if name not in dead]
    return ForeignTopology(
        [names[host] for host in platform.hosts],
        [*(names[name] for name in switches), *routers.values()],
        [*inner, *cables],
        _notes(platform, graph, len(routers)),
    )


def _finite(bps: float) -> float | None:
    return None if bps == float("inf") else bps


def _dead_ends(near: Mapping[str, set[str]], hosts: set[str]) -> set[str]:
    """Return the routers on no path between hosts, such as the router of a single cluster."""
    left = {node: set(others) for node, others in near.items()}
    found: set[str] = set()
    waiting = [node for node, others in left.items() if node not in hosts and len(others) < 2]
    while waiting:
        node = waiting.pop()
        found.add(node)
        for other in left[node]:
            left[other].discard(node)
            if other not in hosts and len(left[other]) == 1:
                waiting.append(other)
    return found


def _notes(platform: _Platform, graph: PlatformGraph, routers: int) -> Sequence[str]:
    notes = ["speed and cores of its hosts are not taken", *platform.notes]
    if routers:
        notes.append(f"{plural(routers, 'host')} that routes cross behind a router each")
    if graph.loops:
        notes.append(
            f"{plural(len(graph.loops), 'link')} that all routes of a switch cross left out"
            f" ({next(iter(graph.loops))}): the switch is no bottleneck"
        )
    policies = [policy_of(edge, platform.links) for edge in graph.edges if edge.ways == 2]
    if shared := policies.count("SHARED"):
        notes.append(f"directions of {plural(shared, 'link')} share a rate in SimGrid, not here")
    if unlimited := policies.count("FATPIPE"):
        notes.append(f"{plural(unlimited, 'link')} without contention (FATPIPE) read as cables")
    if graph.detours:
        notes.append(f"{plural(graph.detours, 'route')} longer than the shortest not kept")
    return notes
