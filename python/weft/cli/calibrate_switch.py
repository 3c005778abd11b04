# SPDX-License-Identifier: LGPL-2.1-only
"""`weft calibrate switch`."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from weft.base.measured import log_error
from weft.base.units import parse_size
from weft.cli.calibrate_options import column_option, rows_option
from weft.cli.common import output_option
from weft.cli.files import Input, command, fabric_name
from weft.runs.launch import MOST_RANKS
from weft.runs.report import console, new_table, print_table, print_title

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weft.calibrate.switch import Observations, SwitchFit
    from weft.calibrate.tables import Rows

_SWITCH = """
Fit switch and NICs to measured Allreduces that the switch executed: base latency, turnaround of a
slot, the hosts' copy rate, and the gap between ranks that share a NIC, each with its confidence
interval. What the data cannot determine is said, and stays as it is in the base fabric.

A table is CSV by `bytes`, or by `ranks` and `nodes` (then --bytes gives the message size), or what
osu_allreduce or IMB's Allreduce print. Of several tables each has a base latency of its own, since
benchmarks differ in how ranks come to a call; the fabric gets that of the first.

\b
Examples:
  weft calibrate switch osu_allreduce.txt --base my-fabric.toml -o calibrated.toml
  weft calibrate switch by-size.csv by-ranks.csv --bytes 256 --base tofino-4 -o mine.toml
"""


@command(help=_SWITCH, short_help="Fit switch and NICs to offloaded Allreduces.")
@click.argument(
    "tables",
    metavar="TABLE...",
    nargs=-1,
    required=True,
    type=Input(exists=True, dir_okay=False),
)
@output_option("-o", "output", required=True, help="Fabric file to write.")
@click.option(
    "--base",
    type=fabric_name,
    required=True,
    metavar="FILE|NAME",
    help="Fabric of one smart switch whose other values hold, such as slots and links.",
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
def switch(
    tables: tuple[Path, ...],
    output: Path,
    base: str,
    column: str | None,
    rows: "Rows",
    size: str | None,
    ppn: int,
) -> None:
    """Read, fit, write, print."""
    from weft import _core
    from weft.calibrate import fabric_file, switch_file
    from weft.calibrate import switch as api
    from weft.calibrate.observations import read_observations

    fabric = _core.load_fabric(base)
    hardware = api.hardware_of(fabric)
    bytes_ = None if size is None else parse_size(size, "--bytes")
    seen = [read_observations(path, column, rows, bytes_, ppn) for path in tables]
    fit = api.fit(hardware, seen)
    names = " ".join(path.name for path in tables)
    text = switch_file.render(fit, fabric, f"weft calibrate switch {names} --rows {rows}")
    _print_estimates(fit)
    _print_errors(seen, fit)
    fabric_file.write(text, output)


def _print_estimates(fit: "SwitchFit") -> None:
    on = console(stderr=True)
    table = new_table(("parameter", "value", "low", "high"), left=("parameter",))
    for found in fit.estimates:
        value = found.text(found.value) if found.determined else "?"
        table.add_row(found.name, value, found.text(found.low), found.text(found.high))
    print_title("Fitted, with intervals that hold together with 95 %", on)
    print_table(table, on)
    for found in fit.estimates:
        if not found.determined:
            side = "at least" if found.low > 0 else "at most"
            bound = found.text(found.low if found.low > 0 else found.high)
            on.print(f"{found.name} cannot be determined: {side} {bound}", soft_wrap=True)
    for name, reason in fit.missing:
        on.print(f"{name} cannot be determined: {reason}", soft_wrap=True)


def _print_errors(seen: "Sequence[Observations]", fit: "SwitchFit") -> None:
    on = console(stderr=True)
    for rows, seconds in zip(seen, fit.seconds, strict=True):
        error = log_error(dict(enumerate(seconds.tolist())), dict(enumerate(rows.seconds.tolist())))
        on.print(f"{rows.name}: error of the fit {error.mean:.1%} mean, {error.worst:.1%} worst")
