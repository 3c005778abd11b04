# SPDX-License-Identifier: LGPL-2.1-only
"""`weft testbed plan`."""

from pathlib import Path

import click

from weft.base.errors import WeftError, suggestion
from weft.cli.common import output_option
from weft.cli.files import Input, command, fabric_name
from weft_testbed.cli.shared import chassis_option, inventory_name, summary
from weft_testbed.hardware import inventory as inventories
from weft_testbed.hardware.inventory import Inventory
from weft_testbed.plan import file as plan_file
from weft_testbed.plan import plan as plans
from weft_testbed.plan import wanted_topology
from weft_testbed.plan.plan import Plan

_PLAN = """
Map topologies onto a testbed. Each switch becomes a slice of the chassis or a layer 2 switch, each
cable a fixed cable, a virtual wire or a recirculated one, each host a server.

INVENTORY is a TOML file or a shipped name (`weft testbed list`), FABRIC any fabric of weft. The
plan has the fewest recirculated cables. If there is no plan, weft reports what is missing and how
much. Several fabrics are several experiments that share the testbed.

With --keep the experiments of a plan stay unchanged, except those that --end names; the FABRICs use
the rest of the testbed.

A plan uses one chassis. If INVENTORY has several, it is the one that --chassis names, that of
--keep, or the first that all FABRICs fit on.

\b
Examples:
  weft testbed plan topocloud-64 torus-3x3 -o torus.json
  weft testbed plan my-testbed.toml my-fabric.toml star-8 -o both.json
  weft testbed plan topocloud-64 star-8 --keep torus.json -o both.json
  weft testbed plan two-chassis.toml star-8 --chassis tofino-b -o star.json
  weft testbed plan topocloud-64 --keep both.json --end torus-3x3 -o star.json
"""


@command("plan", help=_PLAN)
@click.argument("inventory", type=inventory_name, metavar="INVENTORY")
@click.argument("fabrics", type=fabric_name, metavar="[FABRIC...]", nargs=-1)
@click.option(
    "--keep",
    type=Input(),
    metavar="PLAN",
    help="Plan of the running experiments, which keep their servers, ports, loopbacks and numbers.",
)
@click.option(
    "--end",
    "ended",
    metavar="EXPERIMENT",
    multiple=True,
    help="Experiment of --keep to remove; repeatable.",
)
@chassis_option
@output_option("-o", "output", required=True, help="Plan to write, as JSON.")
def make_plan(
    inventory: str,
    fabrics: tuple[str, ...],
    keep: Path | None,
    ended: tuple[str, ...],
    chassis: str | None,
    output: Path,
) -> None:
    """Read the inventory and the fabrics, make a plan, and write it."""
    there = inventories.read_all(inventory, chassis)
    running = _running(there[0], keep, ended)
    if running is not None:
        there = [_its_chassis(there, running, chassis)]
    kept = [one for one in running.experiments if one.name not in ended] if running else []
    if not fabrics and not (kept and ended):
        raise WeftError(_nothing(keep, ended))
    topologies = [wanted_topology.read(fabric) for fabric in fabrics]
    made = plans.on_first(there, lambda one: plans.make(one, topologies, kept))
    plan_file.write(made, output)
    click.echo(summary(made))


def _nothing(keep: Path | None, ended: tuple[str, ...]) -> str:
    if keep is None:
        return "FABRIC: is missing; name the topologies to plan"
    if ended:
        return "FABRIC: is missing, and --end removes all of --keep; there is nothing to plan"
    return "FABRIC: is missing, and --keep alone changes nothing; name a topology, or use --end"


def _its_chassis(there: list[Inventory], running: Plan, chassis: str | None) -> Inventory:
    """Return the chassis of the plan to keep."""
    name = running.inventory.chassis.name
    if chassis not in (None, name):
        raise WeftError(
            f"--chassis: found '{chassis}', but --keep is a plan of {name}, and running"
            " experiments stay there; leave out --chassis, or plan on that chassis without --keep"
        )
    return next(one for one in there if one.chassis.name == name)


def _running(there: Inventory, keep: Path | None, ended: tuple[str, ...]) -> Plan | None:
    """Return the plan to keep, after checking that it contains all experiments of --end."""
    if keep is None:
        if ended:
            raise WeftError(f"--end: found '{ended[0]}' without --keep PLAN, which has experiments")
        return None
    running = plan_file.read(keep)
    if running.inventory.text != there.text:
        raise WeftError(
            f"--keep: {keep} is on another inventory ('{running.inventory.name}') than"
            f" {there.name},"
            " or on another version of it; use the inventory of that plan"
        )
    names = [one.name for one in running.experiments]
    for name in ended:
        if name not in names:
            raise WeftError(f"--end: found '{name}'; {suggestion(name, names)}")
    return running
