# SPDX-License-Identifier: LGPL-2.1-only
"""`weft bench`: its group, and what its commands share."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import click
from click.exceptions import NoSuchCommand

from weft.base.plots import check_format
from weft.cli import completion
from weft.cli.common import Command, output_option
from weft.cli.groups import help_group
from weft.study.benchmarks import BENCHMARKS, Family
from weft.study.quantiles import NOISY_ITERATIONS, Sampling, parse_percentiles
from weft.study.ways import Benched, messages

_GROUP = """
Run a micro-benchmark on a simulated fabric: collectives, messages and one-sided calls, as the OSU
micro-benchmarks time them, under OSU's names (`osu_NAME` is NAME).

`weft bench --like FILE` runs what an output of OSU or IMB measured, and shows both.

\b
Examples:
  weft bench allreduce --fabric tofino-16 -n 16
  weft bench iallreduce --fabric tofino-16 -n 16 --sizes 1KiB:1MiB
  weft bench mbw_mr --fabric star-8 -n 8 --ppn 4
  weft bench alltoall --fabric star-8 --nodes 8 --ppn 1,2,4 --format osu
  weft bench --like osu_allreduce.txt --fabric star-8 -n 8
"""
_PREFIX = "osu_"
LIKE = "like"
# What the help of the group lists, by families.
_LISTED: tuple[tuple[str, tuple[Family, ...]], ...] = (
    ("Collectives", ("blocking",)),
    ("Non-blocking collectives, with their overlap", ("non-blocking",)),
    ("Messages", ("latency", "bandwidth", "rate")),
    ("One-sided", ("one-sided latency", "one-sided rate")),
)


class _Benchmarks(click.Group):
    """One command for each benchmark; `--like` before any stands for the command of its name."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands of their own, OSU's of these names, and all others."""
        shadowed = (f"{_PREFIX}{name}" for name in self.commands if name in BENCHMARKS)
        return sorted({*self.commands, *shadowed, *BENCHMARKS})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command; with OSU's prefix, OSU's benchmark of the name."""
        from weft.cli.bench_osu import command  # which needs this module

        if cmd_name in self.commands:
            return self.commands[cmd_name]
        name = cmd_name.removeprefix(_PREFIX)
        return command(cmd_name, BENCHMARKS[name]) if name in BENCHMARKS else None

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take `--like FILE` before a command's name as the command `like`."""
        place = next((k for k, word in enumerate(args) if word.startswith("-")), len(args))
        options = args[place:]
        if place == 0 and any(word.partition("=")[0] == "--like" for word in options):
            words = [part for word in options for part in _without_like(word)]
            return super().parse_args(ctx, [LIKE, *words])
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command of some arguments, or suggest those with near names."""
        try:
            return super().resolve_command(ctx, args)
        except NoSuchCommand as error:
            names = self.list_commands(ctx)
            raise NoSuchCommand(error.command_name, possibilities=names, ctx=ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the names of benchmarks by families, below the commands of their own."""
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, one.get_short_help_str(80)) for name, one in sorted(self.commands.items())]
            )
        for heading, families in _LISTED:
            names = [one.name for one in BENCHMARKS.values() if one.family in families]
            with formatter.section(heading):
                formatter.write_text(", ".join(names))


def _without_like(word: str) -> list[str]:
    name, _, value = word.partition("=")
    if name != "--like":
        return [word]
    return [value] if value else []


bench = help_group("bench", _GROUP, _Benchmarks)

rows_option = output_option(
    "--csv", "csv_file", help="Write the table, one line per mode and size."
)


percentiles_option = click.option(
    "--percentiles",
    metavar="NUMBERS",
    help="Percentiles of the times of single calls, as 5,50,95.  [default: 5,50,95 where the fabric"
    " has noise, else none]",
)


def iterations_option(usual: int, what: str) -> Callable[[Command], Command]:
    """Return the option for how many calls are made."""
    return click.option(
        "--iterations",
        type=click.IntRange(1, 1_000_000),
        help=f"{what}  [default: {usual}, since without noise all are alike; {NOISY_ITERATIONS}"
        " where the fabric has noise]",
    )


def sampling(
    fabric: str,
    changes: tuple[str, ...],
    iterations: int | None,
    percentiles: str | None,
    usual: int,
) -> Sampling:
    """Return how often calls are made, and what of their times is wanted."""
    wanted = None if percentiles is None else parse_percentiles(percentiles, "--percentiles")
    return Sampling.of(fabric, changes, iterations, wanted, usual)


def modes_option(default: str) -> Callable[[Command], Command]:
    """Return the option for what is compared."""
    return click.option(
        "--modes",
        default=default,
        show_default=True,
        metavar="MODE,...",
        shell_complete=completion.modes,
        help="What to compare.",
    )


def parse_modes(text: str) -> list[str]:
    """Return the modes that an option names, each once."""
    modes = list(dict.fromkeys(mode.strip() for mode in text.split(",")))
    if not all(modes):
        raise click.BadParameter(
            f"found '{text}'; write names with commas between", param_hint="'--modes'"
        )
    return modes


def say_fallbacks(rows: Sequence[Benched]) -> None:
    """Say which modes are not what was asked for, and why."""
    sys.stdout.flush()
    for message in messages(rows):
        click.echo(f"weft: {message}", err=True)


def check_outputs(plot: Path | None) -> None:
    """Prove before the work that the figure has a format."""
    if plot is not None:
        check_format("--plot", plot)
