# SPDX-License-Identifier: LGPL-2.1-only
"""`weft calibrate`."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from weft.base.measured import log_error
from weft.base.units import format_size, parse_size
from weft.cli.calibrate_cpu import cpu
from weft.cli.common import output_option
from weft.cli.files import Input, fabric_name
from weft.cli.groups import help_group
from weft.runs.launch import MOST_RANKS
from weft.runs.report import console, new_table, print_table, print_title

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weft.calibrate.observations import Rows
    from weft.calibrate.p2p import Calibration
    from weft.calibrate.switch import Observations, SwitchFit

_GROUP = "Fit the parameters of a fabric file to measurements of your own testbed."

calibrate = help_group("calibrate", _GROUP)
calibrate.add_command(cpu)

table_argument = click.argument("table", metavar="TABLE", type=Input(exists=True, dir_okay=False))
column_option = click.option(
    "--column",
    metavar="NAME",
    help="Column of the times, where the table has several.  [default: the median, else the mean]",
)
base_option = click.option(
    "--base",
    type=fabric_name,
    metavar="FILE|NAME",
    help="Fabric whose other values to keep.  [default: two hosts on a switch]",
)

_P2P = """
Fit point-to-point messages to a ping-pong: the piecewise-linear model of SMPI.

The table is what osu_latency, IMB's PingPong or SKaMPI's Pingpong_Send_Recv print, or CSV with a
column `bytes` and one-way times whose names end in their unit (`median_us`; `rtt_us` is halved).
With a column `op`, CSV has MPI_Send and MPI_Recv timed apart on the side that sends first; that
gives the eager threshold and the sender's overhead as well.

The two affine models are fitted for comparison. Errors are logarithmic: exp(mean |ln(fit /
measured)|) - 1, and the worst.

\b
Examples:
  weft calibrate p2p osu_latency.txt -o my-cluster.toml --plot fit.png
  weft calibrate p2p pingpong.csv --segments auto --base tofino-4 -o tofino.toml
"""


def _segments(_context: click.Context, _option: click.Parameter, text: str) -> int | None:
    from weft.calibrate.piecewise import MAX_SEGMENTS

    if text == "auto":
        return None
    if text.isdecimal() and len(text) < 9 and 1 <= int(text) <= MAX_SEGMENTS:
        return int(text)
    raise click.BadParameter(f"found '{text}'; allowed are 1 to {MAX_SEGMENTS}, and auto")


@calibrate.command(help=_P2P, short_help="Fit point-to-point messages to a ping-pong.")
@table_argument
@output_option("-o", "output", required=True, help="Fabric file to write.")
@click.option(
    "--segments",
    default="3",
    show_default=True,
    callback=_segments,
    metavar="NUMBER|auto",
    help="Segments of the model; auto adds them while the cross-validated error falls, up to 8.",
)
@column_option
@base_option
@click.option(
    "--allreduce",
    type=int,
    metavar="RANKS",
    help="The table is of Open MPI's Allreduce on so many hosts (4 or 8): take it apart into its"
    " messages.",
)
@output_option("--plot", help="Draw measurement and models: .png, .pdf or .svg.")
def p2p(
    table: Path,
    output: Path,
    segments: int | None,
    column: str | None,
    base: str | None,
    allreduce: int | None,
    plot: Path | None,
) -> None:
    """Read, fit, write, print."""
    from weft.calibrate import fabric_file
    from weft.calibrate import p2p as api
    from weft.calibrate.rounds import single_messages
    from weft.calibrate.samples import read_allreduce, read_pingpong

    if plot is not None:
        api.check_plot(plot)
    if allreduce is None:
        pingpong = read_pingpong(table, column)
    else:
        pingpong = single_messages(read_allreduce(table, column), allreduce)
    calibration = api.calibrate(pingpong, segments)
    _print_models(calibration)
    _print_segments(calibration)
    _print_protocol(calibration)
    fabric_file.write(fabric_file.render(calibration, output.stem, base), output)
    if plot is not None:
        api.plot(calibration, plot)


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


@calibrate.command(help=_SWITCH, short_help="Fit switch and NICs to offloaded Allreduces.")
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
@click.option(
    "--rows",
    type=click.Choice(["all", "even", "odd"]),
    default="all",
    show_default=True,
    help="Rows of each table to fit to; every second leaves the others for a test.",
)
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


def _print_models(calibration: "Calibration") -> None:
    on = console(stderr=True)
    table = new_table(("model", "mean", "worst"), left=("model",))
    for name in calibration.models:
        error = calibration.error(name)
        table.add_row(name, f"{error.mean:.1%}", f"{error.worst:.1%}")
    print_title(f"{calibration.pingpong.source}: error of the fits", on)
    print_table(table, on)


def _print_segments(calibration: "Calibration") -> None:
    on = console(stderr=True)
    table = new_table(("from", "latency us", "bandwidth GB/s", "correlation"))
    for segment in calibration.transfer.segments:
        table.add_row(
            format_size(segment.from_bytes),
            f"{segment.fixed_s * 1e6:.3f}",
            f"{1e-9 / segment.per_byte_s:.3f}",
            f"{segment.correlation:.4f}",
        )
    print_title(f"Segments, product of correlations {calibration.transfer.correlation:.4f}", on)
    print_table(table, on)


def _print_protocol(calibration: "Calibration") -> None:
    on = console(stderr=True)
    found = calibration.overheads
    if found is not None:
        on.print(
            f"Eager below {format_size(found.eager_threshold)}: MPI_Send takes"
            f" {found.send_fixed_s * 1e6:.2f} us and {found.send_per_byte_s * 1e9:.3f} ns a byte.",
            "The receiver's overhead cannot be determined: a ping-pong's MPI_Recv mostly waits.",
            sep="\n",
            soft_wrap=True,
        )
        return
    on.print(
        "Eager threshold and overheads cannot be determined: MPI_Send is not timed apart.",
        soft_wrap=True,
    )
