# SPDX-License-Identifier: LGPL-2.1-only
"""Reader for ibdiagnet's files: ibdiagnet2.lst, .net_dump, .net_dump_ext and .db_csv.

A line of the .lst contains both ends of a link, `{ CA Ports:01 … NodeGUID:… {node01 mlx5_0}
LID:0005 PN:01 }`, and `PHY=4x LOG=ACT SPD=50` (ibdm of ibutils, Fabric.cpp, dumpLSTFile). The
.net_dump contains a line `"leaf-1", Mellanox, 0xb8ce…, LID 1` for each switch, a line that names
the columns, and one for each port, whose columns are separated by colons. The .net_dump_ext is a
single such table, whose column `Conn LID(#)` contains the LID and the label of the other port. The
.db_csv contains a CSV table for each subject, between START_NAME and END_NAME, with widths and
speeds in the codes of PortInfo (InfiniBand Architecture Specification 1.7, 14.2.5.6).
"""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence

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
_NODE_TYPES = {"1": "H", "2": "S", "3": "R"}
_WIDTHS = {1: "1", 2: "4", 4: "8", 8: "12", 16: "2"}
# Bits of the speed; FDR and above are extended speeds, and the highest set bit counts.
_SPEEDS = {1: "SDR", 2: "DDR", 4: "QDR", 1 << 8: "FDR", 1 << 9: "EDR", 1 << 10: "HDR"}
_SPEEDS |= {1 << 11: "NDR", 1 << 12: "XDR", 1 << 16: "FDR10"}
_CONNECTED = re.compile(r"(\d+)\s*\((.*)\)$")
_EXTENDED = ("Ty", "#", "GUID", "LID", "LWA", "LSA", "Conn LID(#)")
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
            key = f"S-{_guid(guid)}"
            if key not in nodes and not infiniband.is_managed(port[2]):
                key = f"H-{_guid(guid)}"
            nodes[key] = nodes.get(key) or port[2].strip()
            lanes = _WIDTH.match(width)
            yield ((at, label), (key, far)), _rate(lanes[1], speed) if lanes else None


def read_extended_dump(text: str) -> ForeignTopology:
    """Parse a .net_dump_ext. Raises `ValueError` with a clause."""
    nodes: dict[str, str] = {}
    of_lid: dict[str, str] = {}
    ports: list[tuple[infiniband.End, str, str, float | None]] = []
    columns: Mapping[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        row = [value.strip() for value in line.split(":", len(columns) - 1 if columns else -1)]
        if not columns and row[0] == "Ty":
            columns = {name.replace(" (", "("): place for place, name in enumerate(row)}
            if lacking := [name for name in _EXTENDED if name not in columns]:
                raise ValueError(f"line {number}: found no column {', '.join(lacking)}")
        elif columns and row[0] in _ROLES:
            if len(row) < len(columns):
                raise ValueError(f"line {number}: found {len(row)} of {len(columns)} columns")
            role, label, guid, lid, width, speed, far = (row[columns[one]] for one in _EXTENDED)
            key = f"{_ROLES[role]}-{_guid(guid)}"
            nodes[key] = row[-1].strip('"')
            of_lid[lid.split()[0]] = key
            if connected := _CONNECTED.match(far):
                lanes = _WIDTH.match(width)
                rate = _rate(lanes[1], speed) if lanes else None
                ports.append(((key, label), connected[1], connected[2], rate))
    links = [
        ((end, (of_lid[lid], label)), rate) for end, lid, label, rate in ports if lid in of_lid
    ]
    return infiniband.topology(nodes, links)


def read_database(text: str) -> ForeignTopology:
    """Parse a .db_csv. Raises `ValueError` with a clause."""
    nodes, roles = {}, {}
    for row in _table(text, "NODES", ("NodeDesc", "NodeType", "NodeGUID")):
        guid = _guid(row["NodeGUID"])
        roles[guid] = _NODE_TYPES.get(row["NodeType"], "R")
        nodes[f"{roles[guid]}-{guid}"] = row["NodeDesc"]
    rates = {
        (_guid(row["NodeGuid"]), row["PortNum"]): _coded_rate(
            row["LinkWidthActv"], row["LinkSpeedActv"]
        )
        for row in _table(
            text, "PORTS", ("NodeGuid", "PortNum", "LinkWidthActv", "LinkSpeedActv"), needed=False
        )
    }
    links: list[infiniband.Link] = []
    for row in _table(text, "LINKS", ("NodeGuid1", "PortNum1", "NodeGuid2", "PortNum2")):
        ends = [(_guid(row[f"NodeGuid{end}"]), row[f"PortNum{end}"]) for end in "12"]
        if lacking := [guid for guid, _ in ends if guid not in roles]:
            raise ValueError(f"a link names {lacking[0]}, which is not among its nodes")
        one, other = ((f"{roles[guid]}-{guid}", port) for guid, port in ends)
        links.append(((one, other), rates.get(ends[0]) or rates.get(ends[1])))
    return infiniband.topology(nodes, links)


def _table(
    text: str, name: str, columns: Sequence[str], needed: bool = True
) -> Iterator[dict[str, str]]:
    """Yield the rows of a table of a .db_csv."""
    found = re.search(rf"^START_{name}\s*$\n(.*?)^END_{name}\s*$", text, re.MULTILINE | re.DOTALL)
    if found is None:
        if needed:
            raise ValueError(f"it has no table from START_{name} to END_{name}: is it cut off?")
        return
    rows = csv.DictReader(found[1].splitlines())
    if lacking := [one for one in columns if one not in (rows.fieldnames or ())]:
        raise ValueError(f"its table {name} has no column {', '.join(lacking)}")
    for row in rows:
        if any(row[one] is None for one in columns):
            raise ValueError(f"its table {name} has a row that is cut off: {row[columns[0]]}")
        yield row


def _coded_rate(width: str, speed: str) -> float | None:
    if not (width.isdecimal() and speed.isdecimal()):
        return None
    lanes = _WIDTHS.get(int(width))
    bits = [bit for bit in _SPEEDS if int(speed) & bit]
    return _rate(lanes, _SPEEDS[max(bits)]) if lanes and bits else None


def _guid(digits: str) -> str:
    """Zero-pad a GUID, since net_dump omits leading zeros."""
    return digits.lower().removeprefix("0x").zfill(16)


def _rate(width: str, speed: str) -> float | None:
    gbps = infiniband.lane_gbps(speed)
    return None if gbps is None else int(width) * gbps * 1e9
