"""Where the marks of a fabric are in its picture.

Stars and fat trees are drawn in layers, hosts at the bottom. Other fabrics are drawn in circles of
switches, one a group, with the circles in a circle; hosts are outside of their switches.
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from weft.fabric.graph import Bundle, Graph, Mark, in_levels

Point = tuple[float, float]

HOSTS_ONE_BY_ONE = 64
_FROM_SWITCH_TO_HOST = 0.85
_HEIGHT_OF_GROUPS = 0.55
_BETWEEN_CIRCLES = 1.4
_TOP = math.pi / 2


@dataclass(frozen=True)
class Circle:
    """A group of switches: its middle, its radius and its marks."""

    centre: Point
    radius: float
    marks: Sequence[int]


@dataclass(frozen=True)
class Layout:
    """Marks with their places; a unit is the room of one of them."""

    graph: Graph
    marks: list[Mark]
    bundles: list[Bundle]
    layered: bool
    places: list[Point]
    directions: list[float]
    """For each mark the angle at which there is room for its name."""
    circles: list[Circle]
    """Groups of switches, where there are several."""


def lay_out(graph: Graph) -> Layout:
    """Find a place for everything."""
    marks = graph.marks(HOSTS_ONE_BY_ONE)
    bundles = graph.bundles(marks)
    if graph.layered:
        places = _layers(marks, bundles)
        directions = [-_TOP if mark.switch is None else _TOP for mark in marks]
        return Layout(graph, marks, bundles, True, places, directions, [])
    circles = _circles(graph, len(marks) - len(graph.switches))
    places = [(0.0, 0.0)] * len(marks)
    directions = [0.0] * len(marks)
    for number, circle in enumerate(circles):
        turn = _angle(number, len(circles)) + math.pi if len(circles) > 1 else _TOP
        _place_switches(places, directions, circle, turn)
    _place_hosts(places, directions, _hosts_of(marks, bundles))
    return Layout(graph, marks, bundles, False, places, directions, circles)


def _layers(marks: Sequence[Mark], bundles: Sequence[Bundle]) -> list[Point]:
    """Spread each level over the width, above those that its marks are cabled to."""
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


def _below(marks: Sequence[Mark], bundles: Sequence[Bundle]) -> dict[int, list[int]]:
    below: dict[int, list[int]] = defaultdict(list)
    for bundle in bundles:
        lower, upper = sorted(bundle.ends, key=lambda k: marks[k].level)
        below[upper].append(lower)
    return below


def _mean(numbers: Sequence[float]) -> float:
    return round(sum(numbers) / len(numbers), 6) if numbers else 0.0


def _circles(graph: Graph, first: int) -> list[Circle]:
    """Give each group of switches, whose marks begin at `first`, a circle."""
    groups = graph.groups()
    radii = [_radius(len(group)) for group in groups]
    room = 2 * (max(radii) + _FROM_SWITCH_TO_HOST) + _BETWEEN_CIRCLES
    distance = _radius(len(groups), room)
    return [
        Circle(
            _moved((0.0, 0.0), _angle(number, len(groups)), distance),
            radii[number],
            [first + switch for switch in group],
        )
        for number, group in enumerate(groups)
    ]


def _place_switches(
    places: list[Point], directions: list[float], circle: Circle, turn: float
) -> None:
    """Begin where it turns to, which is the middle where there are several circles."""
    for position, mark in enumerate(circle.marks):
        angle = turn + _angle(position, len(circle.marks)) - _TOP
        directions[mark] = angle
        places[mark] = _moved(circle.centre, angle, circle.radius)


def _radius(count: int, room: float = 1.0) -> float:
    """Return the radius of a circle on which so many have that much room each."""
    return room / 2 / math.sin(math.pi / count) if count > 1 else 0.0


def _angle(position: int, count: int) -> float:
    """Begin at the top and go clockwise, as one reads a clock."""
    return _TOP - 2 * math.pi * position / count


def _moved(point: Point, angle: float, distance: float) -> Point:
    return point[0] + distance * math.cos(angle), point[1] + distance * math.sin(angle)


def _hosts_of(marks: Sequence[Mark], bundles: Sequence[Bundle]) -> dict[int, list[int]]:
    """Return the marks of hosts by the first switch that each is cabled to."""
    hosts: dict[int, list[int]] = defaultdict(list)
    seen: set[int] = set()
    for bundle in bundles:
        host, switch = sorted(bundle.ends, key=lambda k: marks[k].level)
        if marks[host].switch is None and host not in seen:
            seen.add(host)
            hosts[switch].append(host)
    return hosts


def _place_hosts(
    places: list[Point], directions: list[float], hosts_of: dict[int, list[int]]
) -> None:
    for switch, hosts in hosts_of.items():
        spread = min(0.5, 1.2 / len(hosts))
        for position, host in enumerate(hosts):
            angle = directions[switch] - spread * (position - (len(hosts) - 1) / 2)
            directions[host] = angle
            places[host] = _moved(places[switch], angle, _FROM_SWITCH_TO_HOST)
