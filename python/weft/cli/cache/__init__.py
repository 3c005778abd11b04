# SPDX-License-Identifier: LGPL-2.1-only
"""`weft cache`: packet forwarding caches under program traffic."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from weft import _core
from weft.base.plots import check_format
from weft.base.tables import console, new_table, print_table, print_title
from weft.cli.cache.hash import hash_command
from weft.cli.cache.rate import rate_command
from weft.cli.common import Command, output_option
from weft.cli.files import FiniteNumber, Input, fabric_name
from weft.cli.groups import help_group
from weft.runs.jobs.file import read as read_jobs
from weft.study.forwarding import forwarding, placements
from weft.study.forwarding import jobs as archives
from weft.study.forwarding.forwarding import Cache, CacheStudy
from weft.trace.foreign import read_trace

cache = help_group(
    "cache",
    "Study packet forwarding caches: hits, and misses by cause (initial, capacity, conflict).",
)
cache.add_command(hash_command)
cache.add_command(rate_command)


class _Numbers(click.ParamType[tuple[int, ...]]):
    """Comma-separated integers."""

    name = "numbers"

    def __init__(self, least: int = 1, most: int = 1 << 24) -> None:
        self.least, self.most = least, most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, tuple):
            return value
        try:
            numbers = tuple(int(part) for part in str(value).split(","))
        except ValueError:
            numbers = ()
        if not numbers or not all(self.least <= number <= self.most for number in numbers):
            self.fail(
                f"found '{value}'; allowed: whole numbers from {self.least} to {self.most},"
                " separated by commas",
                param,
                ctx,
            )
        return numbers


_entries = click.option(
    "--entries",
    type=click.IntRange(1, 1 << 20),
    default=2048,
    show_default=True,
    help="Cache entries per input port.",
)
_ways = click.option(
    "--ways",
    type=click.IntRange(1, 1 << 20),
    default=4,
    show_default=True,
    help="Associativity: entries per set.",
)
_several_ways = click.option(
    "--ways",
    type=_Numbers(),
    default=(1, 2, 4, 8, 16),
    show_default="1,2,4,8,16",
    metavar="N,...",
    help="Associativities to compare.",
)
_replacement = click.option(
    "--replacement",
    type=click.Choice(["lru", "fifo", "random"]),
    default="lru",
    show_default=True,
    help="Replacement policy.",
)
_replacement_by_any = click.option(
    "--replacement",
    type=click.Choice(["lru", "fifo", "random", "future"]),
    default="lru",
    show_default=True,
    help="Replacement policy; future: the optimal one, which evicts the entry that is needed last.",
)


def _nanoseconds(flag: str, default: float, about: str) -> Callable[[Command], Command]:
    return click.option(
        flag,
        f"{flag.removeprefix('--').replace('-', '_')}_ns",
        type=FiniteNumber(min=1e-3, max=1e9),
        default=default,
        show_default=True,
        metavar="NS",
        help=about,
    )


_interval = _nanoseconds(
    "--interval", Cache.interval_ns, "Time from a cache hit to the next lookup of the port."
)
_tcam_interval = _nanoseconds(
    "--tcam-interval",
    Cache.tcam_interval_ns,
    "Time from a cache miss to the next lookup of the port.",
)


def _intervals(command: Command) -> Command:
    return _interval(_tcam_interval(command))


_hashes = click.option(
    "--hash",
    "hashes",
    multiple=True,
    default=("auto", "crc"),
    show_default="auto and crc",
    metavar="NAME",
    help="auto (the hash of the topology), crc, cube, fat_tree or dragonfly; repeatable.",
)


def _results(command: Command) -> Command:
    csv_file = output_option("--csv", "csv_file", help="Write the table as CSV.")
    figure = output_option("--figure", help="Plot the table: .png, .pdf or .svg.")
    return csv_file(figure(command))


def _check(figure: Path | None) -> None:
    if figure is not None:
        check_format("--figure", figure)


def _report(study: CacheStudy, csv_file: Path | None, figure: Path | None) -> int:
    on = console()
    print_title(study.title, on)
    table = new_table(study.columns, left=("fabric", "job", "hash", "trace", "ports"))
    for row in study.rows:
        table.add_row(*(f"{cell:.2%}" if isinstance(cell, float) else str(cell) for cell in row))
    print_table(table, on)
    if csv_file is not None:
        study.write_csv("--csv", csv_file)
    if figure is not None:
        study.draw("--figure", figure)
    return 0


_WAYS = """
Compute the conflict misses of one port by associativity, under uniform traffic to N destinations.

