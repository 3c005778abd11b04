# SPDX-License-Identifier: LGPL-2.1-only
"""Hosts, switches and cables stated in a foreign file."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

_RATE = re.compile(r"([\d.eE+-]+)\s*([kKMGT]?)(i?)(bps|b/s|bit/s|Bps|B/s)", re.ASCII)
_TIME = re.compile(r"([\d.eE+-]+)\s*(s|ms|us|ns|ps)", re.ASCII)
_SCALE = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "ps": 1e-12}
MOST_NODES = 1 << 20


@dataclass(frozen=True)
class ForeignCable:
    """Parallel cables between two ends."""

    one: str
    other: str
    bps: float | None = None
    """Bits per second in each direction; None if not stated."""
    latency_s: float | None = None
    count: int = 1


@dataclass(frozen=True)
class ForeignTopology:
    """Contents of a topology file."""

    hosts: Sequence[str]
    switches: Sequence[str]
    cables: Sequence[ForeignCable]
    notes: Sequence[str] = field(default_factory=tuple)
    """Assumptions and omissions, one clause each."""

    @property
    def ports(self) -> Counter[str]:
        """Number of cables of each host and switch."""
        found: Counter[str] = Counter()
        for cable in self.cables:
            found.update({cable.one: cable.count, cable.other: cable.count})
        return found


def with_hosts(
    switches: Sequence[str],
    cables: Iterable[ForeignCable],
    notes: Iterable[str] = (),
    bare: Collection[str] = (),
) -> ForeignTopology:
    """Return the topology of a file without hosts: each node becomes a switch with a host.

    Hosts get the nodes' names; nodes in `bare` become switches without a host.
    """
    named = {name: f"{name}.switch" for name in switches}
    hosts = [name for name in switches if name not in bare]
    inner = [replace(one, one=named[one.one], other=named[one.other]) for one in cables]
    return ForeignTopology(
        hosts,
        list(named.values()),
        [*(ForeignCable(name, named[name]) for name in hosts), *inner],
        [*notes, "it tells no hosts from switches: each node is a switch with a host"],
    )


def bits_per_second(text: str) -> float | None:
    """Parse a rate with its unit, such as 100Gbps; None if the text is not a rate."""
    match = _RATE.fullmatch(text.strip())
    value = None if match is None else _number(match[1])
    if match is None or value is None:
        return None
    bits = 8 if match[4].startswith("B") else 1
    return value * (_SCALE[match[2]] * bits if not match[3] else bits * _binary(match[2]))


def _binary(prefix: str) -> float:
    return float(1024 ** " KMGT".index(prefix.upper() or " "))


def seconds(text: str) -> float | None:
    """Parse a time with its unit, such as 0.5us; None if the text is not a time."""
    match = _TIME.fullmatch(text.strip())
    value = None if match is None else _number(match[1])
    return None if match is None or value is None else value * _SECONDS[match[2]]


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def clean(name: str) -> str:
    """Return a name without characters that fabric files reserve."""
    text = re.sub(r"[,;]+\s*", " ", name).strip()
    text = re.sub(r"[:=\\\"'\[\]*?]", "_", re.sub(r"-{2,}", "-", text))
    return re.sub(r"^weft\.", "weft_", text) or "_"


def unique(names: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return a cleaned name for each key; duplicates are extended with the key."""
    rows = [(key, clean(name)) for key, name in names]
    counts: dict[str, int] = {}
    for _, name in rows:
        counts[name] = counts.get(name, 0) + 1
    found = {key: name if counts[name] == 1 else f"{name} {clean(key)}" for key, name in rows}
    seen: set[str] = set()
    for key, name in found.items():
        while name in seen:
            name += "_"
        seen.add(name)
        found[key] = name
    return found
