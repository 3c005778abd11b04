# SPDX-License-Identifier: LGPL-2.1-only
"""Reader for the output of ibnetdiscover, and of `ibnetdiscover -p`.

A node is a line `Switch 40 "S-b8ce…" # "MF0;leaf-1:MQM8790/U1" …` or `Ca 1 "H-0c42…" # "node01
mlx5_0"`, and its ports are lines `[1] "H-0c42…"[1](c42…) # "node01 mlx5_0" lid 5 4xHDR`
(ibnetdiscover.c of rdma-core). Each cable is listed at both of its ends. ibdiagnet's file of this
form labels ports: `[1](1/1/1)`. ibsim's networks, which have this form too, name nodes freely: `Hca
2 "node01"`, `[1] "leaf-1"[3]` (ibsim, README).
"""

import re
from collections.abc import Iterator

from weft.fabric.foreign import infiniband
from weft.fabric.foreign.topology import ForeignTopology

_NODE = re.compile(r'(Switch|Ca|Hca|Rt)\s+\d+\s+"(.+?)"(?:\[[^\]]*\])*\s*(?:#\s*"(.*?)")?')
_GUID = re.compile(r"[SHR]-[0-9a-fA-F]+")
_PORT = re.compile(
    r'\[(\d+)\](?:\[ext \d+\])?(?:\([^)"]*\))?\s+"(.+?)"\[(\d+)\]'
    r"(?:\[ext \d+\])?(?:\([^)]*\))?\s*(?:w=\d+\s*)?(?:#\s*(.*))?$"
)
_LINK = re.compile(
    r"(CA|SW|RT)\s+\d+\s+(\d+)\s+0x([0-9a-fA-F]+)\s+(\d+x)\s+(\S+)\s+-\s+"
    r"(CA|SW|RT)\s+\d+\s+(\d+)\s+0x([0-9a-fA-F]+)\s+\(\s*'(.*?)'\s+-\s+'(.*?)'\s*\)"
)
_QUOTED = re.compile(r'"(.*?)"')
_RATE = re.compile(r"(\d+)x\s?(SDR|DDR|QDR|FDR10|FDR|EDR|HDR|NDR|XDR)\b")
_ROLES = {"CA": "H", "SW": "S", "RT": "R", "Ca": "H", "Hca": "H", "Switch": "S", "Rt": "R"}


def read(text: str) -> ForeignTopology:
    """Return the hosts, switches and cables. Raises `ValueError` with a clause."""
    nodes: dict[str, str] = {}
    links = list(_links(text, nodes))
    return infiniband.topology(nodes, links)


def _links(text: str, nodes: dict[str, str]) -> Iterator[infiniband.Link]:
    """Yield the ends and the rate of each cable, from each end; fill in the nodes' descriptions."""
    lines = [line.strip() for line in text.splitlines()]
    keys = {node[2]: _key(node[1], node[2]) for line in lines if (node := _NODE.match(line))}
    at = None
    for line in lines:
        if node := _NODE.match(line):
            at = keys[node[2]]
            nodes[at] = node[3] or ("" if at == node[2] else node[2])
        elif at is not None and (port := _PORT.match(line)):
            other = keys.get(port[2], port[2])
            if other == port[2] and not _GUID.fullmatch(other):
                raise ValueError(
                    f"found the node {other!r} at the end of a cable and no node of it"
                )
            said = port[4] or ""
            quoted = _QUOTED.search(said)
            nodes.setdefault(other, quoted[1] if quoted else "")
            yield ((at, port[1]), (other, port[3])), _rate(said)
        elif link := _LINK.match(line):
            first = f"{_ROLES[link[1]]}-{link[3]}"
            second = f"{_ROLES[link[6]]}-{link[8]}"
            nodes.setdefault(first, link[9])
            nodes.setdefault(second, link[10])
            ends = ((first, link[2]), (second, link[7]))
            yield ends, _rate(f"{link[4]}{link[5]}")


def _key(kind: str, name: str) -> str:
    """Return the key of a node: its name, which starts with its role except in ibsim files."""
    return name if _GUID.fullmatch(name) else f"{_ROLES[kind]}-{name}"


def _rate(said: str) -> float | None:
    match = _RATE.search(_QUOTED.sub("", said))
    return None if match is None else int(match[1]) * infiniband.LANE_GBPS[match[2]] * 1e9
