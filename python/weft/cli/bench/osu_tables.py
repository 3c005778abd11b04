# SPDX-License-Identifier: LGPL-2.1-only
"""Tables and plots of `weft bench NAME`."""

from collections.abc import Sequence
from pathlib import Path

import click

from weft.base.plots import Series, plot_by_size
from weft.base.tables import console, new_table, print_table, print_title
from weft.base.units import plural
from weft.cli.bench.shared import say_notices
from weft.runs.record_data import with_changes
from weft.study.bench import micro_benchmarks as api
from weft.study.bench import osu_format
from weft.study.bench.benchmarks import Column
from weft.study.bench.gains import gains
from weft.study.bench.micro_benchmarks import Study, Time
from weft.study.bench.quantiles import title as percentile_title


def show(study: Study, rows: Sequence[Time], format_: str, *, full: bool) -> None:
    """Print the results, and report fallbacks."""
    if format_ == "osu":
        for line in osu_format.lines(study, rows, full=full):
            click.echo(line)
    else:
        _print(study, rows, full=full)
    say_notices(rows, study.fabric, study.changes)


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
        print_title(f"{_title(study, rows)}: {columns[0].osu}", on)
        _print_by_mode(study, rows, columns[0])
        return
    calls = f": {study.iterations} calls per size" if study.percentiles else ""
    print_title(f"{_title(study, rows)}{calls}", on)
    _print_rows(study, rows, columns)


def _print_by_mode(study: Study, rows: Sequence[Time], column: Column) -> None:
    series = api.series(rows)
    sizes = list(dict.fromkeys(row.bytes for row in rows))
    sized = study.benchmark.sized != "nothing"
    only = list(series) == [api.MESSAGES]
    heads = [column.osu] if only else list(series)
    table = new_table([*(["# Size"] if sized else []), *heads])
    for size in sizes:
        figures = [_figure(column, points[size]) for points in series.values()]
        table.add_row(*([str(size)] if sized else []), *figures)
    on = console()
    print_table(table, on)
    for line in [] if study.benchmark.is_rate else gains(study, rows):
        on.print(line, soft_wrap=True)


def _print_rows(study: Study, rows: Sequence[Time], columns: Sequence[Column]) -> None:
    benchmark = study.benchmark
    several = benchmark.collective or len(study.ppn) > 1
    heads = [
        *(["# Size"] if benchmark.sized != "nothing" else []),
        *(["mode"] if several else []),
        *(column.osu for column in columns),
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


def _figure(column: Column, number: float) -> str:
    return f"{number:.0f}" if column.key == "messages_per_s" else f"{number:.2f}"


def plot(study: Study, rows: Sequence[Time], target: Path) -> None:
    """Plot the results against size."""
    drawn = [Series(name, points, k) for k, (name, points) in enumerate(api.series(rows).items())]
    axis = "bandwidth (MB/s)" if study.benchmark.is_rate else "latency (µs)"
    plot_by_size(drawn, _title(study, rows), [target], "--plot", axis)
