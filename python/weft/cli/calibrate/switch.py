# SPDX-License-Identifier: LGPL-2.1-only
"""`weft calibrate switch`."""

import math
from pathlib import Path
from typing import TYPE_CHECKING

import click

from weft.base.measured import log_error
from weft.base.tables import console, new_table, print_table, print_title
from weft.base.units import parse_size, plural
from weft.cli.common import output_option
from weft.cli.files import command, fabric_name, measured_table
from weft.cli.measurement_options import benchmark_option, column_option, rows_option
from weft.runs.options import MOST_RANKS

if TYPE_CHECKING:
    from weft.calibrate.measurements.samples import Floats
    from weft.calibrate.measurements.tables import Rows
    from weft.calibrate.switch.switch import Observations, SwitchFit

# Reported subsets: the fitted rows, then the held-out rows.
_PARTS: "dict[Rows, tuple[Rows, ...]]" = {
    "all": ("all",),
    "even": ("even", "odd"),
    "odd": ("odd", "even"),
}

_SWITCH = """
Fit switch and NIC parameters to measured Allreduces that the switch executed: base latency, slot
turnaround, host copy rate, and the gap between ranks that share a NIC, each with its confidence
interval. Parameters that the data cannot determine are reported and keep the values of --base,
unless the fit of the others is worse without them. The errors are those of a simulation of the file
written.

A table is CSV by `bytes`, or by `ranks` and `nodes` (then --bytes gives the message size), or an
output of osu_allreduce, IMB's Allreduce, nccl-tests or ucc_perftest. It names the benchmark that
made it (a line `# benchmark: loop`), or --benchmark does: how that one lets ranks enter a call is
simulated, as is the time beyond one switch if the base fabric has several.

\b
Examples:
  weft calibrate switch osu_allreduce.txt --base my-fabric.toml -o calibrated.toml
  weft calibrate switch by-size.csv by-ranks.csv --bytes 256 --base tofino-4 -o mine.toml
"""


@command(help=_SWITCH, short_help="Fit switch and NIC parameters to offloaded Allreduces.")
@click.argument(
    "tables",
    metavar="TABLE...",
    nargs=-1,
    required=True,
    type=measured_table,
)
@output_option("-o", "output", required=True, help="Fabric file to write.")
@click.option(
    "--base",
    type=fabric_name,
    required=True,
    metavar="FILE|NAME",
    help="Fabric with equal smart switches; provides all other values, such as slots and links.",
)
@column_option
@rows_option
@click.option("--bytes", "size", metavar="SIZE", help="Message size of tables by ranks.")
@click.option(
    "--ppn",
    type=click.IntRange(1, MOST_RANKS),
    default=1,
    show_default=True,
    metavar="RANKS",
    help="Ranks per host of tables by size.",
)
@click.option(
    "--nodes",
    type=click.IntRange(1),
    metavar="HOSTS",
    help="Hosts of tables by size.  [default: all hosts of the fabric]",
)
@benchmark_option
def switch(
    tables: tuple[Path, ...],
    output: Path,
    base: str,
    column: str | None,
    rows: "Rows",
    size: str | None,
    ppn: int,
    nodes: int | None,
    benchmark: str | None,
) -> None:
    """Read the tables, fit, write the fabric file, print the fit."""
    from weft import _core
    from weft.calibrate.point_to_point import fabric_file
    from weft.calibrate.switch import file as switch_file
    from weft.calibrate.switch import run as switch_run
    from weft.calibrate.switch import switch as api

    fabric = _core.load_fabric(base)
    hardware = api.hardware_of(fabric)
    bytes_ = None if size is None else parse_size(size, "--bytes")
    hosts = len(fabric.hosts) if nodes is None else nodes

    asked = switch_run.Asked(column, bytes_, ppn, hosts, benchmark)
    seen = {part: switch_run.read(fabric, hardware, tables, part, asked) for part in _PARTS[rows]}
    fit = api.fit(hardware, seen[rows], switch_file.values_of(fabric))
    names = " ".join(path.name for path in tables)
    command = f"weft calibrate switch {names} --rows {rows}"
    text = switch_file.render(fit, fabric, switch_run.path_of_one_switch(fabric), command)
    fabric_file.check(text)
    _print_estimates(fit)
    for part, observed in seen.items():
        for table in observed:
            _print_error(table, part, switch_run.simulated_seconds(text, fabric, table))
    fabric_file.write(text, output)


def _print_estimates(fit: "SwitchFit") -> None:
    on = console(stderr=True)
    table = new_table(("parameter", "value", "low", "high"), left=("parameter",))
    for found in fit.estimates:
        value = found.text(fit.written[found.name]) if found.name in fit.written else "?"
        table.add_row(found.name, value, found.text(found.low), found.text(found.high))
    print_title("Fitted, with simultaneous 95 % intervals", on)
    print_table(table, on)
    for found in fit.estimates:
        if not found.determined:
            side = "at least" if found.low > 0 else "at most"
            bound = found.text(found.low if found.low > 0 else found.high)
            taken = "; its value is written, because the fit is worse without it"
            on.print(
                f"{found.name} cannot be determined: {side} {bound}"
                f"{taken if found.name in fit.needed else ''}",
                soft_wrap=True,
            )
    for name, reason in fit.missing:
        on.print(f"{name} cannot be determined: {reason}", soft_wrap=True)


def _print_error(table: "Observations", which: "Rows", seconds: "Floats") -> None:
    measured = table.seconds.tolist()
    simulated = {row: time for row, time in enumerate(seconds.tolist()) if math.isfinite(time)}
    what = table.name + ("" if which == "all" else f", {which} rows")
    left = len(measured) - len(simulated)
    text = f"{what}: nothing was simulated"
    if simulated:
        error = log_error(simulated, dict(enumerate(measured)))
        text = f"{what}: simulation error {error.mean:.1%} mean, {error.worst:.1%} worst"
    more = f"; {plural(left, 'row')} too large to simulate" if left else ""
    console(stderr=True).print(text + more, soft_wrap=True)
