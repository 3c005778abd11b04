# SPDX-License-Identifier: LGPL-2.1-only
"""Graph behind the routes of a SimGrid platform.

A platform lists the links that each route crosses, but not what the links connect. Consecutive
links of a route share an end, the first one starts at the route's source and the last one ends at
its destination. `graph_of` merges ends until every route is a walk from its source to its
destination. A link whose two ends merge is a medium that all routes of a switch cross: a backbone.
A link that connects several pairs of nodes without other links is also a medium: `buses` converts
it to a switch.
"""

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class PlatformLink:
    """Link of a platform."""

    bps: float
    latency_s: float
    policy: str = "SHARED"
    """Sharing policy, in capitals."""


@dataclass(frozen=True)
class PlatformRoute:
    """Links from one node to another."""

    source: str
    target: str
    links: tuple[str, ...]
    symmetric: bool = True
    """True if the reverse route crosses the same links."""


@dataclass(frozen=True)
class Edge:
    """Link between two nodes."""

    one: str
    other: str
    links: tuple[str, ...]
    """Several links if links in series form one cable."""
    ways: int
    """Number of directions in which routes cross the edge: 1 or 2."""


@dataclass
class PlatformGraph:
    """Nodes and links that the routes describe."""

    edges: list[Edge] = field(default_factory=list)
    added: list[str] = field(default_factory=list)
    """Nodes without a name in the platform, implied by routes of several links."""
    loops: dict[str, str] = field(default_factory=dict)
    """Links whose two ends are the same node, with this node."""
    crossed: set[str] = field(default_factory=set)
    """Nodes between the ends of a route."""
    detours: int = 0
    """Number of routes with more links than the shortest path."""


class _Ends:
    """Disjoint sets of link ends that are the same node. A named node is its own end."""

    def __init__(self, named: Iterable[str]) -> None:
        self._above = {name: name for name in named}
        self._named = set(self._above)
        self._count = 0

    def fresh(self) -> str:
        """Return an end of an unknown node."""
        self._count += 1
        end = f"\0{self._count}"
        self._above[end] = end
        return end

    def find(self, end: str) -> str:
        """Return the representative end of a node; its name if it has one."""
        above = self._above
        while above[end] != end:
            above[end] = above[above[end]]
            end = above[end]
        return end

    def merge(self, one: str, other: str, route: PlatformRoute) -> None:
        """Make two ends the same node. Raises `ValueError` if they have different names."""
        one, other = self.find(one), self.find(other)
        if one == other:
            return
        if {one, other} <= self._named:
            raise ValueError(
                f"the route from {route.source} to {route.target} would make {one} and {other} the"
                " same node: its links are no cables between two nodes"
            )
        if one in self._named:
            one, other = other, one
        self._above[one] = other

    def is_named(self, end: str) -> bool:
        """Return True for an end that is named in the platform."""
        return end in self._named


def graph_of(
    names: Sequence[str], links: Mapping[str, PlatformLink], routes: Sequence[PlatformRoute]
) -> PlatformGraph:
    """Return the graph of routes between named nodes. Raises `ValueError` with a clause."""
    ends = _Ends(names)
    of_link: dict[str, tuple[str, str]] = {}
    waiting = list(routes)
    while waiting:
        later = [route for route in waiting if not _placed(route, of_link, ends)]
        if len(later) == len(waiting):
            route = later[0]
            raise ValueError(
                f"the routes do not tell which ends the links {', '.join(route.links)} have"
                f" between {route.source} and {route.target}"
            )
        waiting = later
    nodes = _names_of_ends(of_link, ends, names)
    where = {
        link: (nodes[ends.find(one)], nodes[ends.find(other)])
        for link, (one, other) in of_link.items()
    }
    graph = PlatformGraph(added=[name for end, name in nodes.items() if not ends.is_named(end)])
    ways = _ways(routes, where, graph)
    for link, (one, other) in where.items():
        if one == other:
            graph.loops[link] = one
        else:
            both = links[link].policy == "SPLITDUPLEX"
            graph.edges.append(Edge(one, other, (link,), 2 if both else len(ways[link])))
    graph.edges = list(_paired(graph.edges, links, ways))
    _contract(graph)
    graph.detours = _detours(routes, where)
    return graph


@dataclass
class Buses:
    """Links that connect more than two nodes, and the links and routes that replace them."""

    names: dict[str, str] = field(default_factory=dict)
    """Name of the switch by the name of the link."""
    links: dict[str, PlatformLink] = field(default_factory=dict)
    routes: list[PlatformRoute] = field(default_factory=list)


def buses(
    names: Iterable[str], links: Mapping[str, PlatformLink], routes: Sequence[PlatformRoute]
) -> Buses:
    """Return switches for links that connect several pairs of nodes without other links.

    Each node has a cable to the switch, with the link's rate and half its latency.
    """
    taken = set(names)
    joined: dict[str, set[str]] = defaultdict(set)
    within = {link for route in routes if len(route.links) > 1 for link in route.links}
    for route in routes:
        if len(route.links) == 1 and route.links[0] not in within:
            joined[route.links[0]] |= {route.source, route.target}
    found = Buses()
    for link, nodes in joined.items():
        if len(nodes) < 3:
            continue
        found.names[link] = link if link not in taken else f"{link}.switch"
        half = replace(links[link], latency_s=links[link].latency_s / 2)
        for node in sorted(nodes):
            found.links[f"{link} {node}"] = half
            found.routes.append(PlatformRoute(node, found.names[link], (f"{link} {node}",)))
    for route in routes:
        if (link := route.links[0]) in found.names:
            route = replace(route, links=(f"{link} {route.source}", f"{link} {route.target}"))
        found.routes.append(route)
    return found


