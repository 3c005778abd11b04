# SPDX-License-Identifier: LGPL-2.1-only
"""`weft bench NAME`: one command per OSU micro-benchmark, generated from a table."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

from weft.base.units import parse_counts, parse_sizes
from weft.cli.bench.osu_tables import plot as draw
from weft.cli.bench.osu_tables import show
from weft.cli.bench.shared import (
    check_outputs,
    iterations_option,
    modes_option,
    parse_modes,
    percentiles_option,
    rows_option,
    sampling,
    warm_up_option,
)
from weft.cli.common import output_option, progress_bar
from weft.cli.files import Command as FileCommand
from weft.cli.run_options import changes_options, click_option
from weft.runs import offload_modes
from weft.runs.options import MOST_RANKS, run_option
from weft.runs.site import load_fabric
from weft.study.bench import micro_benchmarks as api
from weft.study.bench.benchmarks import OPERATIONS, TYPES, Benchmark
from weft.study.bench.micro_benchmarks import Study

FORMATS = ("table", "osu")

_HELP = """
Run {osu} of the OSU micro-benchmarks 7.4 on a simulated fabric: {title}.{sized}
{figures}
{modes}
Sizes are in bytes, or have a unit: B, kB, KiB, MB, MiB, GB, GiB, TB.

\b
Examples:
  weft bench {name} --fabric {fabric} {ranks}
  weft bench {name} --fabric {fabric} {ranks} --format osu
"""
_SIZED = {
    "vector": " Sizes are those of a rank's vector.",
    "split": " Sizes are those of the vector that a rank contributes; it receives a part of it.",
    "block": " Sizes are those of the block that one rank exchanges with another.",
    "message": " Sizes are those of a message.",
    "element": " The size is that of one element.",
    "nothing": " The call moves no data.",
}
_FIGURES = {
    "blocking": """
Each call is timed and followed by a barrier. The table shows the mean over all ranks and calls, and
percentiles if the fabric has noise or --percentiles is given.
""",
    "non-blocking": """
Call and wait are timed first (pure communication). Then each rank starts the call, computes for
that time, and waits. The overlap is 100 * (1 - (overall - compute) / pure) %. On the hosts, the
library progresses only inside MPI calls, unless --set mpi.progress=thread models a progress thread.
""",
    "latency": """
Ping-pong: the table shows half of the round-trip time, averaged over all pairs.
""",
    "bandwidth": """
The sender keeps a window of messages in flight; the receiver acknowledges each window.
""",
    "rate": """
Each rank of the first half sends windows of messages to one of the second half. If --ppn is half of
the ranks, all senders are on one host. The table shows the aggregate bandwidth and message rate of
all pairs.
""",
    "one-sided latency": """
Rank 0 makes the call and flushes it, within one lock epoch on rank 1's window.
""",
    "one-sided rate": """
