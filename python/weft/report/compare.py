# SPDX-License-Identifier: LGPL-2.1-only
"""Which runs are held against each other: a way to offload, and the hosts alone.

Two combinations are compared that differ in `offload` alone; in a campaign without runs of the
hosts alone, in another key, of which the first value is what others are held against. Files often
leave combinations out whose keys mean nothing to hosts, as in
`leave_out = [{ offload = "off", "switch.slots" = 64 }]`. Where there is no run of the hosts with a
combination's values of such keys (`OF_OFFLOADING`), it is held against one with others, and the
report says so.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from weft.report.axes import OFF, OFFLOAD, REPEATS, Axis

Point = Mapping[str, str]
Outcome = Literal["faster", "same", "slower", "fell back", "no collectives", "failed", "missing"]
SAME = 0.005
"""Speed-ups nearer to 1 than this are none: the simulation is not as accurate by far."""
# Keys of fabrics that decide nothing but how calls are offloaded (`weft fabric options`).
OF_OFFLOADING = frozenset(
    f"switch.{key}"
    for key in (
        *("processing_latency", "turnaround", "channels", "slots", "total_slots"),
        *("payload", "packet_overhead"),
    )
) | frozenset(
    f"nic.{key}"
    for key in ("offload_overhead", "message_gap", "offload_copy_rate", "contributions")
)
_TABLES_OF_OFFLOADING = ("policy.", "multicast.", "progress_engine.")


@dataclass(frozen=True)
class Reference:
    """What combinations are held against: those with this value of a key."""

    axis: str
    value: str

    @property
    def hosts(self) -> bool:
        """Whether that is the hosts alone, so that the question is whether offloading pays."""
        return (self.axis, self.value) == (OFFLOAD, OFF)

    @property
    def name(self) -> str:
        """What sentences call it."""
        return f"the hosts ({OFFLOAD} = {OFF})" if self.hosts else f"{self.axis} {self.value}"


HOSTS = Reference(OFFLOAD, OFF)


def reference(axes: Sequence[Axis]) -> Reference | None:
    """Return the hosts alone, or the first fabric, way or algorithm where nobody ran these."""
    several = {axis.name: axis for axis in axes if len(axis.values) > 1}
    if OFFLOAD in several and OFF in several[OFFLOAD].values:
        return HOSTS
    changed = [name for name in several if "." in name and name not in REPEATS]
    for name in (OFFLOAD, "fabric", "fallback", *changed):
        if name in several and several[name].values[0]:
            return Reference(name, several[name].values[0])
    return None


@dataclass(frozen=True)
class Pairs:
    """For each combination the one that it is compared with."""

    of: Sequence[int | None]
    relaxed: tuple[str, ...]
    """Keys in which some pairs differ, beside `offload`."""


def pairs(points: Sequence[Point], against: Reference = HOSTS) -> Pairs:
    """Find them among all combinations of a campaign, whether they have been run or not."""
    keys = [key for key in (points[0] if points else {}) if key != against.axis]
    free = [key for key in keys if key in REPEATS or (against.hosts and _may_differ(key))]
    fixed = [key for key in keys if key not in free]
    hosts = [number for number, one in enumerate(points) if one.get(against.axis) == against.value]
    exact = {_values(points[number], keys): number for number in hosts}
    near: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for number in hosts:
        near[_values(points[number], fixed)].append(number)
    found: list[int | None] = []
    for point in points:
        if point.get(against.axis, "") in ("", against.value):
            found.append(None)
            continue
        alike = near.get(_values(point, fixed), [])
        same = exact.get(_values(point, keys))
        found.append(same if same is not None else _nearest(point, alike, points, free))
    return Pairs(found, tuple(_differing(points, found, free)))


def _may_differ(key: str) -> bool:
    return key in OF_OFFLOADING or key.startswith(_TABLES_OF_OFFLOADING)


def _values(point: Point, keys: Sequence[str]) -> tuple[str, ...]:
    return tuple(point[key] for key in keys)


def _nearest(
    point: Point, alike: Sequence[int], points: Sequence[Point], free: Sequence[str]
) -> int | None:
    """Return the one with which it has most values in common, of several the first."""
    return max(
        alike, key=lambda one: sum(points[one][key] == point[key] for key in free), default=None
    )


def _differing(
    points: Sequence[Point], found: Sequence[int | None], free: Sequence[str]
) -> list[str]:
    return [
        key
        for key in free
        if any(
            other is not None and points[other][key] != point[key]
            for point, other in zip(points, found, strict=True)
        )
    ]


def outcome(hosts_s: float, offloaded_s: float) -> Outcome:
    """Say which of two times is shorter."""
    ratio = hosts_s / offloaded_s
    if abs(ratio - 1) <= SAME:
        return "same"
    return "faster" if ratio > 1 else "slower"
