# SPDX-License-Identifier: LGPL-2.1-only
"""Slurm's `topology.conf` (plugin topology/tree): the nodes of a cluster by their leaf switches.

SwitchName=leaf0 Nodes=node[001-016]
SwitchName=spine Switches=leaf[0-3]
"""

import re
from collections.abc import Mapping, Sequence

from weft.base import node_list

_FIELD = re.compile(r"([A-Za-z]+)=(\S+)")


def leaves_of(text: str) -> dict[str, list[str]]:
    """Return the nodes of each leaf switch, in the order of the file.

    Raises `ValueError` with what is wrong as a clause.
    """
    leaves: dict[str, list[str]] = {}
    whole = text.replace("\\\n", " ")
    for number, line in enumerate(whole.splitlines(), 1):
        fields = {key.lower(): value for key, value in _FIELD.findall(line.partition("#")[0])}
        if "nodes" not in fields:
            continue
        if "switchname" not in fields:
            raise ValueError(f"line {number} has Nodes, and no SwitchName")
        try:
            leaves[fields["switchname"]] = node_list.expand(fields["nodes"])
        except ValueError as error:
            raise ValueError(f"line {number}: {error}") from None
    if not leaves:
        raise ValueError("no switch has Nodes; write lines such as SwitchName=s0 Nodes=node[1-16]")
    return leaves


def hosts_of_nodes(
    leaves: Mapping[str, Sequence[str]], fabric: Sequence[Sequence[str]]
) -> dict[str, str]:
    """Return the host of each node: switch by switch, and node by node, in order.

    Args:
        leaves: The nodes of each switch.
        fabric: The hosts of each leaf switch of the fabric.

    Raises:
        ValueError: The fabric has too few leaf switches, or too few hosts on one.
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
