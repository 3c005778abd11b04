# SPDX-License-Identifier: LGPL-2.1-only
"""`weft bench --like`: simulation of the measurements in a file."""

import sys
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

import click

from weft.base.measured import LogError
from weft.base.tables import console, new_table, print_table, print_title
from weft.base.units import format_size, plural
from weft.cli.bench import shared
from weft.cli.bench.group import LIKE, bench
from weft.cli.bench.shared import parse_modes, rows_option, say_notices
from weft.cli.common import progress_bar
from weft.cli.files import Input
from weft.cli.run_options import changes_options, click_option
from weft.runs.options import DEFAULT_FALLBACK, MOST_RANKS
from weft.study.bench import like as api
from weft.study.bench import micro_benchmarks
from weft.study.bench.like import ComparedBenchmark, LikeOptions
from weft.study.bench.modes import labels
from weft.study.bench.nccl import DEFAULT_VERSION

_HELP = """
Simulate the benchmark whose output FILE is (OSU micro-benchmarks, IMB, nccl-tests, rccl-tests,
ucc_perftest, ucx_perftest, or ib_write_bw and its siblings), and show measured and simulated
results side by side, with the error of each size, the mean logarithmic error and the worst one.

Sizes, types and windows come from the file. Ranks and ranks per host do too if the file's header,
the command that it echoes, or its name (`ppn32`, `2x32`) states them. `weft bench --like FILE` is
the same command.

\b
Examples:
  weft bench --like osu_allreduce.txt --fabric tofino-16 -n 16
  weft bench --like imb_2x32.txt --fabric mine.toml --modes openmpi-4.1,mpich-4 --csv both.csv
"""


@bench.command(
    LIKE,
    help=_HELP,
    short_help="Simulate the benchmark of an OSU, IMB or nccl-tests output (also --like FILE).",
)
@click.argument("file", type=Input(exists=True, dir_okay=False), metavar="FILE")
@click_option("fabric", required=True)
@changes_options
@click_option(
    "ranks",
    type=click.IntRange(2, MOST_RANKS),
    required=False,
    help="Number of MPI ranks of collectives, if the file does not state it.",
)
@click_option("ppn")
@shared.modes_option(
    None,
    f"Modes to compare.  [default: {DEFAULT_FALLBACK}; nccl-{DEFAULT_VERSION} for nccl-tests on a"
    " fabric of GPUs]",
)
@shared.iterations_option(micro_benchmarks.ITERATIONS, "Timed calls or windows per size.")
@click_option("config")
@click_option("strict")
@rows_option
def like(
    file: Path,
    fabric: str,
    changes: tuple[str, ...],
    ranks: int | None,
    ppn: int | None,
    modes: str | None,
    iterations: int | None,
    config: tuple[str, ...],
    strict: bool,
    csv_file: Path | None,
) -> None:
    """Check the options, run the benchmark, and print and write the results."""
    sample = shared.sampling(fabric, changes, iterations, None, micro_benchmarks.ITERATIONS)
    wanted = None if modes is None else parse_modes(modes)
    asked = LikeOptions(
        *(fabric, ranks, ppn, wanted, sample.iterations, changes, config), strict=strict
    )
    planned = api.plan(file, asked)
    with progress_bar(sum(len(one.sizes) * len(one.runs) for _, one in planned.runs)) as progress:
        found = api.run(planned, progress)
    for number, (_, some) in enumerate(groupby(found, lambda one: one.measured.line)):
        if number:
            click.echo()
        _print(list(some))
    sys.stdout.flush()
    for text in planned.left_out:
        click.echo(f"weft: skipped: {text}", err=True)
    for text in planned.notes:
        click.echo(f"weft: note: {text}", err=True)
    say_notices([row for one in found for row in one.rows], fabric, changes)
    if csv_file is not None:
        api.write_csv(found, csv_file)


def _print(modes: Sequence[ComparedBenchmark]) -> None:
    first = modes[0]
    on, measured, benchmark = console(), first.measured, first.study.benchmark
    row = first.rows[0]
    print_title(
        f"{benchmark.title} of {measured.path.name} (line {measured.line}) on {row.fabric},"
        f" {plural(row.ranks, 'rank')}, {row.ppn} per host: {benchmark.figure.osu}",
        on,
    )
    names = [labels(one.rows, row.mode) for one in modes for row in one.rows[:1]]
    names = names if benchmark.collective else ["simulated"]
    sized = benchmark.sized != "nothing"
    heads = [part for name in names for part in (name, "Error(%)")]
    table = new_table([*(["# Size"] if sized else []), "measured", *heads])
    for row, real in first.pairs:
        cells = []
        for one in modes:
            figure = next(other.figure for other in one.rows if other.bytes == row.bytes)
            cells += [f"{figure:.2f}", f"{100 * (figure / real - 1):+.1f}"]
        table.add_row(*([str(row.bytes)] if sized else []), f"{real:.2f}", *cells)
    print_table(table, on)
    for name, one in zip(names, modes, strict=True):
        on.print(f"{name}: {_error(one.error, one)}", soft_wrap=True)


def _error(error: LogError, beside: ComparedBenchmark) -> str:
    def off(pair: tuple[micro_benchmarks.Time, float]) -> float:
        row, real = pair
        return max(row.figure / real, real / row.figure)

    worst = max(beside.pairs, key=off)[0]
    at = f" at {format_size(worst.bytes)}" if beside.study.benchmark.sized != "nothing" else ""
    return f"mean logarithmic error {100 * error.mean:.1f} %, worst {100 * error.worst:.1f} %{at}"
