# SPDX-License-Identifier: LGPL-2.1-only
"""InfiniBand subnets from reports: names of nodes, rates of links, each cable once.

HCAs whose descriptions begin with the same word belong to one host. Switches without a name are
named by their GUID.
"""

import re
from collections.abc import Iterable, Mapping

from weft.base.units import plural
from weft.fabric.foreign.topology import ForeignCable, ForeignTopology, unique

# Gb/s of data per lane (IBTA roadmap): SDR to QDR signal 2.5 to 10 with 8b/10b encoding, FDR
# signals 14.0625 with 64b/66b encoding; later generations are named by their data rate.
LANE_GBPS = {"SDR": 2, "DDR": 4, "QDR": 8, "FDR10": 10, "FDR": 14.0625 * 64 / 66}
LANE_GBPS |= {"EDR": 25, "HDR": 50, "NDR": 100, "XDR": 200}
# Signalling rate of a lane in Gb/s, as iblinkinfo prints it (libibmad, dump.c); ibdiagnet rounds it
# down.
_SIGNALLED = {"SDR": 2.5, "DDR": 5, "QDR": 10, "FDR": 14.0625, "EDR": 25.78125, "HDR": 53.125}
_SIGNALLED |= {"NDR": 106.25, "XDR": 212.5}
_ROUNDING = 0.07
_HCA = re.compile(
    r"(\S+)\s+(?:HCA-?\d*|\w*mlx\w*|mthca\d+|hfi\d\S*|ib\w*|bnxt\S*|irdma\S*|ibp\S*)$"
)
_MANAGED = re.compile(r"(?:MF\d+;)?([^:]+):([^/]+)(?:/(.*))?$")
_AGGREGATION = "Aggregation Node"

End = tuple[str, str]
"""Node and port: the node's identifier begins with the letter of its role (H, S or R)."""
Link = tuple[tuple[End, End], float | None]
"""Both ends of a cable, and its rate in bits per second."""


def topology(nodes: Mapping[str, str], links: Iterable[Link]) -> ForeignTopology:
    """Return the topology of nodes, given by their descriptions, and links.

    A link may be listed at both of its ends.
    """
    rates: dict[tuple[End, End], float | None] = {}
    for ends, rate in links:
        first, second = sorted(ends)
        rates[first, second] = rates.get((first, second)) or rate
    names = _host_names(nodes) | _switch_names(nodes)
    counts: dict[tuple[str, str, float | None], int] = {}
    for ((one, _), (other, _)), rate in rates.items():
        if one not in names or other not in names or names[one] == names[other]:
            continue
        key = (names[one], names[other], rate)
        counts[key] = counts.get(key, 0) + 1
    cables = [ForeignCable(a, b, rate, None, count) for (a, b, rate), count in counts.items()]
    hosts = dict.fromkeys(names[key] for key in nodes if key in names and key.startswith("H"))
    switches = [names[key] for key in nodes if key in names and key.startswith("S")]
    return ForeignTopology(list(hosts), switches, cables, _notes(nodes, names, len(hosts)))


def _notes(nodes: Mapping[str, str], names: Mapping[str, str], hosts: int) -> list[str]:
    notes = []
    if left_out := [key for key, said in nodes.items() if _AGGREGATION in said]:
        count = plural(len(left_out), "aggregation node")
        notes.append(f"{count} of switches ({_AGGREGATION}) left out")
    if routers := [key for key in nodes if key.startswith("R")]:
        notes.append(f"{plural(len(routers), 'router')} left out")
    if len([key for key in nodes if key.startswith("H") and key in names]) > hosts:
        notes.append("adapters with the same host name are one host's")
    return notes


def lane_gbps(signalled: str) -> float | None:
    """Return the data rate of a lane from its signalling rate in Gb/s, which may be rounded."""
    try:
        value = float(signalled)
    except ValueError:
        return LANE_GBPS.get(signalled.upper().replace("_", ""))
    for speed, gbps in _SIGNALLED.items():
        if abs(value / gbps - 1) < _ROUNDING:
            return LANE_GBPS[speed]
    return None


def is_hca(description: str) -> bool:
    """Return true if a description names a host and its adapter."""
    return _HCA.match(description.strip()) is not None


def is_managed(description: str) -> bool:
    """Return true for the description of a managed switch, such as `MF0;leaf-1:MQM8700/U1`."""
    return re.match(r"MF\d+;", description.strip()) is not None


def _host_names(nodes: Mapping[str, str]) -> dict[str, str]:
    """Return the host of each HCA; an HCA whose description names no host gets its own host."""
    found, own = {}, []
    for key, said in nodes.items():
        if not key.startswith("H") or _AGGREGATION in said:
            continue
        if match := _HCA.match(said.strip()):
            found[key] = match[1]
        else:
            own.append((key, said.strip() or key))
    cleaned = dict(zip(found, found.values(), strict=True))
    names = {host: new for host, new in unique((one, one) for one in set(cleaned.values())).items()}
    return {key: names[host] for key, host in found.items()} | unique(own)


def _switch_names(nodes: Mapping[str, str]) -> dict[str, str]:
    """Return the names of switches; in managed switches with several chips, also name the chip."""
    chips: dict[str, tuple[str, str]] = {}
    for key, said in nodes.items():
        if key.startswith("S"):
            match = _MANAGED.match(said.strip())
            chips[key] = (match[1], match[3] or "") if match else (said.strip() or key, "")
    known = [name for name, _ in chips.values()]
    return unique(
        (key, f"{name}/{chip}" if chip and known.count(name) > 1 else name)
        for key, (name, chip) in chips.items()
    )
