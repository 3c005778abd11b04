# SPDX-License-Identifier: LGPL-2.1-only
"""`weft train`: training iterations on GPUs."""

from pathlib import Path

import click

from weft.cli.common import execute_iteration, iteration_options, output_option
from weft.cli.files import command
from weft.cli.run_options import click_option
from weft.iterations.iteration import LIBRARY, Conditions
from weft.iterations.timeline import listed_ranks
from weft.training.run import Training, load_training, parsed_slowdown

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
  weft train llama.toml --fabric superpod-h100-32 --faults faults.toml --traffic traffic.toml
"""


@command(help=_HELP)
@click_option("fabric", required=True)
@click_option("changes")
@click_option("traffic")
@click_option("faults")
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
    help="Compare collectives by GPUs alone, by NVSwitches (NVLS), by the network (SHARP), and"
    " Allgathers by multicast.",
)
@iteration_options("step")
@click.option("--ignore-memory", is_flag=True, help="Allow what a GPU's memory does not hold.")
@output_option("--timeline", "timeline", help="Write a rank of each stage for Perfetto.")
@output_option("--json", "json_file", help="Write the record as JSON.")
@click.option("-q", "--quiet", is_flag=True, help="Print no table.")
@click.argument("model", metavar="MODEL")
def train(
    model: str,
    fabric: str,
    changes: tuple[str, ...],
    traffic: Path | None,
    faults: Path | None,
    model_changes: tuple[str, ...],
    gpu: str | None,
    nccl: str,
    compare: bool,
    slowdown: tuple[str, ...],
    noise: float,
    noise_seed: int,
    execute_all: bool,
    detail: str | None,
    multicast: bool,
    ignore_memory: bool,
    timeline: Path | None,
    csv_file: Path | None,
    json_file: Path | None,
    quiet: bool,
) -> int:
    """Read the model, execute the iteration, report the results."""
    training = load_training(model, model_changes, gpu=gpu, ignore_memory=ignore_memory)
    conditions = Conditions(
        fabric=fabric,
        changes=changes,
        faults=faults,
        traffic=traffic,
        library=f"nccl-{nccl}",
        execute_all=execute_all,
        detail=detail or "step",
        multicast=multicast,
        slowdown=parsed_slowdown(slowdown, "--slowdown"),
        noise=noise,
        seed=noise_seed,
        listed=_listed(training, timeline, json_file),
    )
    return execute_iteration(
        *(training.workload, conditions, training.file.source, training.summary),
        model_changes=model_changes,
        compare=compare,
        timeline=timeline,
        csv_file=csv_file,
        json_file=json_file,
        quiet=quiet,
    )


def _listed(training: Training, timeline: Path | None, json_file: Path | None) -> tuple[int, ...]:
    """Return the ranks whose operations an output lists."""
    if timeline:
        return training.representatives()
    return listed_ranks(training.summary) if json_file else ()
