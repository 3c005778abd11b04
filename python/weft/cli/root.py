"""The command `weft` itself."""

import click

from weft import _core
from weft.cli.groups import lazy_group

_MODULES = {
    "run": "weft.cli.run",
    "replay": "weft.cli.replay",
    "bench": "weft.cli.bench_collectives",
    "calibrate": "weft.cli.calibrate",
    "validate": "weft.cli.validate",
    "fabric": "weft.cli.fabric",
    "progress-engine": "weft.cli.progress_engine",
    "cache": "weft.cli.cache",
    "testbed": "weft.cli.testbed",
    "demo": "weft.cli.demo",
    "cc": "weft.cli.compilers",
    "cxx": "weft.cli.compilers",
    "f90": "weft.cli.compilers",
}

_HELP = """
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
  stream     offloaded as a packet pipeline does it, packet by packet
  message    offloaded by store and forward, one message per rank
  multicast  Bcast and Allgather by the hosts, on switches that copy packets
  auto       stream where that is predicted to be faster, else the hosts
  ppn        ranks a host
"""


weft = click.version_option(
    _core.version,
    "-V",
    "--version",
    message=f"weft %(version)s, with SimGrid {_core.simgrid_version}",
)(lazy_group("weft", _HELP, _MODULES))
