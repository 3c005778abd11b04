# SPDX-License-Identifier: LGPL-2.1-only
"""`weft run`."""

import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import click

from weft.base.errors import WeftError
from weft.base.process import Streams
from weft.cli.common import report, result_options, warn
from weft.cli.compare import compare_option, run_comparison
from weft.cli.files import Arguments, Input, OutputDirectory, Program, command
from weft.cli.run_options import options_of_programs
from weft.runs import launch, replay
from weft.runs.jobs import launch as several
from weft.runs.jobs.alone import add_alone, durations_kept
from weft.runs.jobs.file import read as read_jobs
from weft.runs.jobs.launch import PreparedJobs
from weft.runs.jobs.without_offload import check as check_offload
from weft.runs.jobs.without_offload import run as run_unheard
from weft.runs.launch import PreparedRun
from weft.runs.progress.lines import told
from weft.runs.record import Record
from weft.runs.request import Request
from weft.study.comparison.compare import input_of_all
from weft.study.comparison.fault_budget import add_budget, add_budgets
from weft.study.comparison.fault_budget import check as check_budget
from weft.study.comparison.flow_check import (
    DEFAULT_TOLERANCE,
    add_flow_check,
    jobs_on_packets,
    on_flows,
    on_packets,
)
from weft.study.comparison.job_gains import add_gains, number_of_runs
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
  weft run --fabric fat-tree-1024 --jobs jobs.toml --alone

