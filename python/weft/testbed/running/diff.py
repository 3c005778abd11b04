# SPDX-License-Identifier: LGPL-2.1-only
"""From one plan to another by the fewest entries, in an order in which no frame goes astray.

Which number a slice or a virtual port has is nobody's wish. So the new plan gets those of the old
one with which most entries stay as they are (`weft.testbed.tables.matching`). What is alike
stays, and its traffic goes on.

What goes is removed first, beginning with the entries that let frames in; then the frames that are
still inside leave; then what is new is added, and what lets frames in comes last. Entries only let
frames pass, so at every moment a frame reaches at most what it reached before, or what it will.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from weft.base.errors import WeftError
from weft.testbed.hardware.inventory import Inventory
from weft.testbed.p4 import script
from weft.testbed.plan.plan import Plan, relabelled
from weft.testbed.tables import matching, tables
from weft.testbed.tables.tables import Entry

# A frame is inside for some microseconds a pass; this is long for any that is there.
DRAIN_MS = 10


@dataclass(frozen=True)
class Change:
    """What there is, what to remove, then what to add, and the new plan with its numbers then."""

    before: Sequence[Entry]
    removed: Sequence[Entry]
    added: Sequence[Entry]
    kept: int
    plan: Plan
    least: bool
    """Whether it is proven that no numbers change fewer entries."""

    def steps(self) -> Iterator[dict[str, Any]]:
        """Yield what to do, one thing after the other."""
        for entry in self.removed:
            yield {"step": "remove", **entry.as_json()}
        if self.removed and self.added:
            yield {"step": "wait", "milliseconds": DRAIN_MS}
        for entry in self.added:
            yield {"step": "add", **entry.as_json()}

    def script(self) -> Iterator[str]:
        """Yield the same as commands of simple_switch_CLI."""
        return script.changed(
            self.removed,
            self.added,
            tables.entries(self.plan),
            self.plan.inventory,
            DRAIN_MS / 1000,
        )


def change(old: Plan, new: Plan) -> Change:
    """Return the least change from one plan to another."""
    if old.inventory.text != new.inventory.text:
        raise WeftError(
            f"diff: the plans are on two inventories, {_called(old.inventory)} and"
            f" {_called(new.inventory)}, that are not the same; cables do not move, so plan both"
            " on one file"
        )
    if old.inventory.chassis.name != new.inventory.chassis.name:
        raise WeftError(
            f"diff: the plans are on two chassis of '{old.inventory.name}',"
            f" {old.inventory.chassis.name} and {new.inventory.chassis.name}, and each has its own"
            " entries; compare plans of one chassis (`weft testbed plan --chassis` chooses it)"
        )
    return change_from(tables.entries(old), new, old)


def change_from(before: Sequence[Entry], new: Plan, old: Plan | None = None) -> Change:
    """Return the least change from some entries, of a plan or of a switch, to a plan."""
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
