# SPDX-License-Identifier: LGPL-2.1-only
"""`weft validate`."""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from rich.progress import (
    BarColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)

from weft.base.errors import WeftError, named
from weft.base.extras import need
from weft.base.output import whole_file
from weft.base.tables import console, new_table, print_table, print_title
from weft.base.units import parse_size
from weft.cli.common import output_option
from weft.cli.files import Input, Output, OutputDirectory, command, fabric_name
from weft.cli.measurement_options import benchmark_option, column_option
from weft.runs.options import MOST_RANKS
from weft.study.validation import accuracy, errors, gain, gain_report, gain_runs, own_tables
from weft.study.validation.gain import GainResult
from weft.study.validation.validate import SCHEMA, Check, Result, cost, plot, read_checks, run

_HELP = """
Simulate measured tables and report the error: of the shipped tables, or of your own TABLEs.

Errors are logarithmic: exp(mean |ln(simulated / measured)|) - 1, and the worst. The bounds of the
shipped tables are in data/checks.toml; checks without a bound are only reported. Where both the
switches and the hosts were measured, the gain from offloading is compared too: its size, on which
side of 1 it is, and the message size from which offloading pays off. Takes about a minute.

Your own TABLE is CSV, or an output of the OSU benchmarks, IMB, SKaMPI, nccl-tests, ucc_perftest,
ucx_perftest or perftest. Its columns determine what
was measured: Allreduces by size with one rank per host (`bytes,time_us`), Allreduces of one size by
number of ranks (`ranks,nodes,time_us`), or any collectives (`collective,ranks,ppn,bytes,time_us`).
Names of times end in their unit: _us, _ms, _s. Collectives are timed as the benchmark does that a
line of the table names (`# benchmark: osu`). --fabric and --mode select what to simulate; the rows
are printed as well.

\b
Examples:
  weft validate
  weft validate --json errors.json --figures figures
  weft validate osu_allreduce.txt --fabric my-cluster.toml --mode openmpi-4.1 --ranks 8
  weft validate collectives.csv --fabric my-cluster.toml --mode mpich-4 --mean 0.2
  weft validate osu_latency.txt --fabric my-cluster.toml --mode pingpong

\b
Exit status: 1 if an error exceeds its bound.
"""
_ROOM_FOR_A_BAR = 72
_OF_OWN = ("fabric", "mode", "column", "benchmark", "ranks", "bytes_", "rows", "mean", "worst")
ABOVE = "BOUND EXCEEDED"
_BOUND = click.FloatRange(min=0, min_open=True)


@contextmanager
def progress_of_checks(checks: Sequence[Check]) -> Iterator[Callable[[str], None] | None]:
    """Show the checks on a terminal, with the remaining time by their rows and ranks."""
    if not sys.stderr.isatty():
        yield None
        return
    on = console(stderr=True)
    bars = (BarColumn(16),) if on.width >= _ROOM_FOR_A_BAR else ()
    columns = (*bars, TaskProgressColumn(), TimeRemainingColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=on, transient=True) as bar:
        task = bar.add_task("", total=sum(map(cost, checks)))
        before = [0.0]
        costs = iter(map(cost, checks))

        def begin(name: str) -> None:
            bar.update(task, advance=before[0], description=name)
            before[0] = next(costs)

        yield begin


