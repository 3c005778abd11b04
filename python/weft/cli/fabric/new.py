# SPDX-License-Identifier: LGPL-2.1-only
"""`weft fabric new`: one command per topology, generated from the core's registry."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from weft import _core
from weft.benchmarks import measured
from weft.cli.common import output_option
from weft.cli.files import Command as FileCommand
from weft.cli.files import Input, fabric_name
from weft.cli.groups import help_group
from weft.fabric import from_file as read_file
from weft.fabric.defaults import FilledTemplate, NewFabricOptions, fill
from weft.fabric.from_file import ReadFabric
from weft.fabric.graph import counts
from weft.fabric.sizing import SIZED, fill_sized
from weft.fabric.template import (
    CLUSTERS_LIKE,
    CLUSTERS_OF_GPUS,
    DEFAULT_PRESETS,
    DEVICES,
    LIKE,
    OTHERS_LIKE,
    SWITCH_LATENCY,
    explained,
    find_topology,
    inner_options,
    meanings,
    option_name,
    own_options,
    sentence,
    tables_form,
    write,
)

if TYPE_CHECKING:
    from weft._core import Option, Topology

# Prefix that keeps topology keys apart from weft's own parameters.
_OWN = "topology_"
STRICT = (
    "Refuse cables faster than those measured with the presets, or than their ports, scaled"
    " presets, and hosts and switches of two kinds of network."
)
_ASKED = (
    "like",
    "hosts_like",
    "host_from",
    "cores",
    "bandwidth",
    "latency",
    "switch_latency",
    "messages",
)
_CABLE_DEFAULTS = {
    "bandwidth": "that of the ports of the switch and NIC presets, or as the host cables of --like"
    " or --hosts-like if given",
    "latency": "as the host cables of --like",
}
_GROUP = """
Write a commented fabric file: a topology with its parameters, and presets for hosts, NICs and
switches. Values that are not given are taken from a shipped fabric, --like, hosts from the fit to
several clusters, and reported: they were measured on other devices. Edit the file to change them.
Only valid files are written.

--from FILE reads the topology of another tool instead: outputs of ibnetdiscover, iblinkinfo,
ibdiagnet and `scontrol show topology`, Slurm's topology.conf and topology.yaml, topologies of ns-3
and SimAI, networks of ASTRA-sim, labs of containerlab, platforms of SimGrid, graphs in GML and
GraphML (Topology Zoo), and JSON of Mininet and the P4 tutorials. Names and rates are those
of the file.

\b
Examples:
  weft fabric new --hosts 512 --oversubscription 2:1 --radix 40 --cores 128 -o cluster.toml
  weft fabric new star --hosts 16 -o star.toml
  weft fabric new torus --dimensions 4,4,4,4 -o torus.toml
  weft fabric new fat_tree --down 8,8 --up 1,4 --switch-preset l2 -o plain.toml
  weft fabric new star --hosts 8 --switch-preset sharp --hosts-like tofino-4 -o sharp.toml
  weft fabric new --from ibnetdiscover.txt --host-from lstopo.xml -o cluster.toml
  weft fabric new gpu_cluster --like superpod-b200-32 --nodes 64 --spines 8 -o b200.toml
  weft fabric new dragonfly --help
"""
_FROM = """
Write a fabric file for the topology in FILE (`weft fabric new --from FILE` is the same command): an
output of ibnetdiscover, iblinkinfo, ibdiagnet (.lst, .net_dump, .db_csv) or `scontrol show
topology`, Slurm's topology.conf or topology.yaml, a topology of ns-3 or SimAI, a network of
ASTRA-sim, a lab of containerlab, a platform of SimGrid, a graph in GML or GraphML (Topology Zoo),
or JSON of Mininet, the P4 tutorials or networkx. The kind is recognized from the content.

Names, rates and latencies are those of the file. What it does not state is taken as for other new
fabrics, and reported: options give values for cables that have none in the file.

\b
Examples:
  weft fabric new --from ibnetdiscover.txt -o cluster.toml
  weft fabric new --from topology.conf --bandwidth 200Gbps -o cluster.toml
"""
_SIZED = """
Write a fabric file for a number of hosts (`weft fabric new --hosts …` is the same command): a star
if one switch has ports for all of them, else a fat tree of two or three levels. Leaves have the
oversubscription, and nothing above them is oversubscribed. Of all trees that fit, the one with
fewest switches is written. A size that does not fit is refused, with the nearest ones that do.

\b
Examples:
  weft fabric new --hosts 512 --oversubscription 2:1 --radix 40 --cores 128 -o cluster.toml
  weft fabric new --hosts 2048 --radix 64 --switch-preset sharp-ndr -o ndr.toml
