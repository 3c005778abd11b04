# SPDX-License-Identifier: LGPL-2.1-only
"""Requested topology: any fabric of weft, with hosts, switches, cables and routes by name."""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from weft import _core
from weft.base.errors import WeftError

if TYPE_CHECKING:
    from weft._core import Fabric

# Addresses are 10.EXPERIMENT.0.0/16, and a chassis has at most a few hundred ports.
MOST_HOSTS = 1024
# Name in messages for a kept plan's fabric, which is read from a temporary file.
_KEPT = "the plan's fabric"


@dataclass(frozen=True)
class Cable:
    """Requested cable; its links are `NAME.up`, from `lower` to `upper`, and `NAME.down`."""

    name: str
    lower: str
    upper: str
    speed: int
    latency_ns: float

    def other(self, end: str) -> str:
        """Return the other end."""
        return self.upper if end == self.lower else self.lower


@dataclass(frozen=True)
class Route:
    """Route between two hosts: the cables in order, and the switches between them.

    Two hosts with a direct cable have no switch between them.
    """

    hosts: tuple[str, str]
    cables: tuple[str, ...]
    switches: tuple[str, ...]

    @property
    def reached(self) -> tuple[str, ...]:
        """Far ends of the cables: the switches, and the destination host."""
        return (*self.switches, self.hosts[1])


@dataclass(frozen=True)
class Wanted:
    """Topology of one experiment; `text` is the fabric file."""

    name: str
    hosts: tuple[str, ...]
    switches: tuple[str, ...]
    cables: Mapping[str, Cable]
    text: str = field(repr=False)
    fabric: "Fabric" = field(repr=False, compare=False)

    @cached_property
    def at(self) -> dict[str, list[Cable]]:
        """Cables of each host and switch, in order."""
        found: dict[str, list[Cable]] = {name: [] for name in (*self.hosts, *self.switches)}
        for cable in self.cables.values():
            found[cable.lower].append(cable)
            found[cable.upper].append(cable)
        return found

    @cached_property
    def routes(self) -> dict[tuple[str, str], Route]:
        """Route of every ordered pair of hosts, as weft routes it."""
        return {
            (source, target): self._route(a, b)
            for a, source in enumerate(self.hosts)
            for b, target in enumerate(self.hosts)
            if a != b
        }

    def _route(self, source: int, target: int) -> Route:
        way = self.fabric.route(source, target)
        cables = tuple(link.removesuffix(".up").removesuffix(".down") for link in way["links"])
        return Route((self.hosts[source], self.hosts[target]), cables, tuple(way["through"]))


def read(name_or_path: str) -> Wanted:
    """Read a fabric file, or a shipped fabric."""
    fabric = _core.load_fabric(name_or_path)
    if len(fabric.hosts) > MOST_HOSTS:
        raise WeftError(
            f"{fabric.name}: has {len(fabric.hosts)} hosts; a testbed takes fabrics of at most"
            f" {MOST_HOSTS}"
        )
    return _wanted(fabric, Path(fabric.file).read_text(encoding="utf-8"))


def kept(text: str, source: str) -> Wanted:
    """Return the topology of a fabric file stored in a plan."""
    with tempfile.TemporaryDirectory(prefix="weft-") as directory:
        path = Path(directory) / "fabric.toml"
        path.write_text(text, encoding="utf-8")
        try:
            return _wanted(_core.load_fabric(str(path)), text)
        except _core.UserError as error:
            raise WeftError(f"{source}: {str(error).replace(str(path), _KEPT)}") from None


def _wanted(fabric: "Fabric", text: str) -> Wanted:
    names = [*fabric.hosts, *(switch["name"] for switch in fabric.switches)]
    cables = {
        one["name"]: Cable(
            one["name"],
            names[one["lower"]],
            names[one["upper"]],
            round(one["bandwidth_Bps"] * 8),
            round(one["latency_s"] * 1e9, 6),
        )
        for one in fabric.cables()
    }
    switches = tuple(names[len(fabric.hosts) :])
    return Wanted(fabric.name, tuple(fabric.hosts), switches, cables, text, fabric)


def named_apart(all_wanted: Sequence[Wanted], names: Sequence[str]) -> Iterator[tuple[str, Wanted]]:
    """Yield each with its experiment's name: the fabric's, numbered if already used."""
    taken = {*names}
    for wanted in all_wanted:
        name, number = wanted.name, 2
        while name in taken:
            name, number = f"{wanted.name}#{number}", number + 1
        taken.add(name)
        yield name, wanted
