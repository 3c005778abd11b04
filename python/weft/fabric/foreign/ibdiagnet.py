# SPDX-License-Identifier: LGPL-2.1-only
"""Reader for ibdiagnet's lists of links: ibdiagnet2.lst and ibdiagnet2.net_dump.

A line of the .lst has both ends, `{ CA Ports:01 … NodeGUID:… {node01 mlx5_0} LID:0005 PN:01 }`, and
`PHY=4x LOG=ACT SPD=50` (ibdm of ibutils, Fabric.cpp, dumpLSTFile). The .net_dump has a line
`"leaf-1", Mellanox, 0xb8ce…, LID 1` for each switch, a line that names the columns, and one for
each port, whose columns are separated by colons.
"""

import re
from collections.abc import Iterator, Mapping

from weft.fabric.foreign import infiniband
from weft.fabric.foreign.topology import ForeignTopology

_END = re.compile(
    r"\{\s*(CA|SW|RT)\s+Ports:.*?\bNodeGUID:([0-9a-fA-F]+).*?"
    r"(?:\{(.*?)\}\s*)?\bLID:[0-9a-fA-F]+\s+PN:([0-9a-fA-F]+)\s*\}"
)
_STATE = re.compile(r"PHY=(\d+)x\s+LOG=(\w+)\s+SPD=(\S+)", re.IGNORECASE)
_SWITCH = re.compile(r'"(.*)",[^,]*,\s*0x([0-9a-fA-F]+),\s*LID\s+\d+')
_PORT = re.compile(r'([^"]*):\s*"(.*)"$')
_WIDTH = re.compile(r"(\d+)x", re.IGNORECASE)
_ROLES = {"CA": "H", "SW": "S", "RT": "R"}
_COLUMNS = ("#", "LWA", "LSA", "Neighbor Guid", "N#")


def read_list(text: str) -> ForeignTopology:
    """Return the hosts, switches and cables of a .lst."""
    nodes: dict[str, str] = {}
    links: list[infiniband.Link] = []
    for line in text.splitlines():
        found = _END.findall(line)
        state = _STATE.search(line)
        if len(found) != 2 or (state is not None and state[2].upper().startswith("DOW")):
            continue
        ends = []
        for role, guid, said, port in found:
            key = f"{_ROLES[role]}-{guid}"
            nodes[key] = nodes.get(key) or said.strip()
            ends.append((key, port))
        rate = _rate(state[1], state[3]) if state is not None else None
        links.append(((ends[0], ends[1]), rate))
    return infiniband.topology(nodes, links)


def read_dump(text: str) -> ForeignTopology:
    """Return the hosts, switches and cables of a .net_dump. Raises `ValueError` with a clause."""
    switches = {
        f"S-{_guid(found[2])}": found[1].strip()
        for line in text.splitlines()
        if (found := _SWITCH.match(line.strip()))
    }
    nodes = dict(switches)
    links = list(_dumped(text, nodes))
    return infiniband.topology(nodes, links)


def _dumped(text: str, nodes: dict[str, str]) -> Iterator[infiniband.Link]:
    """Yield the links of the switches; fill in the descriptions of their neighbours."""
    at = ""
    columns: Mapping[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if header := _SWITCH.match(line):
            at = f"S-{_guid(header[2])}"
        elif line.startswith("#") and "Neighbor Guid" in line:
            names = [name.strip() for name in line.split(":")]
            columns = {name: place for place, name in enumerate(names)}
        elif at and not line.startswith("#") and (port := _PORT.match(line)):
            row = [value.strip() for value in port[1].split(":")]
            if any(columns.get(name, len(row)) >= len(row) for name in _COLUMNS):
                raise ValueError(
                    f"line {number}: found {len(row)} columns without {', '.join(_COLUMNS)}"
                )
            label, width, speed, guid, far = (row[columns[name]] for name in _COLUMNS)
            if not re.fullmatch(r"0x[0-9a-fA-F]+", guid) or not int(guid, 16):
                continue  # nothing is connected
            key = f"S-{_guid(guid[2:])}"
            key = key if key in nodes else f"H-{_guid(guid[2:])}"
            nodes[key] = nodes.get(key) or port[2].strip()
            lanes = _WIDTH.match(width)
            yield ((at, label), (key, far)), _rate(lanes[1], speed) if lanes else None


def _guid(digits: str) -> str:
    """Return a GUID with all of its digits, since net_dump omits leading zeros."""
    return digits.lower().zfill(16)


def _rate(width: str, speed: str) -> float | None:
    gbps = infiniband.lane_gbps(speed)
    return None if gbps is None else int(width) * gbps * 1e9
