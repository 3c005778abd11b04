# SPDX-License-Identifier: LGPL-2.1-only
"""`weft replay`: calls of MPI programs, and training iterations."""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from weft.base.errors import WeftError
from weft.base.tables import console
from weft.cli.common import (
    Command,
    execute_iteration,
    iteration_options,
    report,
    result_options,
    warn,
)
from weft.cli.compare import compare_option, run_comparison
from weft.cli.files import Input, command
from weft.cli.run_options import options_of_replays
from weft.iterations.iteration import LIBRARY, Conditions
from weft.runs import launch
from weft.runs import replay as api
from weft.runs.progress.lines import told
from weft.trace.foreign import read_trace
from weft.training.accelerator import accelerators
from weft.training.formats.options import ReadOptions
from weft.training.formats.reading import detect
from weft.training.formats.roofline import roofline_of
from weft.training.formats.source import Progress
from weft.training.formats.source import quiet as silent
from weft.training.formats.trace import MOST_FINE, load_trace
from weft.training.run import parsed_slowdown

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

Or a trace of training on GPUs: the JSON files of PyTorch's profiler (Kineto), Chakra execution
traces, or SimAI's workload text. Collectives are then NCCL's, and the output is that of `weft
train`. --compare compares collectives by GPUs alone, by NVSwitches (NVLS), and by the network
(SHARP).

\b
Examples:
  weft run --fabric tofino-16 -n 16 --record trace -- ./program
  weft replay trace --fabric tofino-16 --offload off
  weft replay trace --fabric tofino-16 --compare
  weft replay trace --fabric fat-tree-1024 --json run.json
  weft replay traces.otf2 --fabric tofino-16
  weft replay ti/traces.txt --fabric tofino-16
  weft replay schedule.goal --fabric tofino-16
  weft replay profile/ --fabric dgx-h100

