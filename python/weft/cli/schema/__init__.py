# SPDX-License-Identifier: LGPL-2.1-only
"""`weft schema`: JSON schemas of input files."""

import json
from pathlib import Path

import click

from weft.base.output import whole_file
from weft.cli.common import output_option
from weft.cli.files import command
from weft.schemas.input_files import SCHEMAS, schema_of

_HELP = """
Print the JSON schema of a kind of file, for editors and for checks.

Editors with Even Better TOML or another extension based on taplo complete and check files whose
first line names a schema:

\b
  weft schema fabric -o fabric.schema.json
  #:schema ./fabric.schema.json       (first line of a fabric file)
  taplo lint cluster.toml
"""


@command("schema", help=_HELP)
@click.argument("name", type=click.Choice(tuple(SCHEMAS)))
@output_option("-o", "output", help="File to write.  [default: standard output]")
def schema(name: str, output: Path | None) -> None:
    """Print or write a schema."""
    text = json.dumps(schema_of(name), indent=1, ensure_ascii=False) + "\n"
    if output is None:
        click.echo(text, nl=False)
        return
    with whole_file("-o", output) as file:
        file.write(text)