"""
_NAME = "from"


class _Topologies(click.Group):
    """Group with one command per row of the registry, and a command that reads files."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Select the command that reads files if `--from` is given without a topology."""
        words = {word.partition("=")[0] for word in args}
        if args and args[0].startswith("-"):
            if "--from" in words:
                args = [_NAME, *args]
            elif "--hosts" in words:
                args = [SIZED, *args]
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*(row["kind"] for row in _core.topologies()), SIZED, _NAME]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        if cmd_name == SIZED:
            return _sized_command()
        return _from_command() if cmd_name == _NAME else _command(find_topology(cmd_name))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Topologies"):
            for row in _core.topologies():
                _describe(row, formatter)
            _describe_command(
                f"{SIZED}: the smallest star or fat tree for a number of hosts (`weft fabric new"
                " --hosts HOSTS` is the same command)",
                _sized_parameters(),
                ctx,
                formatter,
            )
            _describe_command(
                f"{_NAME}: the topology in a file of another tool (`weft fabric new --from FILE`)",
                [_from_parameter()],
                ctx,
                formatter,
            )


new = help_group("new", _GROUP, _Topologies)
new.short_help = "Write a fabric file for a topology."


def _describe(topology: "Topology", formatter: click.HelpFormatter) -> None:
    formatter.write_text(f"{topology['kind']}: {topology['meaning']}")
    rows = [
        (f"{option_name(option['key'])} {_metavar(topology, option)}", _help(topology, option))
        for option in own_options(topology)
    ]
    with formatter.indentation():
        formatter.write_dl(rows, col_max=24)


def _describe_command(
    text: str,
    params: Sequence[click.Parameter],
    ctx: click.Context,
    formatter: click.HelpFormatter,
) -> None:
    """Write what a command does, and its own options."""
    formatter.write_text(text)
    with formatter.indentation():
        formatter.write_dl([row for one in params if (row := one.get_help_record(ctx))], col_max=24)


def _metavar(topology: "Topology", option: "Option") -> str:
    if option["type"] == "tables":
        return tables_form(inner_options(topology, option["key"]))
    return {"integers": "INTEGER,…", "texts": "NAME,…"}.get(option["type"], option["type"].upper())


def _help(topology: "Topology", option: "Option") -> str:
    if topology["kind"] == CLUSTERS_OF_GPUS:
        return sentence(f"{option['meaning']} (default: as --like)")
    repeatable = "; repeatable" if option["type"] == "tables" else ""
    return sentence(explained(option) + repeatable)


def _command(topology: "Topology") -> click.Command:
    command: click.Command = FileCommand(
        topology["kind"],
        params=_own_parameters(topology),
        callback=partial(_write, topology),
        help=f"Write a fabric file: {topology['meaning']}.",
    )
    for add in _common_options():
        command = add(command)
    return command


def _from_parameter() -> click.Parameter:
    return click.Option(
        ["--from", "from_file"],
        required=True,
        type=Input(exists=True, dir_okay=False),
        metavar="FILE",
        help="Topology file of another tool.",
    )


def _from_command() -> click.Command:
    command: click.Command = FileCommand(
        _NAME,
        params=[_from_parameter()],
        callback=_write_from,
        help=_FROM,
        short_help="Write a fabric file for the topology in a file of another tool.",
    )
    for add in _common_options():
        command = add(command)
    return command


def _sized_parameters() -> list[click.Parameter]:
    return [
        click.Option(
            ["--hosts"], required=True, type=click.IntRange(2, 1_000_000), help="Number of hosts."
        ),
        click.Option(
            ["--oversubscription"],
            default="1:1",
            show_default=True,
            metavar="DOWN:UP",
            help="Bandwidth of a leaf to its hosts over that to the switches above.",
        ),
        click.Option(
            ["--radix"],
            type=click.IntRange(2, 1024),
            help="Ports of every switch.  [default: as the switch's preset]",
        ),
    ]


def _sized_command() -> click.Command:
    command: click.Command = FileCommand(
        SIZED,
        params=_sized_parameters(),
        callback=_write_sized,
        help=_SIZED,
        short_help="Write a fabric file for a number of hosts.",
    )
    for add in _common_options():
        command = add(command)
    return command


def _own_parameters(topology: "Topology") -> list[click.Parameter]:
    like = topology["kind"] == CLUSTERS_OF_GPUS  # --like provides all keys
    return [
        click.Option(
            [option_name(option["key"]), _OWN + option["key"]],
            required=option["required"] and not like,
            multiple=option["type"] == "tables",
            metavar=_metavar(topology, option),
            help=_help(topology, option),
        )
        for option in own_options(topology)
    ]


