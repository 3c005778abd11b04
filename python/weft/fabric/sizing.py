# SPDX-License-Identifier: LGPL-2.1-only
"""Trees for a given number of hosts, oversubscription and switch radix.

A leaf switch with k a ports to hosts and k b ports to spines has the oversubscription a:b. Levels
above the leaves are not oversubscribed. weft chooses the tree with the fewest switches among all
trees of two levels, or else of three, and breaks ties by the fewest unused host ports.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, gcd

from weft.base.errors import WeftError, named
from weft.fabric.defaults import FilledTemplate, NewFabricOptions, fill, ports_of, switch_of

SIZED = "sized"
"""Kind of fabrics that are specified by size instead of topology."""
KEYS = ("hosts", "oversubscription", "radix")
_RADIX = 64
"""Ports of switches that have more than `_LARGEST_RADIX`: NVIDIA's QM9700 (product brief)."""
_RATIO = re.compile(r"([1-9]\d{0,3})(?::([1-9]\d{0,3}))?")
_LARGEST_RADIX = 1024


@dataclass(frozen=True, kw_only=True)
class Tree:
    """Star or fat tree with space for a number of hosts."""

    hosts: int
    down: tuple[int, ...]
    """Empty for a star."""
    up: tuple[int, ...]
    cables: tuple[int, ...]
    places: int
    switches: int

    @property
    def kind(self) -> str:
        """Kind of topology."""
        return "fat_tree" if self.down else "star"

    @property
    def options(self) -> Mapping[str, Sequence[str]]:
        """Keys of [topology] as on the command line."""
        if not self.down:
            return {"hosts": [str(self.hosts)]}
        levels = {"down": self.down, "up": self.up, "cables": self.cables}
        return {
            **{key: [",".join(map(str, values))] for key, values in levels.items()},
            **({"hosts": [str(self.hosts)]} if self.hosts < self.places else {}),
        }

    @property
    def said(self) -> str:
        """Summary of the choice for users."""
        if not self.down:
            return f"a star: one switch has room for {self.hosts} hosts"
        leaf = f"leaves with {self.down[0]} hosts and {self.up[1] * self.cables[1]} uplinks"
        empty = self.places - self.hosts
        room = f", {empty:,} of {self.places:,} places empty" if empty else ""
        return f"a fat tree of {len(self.down)} levels: {leaf}, {self.switches:,} switches{room}"


def tree_of(hosts: int, oversubscription: str, radix: int, ports: int = _LARGEST_RADIX) -> Tree:
    """Return the smallest tree of a size, from switches of which `radix` of `ports` ports are used.

    Raises:
        WeftError: No tree of at most three levels fits; the error names the nearest trees that do.
    """
    ratio = _ratio(oversubscription)
    if hosts < 2:
        raise WeftError(f"{named('hosts')}: found {hosts}; allowed are at least 2 hosts")
    if not 2 <= radix <= _LARGEST_RADIX:
        raise WeftError(f"{named('radix')}: found {radix}; allowed are 2 to {_LARGEST_RADIX} ports")
    if hosts <= radix:
        return Tree(hosts=hosts, down=(), up=(), cables=(), places=hosts, switches=1)
    found = _smallest(hosts, ratio, radix)
    if found is None:
        raise WeftError(_nearest(hosts, ratio, radix, ports))
    return found


def fill_sized(
    hosts: int, oversubscription: str, radix: int | None, name: str, asked: NewFabricOptions
) -> tuple[Tree, FilledTemplate]:
    """Return the smallest tree of a size, and its template.

    Without `radix`, switches have the ports of their preset.
    """
    switch = switch_of(asked)
    own = ports_of(switch) if switch else None
    ports = min(own or _LARGEST_RADIX, _LARGEST_RADIX)
    if radix is None:
        radix = _RADIX if ports == _LARGEST_RADIX else ports
    if ports < radix <= _LARGEST_RADIX:
        raise WeftError(
            f"{named('radix')}: found {radix}, and a {switch} has {ports} ports; write"
            f" {named('radix')} {ports}, or name another {named('switch_preset')}"
        )
    tree = tree_of(hosts, oversubscription, radix, ports)
    filled = fill(tree.kind, tree.options, name, asked)
    return tree, replace(filled, template=replace(filled.template, max_ports=radix))


