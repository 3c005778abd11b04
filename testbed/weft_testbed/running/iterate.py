# SPDX-License-Identifier: LGPL-2.1-only
"""Runs a command for each of several topologies on one testbed, one after the other.

All plans are made before anything runs. Each topology comes with its tables, the change from the
previous plan, and the planned fabric; optionally the testbed is up while the command runs.
"""

import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from weft.base.errors import WeftError, named
from weft.base.output import whole_file
from weft.base.paths import file_name
from weft.base.process import run_child
from weft_testbed.hardware.inventory import Inventory
from weft_testbed.p4 import script
from weft_testbed.plan import fabric, plan
from weft_testbed.plan import file as plan_file
from weft_testbed.plan.plan import Plan
from weft_testbed.plan.wanted_topology import Wanted
from weft_testbed.running import diff
from weft_testbed.running import namespaces as netns
from weft_testbed.tables import tables


@dataclass(frozen=True)
class Step:
    """One topology, and the command's environment for it."""

    name: str
    plan: Plan
    environment: Mapping[str, str]


def prepare(chassis: Sequence[Inventory], fabrics: Sequence[Wanted], directory: Path) -> list[Step]:
    """Plan all topologies on the first chassis that fits each, and write their files."""
    plans = plan.on_first(chassis, lambda there: [plan.make(there, [one]) for one in fabrics])
    steps: list[Step] = []
    before: Plan | None = None
    for number, (one, made) in enumerate(zip(fabrics, plans, strict=True), 1):
        change = diff.change(before, made) if before else None
        before = change.plan if change else made
        name = f"{number}-{file_name('fabric', one.name)}"
        steps.append(_written(before, change, directory, name))
    return steps


def _written(made: Plan, change: diff.Change | None, directory: Path, name: str) -> Step:
    experiment = made.experiments[0]
    files = {
        "PLAN": directory / f"{name}.plan.json",
        "FABRIC": directory / f"{name}.toml",
        "TABLES": directory / f"{name}.tables.json",
        "CHANGE": directory / f"{name}.change.txt",
    }
    plan_file.write(made, files["PLAN"])
    fabric.write(made, experiment, files["FABRIC"])
    with whole_file(named("output"), files["TABLES"]) as file:
        file.write(tables.as_json(made))
    with whole_file(named("output"), files["CHANGE"]) as file:
        lines = change.script() if change else script.added(tables.entries(made), made.inventory)
        file.writelines(f"{line}\n" for line in lines)
    environment = {f"WEFT_TESTBED_{key}": str(path) for key, path in files.items()}
    return Step(experiment.name, made, {**environment, "WEFT_TESTBED_NAME": experiment.name})


def run(
    steps: Sequence[Step],
    command: Sequence[str],
    *,
    up_as: str | None,
    on_step: Callable[[Step], None],
) -> None:
    """Run the command for each; the first failure ends the iteration with its exit status."""
    if shutil.which(command[0]) is None:
        raise WeftError(f"COMMAND: there is no program '{command[0]}' that can be executed")
    for step in steps:
        on_step(step)
        environment = {**os.environ, **step.environment}
        with _up(step.plan, up_as):
            if up_as is not None:
                environment["WEFT_TESTBED_NETNS"] = netns.namespace(up_as, "")
            ended = run_child(command, environment)
        if ended.returncode != 0:
            status = ended.returncode if ended.returncode > 0 else 128 - ended.returncode
            raise WeftError(
                f"iterate: '{command[0]}' failed on {step.name} with exit status {status}", status
            )


@contextmanager
def _up(made: Plan, name: str | None) -> Iterator[None]:
    if name is None:
        yield
        return
    netns.up(made, name)
    try:
        yield
    finally:
        netns.down(name)
