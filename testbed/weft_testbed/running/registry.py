# SPDX-License-Identifier: LGPL-2.1-only
"""Records of running testbeds of namespaces: plan, builder and time.

A testbed's directory has the socket and the log of its P4Runtime server, the running plan with the
switch's numbers, and `about.json`. The plan is rewritten after a successful change; after a crash
during a change the switch differs from it, which every command detects by reading the switch.
"""

import json
import os
import pwd
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from weft.base import inputs
from weft.base.errors import WeftError, named
from weft.base.output import whole_file
from weft_testbed.plan import file as plan_file
from weft_testbed.plan.plan import Plan
from weft_testbed.running import hosts
from weft_testbed.tables import entry_numbers, tables

SERVERS = Path("/run/weft-testbed")


@dataclass(frozen=True)
class About:
    """Builder of a testbed, time (ISO 8601, UTC), and address for external controllers."""

    user: str
    since: str
    listen: str = ""


def address(name: str) -> str:
    """Return the address of a testbed's P4Runtime server."""
    return f"unix:{SERVERS / name}/p4runtime.sock"


def names() -> list[str]:
    """Return the testbeds that have a record."""
    return sorted(path.name for path in SERVERS.iterdir()) if SERVERS.is_dir() else []


def record(name: str, plan: Plan, listen: str | None = None) -> None:
    """Record a running plan, for a new testbed with its builder."""
    plan_file.write(plan, SERVERS / name / "plan.json")
    about = SERVERS / name / "about.json"
    if not about.exists():
        now = datetime.now(UTC).isoformat(timespec="seconds")
        with whole_file(named("name"), about) as file:
            json.dump(asdict(About(_user(), now, listen or "")), file)


def _user() -> str:
    """Return the user, also under sudo."""
    if user := os.environ.get("SUDO_USER"):
        return user
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())


def is_recorded(name: str) -> bool:
    """Return true if the testbed was built completely."""
    return (SERVERS / name / "plan.json").is_file()


def plan_of(name: str) -> Plan:
    """Return the plan of a testbed. Raises `WeftError` if there is none."""
    path = SERVERS / name / "plan.json"
    if not is_recorded(name):
        raise WeftError(
            f"{named('name')}: no plan of '{name}' is recorded as running; `weft testbed status`"
            " lists running testbeds, `weft testbed up --netns PLAN` builds one"
        )
    with inputs.unobserved():  # changes rewrite it
        return plan_file.read(path)


def about(name: str) -> About | None:
    """Return the builder of a testbed, if recorded."""
    try:
        return About(**json.loads((SERVERS / name / "about.json").read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def difference(old: Plan, name: str) -> str:
    """Return the difference between a plan and a testbed's plan, or an empty text."""
    there = plan_of(name)
    if old.inventory.text != there.inventory.text:
        return f"it is on another inventory ('{there.inventory.name}')"
    if old.inventory.chassis.name != there.inventory.chassis.name:
        return f"it is on another chassis ({there.inventory.chassis.name})"
    compared = entry_numbers.compare(old, tables.entries(there))
    if not compared.equal:
        return compared.said()
    if moved := [one.name for one in hosts.changed(there, old)]:
        return f"it has {', '.join(moved)} with other addresses"
    outside = {*tables.entries(old)} ^ {*tables.entries(there)}
    return "its layer 2 switches have other settings" if outside else ""
