# SPDX-License-Identifier: LGPL-2.1-only
"""`weft calibrate cluster`."""

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from weft.base.output import shown
from weft.base.tables import console, new_table, print_table, print_title
from weft.base.units import format_duration
from weft.cli.common import output_option
from weft.cli.files import Input, command
from weft.cli.measurement_options import base_option, key_option, library_option
from weft.runs.options import MOST_RANKS

if TYPE_CHECKING:
    from weft.calibrate.cluster.cluster import ClusterFit, Part

_HELP = """
Fit a fabric to a folder of unmodified outputs of the OSU micro-benchmarks, IMB, nccl-tests or
rccl-tests, ucc_perftest, ucx_perftest, and perftest (ib_write_bw and its siblings).

Every file below the folder is read, whatever its name. osu_bw and osu_mbw_mr determine the link
rate, osu_mbw_mr of several pairs the NIC's message rate, osu_latency or IMB's PingPong (or a CSV of
ping-pongs with the columns `source` and `target`) the point-to-point parameters, and collectives
with any number of ranks per host the host parameters. ucx_perftest and perftest measure below the
MPI library; their latencies are used where there is no ping-pong of MPI. Ranks and ranks per host
are read from headers, from the command that a file echoes, from lines of Slurm and ReFrame, and
from names such as `2x32` (hosts x ranks per host) or `ppn32`.
For other files, give --ranks and --ppn, or put a file measured.toml into the folder:

\b
  [[files]]
  match = "allreduce-*.txt"
  ranks = 64
  ppn = 32

The fabric file records which rows were used for what, and the bootstrap interval of each value.
Values that the rows do not determine are reported and keep the values of --base. The held-out error
is that of cross-validation: rows of each fold are predicted from the other folds. Files of
different machines are an error. Name the algorithms of the measured MPI library with --fallback.

\b
Examples:
  weft calibrate cluster osu/ --fallback openmpi-4.0 -o mine.toml
  weft calibrate cluster osu/ --topology ibnetdiscover.txt -o mine.toml
  weft calibrate cluster roce/ --base mine.toml --part network -o mine-roce.toml
"""


@command(help=_HELP, short_help="Fit a fabric to a folder of OSU, IMB or nccl-tests outputs.")
@click.argument("folder", metavar="FOLDER", type=Input(exists=True, file_okay=False))
@output_option("-o", "output", required=True, help="Fabric file to write.")
@base_option
@click.option(
    "--part",
    type=click.Choice(["all", "network", "hosts"]),
    default="all",
    show_default=True,
    help="Part of the fabric to fit. The other keeps the values of --base; its measurements are"
    " predicted.",
)
@click.option(
    "--topology",
    type=Input(exists=True, dir_okay=False),
    metavar="FILE",
    help="Topology file of another tool, such as an output of ibnetdiscover, whose hosts, switches"
    " and cables the fabric has, instead of --base; see `weft fabric new from`.",
)
@key_option
@click.option(
    "--ranks",
    type=click.IntRange(2, MOST_RANKS),
    metavar="NUMBER",
    help="Ranks of collectives whose files do not state them.",
)
@click.option(
    "--ppn",
    type=click.IntRange(1, MOST_RANKS),
    metavar="RANKS",
    help="Ranks per host of collectives whose files do not state them.",
)
@library_option
def cluster(
    folder: Path,
    output: Path,
    base: str | None,
    topology: Path | None,
    part: "Part",
    keys: tuple[str, ...],
    ranks: int | None,
    ppn: int | None,
    fallback: str | None,
) -> None:
    """Read the measurements, fit, write the fabric file, print the fit."""
    from weft.calibrate.cluster import cluster as api
    from weft.calibrate.cluster.folder import read_folder
    from weft.calibrate.host import keys as host_keys
    from weft.calibrate.point_to_point import fabric_file

    on = console(stderr=True)

    begun = time.monotonic()

    def progress(tries: int, loss: float) -> None:
        spent = format_duration(time.monotonic() - begun)
        on.print(f"{tries} tries, {spent}: loss {loss:.4f}", soft_wrap=True)

    with api.base_of(base, topology) as (start, note):
        if note:
            click.echo(f"weft: {topology}: {note}", err=True)
        found_keys = host_keys.find_keys(keys, start)
        evidence = read_folder(folder, ranks, ppn)
        fit = api.calibrate(evidence, output.stem, start, part, found_keys, fallback, progress)
    fabric_file.write(fit.text, output)
    _print_uses(fit)
    _print_values(fit)
    _print_errors(fit, output)


def _print_uses(fit: "ClusterFit") -> None:
    on = console(stderr=True)
    table = new_table(("rows", "used for"), left=("rows", "used for"))
    for use in fit.uses:
        table.add_row(use.rows, use.purpose)
    print_title(f"Measurements in {shown(fit.evidence.folder)}", on)
    print_table(table, on)


def _print_values(fit: "ClusterFit") -> None:
    from weft.calibrate.cluster.cluster import unsettled
    from weft.calibrate.host.intervals import PERCENT

    on = console(stderr=True)
    table = new_table(("key", "value", "low", "high"), left=("key",))
    if fit.network is not None:
        for key, value in fit.network.values.items():
            table.add_row(key, value, *fit.intervals.get(key, ("", "")))
    if fit.hosts is not None:
        for host_key, one in fit.hosts.values.items():
            ends = (str(host_key.toml(one.low)), str(host_key.toml(one.high)))
            table.add_row(host_key.text, str(host_key.toml(one.value)), *ends)
    print_title(f"Values, with {PERCENT} % bootstrap intervals", on)
    print_table(table, on)
    for line in () if fit.network is None else fit.network.messages:
        on.print(line, soft_wrap=True)
    if fit.hosts is not None:
        for line in unsettled(fit.hosts):
            on.print(line, soft_wrap=True)


def _print_errors(fit: "ClusterFit", target: Path) -> None:
    from weft.calibrate.cluster.cluster import series_errors

    on = console(stderr=True)
    table = new_table(("rows", "count", "mean", "worst"), left=("rows",))
    if fit.network is not None:
        error = fit.network.error
        sizes = str(len(fit.network.calibration.measured))
        table.add_row("ping-pong, simulated", sizes, f"{error.mean:.1%}", f"{error.worst:.1%}")
    if fit.hosts is not None and (inside := fit.collectives) is not None:
        table.add_row(
            *("collectives, as fitted", str(len(fit.measured))),
            *(f"{inside.mean:.1%}", f"{inside.worst:.1%}"),
        )
    how = "held out" if fit.hosts is not None else "predicted"
    for name, (number, error) in series_errors(fit).items():
        table.add_row(f"{name}, {how}", str(number), f"{error.mean:.1%}", f"{error.worst:.1%}")
    if (out := fit.held_out) is not None:
        mean, worst = f"{out.mean:.1%}", f"{out.worst:.1%}"
        table.add_row(f"all collectives, {how}", str(len(fit.measured)), mean, worst)
    print_title(f"{shown(target)}: errors", on)
    print_table(table, on)
