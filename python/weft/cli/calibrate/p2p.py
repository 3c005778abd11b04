# SPDX-License-Identifier: LGPL-2.1-only
"""`weft calibrate p2p`."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from weft.base.errors import WeftError
from weft.base.measured import Column, log_error
from weft.base.output import shown
from weft.base.tables import console, new_table, print_table, print_title
from weft.base.units import format_size
from weft.cli.common import output_option
from weft.cli.files import command
from weft.cli.measurement_options import base_option, column_option, rows_option, table_argument

if TYPE_CHECKING:
    from weft.calibrate.measurements.tables import Rows
    from weft.calibrate.point_to_point.p2p import Calibration, Core

_P2P = """
Fit point-to-point messages to a ping-pong: time on cables, in the network and on cores, by size.

TABLE is an output of osu_latency, IMB's PingPong or SKaMPI's Pingpong_Send_Recv, of ucx_perftest or
ib_send_lat (whose messages have no MPI library), a shipped table (`p2p_azure_hc44rs_mpi`), or CSV
with a column `bytes` and one-way times whose names end in their unit (`median_us`; `rtt_us` is
halved). With a column `op`, CSV times MPI_Send and MPI_Recv separately on the side that sends
first, which also determines the eager threshold and the send overhead.

With columns `source` and `target`, CSV has one ping-pong per pair of hosts. The median over the
pairs is fitted, or the pair that --pair names. With --base the pairs are hosts of that fabric; the
times are compared with the route of the measured pair, or of the pair with the median latency.

Cables get the rate of the largest messages. The remaining time of eager messages is attributed to
the cores, half each unless MPI_Send is timed separately: cables then stay free for other messages,
and hosts with many ranks share their cables but not their cores. The errors are those of a
simulation of the file written; two affine models are fitted for comparison. Errors are
logarithmic: exp(mean |ln(simulated / measured)|) - 1, and the worst.

\b
Examples:
  weft calibrate p2p osu_latency.txt -o my-cluster.toml --plot fit.png
  weft calibrate p2p pingpong.csv --rows even --base tofino-4 -o tofino.toml
