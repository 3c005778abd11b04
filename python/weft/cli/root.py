"""The command `weft` itself."""

import click

from weft import _core
from weft.cli.bench import bench
from weft.cli.bench_collectives import commands as collective_benches
from weft.cli.cache import cache
from weft.cli.calibrate import calibrate
from weft.cli.calibrate_cpu import cpu
from weft.cli.common import help_group
from weft.cli.compilers import cc, cxx, f90
from weft.cli.demo import demo
from weft.cli.fabric import fabric
from weft.cli.progress_engine import progress_engine
from weft.cli.replay import replay
from weft.cli.run import run
from weft.cli.testbed import testbed
from weft.cli.validate import validate

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
  message    offloaded by store and forward, a message a rank
  multicast  Bcast and Allgather by the hosts, on switches that copy packets
  auto       stream where that is predicted to be faster, else the hosts
  ppn        ranks a host
"""


weft = click.version_option(
    _core.version,
    "-V",
    "--version",
    message=f"weft %(version)s, with SimGrid {_core.simgrid_version}",
)(help_group("weft", _HELP))

calibrate.add_command(cpu)
for command in collective_benches:
    bench.add_command(command)
_COMMANDS = (
    *(run, replay, bench, calibrate, validate, fabric, progress_engine, cache, testbed),
    *(demo, cc, cxx, f90),
)
for command in _COMMANDS:
    weft.add_command(command)
