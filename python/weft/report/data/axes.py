# SPDX-License-Identifier: LGPL-2.1-only
"""The axes of a campaign as a report shows them: their values in order, and what they are for."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from weft.base.errors import WeftError
from weft.base.units import parse_size
from weft.campaign.file.file import REPEATS

Kind = Literal["size", "number", "name"]

OFF = "off"
OFFLOAD = "offload"
FABRIC = "fabric"
FALLBACK = "fallback"
_MAPS = ("program", "fabric")
"""Each of their values has a map of its own."""
_SIZES = ("bytes", "size", "message")
"""How placeholders for a message's size are called, before all others."""


def text(value: Any) -> str:
    """Return a value as a campaign file has it; empty where a combination lacks the key."""
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


@dataclass(frozen=True)
class Axis:
    """A key of a campaign and its values, in the order in which they are shown."""

    name: str
    values: tuple[str, ...]
    kind: Kind

    @classmethod
    def of(cls, name: str, found: Iterable[str]) -> "Axis":
        """Sort numbers and sizes; names stay as they come."""
        values = tuple(dict.fromkeys(found))
        kind, numbers = _numbers(name, values)
        if kind != "name":
            values = tuple(sorted(values, key=lambda value: numbers[value]))
        return cls(name, values, kind)

    def number(self, value: str) -> float:
        """Return what a size or a number amounts to."""
        return _numbers(self.name, (value,))[1][value]


def _numbers(name: str, values: Sequence[str]) -> tuple[Kind, dict[str, float]]:
    """Return what values are; those that are missing stand before all others."""
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
    """What the axes of a campaign are for, at first; who reads may choose others."""

    across: str
    """The axis from left to right: sizes, where there are any."""
    down: str
    """From top to bottom: ranks, where they differ."""
    further: tuple[str, ...]
    """Those of which one value is shown at a time."""


def roles(axes: Sequence[Axis], compared: str = OFFLOAD) -> Roles:
    """Say what each axis is for, when values of one of them are compared."""
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
