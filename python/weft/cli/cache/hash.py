# SPDX-License-Identifier: LGPL-2.1-only
"""`weft cache hash`."""

import re
from pathlib import Path
from typing import Any

import click

from weft.base.tables import console, new_table, print_table, print_title
from weft.cli.common import output_option
from weft.cli.files import command, fabric_name
from weft.study.forwarding import hashes

_CUBE = re.compile(r"(\d{1,4})-ary-(\d{1,2})-(cube|mesh)")


class _Cube(click.ParamType[hashes.Cube]):
    """A k-ary n-cube, or a mesh of the same size."""

    name = "cube"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, hashes.Cube):
            return value
        found = _CUBE.fullmatch(str(value))
        if found and int(found[1]) >= 2 and int(found[2]) >= 1:
            return hashes.Cube(int(found[1]), int(found[2]), wraps=found[3] == "cube")
        return self.fail(
            f"found '{value}'; allowed: K-ary-N-cube (a torus) or K-ary-N-mesh with K from 2 and N"
            " from 1, such as 64-ary-4-cube",
            param,
            ctx,
        )


_HASH = """
Show the forwarding hash of a fabric, and prove it: addresses of hosts, tags of a switch.

The proof covers all hosts: two hosts with the same tag leave a switch by the same port, and with
the hash of the topology no switch has more tags than ports. --cube proves cubes that are too large
to build, at the first, the middle and the last switch.

\b
Examples:
  weft cache hash torus-4x4x4x4 --switch switch-000
  weft cache hash --cube 64-ary-4-cube
"""


@command(name="hash", help=_HASH, short_help="Addresses, tags and proof of a forwarding hash.")
@click.argument("fabric", type=fabric_name, metavar="[FILE|NAME]", required=False)
@click.option(
    "--cube", type=_Cube(), metavar="K-ary-N-cube", help="Prove a cube instead of a fabric."
)
@click.option(
    "--hash",
    "hash_name",
    default="auto",
    show_default=True,
    metavar="NAME",
    help="auto (the hash of the topology), crc, cube, fat_tree or dragonfly.",
)
@click.option("--switch", "switch", metavar="NAME", help="List the tags of this switch.")
@output_option("--csv", "csv_file", help="Write the addresses of all hosts as CSV.")
def hash_command(
    fabric: str | None,
    cube: hashes.Cube | None,
    hash_name: str,
    switch: str | None,
    csv_file: Path | None,
) -> int:
    """Prove the hash's properties, print and write them."""
    if (fabric is None) == (cube is None):
        raise click.UsageError("give either a fabric or --cube")
    if cube is not None:
        for option, given in (("--switch", switch), ("--csv", csv_file)):
            if given is not None:
                raise click.UsageError(f"{option}: allowed only with a fabric; leave it out")
        if hash_name not in ("auto", "cube"):
            raise click.UsageError(f"--hash: found '{hash_name}'; allowed with --cube: auto, cube")
        click.echo(hashes.prove_cube(cube))
        return 0
    found = hashes.of_fabric(fabric or "", hash_name)
    click.echo(found.text)
    if switch is not None:
        _list_tags(found, switch)
    if csv_file is not None:
        found.write_csv("--csv", csv_file)
    return 0


def _list_tags(found: hashes.FabricHash, switch: str) -> None:
    tags = found.tags(switch)
    on = console()
    print_title(f"Tags of {switch}", on)
    table = new_table(("tag", "output link", "hosts", "first host"), left=("output link",))
    for row in tags:
        table.add_row(str(row["tag"]), row["link"], str(row["hosts"]), row["first"])
    print_table(table, on)
