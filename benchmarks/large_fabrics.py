# SPDX-License-Identifier: LGPL-2.1-only
"""Costs of large fabrics: building and checking, collectives over all ranks, route queries.

The Allreduce runs in the network, over all 65,536 ranks of a three-level fat tree. The Allgather
uses the multicast protocol on 1,024 hosts and checks its data; its figure includes the start and
end of the run. The route is SimGrid's `Host::route_to` between two random hosts of a four-level fat
tree (4,096 hosts), as for a message: the fabric's own routing plus SimGrid's call of it.
"""

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from allreduce import Key, Standard, checked
from measure import Case, Cost

from weft.base import paths
from weft.base.errors import WeftError
from weft.base.process import ChildExit, run_child
from weft.runs import launch
from weft.runs.record import Record
from weft.runs.request import Request
from weft.runs.simgrid import SimGrid
from weft.runs.toolchain import compile_c
from weft.study.bench import collectives as bench_collectives
from weft.study.bench.collectives import COLLECTIVES, CollectivesBench

LARGEST = "fat-tree-65536"
HOSTS = 65536
ALL_RANKS = Key("stream", HOSTS, 1, "allreduce, 1 KiB, fat tree")
ROUTE = Key("route_to", 4096, 1, "a route, 4-level fat tree")

_BUILD_AND_CHECK = f"from weft import _core; print(_core.load_fabric('{LARGEST}').check())"
_FOUR_LEVELS = """
[fabric]
name = "four-levels"
[topology]
kind = "fat_tree"
down = [8, 8, 8, 8]
up = [1, 8, 8, 8]
[host]
preset = "xeon-8360"
[nic]
preset = "connectx-6-dx"
[link]
bandwidth = "100Gbps"
latency = "1us"
[switch]
preset = "tofino"
"""


def build_and_check() -> ChildExit:
    """Build the largest fabric and check a sample of its routes, in a separate process."""
    command = [sys.executable, "-c", _BUILD_AND_CHECK]
    ended = run_child(command, os.environ, on_line=_ignore)
    if ended.returncode != 0:
        raise WeftError(f"bench: {' '.join(command)} ended with status {ended.returncode}")
    return ended


def routes(work: Path) -> dict[Key, Case]:
    """Compile the program that queries routes, and return the cases to run."""
    program, fabric = work / "routing", work / "four-levels.toml"
    _compile_cxx(Path(__file__).with_name("routing.cpp"), program)
    fabric.write_text(_FOUR_LEVELS)
    request = Request.of(fabric=str(fabric), ranks=4096, program=str(program), privatize=False)
    return {ROUTE: replace(_case(request, 1, 1_000_001), ranks=1)}


def all_ranks(work: Path) -> dict[Key, Case]:
    """Compile the Allreduce program and return the case, which is too slow for several rounds."""
    program = work / "allreduce"
    compile_c(Path(__file__).with_name("allreduce.c"), program)
    request = Request.of(fabric=LARGEST, ranks=HOSTS, program=str(program), privatize=False)
    return {ALL_RANKS: _case(request, 1, 21)}


def multicast_allgather(work: Path) -> Record:
    """Run one Allgather of 4 KiB per rank with the multicast protocol, one root at a time."""
    program = work / "collective_times"
    compile_c(paths.example("collective_times.c"), program)
    collective, fabric, size = COLLECTIVES["allgather"], "fat-tree-1024-radix-32", 4096
    study = CollectivesBench(collective, fabric, 1024, [size], ["multicast"])
    return bench_collectives.measure(study, program, "multicast", size)[1]


def _case(request: Request, few: int, many: int) -> Case:
    plan = launch.prepare(request)

    def run(calls: int) -> Record:
        arguments = request.changed(arguments=(str(calls),))
        return checked(launch.run(replace(plan, request=arguments), _ignore))

    return Case(run, request.placement.ranks, few, many)


def _compile_cxx(source: Path, program: Path) -> None:
    compiler = str(SimGrid().compiler("smpicxx"))
    command = [compiler, "-std=c++17", "-O2", str(source), "-o", str(program)]
    result = subprocess.run(command, text=True, capture_output=True, check=False)
    if result.returncode != 0:
        raise WeftError(f"bench: {' '.join(command)} failed:\n{result.stderr.rstrip()}")


def _ignore(_line: str) -> None:
    pass


def standards(built: ChildExit, multicast: Record, costs: Mapping[Key, Cost]) -> list[Standard]:
    """Compare the figures with the standards."""
    memory = built.peak_memory_bytes / 2**30
    allreduce, route = costs[ALL_RANKS].median_us, costs[ROUTE].median_us
    return [
        Standard("65,536 hosts built, checked", built.wall_time_s, 10, at_most=True, unit=" s"),
        Standard("65,536 hosts, peak memory", memory, 4, at_most=True, unit=" GiB"),
        Standard("stream, 65,536 ranks", allreduce, 6, at_most=True, unit=" us"),
        Standard(
            "multicast Allgather, 1,024 hosts", multicast.cpu_time_s, 20, at_most=True, unit=" s"
        ),
        Standard("a route, 4-level fat tree", route, 2, at_most=True, unit=" us"),
    ]
