# SPDX-License-Identifier: LGPL-2.1-only
"""What several commands share."""

import functools
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeElapsedColumn,
)

from weft.base.errors import WeftError
from weft.base.units import format_size
from weft.cli import completion
from weft.cli.files import Finite, Input, Output, Setting, Size, fabric_name
from weft.runs import launch, offloads
from weft.runs.record import Record, write_record
from weft.runs.report import console, print_run
from weft.study.bench.bench import Progress as BenchProgress

_ROOM_FOR_A_BAR = 60
Command = TypeVar("Command", bound=Callable[..., Any] | click.Command)

fabric_option = click.option(
    "--fabric",
    type=fabric_name,
    required=True,
    metavar="FILE|NAME",
    help="Fabric to run on: a TOML file, or a shipped name (see `weft fabric list`).",
)
ranks_option = click.option(
    "-n",
    "ranks",
    type=click.IntRange(1, launch.MOST_RANKS),
    required=True,
    metavar="RANKS",
    help="Number of MPI ranks.",
)
ppn_option = click.option(
    "--ppn",
    type=click.IntRange(1, launch.MOST_RANKS),
    metavar="RANKS",
    help="Ranks per host, placed block by block.  [default: 1 while there are hosts enough, else as"
    " few as possible]",
)


set_option = click.option(
    "--set",
    "changes",
    multiple=True,
    metavar="TABLE.KEY=VALUE",
    shell_complete=completion.changes,
    help="Give a key of the fabric another value than its file does, as switch.slots=64 or"
    " link.bandwidth=400Gbps; repeatable. `weft fabric options` lists all keys.",
)


config_option = click.option(
    "--cfg",
    "config",
    type=Setting(),
    multiple=True,
    metavar="KEY:VALUE",
    help="Set an option of SimGrid; repeatable.",
)


def _once(option: str, given: Sequence[str], end: str) -> None:
    """Refuse a key that has two values: which of them is meant is not known."""
    keys = Counter(one.partition(end)[0].strip() for one in dict.fromkeys(given))
    for key, times in keys.items():
        if times > 1:
            raise WeftError(f"{option}: found {key} {times} times; allowed is once: leave one out")


_Short = tuple[str, Any, str, str]
# Changes that have an option of their own: the change, the type of its values, what they are.
_SHORT: Mapping[str, _Short] = {
    "chains": (
        *("multicast.chains={}", click.IntRange(1), "N"),
        "Roots of an Allgather that multicast at the same time",
    ),
    "trees": (
        *("multicast.trees={}", click.IntRange(1), "N"),
        "Multicast trees among which the data is divided",
    ),
    "drop_rate": (
        *("multicast.drops=[{{probability={}}}]", Finite(min=0, max=1), "RATE"),
        "Part of the multicast chunks that each receiver misses, from 0 to 1",
    ),
    "seed": (
        *("noise.seed={}", click.IntRange(0, 2**31 - 1), "N"),
        "Of the fabric's noise: the same seed gives the same run",
    ),
}


def changes_options(command: Command) -> Command:
    """Add the options that change keys of the fabric; what they decorate gets `changes`."""
    for name, (change, values, metavar, meaning) in reversed(list(_SHORT.items())):
        option = click.option(
            f"--{name.replace('_', '-')}",
            type=values,
            metavar=metavar,
            help=f"{meaning}, as --set '{change.format(metavar)}' does.",
        )
        command = option(command)
    command = set_option(command)
    if isinstance(command, click.Command):
        command.callback = _gathering_changes(command.callback)
        return command
    gathering: Command = _gathering_changes(command)
    return gathering


def _gathering_changes(function: Any) -> Any:
    """Return it with one parameter `changes` in place of those of all options."""

    @functools.wraps(function)
    def with_changes(*args: Any, changes: tuple[str, ...], **options: Any) -> Any:
        own = [(change, options.pop(name)) for name, (change, *_) in _SHORT.items()]
        more = [change.format(value) for change, value in own if value is not None]
        _once("--set", (*changes, *more), "=")
        _once("--cfg", options.get("config", ()), ":")
        return function(*args, changes=(*changes, *more), **options)

    return with_changes


