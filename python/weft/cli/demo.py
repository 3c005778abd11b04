# SPDX-License-Identifier: LGPL-2.1-only
"""`weft demo`."""

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console

from weft.base import paths
from weft.base.extras import lacking
from weft.base.measured import PAPER_ERROR
from weft.base.tables import console, new_table, print_table, print_title
from weft.base.units import format_size
from weft.benchmarks.certainty import LEVEL, shown
from weft.cli.common import progress_bar
from weft.cli.files import OutputDirectory, command
from weft.study import demo as api
from weft.study.demo import COMPARISONS, HOSTS, Results

_MEASURED = {
    "mpitofino_us": "mpitofino",
    "openmpi_tuned_us": "Open MPI tuned",
    "openmpi_basic_us": "basic",
}

_HELP = """
Compare simulated Allreduce latencies with those measured on a real Tofino.

Runs the shipped benchmark on four hosts at a 100 Gb/s Tofino, with and without offloading, prints
simulated and measured latencies (in microseconds) side by side, and plots latency by message size
and by number of hosts, if the extra 'report' is installed. Takes a few seconds.

\b
Example:
  weft demo --out my-demo
"""


@command(help=_HELP)
@click.option(
    "--out",
    type=OutputDirectory(api.FILES),
    default=Path("weft-demo"),
    show_default=True,
    help="Directory for tables and figures.",
)
def demo(out: Path) -> None:
    """Run the demo's simulations, print the results, and draw the figures."""
    with progress_bar(api.simulations()) as progress:
        results = api.run(progress)
    on = console()
    _print_by_size(results, on)
    _print_errors(results, on)
    _print_by_hosts(results, on)
    _print_gains(results, on)
    _print_files(api.write_files(results, out), on)
    _print_next(on)


def _print_by_size(results: Results, on: Console) -> None:
    table = new_table(("bytes", *_columns()))
    for size in results.real["mpitofino_us"]:
        table.add_row(str(size), *_cells(results, size))
    print_title("MPI_Allreduce by message size, 4 hosts x 1 rank: latency in us", on)
    on.print("mpitofino and Open MPI (tuned, basic) are measured; the others are simulated.")
    print_table(table, on)
    on.print()


def _columns() -> list[str]:
    """Return the column names; each simulated column follows its measured column."""
    columns: list[str] = []
    for k, comparison in enumerate(COMPARISONS):
        if _MEASURED[comparison.measured] not in columns:
            columns.append(_MEASURED[comparison.measured])
        columns += [comparison.mode, "error" + " " * k]
    return columns


def _cells(results: Results, size: int) -> list[str]:
    cells: list[str] = []
    shown = ""
    for comparison in COMPARISONS:
        real = results.real[comparison.measured][size]
        if comparison.measured != shown:
            cells.append(f"{real:.2f}")
            shown = comparison.measured
        simulated = results.simulated(comparison.mode)[size]
        cells += [f"{simulated:.2f}", f"{simulated / real - 1:+.1%}"]
    return cells


def _print_errors(results: Results, on: Console) -> None:
    table = new_table(("simulated", "measured", "mean", "worst"), left=("simulated", "measured"))
    for comparison in COMPARISONS:
        error = results.error(comparison)
        name = comparison.measured.removesuffix("_us")
        table.add_row(comparison.mode, name, f"{error.mean:.1%}", f"{error.worst:.1%}")
    table.add_row("Belbeisi et al., CF '26", "mpitofino", f"{PAPER_ERROR:.0%}", "")
    print_title("Error over all sizes: exp(mean |ln(simulated / measured)|) - 1", on)
    print_table(table, on)
    on.print()


def _print_by_hosts(results: Results, on: Console) -> None:
    table = new_table(("hosts", *(comparison.mode for comparison in COMPARISONS)))
    for hosts in HOSTS:
        table.add_row(str(hosts), *(f"{results.hosts(one.mode)[hosts]:.2f}" for one in COMPARISONS))
    print_title("MPI_Allreduce of 1 KiB, one rank per host: simulated latency in us", on)
    print_table(table, on)
    on.print()


def _print_gains(results: Results, on: Console) -> None:
    table = new_table(
        ("offloaded against Open MPI tuned", "mean speed-up", "max", "faster from"),
        left=("offloaded against Open MPI tuned",),
    )
    for name, gain in results.gains().items():
        mean = f"{gain.mean:.2f}{_within(gain.mean_within)}"
        most = f"{gain.most:.2f}{_within(gain.most_within)} at {format_size(gain.most_at)}"
        table.add_row(name, mean, most, format_size(gain.pays_from))
    table.add_row("Belbeisi et al., CF '26, sizes not stated", "", f"{api.PAPER_GAIN:.1f}", "")
    print_title("Speed-up from offloading on 4 hosts (geometric mean over all sizes)", on)
    on.print(f"In parentheses: intervals that hold {LEVEL:.0%} of measured cases.", soft_wrap=True)
    print_table(table, on)
    on.print()


def _within(interval: tuple[float, float] | None) -> str:
    return "" if interval is None else f" ({shown(*interval)})"


def _print_files(files: Sequence[Path], on: Console) -> None:
    on.print("Written:", soft_wrap=True)
    for path in files:
        on.print(f"  {path}", soft_wrap=True)
    if missing := lacking("report"):
        on.print(f"No figures: {missing}", soft_wrap=True, markup=False)


def _print_next(on: Console) -> None:
    weft, source = _own_name(), _shown(paths.example("allreduce_latency.c"))
    on.print("\nTry next:", soft_wrap=True)
    bench_options = "--fabric tofino-16 -n 64 --modes stream,openmpi-5.0,ring --plot latency.png"
    run_options = "--fabric tofino-16 -n 16 --compare --trace timeline.json"
    for line in (
        f"{weft} fabric show tofino-4",
        f"{weft} bench allreduce {bench_options}",
        f"{weft} cc {source} -o latency && {weft} run {run_options} -- ./latency",
    ):
        on.print(f"  {line}", soft_wrap=True, markup=False)


def _own_name() -> str:
    """Return the command with which the user invoked weft."""
    path = Path(sys.argv[0])
    return path.name if shutil.which(path.name) == str(path) else _shown(path)


def _shown(path: Path) -> str:
    """Return the shortest form of a path."""
    own = Path("examples") / path.name
    if own.exists():
        return str(own)
    relative = os.path.relpath(path)
    return str(path) if relative.startswith("..") else relative
