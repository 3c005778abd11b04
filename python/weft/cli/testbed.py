"""`weft testbed`."""

import tempfile
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click

from weft.base.output import whole_file
from weft.base.plots import check_format
from weft.base.units import plural
from weft.cli.common import help_group, output_option
from weft.cli.files import Input, OutputDirectory, fabric_name, inventory_name
from weft.runs.report import console, new_table, print_table
from weft.testbed import inventory as inventories
from weft.testbed import medians
from weft.testbed import plan as plans
from weft.testbed.plan import Plan

_GROUP = """
Any topology on a real P4 switch: plan it on fixed cabling, get the switch's tables, and try it out.

\b
Example:
  weft testbed plan topocloud-64 torus-3x3 -o torus.json
  weft testbed show torus.json --picture torus.png
  weft testbed tables torus.json -o tables
  sudo weft testbed up --netns torus.json
"""

_TABLES = ("tables.json", "init.txt", "runtime.txt", "testbed.p4")

testbed = help_group("testbed", _GROUP)

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


@testbed.command(name="list", help="List the inventories that weft brings along.")
def list_inventories() -> None:
    """Print name and description of each."""
    names = inventories.shipped()
    width = max(map(len, names), default=0)
    for name in names:
        click.echo(f"{name:{width}}  {inventories.read(name).description}")


_PLAN = """
Map wanted topologies on a testbed: each switch becomes a slice of the chassis or a layer 2 switch,
each cable a fixed one, a virtual wire, or a recirculated one, hosts are servers.

INVENTORY is a TOML file or a shipped name (`weft testbed list`), FABRIC any fabric of weft's. The
plan has the fewest recirculated cables; where there is none, weft says what is short and by how
much. Several fabrics are several experiments that share the testbed.

\b
Examples:
  weft testbed plan topocloud-64 torus-3x3 -o torus.json
  weft testbed plan my-testbed.toml my-fabric.toml star-8 -o both.json
"""


@testbed.command(name="plan", help=_PLAN, short_help="Map wanted topologies on a testbed.")
@click.argument("inventory", type=inventory_name, metavar="INVENTORY")
@click.argument("fabrics", type=fabric_name, metavar="FABRIC...", nargs=-1, required=True)
@output_option("-o", "output", required=True, help="Plan to write (JSON).")
def make_plan(inventory: str, fabrics: tuple[str, ...], output: Path) -> None:
    """Read, solve, write."""
    from weft.testbed import wanted

    there = inventories.read(inventory)
    made = plans.make(there, [wanted.read(fabric) for fabric in fabrics])
    plans.write(made, output)
    click.echo(_summary(made))


def _summary(plan: Plan) -> str:
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


@testbed.command(short_help="Show what each port of the chassis does.")
@plan_argument
@output_option("--picture", help="Picture to write: .png, .pdf or .svg.")
def show(plan: Path, picture: Path | None) -> None:
    """Show a plan: what each port of the chassis does, as a table and as a picture."""
    from weft.testbed.picture import draw
    from weft.testbed.ports import uses

    if picture is not None:
        check_format("--picture", picture)
    read = plans.read(plan)
    rows = [
        (
            str(use.port.number),
            str(use.port.pipe),
            inventories.gbps(use.port.speed),
            str(use.peer or (use.port.kind if use.port.kind != "front" else "")),
            use.role,
            use.experiment,
            use.cable,
        )
        for use in uses(read)
    ]
    _print(("port", "pipe", "speed", "cabled to", "role", "experiment", "cable"), rows, 3)
    click.echo(_summary(read))
    if picture is not None:
        draw(read, picture, "--picture")


def _print(names: tuple[str, ...], rows: Iterable[tuple[str, ...]], numbers: int) -> None:
    """Print a table whose first columns hold numbers."""
    table = new_table(names, left=names[numbers:])
    for row in rows:
        table.add_row(*row)
    print_table(table, console())


@testbed.command(short_help="Write the switch's tables, a script that fills them, and the program.")
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
    from weft.base import paths
    from weft.testbed import script
    from weft.testbed import tables as api

    read = plans.read(plan)
    directory.mkdir(parents=True, exist_ok=True)
    entries = api.entries(read)
    contents: tuple[Iterable[str], ...] = (
        [api.as_json(read)],
        _lines(script.init(read.inventory)),
        _lines(script.added(entries, read.inventory)),
        [paths.installed(inventories.FOLDER, "testbed.p4").read_text("utf-8")],
    )
    for name, content in zip(_TABLES, contents, strict=True):
        _write("-o", directory / name, content)
    click.echo(f"{plural(len(entries), 'entry')} in {directory}")


def _lines(lines: Iterable[str]) -> Iterable[str]:
    return (f"{line}\n" for line in lines)


def _write(option: str, target: Path, content: Iterable[str]) -> None:
    with whole_file(option, target) as file:
        file.writelines(content)


