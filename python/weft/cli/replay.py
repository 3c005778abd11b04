# SPDX-License-Identifier: LGPL-2.1-only
"""`weft replay`."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click

from weft import _core
from weft.base.errors import WeftError
from weft.base.tables import console, print_table, print_title, table_of
from weft.cli.common import report, result_options
from weft.cli.compare import compare_option, run_comparison
from weft.cli.files import Input, command
from weft.cli.run_options import options_of_replays
from weft.runs import launch
from weft.runs import replay as api
from weft.trace.foreign import read_trace
from weft.training.accelerator import accelerators
from weft.training.formats.options import ReadOptions
from weft.training.formats.reading import detect, read
from weft.training.formats.roofline import roofline_of
from weft.training.formats.source import Progress
from weft.training.formats.source import quiet as silent

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
traces, or SimAI's workload text. Collectives are then NCCL's.

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

Command = TypeVar("Command", bound=Callable[..., Any] | click.Command)

_OPTIONS: Mapping[str, str] = {
    "replicate": "--replicate",
    "allgather_size": "--allgather-size",
    "process_groups": "--process-groups",
    "logical_dimensions": "--logical-dimensions",
    "gpu": "--gpu",
}
"""Options that apply to traces of training only, by parameter."""
_SHARED = ("trace", "fabric", "changes", "chains", "trees", "drop_rate", "fallback", "quiet")
"""Parameters that apply to all traces."""
_MOST_RANKS = 1 << 20
_LIBRARY = "nccl-2.29"
_MESSAGES = "messages"
_LEAST = 0.0005
"""Fraction of the iteration from which a part is shown."""


# ---- Traces of training


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
    """Add the options for traces of training."""
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
    return command


def _read_options(values: Mapping[str, Any], progress: Progress) -> ReadOptions:
    """Return the options of the readers."""
    groups: Path | None = values["process_groups"]
    return ReadOptions(
        replicate=values["replicate"],
        sizes=values["allgather_size"] or "input",
        groups=groups,
        dimensions=values["logical_dimensions"] or (),
        roofline=roofline_of(values["gpu"]) if values["gpu"] else None,
        progress=progress,
    )


def _replay_training(
    trace: Path, context: click.Context, values: Mapping[str, Any], *, quiet: bool
) -> int:
    """Simulate a trace of training on a fabric of GPUs, and print how ranks spend their time."""
    _refuse_options(context, lambda name: name not in (*_SHARED, *_OPTIONS), "traces of training")
    library = _library(values["fallback"])
    fabric = _core.load_fabric(values["fabric"], list(values["changes"]))
    with _progress() as show:

        def on_simulated(done: float) -> None:
            show(f"simulating: {done:.0%} of all operations")

        workload = read(trace, _read_options(values, show), _core.WorkloadProgram)
        times = _core.run_workload(
            fabric,
            library,
            [one for one in workload.programs if isinstance(one, _core.WorkloadProgram)],
            list(workload.program_of),
            list(workload.groups),
            progress=on_simulated,
        )
    if not quiet:
        kinds = [name for name, _ in workload.groups]
        _print(f"{trace.name} on {fabric.name}, {library}", kinds, times)
    return 0


def _refuse_training_options(context: click.Context) -> None:
    """Refuse the options for traces of training, as the trace is none."""
    _refuse_options(context, lambda name: name in _OPTIONS, "a trace that is none of training")


@contextmanager
def _progress() -> Iterator[Progress]:
    """Show a line of progress on a terminal, and nothing elsewhere."""
    if not sys.stderr.isatty():
        yield silent
        return
    with console(stderr=True).status("reading") as status:
        yield status.update


def _library(fallback: str | None) -> str:
    """Return the version of NCCL that --fallback names, or the newest."""
    if not fallback:
        return _LIBRARY
    if not fallback.startswith("nccl-"):
        raise WeftError(
            f"--fallback: found '{fallback}'; collectives of training are NCCL's: name {_LIBRARY}"
            " or leave the option out"
        )
    return fallback


def _print(title: str, kinds: Sequence[str], times: Mapping[str, Any]) -> None:
    """Print the end of an iteration, and the mean times of its ranks."""
    ranks = times["ranks"]
    end_s = times["end_s"]

    def mean(seconds: Callable[[Mapping[str, Any]], float]) -> float:
        return sum(map(seconds, ranks)) / len(ranks)

    parts = {"computation": mean(lambda one: one["computing_s"])}
    for number, kind in enumerate((*kinds, _MESSAGES)):
        parts[f"exposed: {kind}"] = mean(lambda one, at=number: one["exposed_s"][at])  # type: ignore[misc]
        parts[f"waiting: {kind}"] = mean(lambda one, at=number: one["late_s"][at])  # type: ignore[misc]
    parts["idle"] = end_s - sum(parts.values())
    on = console(stderr=True)
    print_title(
        f"{title}: {len(ranks):,} ranks, {end_s * 1e3:.6g} ms; {times['calls']:,} collectives", on
    )
    rows = [
        {"mean of ranks": name, "ms": f"{seconds * 1e3:.3f}", "%": f"{100 * seconds / end_s:.1f}"}
        for name, seconds in parts.items()
        if seconds > _LEAST * end_s or name == "computation"
    ]
    print_table(table_of(rows, ("mean of ranks",)), on)


def _refuse_options(context: click.Context, unfit: Callable[[str], bool], trace: str) -> None:
    """Refuse options of the command line whose parameters do not fit a kind of trace."""
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
def replay(
    context: click.Context,
    /,
    trace: Path,
    json_file: Path | None,
    compare: bool,
    no_intervals: bool,
    quiet: bool,
    **options: Any,
) -> int:
    """Check, replay, report."""
    if detect(trace) is not None:
        return _replay_training(trace, context, options, quiet=quiet)
    _refuse_training_options(context)
    for name in _OPTIONS:
        del options[name]
    request = api.replay_request(read_trace(trace), command=("weft", *sys.argv[1:]), **options)
    plan = launch.prepare(request)
    if compare:
        return run_comparison(plan, json_file, quiet=quiet, no_intervals=no_intervals)
    return report(launch.run(plan), json_file, quiet=quiet)
