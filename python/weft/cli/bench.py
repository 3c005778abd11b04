# SPDX-License-Identifier: LGPL-2.1-only
"""`weft bench`."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import click

from weft.base.plots import Series, check_format, plot_by_size
from weft.base.units import parse_sizes, plural
from weft.cli import completion
from weft.cli.common import (
    Command,
    changes_options,
    fabric_option,
    output_option,
    ppn_option,
    progress_bar,
    ranks_option,
)
from weft.cli.groups import help_group
from weft.runs.launch import DEFAULT_FALLBACK
from weft.runs.record import with_changes
from weft.runs.report import console, new_table, print_table, print_title
from weft.study import bench as api
from weft.study.bench import AllreduceTime, Bench
from weft.study.quantiles import (
    NOISY_ITERATIONS,
    Sampling,
    parse_percentiles,
)
from weft.study.quantiles import title as percentile_title
from weft.study.ways import Benched, labels, messages

_HELP = """
Measure the simulated latency of MPI_Allreduce (MPI_INT, MPI_SUM) by message size, in the way of
the OSU micro-benchmarks.

A mode is `stream` or `message` (offloaded), or what `weft run --fallback` takes, which then runs
on the hosts: an MPI library's choice of algorithms (`openmpi-5.0`, `mpich-4`), an algorithm
(`recursive_doubling`, `ring`, `rabenseifner`), or SMPI's (`smpi:rdb`, `smpi:ompi`). Where the
switches cannot do it the hosts do, and the mode is called after what was simulated:
`recursive_doubling for stream`.
Latencies are in microseconds: the mean over all ranks and calls, and percentiles where the fabric
has noise or they are asked for. Sizes are in bytes, or carry a unit: B, kB, KiB, MB, MiB, GB, GiB,
TB.

\b
Examples:
  weft bench allreduce --fabric tofino-4 -n 4
  weft bench allreduce --fabric tofino-16 -n 32 --modes stream,recursive_doubling,ring --plot l.png
  weft bench allreduce --fabric tofino-64x64 -n 512 --sizes 4,1KiB --csv latency.csv
"""


_ITERATIONS = 10

bench = help_group("bench", "Measure collectives on a simulated fabric.")

rows_option = output_option(
    "--csv", "csv_file", help="Write the table, one line per mode and size."
)


percentiles_option = click.option(
    "--percentiles",
    metavar="NUMBERS",
    help="Percentiles of the times of single calls, as 5,50,95.  [default: 5,50,95 where the fabric"
    " has noise, else none]",
)


def iterations_option(usual: int, what: str) -> Callable[[Command], Command]:
    """Return the option for how many calls are made."""
    return click.option(
        "--iterations",
        type=click.IntRange(1, 1_000_000),
        help=f"{what}  [default: {usual}, since without noise all are alike; {NOISY_ITERATIONS}"
        " where the fabric has noise]",
    )


def sampling(
    fabric: str,
    changes: tuple[str, ...],
    iterations: int | None,
    percentiles: str | None,
    usual: int,
) -> Sampling:
    """Return how often calls are made, and what of their times is wanted."""
    wanted = None if percentiles is None else parse_percentiles(percentiles, "--percentiles")
    return Sampling.of(fabric, changes, iterations, wanted, usual)


def modes_option(default: str) -> Callable[[Command], Command]:
    """Return the option for what is compared."""
    return click.option(
        "--modes",
        default=default,
        show_default=True,
        metavar="MODE,...",
        shell_complete=completion.modes,
        help="What to compare.",
    )


@bench.command(help=_HELP, short_help="Measure MPI_Allreduce by message size.")
@fabric_option
@changes_options
@ranks_option
@ppn_option
@click.option(
    "--sizes",
    default="4:1MiB",
    show_default=True,
    metavar="SIZES",
    help="A range that doubles (4:1MiB), or a list (4,1KiB,64KiB).",
)
@iterations_option(_ITERATIONS, "Calls per size.")
@percentiles_option
@modes_option(f"stream,message,{DEFAULT_FALLBACK}")
@rows_option
@output_option("--plot", help="Draw the table: .png, .pdf or .svg.")
def allreduce(
    fabric: str,
    ranks: int,
    ppn: int | None,
    sizes: str,
    iterations: int | None,
    percentiles: str | None,
    modes: str,
    csv_file: Path | None,
    plot: Path | None,
    changes: tuple[str, ...],
) -> None:
    """Check, run, print, write."""
    check_outputs(plot)
    sample = sampling(fabric, changes, iterations, percentiles, _ITERATIONS)
    request = Bench(
        fabric,
        ranks,
        parse_sizes(sizes, "--sizes"),
        parse_modes(modes),
        ppn,
        sample.iterations,
        percentiles=sample.percentiles,
        changes=changes,
    )
    with progress_bar(len(request.sizes) * len(request.modes)) as progress:
        rows = api.run(request, progress)
    _print(rows, request)
    say_fallbacks(rows)
    if csv_file is not None:
        api.write_csv(rows, csv_file)
    if plot is not None:
        _plot(rows, request, plot)


def parse_modes(text: str) -> list[str]:
    """Return the modes that an option names, each once."""
    modes = list(dict.fromkeys(mode.strip() for mode in text.split(",")))
    if not all(modes):
        raise click.BadParameter(
            f"found '{text}'; write names with commas between", param_hint="'--modes'"
        )
    return modes


def say_fallbacks(rows: Sequence[Benched]) -> None:
    """Say which modes are not what was asked for, and why."""
    sys.stdout.flush()
    for message in messages(rows):
        click.echo(f"weft: {message}", err=True)


def check_outputs(plot: Path | None) -> None:
    """Prove before the work that the figure has a format."""
    if plot is not None:
        check_format("--plot", plot)


def _title(rows: Sequence[AllreduceTime], request: Bench) -> str:
    ranks = plural(request.ranks, "rank")
    fabric = with_changes(request.fabric, request.changes)
    return f"MPI_Allreduce on {fabric}, {ranks}, {rows[0].ppn} per host"


def _print(rows: Sequence[AllreduceTime], request: Bench) -> None:
    if request.percentiles:
        _print_percentiles(rows, request)
        return
    on = console()
    table = new_table(("bytes", *(labels(rows, mode) for mode in request.modes)))
    columns = [api.latencies(rows, mode) for mode in request.modes]
    for size in request.sizes:
        table.add_row(str(size), *(f"{column[size]:.2f}" for column in columns))
    print_title(f"{_title(rows, request)}: latency in us", on)
    print_table(table, on)


def _print_percentiles(rows: Sequence[AllreduceTime], request: Bench) -> None:
    on = console()
    heads = ("bytes", "mode", "mean, us", *map(percentile_title, request.percentiles))
    table = new_table(heads, left=("mode",))
    for row in sorted(rows, key=lambda row: row.bytes):
        times = (row.latency_us, *row.percentiles_us.values())
        table.add_row(str(row.bytes), row.way.label, *(f"{time:.2f}" for time in times))
    print_title(f"{_title(rows, request)}: {request.iterations} calls a size", on)
    print_table(table, on)


def _plot(rows: Sequence[AllreduceTime], request: Bench, target: Path) -> None:
    series = [
        Series(labels(rows, mode), api.latencies(rows, mode), k)
        for k, mode in enumerate(request.modes)
    ]
    plot_by_size(series, _title(rows, request), [target], "--plot")