A window of calls is issued before each synchronization.
""",
}
_WAYS = ", ".join(f"`{way}`" for way in offload_modes.WAYS)
_MODES = f"""
--modes compares offload mechanisms ({_WAYS}) and
host algorithms as `weft run --fallback` takes them: an MPI library's selection (`openmpi-5.0`,
`mpich-4`), an algorithm (`recursive_doubling`), or SMPI's (`smpi:rdb`). A call that the switches
cannot execute falls back to the hosts; its row then names what was simulated:
`recursive_doubling for stream`.
"""


def command(name: str, benchmark: Benchmark) -> click.Command:
    """Return the command for a benchmark."""
    made: click.Command = FileCommand(
        name,
        callback=partial(measure, benchmark),
        help=_help(benchmark),
        short_help=f"Measure {benchmark.title}.",
    )
    for add in _options(benchmark):
        made = add(made)
    return made


def _help(benchmark: Benchmark) -> str:
    many = benchmark.collective or benchmark.pairs
    return (
        _HELP.format(
            name=benchmark.name,
            title=benchmark.title,
            osu=f"osu_{benchmark.name}",
            sized=_SIZED[benchmark.sized],
            figures=_FIGURES[benchmark.family].rstrip(),
            modes=_MODES if benchmark.collective else "",
            fabric="tofino-4" if benchmark.collective else "star-8",
            ranks="-n 4" if many else "",
        )
        .replace(" \n", "\n")
        .replace("  --format", " --format")
    )


def ranks_options(needed: str) -> Iterator[Callable[[click.Command], click.Command]]:
    """Yield the options for the number and placement of ranks."""
    meaning = run_option("ranks").option.meaning
    yield click_option("ranks", required=False, help=f"{meaning}{needed}.")
    yield click.option(
        "--nodes",
        type=click.IntRange(1, MOST_RANKS),
        metavar="N",
        help="Hosts to run on, instead of -n; each has --ppn ranks.",
    )
    ppn = run_option("ppn").option
    yield click_option(
        "ppn",
        type=click.STRING,
        metavar="RANKS,...",
        help=f"{ppn.meaning}; a list (1,4) or a doubling range (1:8) runs one by one."
        f"  [default: {ppn.absent}]",
    )


def _options(benchmark: Benchmark) -> Iterator[Callable[[click.Command], click.Command]]:
    many = benchmark.collective or benchmark.pairs
    yield from (click_option("fabric", required=True), changes_options)
    yield from ranks_options("; required unless --nodes is given" if many else "; must be 2")
    if benchmark.sized not in ("nothing", "element"):
        sizes = benchmark.sizes(benchmark.default_type)
        least = ", at least one element per rank" if benchmark.has_equal_parts else ""
        yield click.option(
            "--sizes",
            metavar="SIZES",
            help="A doubling range (4:1MiB), or a list (4,1KiB,64KiB).  [default:"
            f" {sizes}; starts at the size of --type{least}]",
        )
    if benchmark.sized != "nothing":
        yield click.option(
            *("--type", "type_"),
            type=click.Choice([*TYPES]),
            default=benchmark.default_type,
            show_default=True,
            help="Datatype of the elements, without MPI_.",
        )
    if benchmark.sums:
        yield click.option(
            "--op",
            type=click.Choice(OPERATIONS),
            default="sum",
            show_default=True,
            help="Reduction operation, without MPI_.",
        )
    yield iterations_option(api.ITERATIONS, "Timed calls, or windows, per size.")
    yield warm_up_option(api.WARM_UP, "calls, or windows,")
    if benchmark.has_window:
        yield click.option(
            "--window",
            type=click.IntRange(1, api.MOST_WINDOW),
            metavar="N",
            default=api.WINDOW,
            show_default=True,
            help="Messages in flight.",
        )
    if not benchmark.is_rate:
        yield percentiles_option
    if benchmark.family == "blocking":
        yield click.option(
            "--back-to-back",
            is_flag=True,
            help="Omit the barrier after each call, as `weft validate` does.",
        )
    if benchmark.collective:
        yield modes_option(",".join(api.default_modes(benchmark)))
    yield from (click_option("config"), click_option("strict"))
    yield from format_options()
    yield rows_option
    if benchmark.sized not in ("nothing", "element"):
        yield output_option("--plot", help="Plot the table: .png, .pdf or .svg.")


def format_options() -> Iterator[Callable[[click.Command], click.Command]]:
    """Yield the output options."""
    yield click.option(
        "--format",
        "format_",
        type=click.Choice(FORMATS),
        default=FORMATS[0],
        show_default=True,
        help="weft's table, or the output format of OSU 7.4, one output per mode.",
    )
    yield click.option(
        *("--full", "-f"),
        is_flag=True,
        help="Full format, as OSU's -f: also minimum and maximum over the ranks.",
    )


def measure(
    benchmark: Benchmark,
    fabric: str,
    ranks: int | None,
    nodes: int | None,
    ppn: str | None,
    iterations: int | None,
    warm_up: int,
    config: tuple[str, ...],
    format_: str,
    full: bool,
    csv_file: Path | None,
    changes: tuple[str, ...],
    **more: Any,
) -> None:
    """Check the options, run the benchmark, and print and write the results.

    `more` are options of individual benchmarks.
    """
    plot: Path | None = more.get("plot")
    check_outputs(plot)
    wanted = more.get("percentiles")
    sample = sampling(fabric, changes, iterations, wanted, api.ITERATIONS)
    type_ = more.get("type_") or benchmark.default_type
    per_host = parse_counts(ppn, "--ppn") if ppn is not None else ()
    where = load_fabric(fabric, changes)
    counts, placed = api.placed(benchmark, where, ranks, nodes, per_host)
    modes = more.get("modes")
    study = Study(
        *(benchmark, fabric, counts, placed),
        _sizes(benchmark, more.get("sizes"), type_, max(counts)),
        parse_modes(modes) if modes is not None else (),
        sample.iterations,
        warm_up,
        more.get("window") or api.WINDOW,
        type_,
        more.get("op") or "sum",
        () if benchmark.is_rate else sample.percentiles,
        changes,
        config,
        more.get("back_to_back", False),
        more.get("strict", False),
    )
    with progress_bar(len(study.sizes) * len(study.runs)) as progress:
        rows = api.run(study, progress)
    show(study, rows, format_, full=full)
    if csv_file is not None:
        api.write_csv(rows, csv_file)
    if plot is not None:
        draw(study, rows, plot)


def _sizes(benchmark: Benchmark, given: str | None, type_: str, ranks: int) -> Sequence[int]:
    if benchmark.sized == "nothing":
        return (0,)
    return parse_sizes(given or benchmark.sizes(type_, ranks), "--sizes")
