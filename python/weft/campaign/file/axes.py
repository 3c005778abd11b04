# SPDX-License-Identifier: LGPL-2.1-only
"""Axes and what they span: each key takes each of its values with each of all others.

Keys that are zipped go on together. What a condition says of some keys leaves out all combinations
of which it is true.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

Value = str | int | float | bool
Point = Mapping[str, Value]
"""A value of each axis."""


@dataclass(frozen=True)
class Grid:
    """Values by key, in the order in which they vary: the last one fastest."""

    values: Mapping[str, Sequence[Value]]
    zipped: Sequence[Sequence[str]] = ()
    """Keys of the same number of values, which go on together."""
    left_out: Sequence[Mapping[str, Sequence[Value]]] = ()
    """Conditions: a combination is left out where each key has one of the values beside it."""

    @property
    def size(self) -> int:
        """How many combinations there are before any is left out."""
        return prod(len(steps) for steps in self._steps())

    def points(self) -> Iterator[Point]:
        """Yield all that is not left out."""
        for steps in product(*self._steps()):
            found = {key: value for step in steps for key, value in step}
            point = {key: found[key] for key in self.values}
            if not any(_holds(condition, point) for condition in self.left_out):
                yield point

    def _steps(self) -> list[list[tuple[tuple[str, Value], ...]]]:
        """Return what each axis goes through: keys with their values, several where zipped."""
        together = {key: tuple(keys) for keys in self.zipped for key in keys}
        axes = dict.fromkeys(together.get(key, (key,)) for key in self.values)
        return [
            [
                tuple(zip(keys, values, strict=True))
                for values in zip(*(self.values[key] for key in keys), strict=True)
            ]
            for keys in axes
        ]


def _holds(condition: Mapping[str, Sequence[Value]], point: Point) -> bool:
    return all(point[key] in values for key, values in condition.items())
