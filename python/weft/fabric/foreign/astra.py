# SPDX-License-Identifier: LGPL-2.1-only
"""Reader for the network files of ASTRA-sim's analytical backend.

`topology`, `npus_count`, `bandwidth` (GB/s) and `latency` (ns) contain one value per dimension.
NPUs that differ in exactly one dimension are connected as a Ring, FullyConnected, or by a Switch.
weft's hosts do not forward packets: with several dimensions, or in a ring, each NPU is a host
behind a router.
"""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from weft.fabric.foreign.topology import ForeignCable, ForeignTopology
from weft.runs.jobs import simple_yaml

_KINDS = ("Ring", "FullyConnected", "Switch")
_KEYS = ("topology", "npus_count", "bandwidth", "latency")
_MOST_NPUS = 1 << 16


@dataclass(frozen=True)
class _Dimension:
    kind: str
    size: int
    bps: float
    latency_s: float

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Yield the neighbouring pairs in a ring, or all pairs."""
        if self.kind == "FullyConnected" or self.size < 3:
            yield from itertools.combinations(range(self.size), 2)
        else:
            yield from ((place, (place + 1) % self.size) for place in range(self.size))

    @property
    def rate(self) -> float:
        """Rate at which an NPU sends in this dimension."""
        links = {"Switch": 1, "Ring": min(self.size - 1, 2), "FullyConnected": self.size - 1}
        return self.bps * links[self.kind]


def read(text: str) -> ForeignTopology:
    """Return the hosts, switches and cables. Raises `ValueError` with a clause."""
    dimensions = _dimensions(text)
    sizes = [one.size for one in dimensions]
    if math.prod(sizes) > _MOST_NPUS:
        raise ValueError(f"found {math.prod(sizes)} NPUs; allowed are at most {_MOST_NPUS}")
    # The first dimension varies fastest, as in ASTRA-sim.
    places = [place[::-1] for place in itertools.product(*(range(size) for size in sizes[::-1]))]
    hosts = [f"npu-{number}" for number in range(len(places))]
    routed = len(dimensions) > 1 or dimensions[0].kind == "Ring"
    ends = [f"router-{number}" for number in range(len(places))] if routed else hosts
    cables = []
    if routed:
        rate = sum(one.rate for one in dimensions)
        cables = [ForeignCable(a, b, rate, 0.0) for a, b in zip(hosts, ends, strict=True)]
    switches = list(ends) if routed else []
    numbers = {place: number for number, place in enumerate(places)}
    for axis, one in enumerate(dimensions):
        groups: dict[tuple[int, ...], list[str]] = {}
        for place, number in numbers.items():
            groups.setdefault((*place[:axis], *place[axis + 1 :]), []).append(ends[number])
        for count, members in enumerate(groups.values()):
            if one.kind == "Switch":
                name = f"switch-{axis}-{count}"
                switches.append(name)
                pairs = [(member, name) for member in members]
            else:
                pairs = [(members[a], members[b]) for a, b in one.pairs()]
            cables += [ForeignCable(a, b, one.bps, one.latency_s) for a, b in pairs]
    notes = ["latencies are those of cables alone, without hosts and NICs"]
    if routed:
        notes.append("each NPU is a host behind a router, since hosts forward nothing")
    return ForeignTopology(hosts, switches, cables, notes)


def _dimensions(text: str) -> list[_Dimension]:
    found = simple_yaml.parse(text)
    if not isinstance(found, dict):
        raise ValueError("it has no keys")
    columns: list[list[Any]] = []
    for key in _KEYS:
        if key not in found:
            raise ValueError(f"{key} is missing; ASTRA-sim's file has {', '.join(_KEYS)}")
        value = found[key]
        columns.append(value if isinstance(value, list) else [value])
    if len({len(column) for column in columns}) != 1 or not columns[0]:
        raise ValueError(f"{', '.join(_KEYS)} must have a value for each dimension")
    return [_dimension(*row) for row in zip(*columns, strict=True)]


def _dimension(kind: Any, size: Any, rate: Any, latency: Any) -> _Dimension:
    if kind not in _KINDS:
        raise ValueError(f"topology: found {kind}; allowed are {', '.join(_KINDS)}")
    if type(size) is not int or not 0 < size <= _MOST_NPUS:
        raise ValueError(f"npus_count: found {size}; allowed are whole numbers above zero")
    for key, value, least in (("bandwidth", rate, 1e-9), ("latency", latency, 0.0)):
        if not isinstance(value, int | float) or not least <= value < math.inf:
            raise ValueError(f"{key}: found {value}; allowed are numbers above zero")
    return _Dimension(kind, size, rate * 8e9, latency * 1e-9)