The cache is indexed by a CRC of the destination. Destinations have consecutive addresses, like the
hosts of a job that is placed in one block, or random ones with --scattered.

\b
Example:
  weft cache ways --scattered --figure conflicts.png
"""


@cache.command(help=_WAYS, short_help="Conflict misses by associativity under uniform traffic.")
@_entries
@_several_ways
@_replacement
@_intervals
@click.option(
    "--destinations",
    type=_Numbers(),
    default=(128, 256, 512, 1024, 2048),
    show_default="128,256,512,1024,2048",
    metavar="N,...",
    help="Numbers of destination hosts, one line each.",
)
@click.option("--scattered", is_flag=True, help="Use random 24-bit addresses.")
@_results
def ways(
    entries: int,
    ways: Sequence[int],
    replacement: str,
    interval_ns: float,
    tcam_interval_ns: float,
    destinations: Sequence[int],
    scattered: bool,
    csv_file: Path | None,
    figure: Path | None,
) -> int:
    """Run the study, print the table, write the files."""
    _check(figure)
    of = Cache(
        entries,
        replacement=replacement,
        interval_ns=interval_ns,
        tcam_interval_ns=tcam_interval_ns,
    )
    study = forwarding.conflicts_by_ways(of, ways, destinations, scattered=scattered)
    return _report(study, csv_file, figure)


_TRACE = """
Compute the conflict misses by associativity for a recorded program on a fabric.

DIRECTORY is a trace written by `weft run --record`. It is replayed once, without offloading; its
messages pass the caches of all ports on their routes in the order in which they started.

\b
Example:
  weft cache trace trace --fabric torus-4x4x4x4 --figure conflicts.png
"""


@cache.command(help=_TRACE, short_help="Conflict misses by associativity for a recorded program.")
@click.argument("trace", type=Input(), metavar="DIRECTORY")
@click.option(
    "--fabric", type=fabric_name, required=True, metavar="FILE|NAME", help="Fabric to replay on."
)
@_entries
@_several_ways
@_replacement
@_intervals
@_hashes
@_results
def trace(
    trace: Path,
    fabric: str,
    entries: int,
    ways: Sequence[int],
    replacement: str,
    interval_ns: float,
    tcam_interval_ns: float,
    hashes: Sequence[str],
    csv_file: Path | None,
    figure: Path | None,
) -> int:
    """Replay the trace, run the study, print the table, write the files."""
    _check(figure)
    of = Cache(
        entries,
        replacement=replacement,
        interval_ns=interval_ns,
        tcam_interval_ns=tcam_interval_ns,
    )
    study = forwarding.conflicts_of_trace(of, ways, read_trace(trace), fabric, hashes)
    return _report(study, csv_file, figure)


_CAPACITY = """
Compute the capacity misses on k-ary n-tori that one job fills, with the torus hash and with CRC.

Every host sends to all others equally often. With CRC each destination host needs its own entry:
ports at hosts see all hosts, ports along the last dimension few.

\b
Example:
  weft cache capacity --figure capacity.png
"""


@cache.command(help=_CAPACITY, short_help="Capacity misses on tori by job size.")
@_entries
@_ways
@_replacement
@_intervals
@click.option(
    "--sizes",
    type=_Numbers(2, 64),
    default=(2, 4, 6, 8, 10, 12, 14, 16),
    show_default="2,4,6,8,10,12,14,16",
    metavar="K,...",
    help="Switches along a dimension, with one host each.",
)
@click.option(
    "--dimensions",
    type=click.IntRange(1, 6),
    default=4,
    show_default=True,
    help="Dimensions of the tori.",
)
@_results
def capacity(
    entries: int,
    ways: int,
    replacement: str,
    interval_ns: float,
    tcam_interval_ns: float,
    sizes: Sequence[int],
    dimensions: int,
    csv_file: Path | None,
    figure: Path | None,
) -> int:
    """Run the study, print the table, write the files."""
    if max(sizes) ** dimensions > _MOST_HOSTS:
        raise click.UsageError(
            f"--sizes: found {max(sizes)}, which makes a torus of"
            f" {max(sizes) ** dimensions:,} hosts;"
            f" allowed: at most {_MOST_HOSTS}"
        )
    _check(figure)
    of = Cache(entries, ways, replacement, interval_ns, tcam_interval_ns)
    return _report(forwarding.capacity_of_tori(of, sizes, dimensions), csv_file, figure)


_MOST_HOSTS = 1 << 20

_TRAFFIC = """
Compute hits and misses on a fabric by hash, under uniform or all-to-all traffic.

With --ahead, empty packets precede messages and prefetch the entries. With --replacement future,
caches know all messages to come: an upper bound for switches that know the communication of MPI.

