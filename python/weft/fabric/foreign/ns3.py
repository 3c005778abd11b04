# SPDX-License-Identifier: LGPL-2.1-only
"""Reader for the topologies of ns-3's RDMA simulators (HPCC, PowerTCP) and of SimAI.

HPCC's first line is `nodes switches links`, PowerTCP's `nodes switches leaf-switches links`,
SimAI's `nodes gpus-per-server nvswitches switches links gpu-type`. Then follow the switches'
numbers, and a line for each link: both ends, rate, delay and error rate (SimAI, docs/Tutorial.md;
HPCC, simulation/mix/README; PowerTCP, powertcp-evaluation-burst.cc). Rates without a unit are bits
per second (ns-3, DataRate). All other nodes are hosts (GPUs in SimAI). The simulators ignore later
lines, in which HPCC files explain their format.
"""

import re
from collections.abc import Sequence

from weft.fabric.foreign.topology import (
    MOST_NODES,
    ForeignCable,
    ForeignTopology,
    bits_per_second,
    seconds,
)

_HPCC, _POWERTCP, _SIMAI = 3, 4, 5
_BARE = re.compile(r"[\d.eE+-]+")


def read(text: str) -> ForeignTopology:
    """Return the hosts, switches and cables. Raises `ValueError` with a clause."""
    (first, head), *rest = _lines(text)
    number = first
    counts = [int(word) for word in head if word.isdecimal()]
    simai = len(counts) >= _SIMAI
    if not simai and len(counts) not in (_HPCC, _POWERTCP):
        raise ValueError(
            f"line {number}: found {len(counts)} numbers; allowed are 3, PowerTCP's 4 or SimAI's 5"
        )
    nodes = counts[0]
    special, links = (counts[2] + counts[3], counts[4]) if simai else (counts[1], counts[-1])
    if nodes > MOST_NODES:
        raise ValueError(f"line {number}: found {nodes} nodes; allowed are at most {MOST_NODES}")
    switches: list[int] = []
    while rest and len(switches) < special:
        number, words = rest.pop(0)
        if not all(word.isdecimal() for word in words):
            raise ValueError(f"line {number}: found {words[0]}; allowed are numbers of switches")
        switches += [int(word) for word in words]
    if len(switches) != special:
        raise ValueError(
            f"line {number}: found {len(switches)} switches, and line 1 says {special}"
        )
    names = _names(nodes, switches, counts[2] if simai else 0, simai=simai)
    cables = [_cable(number, words, names) for number, words in rest[:links]]
    other = set(switches)
    hosts = [name for node, name in enumerate(names) if node not in other]
    notes = ["delays are those of cables alone, without hosts and NICs"]
    if simai:
        notes.append("each GPU is a host")
    if len(cables) != links:
        notes.append(f"it lists {len(cables)} of the {links} links that line {first} states")
    return ForeignTopology(hosts, [names[node] for node in switches], cables, notes)


def _lines(text: str) -> list[tuple[int, list[str]]]:
    """Return the words of each non-empty line, with its line number."""
    return [
        (number, line.split())
        for number, line in enumerate(text.splitlines(), 1)
        if line.strip() and not line.lstrip().startswith("#")
    ]


def _names(nodes: int, switches: Sequence[int], inner: int, *, simai: bool) -> list[str]:
    names = [f"{'gpu' if simai else 'host'}-{node}" for node in range(nodes)]
    for place, node in enumerate(switches):
        if node >= nodes:
            raise ValueError(f"found the switch {node}, and the nodes are 0 to {nodes - 1}")
        names[node] = f"{'nvswitch' if place < inner else 'switch'}-{node}"
    return names


def _cable(number: int, words: Sequence[str], names: Sequence[str]) -> ForeignCable:
    if len(words) not in (4, 5) or not (words[0].isdecimal() and words[1].isdecimal()):
        raise ValueError(
            f"line {number}: found {' '.join(words)[:40]}; a link is two nodes, rate, delay and"
            " error rate, such as 0 8 100Gbps 0.0005ms 0"
        )
    ends = [int(word) for word in words[:2]]
    for end in ends:
        if end >= len(names):
            raise ValueError(
                f"line {number}: found node {end}; the nodes are 0 to {len(names) - 1}"
            )
    unit = "bps" if _BARE.fullmatch(words[2]) else ""
    rate, delay = bits_per_second(words[2] + unit), seconds(words[3])
    if not rate or delay is None:
        raise ValueError(f"line {number}: found {words[2]} {words[3]}; write 100Gbps 0.0005ms")
    return ForeignCable(names[ends[0]], names[ends[1]], rate, delay)
