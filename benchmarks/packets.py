# SPDX-License-Identifier: LGPL-2.1-only
"""Speed of the network of packets, without SimGrid and MPI: benchmarks/packets.cpp.

A permutation and an incast among 1,024 hosts, 2 MB each, with credits.
"""

import json
from pathlib import Path

from allreduce import Standard
from network import compiled, succeed

_FABRIC = "fat-tree-1024"
_BYTES = 2_000_000
_MTU = "network.packet=4150B"


def standards(work: Path) -> list[Standard]:
    """Run both patterns, and compare their speed with the standard."""
    program = str(compiled(work, "packets_benchmark"))
    found = []
    for pattern in ("permutation", "incast"):
        command = [program, _FABRIC, str(_BYTES), pattern, "network.model=packets", _MTU]
        printed = json.loads(succeed(command))
        speed = printed["hops"] / printed["cpu_s"] / 1e6
        name = f"packets, {pattern} of 1,024 hosts"
        found.append(Standard(name, speed, 3, at_most=False, unit=" M hops/s"))
    return found
