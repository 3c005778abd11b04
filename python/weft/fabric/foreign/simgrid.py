# SPDX-License-Identifier: LGPL-2.1-only
"""Reader for SimGrid's XML platforms.

A platform of a single <cluster> maps to a weft topology. The attributes `topology` and
`topo_parameters` contain its parameters: levels, children, parents and cables of a FAT_TREE
(`2;4,4;1,2;1,2`), sizes of a TORUS (`4,4`), and groups, chassis, routers and hosts of a DRAGONFLY,
with cables (`3,4;4,3;5,1;2`); all other clusters are stars (SimGrid,
docs/source/Platform_examples.rst). Other platforms are graphs
(`weft.fabric.foreign.simgrid_zones`).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree

from weft.fabric.foreign import simgrid_zones
from weft.fabric.foreign.simgrid_zones import AS_IT_IS, numbers, rate_and_latency
from weft.fabric.foreign.topology import ForeignTopology

_OTHERS = ("host", "link", "include", "cabinet", "peer")
_DRAGONFLY = re.compile(r"(\d+),(\d+);(\d+),(\d+);(\d+),(\d+);(\d+)")


@dataclass(frozen=True)
class ForeignCluster:
    """Topology of a cluster with its keys, and the common properties of its cables."""

    kind: str
    options: Mapping[str, Sequence[str]]
    bps: float
    latency_s: float
    notes: Sequence[str]


def read(text: str) -> ForeignCluster | ForeignTopology:
    """Parse a platform. Raises `ValueError` with a clause."""
    if "<!ENTITY" in text:
        raise ValueError(f"it declares entities; {AS_IT_IS}")
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        line, column = error.position
        raise ValueError(f"line {line}, column {column}: it is not valid XML") from None
    clusters = list(root.iter("cluster"))
    if len(clusters) != 1 or any(one.tag in _OTHERS for one in root.iter()):
        return simgrid_zones.read(root)
    cluster = clusters[0]
    rate, latency = rate_and_latency(cluster, "bw", "lat")
    kind, options = _topology(cluster)
    notes = ["names, speed and cores of its hosts are not taken"]
    if cluster.get("bb_bw"):
        notes.append("its backbone is left out: the switch of a star is no bottleneck")
    return ForeignCluster(kind, options, rate, latency, notes)


def _topology(cluster: ElementTree.Element) -> tuple[str, dict[str, Sequence[str]]]:
    """Return the topology's kind and keys."""
    kind = cluster.get("topology", "FLAT").upper()
    text = cluster.get("topo_parameters", "").replace(" ", "")
    if kind == "FLAT":
        return "star", {"hosts": (str(len(numbers(cluster.get("radical", "")))),)}
    if kind == "TORUS" and re.fullmatch(r"\d+(,\d+)*", text):
        return "torus", {"dimensions": (text,)}
    parts = text.split(";")
    if kind == "FAT_TREE" and len(parts) == 4 and parts[0].isdecimal():
        return "fat_tree", {"down": (parts[1],), "up": (parts[2],), "cables": (parts[3],)}
    if kind == "DRAGONFLY" and (match := _DRAGONFLY.fullmatch(text)):
        keys = ("groups", "global_cables", "chassis", "chassis_cables", "routers", "router_cables")
        values = ((one,) for one in match.groups())
        return "dragonfly", dict(zip((*keys, "hosts"), values, strict=True))
    raise ValueError(f"found topology '{kind}' with topo_parameters '{text}'; {AS_IT_IS}")