def _placed(route: PlatformRoute, of_link: dict[str, tuple[str, str]], ends: _Ends) -> bool:
    """Place a route in the graph from both ends; False if a link's orientation is ambiguous."""
    links = route.links
    here, there = route.source, route.target
    first, last = 0, len(links)
    while first < last and (end := _beyond(links[first], here, of_link, ends)) is not None:
        here, first = end, first + 1
    while first < last and (end := _beyond(links[last - 1], there, of_link, ends)) is not None:
        there, last = end, last - 1
    if first < last:
        return False
    ends.merge(here, there, route)
    return True


def _beyond(link: str, end: str, of_link: dict[str, tuple[str, str]], ends: _Ends) -> str | None:
    """Return the other end of a link; None if the link has not been placed at this end."""
    if link not in of_link:
        of_link[link] = (end, ends.fresh())
        return of_link[link][1]
    one, other = of_link[link]
    if ends.find(one) == ends.find(end):
        return other
    return one if ends.find(other) == ends.find(end) else None


def _names_of_ends(
    of_link: Mapping[str, tuple[str, str]], ends: _Ends, names: Sequence[str]
) -> dict[str, str]:
    """Return the name of each node, by its representative end."""
    taken = set(names)
    found: dict[str, str] = {}
    count = 0
    for end in (ends.find(one) for pair in of_link.values() for one in pair):
        if end in found or ends.is_named(end):
            found[end] = found.get(end, end)
            continue
        while (name := f"switch{count}") in taken:
            count += 1
        taken.add(name)
        found[end] = name
    return found


def _ways(
    routes: Sequence[PlatformRoute], where: Mapping[str, tuple[str, str]], graph: PlatformGraph
) -> dict[str, set[str]]:
    """Return the nodes from which routes enter each link, and record the nodes that they cross."""
    found: dict[str, set[str]] = defaultdict(set)
    for route in routes:
        here = route.source
        for link in route.links:
            if here != route.source:
                graph.crossed.add(here)
            one, other = where[link]
            beyond = other if here == one else one
            found[link] |= {here, beyond} if route.symmetric else {here}
            here = beyond
    return found


def _paired(
    edges: Sequence[Edge], links: Mapping[str, PlatformLink], ways: Mapping[str, set[str]]
) -> Iterator[Edge]:
    """Yield the edges; two unidirectional links in opposite directions form one cable."""
    single: dict[tuple[str, str], list[Edge]] = defaultdict(list)
    for edge in edges:
        if edge.ways != 1:
            yield edge
            continue
        (start,) = ways[edge.links[0]]
        back = (edge.other if edge.one == start else edge.one, start)
        if single[back]:
            partner = single[back].pop()
            slower = min(partner, edge, key=lambda one: in_series(one, links).bps)
            yield Edge(edge.one, edge.other, slower.links, 1)
        else:
            single[back[::-1]].append(edge)
    for some in single.values():
        yield from some


def _contract(graph: PlatformGraph) -> None:
    """Join the links of added nodes with exactly two links, which are segments of one cable."""
    at: dict[str, list[Edge]] = defaultdict(list)
    for edge in graph.edges:
        for node in (edge.one, edge.other):
            at[node].append(edge)
    gone: set[str] = set()
    for node in graph.added:
        if len(at[node]) != 2:
            continue
        pair = at.pop(node)
        near, far = (edge.other if edge.one == node else edge.one for edge in pair)
        if near == far:
            at[node] = pair
            continue
        joined = Edge(near, far, (*pair[0].links, *pair[1].links), min(one.ways for one in pair))
        for end in (near, far):
            at[end] = [*(edge for edge in at[end] if edge not in pair), joined]
        gone.add(node)
    graph.added = [node for node in graph.added if node not in gone]
    unique = {id(edge): edge for some in at.values() for edge in some}
    graph.edges = list(unique.values())


def _detours(routes: Sequence[PlatformRoute], where: Mapping[str, tuple[str, str]]) -> int:
    """Return the number of routes with more links than the shortest path."""
    near: dict[str, set[str]] = defaultdict(set)
    for one, other in where.values():
        if one != other:
            near[one].add(other)
            near[other].add(one)
    by_source: dict[str, list[PlatformRoute]] = defaultdict(list)
    for route in routes:
        by_source[route.source].append(route)
    count = 0
    for source, some in by_source.items():
        steps = {source: 0}
        waiting = deque([source])
        while waiting:
            here = waiting.popleft()
            for beyond in near[here] - steps.keys():
                steps[beyond] = steps[here] + 1
                waiting.append(beyond)
        for route in some:
            crossed = [link for link in route.links if len(set(where[link])) == 2]
            count += len(crossed) > steps[route.target]
    return count


def in_series(edge: Edge, links: Mapping[str, PlatformLink]) -> PlatformLink:
    """Return rate and latency of an edge, which may consist of several links in series."""
    parts = [links[link] for link in edge.links]
    return PlatformLink(min(one.bps for one in parts), sum(one.latency_s for one in parts))


def policy_of(edge: Edge, links: Mapping[str, PlatformLink]) -> str:
    """Return the policy of an edge that differs most from a cable's policy."""
    policies = {links[link].policy for link in edge.links}
    return next((one for one in ("FATPIPE", "SHARED") if one in policies), "SPLITDUPLEX")
