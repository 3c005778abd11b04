# SPDX-License-Identifier: LGPL-2.1-only
"""`weft testbed tables`."""

from collections.abc import Iterable
from pathlib import Path

import click

from weft.base import paths
from weft.base.units import plural
from weft.cli.files import OutputDirectory, command
from weft.cli.testbed.shared import lines, plan_argument, write
from weft.testbed import plan_file, script
from weft.testbed import tables as api
from weft.testbed.inventory import FOLDER

_TABLES = ("tables.json", "init.txt", "runtime.txt", "testbed.p4")


@command()
@plan_argument
@click.option(
    "-o",
    "directory",
    type=OutputDirectory(_TABLES),
    metavar="DIRECTORY",
    required=True,
    help="Where the four files go.",
)
def tables(plan: Path, directory: Path) -> None:
    """Write the match-action entries of a plan.

    tables.json has them for programs. init.txt and runtime.txt are for simple_switch_CLI: the first
    once, when the switch has started, the second for this plan. testbed.p4 is the program (P4_16,
    v1model).
    """
    read = plan_file.read(plan)
    directory.mkdir(parents=True, exist_ok=True)
    entries = api.entries(read)
    contents: tuple[Iterable[str], ...] = (
        [api.as_json(read)],
        lines(script.init(read.inventory)),
        lines(script.added(entries, read.inventory)),
        [paths.installed(FOLDER, "testbed.p4").read_text("utf-8")],
    )
    for name, content in zip(_TABLES, contents, strict=True):
        write("-o", directory / name, content)
    click.echo(f"{plural(len(entries), 'entry')} in {directory}")
