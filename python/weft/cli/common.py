"""What several commands share."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from weft.bench import Progress as BenchProgress
from weft.report import console
from weft.units import format_size

Command = TypeVar("Command", bound=Callable[..., Any] | click.Command)

fabric_option = click.option(
    "--fabric",
    required=True,
    metavar="FILE|NAME",
    help="Fabric to run on: a TOML file, or a shipped name (see `weft fabric list`).",
)
ranks_option = click.option(
    "-n",
    "ranks",
    type=click.IntRange(min=1),
    required=True,
    metavar="RANKS",
    help="Number of MPI ranks.",
)
ppn_option = click.option(
    "--ppn",
    type=click.IntRange(min=1),
    metavar="RANKS",
    help="Ranks a host, placed block by block.  [default: 1 while there are hosts enough, else as"
    " few as possible]",
)


def help_group(name: str, text: str, kind: type[click.Group] = click.Group) -> click.Group:
    """Return a group of commands that shows its help where none of them is named."""
    settings = {"help_option_names": ["-h", "--help"]}
    return kind(
        name, help=text, callback=_show_help, invoke_without_command=True, context_settings=settings
    )


@click.pass_context
def _show_help(context: click.Context) -> None:
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def output_option(*names: str, help: str, required: bool = False) -> Callable[[Command], Command]:
    """Return an option for a file to write; `-` is standard output."""
    return click.option(
        *names,
        type=click.Path(path_type=Path),
        metavar="FILE",
        callback=_standard_output,
        required=required,
        help=help,
    )


def _standard_output(_context: click.Context, _option: object, path: Path | None) -> Path | None:
    return Path("/dev/stdout") if path == Path("-") else path


@contextmanager
def progress_bar(total: int) -> Iterator[BenchProgress | None]:
    """Show on a terminal how many simulations are done, and nothing elsewhere."""
    if not sys.stderr.isatty():
        yield None
        return
    columns = (
        TextColumn("{task.description:24}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console(stderr=True), transient=True) as bar:
        task = bar.add_task("compiling", total=total)
        yield lambda mode, size: bar.update(
            task, advance=1, description=f"{mode}, {format_size(size)}"
        )