"""


def _segments(_context: click.Context, _option: click.Parameter, text: str) -> int | None:
    from weft.calibrate.point_to_point.piecewise import MAX_SEGMENTS

    if text == "auto":
        return None
    if text.isdecimal() and len(text) < 9 and 1 <= int(text) <= MAX_SEGMENTS:
        return int(text)
    raise click.BadParameter(f"found '{text}'; allowed are 1 to {MAX_SEGMENTS}, and auto")


@command(help=_P2P, short_help="Fit point-to-point messages to a ping-pong.")
@table_argument
@output_option("-o", "output", required=True, help="Fabric file to write.")
@click.option(
    "--segments",
    default="auto",
    show_default=True,
    callback=_segments,
    metavar="NUMBER|auto",
    help="Segments of the model, up to 8; auto chooses by the rows.",
)
@column_option
@rows_option
@base_option
@click.option(
    "--allreduce",
    type=int,
    metavar="RANKS",
    help="TABLE times Open MPI's Allreduce on this many hosts (4 or 8): derive single messages from"
    " it.",
)
@click.option(
    "--pair",
    metavar="SOURCE:TARGET",
    help="Hosts of the table, or the pair of its pairs to fit.  [default: the first two hosts of"
    " --base, all pairs]",
)
@output_option("--plot", help="Plot measurement and simulation: .png, .pdf or .svg.")
def p2p(
    table: Path,
    output: Path,
    segments: int | None,
    column: str | None,
    rows: "Rows",
    base: str | None,
    allreduce: int | None,
    pair: str | None,
    plot: Path | None,
) -> None:
    """Read the table, fit, write the fabric file, print the fit."""
    from weft.calibrate.measurements.rounds import single_messages
    from weft.calibrate.measurements.samples import parse_pair, read_allreduce, read_pingpong
    from weft.calibrate.point_to_point import fabric_file
    from weft.calibrate.point_to_point import p2p as api

    if plot is not None:
        api.check_plot(plot)
    if allreduce is None:
        pingpong = read_pingpong(table, column, None if pair is None else parse_pair(pair))
    elif pair is not None:
        raise WeftError("--pair: applies to ping-pongs only, not with --allreduce")
    else:
        pingpong = single_messages(read_allreduce(table, column), allreduce)
    threshold = None if base is None else fabric_file.eager_threshold_of(base)
    calibration = api.calibrate(pingpong, segments, rows, threshold)
    simulated = fabric_file.write_messages(calibration, base, output)
    _print_errors(calibration, simulated, output)
    _print_shares(calibration, fabric_file.latency_of(base, pingpong.between))
    _print_pairs(calibration)
    _print_protocol(calibration)
    if plot is not None:
        api.plot(calibration, simulated, plot)


def _print_pairs(calibration: "Calibration") -> None:
    """Print the spread between pairs of hosts, for the smallest and the largest messages."""
    between = calibration.pingpong.between
    if len(between) < 2:
        return
    on = console(stderr=True)
    table = new_table(("bytes", "min(us)", "median(us)", "max(us)", "fastest", "slowest"),
                      left=("fastest", "slowest"))  # fmt: skip
    for place in (0, -1):
        by_time = sorted(between, key=lambda pair: between[pair][place])
        fastest, slowest = by_time[0], by_time[-1]
        median = calibration.pingpong.one_way.seconds[place]
        times = (between[fastest][place], median, between[slowest][place])
        table.add_row(
            format_size(int(calibration.pingpong.one_way.bytes[place])),
            *(f"{time * 1e6:.3f}" for time in times),
            ":".join(fastest),
            ":".join(slowest),
        )
    print_title(f"{len(between)} pairs of hosts, fitted to their median", on)
    print_table(table, on)


def _print_errors(calibration: "Calibration", simulated: Column, target: Path) -> None:
    on = console(stderr=True)
    table = new_table(("model", "rows", "mean", "worst"), left=("model",))

    def add(what: str, column: Column, measured: Column) -> None:
        error = log_error(column, measured)
        table.add_row(what, str(len(measured)), f"{error.mean:.1%}", f"{error.worst:.1%}")

    name = shown(target)
    if calibration.rows == "all":
        add(f"{name}, simulated", simulated, calibration.measured)
    else:
        fitted = f"{name}, simulated: rows fitted to ({calibration.rows})"
        add(fitted, simulated, calibration.fitted)
        add(f"{name}, simulated: rows held out", simulated, calibration.held_out)
    for model, column in calibration.affine.items():
        add(model, column, calibration.measured)
    print_title(f"{calibration.pingpong.source}: errors", on)
    print_table(table, on)


def _print_shares(calibration: "Calibration", latency_s: float | None) -> None:
    on = console(stderr=True)
    shares = calibration.shares(latency_s)
    table = new_table(("from", "sender(us)", "ns/B", "receiver(us)", "ns/B"))
    for row in shares.eager:
        cells = [cell for core in (row.send, row.receive) for cell in _core_cells(core)]
        table.add_row(format_size(row.from_bytes), *cells)
    title = f"Eager messages, below {format_size(calibration.eager_threshold)}: time of the cores"
    print_title(title, on)
    print_table(table, on)
    if calibration.rendezvous:
        table = new_table(("from", "latency(us)"))
        for segment in calibration.rendezvous:
            table.add_row(format_size(segment.from_bytes), f"{segment.fixed_s * 1e6:.3f}")
        print_title("Rendezvous messages", on)
        print_table(table, on)
    on.print(
        f"Network: {shares.latency_s * 1e6:.3f} us for eager messages, and bytes at"
        f" {1e-9 / calibration.per_byte_s:.3f} GB/s, the rate of the largest messages.",
        soft_wrap=True,
    )


def _core_cells(core: "Core") -> tuple[str, str]:
    return f"{core.fixed_s * 1e6:.3f}", f"{core.per_byte_s * 1e9:.3f}"


def _print_protocol(calibration: "Calibration") -> None:
    found = calibration.overheads
    threshold = format_size(calibration.eager_threshold)
    if found is not None:
        text = (
            f"MPI_Send, timed separately, is eager below {threshold}: it takes"
            f" {found.send_fixed_s * 1e6:.2f} us and {found.send_per_byte_s * 1e9:.3f} ns a byte."
            " The rest of the time is attributed to the receiver."
        )
    else:
        text = (
            f"The eager threshold ({threshold} is kept) and the split of the cores' time (half"
            " each) cannot be determined, because MPI_Send is not timed separately."
        )
    console(stderr=True).print(text, soft_wrap=True)
