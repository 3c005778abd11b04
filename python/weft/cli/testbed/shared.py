# SPDX-License-Identifier: LGPL-2.1-only
"""What the commands of `weft testbed` share."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import click

from weft.base.output import whole_file
from weft.base.units import plural
from weft.cli.files import Input
from weft.runs.report import console, new_table, print_table
from weft.testbed.plan import Plan

plan_argument = click.argument("plan", type=Input(), metavar="PLAN")
experiment_option = click.option(
    "--experiment", metavar="NAME", help="Which one, where the plan has several."
)
name_option = click.option(
    "--name",
    default="testbed",
    show_default=True,
    help="What the testbed is called: its namespaces are weft-NAME.DEVICE.",
)


def summary(plan: Plan) -> str:
    """Return a line for each experiment: what of the testbed it takes."""
    lines = []
    for one in plan.experiments:
        kinds = Counter(way.kind for way in one.cables.values())
        slices = sum(isinstance(place, int) for place in one.switches.values())
        switches = [plural(slices, "slice")] if slices else []
        if others := len(one.switches) - slices:
            switches.append(plural(others, "layer 2 switch"))
        lines.append(
            f"{one.name}: {plural(len(one.hosts), 'server')}, {' and '.join(switches)};"
            f" {plural(kinds['direct'], 'fixed cable')}, {plural(kinds['wire'], 'virtual wire')},"
            f" {kinds['recirculated']} recirculated"
        )
    if not plan.proven:
        lines.append("fewer recirculated cables may be possible: the solver gave up the proof")
    return "\n".join(lines)


def print_rows(names: tuple[str, ...], rows: Iterable[tuple[str, ...]], numbers: int) -> None:
    """Print a table whose first columns hold numbers."""
    table = new_table(names, left=names[numbers:])
    for row in rows:
        table.add_row(*row)
    print_table(table, console())


def lines(texts: Iterable[str]) -> Iterable[str]:
    """Return texts as the lines of a file."""
    return (f"{text}\n" for text in texts)


def write(option: str, target: Path, content: Iterable[str]) -> None:
    """Write a file, whole or not at all; `option` is what names it."""
    with whole_file(option, target) as file:
        file.writelines(content)
