# SPDX-License-Identifier: LGPL-2.1-only
"""State of the testbeds of namespaces on this machine, and of switches."""

import os
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from weft.base.errors import WeftError
from weft.base.units import plural
from weft_testbed.p4.client import Client, pipeline
from weft_testbed.plan.plan import Plan
from weft_testbed.running import namespaces as netns
from weft_testbed.running import registry as running
from weft_testbed.tables import entry_numbers, tables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weft_testbed.tables.tables import Entry

AS_RECORDED = "as recorded"


@dataclass(frozen=True)
class Status:
    """A testbed of namespaces."""

    name: str
    user: str
    since: str
    listen: str
    experiments: tuple[str, ...]
    hosts: int
    state: str
    """`AS_RECORDED`, or the difference from the record."""


def of_all() -> list[Status]:
    """Return every testbed on this machine, sorted by name."""
    return [of_one(name) for name in sorted({*running.names(), *netns.names()})]


def of_one(name: str) -> Status:
    """Return a testbed. Reads its switch, which requires root."""
    about = running.about(name) or running.About("?", "?")
    if not running.is_recorded(name):
        left = plural(len(netns.there(name)), "namespace")
        state = f"incomplete, {left} left" if netns.there(name) else "not up"
        return Status(name, about.user, about.since, about.listen, (), 0, state)
    plan = running.plan_of(name)
    experiments = tuple(one.name for one in plan.experiments)
    hosts = sum(len(one.hosts) for one in plan.experiments)
    return Status(
        name, about.user, about.since, about.listen, experiments, hosts, _state(name, plan)
    )


def _state(name: str, plan: Plan) -> str:
    if os.geteuid() != 0:
        return "not read: needs root"
    try:
        netns.check_up(name, plan, "status")
        with Client(running.address(name), pipeline(), primary=False) as switch:
            compared = entry_numbers.compare(plan, switch.read())
    except WeftError as error:
        return str(error)
    return AS_RECORDED if compared.equal else f"the switch differs: {compared.said()}"


def of_switch(switch: Client) -> str:
    """Describe the content of a switch, and its primary controller."""
    found = switch.read()
    return f"{_counted(found)}; primary controller: {switch.primary_controller()}"


def _counted(found: "Sequence[Entry]") -> str:
    by_table = Counter(entry.table for entry in found)
    told = ", ".join(f"{table} {by_table[table]}" for table in tables.ORDER if by_table[table])
    slices = {entry.data[0] for entry in found if entry.table == "slice_table"}
    return f"{plural(len(found), 'entry')}" + (
        f" ({told}), {plural(len(slices), 'slice')}" if found else ""
    )