_DIFF = """
Say how to get from one plan to another: the fewest entries to remove and to add, in an order in
which no frame crosses between experiments.

Slices and virtual ports of NEW get the numbers of OLD's with which most stays as it is; --plan
writes NEW with these, which is what the switch has then.

\b
Example:
  weft testbed diff ring.json torus.json --script change.txt --plan now.json
"""


@testbed.command(name="diff", help=_DIFF, short_help="The least change between two plans.")
@click.argument("old", type=Input(), metavar="OLD")
@click.argument("new", type=Input(), metavar="NEW")
@output_option("--json", "json_file", help="Write the steps (JSON).")
@output_option("--script", "script_file", help="Write the steps for simple_switch_CLI.")
@output_option("--plan", "plan_file", help="Write NEW with the numbers that it has then.")
def changes(
    old: Path, new: Path, json_file: Path | None, script_file: Path | None, plan_file: Path | None
) -> None:
    """Read, match, write."""
    from weft.testbed import diff
    from weft.testbed import tables as api

    change = diff.change(plans.read(old), plans.read(new))
    if json_file is not None:
        _write("--json", json_file, [api.changes_as_json(change.steps())])
    if script_file is not None:
        _write("--script", script_file, _lines(change.script()))
    if plan_file is not None:
        plans.write(change.plan, plan_file)
    removed, added = len(change.removed), len(change.added)
    click.echo(f"remove {removed}, add {added}, keep {change.kept}")


@testbed.command(short_help="Predict the round trip of each pair of hosts.")
@plan_argument
@experiment_option
@click.option(
    "--frame",
    "frame_bytes",
    type=int,
    default=medians.PROBE_FRAME_BYTES,
    show_default=True,
    metavar="BYTES",
    help="Size of the frames, there and back.",
)
def latency(plan: Path, experiment: str | None, frame_bytes: int) -> None:
    """Predict round trips from TopoCloud's measured medians: between NICs, on quiet cables."""
    from weft.testbed.latency import predict

    read = plans.read(plan)
    rows = [
        (
            f"{one.round_trip_ns:.0f}",
            str(one.switches),
            str(one.passes),
            str(one.wires),
            str(one.recirculations),
            str(one.layer2),
            one.source,
            one.target,
        )
        for one in predict(read, read.experiment(experiment), frame_bytes)
    ]
    names = ("ns", "switches", "passes", "wires", "recirculations", "layer 2", "from", "to")
    _print(names, rows, 6)


@testbed.command(short_help="Compare the model with what TopoCloud states.")
def paper() -> None:
    """Compare the predicted round trips with TopoCloud's medians and stated ranges."""
    found = medians.measured()
    predicted = {
        "direct": found.direct,
        "chassis": found.direct + 2 * found.chassis_pass,
        "l2": found.direct + 2 * found.l2_pass,
    }
    rows = [(f"{getattr(found, way):.0f}", f"{value:.0f}", way) for way, value in predicted.items()]
    _print(("median ns", "predicted ns", "over"), rows, 2)
    click.echo(
        f"one way through the chassis {found.chassis_pass:g} ns, a layer 2 switch"
        f" {found.l2_pass:g} ns"
    )
    for way, (low, high) in medians.STATED.items():
        verdict = "within" if min(low, high) <= found.over(way) <= max(low, high) else "outside"
        click.echo(
            f"chassis against {way}: stated {low:+.0f} to {high:+.0f} %, of the medians"
            f" {found.over(way):+.1f} %: {verdict}"
        )


@testbed.command(short_help="Round trips from a probe's time stamps.")
@click.argument("table", type=Input(), metavar="FILE")
def probe(table: Path) -> None:
    """Compute round trips from time stamps (CSV: c1,s1,s2,c2 in nanoseconds).

    Each is (C2 - C1) - (S2 - S1), as SLA-NG's probed has it: the client sends at C1 and receives at
    C2, the server receives at S1 and sends at S2, each on its own clock.
    """
    count, least, median, most = medians.summary(medians.read_probe(table))
    click.echo(
        f"{plural(count, 'round trip')}: median {median:g} ns, from {least:g} to {most:g} ns"
    )


@testbed.command(name="fabric", short_help="Write a planned experiment as a fabric file.")
@plan_argument
@output_option("-o", "output", required=True, help="Fabric file to write (TOML).")
@experiment_option
def planned_fabric(plan: Path, output: Path, experiment: str | None) -> None:
    """Write a planned experiment as a fabric, with the plan's latencies and bandwidths.

    `weft run --fabric` takes it, as it takes the wanted one. What the wanted switches do and a
    slice of the chassis does not is named.
    """
    from weft.testbed import fabric

    read = plans.read(plan)
    chosen = read.experiment(experiment)
    fabric.write(read, chosen, output)
    if lost := fabric.losses(chosen):
        message = f"{output}: slices of the chassis have nothing of {chosen.name}'s"
        click.echo(f"weft: {message} {', '.join(lost)}", err=True)


