# SPDX-License-Identifier: LGPL-2.1-only
"""Graph of a fabric for drawing: levels, groups, and bundles of parallel cables.

Everything here is derived from the cables, so it applies to every topology. A mark is drawn once: a
switch, a host, or all hosts that are cabled to the same switches.
"""

import math
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from weft.base.units import plural

if TYPE_CHECKING:
    from weft._core import Cable, Fabric, Switch

HOST_LEVEL = 0
_ONE_GROUP = 40
_TRY_ALL = 500
_TORN = 2.0
_UNEVEN = 0.05


def counts(fabric: "Fabric") -> str:
    """Return `16 hosts, 1 switch, 16 cables`, with separate counts of NICs and NVSwitches."""
    return ", ".join(
        (
            plural(len(fabric.hosts), "host"),
            *(plural(count, noun) for noun, count in fabric.switch_counts),
            plural(fabric.links // 2, "cable"),
        )
    )


@dataclass(frozen=True)
class GraphNode:
    """A switch, or a set of hosts."""

    name: str
    level: int
    vertices: tuple[int, ...]
    switch: "Switch | None" = None


@dataclass(frozen=True)
class Bundle:
    """All cables between two marks, by index in the fabric's list."""

    ends: tuple[int, int]
    cables: tuple[int, ...]
    parallel: int
    """Largest number of cables between the same two vertices."""


class Graph:
    """Vertices of a fabric, hosts first, and its cables."""

    def __init__(self, fabric: "Fabric") -> None:
        """Build the graph of a fabric."""
        self.hosts: list[str] = fabric.hosts
        self.switches: list[Switch] = fabric.switches
        self.cables: list[Cable] = fabric.cables()

    def name(self, vertex: int) -> str:
        """Return the name of a host or switch."""
        hosts = len(self.hosts)
        return self.hosts[vertex] if vertex < hosts else self.switches[vertex - hosts]["name"]

    @cached_property
    def neighbours(self) -> list[list[int]]:
        """Distinct neighbours of each vertex, in increasing order."""
        sets: list[set[int]] = [set() for _ in range(len(self.hosts) + len(self.switches))]
        for one, other in self._ends:
            sets[one].add(other)
            sets[other].add(one)
        return [sorted(one) for one in sets]

    @cached_property
    def levels(self) -> list[int]:
        """Distance of each vertex to the nearest host."""
        hosts = range(len(self.hosts))
        levels = [HOST_LEVEL if vertex in hosts else -1 for vertex in range(len(self.neighbours))]
        waiting = deque(hosts)
        while waiting:
            at = waiting.popleft()
            for vertex in self.neighbours[at]:
                if levels[vertex] < 0:
                    levels[vertex] = levels[at] + 1
                    waiting.append(vertex)
        return levels

    @property
    def layered(self) -> bool:
        """True if every cable connects adjacent levels."""
        return all(abs(self.levels[a] - self.levels[b]) == 1 for a, b in self._ends)

    def marks(self, hosts_one_by_one: int) -> list[GraphNode]:
        """Return hosts and switches in order; hosts are merged above this number of hosts."""
        groups: dict[tuple[int, ...], list[int]] = defaultdict(list)
        for host in range(len(self.hosts)):
            alone = len(self.hosts) <= hosts_one_by_one
            groups[(host,) if alone else tuple(self.neighbours[host])].append(host)
        marks = [
            GraphNode(self._host_name(group), HOST_LEVEL, tuple(group)) for group in groups.values()
        ]
        for vertex, switch in enumerate(self.switches, len(self.hosts)):
            marks.append(GraphNode(switch["name"], self.levels[vertex], (vertex,), switch))
        return marks

    def _host_name(self, group: Sequence[int]) -> str:
        return self.hosts[group[0]] if len(group) == 1 else str(len(group))

    def bundles(self, marks: Sequence[GraphNode]) -> list[Bundle]:
        """Return the bundles of cables between marks, ordered by their first cable."""
        mark_of = {vertex: k for k, mark in enumerate(marks) for vertex in mark.vertices}
        between: dict[tuple[int, int], list[int]] = defaultdict(list)
        parallel: dict[tuple[int, int], int] = defaultdict(int)
        for number, (one, other) in enumerate(self._ends):
            a, b = sorted((mark_of[one], mark_of[other]))
            between[a, b].append(number)
            parallel[one, other] += 1
        return [
            Bundle(ends, tuple(cables), max(parallel[self._ends[number]] for number in cables))
            for ends, cables in between.items()
        ]

    @cached_property
    def _ends(self) -> list[tuple[int, int]]:
        """Vertices of each cable, the lower index first."""
        pairs = ((cable["lower"], cable["upper"]) for cable in self.cables)
        return [(min(pair), max(pair)) for pair in pairs]

    def groups(self) -> list[range]:
        """Return the switches, numbered from 0, in contiguous groups.

        Few switches form one group. Otherwise all groups have one size, chosen by three criteria:
        modularity (Newman and Girvan, 2004: the fraction of cables inside groups, minus the same
        fraction for randomly placed cables); cables of one stride, such as the cables of a torus
        dimension, are all inside or all outside groups; and the number of groups is close to the
        number of switches per group.
        """
        count = len(self.switches)
        sizes = [count] if count <= _ONE_GROUP else [*_block_sizes(count)]
        best = max(sizes, key=lambda size: (self._quality(size), -size))
        return [range(first, min(first + best, count)) for first in range(0, count, best)]

    @cached_property
    def _switch_cables(self) -> list[tuple[int, int]]:
        hosts = len(self.hosts)
        return [(a - hosts, b - hosts) for a, b in self._ends if a >= hosts]

    def _quality(self, size: int) -> float:
        if not self._switch_cables:
            return 0.0
        inside_of: dict[int, list[bool]] = defaultdict(list)
        ends_in: dict[int, int] = defaultdict(int)
        for a, b in self._switch_cables:
            inside_of[b - a].append(a // size == b // size)
            ends_in[a // size] += 1
            ends_in[b // size] += 1
        count = len(self._switch_cables)
        inside = sum(map(sum, inside_of.values())) / count
        random = sum((ends / (2 * count)) ** 2 for ends in ends_in.values())
        torn = sum(min(sum(one), len(one) - sum(one)) for one in inside_of.values()) / count
        uneven = abs(math.log(size**2 / len(self.switches)))
        return round(inside - random - _TORN * torn - _UNEVEN * uneven, 9)


def _block_sizes(count: int) -> Iterator[int]:
    """Yield candidate sizes: all sizes or, for very many switches, the divisors."""
    for size in range(2, count // 2 + 1):
        if count <= _TRY_ALL or count % size == 0:
            yield size
    if count > _TRY_ALL:
        yield count


def in_levels(marks: Sequence[GraphNode]) -> Iterator[list[int]]:
    """Yield the marks of each level, upwards from the hosts."""
    for level in range(max(mark.level for mark in marks) + 1):
        yield [k for k, mark in enumerate(marks) if mark.level == level]
