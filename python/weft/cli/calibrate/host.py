# SPDX-License-Identifier: LGPL-2.1-only
"""`weft calibrate host`."""

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from weft.base.errors import WeftError
from weft.base.output import shown
from weft.base.tables import console, new_table, print_table, print_title
from weft.base.units import format_duration
from weft.cli.calibrate.here import here_options, measure_here
from weft.cli.common import output_option
from weft.cli.files import command, fabric_name, measured_table
from weft.cli.measurement_options import (
    benchmark_option,
    column_option,
    key_option,
    library_option,
)

if TYPE_CHECKING:
    from weft.base.measured import LogError
    from weft.calibrate.host.host import HostFit
    from weft.calibrate.host.rows import Times

_HELP = """
Fit host parameters to collectives with several ranks per host: shared memory bandwidth, reduction
and copy rates of a core, costs of messages within a host. Fit messages between hosts first, with
`weft calibrate p2p`.

The table is CSV with the columns `collective`, `ranks`, `ppn` (ranks per host), `bytes` and a time
(`time_us`); bytes are counted as in the OSU micro-benchmarks. It names the benchmark that made it
(a line `# benchmark: osu`), or --benchmark does. The search predicts the rows from the schedules of
the algorithms, corrected by what a simulation of that benchmark adds. All rows are fitted;
cross-validation predicts the rows of each fold from the other folds. Values have bootstrap
intervals. Values that the rows do not determine are reported and keep the values of --base. Name
the algorithms of the measured MPI library with --fallback. For a folder of OSU or IMB outputs, see
`weft calibrate cluster`.

With --here nothing is fitted: in a few seconds, weft measures on this machine reductions and copies
by cache level, copies of all cores of a socket at once, and messages within and between sockets.
It writes a [host] table.

\b
Examples:
  weft calibrate host --here -o host.toml
  weft calibrate host osu.csv --base my-fabric.toml --fallback openmpi-4.0 -o mine.toml
  weft calibrate host osu.csv --base my-fabric.toml --key host.loopback_latency=50e-9:2e-6 \\
    --fit allreduce:4,allreduce:65536 -o mine.toml
"""


@command(help=_HELP, short_help="Fit host parameters to collectives with several ranks per host.")
@click.argument("table", metavar="[TABLE]", type=measured_table, required=False)
@output_option("-o", "output", required=True, help="Fabric file to write.")
@click.option(
    "--base",
    type=fabric_name,
    metavar="FILE|NAME",
    help="Fabric that provides all other values: the network and messages between hosts. --here"
    " without --base writes a [host] table alone.",
)
@here_options
@column_option
@benchmark_option
@key_option
@click.option(
    "--fit",
    "fit_",
    metavar="COLLECTIVE:BYTES,...",
    help="Rows to fit to; the others are held out.  [default: all, or a sample of each collective"
    " over all sizes that takes a minute or two]",
)
@library_option
def host(
    table: Path | None,
    output: Path,
    base: str | None,
    here: bool,
    repetitions: int,
    caches: str | None,
    column: str | None,
    benchmark: str | None,
    keys: tuple[str, ...],
    fit_: str | None,
    fallback: str | None,
) -> None:
    """Read the table, search the keys, write the fabric file, print the fit."""
    from weft import _core
    from weft.calibrate.host import host as api
    from weft.calibrate.host import keys as host_keys
    from weft.calibrate.host import rows as host_rows
    from weft.calibrate.host.host import with_intervals
    from weft.calibrate.point_to_point import fabric_file

    if here:
        given = {"TABLE": table, "--column": column, "--key": keys, "--fit": fit_}
        given |= {"--benchmark": benchmark, "--fallback": fallback}
        measure_here(output, base, repetitions, caches, given)
        return
    if table is None or base is None:
        missing = "TABLE" if table is None else "--base"
        raise WeftError(
            f"calibrate host: {missing} is missing; name a table and the fabric to change, or"
            " measure this machine by --here"
        )

    fabric = _core.load_fabric(base)
    found_keys = host_keys.find_keys(keys, base)
    measured = host_rows.read_rows(table, column)
    host_rows.check_fits(fabric, measured)
    rows = (
        host_rows.choose(measured)
        if fit_ is None
        else host_rows.named_rows(measured, fit_.split(","))
    )
    methods = dict.fromkeys(measured, host_rows.read_method(table, benchmark))
    on = console(stderr=True)

    begun = time.monotonic()

    def progress(tries: int, loss: float) -> None:
        spent = format_duration(time.monotonic() - begun)
        on.print(f"{tries} tries, {spent}: loss {loss:.4f}", soft_wrap=True)

    fit = api.fit(fabric, found_keys, measured, methods, rows, fallback, progress)
    head = f"# Hosts fitted by `weft calibrate host` to {table.name}: {_quality(fit, measured)}.\n"
    fabric_file.write(head + with_intervals(fit.text, fit.intervals), output)
    _print_values(fit)
    _print_errors(fit, measured, output)


def _quality(fit: "HostFit", measured: "Times") -> str:
    parts = []
    for what, (number, error) in _errors(fit, measured).items():
        parts.append(f"{error.mean:.1%} mean, {error.worst:.1%} worst of {number} rows {what}")
    return "simulated, error  " + "; ".join(parts)


def _errors(fit: "HostFit", measured: "Times") -> "dict[str, tuple[int, LogError]]":
    rows = list(fit.fitted)
    found = {"fitted to": (len(rows), fit.error(measured, rows))}
    if (out := fit.held_out(measured)) is not None:
        found["held out"] = (len(measured), out)
    return found


def _print_values(fit: "HostFit") -> None:
    from weft.calibrate.cluster.cluster import unsettled
    from weft.calibrate.host.intervals import PERCENT

    on = console(stderr=True)
    table = new_table(("key", "value", "low", "high"), left=("key",))
    for key, one in fit.values.items():
        table.add_row(key.text, *(str(key.toml(value)) for value in (one.value, one.low, one.high)))
    print_title(f"Fitted in {fit.tries} tries, with {PERCENT} % bootstrap intervals", on)
    print_table(table, on)
    for line in unsettled(fit):
        on.print(line, soft_wrap=True)


def _print_errors(fit: "HostFit", measured: "Times", target: Path) -> None:
    on = console(stderr=True)
    table = new_table(("rows", "count", "mean", "worst"), left=("rows",))
    for what, (number, error) in _errors(fit, measured).items():
        table.add_row(what, str(number), f"{error.mean:.1%}", f"{error.worst:.1%}")
    for collective in dict.fromkeys(row.collective for row in measured):
        some = {row: time for row, time in measured.items() if row.collective == collective}
        if (error_of := fit.held_out(some, list(some))) is not None:
            cells = (f"{error_of.mean:.1%}", f"{error_of.worst:.1%}")
            table.add_row(f"{collective}, held out", str(len(some)), *cells)
    print_title(f"{shown(target)}, simulated", on)
    print_table(table, on)
