# SPDX-License-Identifier: LGPL-2.1-only
"""Visibility and placement of names in a picture.

A row is a level of a layered picture, or all hosts or all switches of any other picture. If the
names of a row do not fit, a caption shows the first name, the last name and their number.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from weft.base.units import natural_order, plural
from weft.fabric.graph import GraphNode, in_levels
from weft.fabric.layout import Layout

SMALLEST_FONT = 4.5
_LARGEST_FONT = 8.0
# Width and height of a character, relative to the font size.
CHARACTER = 0.62
_LINE = 1.25
# Angle of names without space beside their mark, and their distance to the next level in points.
_UPWARDS = math.radians(60)
_BETWEEN_LEVELS = 70.0


@dataclass(frozen=True)
class Name:
    """Text beside a mark: its distance in points, and its angle."""

    mark: int
    size: float
    away: float
    direction: float
    rotated: bool

    @property
    def _leftwards(self) -> bool:
        return math.cos(self.direction) < -1e-6

    @property
    def rotation(self) -> float:
        """Rotation in degrees, such that no text is upside down."""
        if not self.rotated:
            return 0.0
        return math.degrees(self.direction) + (180 if self._leftwards else 0)

    @property
    def alignment(self) -> tuple[str, str]:
        """Horizontal and vertical alignment of the text relative to the mark."""
        side = "right" if self._leftwards else "left"
        if self.rotated:
            return side, "center"
        up = math.sin(self.direction)
        height = "center" if abs(up) < 0.5 else "bottom" if up > 0 else "top"
        return side if abs(math.cos(self.direction)) > 0.5 else "center", height


@dataclass(frozen=True)
class NameRow:
    """Marks whose names are placed alike; `room` is the space per mark, in points."""

    layout: Layout
    marks: Sequence[int]
    room: float

    @property
    def _longest(self) -> int:
        return max(len(self.layout.marks[k].name) for k in self.marks)

    @property
    def _hosts(self) -> bool:
        return self.layout.marks[self.marks[0]].switch is None

    def names(self, away: float) -> list[Name]:
        """Return the names, or none if there is no space."""
        for rotated, size in ((False, self._flat_size(away)), (True, self._steep_size())):
            if size >= SMALLEST_FONT:
                size = min(size, _LARGEST_FONT)
                return [
                    Name(k, size, away, self._direction(k, rotated=rotated), rotated)
                    for k in self.marks
                ]
        return []

    def _flat_size(self, away: float) -> float:
        """Return the font size of horizontal names, some of which are beside their marks."""
        if not self.layout.layered and self._longest > len("999"):
            return 0.0
        beside = self.layout.layered and self._direction(self.marks[0], rotated=False) == 0
        room = self.room - 2 * away if beside else self.room
        return room / self._longest / CHARACTER

    def _steep_size(self) -> float:
        """Return the font size of rotated names, whose length is limited between two levels."""
        if len(self.layout.circles) > 1:
            return 0.0
        size = self.room / _LINE
        inside = self.layout.layered and not self._hosts
        return min(size, _BETWEEN_LEVELS / self._longest / CHARACTER) if inside else size

    def _direction(self, mark: int, *, rotated: bool) -> float:
        direction = self.layout.directions[mark]
        if self._hosts:
            return direction
        if not self.layout.layered:
            return direction + math.pi
        top = max(one.level for one in self.layout.marks)
        if self.layout.marks[mark].level == top:
            return direction
        return _UPWARDS if rotated else 0.0

    def caption(self) -> str:
        """Return the first and the last name, and their number."""
        marks = [self.layout.marks[k] for k in self.marks]
        names = [name for mark in marks for name in self._all_names(mark)]
        names.sort(key=natural_order)
        return f"{names[0]} to {names[-1]}:\n{plural(len(names), self._noun)}"

    @property
    def _noun(self) -> str:
        return "host" if self._hosts else "switch"

    def _all_names(self, mark: GraphNode) -> Iterator[str]:
        if mark.switch is not None:
            yield mark.name
        else:
            yield from (self.layout.graph.hosts[vertex] for vertex in mark.vertices)

    def needs_caption(self, *, named: bool) -> bool:
        """Return true if the picture hides some names."""
        counted = any(len(self.layout.marks[k].vertices) > 1 for k in self.marks)
        return counted or not named


def rows(layout: Layout, unit: float, width: float) -> list[NameRow]:
    """Return the rows of a picture `width` units wide, with `unit` points per unit."""
    if layout.layered:
        levels = in_levels(layout.marks)
        return [NameRow(layout, level, width * unit / len(level)) for level in levels]
    hosts = [k for k, mark in enumerate(layout.marks) if mark.switch is None]
    switches = [k for k, mark in enumerate(layout.marks) if mark.switch is not None]
    return [NameRow(layout, hosts, unit), NameRow(layout, switches, unit)]
