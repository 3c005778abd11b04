# SPDX-License-Identifier: LGPL-2.1-only
"""Numbering of a plan's slices and virtual ports that keeps most of the existing entries.

Experiments that are already on the switch, under any numbers, keep these numbers
(`weft_testbed.tables.entry_numbers`). For all others, slices of the new plan are assigned to slices
of the switch, and recirculated cables to recirculated cables in one of two orientations. With one
assignment fixed, the optimal other is a linear assignment problem, so both are improved
alternately, from several starting points. Small problems are solved to proven optimality by the
constraint solver.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from weft_testbed.plan.plan import FIRST_VIRTUAL, Plan
from weft_testbed.tables import entry_numbers, tables
from weft_testbed.tables.entry_numbers import Wiring
from weft_testbed.tables.tables import Entry

if TYPE_CHECKING:
    import numpy as np

Cable = tuple[int, int]
"""Virtual ports of a recirculated cable."""
Pairs = dict[Any, Any]
"""New slices or virtual ports to old ones."""

# Above this number of cable pairings the solver's proof takes seconds.
_MOST_PROVEN = 600
_MOST_WORK = 0.5
# Limit on improvements; each keeps more entries than the last, so the loop terminates anyway.
_MOST_TURNS = 50


@dataclass(frozen=True)
class NumberMatch:
    """Numbers for the new plan's slices and virtual ports."""

    slices: dict[int, int]
    virtual: dict[int, int]
    least: bool
    """True if it is proven that no other numbering keeps more entries."""


def match(new: Plan, before: Sequence[Entry], old: Plan | None = None) -> NumberMatch:
    """Return the numbering of a new plan, given the existing entries.

    If their plan is known, its names give a first guess of which slice is which.
    """
    running = entry_numbers.numbers_of(new, before)
    slices, virtual = running.slices, running.virtual
    problem = _Problem(_Side(before, old), _Side(tables.entries(new), new), slices, virtual)
    least = problem.solve()
    slices |= problem.slices
    virtual |= problem.virtual
    ends = [port for _, _, way in new.ways for port in way.virtual]
    everyone = sorted(
        place for one in new.experiments for place in one.switches.values() if type(place) is int
    )
    return NumberMatch(_fill(slices, everyone, 1), _fill(virtual, ends, FIRST_VIRTUAL), least)


def _fill(labels: dict[int, int], all_new: Sequence[int], first: int) -> dict[int, int]:
    """Assign the lowest free numbers to the unnumbered."""
    taken = set(labels.values())
    free = (number for number in range(first, 1 << 16) if number not in taken)
    return {one: labels[one] if one in labels else next(free) for one in all_new}


class _Side(Wiring):
    """Slices and virtual ports of entries, with the plan's names of slices."""

    def __init__(self, entries: Sequence[Entry], plan: Plan | None) -> None:
        super().__init__(entries)
        self.names: dict[Any, tuple[str, str]] = {}
        for one in plan.experiments if plan else ():
            self.names |= {place: (one.name, name) for name, place in one.switches.items()}


