# SPDX-License-Identifier: LGPL-2.1-only
"""`weft bench nccl-all_reduce` and the other tests of nccl-tests."""

from functools import partial
from pathlib import Path

import click

from weft.base.units import parse_sizes
from weft.cli.bench.group import bench
from weft.cli.bench.shared import iterations_option, rows_option, sampling, warm_up_option
from weft.cli.common import progress_bar
from weft.cli.files import Command as FileCommand
from weft.cli.run_options import changes_options, click_option
from weft.study.bench import micro_benchmarks
from weft.study.bench import nccl_tests as api
from weft.study.bench.benchmarks import TYPES
from weft.study.bench.nccl import DEFAULT_VERSION

_HELP = """
Run {test}_perf of nccl-tests on a simulated fabric of GPUs, with the columns of nccl-tests.

NCCL chooses algorithm, protocol and channels by its tuner, on the GPUs and graphs of the fabric's
[nccl] table; what it chooses runs on the fabric. Sizes are bytes of the larger buffer. Times are
those of calls out of place and in place (MPI_IN_PLACE).

\b
Examples:
  weft bench nccl-{test} --fabric dgx-h100 -n 8
  weft bench nccl-{test} --fabric h100-ndr-10 -n 10 --sizes 32MiB:1GiB --csv times.csv
"""


def _command(test: str) -> click.Command:
    made: click.Command = FileCommand(
        api.PREFIX + test,
        callback=partial(_measure, test),
        help=_HELP.format(test=test),
        short_help=f"Measure {test} of NCCL, as nccl-tests do.",
    )
    options = [click_option("fabric", required=True), changes_options, click_option("ranks")]
    options.append(
        click.option(
            "--sizes",
            metavar="SIZES",
            default=api.SIZES,
            show_default=True,
            help="A doubling range (1MiB:1GiB), or a list (1MiB,64MiB).",
        )
    )
    options.append(
        click.option(
            *("--type", "type_"),
            type=click.Choice([*TYPES]),
            default=api.TYPE,
            show_default=True,
            help="Datatype of the elements, without MPI_.",
        )
    )
    if api.NcclBench(test, "", 2, ()).sums:
        options.append(
            click.option(
                "--op",
                type=click.Choice(api.OPERATIONS),
                default="sum",
                show_default=True,
                help="Reduction operation, without MPI_.",
            )
        )
    options.append(
        click.option(
            *("--nccl", "version"),
            metavar="VERSION",
            default=DEFAULT_VERSION,
            show_default=True,
            help="Version of NCCL whose constants choose: a file of presets/nccl.",
        )
    )
    options.append(iterations_option(micro_benchmarks.ITERATIONS, "Timed calls per size."))
    options.append(warm_up_option(micro_benchmarks.WARM_UP, "calls"))
    options += [click_option("config"), click_option("strict"), rows_option]
    for add in options:
        made = add(made)
    return made


def _measure(
    test: str,
    fabric: str,
    ranks: int,
    sizes: str,
    type_: str,
    version: str,
    iterations: int | None,
    warm_up: int,
    config: tuple[str, ...],
    strict: bool,
    csv_file: Path | None,
    changes: tuple[str, ...],
    op: str = "sum",
) -> None:
    """Check the options, run the test, and print and write the results."""
    sample = sampling(fabric, changes, iterations, None, micro_benchmarks.ITERATIONS)
    asked = api.NcclBench(
        *(test, fabric, ranks, parse_sizes(sizes, "--sizes"), version, type_, op),
        *(sample.iterations, warm_up, changes, config, strict),
    )
    with progress_bar(2 * len(asked.sizes)) as progress:
        rows = api.run(asked, progress)
    for line in api.lines(asked, rows):
        click.echo(line)
    if csv_file is not None:
        api.write_csv(rows, csv_file)


for one in api.BUS:
    bench.add_command(_command(one))
