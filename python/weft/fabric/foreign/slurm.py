# SPDX-License-Identifier: LGPL-2.1-only
"""Reader for Slurm's topology/tree: a cable from each switch to each of its nodes and children."""

from weft.fabric.foreign.topology import ForeignCable, ForeignTopology
from weft.runs.jobs.slurm_topology import switches_of


def read(text: str) -> ForeignTopology:
    """Return the hosts, switches and cables. Raises `ValueError` with a clause."""
    rows = switches_of(text)
    known = {row.name for row in rows}
    cables, hosts = [], dict[str, str]()
    for row in rows:
        for node in row.nodes:
            if node in hosts:
                raise ValueError(f"{node} is on {hosts[node]} and on {row.name}")
            hosts[node] = row.name
            cables.append(ForeignCable(node, row.name))
        for child in row.children:
            if child not in known:
                raise ValueError(f"{row.name} has the child {child}, which no line describes")
            cables.append(ForeignCable(child, row.name))
    if not hosts:
        raise ValueError("no switch has nodes")
    notes = ["one cable to each switch above: Slurm states neither their number nor rates"]
    return ForeignTopology(list(hosts), [row.name for row in rows], cables, notes)
