# SPDX-License-Identifier: LGPL-2.1-only
"""Presets of fault files: failure rates of clusters, reactions of routing and of senders.

A rate in presets/faults is as published: so many failures of so many links, switches or NICs in so
many days, or the part of them that failed at least once.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import log1p

from weft import _core
from weft.base import paths
from weft.base.options import Options, parse
from weft.base.user_files import read_text

DAY_S = 86_400.0

LINK, SWITCH, NIC, HOST = "link", "switch", "nic", "host"


@dataclass(frozen=True)
class Kind:
    """Parts of a fabric that a rate is of."""

    place: str
    """Key of [[fault]] that names them."""
    meaning: str
    hosts: bool | None = None
    """True for those with a host's cable, False for all others, None for both."""


KINDS: Mapping[str, Kind] = {
    "host-link": Kind(LINK, "cables of hosts", hosts=True),
    "switch": Kind(SWITCH, "switches"),
    "leaf-switch": Kind(SWITCH, "switches with hosts", hosts=True),
    "upper-switch": Kind(SWITCH, "switches without hosts", hosts=False),
    "nic": Kind(NIC, "NICs"),
}
"""Kinds of parts that presets have rates of."""


@dataclass(frozen=True)
class Rate:
    """Failure rate of each part of a kind."""

    name: str
    kind: Kind
    mtbf_s: float


def rate_presets() -> list[str]:
    """Return the names of the presets of failure rates."""
    return _core.list_presets("faults")


def routing_presets() -> list[str]:
    """Return the names of the presets of routing."""
    return _core.list_presets("routing")


def transport_presets() -> list[str]:
    """Return the names of the presets of senders' recovery."""
    return _core.list_presets("recovery")


def rates(name: str) -> tuple[Rate, ...]:
    """Return the failure rates of a preset."""
    top = _preset("faults", name).allow("rate")
    return tuple(_rate(table) for table in top.parts("rate"))


def routing(name: str) -> Options:
    """Return the keys of [recovery] that a preset sets."""
    return _preset("routing", name)


def transport(name: str) -> Options:
    """Return the keys of [recovery] that a preset of senders' recovery sets."""
    return _preset("recovery", name)


def _preset(kind: str, name: str) -> Options:
    path = paths.installed("presets", kind, f"{name}.toml")
    return parse(read_text(path), str(path))


def _rate(table: Options) -> Rate:
    name = table.choice("of", tuple(KINDS), "")
    time_s = table.number("days", 1, 36_500, 0) * DAY_S
    if "failed" in table.allow("of", "days", "failed", "failures", "among").values:
        part = float(table.text("failed").removesuffix("%")) / 100
        # The part that has failed at least once: 1 - exp(-time / mtbf).
        return Rate(name, KINDS[name], time_s / -log1p(-part))
    failures = table.integer("failures", 1, 2**31)
    among = table.integer("among", 1, 2**31)
    return Rate(name, KINDS[name], time_s * among / failures)
