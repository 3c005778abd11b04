# SPDX-License-Identifier: LGPL-2.1-only
"""`weft cc`, `weft cxx`, `weft f90`."""

import click

from weft.runs.toolchain import COMPILERS, become_compiler

_LANGUAGES = {"cc": ("C", "c"), "cxx": ("C++", "cpp"), "f90": ("Fortran", "f90")}
_HELP = """
Compile {language} MPI programs for the simulator.

The command calls SimGrid's {compiler}, which passes all arguments to the compiler. In a build
system, use it as the MPI compiler ({variable}="weft {name}").

\b
Example:
  weft {name} -O2 program.{suffix} -o program
  weft run --fabric tofino-4 -n 4 -- ./program
"""
_VARIABLES = {"cc": "MPICC", "cxx": "MPICXX", "f90": "MPIFC"}


def _command(name: str) -> click.Command:
    language, suffix = _LANGUAGES[name]
    text = _HELP.format(
        language=language,
        compiler=COMPILERS[name],
        variable=_VARIABLES[name],
        name=name,
        suffix=suffix,
    )

    @click.command(
        name=name,
        help=text,
        add_help_option=False,
        context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    )
    @click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
    @click.pass_context
    def compiler(context: click.Context, arguments: tuple[str, ...]) -> None:
        if arguments in ((), ("--help",), ("-h",)):
            click.echo(context.get_help())
            return
        become_compiler(name, arguments)

    return compiler


cc = _command("cc")
cxx = _command("cxx")
f90 = _command("f90")
