# SPDX-License-Identifier: LGPL-2.1-only
"""Search for a plan's experiments among a switch's entries, under any numbers.

Every change renumbers slices and virtual ports, so a plan and a switch are compared by what the
numbers mean. Front ports identify the slices that they belong to; from there the recirculated
cables lead to the other slices. An experiment is located only if all its entries, renumbered
accordingly, are on the switch.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from weft.base.units import plural
from weft_testbed.plan.plan import FIRST_VIRTUAL, Experiment, Plan, relabelled
from weft_testbed.tables import tables
from weft_testbed.tables.tables import Entry

Fact = tuple[Any, ...]
_MOST_TOLD = 6


class Wiring:
    """Slices and virtual ports as described by a chassis' entries."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        """Sort the entries by subject."""
        self.slice_of: dict[int, int] = {}
        self.facts: dict[int, set[Fact]] = defaultdict(set)
        """Facts that name no virtual port, by slice."""
        self.at: dict[int, set[Fact]] = defaultdict(set)
        """Facts that name a virtual port, by that port."""
        tags: dict[int, int] = {}
        loops: dict[int, int] = {}
        for entry in entries:
            self._take(entry, tags, loops)
        self.cables = {
            (one, other): (loops[one], loops[other])
            for one, other in tags.items()
            if one < other
            and tags.get(other) == one
            and {one, other} <= loops.keys() & self.slice_of.keys()
        }
        """Looping ports of recirculated cables, by their two virtual ports."""
        self.peers = {a: b for pair in self.cables for a, b in (pair, pair[::-1])}
        self.loops = {port: loops[port] for port in self.peers}

    def _take(self, entry: Entry, tags: dict[int, int], loops: dict[int, int]) -> None:
        if entry.table == "slice_table":
            port, number = int(entry.key[0]), int(entry.data[0])
            self.slice_of[port] = number
            self._add(number, port, ("slice",))
        elif entry.table == "group":
            self._add(int(entry.key[0]), int(entry.key[1]), ("group",))
        elif entry.table == "arp_table":
            self.facts[int(entry.key[0])].add(("arp",))
        elif entry.table == "forward_table":
            self._add(int(entry.key[0]), int(entry.data[0]), ("forward", entry.key[1]))
        elif entry.table == "tag_table":
            tags[int(entry.key[0])] = int(entry.data[0])
        elif entry.table == "loop_table":
            loops[int(entry.key[0])] = int(entry.data[0])

    def _add(self, number: int, port: int, fact: Fact) -> None:
        if port < FIRST_VIRTUAL:
            self.facts[number].add((*fact, port))
        else:
            self.facts.setdefault(number, set())  # slices may have virtual ports only
            self.at[port].add(fact)

    def ends(self, number: int) -> list[int]:
        """Return the virtual ports of a slice, in order."""
        return sorted(port for port in self.peers if self.slice_of[port] == number)

    def signature(self, port: int) -> Fact:
        """Return a number-independent identification of a virtual port within its slice."""
        other = self.peers[port]
        return (
            frozenset(self.at[port]), frozenset(self.at[other]), self.loops[port],
            self.loops[other], frozenset(self.facts[self.slice_of[other]]),
        )  # fmt: skip


@dataclass
class Numbers:
    """Numbers of an experiment's slices and virtual ports on a switch."""

    slices: dict[int, int] = field(default_factory=dict)
    virtual: dict[int, int] = field(default_factory=dict)

    @property
    def same(self) -> bool:
        """True if they are the plan's own."""
        return all(a == b for pairs in (self.slices, self.virtual) for a, b in pairs.items())


def chassis(entries: Iterable[Entry]) -> frozenset[Entry]:
    """Return the entries that go to the switch."""
    return frozenset(entry for entry in entries if not entry.external)


def locate(plan: Plan, one: Experiment, found: frozenset[Entry], there: Wiring) -> Numbers | None:
    """Return the numbers of an experiment on a switch, or None unless it is complete."""
    alone = replace(plan, experiments=(one,))
    own = Wiring(chassis(tables.entries(alone)))
    numbers = _Walk(own, there).numbers()
    slices = {place for place in one.switches.values() if isinstance(place, int)}
    ends = {port for way in one.cables.values() for port in way.virtual}
    if {*numbers.slices} != slices or {*numbers.virtual} != ends:
        return None
    renumbered = relabelled(alone, numbers.slices, numbers.virtual)
    return numbers if chassis(tables.entries(renumbered)) <= found else None


