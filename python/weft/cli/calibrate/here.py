# SPDX-License-Identifier: LGPL-2.1-only
"""`weft calibrate host --here`: values measured on this machine."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from weft.base.errors import WeftError
from weft.base.output import shown
from weft.base.tables import console, new_table, print_table, print_title

_Command = Callable[..., None]


def here_options(command: _Command) -> _Command:
    """Add the options of `--here`."""
    for option in (
        click.option(
            "--caches",
            metavar="CORE,SHARED",
            help="With --here: sizes of a core's private cache and of the last level, such as"
            " 1MiB,32MiB.  [default: as Linux reports them]",
        ),
        click.option(
            "--repetitions",
            type=click.IntRange(3, 1000),
            default=9,
            show_default=True,
            metavar="N",
            help="With --here: number of measurements.",
        ),
        click.option(
            "--here", is_flag=True, help="Measure this machine instead of reading a table."
        ),
    ):
        command = option(command)
    return command


def measure_here(
    output: Path,
    base: str | None,
    repetitions: int,
    caches: str | None,
    others: Mapping[str, Any],
) -> None:
    """Measure this machine, write the fabric file, and print the result."""
    from weft.calibrate.host import here

    if given := [name for name, value in others.items() if value]:
        raise WeftError(
            f"calibrate host --here: found {given[0]}; allowed beside --here: -o, --base,"
            " --repetitions and --caches, because nothing is fitted"
        )
    found = here.find_caches() if caches is None else here.parse_caches(caches)
    measured = here.measure(repetitions, found)
    here.write(measured, repetitions, base, output)
    on = console(stderr=True)
    table = new_table(("key", "value", "measured"), left=("key", "measured"))
    for row in here.rows(measured):
        table.add_row(*row)
    print_title(f"{shown(output)}: [host] of {here.processor()}", on)
    print_table(table, on)
    for line in here.remarks(measured):
        on.print(line, soft_wrap=True)
