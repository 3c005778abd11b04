# SPDX-License-Identifier: LGPL-2.1-only
"""`weft bench bcast`, `weft bench allgather` and `weft bench ag+rs`."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import click

from weft.base.errors import WeftError
from weft.base.plots import Series, plot_by_size
from weft.base.tables import console, new_table, print_table, print_title
from weft.base.units import parse_sizes, plural
from weft.cli.bench.group import bench
from weft.cli.bench.osu import format_options, measure
from weft.cli.bench.shared import (
    check_outputs,
    iterations_option,
    modes_option,
    parse_modes,
    percentiles_option,
    rows_option,
    sampling,
    say_notices,
)
from weft.cli.common import output_option, progress_bar
from weft.cli.files import Command as FileCommand
from weft.cli.run_options import changes_options, click_option
from weft.runs import offload_modes
from weft.runs.record_data import with_changes
from weft.study.bench import collectives as api
from weft.study.bench import micro_benchmarks as osu
from weft.study.bench.benchmarks import BENCHMARKS
from weft.study.bench.collectives import COLLECTIVES, Collective, CollectivesBench, CollectiveTime
from weft.study.bench.modes import labels
from weft.study.bench.quantiles import title

_ITERATIONS = 1

_HELP = """
Measure the simulated latency of {title} for a range of sizes, in bytes that one rank contributes.

--modes compares offload mechanisms ({offloading}), algorithms that the benchmark implements with
point-to-point messages ({written}), and host algorithms as `weft run --fallback` takes them: an MPI
library's selection (`openmpi-5.0`), an algorithm, or SMPI's as `smpi:NAME`. A call that the
switches cannot execute falls back to the hosts; its row then names what was simulated. The table
shows the mean latency of the receiving ranks, the receive throughput of a rank, and the traffic
through all switch ports, in and out. Percentiles of the ranks' latencies are added if the fabric
has noise or --percentiles is given.{osu}

\b
Example:
  weft bench {name} --fabric fdr-188 -n 188 --sizes 64KiB --modes {modes}
"""
_AS_OSU = """ `weft bench osu_{name}` and --format osu time the call as OSU does: the mean of
all ranks, without the benchmark's own algorithms."""


def _help(collective: Collective) -> str:
    return _HELP.format(
        title=collective.title,
        offloading=", ".join(f"`{mode}`" for mode in offload_modes.WAYS),
        written=", ".join(f"`{mode}`" for mode in collective.written_out),
        name=collective.name,
        osu=_AS_OSU.format(name=collective.name) if collective.name in BENCHMARKS else "",
        modes=",".join(collective.default_modes[:2]),
    )


def _command(collective: Collective) -> click.Command:
    command: click.Command = FileCommand(
        collective.name,
        callback=partial(_measure, collective),
        help=_help(collective),
        short_help=f"Measure {collective.title} for a range of sizes.",
    )
    for add in _options(collective):
        command = add(command)
    return command


def _options(collective: Collective) -> Iterator[Callable[[click.Command], click.Command]]:
    yield from (click_option("fabric", required=True), changes_options)
    yield from (click_option("ranks"), click_option("ppn"))
    yield click.option(
        "--sizes",
        default="4KiB:256KiB",
        show_default=True,
        metavar="SIZES",
        help="A doubling range (4KiB:256KiB), or a list (4KiB,1MiB).",
    )
    yield iterations_option(_ITERATIONS, "Calls per size, with a barrier between them.")
    yield percentiles_option
    yield modes_option(",".join(collective.default_modes))
    yield click_option("strict")
    yield click.option(
        "--unchecked",
        is_flag=True,
        help="Share one buffer among all ranks, which allows gigabytes per rank; results are not"
        " checked.",
    )
    if collective.name in BENCHMARKS:
        yield from format_options()
    yield rows_option
    yield output_option("--plot", help="Plot the receive throughput: .png, .pdf or .svg.")


def _measure(
    collective: Collective,
    fabric: str,
    ranks: int,
    ppn: int | None,
    sizes: str,
    iterations: int | None,
    percentiles: str | None,
    modes: str,
    unchecked: bool,
    strict: bool,
    csv_file: Path | None,
    plot: Path | None,
    changes: tuple[str, ...],
    format_: str = "table",
    full: bool = False,
) -> None:
    """Check the options, run the benchmark, and print and write the results."""
    if format_ == "osu" or full:
        _as_osu(collective, modes, unchecked)(
            *(fabric, ranks, None, None if ppn is None else str(ppn), iterations, osu.WARM_UP, ()),
            *(format_, full, csv_file, changes),
            plot=plot,
            sizes=sizes,
            percentiles=percentiles,
            strict=strict,
        )
        return
    check_outputs(plot)
    parsed = parse_sizes(sizes, "--sizes")
    sample = sampling(fabric, changes, iterations, percentiles, _ITERATIONS)
    study = CollectivesBench(
        *(collective, fabric, ranks, parsed, parse_modes(modes), ppn),
        sample.iterations,
        unchecked,
        changes,
        sample.percentiles,
        strict,
    )
    with progress_bar(len(study.sizes) * len(study.modes)) as progress:
        rows = api.run(study, progress)
    _print(rows, study)
    say_notices(rows, fabric, changes)
    if csv_file is not None:
        api.write_csv(rows, csv_file)
    if plot is not None:
        _plot(rows, study, plot)


def _as_osu(collective: Collective, modes: str, unchecked: bool) -> Callable[..., None]:
    """Return the function that measures as OSU does, for modes that have no weft benchmark."""
    if unchecked:
        raise WeftError("--unchecked: found with --format osu, whose results are never checked")
    asked = [mode for mode in parse_modes(modes) if mode not in collective.written_out]
    named = ",".join(asked) or ",".join(osu.default_modes(BENCHMARKS[collective.name]))
    return partial(measure, BENCHMARKS[collective.name], modes=named)


def _title(rows: Sequence[CollectiveTime], study: CollectivesBench) -> str:
    title = study.collective.title
    fabric = with_changes(study.fabric, study.changes)
    return f"{title} on {fabric}, {plural(study.ranks, 'rank')}, {rows[0].ppn} per host"


def _print(rows: Sequence[CollectiveTime], study: CollectivesBench) -> None:
    on = console()
    print_title(_title(rows, study), on)
    table = new_table(
        (
            *("# Size", "mode", "Avg Latency(us)"),
            *map(title, study.percentiles),
            *("Max Latency(us)", "Recv BW(MB/s)", "Switch Traffic(MB)"),
        ),
        left=("mode",),
    )
    for row in sorted(rows, key=lambda row: row.bytes):
        table.add_row(
            str(row.bytes),
            row.way.label,
            f"{row.latency_us:.2f}",
            *(f"{time:.2f}" for time in row.percentiles_us.values()),
            f"{row.max_us:.2f}",
            f"{row.receive_Bps / 1e6:.1f}",
            f"{row.port_bytes / 1e6:.3f}",
        )
    print_table(table, on)


def _plot(rows: Sequence[CollectiveTime], study: CollectivesBench, target: Path) -> None:
    series = [
        Series(labels(rows, mode), {size: rate / 1e9 for size, rate in points.items()}, k)
        for k, mode in enumerate(study.modes)
        for points in [api.values(rows, mode, "receive_Bps")]
    ]
    plot_by_size(
        series, _title(rows, study), [target], "--plot", "receive throughput per rank (GB/s)"
    )


for one in COLLECTIVES.values():
    bench.add_command(_command(one))
