# SPDX-License-Identifier: LGPL-2.1-only
"""`weft replay`."""

import sys
from pathlib import Path
from typing import Any

import click

from weft.cli.common import report, result_options
from weft.cli.compare import compare_option, run_comparison
from weft.cli.files import Input, command
from weft.cli.run_options import options_of_replays
from weft.runs import launch
from weft.runs import replay as api
from weft.trace.foreign import read_trace

_HELP = """
Replay the trace of a program on another fabric, or with other offload options.

TRACE is a directory written by `weft run --record`: the MPI calls of every rank and the amount of
computation between them, without times. A replay needs neither the program nor its memory. The
number of ranks is that of the recorded run, and so is --ppn if it was given.

TRACE may also be an OTF2 archive (Score-P) or a DUMPI trace: its .otf2 or .meta file, or the
directory. The time outside MPI is then replayed in seconds.

Or a time-independent trace of SimGrid (`smpirun -trace-ti`, Batsim): its index, its directory, or a
file with the actions of all ranks. Or a schedule in GOAL, the language of LogGOPSim and ATLAHS, in
its text form; the record and the last line then tell when each rank has ended.

\b
Examples:
  weft run --fabric tofino-16 -n 16 --record trace -- ./program
  weft replay trace --fabric tofino-16 --offload off
  weft replay trace --fabric tofino-16 --compare
  weft replay trace --fabric fat-tree-1024 --json run.json
  weft replay traces.otf2 --fabric tofino-16
  weft replay ti/traces.txt --fabric tofino-16
  weft replay schedule.goal --fabric tofino-16

\b
Exit status: 0; 1 for a deadlock; 2 if weft refuses to start; 124 after --timeout; 137
above --memory.
"""


@command(help=_HELP)
@result_options
@options_of_replays
@compare_option
@click.argument("trace", type=Input(), metavar="TRACE")
def replay(
    trace: Path,
    json_file: Path | None,
    compare: bool,
    no_intervals: bool,
    quiet: bool,
    **options: Any,
) -> int:
    """Check, replay, report."""
    request = api.replay_request(read_trace(trace), command=("weft", *sys.argv[1:]), **options)
    plan = launch.prepare(request)
    if compare:
        return run_comparison(plan, json_file, quiet=quiet, no_intervals=no_intervals)
    return report(launch.run(plan), json_file, quiet=quiet)
