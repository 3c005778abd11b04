# SPDX-License-Identifier: LGPL-2.1-only
"""The command `weft` itself."""

import click

from weft import _core
from weft.cli.groups import lazy_group
from weft.runs.offloads import meanings

_COMMANDS = {
    "run": ("weft.cli.run", "Run an MPI program on a simulated fabric."),
    "replay": ("weft.cli.replay", "Replay a recorded program on another fabric."),
    "bench": ("weft.cli.bench", "Measure collectives on a simulated fabric."),
    "calibrate": ("weft.cli.calibrate", "Fit the parameters of a fabric file to measurements."),
    "validate": ("weft.cli.validate", "Compare the simulator with every measured table."),
    "fabric": ("weft.cli.fabric", "Make fabrics, and look at them."),
    "progress-engine": ("weft.cli.progress_engine", "Tell what a progress engine can do."),
    "campaign": ("weft.cli.campaign", "Many runs that one file describes."),
    "report": ("weft.cli.report", "Write one page of single runs."),
    "cache": ("weft.cli.cache", "What packet forwarding caches do with traffic."),
    "collectives": ("weft.cli.collectives", "Show how MPI libraries execute collectives."),
    "testbed": ("weft.cli.testbed", "Any topology on a real P4 switch."),
    "demo": ("weft.cli.demo", "Compare simulated latencies with measured ones."),
    "help": ("weft.cli.help", "Show a page of the documentation."),
    "completion": ("weft.cli.completion", "Have a shell complete commands and names."),
    "cc": ("weft.cli.compilers", "Compile C MPI programs for the simulator."),
    "cxx": ("weft.cli.compilers", "Compile C++ MPI programs for the simulator."),
    "f90": ("weft.cli.compilers", "Compile Fortran MPI programs for the simulator."),
}

_OFFLOADS = "\n".join(f"  {mode:<10} {meaning}" for mode, meaning in meanings().items())
_HELP = f"""
Simulate MPI programs on clusters whose switches compute.

weft runs an unmodified MPI program (C, C++, Fortran) on a simulated fabric of hosts, links and
smart switches, and says how long its collectives take when the switches do them, and when the
hosts do.

\b
A first run:
  weft cc hello.c -o hello
  weft run --fabric tofino-4 -n 4 -- ./hello

\b
Words:
  fabric     the network: hosts, NICs, links, switches; a TOML file or a shipped name
  offload    let the switches do a collective
  fallback   the algorithm on the hosts, for what is not offloaded
{_OFFLOADS}
  ppn        ranks per host
"""


weft = click.version_option(
    _core.version,
    "-V",
    "--version",
    message=f"weft %(version)s, with SimGrid {_core.simgrid_version}",
)(lazy_group("weft", _HELP, _COMMANDS))
