# SPDX-License-Identifier: LGPL-2.1-only
"""`weft run`."""

import sys
from pathlib import Path
from typing import Any

import click

from weft.base.errors import WeftError
from weft.cli.common import report, result_options
from weft.cli.compare import compare_option, run_comparison
from weft.cli.files import Arguments, OutputDirectory, Program, command
from weft.cli.run_options import options_of_runs
from weft.runs import launch, replay
from weft.runs.request import Request
from weft.trace.folder import check_target

_HELP = """
Run an MPI program on a simulated fabric, and say what offloading its collectives bought.

The program is one that `weft cc`, `weft cxx` or `weft f90` has compiled. Its input, output and
exit status pass through unchanged. The table that follows it goes to standard error: for each
collective what was offloaded and what fell back and why, the calls, the bytes that one rank gave
to them, and the simulated time that one rank spent in one call (in microseconds). Computation on
the hosts takes no simulated time, so that every run gives the same; --host-speed times it.

\b
Examples:
  weft run --fabric tofino-4 -n 4 -- ./program --its-own-option
  weft run --fabric tofino-16 -n 64 --ppn 4 --offload off --fallback ring -- ./program
  weft run --fabric tofino-16 -n 16 --compare -- ./program
  weft run --platform cluster.xml -n 64 -- ./program
  weft run --fabric tofino-16 -n 16 --record trace -- ./program
  weft run --fabric my-fabric.toml -n 16 --json run.json --trace timeline.json -- ./program

\b
Exit status: the program's own; 128 + signal where it crashed; 1 for a deadlock, ranks that call
different collectives, MPI_Abort, and a link that is off while it is needed; 2 where weft refuses
to start; 124 after --timeout, 137 above --memory.
"""


@command(
    help=_HELP,
    context_settings={"allow_interspersed_args": False},
)
@result_options
@options_of_runs
@compare_option
@click.option(
    "--record",
    type=OutputDirectory(whole=True),
    metavar="DIRECTORY",
    help="Record a trace of all calls of MPI and of what is computed between them, for"
    " `weft replay`.",
)
@click.argument("program", type=Program())
@click.argument("arguments", nargs=-1, type=Arguments())
def run(
    json_file: Path | None,
    record: Path | None,
    compare: bool,
    no_intervals: bool,
    quiet: bool,
    **options: Any,
) -> int:
    """Check, run, report."""
    if record is not None:
        _check_recorded(record, compare=compare)
    request = Request.of(command=("weft", *sys.argv[1:]), **options)
    plan = launch.prepare(request)
    if compare:
        return run_comparison(plan, json_file, quiet=quiet, no_intervals=no_intervals)
    if record is None:
        return report(launch.run(plan), json_file, quiet=quiet)
    recording = replay.record_calls(plan, record)
    status = report(recording.record, json_file, quiet=quiet)
    for message in recording.messages:
        click.echo(f"weft: --record: {message}", err=True)
    return status or recording.exit_status


def _check_recorded(target: Path, *, compare: bool) -> None:
    """Refuse a trace that could not be written after the run."""
    if compare:
        raise WeftError(
            "--record: found together with --compare, which runs the program twice; record it"
            " first, then `weft replay DIRECTORY --compare`"
        )
    check_target("--record", target)
