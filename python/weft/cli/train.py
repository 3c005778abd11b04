# SPDX-License-Identifier: LGPL-2.1-only
"""`weft train`."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from weft.base.models import write_json
from weft.base.output import whole_file
from weft.base.tables import console
from weft.cli.common import output_option
from weft.cli.files import command
from weft.cli.run_options import click_option
from weft.training.comparison import comparison_record
from weft.training.iteration import LIBRARY, Conditions
from weft.training.iteration import Progress as OnProgress
from weft.training.record import record_of, write_ranks, write_record
from weft.training.run import load_training, parsed_slowdown
from weft.training.tables import print_comparison, print_iteration
from weft.training.timeline import write_timeline

_HELP = """
Simulate an iteration of training a language model on a fabric of GPUs.

MODEL is a training file: a model's sizes, how ranks share it (tensor, context, pipeline, data and
expert parallelism), the batch, and the GPU; or the preset of a model. Each rank is a GPU of the
fabric, in order. Computation takes the time of the GPU's preset, collectives are NCCL's on the
fabric. docs/training-models.md has the keys, and how far measured iterations are met.

\b
Examples:
  weft train llama.toml --fabric superpod-h100-32
  weft train llama.toml --fabric superpod-h100-32 --with parallel.tensor=4 --with parallel.data=64
  weft train llama.toml --fabric superpod-h100-32 --compare
  weft train llama.toml --fabric superpod-h100-32 --timeline iteration.json
  weft train llama.toml --fabric superpod-h100-32 --slowdown 17=1.2
"""


@command(help=_HELP)
@click_option("fabric", required=True)
@click_option("changes")
@click.option(
    "--with",
    "model_changes",
    metavar="TABLE.KEY=VALUE",
    multiple=True,
    help="Change a key of the training file. Repeatable.",
)
@click.option("--gpu", metavar="NAME", help="GPU that computes, instead of the file's.")
@click.option(
    "--nccl",
    metavar="VERSION",
    default=LIBRARY.removeprefix("nccl-"),
    show_default=True,
    help="Version of NCCL whose constants choose: a file of presets/nccl.",
)
@click.option(
    "--compare",
    is_flag=True,
    help="Compare collectives by GPUs alone, by NVSwitches (NVLS), and by the network (SHARP).",
)
@click.option(
    "--slowdown",
    metavar="RANK=FACTOR",
    multiple=True,
    help="Lengthen the computation of a rank, or of ranks FIRST-LAST. Repeatable.",
)
@click.option(
    "--noise",
    type=click.FloatRange(0, 2),
    default=0.0,
    show_default=True,
    help="Vary each computation: standard deviation of the logarithm of its factor.",
)
@click.option(
    "--noise-seed",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Seed of --noise.",
)
@click.option(
    "--execute-all", is_flag=True, help="Execute equal calls again, instead of reusing their times."
)
@click.option(
    "--all-messages",
    is_flag=True,
    help="Send all messages of NCCL's rings, instead of one for each step.",
)
@click.option("--ignore-memory", is_flag=True, help="Allow what a GPU's memory does not hold.")
@output_option("--timeline", "timeline", help="Write a rank of each stage for Perfetto.")
@output_option("--csv", "csv_file", help="Write the times of all ranks as CSV.")
@output_option("--json", "json_file", help="Write the record as JSON.")
@click.option("-q", "--quiet", is_flag=True, help="Print no table.")
@click.argument("model", metavar="MODEL")
def train(
    model: str,
    fabric: str,
    changes: tuple[str, ...],
    model_changes: tuple[str, ...],
    gpu: str | None,
    nccl: str,
    compare: bool,
    slowdown: tuple[str, ...],
    noise: float,
    noise_seed: int,
    execute_all: bool,
    all_messages: bool,
    ignore_memory: bool,
    timeline: Path | None,
    csv_file: Path | None,
    json_file: Path | None,
    quiet: bool,
) -> None:
    """Read, execute, report."""
    training = load_training(model, model_changes, gpu=gpu, ignore_memory=ignore_memory)
    conditions = Conditions(
        fabric=fabric,
        changes=changes,
        library=f"nccl-{nccl}",
        execute_all=execute_all,
        fine=all_messages,
        slowdown=parsed_slowdown(slowdown, "--slowdown"),
        noise=noise,
        seed=noise_seed,
        listed=training.representatives() if timeline else (),
    )
    if compare:
        if timeline or csv_file:
            raise click.UsageError("--compare has several iterations: no --timeline, no --csv")
        with _bar() as progress:
            variants = training.compare(conditions, progress)
        if not quiet:
            click.echo(training.summary.layout)
            print_comparison(variants, console())
        if json_file:
            record = comparison_record(training.file.source, variants, training.summary)
            with whole_file("--json", json_file) as file:
                write_json(record.to_json(), file)
        return
    with _bar() as progress:
        its = training.simulate(conditions, progress)
    if not quiet:
        print_iteration(its, training.summary, console())
    if timeline:
        write_timeline(its, timeline)
    if csv_file:
        write_ranks(its, csv_file)
    if json_file:
        write_record(record_of(training.file.source, its, training.summary), json_file)


@contextmanager
def _bar() -> Iterator[OnProgress | None]:
    """Show the fraction of operations that have ended on a terminal, and nothing elsewhere."""
    on = console(stderr=True)
    if not on.is_terminal:
        yield None
        return
    columns = (
        TextColumn("operations"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=on, transient=True) as bar:
        task = bar.add_task("", total=1.0)
        yield lambda done: bar.update(task, completed=done)
