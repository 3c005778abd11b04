# SPDX-License-Identifier: LGPL-2.1-only
"""Minimal change from one plan to another, ordered so that no frame is misdelivered.

The numbers of slices and virtual ports are arbitrary, so the new plan gets those that keep most of
the old one's entries (`weft_testbed.tables.matching`). Common entries stay, and their traffic
continues.

Old entries are removed first, beginning with those that admit frames; then the frames still inside
drain; then new entries are added, those that admit frames last. Entries only ever let frames pass,
so at any time a frame reaches at most its old or its new destinations.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from weft.base.errors import WeftError
from weft_testbed.hardware.inventory import Inventory
from weft_testbed.p4 import script
from weft_testbed.plan.plan import Plan, relabelled
from weft_testbed.tables import matching, tables
from weft_testbed.tables.tables import Entry

# A frame stays inside for a few microseconds per pass, so this drains all of them.
DRAIN_MS = 10


@dataclass(frozen=True)
class Change:
    """Entries before, to remove and to add, and the new plan with its numbers after the change."""

    before: Sequence[Entry]
    removed: Sequence[Entry]
    added: Sequence[Entry]
    kept: int
    plan: Plan
    least: bool
    """True if it is proven that no other numbering changes fewer entries."""

    def steps(self) -> Iterator[dict[str, Any]]:
        """Yield the steps in order."""
        for entry in self.removed:
            yield {"step": "remove", **entry.as_json()}
        if self.removed and self.added:
            yield {"step": "wait", "milliseconds": DRAIN_MS}
        for entry in self.added:
            yield {"step": "add", **entry.as_json()}

    def script(self) -> Iterator[str]:
        """Yield the steps as commands of simple_switch_CLI."""
        return script.changed(
            self.removed,
            self.added,
            tables.entries(self.plan),
            self.plan.inventory,
            DRAIN_MS / 1000,
        )


def change(old: Plan, new: Plan) -> Change:
    """Return the minimal change from one plan to another."""
    if old.inventory.text != new.inventory.text:
        raise WeftError(
            f"diff: the plans are on two inventories, {_called(old.inventory)} and"
            f" {_called(new.inventory)}, that differ; cables do not move, so use the same"
            " inventory for both plans"
        )
    if old.inventory.chassis.name != new.inventory.chassis.name:
        raise WeftError(
            f"diff: the plans are on two chassis of '{old.inventory.name}',"
            f" {old.inventory.chassis.name} and {new.inventory.chassis.name}, which have separate"
            " entries; compare plans of one chassis (select it with `weft testbed plan --chassis`)"
        )
    return change_from(tables.entries(old), new, old)


def change_from(before: Sequence[Entry], new: Plan, old: Plan | None = None) -> Change:
    """Return the minimal change from the entries of a plan or a switch to a plan."""
    before = sorted(before, key=tables.adding)
    found = matching.match(new, before, old)
    new = relabelled(new, found.slices, found.virtual)
    after = tables.entries(new)
    stays = {*before} & {*after}
    return Change(
        before,
        [entry for entry in reversed(before) if entry not in stays],
        [entry for entry in after if entry not in stays],
        len(stays),
        new,
        found.least,
    )


def _called(inventory: Inventory) -> str:
    return f"'{inventory.name}'"
