# SPDX-License-Identifier: LGPL-2.1-only
"""`weft fabric`: create, inspect and verify fabrics."""

from pathlib import Path

import click

from weft import _core
from weft.base.errors import WeftError, named
from weft.base.plots import check_format
from weft.base.units import natural_order
from weft.benchmarks import measured
from weft.cli.common import output_option
from weft.cli.fabric.new import STRICT, new
from weft.cli.files import Input, fabric_name
from weft.cli.groups import help_group
from weft.cli.run_options import click_option
from weft.fabric.template import explained
from weft.runs import launch
from weft.runs.site import PLATFORM_SUFFIXES, load_fabric

_GROUP = "Create, check, show and draw fabrics."

fabric = help_group("fabric", _GROUP)
fabric.add_command(new)


@fabric.command(name="list", help="List the shipped fabrics.")
def list_fabrics() -> None:
    """Print the name and description of each fabric."""
    names = sorted(_core.list_fabrics(), key=natural_order)
    width = max(map(len, names), default=0)
    for name in names:
        click.echo(f"{name:{width}}  {_core.load_fabric(name).description}")


_SHOW = """
Describe a fabric: hosts, links, switches, and the collectives that the switches support.

\b
Example:
  weft fabric show tofino-4
"""


@fabric.command(help=_SHOW, short_help="Describe a fabric.")
@click.argument("fabric", type=fabric_name, metavar="FILE|NAME")
@click_option("changes")
def show(fabric: str, changes: tuple[str, ...]) -> None:
    """Print the fabric's description."""
    loaded = load_fabric(fabric, changes)
    click.echo("\n".join([loaded.describe().rstrip("\n"), *measured.scaled(loaded)]))


_CHECK = """
Check a fabric file, and verify that every host-to-host route is connected end to end.

For a SimGrid platform (.xml or .so), verify that every host reaches every other host and every
smart switch over a route that uses no link twice, and that all routes between hosts cross a smart
switch if there are any. Exit status: 0 if the check passes; 2, with a
message, if it fails.

\b
Examples:
  weft fabric check my-fabric.toml
  weft fabric check cluster.xml
"""


@fabric.command(help=_CHECK, short_help="Check a fabric file and its routes.")
@click.argument("fabric", type=fabric_name, metavar="FILE|NAME")
@click_option("changes")
@click.option("--strict", is_flag=True, help=STRICT)
def check(fabric: str, changes: tuple[str, ...], strict: bool) -> None:
    """Print the proven properties, and values outside the measured ranges."""
    if Path(fabric).suffix in PLATFORM_SUFFIXES:
        if changes:
            raise WeftError(
                f"{named('changes')}: found '{changes[0]}' with {fabric}, a platform of SimGrid's;"
                " change the platform file itself"
            )
        click.echo(launch.prove_routes(Path(fabric)).rstrip("\n"))
    else:
        loaded = load_fabric(fabric, changes)
        beyond = measured.fabric_beyond(loaded)
        if strict:
            measured.refuse(beyond)
        click.echo(loaded.check().rstrip("\n"))
        if beyond:
            click.echo(f"weft: {fabric}: {measured.said(beyond)}", err=True)


_OPTIONS = """
List the tables and keys of fabric files.

Quantities are strings with a unit, such as "100Gbps", "0.94us", "76.8Gf" or "256B". With a word,
only tables of this name are listed, or else the keys whose name or meaning contains the word.

\b
Examples:
  weft fabric options host
  weft fabric options latency
"""


@fabric.command(help=_OPTIONS, short_help="List the tables and keys of fabric files.")
@click.argument("word", required=False)
def options(word: str | None) -> None:
    """Print the tables of fabric files in order; a star marks required keys."""
    from weft.fabric.schema import tables

    for table in tables(word):
        click.echo(f"[{table['table']}]  {table['meaning']}")
        for option in table["options"]:
            star = "*" if option["required"] else " "
            click.echo(f"  {option['key']:22}{star} {option['type']:10} {explained(option)}")
        click.echo()
    click.echo('* required, in the file or in the preset that the table names (preset = "...")')
    for kind in ("host", "nic", "switch", "progress_engine"):
        click.echo(f"  {kind} presets: {', '.join(_core.list_presets(kind))}")


_PLOT = """
Draw a fabric: stars and fat trees in layers, other topologies in circles.

With the record of a run (`weft run --json`), cables are coloured by the utilisation of their busier
direction, and switches by the bytes that they reduced. Of a run with --jobs, --job shows the part
of one job, and its hosts in blue.

\b
Examples:
  weft fabric plot tofino-16 -o tofino-16.png
  weft fabric plot my-fabric.toml --record run.json -o run.svg
  weft fabric plot my-fabric.toml --record run.json --job train -o train.svg
"""


@fabric.command(help=_PLOT, short_help="Draw a fabric, also with the load of a run.")
@click.argument("fabric", type=fabric_name, metavar="FILE|NAME")
@output_option("-o", "output", required=True, help="Picture to write: .png, .pdf or .svg.")
@click.option(
    "--record",
    type=Input(),
    metavar="FILE",
    help="Record of a run on this fabric.",
)
@click.option("--job", metavar="NAME", help="Job of the record, instead of all of its traffic.")
def plot(fabric: str, output: Path, record: Path | None, job: str | None) -> None:
    """Draw a fabric, with the load of a recorded run if given."""
    from weft.fabric.picture import plot as draw
    from weft.fabric.traffic import read_traffic

    check_format("-o", output)
    loaded = _core.load_fabric(fabric)
    if job is not None and record is None:
        raise WeftError("--job: found without --record, whose job it names")
    draw(loaded, output, None if record is None else read_traffic(record, loaded, job))


_EXPORT = """
Export a fabric as a SimGrid platform file (.xml, up to 512 hosts) or a Graphviz graph (.dot).

`smpirun` and `weft run --platform` accept the platform file. It has the fabric's routes and all
SimGrid options that weft would set; smart switches are hosts with properties. weft reports the
features of the fabric that such a file cannot express.

\b
Examples:
  weft fabric export tofino-16 -o tofino-16.xml
  weft fabric export my-fabric.toml -o my-fabric.dot
"""


@fabric.command(help=_EXPORT, short_help="Export a fabric for SimGrid or Graphviz.")
@click.argument("fabric", type=fabric_name, metavar="FILE|NAME")
@output_option("-o", "output", required=True, help="File to write: .xml or .dot.")
def export(fabric: str, output: Path) -> None:
    """Write a fabric in the format that the file name implies."""
    from weft.fabric import export as api

    api.check_format(output)
    lost = api.export(_core.load_fabric(fabric), output)
    if lost:
        message = f"{output}: a SimGrid platform cannot express {', '.join(lost)}"
        click.echo(f"weft: {message}; to include it, run on the fabric itself", err=True)
