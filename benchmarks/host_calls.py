# SPDX-License-Identifier: LGPL-2.1-only
"""CPU time of runs without offloading, compared with plain SimGrid.

The same program runs on a weft fabric and on the same star as a stock SimGrid platform. The network
settings are the same, so the simulated times must agree.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from allreduce import Key, Standard, checked
from measure import Case, ChildExit, Cost, ratio

from weft.base import paths
from weft.base.errors import WeftError
from weft.base.process import run_child, work_directory
from weft.runs import launch
from weft.runs.launch import PreparedRun
from weft.runs.request import Request
from weft.runs.toolchain import compile_c

RANKS, PPN = 512, 8
_HOSTS = RANKS // PPN
_CALLS = (1, 101)
# SMPI's algorithm, used on both sides.
_CONFIG = ("smpi/bcast:binomial_tree",)

_FABRIC = f"""
[fabric]
name = "star"
[topology]
kind = "star"
hosts = {_HOSTS}
[host]
preset = "xeon-8360"
loopback_bandwidth = "10GBps"
loopback_latency = "0us"
[nic]
preset = "connectx-6-dx"
[link]
bandwidth = "100Gbps"
latency = "1us"
[switch]
preset = "l2"
forwarding_latency = "0us"
"""

_STOCK = f"""<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="star" prefix="host-" suffix="" radical="0-{_HOSTS - 1}" speed="76.8Gf" core="72"
           bw="100Gbps" lat="1us" sharing_policy="SPLITDUPLEX"
           loopback_bw="10GBps" loopback_lat="0s"/>
</platform>
"""
# Settings equivalent to a fabric without [[point_to_point]], as SMPI's defaults describe TCP.
# Stacks are SimGrid's own, with the cheapest settings.
_STOCK_CONFIG = (
    "contexts/stack-size:64",
    "contexts/guard-size:0",
    "network/crosstraffic:0",
    "network/TCP-gamma:0",
    "network/weight-S:0",
    "network/latency-factor:1",
    "network/bandwidth-factor:1",
)

WEFT = Key("weft", RANKS, PPN, "shift + bcast, 1 KiB")
STOCK = replace(WEFT, mode="SimGrid alone")


@dataclass
class Pair:
    """Two cases, and the simulated times printed by their programs, by number of calls."""

    weft: Case
    stock: Case
    simulated_s: dict[str, dict[int, str]] = field(default_factory=dict)

    def cases(self) -> dict[Key, Case]:
        """Return both cases by name."""
        return {WEFT: self.weft, STOCK: self.stock}

    @property
    def same_simulated_time(self) -> bool:
        """True if the simulated times agree to the last digit."""
        return self.simulated_s["weft"] == self.simulated_s["stock"]


def cases(work: Path) -> Pair:
    """Compile the benchmark and return the cases to run."""
    program, fabric, platform = work / "host_calls", work / "star.toml", work / "star.xml"
    compile_c(Path(__file__).with_name("host_calls.c"), program)
    fabric.write_text(_FABRIC)
    platform.write_text(_STOCK)
    request = Request.of(
        fabric=str(fabric),
        ranks=RANKS,
        program=str(program),
        ppn=PPN,
        privatize=False,
        config=_CONFIG,
    )
    simulated: dict[str, dict[int, str]] = {"weft": {}, "stock": {}}
    stock = request.changed(config=(*_CONFIG, *_STOCK_CONFIG))
    return Pair(
        _case(_run_weft, launch.prepare(request), simulated["weft"]),
        _case(_stock_runner(platform), launch.prepare(stock), simulated["stock"]),
        simulated,
    )


Runner = Callable[[PreparedRun, Callable[[str], None]], ChildExit]


def _case(runner: Runner, plan: PreparedRun, simulated_s: dict[int, str]) -> Case:
    def run(calls: int) -> ChildExit:
        def take(line: str) -> None:
            simulated_s[calls] = line

        request = plan.request.changed(arguments=(str(calls),))
        return runner(replace(plan, request=request), take)

    return Case(run, RANKS, *_CALLS)


def _run_weft(plan: PreparedRun, take: Callable[[str], None]) -> ChildExit:
    return checked(launch.run(plan, take))


def _stock_runner(platform: Path) -> Runner:
    def run(plan: PreparedRun, take: Callable[[str], None]) -> ChildExit:
        with work_directory() as work:
            hosts = (f"host-{rank // PPN}\n" for rank in range(RANKS))
            (work / "hosts").write_text("".join(hosts))
            command = launch.build_command(plan, work)
            command[command.index(str(paths.platform_library()))] = str(platform)
            ended = run_child(command, plan.simgrid.environment(os.environ), on_line=take)
        if ended.returncode != 0:
            raise WeftError(f"bench: {' '.join(command)} ended with status {ended.returncode}")
        return ended

    return run


def standards(costs: Mapping[Key, Cost]) -> list[Standard]:
    """Compare the CPU time under weft with plain SimGrid's."""
    return [Standard("weft / SimGrid alone", ratio(costs[WEFT], costs[STOCK]), 1.05, at_most=True)]