# Where a program or a trace of one runs, and how; `weft run` and `weft replay` take all of these.
_network_options: tuple[Callable[[Any], Any], ...] = (
    click.option(
        "--fabric",
        type=fabric_name,
        metavar="FILE|NAME",
        help="Fabric to run on: a TOML file, or a shipped name (see `weft fabric list`). Either"
        " this or --platform must be given.",
    ),
    click.option(
        "--platform",
        type=Input(),
        metavar="FILE",
        help="Platform of SimGrid's to run on instead (.xml or .so): its smart switches are hosts"
        " with the properties processing_latency and max_ports.",
    ),
    ppn_option,
    click.option(
        "--no-contention",
        "contention",
        is_flag=True,
        flag_value=False,
        default=True,
        help="Let messages not share links: each has the full bandwidth of every link on its way,"
        " as SimGrid's sharing policy FATPIPE has it; with --offload off.",
    ),
    click.option(
        "--offload",
        type=click.Choice(offloads.OFFLOADS),
        default=offloads.DEFAULT,
        show_default=True,
        help="How the network does a collective. "
        + "; ".join(f"{mode}: {meaning}" for mode, meaning in offloads.meanings().items())
        + ".",
    ),
    click.option(
        "--fallback",
        metavar="WHAT",
        shell_complete=completion.on_hosts,
        help="What the hosts do where nothing is offloaded: an MPI library's choice of algorithms,"
        " or a file of one; best: for each call the fastest of all algorithms, as predicted; an"
        " algorithm (recursive_doubling); one for a collective (bcast=binomial, bcast=best);"
        " several with commas; SMPI's algorithms as smpi:NAME."
        " `weft collectives list` names them.",
        default=None,
        show_default=launch.DEFAULT_FALLBACK,
    ),
    config_option,
    click.option(
        "--timeout",
        "timeout_s",
        type=Finite(min=0, min_open=True, max=1e9),
        metavar="SECONDS",
        help="Give up after this wall time.",
    ),
    click.option(
        "--memory",
        "memory_bytes",
        type=Size(),
        metavar="SIZE",
        help="End the run when the simulation holds more memory than this, as 2GiB. It is looked at"
        " twenty times a second.",
    ),
)


def network_options(command: Command) -> Command:
    """Add the options by which a run is told where and how."""
    for option in (*reversed(_network_options[1:]), changes_options, _network_options[0]):
        command = option(command)
    return command


def result_options(command: Command) -> Command:
    """Add the options by which a run is told what to leave."""
    for option in (
        click.option("-q", "--quiet", is_flag=True, help="Print no table."),
        output_option(
            "--trace",
            "timeline",
            help="Write a timeline of all ranks and switches, for ui.perfetto.dev.",
        ),
        output_option("--json", "json_file", help="Write the record of the run (JSON)."),
    ):
        command = option(command)
    return command


def report(record: Record, json_file: Path | None, *, quiet: bool) -> int:
    """Write and print what a run was; return weft's exit status."""
    sys.stdout.flush()
    if not quiet:
        print_run(record, console(stderr=True))
    if json_file is not None:
        write_record(record, json_file)
    if record.failed and record.outcome.signal != "SIGPIPE":
        click.echo(f"weft: {record.outcome.message}", err=True)
    if record.unwritten:
        raise WeftError(record.unwritten)
    return record.exit_status


def output_option(*names: str, help: str, required: bool = False) -> Callable[[Command], Command]:
    """Return an option for a file to write; `-` is standard output."""
    return click.option(
        *names,
        type=Output(),
        metavar="FILE",
        required=required,
        help=help,
    )


@contextmanager
def progress_bar(total: int) -> Iterator[BenchProgress | None]:
    """Show on a terminal how many simulations are done, and nothing elsewhere."""
    if not sys.stderr.isatty():
        yield None
        return
    on = console(stderr=True)
    columns: tuple[ProgressColumn, ...] = (
        TextColumn("{task.description:24}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    if on.width < _ROOM_FOR_A_BAR:
        columns = (MofNCompleteColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=on, transient=True) as bar:
        task = bar.add_task("compiling", total=total)
        yield lambda mode, size: bar.update(
            task, advance=1, description=f"{mode}, {format_size(size)}"
        )