\b
Exit status: 0; 1 for a deadlock; 2 if weft refuses to start; 124 after --timeout; 137
above --memory.
"""

_OF_TRAINING = (
    *("replicate", "allgather_size", "process_groups", "logical_dimensions", "gpu", "slowdown"),
    *("noise", "noise_seed", "execute_all", "detail", "multicast", "csv_file"),
)
"""Parameters that apply only to training traces."""
_SHARED = (
    *("trace", "fabric", "changes", "faults", "traffic", "fallback"),
    *("chains", "trees", "drop_rate"),
    *("compare", "timeline", "json_file", "quiet"),
)
"""Parameters that apply to all traces."""
_MOST_RANKS = 1 << 20


# ---- Training traces


class _Dimensions(click.ParamType[tuple[int, ...]]):
    """Sizes of dimensions, separated by commas."""

    name = "text"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, ...]:
        """Return the sizes if valid."""
        if isinstance(value, tuple):
            return value
        words = str(value).split(",")
        if not all(word.isdecimal() and 0 < int(word) <= _MOST_RANKS for word in words):
            self.fail(f"'{value}' is no list of positive sizes, as 8,4", param, ctx)
        return tuple(map(int, words))


def _training_options(command: Command) -> Command:
    """Add the options for training traces."""
    for option in (
        click.option(
            "--gpu",
            type=click.Choice(accelerators()),
            help="Traces of training: GPU that executes computations without recorded time.",
        ),
        click.option(
            "--logical-dimensions",
            type=_Dimensions(),
            metavar="N,...",
            help="Chakra: ranks in each dimension of ASTRA-sim's logical topology, fastest first.",
        ),
        click.option(
            "--process-groups",
            type=Input(),
            metavar="FILE",
            help='Chakra: ranks of process groups by number, {"1": [0, 1]}, as ASTRA-sim reads.',
        ),
        click.option(
            "--allgather-size",
            type=click.Choice(("input", "total")),
            help="Chakra: size of an Allgather: what a rank contributes, or the result.  [default:"
            " input]",
        ),
        click.option(
            "--replicate",
            type=click.IntRange(1, _MOST_RANKS),
            metavar="N",
            help="Traces of training: N ranks do what the only recorded rank does.",
        ),
    ):
        command = option(command)
    return iteration_options(f"slice up to {MOST_FINE} ranks, step beyond")(command)


def _read_options(values: Mapping[str, Any], progress: Progress) -> ReadOptions:
    """Return the options of the trace readers."""
    groups: Path | None = values["process_groups"]
    return ReadOptions(
        replicate=values["replicate"],
        sizes=values["allgather_size"] or "input",
        groups=groups,
        dimensions=values["logical_dimensions"] or (),
        roofline=roofline_of(values["gpu"]) if values["gpu"] else None,
        progress=progress,
    )


def _replay_training(trace: Path, values: Mapping[str, Any], *, compare: bool) -> int:
    """Simulate a training trace on a GPU fabric, and report as `weft train` does."""
    library = _library(values["fallback"])
    if not values["fabric"]:
        raise WeftError("--fabric is missing; traces of training need a fabric of GPUs")
    with _reading() as show:
        read = load_trace(trace, _read_options(values, show))
    conditions = Conditions(
        fabric=values["fabric"],
        changes=tuple(values["changes"]),
        faults=values["faults"],
        traffic=values["traffic"],
        library=library,
        execute_all=values["execute_all"],
        detail=values["detail"] or read.detail,
        multicast=values["multicast"],
        slowdown=parsed_slowdown(values["slowdown"], "--slowdown"),
        noise=values["noise"],
        seed=values["noise_seed"],
        listed=read.representatives() if values["timeline"] else (),
    )
    output = {name: values[name] for name in ("timeline", "csv_file", "json_file", "quiet")}
    return execute_iteration(read.workload, conditions, read.source, compare=compare, **output)


@contextmanager
def _reading() -> Iterator[Progress]:
    """Show a line of progress on a terminal, and nothing elsewhere."""
    if not sys.stderr.isatty():
        yield silent
        return
    with console(stderr=True).status("reading") as status:
        yield status.update


def _library(fallback: str | None) -> str:
    """Return the NCCL version in --fallback, or the newest version."""
    if not fallback:
        return LIBRARY
    if not fallback.startswith("nccl-"):
        raise WeftError(
            f"--fallback: found '{fallback}'; collectives of training are NCCL's: name {LIBRARY}"
            " or leave the option out"
        )
    return fallback


def _refuse_options_of_programs(context: click.Context) -> None:
    """Refuse options that do not apply to training traces."""
    fit = {*_SHARED, *_OF_TRAINING}
    _refuse_options(context, lambda name: name not in fit, "traces of training")


def _refuse_options_of_training(context: click.Context) -> None:
    """Refuse options that apply only to training traces."""
    what = "a trace that is none of training"
    _refuse_options(context, lambda name: name in _OF_TRAINING, what)


def _refuse_options(context: click.Context, unfit: Callable[[str], bool], trace: str) -> None:
    """Refuse command-line options whose parameters do not apply to a kind of trace."""
    for one in context.command.params:
        name = one.name or ""
        source = context.get_parameter_source(name)
        if source is click.core.ParameterSource.COMMANDLINE and unfit(name):
            raise WeftError(f"{max(one.opts, key=len)} does not apply to {trace}; leave it out")


# ---- The command


@command(help=_HELP)
@result_options
@options_of_replays
@compare_option
@_training_options
@click.argument("trace", type=Input(), metavar="TRACE")
@click.pass_context
def replay(context: click.Context, /, trace: Path, compare: bool, **options: Any) -> int:
    """Check the options, replay the trace, report the results."""
    if detect(trace) is not None:
        _refuse_options_of_programs(context)
        return _replay_training(trace, options, compare=compare)
    _refuse_options_of_training(context)
    return _replay_program(trace, compare=compare, **options)


def _replay_program(
    trace: Path,
    *,
    compare: bool,
    json_file: Path | None,
    no_intervals: bool,
    best: bool,
    quiet: bool,
    **options: Any,
) -> int:
    """Replay the calls of an MPI program."""
    options = {name: value for name, value in options.items() if name not in _OF_TRAINING}
    request = api.replay_request(read_trace(trace), command=("weft", *sys.argv[1:]), **options)
    plan = launch.prepare(request)
    warn(launch.fault_warning(plan.faults), quiet=quiet)
    if compare:
        return run_comparison(plan, json_file, quiet=quiet, intervals=not no_intervals, best=best)
    with told(quiet=quiet):
        found = launch.run(plan)
    return report(found, json_file, quiet=quiet)
