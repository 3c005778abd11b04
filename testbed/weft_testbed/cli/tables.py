# SPDX-License-Identifier: LGPL-2.1-only
"""`weft testbed tables`."""

from pathlib import Path

import click

from weft.base.output import whole_file
from weft.base.units import plural
from weft.cli.files import OutputDirectory, command
from weft_testbed.cli.shared import plan_argument
from weft_testbed.p4 import files as table_files
from weft_testbed.plan import file as plan_file
from weft_testbed.tables import tables as api


@command()
@plan_argument
@click.option(
    "-o",
    "directory",
    type=OutputDirectory(table_files.NAMES),
    metavar="DIRECTORY",
    required=True,
    help="Folder for the files.",
)
def tables(plan: Path, directory: Path) -> None:
    """Write the match-action entries of a plan.

    tables.json is for programs. init.txt and runtime.txt are for simple_switch_CLI: run the first
    once after the switch has started, the second for this plan. write.txt has the entries as
    P4Runtime requests (protobuf text format) with the ids of p4info.txt. testbed.p4 is the program
    (P4_16, v1model).

    For a Tofino there are testbed_tna.p4, the program, and two scripts for bfrt_python (`bfshell -b
    FILE`) that use the inventory's device_ports: bfrt_ports.py brings the ports up (speed, FEC,
    loopback), bfrt_entries.py fills the tables. None of them has been tested on a Tofino;
    testbed_tna.p4 has never been compiled.
    """
    read = plan_file.read(plan)
    contents = table_files.contents(read)
    directory.mkdir(parents=True, exist_ok=True)
    for name, text in contents.items():
        with whole_file("-o", directory / name) as file:
            file.write(text)
    click.echo(f"{plural(len(api.entries(read)), 'entry')} in {directory}")
