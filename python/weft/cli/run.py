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
Run an MPI program on a simulated fabric, and report its collectives.

Compile the program with `weft cc`, `weft cxx` or `weft f90`. Its input, output and exit status pass
through unchanged. The table that follows goes to standard error: for each collective how it was
executed, with the reason of a fallback, the number of calls, the bytes that one rank contributed,
and the simulated time per call and rank in microseconds. By default computation takes no simulated
time, which makes runs reproducible; --host-speed times it.

\b
Examples:
  weft run --fabric tofino-4 -n 4 -- ./program --its-own-option
  weft run --fabric tofino-16 -n 64 --ppn 4 --offload off --fallback ring -- ./program
  weft run --fabric tofino-16 -n 16 --compare -- ./program
  weft run --platform cluster.xml -n 64 -- ./program
  weft run --fabric tofino-16 -n 16 --record trace -- ./program
  weft run --fabric my-fabric.toml -n 16 --json run.json --trace timeline.json -- ./program

\b
Exit status: that of the program; 128 + signal if it crashes; 1 for a deadlock, mismatched
collectives, MPI_Abort, and a needed link that is down; 2 if weft refuses to start; 124 after
--timeout; 137 above --memory.
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
    help="Record a trace of all MPI calls and the computation between them, for `weft replay`.",
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
    """Check the options, run the program, and report the results."""
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
    """Refuse a trace target that cannot be written after the run."""
    if compare:
        raise WeftError(
            "--record: found together with --compare, which runs the program twice; record it"
            " first, then `weft replay DIRECTORY --compare`"
        )
    check_target("--record", target)
