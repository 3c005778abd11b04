# SPDX-License-Identifier: LGPL-2.1-only
"""Reader for the output of iblinkinfo, also with `--line`.

A node is a line `Switch: 0xb8ce… MF0;leaf-1:MQM8790/U1:` or `CA: node01 mlx5_0:`, and its ports are
lines `5 1[  ] ==( 4X 53.125 Gbps Active/  LinkUp)==> 1 7[  ] "MF0;leaf-1:MQM8790/U1" ( )`, after
the port's GUID if the node is an HCA. With `--line`, GUID and description stand before each port
(iblinkinfo.c of rdma-core). LIDs identify the ports of HCAs, and switches, at both ends of a cable.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from weft.fabric.foreign import infiniband
from weft.fabric.foreign.topology import ForeignTopology

_NODE = re.compile(r"(CA|Switch|Router):\s+(?:0x([0-9a-fA-F]+)\s+)?(.*?)\s*:$")
_PORT = re.compile(
    r'(?:0x([0-9a-fA-F]+)\s+)?(?:"\s*(.*?)\s*"\s+)?(\d+)\s+(\d+)\[[^\]]*\]\s*==\(\s*(.*?)\s*\)==>'
    r'(?:\s*0x[0-9a-fA-F]+)?\s*(?:(\d+)\s+(\d+))?\[[^\]]*\]\s*"\s*(.*?)\s*"'
)
_STATE = re.compile(r"(\d+)X\s+([\d.]+)\s+Gbps(.*)")
_SWITCH = re.compile(r"MF\d+;|switch|infiniscale|quantum", re.IGNORECASE)
_ROLES = {"CA": "H", "Switch": "S", "Router": "R"}
_NO_LIDS = ("0", "65535")


@dataclass(frozen=True)
class _Port:
    """Line of a port; texts that the line does not state are empty."""

    role: str
    node: str
    said: str
    lid: str
    number: str
    state: str
    far_lid: str
    far_number: str
    far_said: str


def read(text: str) -> ForeignTopology:
    """Return the hosts, switches and cables."""
    ports = list(_ports(text))
    roles = _roles(ports)
    keys: dict[str, str] = {}
    nodes: dict[str, str] = {}
    for one in ports:
        if one.lid not in _NO_LIDS:
            key = keys.setdefault(one.lid, f"{roles[one.lid]}-{one.node or one.lid}")
            nodes[key] = nodes.get(key) or one.said
    links: list[infiniband.Link] = []
    for one in ports:
        if one.far_lid and one.lid not in _NO_LIDS and one.far_lid not in _NO_LIDS:
            far = keys.setdefault(one.far_lid, f"{roles[one.far_lid]}-{one.far_lid}")
            nodes[far] = nodes.get(far) or one.far_said
            # A switch has a single LID; each port of an HCA has its own.
            ends = ((keys[one.lid], f"{one.lid}/{one.number}"), (far, _far_port(one)))
            links.append((ends, _rate(one.state)))
    return infiniband.topology(nodes, links)


def _far_port(one: _Port) -> str:
    return f"{one.far_lid}/{one.far_number}"


def _ports(text: str) -> Iterator[_Port]:
    role = node = said = ""
    for line in text.splitlines():
        line = line.strip()
        if header := _NODE.match(line):
            role, node, said = _ROLES[header[1]], header[2] or "", header[3]
        elif port := _PORT.match(line):
            if role == "H" and not node:
                node = port[1] or ""  # distinguishes HCAs with the same description
            own = port[2] if port[2] is not None else said
            rest = (port[group] or "" for group in (3, 4, 5, 6, 7, 8))
            yield _Port(role, node, own, *rest)


def _roles(ports: Sequence[_Port]) -> Mapping[str, str]:
    """Return the role letter of each LID.

    Without node lines (`--line`, partial scans), a LID with several ports belongs to a switch.
    """
    stated = {one.lid: one.role for one in ports if one.role}
    numbers: dict[str, set[str]] = {}
    said: dict[str, str] = {}
    for one in ports:
        for lid, number, text in (
            (one.lid, one.number, one.said),
            (one.far_lid, one.far_number, one.far_said),
        ):
            numbers.setdefault(lid, set()).add(number)
            said[lid] = said.get(lid) or text
    return {
        lid: stated.get(lid) or ("S" if _is_switch(said[lid], len(found)) else "H")
        for lid, found in numbers.items()
    }


def _is_switch(description: str, ports: int) -> bool:
    if infiniband.is_hca(description):
        return False
    return ports > 1 or _SWITCH.search(description) is not None


def _rate(state: str) -> float | None:
    match = _STATE.match(state)
    if match is None:
        return None
    gbps = infiniband.lane_gbps("FDR10" if "FDR10" in match[3] else match[2])
    return None if gbps is None else int(match[1]) * gbps * 1e9
