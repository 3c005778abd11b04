"""The command `weft` itself."""

from importlib import import_module

import click
from click.exceptions import NoSuchCommand

from weft import _core
from weft.cli.common import help_group

# The module of weft.cli that has each command. It is loaded when its command is named: loading all
# of them takes longer than most commands do.
_MODULES = {
    "run": "run",
    "replay": "replay",
    "bench": "bench_collectives",
    "calibrate": "calibrate",
    "validate": "validate",
    "fabric": "fabric",
    "progress-engine": "progress_engine",
    "cache": "cache",
    "testbed": "testbed",
    "demo": "demo",
    "cc": "compilers",
    "cxx": "compilers",
    "f90": "compilers",
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


class _Commands(click.Group):
    """All commands, each loaded when it is asked for."""

    def list_commands(self, context: click.Context) -> list[str]:
        """Return the names of all."""
        return sorted(_MODULES)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """Load one."""
        if name not in _MODULES:
            return None
        module = import_module(f"weft.cli.{_MODULES[name]}")
        command: click.Command = getattr(module, name.replace("-", "_"))
        return command

    def resolve_command(
        self, context: click.Context, arguments: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command of some arguments, or suggest those with near names."""
        try:
            return super().resolve_command(context, arguments)
        except NoSuchCommand as error:
            raise NoSuchCommand(error.command_name, possibilities=_MODULES, ctx=context) from None


weft = click.version_option(
    _core.version,
    "-V",
    "--version",
    message=f"weft %(version)s, with SimGrid {_core.simgrid_version}",
)(help_group("weft", _HELP, _Commands))
