# SPDX-License-Identifier: LGPL-2.1-only
"""CPU time of a message in the flow network, without SimGrid and MPI: benchmarks/network.cpp.

Rings, recursive doubling and Alltoall run with one rank per host, in host order or placed at
random, and a ring placed at random on a tree with a quarter of the uplinks. With random placement,
links join the flows to one large component, in which each message changes a few rates.
"""

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from allreduce import Key, Standard
from measure import Case, Cost

from weft.base.errors import WeftError

ROOT = Path(__file__).parent.parent


@dataclass(frozen=True)
class Carried:
    """Costs printed by the program."""

    cpu_time_s: float
    peak_memory_bytes: int


@dataclass(frozen=True)
class Network:
    """Row of the table: collective, placement, and the numbers of messages in the two runs."""

    fabric: str
    ranks: int
    collective: str
    algorithm: str
    bytes: int
    placement: str
    messages: tuple[int, int]
    changes: tuple[str, ...] = ()
    where: str = ""

    @property
    def key(self) -> Key:
        """Name of the row in the table."""
        name = f"{self.algorithm}, {self.placement}{self.where}, flow network alone, a message"
        return Key("network", self.ranks, 1, name)


_OVERSUBSCRIBED = ("topology.down=[32,16,32]", "topology.up=[1,8,16]")
_MIB = 1 << 20
OVERSUBSCRIBED = Network(
    *("fat-tree-65536", 16384, "allreduce", "ring", 1 << 30, "random", (40_000, 240_000)),
    changes=_OVERSUBSCRIBED,
    where=" on a 4:1 tree",
)
_ALL = (
    Network("fat-tree-1024", 1024, "allreduce", "ring", _MIB, "in-order", (1, 400_000)),
    Network("fat-tree-1024", 1024, "allreduce", "ring", _MIB, "random", (1, 400_000)),
    Network("fat-tree-1024", 1024, "alltoall", "pairwise", 1024, "in-order", (1, 400_000)),
    Network("fat-tree-1024", 1024, "alltoall", "pairwise", 65536, "random", (1, 400_000)),
    Network(
        *("fat-tree-65536", 65536, "allreduce", "recursive_doubling", 1024, "in-order"),
        messages=(1, 1 << 20),
    ),
    Network(
        *("fat-tree-65536", 65536, "allreduce", "recursive_doubling", 65536, "random"),
        messages=(1, 1 << 18),
    ),
    OVERSUBSCRIBED,
)


def cases(work: Path) -> dict[Key, Case]:
    """Compile the core and the program, and return the cases to run."""
    program = compiled(work, "network_benchmark")
    return {one.key: _case(one, program) for one in _ALL}


def compiled(work: Path, name: str) -> Path:
    """Compile the core and a program of this folder that needs no SimGrid."""
    build = work / "network"
    succeed(["cmake", "-S", str(ROOT), "-B", str(build), "-DWEFT_BENCHMARKS=ON"])
    jobs = str(os.cpu_count() or 1)
    succeed(["cmake", "--build", str(build), "--target", name, "-j", jobs])
    return build / name


def _case(one: Network, program: Path) -> Case:
    def run(messages: int) -> Carried:
        what = (one.fabric, str(one.ranks), one.collective, one.algorithm, str(one.bytes))
        command = [str(program), *what, one.placement, str(messages), *one.changes]
        printed = json.loads(succeed(command))
        return Carried(printed["cpu_s"], printed["peak_bytes"])

    return Case(run, 1, *one.messages)


def succeed(command: Sequence[str]) -> str:
    """Return what a command prints."""
    result = subprocess.run(command, text=True, capture_output=True, check=False)
    if result.returncode != 0:
        raise WeftError(f"bench: {' '.join(command)} failed:\n{result.stderr.rstrip()}")
    return result.stdout


def standards(costs: Mapping[Key, Cost]) -> list[Standard]:
    """Compare the figures with the standards."""
    figure = costs[OVERSUBSCRIBED.key].median_us
    name = "flow network, ring of 16,384 at random on a 4:1 tree, a message"
    return [Standard(name, figure, 2, at_most=True, unit=" us")]