class _Walk:
    """Traversal from front ports over slices and recirculated cables."""

    def __init__(self, own: Wiring, there: Wiring) -> None:
        self.own, self.there = own, there
        self.found = Numbers()
        self.waiting: list[int] = []

    def numbers(self) -> Numbers:
        """Return all numbers that the traversal reaches."""
        for port, number in self.own.slice_of.items():
            if port < FIRST_VIRTUAL and port in self.there.slice_of:
                self._slice(number, self.there.slice_of[port])
        while self._advance(certain=True) or self._advance(certain=False):
            pass
        return self.found

    def _slice(self, number: int, place: int) -> None:
        if number not in self.found.slices and place not in self.found.slices.values():
            self.found.slices[number] = place

    def _advance(self, *, certain: bool) -> bool:
        """Match the virtual ports of known slices; if ambiguous, only the first one per call."""
        moved = False
        for number, place in [*self.found.slices.items()]:
            left: dict[Fact, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
            for port in self.own.ends(number):
                if port not in self.found.virtual:
                    left[self.own.signature(port)][0].append(port)
            taken = {*self.found.virtual.values()}
            for port in self.there.ends(place):
                if port not in taken:
                    left[self.there.signature(port)][1].append(port)
            for mine, theirs in left.values():
                if mine and theirs and (not certain or len(mine) == len(theirs) == 1):
                    self._cable(mine[0], theirs[0])
                    moved = True
                    if not certain:
                        return True
        return moved

    def _cable(self, port: int, place: int) -> None:
        for one, other in ((port, place), (self.own.peers[port], self.there.peers[place])):
            self.found.virtual[one] = other
            self._slice(self.own.slice_of[one], self.there.slice_of[other])


# ---- How a plan and a switch differ --------------------------------------------------------------


@dataclass(frozen=True)
class Comparison:
    """Comparison of a plan with the entries of a switch."""

    same: tuple[str, ...]
    """Experiments present under the plan's numbers."""
    renumbered: dict[str, Numbers]
    """Experiments present under other numbers."""
    lacking: dict[str, int]
    """Number of missing entries of each absent experiment."""
    foreign: tuple[Entry, ...]
    """Entries that belong to none of the plan's experiments."""

    @property
    def equal(self) -> bool:
        """True if the switch has exactly the plan's entries."""
        return not (self.renumbered or self.lacking or self.foreign)

    def said(self) -> str:
        """Describe the differences, as clauses."""
        parts = [
            f"it has {name} under other numbers ({_numbers(numbers)})"
            for name, numbers in self.renumbered.items()
        ]
        parts += [
            f"it lacks {name} ({plural(count, 'entry')})" for name, count in self.lacking.items()
        ]
        if self.foreign:
            by_table = Counter(entry.table for entry in self.foreign)
            told = ", ".join(f"{table} {count}" for table, count in sorted(by_table.items()))
            parts.append(
                f"it has {plural(len(self.foreign), 'entry')} outside the experiments of the plan"
                f" ({told})"
            )
        return "; ".join(parts)


def _numbers(numbers: Numbers) -> str:
    changed = [
        f"{what} {one} is {other} there"
        for what, pairs in (("slice", numbers.slices), ("virtual port", numbers.virtual))
        for one, other in sorted(pairs.items())
        if one != other
    ]
    more = len(changed) - _MOST_TOLD
    return ", ".join(changed[:_MOST_TOLD]) + (f" and {more} more" if more > 0 else "")


def compare(plan: Plan, entries: Sequence[Entry]) -> Comparison:
    """Compare a plan with the entries of a switch, each experiment by what its numbers mean."""
    found = chassis(entries)
    there = Wiring(found)
    same: list[str] = []
    renumbered: dict[str, Numbers] = {}
    lacking: dict[str, int] = {}
    claimed: set[Entry] = set()
    for one in plan.experiments:
        alone = replace(plan, experiments=(one,))
        own = chassis(tables.entries(alone))
        numbers = Numbers() if own <= found else locate(plan, one, found, there)
        if own <= found:
            same.append(one.name)
        elif numbers is not None:
            renumbered[one.name] = numbers
            own = chassis(tables.entries(relabelled(alone, numbers.slices, numbers.virtual)))
        else:
            lacking[one.name] = len(own - found)
        claimed |= own
    return Comparison(tuple(same), renumbered, lacking, tuple(sorted(found - claimed)))


def numbers_of(plan: Plan, entries: Sequence[Entry]) -> Numbers:
    """Return the numbers of all of a plan's experiments that are complete on the switch."""
    found = chassis(entries)
    there = Wiring(found)
    all_numbers = Numbers()
    for one in plan.experiments:
        if numbers := locate(plan, one, found, there):
            all_numbers.slices |= numbers.slices
            all_numbers.virtual |= numbers.virtual
    return all_numbers