_UP = """
Build a plan on this machine: a network namespace for each device, veth pairs as cables, bridges as
slices and layer 2 switches, redirects as virtual wires.

It needs root and iproute2. What fails is undone. A host's namespace is weft-NAME.SERVER:

\b
  weft testbed up --netns torus.json
  ip netns exec weft-testbed.node-1 ping 10.0.0.2
  weft testbed down
"""


@testbed.command(help=_UP, short_help="Build a plan on this machine.")
@plan_argument
@click.option("--netns", is_flag=True, required=True, help="Of network namespaces.")
@name_option
def up(plan: Path, netns: bool, name: str) -> None:
    """Read, build, tell the addresses."""
    from weft.testbed import netns as api
    from weft.testbed.layout import Layout

    read = plans.read(plan)
    api.up(read, name)
    layout = Layout(read)
    rows = [
        (one.name, host, api.namespace(name, server), layout.address(one, host))
        for one in read.experiments
        for host, server in one.hosts.items()
    ]
    _print(("experiment", "host", "namespace", "address"), rows, 0)


@testbed.command(short_help="Prove by probing that what is up is the plan.")
@plan_argument
@name_option
def check(plan: Path, name: str) -> int:
    """Prove by probing that exactly the wanted pairs reach each other, over the wanted switches.

    Frames go from each NIC port to each other, of all experiments, and all interfaces are watched.
    Exit status 1 where one goes astray or is missing.
    """
    from weft.testbed.probe import check as api

    found = api(plans.read(plan), name)
    for problem in found.problems[:20]:
        click.echo(problem)
    click.echo(
        f"{plural(found.pairs, 'pair')} reached each other over the wanted switches,"
        f" {plural(found.stopped, 'frame')} ended at the first switch,"
        f" {plural(found.broadcasts, 'broadcast')} kept to their experiments,"
        f" {plural(len(found.problems), 'frame')} went astray"
    )
    return 1 if found.problems else 0


@testbed.command(short_help="Remove what `up` has built.")
@name_option
def down(name: str) -> None:
    """Remove a testbed and the processes in it, or what a crash has left of one."""
    from weft.testbed import netns as api

    count = api.down(name)
    click.echo(f"{plural(count, 'namespace')} removed" if count else f"'{name}' is not up")


_ITERATE = """
Run a command for each of some topologies on one testbed.

All plans are made first. The command finds in its environment: WEFT_TESTBED_NAME (the topology),
and the files WEFT_TESTBED_PLAN, _TABLES, _CHANGE (a script from the topology before) and _FABRIC
(for `weft run`). With --netns the testbed is up meanwhile: WEFT_TESTBED_NETNS and a device's name
are a namespace. The first command that fails ends it, with its exit status.

\b
Example:
  weft testbed iterate topocloud-64 --fabric ring-6 --fabric torus-3x3 -- \\
      sh -c 'weft run --fabric $WEFT_TESTBED_FABRIC -n 9 ./program'
"""


@testbed.command(
    help=_ITERATE,
    short_help="Run a command for each of some topologies.",
    context_settings={"ignore_unknown_options": True},
)
@click.argument("inventory", type=inventory_name, metavar="INVENTORY")
@click.option(
    "--fabric",
    "fabrics",
    type=fabric_name,
    metavar="FILE|NAME",
    multiple=True,
    required=True,
    help="A topology; repeatable, in the order given.",
)
@click.option("--netns", is_flag=True, help="Build each one while the command runs.")
@name_option
@click.option(
    "-o",
    "directory",
    type=OutputDirectory(),
    metavar="DIRECTORY",
    help="Where plans, tables, changes and fabrics stay.  [default: nowhere]",
)
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- COMMAND...")
def iterate(
    inventory: str,
    fabrics: tuple[str, ...],
    netns: bool,
    name: str,
    directory: Path | None,
    command: tuple[str, ...],
) -> None:
    """Plan all, run each."""
    from weft.testbed import iterate as api
    from weft.testbed import netns as namespaces
    from weft.testbed import wanted

    namespaces.check_name(name)
    there = inventories.read(inventory)
    topologies = [wanted.read(one) for one in fabrics]

    def work(place: Path) -> None:
        steps = api.prepare(there, topologies, place)
        api.run(steps, command, up_as=name if netns else None, on_step=_announce)

    _in_directory(directory, work)


def _announce(step: Any) -> None:
    click.echo(f"{step.name}:", err=True)


def _in_directory(directory: Path | None, work: Callable[[Path], None]) -> None:
    if directory is not None:
        directory.mkdir(parents=True, exist_ok=True)
        work(directory)
        return
    with tempfile.TemporaryDirectory(prefix="weft-") as temporary:
        work(Path(temporary))
