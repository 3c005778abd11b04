# SPDX-License-Identifier: LGPL-2.1-only
"""Reader for the output of ibnetdiscover, and of `ibnetdiscover -p`.

A node is a line `Switch 40 "S-b8ce…" # "MF0;leaf-1:MQM8790/U1" …` or `Ca 1 "H-0c42…" # "node01
mlx5_0"`, and its ports are lines `[1] "H-0c42…"[1](c42…) # "node01 mlx5_0" lid 5 4xHDR`
(ibnetdiscover.c of rdma-core). Each cable stands at both of its ends.
"""

import re
from collections.abc import Iterator

from weft.fabric.foreign import infiniband
from weft.fabric.foreign.topology import ForeignTopology

_NODE = re.compile(r'(Switch|Ca|Rt)\s+\d+\s+"([SHR]-[0-9a-fA-F]+)"(?:\[[^\]]*\])*\s*#\s*"(.*?)"')
_PORT = re.compile(
    r'\[(\d+)\](?:\[ext \d+\])?(?:\([0-9a-fA-F]+\))?\s+"([SHR]-[0-9a-fA-F]+)"\[(\d+)\]'
    r"(?:\[ext \d+\])?(?:\([0-9a-fA-F]+\))?\s*(?:#\s*(.*))?$"
)
_LINK = re.compile(
    r"(CA|SW|RT)\s+\d+\s+(\d+)\s+0x([0-9a-fA-F]+)\s+(\d+x)\s+(\S+)\s+-\s+"
    r"(CA|SW|RT)\s+\d+\s+(\d+)\s+0x([0-9a-fA-F]+)\s+\(\s*'(.*?)'\s+-\s+'(.*?)'\s*\)"
)
_QUOTED = re.compile(r'"(.*?)"')
_RATE = re.compile(r"(\d+)x\s?(SDR|DDR|QDR|FDR10|FDR|EDR|HDR|NDR|XDR)\b")
_ROLES = {"CA": "H", "SW": "S", "RT": "R"}


def read(text: str) -> ForeignTopology:
    """Return the hosts, switches and cables."""
    nodes: dict[str, str] = {}
    links = list(_links(text, nodes))
    return infiniband.topology(nodes, links)


def _links(text: str, nodes: dict[str, str]) -> Iterator[infiniband.Link]:
    """Yield the ends and the rate of each cable, from each end; fill in the nodes' descriptions."""
    at = None
    for line in text.splitlines():
        line = line.strip()
        if node := _NODE.match(line):
            at = node[2]
            nodes[at] = node[3]
        elif at is not None and (port := _PORT.match(line)):
            said = port[4] or ""
            quoted = _QUOTED.search(said)
            nodes.setdefault(port[2], quoted[1] if quoted else "")
            yield ((at, port[1]), (port[2], port[3])), _rate(said)
        elif link := _LINK.match(line):
            one = f"{_ROLES[link[1]]}-{link[3]}"
            other = f"{_ROLES[link[6]]}-{link[8]}"
            nodes.setdefault(one, link[9])
            nodes.setdefault(other, link[10])
            ends = ((one, link[2]), (other, link[7]))
            yield ends, _rate(f"{link[4]}{link[5]}")


def _rate(said: str) -> float | None:
    match = _RATE.search(_QUOTED.sub("", said))
    return None if match is None else int(match[1]) * infiniband.LANE_GBPS[match[2]] * 1e9
