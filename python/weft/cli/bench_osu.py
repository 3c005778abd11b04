# SPDX-License-Identifier: LGPL-2.1-only
"""`weft bench NAME`: a command for each of OSU's micro-benchmarks, made from their table."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

from weft.base.plots import Series, plot_by_size
from weft.base.units import parse_counts, parse_sizes, plural
from weft.cli.bench import (
    check_outputs,
    iterations_option,
    modes_option,
    parse_modes,
    percentiles_option,
    rows_option,
    sampling,
    say_fallbacks,
)
from weft.cli.common import (
    changes_options,
    config_option,
    fabric_option,
    output_option,
    progress_bar,
)
from weft.cli.files import Command as FileCommand
from weft.runs import launch
from weft.runs.record import with_changes
from weft.runs.report import console, new_table, print_table, print_title
from weft.runs.site import load_fabric
from weft.study import micro_benchmarks as api
from weft.study import osu_format
from weft.study.bench_gains import gains
from weft.study.benchmarks import OPERATIONS, TYPES, Benchmark, Column
from weft.study.micro_benchmarks import Study, Time
from weft.study.quantiles import title as percentile_title

FORMATS = ("table", "osu")

_HELP = """
Measure {title} on a simulated fabric as {osu} of the OSU micro-benchmarks 7.4 does, by {sized}.
{figures}
{modes}
Sizes are in bytes, or carry a unit: B, kB, KiB, MB, MiB, GB, GiB, TB.

\b
Examples:
  weft bench {name} --fabric {fabric} {ranks}
  weft bench {name} --fabric {fabric} {ranks} --format osu
"""
_SIZED = {
    "vector": "the bytes of a rank's vector",
    "split": "the bytes of the vector that each rank gives, of which it gets the part of a rank",
    "block": "the bytes that a rank has for, or gets from, one other",
    "message": "the bytes of a message",
    "element": "the bytes of one element",
    "nothing": "ranks alone: it moves no data",
}
_FIGURES = {
    "blocking": """
Each call is timed, with a barrier after it. Shown is the mean over all ranks and calls, and
percentiles where the fabric has noise or they are asked for.
""",
    "non-blocking": """
Call and wait are timed first (pure communication). Then each rank starts the call, computes for
as long as that took it, and waits. The overlap is 100 * (1 - (overall - compute) / pure) %.
Simulated libraries make progress while a rank computes, as with a thread of their own.
""",
    "latency": """
One rank sends, the other answers: shown is half of the time, the mean of all pairs.
""",
    "bandwidth": """
A window of messages is in flight at once; the receiver answers when it has all of them.
""",
    "rate": """
Each rank of the first half sends windows of messages to one of the second half. With --ppn half of
the ranks, all senders are on one host. Shown are all pairs' rates together.
""",
    "one-sided latency": """
Rank 0 makes the call and flushes it, in one lock of rank 1's window.
""",
    "one-sided rate": """