def _usual(device: str) -> str:
    """Return the default preset of a device as the help names it."""
    if device == "host":
        return f"{DEFAULT_PRESETS[device]}, or as --like or --hosts-like if given"
    return "as --like"


def _common_options() -> Iterator[Callable[[click.Command], click.Command]]:
    yield click.option(
        "--like",
        type=fabric_name,
        metavar="FILE|NAME",
        help="Fabric that provides all other values.  [default: by the switch, "
        + "; ".join(f"{switch}: {name}" for switch, name in LIKE.items())
        + f"; others: {OTHERS_LIKE}; clusters of GPUs: {CLUSTERS_LIKE}]",
    )
    yield click.option(
        "--hosts-like",
        type=fabric_name,
        metavar="FILE|NAME",
        help="Fabric that provides hosts, their cables and message costs, so that fabrics with"
        " different switches can be compared on the same hosts. The NIC's offload parameters stay"
        " those of the switch.  [default: as --like]",
    )
    yield click.option(
        "--host-from",
        type=Input(exists=True, dir_okay=False),
        metavar="FILE",
        help="XML of lstopo on a host (`lstopo FILE.xml`), which provides the hosts' cores, sockets"
        " and caches.  [default: as the host's preset]",
    )
    yield click.option(
        "--cores",
        type=click.IntRange(1, 65_536),
        help="Cores of every host.  [default: as the host's preset]",
    )
    for device in DEVICES:
        yield click.option(
            f"--{device}-preset",
            type=click.Choice(_core.list_presets(device)),
            help=f"Preset of every {'NIC' if device == 'nic' else device}."
            f"  [default: {_usual(device)}]",
        )
    for key, default in _CABLE_DEFAULTS.items():
        yield click.option(
            f"--{key}",
            metavar=key.upper(),
            help=f"{sentence(meanings('link')[key])}  [default: {default}]",
        )
    yield click.option(
        "--switch-latency",
        metavar="LATENCY",
        help="Latency of cables between switches, per direction."
        f"  [default: {SWITCH_LATENCY}, 5 m]",
    )
    yield click.option(
        "--messages",
        type=fabric_name,
        metavar="FILE|NAME|none",
        help="Fabric that provides [[point_to_point]] and [mpi].  [default: as --like]",
    )
    yield click.option("--name", help="Name in records and plots.  [default: the name of the file]")
    yield output_option("-o", "output", required=True, help="Fabric file to write.")
    yield click.option("--strict", is_flag=True, help=STRICT)
    yield click.option("--force", is_flag=True, help="Replace an existing file.")


def _write(
    topology: "Topology",
    output: Path,
    force: bool,
    strict: bool,
    name: str | None,
    **others: Any,
) -> None:
    """Write the file, and report its content and any unmeasured values."""
    given = {
        key.removeprefix(_OWN): value if isinstance(value, tuple) else (value,)
        for key, value in others.items()
        if key.startswith(_OWN) and value
    }
    filled = fill(
        topology["kind"], given, name if name is not None else output.stem, _asked(others)
    )
    _finish(filled, output, force=force, strict=strict)


def _write_from(
    from_file: Path, output: Path, force: bool, strict: bool, name: str | None, **others: Any
) -> None:
    """Write the file for another tool's topology, and report the values taken and assumed."""
    name = name if name is not None else output.stem
    filled = read_file.fill_from(from_file, name, _asked(others))
    _finish(filled, output, force=force, strict=strict)


def _write_sized(
    hosts: int,
    oversubscription: str,
    radix: int | None,
    output: Path,
    force: bool,
    strict: bool,
    name: str | None,
    **others: Any,
) -> None:
    """Write the file for the smallest tree, and report it."""
    name = output.stem if name is None else name
    tree, filled = fill_sized(hosts, oversubscription, radix, name, _asked(others))
    click.echo(f"weft: {output}: {tree.said}", err=True)
    _finish(filled, output, force=force, strict=strict)


def _asked(others: Mapping[str, Any]) -> NewFabricOptions:
    return NewFabricOptions(
        presets={device: others[f"{device}_preset"] for device in DEVICES},
        **{key: others[key] for key in _ASKED},
    )


def _finish(
    filled: FilledTemplate | ReadFabric, output: Path, *, force: bool, strict: bool
) -> None:
    fabric = write(filled.template, output, force=force, strict=strict)
    click.echo(f"{output}: {counts(fabric)}", err=True)
    if filled.note:
        click.echo(f"weft: {output}: {filled.note}", err=True)
    if beyond := measured.fabric_beyond(fabric):
        click.echo(f"weft: {output}: {measured.said(beyond)}", err=True)
