# SPDX-License-Identifier: LGPL-2.1-only
"""Axes and their Cartesian product: every combination of one value per key.

Zipped keys advance together. A condition on some keys excludes all combinations that satisfy it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

Value = str | int | float | bool
Point = Mapping[str, Value]
"""One value per axis."""


@dataclass(frozen=True)
class Grid:
    """Values by key; the last key varies fastest."""

    values: Mapping[str, Sequence[Value]]
    zipped: Sequence[Sequence[str]] = ()
    """Groups of keys with the same number of values, which advance together."""
    left_out: Sequence[Mapping[str, Sequence[Value]]] = ()
    """Conditions: a combination is excluded if, for each key, its value is in the list."""

    @property
    def size(self) -> int:
        """Number of combinations before exclusion."""
        return prod(len(steps) for steps in self._steps())

    def points(self) -> Iterator[Point]:
        """Yield all combinations that are not excluded."""
        for steps in product(*self._steps()):
            found = {key: value for step in steps for key, value in step}
            point = {key: found[key] for key in self.values}
            if not any(_holds(condition, point) for condition in self.left_out):
                yield point

    def _steps(self) -> list[list[tuple[tuple[str, Value], ...]]]:
        """Return the steps of each axis: (key, value) pairs, several if keys are zipped."""
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