\b
Exit status: that of the program, or of the first job in the file that failed; 128 + signal if it
crashes; 1 for a deadlock, mismatched collectives, MPI_Abort, and a needed link that is down; 2 if
weft refuses to start; 124 after --timeout; 137 above --memory.
"""


@command(
    help=_HELP,
    context_settings={"allow_interspersed_args": False},
)
@result_options
@options_of_programs
@compare_option
@click.option(
    "--record",
    type=OutputDirectory(whole=True),
    metavar="DIRECTORY",
    help="Record a trace of all MPI calls and the computation between them, for `weft replay`.",
)
@click.option(
    "--jobs",
    type=Input(dir_okay=False),
    metavar="FILE",
    help="Run the programs and traces of a jobs file at once, instead of one program; `weft help"
    " jobs` describes the file.",
)
@click.option(
    "--alone",
    is_flag=True,
    help="With --jobs: also run each job alone, on the same hosts, and print how much the others"
    " slow it down.",
)
@click.option(
    "--budget",
    is_flag=True,
    help="With --faults: run again without faults, and print what a failure costs, times how often"
    " it happens, per day; also if it ends the job. With --compare: for each run. With"
    " --jobs: for each job. The program's input must be a file (< FILE).",
)
@click.option(
    "--check-flows",
    is_flag=True,
    help="Run again with messages as packets, and print which calls differ: where a faster run on"
    " flows does not suffice. The program's input must be a file (< FILE).",
)
@click.option(
    "--tolerance",
    type=click.FloatRange(0),
    metavar="PERCENT",
    help="With --check-flows: difference above which calls differ; 5 by default.",
)
@click.argument("program", type=Program(), required=False)
@click.argument("arguments", nargs=-1, type=Arguments())
def run(
    json_file: Path | None,
    record: Path | None,
    jobs: Path | None,
    alone: bool,
    budget: bool,
    check_flows: bool,
    tolerance: float | None,
    program: str | None,
    arguments: tuple[str, ...],
    compare: bool,
    no_intervals: bool,
    best: bool,
    quiet: bool,
    **options: Any,
) -> int:
    """Check the options, run the program, and report the results."""
    command_line = ("weft", *sys.argv[1:])
    if tolerance is not None and not check_flows:
        raise WeftError("--tolerance: found without --check-flows, whose differences it judges")
    above = DEFAULT_TOLERANCE if tolerance is None else tolerance / 100
    if jobs is not None:
        one = {"--record": record is not None}
        _check_jobs(program=program, ranks=options["ranks"], one_program=one)
        request = Request.of(command=command_line, program="", **{**options, "ranks": 1})
        file = read_jobs(jobs)
        if check_flows:
            _check_second_run("--check-flows", compare=compare, budget=budget, alone=alone)
            packets_of_jobs = jobs_on_packets(file, request)
            request = on_flows(request)
        plan_of_jobs = several.prepare(file, request)
        warn(launch.fault_warning(plan_of_jobs.faults), quiet=quiet)
        if budget:
            _check_second_run("--budget", compare=compare, alone=alone)
            check_budget(plan_of_jobs)
        if compare:
            check_offload(plan_of_jobs)
        if check_flows:
            with told(quiet=quiet, total=2, alike=False):
                together = several.run(plan_of_jobs)
                sys.stdout.flush()
                add_flow_check(together, packets_of_jobs, run_unheard, above)
            return report(together, json_file, quiet=quiet)
        if budget:
            with told(quiet=quiet, total=2):
                together = several.run(plan_of_jobs)
                sys.stdout.flush()
                add_budgets(together, plan_of_jobs)
            return report(together, json_file, quiet=quiet)
        wanted = (best, not no_intervals) if compare else None
        together = _run_jobs(plan_of_jobs, wanted, alone=alone, quiet=quiet)
        return report(together, json_file, quiet=quiet)
    if alone:
        raise WeftError("--alone: found without --jobs, whose jobs it compares")
    _require("ranks", options["ranks"])
    _require("program", program)
    if record is not None:
        _check_recorded(record, compare=compare)
    request = Request.of(command=command_line, program=program, arguments=arguments, **options)
    packets = None
    if check_flows:
        _check_second_run("--check-flows", record=record, compare=compare, budget=budget)
        request, packets = on_flows(request), on_packets(request)
    plan = launch.prepare(request)
    warn(launch.forecast(plan), launch.fault_warning(plan.faults), quiet=quiet)
    if budget:
        _check_second_run("--budget", record=record)
        check_budget(plan)
    if compare:
        return run_comparison(
            plan,
            json_file,
            quiet=quiet,
            intervals=not no_intervals,
            best=best,
            budget=budget,
        )
    if budget:
        with told(quiet=quiet, total=2):
            found = _run_with_budget(plan, quiet=quiet)
        status = report(found, json_file, quiet=quiet)
        if found.failed and not (found.faults and found.faults.budget):
            click.echo("weft: --budget: there is none, because no fault ended the run", err=True)
        return status
    if packets is not None:
        with told(quiet=quiet, total=2, alike=False):
            checked = _run_twice(
                plan,
                lambda first, unheard: add_flow_check(first, packets, unheard, above),
                None if quiet else "--check-flows: running again on packets",
            )
        return report(checked, json_file, quiet=quiet)
    if record is None:
        with told(quiet=quiet):
            found = launch.run(plan)
        return report(found, json_file, quiet=quiet)
    with told(quiet=quiet):
        recording = replay.record_calls(plan, record)
    status = report(recording.record, json_file, quiet=quiet)
    for message in recording.messages:
        click.echo(f"weft: --record: {message}", err=True)
    return status or recording.exit_status


def _run_jobs(
    plan: PreparedJobs, compare: tuple[bool, bool] | None, *, alone: bool, quiet: bool
) -> Record:
    """Run jobs; `compare` says if the gains need the fastest algorithms, and intervals."""
    total = 1 + (len(plan.jobs) if alone else 0)
    if compare:
        total += number_of_runs(plan, best=compare[0], intervals=compare[1])
    kept_plan = durations_kept(plan) if alone else nullcontext(plan)
    with told(quiet=quiet, total=total, alike=not alone), kept_plan as kept:
        record = several.run(kept)
        sys.stdout.flush()
        if compare:
            add_gains(record, kept, best=compare[0], intervals=compare[1])
        return add_alone(record, kept, None if quiet else _tell) if alone else record


def _tell(job: str) -> None:
    if sys.stderr.isatty():
        click.echo(f"weft: --alone: running job {job} alone", err=True)


def _run_with_budget(plan: PreparedRun, *, quiet: bool) -> Record:
    told = None if quiet else "--budget: running again without faults"
    return _run_twice(plan, lambda first, unheard: add_budget(first, plan, unheard), told)


def _run_twice(
    plan: PreparedRun,
    complete: Callable[[Record, Callable[[PreparedRun], Record]], Record],
    told: str | None,
) -> Record:
    """Run a program, and complete its record by a second run with hidden output."""
    with input_of_all() as (stdin, rewind):
        record = launch.run(plan, streams=Streams(stdin=stdin))
        sys.stdout.flush()

        def unheard(other: PreparedRun) -> Record:
            if sys.stderr.isatty() and told:
                click.echo(f"weft: {told}", err=True)
            rewind()
            return launch.run(other, lambda _: None, Streams(stdin, None, subprocess.STDOUT))

        return complete(record, unheard)


def _check_second_run(
    own: str,
    *,
    record: Path | None = None,
    compare: bool = False,
    budget: bool = False,
    alone: bool = False,
) -> None:
    others = {
        "--record": record is not None,
        "--compare": compare,
        "--budget": budget,
        "--alone": alone,
    }
    for flag, found in others.items():
        if found:
            raise WeftError(
                f"{own}: found together with {flag}; write one of both, and run it again with"
                " the other"
            )


def _require(name: str, value: object) -> None:
    """Refuse a missing parameter, as click does, unless jobs provide it."""
    if value is None:
        context = click.get_current_context()
        parameter = next(one for one in context.command.params if one.name == name)
        # An optional argument would be named with its brackets.
        hint = f"'{name.upper()}'" if isinstance(parameter, click.Argument) else None
        raise click.MissingParameter(ctx=context, param=parameter, param_hint=hint)


def _check_jobs(*, program: str | None, ranks: int | None, one_program: Mapping[str, bool]) -> None:
    """Refuse parameters that a jobs file contains, and options for a single program."""
    if program is not None:
        raise WeftError(f"--jobs: found together with the program {program}; the file names all")
    if ranks is not None:
        raise WeftError("-n: found together with --jobs; the file has the ranks of each job")
    for flag, found in one_program.items():
        if found:
            raise WeftError(f"{flag}: found together with --jobs; it needs a run of one program")


def _check_recorded(target: Path, *, compare: bool) -> None:
    """Refuse a trace target that is not writable after the run."""
    if compare:
        raise WeftError(
            "--record: found together with --compare, which runs the program twice; record it"
            " first, then `weft replay DIRECTORY --compare`"
        )
    check_target("--record", target)