class _Problem:
    """Parts that differ between the two plans."""

    def __init__(
        self, old: _Side, new: _Side, slices: Mapping[int, int], virtual: Mapping[int, int]
    ) -> None:
        self.old, self.new = old, new
        gone, ends = {*slices.values()}, {*virtual.values()}
        self.new_slices = [one for one in sorted(new.facts) if one not in slices]
        self.old_slices = [one for one in sorted(old.facts) if one not in gone]
        self.new_cables = [one for one in new.cables if one[0] not in virtual]
        self.old_cables = [one for one in old.cables if one[0] not in ends]
        self.slices: dict[int, int] = {}
        self.cables: dict[Cable, Cable] = {}

    @property
    def virtual(self) -> dict[int, int]:
        """Numbers of virtual ports."""
        return {
            one: other
            for new, old in self.cables.items()
            for one, other in zip(new, old, strict=True)
        }

    def solve(self) -> bool:
        """Find the best numbering, and return true if it is proven."""
        if not self.new_slices or not self.old_slices:
            return True
        best = -1
        found: tuple[dict[int, int], dict[Cable, Cable]] = {}, {}
        for begin in (self._by_name(), self._by_number(), {}):
            self.slices, self.cables = begin, {}
            gain = self._improve()
            if gain > best:
                best, found = gain, (self.slices, self.cables)
            if best >= self._bound:
                break
        self.slices, self.cables = found
        if best >= self._bound:
            return True
        ways = 2 * len(self.new_cables) * len(self.old_cables)
        return ways <= _MOST_PROVEN and _Proof(self).solve()

    # ---- Beginnings ----------------------------------------------------------------------------

    def _by_number(self) -> dict[int, int]:
        return {one: one for one in self.new_slices if one in {*self.old_slices}}

    def _by_name(self) -> dict[int, int]:
        was = {self.old.names[one]: one for one in self.old_slices if one in self.old.names}
        named = ((one, was.get(self.new.names[one])) for one in self.new_slices)
        return {one: other for one, other in named if other is not None}

    # ---- One after the other -------------------------------------------------------------------

    def _improve(self) -> int:
        """Improve cables and slices alternately; return the number of entries kept."""
        gain = -1
        for turn in range(_MOST_TURNS):
            if turn or self.slices:
                self._assign_cables()
            slices = self._assign_slices()
            if slices <= gain:
                break
            gain = slices
        return gain

    def _assign_slices(self) -> int:
        """Assign slices for fixed cables; return the total number of entries kept."""
        gain = self._own.copy()
        rows = {one: k for k, one in enumerate(self.new_slices)}
        columns = {one: k for k, one in enumerate(self.old_slices)}
        kept = 0
        for new, old in self.cables.items():
            kept += self.cable_gain(new, old)
            for one, other in zip(new, old, strict=True):
                at = rows[self.new.slice_of[one]], columns[self.old.slice_of[other]]
                gain[at] += self.common(one, other)
        chosen = _assigned(gain)
        self.slices = {self.new_slices[k]: self.old_slices[n] for k, n in chosen}
        return kept + int(sum(gain[at] for at in chosen))

    def _assign_cables(self) -> None:
        """Assign cables for fixed slices, each in its better orientation."""
        ways = self._loops.copy()
        for row, new in enumerate(self.new_cables):
            for here, one in enumerate(new):
                place = self.slices.get(self.new.slice_of[one])
                for column, there, other in self._ends.get(place, ()):
                    ways[int(here != there), row, column] += self.common(one, other)
        self.cables = {}
        for row, column in _assigned(ways.max(axis=0)):
            one, other = self.old_cables[column]
            turned = ways[1, row, column] > ways[0, row, column]
            self.cables[self.new_cables[row]] = (other, one) if turned else (one, other)

    @cached_property
    def _ends(self) -> dict[int | None, list[tuple[int, int, int]]]:
        """By old slice, its ends of cables: the cable's column, which end, the virtual port."""
        ends: dict[int | None, list[tuple[int, int, int]]] = defaultdict(list)
        for column, old in enumerate(self.old_cables):
            for there, other in enumerate(old):
                ends[self.old.slice_of[other]].append((column, there, other))
        return ends

    @cached_property
    def _loops(self) -> "np.ndarray[Any, np.dtype[np.float64]]":
        """By orientation, new and old cable: the common entries of loop_table and tag_table."""
        import numpy as np

        new = np.array([self.new.cables[one] for one in self.new_cables]).reshape(-1, 1, 2)
        old = np.array([self.old.cables[one] for one in self.old_cables]).reshape(1, -1, 2)
        same = [(new == one).sum(axis=2) for one in (old, old[:, :, ::-1])]
        return np.array(same, dtype=float) + 2

    # ---- What is kept --------------------------------------------------------------------------

    def cable_gain(self, new: Cable, old: Cable) -> int:
        """Return the number of common entries of loop_table and tag_table."""
        loops = self.old.cables.get(old) or self.old.cables[old[::-1]][::-1]
        return 2 + sum(a == b for a, b in zip(self.new.cables[new], loops, strict=True))

    def common(self, one: int, other: int) -> int:
        """Return the number of common entries of two virtual ports, given equal slices."""
        return len(self.new.at[one] & self.old.at[other])

    @cached_property
    def _own(self) -> "np.ndarray[Any, np.dtype[np.float64]]":
        """By new and old slice: the common entries without virtual ports."""
        import numpy as np

        where: dict[tuple[Any, ...], list[int]] = defaultdict(list)
        for column, old in enumerate(self.old_slices):
            for fact in self.old.facts[old]:
                where[fact].append(column)
        gain = np.zeros((len(self.new_slices), len(self.old_slices)))
        for row, new in enumerate(self.new_slices):
            for fact in self.new.facts[new]:
                gain[row, where.get(fact, [])] += 1
        return gain

    @cached_property
    def _bound(self) -> int:
        """Upper bound: every slice and cable keeps all entries in common with its best partner."""
        ends = Counter(fact for at in self.old_cables for end in at for fact in self.old.at[end])
        cables = min(len(self.new_cables), len(self.old_cables))
        at = Counter(fact for one in self.new_cables for end in one for fact in self.new.at[end])
        return int(self._own.max(axis=1).sum()) + 4 * cables + (ends & at).total()


