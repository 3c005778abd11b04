# SPDX-License-Identifier: LGPL-2.1-only
"""`weft fabric`: make fabrics, look at them, prove them."""

from pathlib import Path

import click

from weft import _core
from weft.base.errors import WeftError, named
from weft.base.plots import check_format
from weft.cli.common import output_option
from weft.cli.fabric.new import new
from weft.cli.files import Input, fabric_name
from weft.cli.groups import help_group
from weft.cli.run_options import click_option
from weft.fabric.template import explained
from weft.runs import launch
from weft.runs.site import PLATFORM_SUFFIXES, load_fabric

_GROUP = "Make fabrics, and look at them: what they are, and what is wrong with them."

fabric = help_group("fabric", _GROUP)
fabric.add_command(new)


@fabric.command(name="list", help="List the fabrics that weft brings along.")
def list_fabrics() -> None:
    """Print name and description of each."""
    names = _core.list_fabrics()
    width = max(map(len, names), default=0)
    for name in names:
        click.echo(f"{name:{width}}  {_core.load_fabric(name).description}")


_SHOW = """
Show what a fabric is: hosts, links, switches, and what the switches can do.

\b
Example:
  weft fabric show tofino-4
"""


@fabric.command(help=_SHOW, short_help="Show what a fabric is.")
@click.argument("fabric", type=fabric_name, metavar="FILE|NAME")
@click_option("changes")
def show(fabric: str, changes: tuple[str, ...]) -> None:
    """Print the description."""
    click.echo(load_fabric(fabric, changes).describe().rstrip("\n"))


_CHECK = """
Check a fabric file, and prove that every host-to-host route joins end to end.

Of a platform of SimGrid's (.xml or .so) it proves that every host reaches every other and every
smart switch, over a route that uses no link twice. Exit status 0 when it holds, 2 with one message
when it does not.

\b
Examples:
  weft fabric check my-fabric.toml
  weft fabric check cluster.xml
"""


@fabric.command(help=_CHECK, short_help="Check a fabric file, and prove its routes.")
@click.argument("fabric", type=fabric_name, metavar="FILE|NAME")
@click_option("changes")
def check(fabric: str, changes: tuple[str, ...]) -> None:
    """Print what was proven."""
    if Path(fabric).suffix in PLATFORM_SUFFIXES:
        if changes:
            raise WeftError(
                f"{named('changes')}: found '{changes[0]}' with {fabric}, a platform of SimGrid's;"
                " change the platform file itself"
            )
        click.echo(launch.prove_routes(Path(fabric)).rstrip("\n"))
    else:
        click.echo(load_fabric(fabric, changes).check().rstrip("\n"))


_OPTIONS = """
List all that a fabric file can say: its tables, their keys, and what they mean.

A quantity is a text with its unit, such as "100Gbps", "0.94us", "76.8Gf" or "256B".
"""


@fabric.command(help=_OPTIONS, short_help="List all that a fabric file can say.")
def options() -> None:
    """Print a table of the file after the other; keys that must be there carry a star."""
    for table in _core.fabric_schema():
        click.echo(f"[{table['table']}]  {table['meaning']}")
        for option in table["options"]:
            star = "*" if option["required"] else " "
            click.echo(f"  {option['key']:22}{star} {option['type']:10} {explained(option)}")
        click.echo()
    click.echo(
        '* must be there, in the file or in the preset that its table names (preset = "...")'
    )
    for kind in ("host", "nic", "switch", "progress_engine"):
        click.echo(f"  {kind} presets: {', '.join(_core.list_presets(kind))}")


_PLOT = """
Draw a fabric: stars and fat trees in layers, others in circles.

With the record of a run on it (`weft run --json`), cables are coloured by the utilisation of the
busier of their two links, and switches by the bytes that they reduced.

\b
Examples:
  weft fabric plot tofino-16 -o tofino-16.png
  weft fabric plot my-fabric.toml --record run.json -o run.svg
"""


@fabric.command(help=_PLOT, short_help="Draw a fabric, and what a run did to it.")
@click.argument("fabric", type=fabric_name, metavar="FILE|NAME")
@output_option("-o", "output", required=True, help="Picture to write: .png, .pdf or .svg.")
@click.option(
    "--record",
    type=Input(),
    metavar="FILE",
    help="Record of a run on this fabric.",
)
def plot(fabric: str, output: Path, record: Path | None) -> None:
    """Check, read, draw."""
    from weft.fabric.picture import plot as draw
    from weft.fabric.traffic import read_traffic

    check_format("-o", output)
    loaded = _core.load_fabric(fabric)
    draw(loaded, output, None if record is None else read_traffic(record, loaded))


_EXPORT = """
Write a fabric for other tools: a platform file of SimGrid's (.xml, up to 512 hosts), or a graph
for Graphviz (.dot).

A platform file takes `smpirun` and `weft run --platform`. It has the fabric's routes, and for
SimGrid all options that weft would set; smart switches are hosts with properties. What such a
file cannot say is named.

\b
Examples:
  weft fabric export tofino-16 -o tofino-16.xml
  weft fabric export my-fabric.toml -o my-fabric.dot
"""


@fabric.command(help=_EXPORT, short_help="Write a fabric for SimGrid or Graphviz.")
@click.argument("fabric", type=fabric_name, metavar="FILE|NAME")
@output_option("-o", "output", required=True, help="File to write: .xml or .dot.")
def export(fabric: str, output: Path) -> None:
    """Check, read, write."""
    from weft.fabric import export as api

    api.check_format(output)
    lost = api.export(_core.load_fabric(fabric), output)
    if lost:
        message = f"{output}: a platform of SimGrid's cannot say {', '.join(lost)}"
        click.echo(f"weft: {message}; to keep it, run on the fabric itself", err=True)