A window of calls is made before each synchronization.
""",
}
_MODES = """
A mode is a way to offload (`stream`, `message`, `multicast`, `auto`), or what `weft run --fallback`
takes, which then runs on the hosts: an MPI library's choice of algorithms (`openmpi-5.0`,
`mpich-4`), an algorithm (`recursive_doubling`), or SMPI's (`smpi:rdb`). Where the switches cannot
do it the hosts do, and the mode is called after what was simulated: `recursive_doubling for
stream`.
"""


def command(name: str, benchmark: Benchmark) -> click.Command:
    """Return the command of a benchmark."""
    made: click.Command = FileCommand(
        name,
        callback=partial(measure, benchmark),
        help=_help(benchmark),
        short_help=f"Measure {benchmark.title}.",
    )
    for add in _options(benchmark):
        made = add(made)
    return made


def _help(benchmark: Benchmark) -> str:
    many = benchmark.collective or benchmark.pairs
    return _HELP.format(
        name=benchmark.name,
        title=benchmark.title,
        osu=f"osu_{benchmark.name}",
        sized=_SIZED[benchmark.sized],
        figures=_FIGURES[benchmark.family].rstrip(),
        modes=_MODES if benchmark.collective else "",
        fabric="tofino-4" if benchmark.collective else "star-8",
        ranks="-n 4" if many else "",
    ).replace(" \n", "\n")


def ranks_options(needed: str) -> Iterator[Callable[[click.Command], click.Command]]:
    """Yield the options that say how many ranks there are, and where."""
    most = click.IntRange(1, launch.MOST_RANKS)
    yield click.option(
        "-n", "ranks", type=most, metavar="RANKS", help=f"Number of MPI ranks{needed}."
    )
    yield click.option(
        "--nodes",
        type=most,
        metavar="N",
        help="Hosts to run on, in place of -n: each has the ranks that --ppn says.",
    )
    yield click.option(
        "--ppn",
        metavar="RANKS,...",
        help="Ranks per host, placed block by block; a list or a range that doubles (1:8) is"
        " measured one after the other.  [default: 1 while there are hosts enough, else as few as"
        " possible]",
    )


def _options(benchmark: Benchmark) -> Iterator[Callable[[click.Command], click.Command]]:
    many = benchmark.collective or benchmark.pairs
    yield from (fabric_option, changes_options)
    yield from ranks_options("; this or --nodes must be given" if many else "; allowed is 2")
    if benchmark.sized not in ("nothing", "element"):
        sizes = benchmark.sizes(benchmark.default_type)
        yield click.option(
            "--sizes",
            metavar="SIZES",
            help="A range that doubles (4:1MiB), or a list (4,1KiB,64KiB).  [default:"
            f" {sizes}, and from the size of another --type on]",
        )
    if benchmark.sized != "nothing":
        yield click.option(
            *("--type", "type_"),
            type=click.Choice([*TYPES]),
            default=benchmark.default_type,
            show_default=True,
            help="Type of the elements, MPI's without MPI_.",
        )
    if benchmark.sums:
        yield click.option(
            "--op",
            type=click.Choice(OPERATIONS),
            default="sum",
            show_default=True,
            help="Operation, MPI's without MPI_.",
        )
    yield iterations_option(api.ITERATIONS, "Timed calls or windows per size.")
    yield click.option(
        "--warm-up",
        type=click.IntRange(0, 1_000_000),
        default=api.WARM_UP,
        show_default=True,
        help="Calls or windows per size before those that are timed.",
    )
    if benchmark.has_window:
        yield click.option(
            "--window",
            type=click.IntRange(1, api.MOST_WINDOW),
            default=api.WINDOW,
            show_default=True,
            help="Messages in flight.",
        )
    if not benchmark.is_rate:
        yield percentiles_option
    if benchmark.family == "blocking":
        yield click.option(
            "--back-to-back",
            is_flag=True,
            help="Leave out the barrier after each call, as `weft validate` and its page do.",
        )
    if benchmark.collective:
        yield modes_option(",".join(api.default_modes(benchmark)))
    yield config_option
    yield from format_options()
    yield rows_option
    if benchmark.sized not in ("nothing", "element"):
        yield output_option("--plot", help="Draw the table: .png, .pdf or .svg.")


def format_options() -> Iterator[Callable[[click.Command], click.Command]]:
    """Yield the options that say what is printed."""
    yield click.option(
        "--format",
        "format_",
        type=click.Choice(FORMATS),
        default=FORMATS[0],
        show_default=True,
        help="A table, or what the OSU micro-benchmarks 7.4 print, an output for each mode.",
    )
    yield click.option(
        *("--full", "-f"),
        is_flag=True,
        help="Show all figures, as OSU's -f does: minimum and maximum over the ranks.",
    )


def measure(
    benchmark: Benchmark,
    fabric: str,
    ranks: int | None,
    nodes: int | None,
    ppn: str | None,
    iterations: int | None,
    warm_up: int,
    config: tuple[str, ...],
    format_: str,
    full: bool,
    csv_file: Path | None,
    changes: tuple[str, ...],
    **more: Any,
) -> None:
    """Check, run, print, write; `more` are options that not all benchmarks have."""
    plot: Path | None = more.get("plot")
    check_outputs(plot)
    wanted = more.get("percentiles")
    sample = sampling(fabric, changes, iterations, wanted, api.ITERATIONS)
    type_ = more.get("type_") or benchmark.default_type
    per_host = parse_counts(ppn, "--ppn") if ppn is not None else ()
    where = load_fabric(fabric, changes)
    counts, placed = api.placed(benchmark, where, ranks, nodes, per_host)
    modes = more.get("modes")
    study = Study(
        *(benchmark, fabric, counts, placed),
        _sizes(benchmark, more.get("sizes"), type_),
        parse_modes(modes) if modes is not None else (),
        sample.iterations,
        warm_up,
        more.get("window") or api.WINDOW,
        type_,
        more.get("op") or "sum",
        () if benchmark.is_rate else sample.percentiles,
        changes,
        config,
        more.get("back_to_back", False),
    )
    with progress_bar(len(study.sizes) * len(study.runs)) as progress:
        rows = api.run(study, progress)
    show(study, rows, format_, full=full)
    if csv_file is not None:
        api.write_csv(rows, csv_file)
    if plot is not None:
        _plot(study, rows, plot)


def _sizes(benchmark: Benchmark, given: str | None, type_: str) -> Sequence[int]:
    if benchmark.sized == "nothing":
        return (0,)
    return parse_sizes(given or benchmark.sizes(type_), "--sizes")


def show(study: Study, rows: Sequence[Time], format_: str, *, full: bool) -> None:
    """Print what was measured, and say what fell back."""
    if format_ == "osu":
        for line in osu_format.lines(study, rows, full=full):
            click.echo(line)
    else:
        _print(study, rows, full=full)
    say_fallbacks(rows)


# ---- Tables


def _title(study: Study, rows: Sequence[Time]) -> str:
    counts = list(dict.fromkeys(row.ranks for row in rows))
    ppn = list(dict.fromkeys(row.ppn for row in rows))
    ranks = plural(counts[0], "rank") if len(counts) == 1 else f"{_listed(counts)} ranks"
    fabric = with_changes(study.fabric, study.changes)
    return f"{study.benchmark.title} on {fabric}, {ranks}, {_listed(ppn)} per host"


def _listed(numbers: Sequence[int]) -> str:
    *first, last = map(str, numbers)
    return f"{', '.join(first)} and {last}" if first else last


def _print(study: Study, rows: Sequence[Time], *, full: bool) -> None:
    columns = [one for one in study.benchmark.columns if full or not one.full]
    on = console()
    if len(columns) == 1 and not study.percentiles:
        print_title(f"{_title(study, rows)}: {columns[0].title.replace(', ', ' in ')}", on)
        _print_by_mode(study, rows, columns[0])
        return
    calls = f": {study.iterations} calls a size" if study.percentiles else ""
    print_title(f"{_title(study, rows)}{calls}", on)
    _print_rows(study, rows, columns)


def _print_by_mode(study: Study, rows: Sequence[Time], column: Column) -> None:
    series = api.series(rows)
    sizes = list(dict.fromkeys(row.bytes for row in rows))
    sized = study.benchmark.sized != "nothing"
    only = list(series) == [api.MESSAGES]
    heads = [column.title] if only else list(series)
    table = new_table([*(["bytes"] if sized else []), *heads])
    for size in sizes:
        figures = [_figure(column, points[size]) for points in series.values()]
        table.add_row(*([str(size)] if sized else []), *figures)
    on = console()
    print_table(table, on)
    for line in [] if study.benchmark.is_rate else gains(series):
        on.print(line, soft_wrap=True)


def _print_rows(study: Study, rows: Sequence[Time], columns: Sequence[Column]) -> None:
    benchmark = study.benchmark
    several = benchmark.collective or len(study.ppn) > 1
    heads = [
        *(["bytes"] if benchmark.sized != "nothing" else []),
        *(["mode"] if several else []),
        *(_head(column, study) for column in columns),
        *map(percentile_title, study.percentiles),
    ]
    table = new_table(heads, left=("mode",))
    ppn = len({row.ppn for row in rows}) > 1
    for row in sorted(rows, key=lambda row: row.bytes):
        label = api.label(rows, row.mode, row.ppn) if ppn else row.way.label
        table.add_row(
            *([str(row.bytes)] if benchmark.sized != "nothing" else []),
            *([label] if several else []),
            *(_figure(column, row.figures[column.key]) for column in columns),
            *(f"{time:.2f}" for time in row.percentiles_us.values()),
        )
    print_table(table, console())


def _head(column: Column, study: Study) -> str:
    return "mean, us" if study.percentiles and column.key == "latency_us" else column.title


def _figure(column: Column, number: float) -> str:
    return f"{number:.0f}" if column.key == "messages_per_s" else f"{number:.2f}"


def _plot(study: Study, rows: Sequence[Time], target: Path) -> None:
    drawn = [Series(name, points, k) for k, (name, points) in enumerate(api.series(rows).items())]
    axis = "bandwidth (MB/s)" if study.benchmark.is_rate else "latency (µs)"
    plot_by_size(drawn, _title(study, rows), [target], "--plot", axis)
