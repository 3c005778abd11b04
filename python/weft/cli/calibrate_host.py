# SPDX-License-Identifier: LGPL-2.1-only
"""`weft calibrate host`."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from weft.base.errors import WeftError
from weft.base.output import shown
from weft.base.units import format_size
from weft.cli.calibrate_here import here_options, measure_here
from weft.cli.calibrate_options import column_option
from weft.cli.common import output_option
from weft.cli.files import command, fabric_name, measured_table
from weft.runs.report import console, new_table, print_table, print_title

if TYPE_CHECKING:
    from weft.calibrate.host import HostFit
    from weft.calibrate.host_rows import HostRow, Times

_HELP = """
Fit the hosts to collectives with several ranks on each: what their ranks share, what a core adds
up, what a message within a host costs. Messages between hosts come first, by `weft calibrate p2p`.

The table is CSV with the columns `collective`, `ranks`, `ppn` (ranks per host), `bytes` and a time
(`time_us`), bytes as the OSU micro-benchmarks count them. At most six rows are fitted to, by a
search over what the algorithms' schedules take, and all others predicted. The errors are those of
what was written. What no row depends on is said, and stays as it is in the base fabric. Name the
algorithms of the library that was measured by --fallback.

With --here nothing is fitted: a program of weft's measures this machine, sums and copies by cache
level and messages between two processes, in some seconds, and writes a table [host].

\b
Examples:
  weft calibrate host --here -o host.toml
  weft calibrate host osu.csv --base my-fabric.toml --fallback openmpi-4.0 -o mine.toml
  weft calibrate host osu.csv --base my-fabric.toml --key host.loopback_latency=50e-9:2e-6 \\
    --fit allreduce:4,allreduce:65536 -o mine.toml
"""


@command(help=_HELP, short_help="Fit the hosts to collectives at many ranks per host.")
@click.argument("table", metavar="[TABLE]", type=measured_table, required=False)
@output_option("-o", "output", required=True, help="Fabric file to write.")
@click.option(
    "--base",
    type=fabric_name,
    metavar="FILE|NAME",
    help="Fabric whose other values hold: its network and its messages between hosts. With"
    " --here, a table [host] alone is written without.",
)
@here_options
@column_option
@click.option(
    "--key",
    "keys",
    multiple=True,
    metavar="KEY[=LOW:HIGH]",
    help="Key to fit, such as host.loopback_latency, between bounds in its unit; several times for"
    " several.  [default: those of [host] that messages within it depend on]",
)
@click.option(
    "--fit",
    "fit_",
    metavar="COLLECTIVE:BYTES,...",
    help="Rows to fit to, six at most.  [default: of each collective as many, over all sizes]",
)
@click.option(
    "--fallback",
    metavar="NAME",
    help="Algorithms of the hosts' MPI library, as for `weft run`.  [default: as there]",
)
def host(
    table: Path | None,
    output: Path,
    base: str | None,
    here: bool,
    repetitions: int,
    caches: str | None,
    column: str | None,
    keys: tuple[str, ...],
    fit_: str | None,
    fallback: str | None,
) -> None:
    """Read, search, write, print."""
    from weft import _core
    from weft.calibrate import fabric_file, host_keys, host_rows
    from weft.calibrate import host as api

    if here:
        given = {"TABLE": table, "--column": column, "--key": keys, "--fit": fit_}
        measure_here(output, base, repetitions, caches, {**given, "--fallback": fallback})
        return
    if table is None or base is None:
        missing = "TABLE" if table is None else "--base"
        raise WeftError(
            f"calibrate host: {missing} is missing; name a table and the fabric to change, or"
            " measure this machine by --here"
        )

    fabric = _core.load_fabric(base)
    found_keys = host_keys.find_keys(keys)
    measured = host_rows.read_rows(table, column)
    host_rows.check_fits(fabric, measured)
    rows = (
        host_rows.choose(measured)
        if fit_ is None
        else host_rows.named_rows(measured, fit_.split(","))
    )
    on = console(stderr=True)

    def progress(tries: int, loss: float) -> None:
        on.print(f"{tries} tries: loss {loss:.4f}", soft_wrap=True)

    fit = api.fit(fabric, found_keys, measured, rows, fallback, progress)
    head = f"# Hosts fitted by `weft calibrate host` to {table.name}: {_quality(fit, measured)}.\n"
    fabric_file.write(head + fit.text, output)
    _print_values(fit)
    _print_errors(fit, measured, output)


def _quality(fit: "HostFit", measured: "Times") -> str:
    parts = []
    for what, rows in _parts(fit, measured).items():
        error = fit.error(measured, rows)
        parts.append(f"{error.mean:.1%} mean, {error.worst:.1%} worst of {len(rows)} rows {what}")
    return "predicted, off by " + "; ".join(parts)


def _parts(fit: "HostFit", measured: "Times") -> "dict[str, list[HostRow]]":
    others = [row for row in measured if row not in fit.fitted]
    parts = {"fitted to": list(fit.fitted), "held out": others}
    return {what: rows for what, rows in parts.items() if rows}


def _print_values(fit: "HostFit") -> None:
    on = console(stderr=True)
    table = new_table(("key", "value"), left=("key",))
    for key, value in fit.values.items():
        table.add_row(key.text, str(key.toml(value)))
    print_title(f"Fitted in {fit.tries} tries", on)
    print_table(table, on)
    for key in fit.undetermined:
        text = f"{key.text} cannot be determined: no row that is fitted to depends on it"
        on.print(text, soft_wrap=True)


def _print_errors(fit: "HostFit", measured: "Times", target: Path) -> None:
    on = console(stderr=True)
    table = new_table(("rows", "number", "mean", "worst"), left=("rows",))

    def add(what: str, rows: "list[HostRow]") -> None:
        error = fit.error(measured, rows)
        table.add_row(what, str(len(rows)), f"{error.mean:.1%}", f"{error.worst:.1%}")

    for what, rows in _parts(fit, measured).items():
        add(what, rows)
    for collective in dict.fromkeys(row.collective for row in measured):
        add(collective, [row for row in measured if row.collective == collective])
    names = ", ".join(f"{row.collective} {format_size(row.bytes)}" for row in fit.fitted)
    print_title(f"{shown(target)}, predicted; fitted to {names}", on)
    print_table(table, on)