def _ratio(text: str) -> tuple[int, int]:
    match = _RATIO.fullmatch(text.strip())
    if match is None:
        raise WeftError(
            f"{named('oversubscription')}: found {text!r}; write the bandwidth to hosts over that"
            " to spines, such as 2:1, or 1:1 for none"
        )
    down, up = int(match[1]), int(match[2] or 1)
    if down < up:
        raise WeftError(
            f"{named('oversubscription')}: found {text!r}, with more bandwidth to spines than to"
            " hosts; write 1:1 or more"
        )
    common = gcd(down, up)
    return down // common, up // common


def _smallest(hosts: int, ratio: tuple[int, int], radix: int) -> Tree | None:
    for trees in (_two_levels, _three_levels):
        found = list(trees(hosts, ratio, radix))
        if found:
            return min(found, key=lambda tree: (tree.switches, tree.places, tree.up))
    return None


def _leaves(ratio: tuple[int, int], radix: int) -> Iterator[tuple[int, int]]:
    """Yield the numbers of a leaf's ports to hosts and to upper switches."""
    down, up = ratio
    for times in range(1, radix // (down + up) + 1):
        yield times * down, times * up


def _parallel(uplinks: int, below: int, radix: int) -> int:
    """Return the most parallel cables to each parent: fewest parents, with ports for all leaves."""
    return max(
        (one for one in range(1, uplinks + 1) if uplinks % one == 0 and below * one <= radix),
        default=0,
    )


def _two_levels(hosts: int, ratio: tuple[int, int], radix: int) -> Iterator[Tree]:
    for down, up in _leaves(ratio, radix):
        leaves = ceil(hosts / down)
        cables = _parallel(up, leaves, radix)
        if cables:
            spines = up // cables
            yield Tree(
                hosts=hosts,
                down=(down, leaves),
                up=(1, spines),
                cables=(1, cables),
                places=down * leaves,
                switches=leaves + spines,
            )


def _three_levels(hosts: int, ratio: tuple[int, int], radix: int) -> Iterator[Tree]:
    """Yield trees of pods: each leaf has a cable to every second-level switch of its pod."""
    half = radix // 2
    for down, up in _leaves(ratio, radix):
        pods = ceil(hosts / (down * half))
        leaves = ceil(hosts / (down * pods))
        cables = _parallel(leaves, pods, radix)
        if cables and leaves <= half:
            above = leaves // cables
            yield Tree(
                hosts=hosts,
                down=(down, leaves, pods),
                up=(1, up, above),
                cables=(1, 1, cables),
                places=down * leaves * pods,
                switches=pods * (leaves + up) + up * above,
            )


def _most_hosts(ratio: tuple[int, int], radix: int) -> int:
    """Return the number of hosts of the largest tree."""
    down = max((one for one, _ in _leaves(ratio, radix)), default=0)
    return down * (radix // 2) * radix


def _nearest(hosts: int, ratio: tuple[int, int], radix: int, ports: int) -> str:
    """Return the error text that no tree fits, with the nearest trees that do."""
    written = f"{ratio[0]}:{ratio[1]}"
    choices = []
    if most := _most_hosts(ratio, radix):
        choices.append(f"at most {most:,} hosts")
    wider = next((one for one in range(radix, ports + 1) if _smallest(hosts, ratio, one)), None)
    if wider is not None:
        choices.append(f"{named('radix')} {wider}")
    steeper = next(
        (
            one
            for one in range(ceil(ratio[0] / ratio[1]), radix)
            if (one, 1) != ratio and _smallest(hosts, (one, 1), radix)
        ),
        None,
    )
    if steeper is not None:
        choices.append(f"{named('oversubscription')} {steeper}:1")
    return (
        f"{named('hosts')}: found {hosts:,}, which do not fit into three levels of switches with"
        f" {radix} ports at {written}; the nearest that fit: {', '.join(choices)}"
    )
