# SPDX-License-Identifier: LGPL-2.1-only
"""Positions of a fabric's marks in its picture.

Stars and fat trees are drawn in layers, hosts at the bottom. Other fabrics are drawn as circles of
switches, one per group, with the circles arranged in a circle; hosts are outside their switches.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from weft.fabric.graph import Bundle, Graph, GraphNode, in_levels

Point = tuple[float, float]

HOSTS_ONE_BY_ONE = 64
_FROM_SWITCH_TO_HOST = 0.85
_HEIGHT_OF_GROUPS = 0.5
_ROOM_OF_HOST = 0.75
_BETWEEN_CIRCLES = 1.4
_TOP = math.pi / 2


@dataclass(frozen=True)
class SwitchCircle:
    """Group of switches around a centre, with the angle of the first switch."""

    centre: Point
    radius: float
    turn: float
    marks: Sequence[int]

    def switches(self) -> Iterator[tuple[int, float, Point]]:
        """Yield each switch with its angle and position."""
        for position, mark in enumerate(self.marks):
            angle = self.turn - self._step * position
            yield mark, angle, _moved(self.centre, angle, self.radius)

    def hosts(self, hosts_of: Mapping[int, list[int]]) -> Iterator[tuple[int, float, Point]]:
        """Yield each host with its angle and position, in a larger circle beside its switch."""
        distance = self.radius + _FROM_SWITCH_TO_HOST
        for mark, middle, _ in self.switches():
            hosts = hosts_of[mark]
            step = min(self._step / max(1, len(hosts)), _ROOM_OF_HOST / distance)
            for position, host in enumerate(hosts):
                angle = middle - step * (position - (len(hosts) - 1) / 2)
                yield host, angle, _moved(self.centre, angle, distance)

    @property
    def _step(self) -> float:
        return 2 * math.pi / len(self.marks)


@dataclass(frozen=True)
class Layout:
    """Positions of marks, in units of the space for one mark."""

    graph: Graph
    marks: list[GraphNode]
    bundles: list[Bundle]
    layered: bool
    places: list[Point]
    directions: list[float]
    """For each mark, the angle at which there is space for its name."""
    circles: list[SwitchCircle]
    """Groups of switches; empty for a single group."""


def lay_out(graph: Graph) -> Layout:
    """Compute all positions."""
    marks = graph.marks(HOSTS_ONE_BY_ONE)
    bundles = graph.bundles(marks)
    if graph.layered:
        places = _layers(marks, bundles)
        directions = [-_TOP if mark.switch is None else _TOP for mark in marks]
        return Layout(graph, marks, bundles, True, places, directions, [])
    hosts_of = _hosts_of(marks, bundles)
    circles = _circles(graph, len(marks) - len(graph.switches), max(map(len, hosts_of.values())))
    places = [(0.0, 0.0)] * len(marks)
    directions = [0.0] * len(marks)
    for circle in circles:
        for k, direction, place in (*circle.switches(), *circle.hosts(hosts_of)):
            places[k], directions[k] = place, direction
    return Layout(graph, marks, bundles, False, places, directions, circles)


def _layers(marks: Sequence[GraphNode], bundles: Sequence[Bundle]) -> list[Point]:
    """Spread each level over the width, with each mark above its neighbours."""
    levels = list(in_levels(marks))
    width = max(map(len, levels))
    below = _below(marks, bundles)
    places = [(0.0, 0.0)] * len(marks)
    lowest = 0.0 if all(len(mark.vertices) == 1 for mark in marks) else _HEIGHT_OF_GROUPS
    for height, level in enumerate(levels):
        middles = {k: _mean([places[one][0] for one in below[k]]) for k in level}
        for position, k in enumerate(sorted(level, key=lambda k: (middles[k], k))):
            places[k] = ((position + 0.5) * width / len(level), max(lowest, float(height)))
    return places


def _below(marks: Sequence[GraphNode], bundles: Sequence[Bundle]) -> dict[int, list[int]]:
    below: dict[int, list[int]] = defaultdict(list)
    for bundle in bundles:
        lower, upper = sorted(bundle.ends, key=lambda k: marks[k].level)
        below[upper].append(lower)
    return below


def _mean(numbers: Sequence[float]) -> float:
    return round(sum(numbers) / len(numbers), 6) if numbers else 0.0


def _circles(graph: Graph, first: int, hosts: int) -> list[SwitchCircle]:
    """Assign a circle to each group of switches; switch marks begin at `first`.

    Each switch has space for `hosts` hosts. Several circles face their common centre.
    """
    groups = graph.groups()
    radii = [_radius(len(group), max(1.0, _ROOM_OF_HOST * hosts)) for group in groups]
    room = 2 * (max(radii) + _FROM_SWITCH_TO_HOST) + _BETWEEN_CIRCLES
    circles = []
    for number, group in enumerate(groups):
        angle = _TOP - 2 * math.pi * number / len(groups)
        centre = _moved((0.0, 0.0), angle, _radius(len(groups), room))
        turn = angle + math.pi if len(groups) > 1 else _TOP
        circles.append(
            SwitchCircle(centre, radii[number], turn, [first + switch for switch in group])
        )
    return circles


def _radius(count: int, room: float = 1.0) -> float:
    """Return the radius of a circle with this many slots of the given width."""
    return room / 2 / math.sin(math.pi / count) if count > 1 else 0.0


def _moved(point: Point, angle: float, distance: float) -> Point:
    return point[0] + distance * math.cos(angle), point[1] + distance * math.sin(angle)


def _hosts_of(marks: Sequence[GraphNode], bundles: Sequence[Bundle]) -> dict[int, list[int]]:
    """Return the host marks by the first switch to which each is cabled."""
    hosts: dict[int, list[int]] = defaultdict(list)
    seen: set[int] = set()
    for bundle in bundles:
        host, switch = sorted(bundle.ends, key=lambda k: marks[k].level)
        if marks[host].switch is None and host not in seen:
            seen.add(host)
            hosts[switch].append(host)
    return hosts