\b
Examples:
  weft cache traffic fat-tree-1024
  weft cache traffic torus-4x4x4x4 --hash crc --entries 64 --pattern alltoall --ahead 4
"""


@cache.command(help=_TRAFFIC, short_help="Hits and misses on a fabric by hash.")
@click.argument("fabric", type=fabric_name, metavar="FILE|NAME")
@_entries
@_ways
@_replacement_by_any
@_intervals
@_hashes
@click.option(
    "--messages",
    type=click.IntRange(1, 1 << 26),
    default=200_000,
    show_default=True,
    help="Number of messages.",
)
@click.option(
    "--pattern",
    type=click.Choice(forwarding.PATTERNS),
    default="uniform",
    show_default=True,
    help="Traffic pattern: random pairs, or all-to-alls.",
)
@click.option(
    "--ahead",
    type=click.IntRange(0, 1 << 20),
    default=0,
    show_default=True,
    help="Prefetch distance: messages of a host by which an empty packet precedes each"
    " message; 0 sends none.",
)
@output_option("--csv", "csv_file", help="Write the table as CSV.")
def traffic(
    fabric: str,
    entries: int,
    ways: int,
    replacement: str,
    interval_ns: float,
    tcam_interval_ns: float,
    hashes: Sequence[str],
    messages: int,
    pattern: str,
    ahead: int,
    csv_file: Path | None,
) -> int:
    """Run the study, print the table, write the file."""
    of = Cache(entries, ways, replacement, interval_ns, tcam_interval_ns)
    study = forwarding.traffic(of, fabric, hashes, messages, pattern=pattern, ahead=ahead)
    return _report(study, csv_file, None)


_PLACEMENT = """
Compute hits and misses for jobs on given hosts of a fabric, under uniform traffic within each job.

--hosts names a file with host names, also in Slurm's notation (host-[0-3,7]): one job on these.
--jobs names a jobs file, of which only names, ranks and places matter. "of a host" are the ports at
which the job's hosts send; "all" are those of the whole fabric, for each job alone and for all
together.

\b
Examples:
  weft cache placement fat-tree-1024 --hosts hosts.txt
  weft cache placement fat-tree-1024 --jobs jobs.toml --hash crc
"""


@cache.command(
    name="placement", help=_PLACEMENT, short_help="Hits and misses of jobs on given hosts."
)
@click.argument("fabric", type=fabric_name, metavar="FILE|NAME")
@click.option("--hosts", type=Input(dir_okay=False), metavar="FILE", help="Hosts of one job.")
@click.option("--jobs", type=Input(dir_okay=False), metavar="FILE", help="Jobs file.")
@_entries
@_ways
@_replacement
@_intervals
@_hashes
@click.option(
    "--messages",
    type=click.IntRange(1, 1 << 26),
    default=200_000,
    show_default=True,
    help="Number of messages of each job.",
)
@output_option("--csv", "csv_file", help="Write the table as CSV.")
def placement(
    fabric: str,
    hosts: Path | None,
    jobs: Path | None,
    entries: int,
    ways: int,
    replacement: str,
    interval_ns: float,
    tcam_interval_ns: float,
    hashes: Sequence[str],
    messages: int,
    csv_file: Path | None,
) -> int:
    """Run the study, print the table, write the file."""
    if (hosts is None) == (jobs is None):
        raise click.UsageError("write one of --hosts and --jobs")
    loaded = _core.load_fabric(fabric)
    places = (
        placements.of_file(hosts, loaded)
        if hosts is not None
        else placements.of_jobs(read_jobs(Path(str(jobs))), loaded)
    )
    of = Cache(entries, ways, replacement, interval_ns, tcam_interval_ns)
    return _report(placements.study(of, loaded, places, hashes, messages), csv_file, None)


_JOBS = """
Show the size distribution of parallel jobs in archives of the Standard Workload Format.

Archives may be compressed with gzip. A file that ends in .csv is a table with the columns trace,
procs and jobs. The default is the shipped table, data/job_sizes_swf.csv.

\b
Example:
  weft cache jobs --figure jobs.png
"""


@cache.command(name="jobs", help=_JOBS, short_help="Size distribution of parallel jobs.")
@click.argument("files", type=Input(), metavar="[FILE...]", nargs=-1)
@_results
def job_sizes(files: Sequence[Path], csv_file: Path | None, figure: Path | None) -> int:
    """Read the archives, and print and write their job sizes."""
    _check(figure)
    sizes = archives.read_all(files) if files else archives.shipped_jobs()
    return _report(forwarding.job_sizes(sizes), csv_file, figure)
