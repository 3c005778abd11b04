# SPDX-License-Identifier: LGPL-2.1-only
"""`weft env`."""

import shlex

import click

from weft.cli.files import command
from weft.runs.toolchain import mpi_commands

_HELP = """
Print the shell command that puts mpicc, mpiexec and MPI's other commands into PATH.

The directory contains mpicc, mpicxx, mpic++, mpif77, mpif90, mpifort, mpiexec and mpirun, for build
systems and test suites that expect an MPI library.

\b
For the running shell:
  eval "$(weft env)"
  mpicc -O2 program.c -o program
  mpiexec -n 4 ./program
"""


@command(help=_HELP)
def env() -> None:
    """Print the line for a POSIX shell."""
    click.echo(f'export PATH={shlex.quote(str(mpi_commands()))}:"$PATH"')