def _assigned(gain: "np.ndarray[Any, np.dtype[np.float64]]") -> list[tuple[int, int]]:
    """Return the row and column pairs of maximal total gain."""
    import numpy as np
    from ortools.graph.python.linear_sum_assignment import SimpleLinearSumAssignment

    if not gain.size:
        return []
    rows, columns = gain.shape
    square = np.zeros((max(gain.shape), max(gain.shape)), dtype=np.int64)
    square[:rows, :columns] = gain
    solver = SimpleLinearSumAssignment()
    at = np.indices(square.shape)
    solver.add_arcs_with_cost(at[0].ravel(), at[1].ravel(), -square.ravel())
    solver.solve()
    chosen = [(row, solver.right_mate(row)) for row in range(rows)]
    return [(row, column) for row, column in chosen if column < columns]


class _Proof:
    """Matching problem as a constraint program, for few cables."""

    def __init__(self, problem: _Problem) -> None:
        from ortools.sat.python import cp_model

        self.problem = problem
        self.model = cp_model.CpModel()
        self.gain: list[Any] = []
        self.slices = {
            (new, old): self._variable(problem.slices.get(new) == old, problem._own[row, column])
            for row, new in enumerate(problem.new_slices)
            for column, old in enumerate(problem.old_slices)
        }
        self.cables = {
            (new, old): self._variable(problem.cables.get(new) == old, problem.cable_gain(new, old))
            for new in problem.new_cables
            for one in problem.old_cables
            for old in (one, one[::-1])
        }
        for (new, old), var in self.cables.items():
            self._match_ends(new, old, var)
        self._at_most_once(self.slices)
        self._at_most_once(self.cables)

    def _variable(self, hint: bool, gain: float) -> Any:
        var = self.model.new_bool_var("")
        self.model.add_hint(var, hint)
        self.gain.append(int(gain) * var)
        return var

    def _match_ends(self, new: Cable, old: Cable, cable: Any) -> None:
        """Count entries of virtual ports that are kept only if the slices match as well."""
        problem = self.problem
        for one, other in zip(new, old, strict=True):
            if facts := problem.common(one, other):
                slices = problem.new.slice_of[one], problem.old.slice_of[other]
                both = self._variable(
                    problem.cables.get(new) == old and problem.slices.get(slices[0]) == slices[1],
                    facts,
                )
                self.model.add_implication(both, cable)
                self.model.add_implication(both, self.slices[slices])

    def _at_most_once(self, pairs: Pairs) -> None:
        for side in (0, 1):
            by: dict[Any, list[Any]] = defaultdict(list)
            for pair, var in pairs.items():
                by[tuple(sorted(pair[side])) if type(pair[side]) is tuple else pair[side]] += [var]
            for variables in by.values():
                self.model.add_at_most_one(variables)

    def solve(self) -> bool:
        """Solve, and store the solution in the problem; return true if it is proven."""
        from ortools.sat.python import cp_model

        self.model.maximize(sum(self.gain))
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        solver.parameters.random_seed = 1
        solver.parameters.max_deterministic_time = _MOST_WORK
        status = solver.solve(self.model)
        if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            self.problem.slices = {
                new: old for (new, old), var in self.slices.items() if solver.value(var)
            }
            self.problem.cables = {
                new: old for (new, old), var in self.cables.items() if solver.value(var)
            }
        return status == cp_model.OPTIMAL
