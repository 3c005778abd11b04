# SPDX-License-Identifier: LGPL-2.1-only
"""Axes of a campaign in a report: their ordered values, and their roles on the page."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from weft.base.errors import WeftError
from weft.base.units import parse_size
from weft.campaign.file.file import REPEATS
from weft.campaign.pairs import OFFLOAD

Kind = Literal["size", "number", "name"]

_MAPS = ("program", "fabric")
"""Keys with a separate map for each value."""
_SIZES = ("bytes", "size", "message")
"""Usual placeholder names of a message size, which take precedence."""


@dataclass(frozen=True)
class Axis:
    """A key of a campaign and its values in display order."""

    name: str
    values: tuple[str, ...]
    kind: Kind

    @classmethod
    def of(cls, name: str, found: Iterable[str]) -> "Axis":
        """Create an axis; numbers and sizes are sorted, names keep their order."""
        values = tuple(dict.fromkeys(found))
        kind, numbers = _numbers(name, values)
        if kind != "name":
            values = tuple(sorted(values, key=lambda value: numbers[value]))
        return cls(name, values, kind)

    def number(self, value: str) -> float:
        """Return the numeric value of a size or number."""
        return _numbers(self.name, (value,))[1][value]


def _numbers(name: str, values: Sequence[str]) -> tuple[Kind, dict[str, float]]:
    """Return kind and numeric values; missing values sort first."""
    there = [value for value in values if value]
    for kind in ("number", "size"):
        try:
            read = float if kind == "number" else parse_size
            numbers = {value: float(read(value)) for value in there}
        except (ValueError, WeftError):
            continue
        if kind == "number" and name in _SIZES:
            kind = "size"
        return ("size" if kind == "size" else "number"), {**numbers, "": float("-inf")}
    return "name", {}


@dataclass(frozen=True)
class Roles:
    """Initial roles of a campaign's axes; users of the page may change them."""

    across: str
    """Horizontal axis: a size, if any axis is one."""
    down: str
    """Vertical axis: ranks, if they vary."""
    further: tuple[str, ...]
    """Axes of which the page shows one value at a time."""


def roles(axes: Sequence[Axis], compared: str = OFFLOAD) -> Roles:
    """Assign a role to each axis when values of one of them are compared."""
    others = (*_MAPS, OFFLOAD, compared, *REPEATS)
    free = [one for one in axes if one.name not in others and len(one.values) > 1]
    across = _across(free)
    rest = [one for one in free if one is not across]
    down = next((one for one in rest if one.name == "ranks"), rest[0] if rest else None)
    return Roles(
        across.name if across else "ranks",
        down.name if down else ("fabric" if across and across.name == "ranks" else "ranks"),
        tuple(one.name for one in rest if one is not down),
    )


def _across(free: Sequence[Axis]) -> Axis | None:
    sizes = [one for one in free if one.kind == "size"]
    named = [one for one in sizes if one.name in _SIZES]
    others = [one for one in free if one.name != "ranks"]
    numbers = [one for one in others if one.kind == "number"]
    for some in (named, [one for one in sizes if "." not in one.name], numbers, others, free):
        if some:
            return max(some, key=lambda one: len(one.values))
    return None