@command(help=_HELP)
@click.argument("tables", nargs=-1, metavar="[TABLE]...", type=Input(exists=True, dir_okay=False))
@click.option(
    "--fabric",
    type=fabric_name,
    metavar="FILE|NAME",
    help="For your own tables: the fabric to simulate.",
)
@click.option(
    "--mode",
    metavar="MODE",
    help="For your own tables: stream or message (offloaded), host algorithms as for `weft run"
    " --fallback` (openmpi-5.0, ring), pingpong, or bandwidth (of back-to-back messages, in a"
    " column whose name ends in _GBps).",
)
@column_option
@benchmark_option
@click.option(
    "--ranks",
    type=click.IntRange(2, MOST_RANKS),
    metavar="N",
    help="For your own tables by size: hosts, with one rank each.  [default: 4]",
)
@click.option(
    "--bytes", "bytes_", metavar="SIZE", help="For your own tables by ranks: size of the Allreduce."
)
@click.option(
    "--rows",
    type=click.Choice(["all", "even", "odd"]),
    help="Rows of your own tables to use; even or odd, if the fabric was fitted to the others."
    "  [default: all]",
)
@click.option("--mean", type=_BOUND, metavar="X", help="Bound of the mean error; 0.1 is 10 %.")
@click.option("--worst", type=_BOUND, metavar="X", help="Bound of the worst error.")
@output_option("--json", "json_file", help="Write checks, errors and all rows as JSON.")
@output_option(
    "--errors", "errors_file", help="Write the error of every collective, as data/errors.csv."
)
@click.option(
    "--figures",
    type=OutputDirectory(),
    metavar="DIRECTORY",
    help="Plot one figure per table.",
)
@output_option("--csv", "csv_file", help="Write every row: measured, simulated, error.")
@click.option(
    "--document",
    "documents",
    type=Output(exists=True, dir_okay=False),
    multiple=True,
    metavar="FILE",
    help="Fill in the tables of a document such as docs/accuracy.md. Repeatable: together, the"
    " documents must have all places.",
)
def validate(
    tables: tuple[Path, ...],
    json_file: Path | None,
    errors_file: Path | None,
    figures: Path | None,
    csv_file: Path | None,
    documents: tuple[Path, ...],
    **asked: Any,
) -> int:
    """Run the checks, print their results, and write the requested files."""
    if figures is not None:
        need("report")
    checks = _own_checks(tables, asked)
    gains = gain_runs.run(gain.read_gains()) if checks is None else []
    todo = read_checks() if checks is None else checks
    with progress_of_checks(todo) as progress:
        results = run(todo, progress)
    if gains:
        _print_gains(gains)
    _print(results)
    if checks is not None:
        _print_rows(results)
    if json_file is not None:
        _write(json_file, results, gains)
    if errors_file is not None:
        errors.write(errors_file, results, gains)
    if figures is not None:
        plot(results, figures)
        if gains:
            gain_report.plot(gains, figures)
    if csv_file is not None:
        accuracy.write_rows(csv_file, results)
    if documents:
        accuracy.write(documents, results, gains)
    holds = all(one.holds for one in gains) and all(one.holds for one in results)
    return 0 if holds else 1


def _write(target: Path, results: Sequence[Result], gains: Sequence[GainResult]) -> None:
    whole: dict[str, Any] = {
        "schema": SCHEMA,
        "gains": [one.to_json() for one in gains],
        "checks": [one.to_json() for one in results],
    }
    with whole_file("--json", target) as file:
        json.dump(whole, file, indent=1)
        file.write("\n")


def _own_checks(tables: Sequence[Path], asked: dict[str, Any]) -> list[Check] | None:
    """Return the checks of the user's own tables, or None without such tables."""
    given = {name: asked[name] for name in _OF_OWN if asked[name] is not None}
    if not tables:
        if given:
            raise WeftError(f"{named(next(iter(given)))}: applies to your own TABLE; name one")
        return None
    for needed in ("fabric", "mode"):
        if needed not in given:
            raise WeftError(f"{named(needed)}: is missing; your own TABLE is compared with one")
    if "bytes_" in given:
        given["bytes"] = parse_size(given.pop("bytes_"), "--bytes")
    return own_tables.own_checks(tables, own_tables.TableSimulation(**given))


def _print_gains(gains: Sequence[GainResult]) -> None:
    on = console()
    names = ("compared", "simulated", "rows", "wrong side", "mean", "bound", "worst", "")
    table = new_table(names, left=("compared", "simulated", ""))
    for one in gains:
        table.add_row(
            one.gain.name,
            one.gain.where,
            str(len(one.pairs)),
            gain_report.wrong_sides(one),
            f"{one.error.mean:.1%}",
            _bound(one.gain.mean),
            f"{one.error.worst:.1%}",
            "" if one.holds else ABOVE,
        )
    print_title("Gain from offloading (host time / switch time): logarithmic error", on)
    print_table(table, on)
    print_title(gain_report.summary(gains), on)


def _print(results: Sequence[Result]) -> None:
    on = console()
    names = ("measured", "simulated", "rows", "mean", "bound", "worst", "bound ", "")
    table = new_table(names, left=("measured", "simulated", ""))
    for result in results:
        check, error = result.check, result.error
        table.add_row(
            f"{check.stem} {check.what}",
            result.title,
            _rows(check, result),
            f"{error.mean:.1%}",
            _bound(check.mean),
            f"{error.worst:.1%}",
            _bound(check.worst),
            "" if result.holds else ABOVE,
        )
    print_title("Logarithmic error, simulated against measured", on)
    print_table(table, on)


def _print_rows(results: Sequence[Result]) -> None:
    on = console()
    for result in results:
        table = new_table((result.by, "measured", "simulated", "error"))
        measured, simulated = result.in_unit(result.measured), result.in_unit(result.simulated)
        for key in measured:
            off = simulated[key] / measured[key] - 1
            table.add_row(str(key), f"{measured[key]:.3f}", f"{simulated[key]:.3f}", f"{off:+.1%}")
        print_title(f"{result.check.stem} {result.check.what}: {result.title}, {result.unit}", on)
        print_table(table, on)


def _rows(check: Check, result: Result) -> str:
    count = len(result.points)
    return str(count) if check.rows == "all" else f"{count} {check.rows}"


def _bound(bound: float | None) -> str:
    return "" if bound is None else f"{bound:.1%}"
