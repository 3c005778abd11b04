# SPDX-License-Identifier: LGPL-2.1-only
"""`weft testbed tables`."""

from collections.abc import Iterable
from pathlib import Path

import click

from weft.base import paths
from weft.base.units import plural
from weft.cli.files import OutputDirectory, command
from weft.cli.testbed.shared import checked, lines, plan_argument, write
from weft.testbed import p4_program, p4info, plan_file, script
from weft.testbed import tables as api
from weft.testbed.inventory import FOLDER

_TABLES = (
    "tables.json", "init.txt", "runtime.txt", "testbed.p4", "testbed_tna.p4", "p4info.txt",
    "write.txt",
)  # fmt: skip


@command()
@plan_argument
@click.option(
    "-o",
    "directory",
    type=OutputDirectory(_TABLES),
    metavar="DIRECTORY",
    required=True,
    help="Where the files go.",
)
def tables(plan: Path, directory: Path) -> None:
    """Write the match-action entries of a plan.

    tables.json has them for programs. init.txt and runtime.txt are for simple_switch_CLI: the first
    once, when the switch has started, the second for this plan. write.txt has them as P4Runtime's
    requests (text of protocol buffers) by the numbers of p4info.txt. testbed.p4 is the program
    (P4_16, v1model); testbed_tna.p4 is the same for Tofino, and was never compiled.
    """
    read = plan_file.read(plan)
    entries = api.entries(read)
    program = p4_program.shipped()
    commands = checked(script.added(entries, read.inventory), f"{plan}: runtime.txt")
    contents: tuple[Iterable[str], ...] = (
        [api.as_json(read)],
        lines(checked(script.init(read.inventory), f"{plan}: init.txt")),
        lines(commands),
        [paths.installed(FOLDER, p4_program.V1MODEL).read_text("utf-8")],
        [paths.installed(FOLDER, p4_program.TNA).read_text("utf-8")],
        [p4info.as_text(p4info.p4info(program))],
        p4info.requests(entries, p4info.Names(program)),
    )
    directory.mkdir(parents=True, exist_ok=True)
    for name, content in zip(_TABLES, contents, strict=True):
        write("-o", directory / name, content)
    click.echo(f"{plural(len(entries), 'entry')} in {directory}")
