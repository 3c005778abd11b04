# SPDX-License-Identifier: LGPL-2.1-only
"""Pairing of a campaign's runs with the runs of a baseline.

A baseline is a value of one key: the hosts alone (`offload = "off"`), a fabric, an algorithm. Two
combinations are compared if they differ only in this key. If the campaign also executes the hosts'
fastest algorithms (`fallback = "best"`), these runs form a second baseline.

Campaign files often exclude combinations whose keys are meaningless for the baseline, as in
`leave_out = [{ offload = "off", "switch.slots" = 64 }]`. A combination without an exact counterpart
is compared with the nearest baseline run that differs only in such keys (`of_offloading`); reports
name these keys.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from weft import _core
from weft.campaign.file.file import REPEATS
from weft.campaign.file.iterations import is_of_model
from weft.campaign.file.keys import COLLECTIVES
from weft.study.comparison.compare import BEST
from weft.training.variants import VARIANTS

OFF = "off"
OFFLOAD = "offload"
FABRIC = "fabric"
FALLBACK = "fallback"
Point = Mapping[str, str]


def text(value: Any) -> str:
    """Return a value in the notation of a campaign file; empty if a combination lacks the key."""
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


_OF_SMART_SWITCHES = "smart: "
"""Beginning of the meanings of keys that only switches with `offload` need."""
_OF_NICS = frozenset(
    f"nic.{key}"
    for key in (
        *("offload_overhead", "message_gap", "offload_copy_rate", "packet_copy_rate"),
        *("reduce_scatter", "part_copy_rate", "registration_rate", "registration_from"),
        *("contributions", "host_reduce", "host_bcast"),
    )
)
_TABLES_OF_OFFLOADING = ("policy.", "multicast.", "progress_engine.")


@cache
def of_offloading() -> frozenset[str]:
    """Return the fabric keys that only affect the offloading of calls (`weft fabric options`)."""
    (table,) = (one for one in _core.fabric_schema() if one["table"] == "switch")
    keys = (one["key"] for one in table["options"] if one["meaning"].startswith(_OF_SMART_SWITCHES))
    return _OF_NICS | {f"switch.{key}" for key in keys}


@dataclass(frozen=True)
class Reference:
    """Baseline: the combinations with this value of a key."""

    axis: str
    value: str
    best: bool = False
    """True to use the runs with the hosts' fastest algorithms."""
    library: str = field(default="", compare=False)
    """Fallback of the hosts if all runs share it: `openmpi-5.0`."""

    @property
    def hosts(self) -> bool:
        """True for the hosts alone, so that the comparison shows the gain of offloading."""
        return (self.axis, self.value) == (OFFLOAD, OFF)

    @property
    def name(self) -> str:
        """Name of the baseline in sentences."""
        if not self.hosts:
            return f"{self.axis} {self.value}{f' ({self.said})' if self.best else ''}"
        return f"the hosts ({self.said or f'{OFFLOAD} = {OFF}'})"

    @property
    def said(self) -> str:
        """Phrase for the algorithms of the hosts."""
        return "best of all algorithms" if self.best else self.library


HOSTS = Reference(OFFLOAD, OFF)
GPUS = Reference(COLLECTIVES, next(iter(VARIANTS)))
"""Baseline of training iterations: only GPUs reduce and copy."""


def best_rows(points: Sequence[Point]) -> dict[tuple[str, ...], int]:
    """Return the runs with the hosts' fastest algorithms, by all of their keys except `fallback`.

    The result is empty if all host runs use the fastest algorithms, which are then the regular
    ones.
    """
    hosts = [number for number, one in enumerate(points) if one.get(OFFLOAD) == OFF]
    best = [number for number in hosts if points[number].get(FALLBACK) == BEST]
    keys = _but_fallback(points)
    return {_values(points[one], keys): one for one in best} if len(best) < len(hosts) else {}


def _but_fallback(points: Sequence[Point]) -> list[str]:
    return [key for key in (points[0] if points else {}) if key != FALLBACK]


@dataclass(frozen=True)
class Pairs:
    """Baseline row of each combination; None if there is none."""

    of: Sequence[int | None]
    relaxed: tuple[str, ...]
    """Keys other than `offload` in which some pairs differ."""


def pairs(points: Sequence[Point], against: Reference = HOSTS) -> Pairs:
    """Pair all combinations of a campaign with the baseline, executed or not.

    Runs with the hosts' fastest algorithms are paired with other runs only if the baseline is an
    algorithm. Runs without offload are never paired with runs of the fastest algorithms.
    """
    best = best_rows(points)
    if against.best:
        of = pairs(points, replace(against, best=False))
        keys = _but_fallback(points)
        others = [
            None if k is None or own.get(OFFLOAD) == OFF else best.get(_values(points[k], keys))
            for own, k in zip(points, of.of, strict=True)
        ]
        return Pairs(others, of.relaxed)
    apart = set() if against.axis == FALLBACK else set(best.values())
    # The ranks of a training iteration follow from its keys.
    alone = (against.axis, *(("ranks",) if is_of_model(against.axis) else ()))
    keys = [key for key in (points[0] if points else {}) if key not in alone]
    hosts = [
        number
        for number, one in enumerate(points)
        if one.get(against.axis) == against.value and number not in apart
    ]
    ways = {points[number].get(OFFLOAD, "") for number in hosts}
    free = [key for key in keys if key in REPEATS or _may_differ(key, against, len(ways))]
    fixed = [key for key in keys if key not in free]
    exact = {_values(points[number], keys): number for number in hosts}
    near: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for number in hosts:
        near[_values(points[number], fixed)].append(number)
    found: list[int | None] = []
    for number, point in enumerate(points):
        if number in apart or point.get(against.axis, "") in ("", against.value):
            found.append(None)
            continue
        alike = near.get(_values(point, fixed), [])
        same = exact.get(_values(point, keys))
        found.append(same if same is not None else _nearest(point, alike, points, free))
    return Pairs(found, tuple(_differing(points, found, free)))


def _may_differ(key: str, against: Reference, ways: int) -> bool:
    """Return True if the baseline's run may have another value of this key.

    A fabric that the campaign runs with a single offload mode (a fabric without smart switches) is
    the baseline for all offload modes of the other fabrics.
    """
    if against.axis == FABRIC and key == OFFLOAD:
        return ways == 1
    return (against.hosts or against.axis == FABRIC) and only_offloads(key)


def only_offloads(key: str) -> bool:
    """Return True if a key only affects the offloading of calls."""
    return key in of_offloading() or key.startswith(_TABLES_OF_OFFLOADING)


def _values(point: Point, keys: Sequence[str]) -> tuple[str, ...]:
    return tuple(point[key] for key in keys)


def _nearest(
    point: Point, alike: Sequence[int], points: Sequence[Point], free: Sequence[str]
) -> int | None:
    """Return the first of the rows that share the most values with a point."""
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
