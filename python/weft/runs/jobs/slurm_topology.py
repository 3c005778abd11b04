# SPDX-License-Identifier: LGPL-2.1-only
"""Slurm's topology/tree: the switches of a cluster, and the nodes of its leaf switches.

SwitchName=leaf0 Nodes=node[001-016]
SwitchName=spine Switches=leaf[0-3]

`scontrol show topology` prints such lines with `Level=` and with the nodes of every level; only
switches without `Switches=` (level 0) connect nodes directly. Since version 25.05, a
`topology.yaml` may describe the same topology (`switch`, `children`, `nodes`).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from weft.base import node_list
from weft.base.topology_files import SLURM_YAML, kind_of
from weft.runs.jobs import simple_yaml

_FIELD = re.compile(r"([A-Za-z]+)\s*=\s*(\S+)")


@dataclass(frozen=True)
class SlurmSwitch:
    """Switch with its nodes, or with its child switches."""

    name: str
    nodes: Sequence[str]
    children: Sequence[str]


def leaves_of(text: str) -> dict[str, list[str]]:
    """Return the nodes of each leaf switch, in the order of the file.

    Raises `ValueError` with the problem as a clause.
    """
    leaves = {one.name: list(one.nodes) for one in switches_of(text) if one.nodes}
    if not leaves:
        raise ValueError("no switch has Nodes; write lines such as SwitchName=s0 Nodes=node[1-16]")
    return leaves


def switches_of(text: str) -> list[SlurmSwitch]:
    """Return all switches in file order. Raises `ValueError` with a clause."""
    kind = kind_of(text)
    if kind is not None and kind.name == SLURM_YAML:
        return list(_of_yaml(text))
    if kind is not None and not kind.name:
        raise ValueError(f"it is {kind.said}")
    return list(_of_lines(text))


def _of_lines(text: str) -> Iterator[SlurmSwitch]:
    whole = text.replace("\\\n", " ")
    for number, line in enumerate(whole.splitlines(), 1):
        fields = {key.lower(): value for key, value in _FIELD.findall(line.partition("#")[0])}
        if "nodes" in fields and "switchname" not in fields:
            raise ValueError(f"line {number} has Nodes, and no SwitchName")
        if "switchname" not in fields:
            continue
        above = "switches" in fields or fields.get("level", "0") != "0"
        try:
            nodes = [] if above else node_list.expand(fields.get("nodes", ""))
            children = node_list.expand(fields.get("switches", ""))
            for name in node_list.expand(fields["switchname"]):
                yield SlurmSwitch(name, nodes, children)
        except ValueError as error:
            raise ValueError(f"line {number}: {error}") from None


def _of_yaml(text: str) -> Iterator[SlurmSwitch]:
    found = simple_yaml.parse(text)
    named = [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
    trees = [one for one in named if isinstance(one.get("tree"), dict)]
    if not trees:
        kinds = [key for one in named for key in ("block", "flat", "ring") if one.get(key)]
        said = f"topology/{kinds[0]}" if kinds else "no topology"
        raise ValueError(f"it describes {said}; weft reads topology/tree, with switches")
    chosen = next((one for one in trees if one.get("cluster_default") is True), trees[0])
    rows = chosen["tree"].get("switches")
    for row in rows if isinstance(rows, list) else []:
        yield _yaml_switch(row)


def _yaml_switch(row: Any) -> SlurmSwitch:
    if not isinstance(row, dict) or "switch" not in row:
        raise ValueError("an entry of `switches` has no `switch`, its name")
    name = str(row["switch"])
    try:
        children = node_list.expand(str(row.get("children") or ""))
        nodes = [] if children else node_list.expand(str(row.get("nodes") or ""))
    except ValueError as error:
        raise ValueError(f"switch {name}: {error}") from None
    return SlurmSwitch(name, nodes, children)


def hosts_of_nodes(
    leaves: Mapping[str, Sequence[str]], fabric: Sequence[Sequence[str]]
) -> dict[str, str]:
    """Return the host of each node, assigned in order by switch and by node.

    Args:
        leaves: The nodes of each switch.
        fabric: The hosts of each leaf switch of the fabric.

    Raises:
        ValueError: The fabric has too few leaf switches, or too few hosts on a leaf switch.
    """
    if len(leaves) > len(fabric):
        raise ValueError(
            f"it has {len(leaves)} switches with nodes, and the fabric {len(fabric)} with hosts"
        )
    found: dict[str, str] = {}
    for (switch, nodes), hosts in zip(leaves.items(), fabric, strict=False):
        if len(nodes) > len(hosts):
            raise ValueError(
                f"{switch} has {len(nodes)} nodes, and the switch of the fabric in its place"
                f" {len(hosts)} hosts"
            )
        for node, host in zip(nodes, hosts, strict=False):
            if node in found:
                raise ValueError(f"{node} is on two switches")
            found[node] = host
    return found
