# SPDX-License-Identifier: LGPL-2.1-only
"""From one plan to another by the fewest entries, in an order in which no frame goes astray.

Which number a slice or a virtual port has is nobody's wish. So the new plan gets those of the old
one with which most entries stay as they are: an assignment of new slices and recirculated cables to
old ones, found by the constraint solver. What is alike stays, and its traffic goes on.

What goes is removed first, beginning with the entries that let frames in; then the frames that are
still inside leave; then what is new is added, and what lets frames in comes last. Entries only let
frames pass, so at every moment a frame reaches at most what it reached before, or what it will.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from weft.base.errors import WeftError
from weft.testbed import script, tables
from weft.testbed.inventory import Inventory
from weft.testbed.plan import FIRST_VIRTUAL, Plan, relabelled
from weft.testbed.tables import Entry

if TYPE_CHECKING:
    from ortools.sat.python.cp_model import IntVar

# A frame is inside for some microseconds a pass; this is long for any that is there.
DRAIN_MS = 10

Cable = tuple[int, int]
"""The virtual ports of a recirculated cable."""


@dataclass(frozen=True)
class Change:
    """What to remove, then what to add, and the new plan with the numbers that it has then."""

    removed: Sequence[Entry]
    added: Sequence[Entry]
    kept: int
    plan: Plan

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
        yield from script.removed(self.removed, self.plan.inventory)
        if self.removed and self.added:
            yield f"shell sleep {DRAIN_MS / 1000:g}"
        yield from script.added(self.added, self.plan.inventory)


def change(old: Plan, new: Plan) -> Change:
    """Return the least change from one plan to another."""
    if old.inventory.text != new.inventory.text:
        raise WeftError(
            f"diff: the plans are on two inventories, {_called(old.inventory)} and"
            f" {_called(new.inventory)}, that are not the same; cables do not move, so plan both"
            " on one file"
        )
    new = relabelled(new, *_Matching(old, new).labels())
    before, after = tables.entries(old), tables.entries(new)
    stays = {*before} & {*after}
    return Change(
        [entry for entry in reversed(before) if entry not in stays],
        [entry for entry in after if entry not in stays],
        len(stays),
        new,
    )


def _called(inventory: Inventory) -> str:
    return f"'{inventory.name}'"


class _Slices:
    """The slices of a plan, and what each entry of theirs says beside the numbers."""

    def __init__(self, plan: Plan) -> None:
        self.of: dict[int, int] = {}
        self.facts: dict[int, set[tuple[Any, ...]]] = defaultdict(set)
        self.at: dict[int, set[tuple[Any, ...]]] = defaultdict(set)
        for entry in tables.entries(plan):
            self._take(entry)
        self.cables: dict[Cable, tuple[int, int]] = {
            (way.virtual[0], way.virtual[1]): (way.loops[0], way.loops[1])
            for _, _, way in plan.ways
            if way.kind == "recirculated"
        }

    def _take(self, entry: Entry) -> None:
        """Sort by slice the entries without a virtual port, and by virtual port those with one."""
        if entry.table == "slice_table":
            port, number = int(entry.key[0]), int(entry.data[0])
            self.of[port] = number
            self._add(number, port, ("slice",))
        elif entry.table == "group":
            self._add(int(entry.key[0]), int(entry.key[1]), ("group",))
        elif entry.table == "arp_table":
            self.facts[int(entry.key[0])].add(("arp",))
        elif entry.table == "forward_table":
            self._add(int(entry.key[0]), int(entry.data[0]), ("forward", entry.key[1]))

    def _add(self, number: int, port: int, fact: tuple[Any, ...]) -> None:
        if port < FIRST_VIRTUAL:
            self.facts[number].add((*fact, port))
        else:
            self.facts.setdefault(number, set())  # a slice with virtual ports alone is one, too
            self.at[port].add(fact)


class _Matching:
    """New slices and recirculated cables as old ones, so that most entries are common."""

    def __init__(self, old: Plan, new: Plan) -> None:
        from ortools.sat.python import cp_model

        self.old, self.new = _Slices(old), _Slices(new)
        self.model = cp_model.CpModel()
        self.gain: list[Any] = []
        self._match_slices()
        self._match_cables()
        self.model.maximize(sum(self.gain))
        self.solver = cp_model.CpSolver()
        self.solver.parameters.num_workers = 1
        self.solver.parameters.random_seed = 1
        self.solver.parameters.max_deterministic_time = 20.0
        self.solver.solve(self.model)

    def _match_slices(self) -> None:
        self.slices: dict[tuple[int, int], IntVar] = {
            (new, old): self.model.new_bool_var("slice")
            for new in sorted(self.new.facts)
            for old in sorted(self.old.facts)
        }
        self._at_most_once(self.slices)
        for (new, old), var in self.slices.items():
            self.gain.append(len(self.new.facts[new] & self.old.facts[old]) * var)

    def _match_cables(self) -> None:
        """Match the ends of recirculated cables, one way round or the other."""
        self.ends: dict[tuple[Cable, Cable], IntVar] = {}
        for new, old in self._pairs():
            for turned in (old, old[::-1]):
                self._match_ends(new, turned)
        whole: dict[tuple[Cable, Cable], Any] = {
            (new, old): self.ends[new, old] + self.ends[new, old[::-1]]
            for new, old in self._pairs()
        }
        self._at_most_once(whole)

    def _pairs(self) -> Iterator[tuple[Cable, Cable]]:
        return ((new, old) for new in self.new.cables for old in self.old.cables)

    def _match_ends(self, new: Cable, old: Cable) -> None:
        var = self.ends[new, old] = self.model.new_bool_var("cable")
        loops = self.old.cables.get(old) or self.old.cables[old[::-1]][::-1]
        self.gain.append(2 * var)  # tag_table
        same = sum(a == b for a, b in zip(self.new.cables[new], loops, strict=True))
        self.gain.append(same * var)  # loop_table
        for one, other in zip(new, old, strict=True):
            facts = len(self.new.at[one] & self.old.at[other])
            both = self.model.new_bool_var("both")
            self.model.add_implication(both, var)
            self.model.add_implication(both, self.slices[self.new.of[one], self.old.of[other]])
            self.gain.append(facts * both)

    def _at_most_once(self, pairs: "dict[tuple[Any, Any], Any]") -> None:
        for side in (0, 1):
            sums: dict[Any, list[Any]] = defaultdict(list)
            for pair, term in pairs.items():
                sums[pair[side]].append(term)
            for terms in sums.values():
                self.model.add(sum(terms) <= 1)

    def labels(self) -> tuple[dict[int, int], dict[int, int]]:
        """Return the numbers of the new plan's slices and virtual ports."""
        slices = {new: old for (new, old), var in self.slices.items() if self.solver.value(var)}
        virtual = {
            one: other
            for (new, old), var in self.ends.items()
            if self.solver.value(var)
            for one, other in zip(new, old, strict=True)
        }
        ports = [port for cable in self.new.cables for port in cable]
        return _fill(slices, sorted(self.new.facts), 1), _fill(virtual, ports, FIRST_VIRTUAL)


def _fill(labels: dict[int, int], all_new: Sequence[int], first: int) -> dict[int, int]:
    """Give those without a number the lowest that are free."""
    taken = Counter(labels.values())
    free = (number for number in range(first, 1 << 16) if number not in taken)
    return {one: labels[one] if one in labels else next(free) for one in all_new}
