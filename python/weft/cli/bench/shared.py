# SPDX-License-Identifier: LGPL-2.1-only
"""Options and notices shared by the commands of `weft bench`."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import click

from weft.base.plots import check_format
from weft.benchmarks import measured
from weft.cli import completion
from weft.cli.common import Command, output_option
from weft.runs.site import load_fabric
from weft.study.bench.modes import Benched, messages
from weft.study.bench.quantiles import NOISY_ITERATIONS, Sampling, parse_percentiles

rows_option = output_option(
    "--csv", "csv_file", help="Write the table as CSV, one line per mode and size."
)


percentiles_option = click.option(
    "--percentiles",
    metavar="NUMBERS",
    help="Percentiles of the times of single calls, such as 5,50,95.  [default: 5,50,95 if the"
    " fabric has noise, else none]",
)


def iterations_option(usual: int, what: str) -> Callable[[Command], Command]:
    """Return the option for the number of calls."""
    return click.option(
        "--iterations",
        type=click.IntRange(1, 1_000_000),
        metavar="N",
        help=f"{what}  [default: {usual}, or {NOISY_ITERATIONS} if the fabric has noise; without"
        " noise all calls take the same time]",
    )


def warm_up_option(usual: int, what: str) -> Callable[[Command], Command]:
    """Return the `--warm-up` option; `what` is the unit in its help text, such as `calls`."""
    return click.option(
        "--warm-up",
        type=click.IntRange(0, 1_000_000),
        metavar="N",
        default=usual,
        show_default=True,
        help=f"Untimed {what} per size before the timed ones.",
    )


def sampling(
    fabric: str,
    changes: tuple[str, ...],
    iterations: int | None,
    percentiles: str | None,
    usual: int,
) -> Sampling:
    """Return the number of calls and the statistics to report."""
    wanted = None if percentiles is None else parse_percentiles(percentiles, "--percentiles")
    return Sampling.of(fabric, changes, iterations, wanted, usual)


def modes_option(
    default: str | None, text: str = "Modes to compare."
) -> Callable[[Command], Command]:
    """Return the option for the modes to compare."""
    return click.option(
        "--modes",
        default=default,
        show_default=default is not None,
        metavar="MODE,...",
        shell_complete=completion.modes,
        help=text,
    )


def parse_modes(text: str) -> list[str]:
    """Return the distinct modes in an option's value."""
    modes = list(dict.fromkeys(mode.strip() for mode in text.split(",")))
    if not all(modes):
        raise click.BadParameter(
            f"found '{text}'; separate names with commas", param_hint="'--modes'"
        )
    return modes


def say_notices(rows: Sequence[Benched], fabric: str, changes: Sequence[str]) -> None:
    """Report networks that exist nowhere, and modes that fell back, with the reason."""
    sys.stdout.flush()
    if found := measured.impossible(load_fabric(fabric, changes)):
        click.echo(f"weft: {fabric}: {measured.said(found)}", err=True)
    for message in messages(rows):
        click.echo(f"weft: {message}", err=True)


def check_outputs(plot: Path | None) -> None:
    """Check before the work that the figure's format is supported."""
    if plot is not None:
        check_format("--plot", plot)
