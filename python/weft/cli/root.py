# SPDX-License-Identifier: LGPL-2.1-only
"""The command `weft` itself."""

import click

from weft import _core
from weft.base import extras
from weft.cli.groups import lazy_group
from weft.runs.offload_modes import meanings

_COMMANDS = {
    "run": ("weft.cli.run", "Run an MPI program on a simulated fabric."),
    "replay": ("weft.cli.replay", "Replay a recorded program on another fabric."),
    "train": ("weft.cli.training", "Simulate an iteration of training a language model."),
    "bench": ("weft.cli.bench", "Measure collectives on a simulated fabric."),
    "calibrate": ("weft.cli.calibrate", "Fit the parameters of a fabric file to measurements."),
    "validate": ("weft.cli.validate", "Compare the simulator with measured tables."),
    "fabric": ("weft.cli.fabric", "Create, check, show and draw fabrics."),
    "progress-engine": (
        "weft.cli.progress_engine",
        "Compute throughput and memory of a progress engine.",
    ),
    "campaign": ("weft.cli.campaign", "Run the parameter study that a file describes."),
    "report": ("weft.cli.report", "Write a report page about single runs."),
    "cache": ("weft.cli.cache", "Study the hits and misses of packet forwarding caches."),
    "collectives": ("weft.cli.collectives", "Show how MPI libraries execute collectives."),
    "demo": ("weft.cli.demo", "Compare simulated latencies with measured ones."),
    "help": ("weft.cli.help", "Show a page of the documentation."),
    "schema": ("weft.cli.schema", "Print the JSON schema of a kind of file."),
    "env": ("weft.cli.env", "Print the line that puts mpicc and mpiexec into PATH."),
    "completion": ("weft.cli.completion", "Print the completion script of a shell."),
    "cc": ("weft.cli.compilers", "Compile C MPI programs for the simulator."),
    "cxx": ("weft.cli.compilers", "Compile C++ MPI programs for the simulator."),
    "f90": ("weft.cli.compilers", "Compile Fortran MPI programs for the simulator."),
}

_OFFLOADS = "\n".join(f"  {mode:<10} {meaning}" for mode, meaning in meanings().items())
_HELP = f"""
Simulate MPI programs on clusters with in-network computing.

weft runs an unmodified MPI program (C, C++, Fortran) on a simulated fabric of hosts, links and
smart switches. It reports how long the program's collectives take when the switches execute them,
and when the hosts do.

\b
A first run:
  weft cc hello.c -o hello
  weft run --fabric tofino-4 -n 4 -- ./hello

\b
Terms:
  fabric     the network: hosts, NICs, links and switches; a TOML file or a shipped name
  offload    execute a collective in the network
  fallback   the host algorithm of a collective that is not offloaded
{_OFFLOADS}
  ppn        ranks per host
"""


def _tunings() -> str:
    """Return the active tunings, and the tunings that do not support the installed SimGrid."""
    off = _core.tunings_off()
    on = [row["name"] for row in _core.tunings() if row["name"] not in off]
    return f"Tunings on: {', '.join(on) or 'none'}\nTunings off: {', '.join(off) or 'none'}"


weft = click.version_option(
    _core.version,
    "-V",
    "--version",
    message=f"weft %(version)s, with SimGrid {_core.simgrid_version}\n{_tunings()}",
)(lazy_group("weft", _HELP, _COMMANDS, extras))
