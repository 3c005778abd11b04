# SPDX-License-Identifier: LGPL-2.1-only
"""The verdict at the top of a page: one sentence on the benefit of offloading.

Offloading is worth it if the gain is at least `WORTH` and its interval lies above 1. It is not
worth it if the gain is smaller, unless the interval contains 1 and reaches `WORTH`: then the
simulation cannot tell.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from weft.base.units import format_ratio, natural_order
from weft.benchmarks.certainty import CANNOT_TELL, LEVEL, MEASUREMENTS, Certainty
from weft.campaign.file.file import REPEATS
from weft.campaign.pairs import FABRIC, OFFLOAD
from weft.report.data.study import ComparedRuns, Study
from weft.report.page.sentences import DECIDED, pattern
from weft.report.page.words import named_value
from weft.runs.offload_modes import REASONS

WORTH = 1.1
"""Smallest gain at which computing switches count as worth it."""
_MOST_SENTENCES = 2
_FEW, _MOST_NAMES = 8, 3

Word = Literal["worth it", "not worth it", "cannot tell"]


def judge(gain: float, sure: Certainty | None) -> Word:
    """Return the verdict on a gain."""
    if sure is not None and sure.cannot_tell and sure.high >= WORTH:
        return CANNOT_TELL
    return "worth it" if gain >= WORTH else "not worth it"


@dataclass(frozen=True)
class Choice:
    """Runs of a program on a fabric with one offload mode, compared with the hosts."""

    program: str
    fabric: str
    mode: str
    modes: int
    """Number of offload modes compared."""
    found: Sequence[ComparedRuns]
    """Comparisons of two finished runs."""

    @cached_property
    def words(self) -> "Counter[Word]":
        """Number of comparisons by verdict."""
        return Counter(judge(one.speed_up, one.certainty) for one in self.found)

    @property
    def word(self) -> Word:
        """Verdict of most of the decisive comparisons; `worth it` if any of them is."""
        if self.words["worth it"]:
            return "worth it"
        return CANNOT_TELL if self.words[CANNOT_TELL] else "not worth it"

    @property
    def in_part(self) -> bool:
        """True if offloading is worth it only in some combinations."""
        return 0 < self.words["worth it"] < len(self.found)

    @cached_property
    def mean_gain(self) -> float:
        """Geometric mean of the gains."""
        return math.exp(sum(math.log(one.speed_up) for one in self.found) / len(self.found))

    @property
    def name(self) -> str:
        """Program and fabric."""
        return f"{self.program} on {self.fabric}"


def choices(study: Study) -> list[Choice]:
    """Return the offload mode with the highest mean gain for each program and fabric."""
    groups: dict[tuple[str, str], dict[str, list[ComparedRuns]]] = {}
    for one in study.compared:
        if one.outcome in (*DECIDED, "fell back", "no collectives"):
            key = one.point["program"], one.point[FABRIC]
            mode = one.point.get(OFFLOAD, "")
            groups.setdefault(key, {}).setdefault(mode, []).append(one)
    found = []
    for (program, fabric), by_mode in groups.items():
        modes = [
            Choice(program, fabric, mode, len(by_mode), some) for mode, some in by_mode.items()
        ]
        found.append(max(modes, key=lambda one: one.mean_gain))
    return sorted(found, key=lambda one: natural_order(one.name))


def verdict(study: Study) -> list[str]:
    """Return the verdict; empty unless offloaded runs are compared with host runs."""
    if study.reference is None or not study.reference.hosts:
        return []
    found = choices(study)
    if len(found) > _MOST_SENTENCES:
        return [_of_many(study, found)]
    best = {one.name: one for one in choices(study.over_best)} if study.over_best else {}
    return [_of_one(study, one, best.get(one.name)) for one in found]


def basis() -> str:
    """Return a sentence with the rule for the verdict."""
    return (
        f"Worth it: at least {WORTH:.2f} times as fast as the hosts, with an interval above 1."
        " Cannot tell: the interval contains 1, and such a gain."
    )


# ---- A program on a fabric -----------------------------------------------------------------------


def _of_one(study: Study, one: Choice, best: Choice | None) -> str:
    with_mode = f" with {one.mode}" if one.modes > 1 else ""
    subject = f"for {one.name}{with_mode}"
    if fallen := _only_fell_back(one):
        return f"Not worth it {subject}: {fallen}."
    over = _over_best(one, best)
    if one.in_part:
        number = one.words["worth it"]
        return (
            f"Worth it {subject} in {number:,} of {len(one.found):,} combinations:"
            f" {_gain_of(study, one)}{_where(study, one)}{over}."
        )
    return f"{_capital(one.word)} {_worth(one)}{subject}: {_gain_of(study, one)}{over}."


def _worth(one: Choice) -> str:
    return "whether it is worth it " if one.word == CANNOT_TELL else ""


def _only_fell_back(one: Choice) -> str:
    outcomes = {found.outcome for found in one.found}
    if outcomes == {"no collectives"}:
        return "the program calls no collectives"
    if outcomes != {"fell back"}:
        return ""
    reasons = Counter(found.reason for found in one.found if found.reason)
    because = " or ".join(REASONS.get(reason, reason) for reason, _ in reasons.most_common(2))
    return f"every call fell back to the hosts{f' because {because}' if because else ''}"


def _gain_of(study: Study, one: Choice) -> str:
    """Return the range of the gains, or the interval of a single gain."""
    against = study.reference
    assert against is not None
    than = f"the {against.said}" if against.best else against.said or "the hosts"
    return f"{_range(one.found)} times as fast as {than}{_level(one.found)}"


def _range(found: Sequence[ComparedRuns]) -> str:
    if len(found) == 1 and (sure := found[0].certainty):
        return _from_to(sure.low, sure.high)
    gains = [one.speed_up for one in found]
    return _from_to(min(gains), max(gains))


def _from_to(low: float, high: float) -> str:
    first, last = format_ratio(low), format_ratio(high)
    return first if first == last else f"{first} to {last}"


def _level(found: Sequence[ComparedRuns]) -> str:
    """Return the confidence level of an interval; of several, the range of their levels."""
    sure = [one.certainty for one in found if one.certainty]
    if not sure:
        return ""
    measured = {one.basis for one in sure} == {MEASUREMENTS}
    level = f"{LEVEL * 100:.0f} %" if measured else "by calibration"
    if len(found) == 1:
        return f" ({level})"
    widest = _from_to(min(one.low for one in sure), max(one.high for one in sure))
    return f" ({level}: {widest})"


def _over_best(one: Choice, best: Choice | None) -> str:
    if best is None or not best.found:
        return ""
    differs = "" if best.word == one.word else f"{best.word} "
    return f"; {differs}over the best of all algorithms: {_range(best.found)}{_level(best.found)}"


def _where(study: Study, one: Choice) -> str:
    """Return the common properties of the combinations that are worth it, or the best one."""
    worth = [found for found in one.found if judge(found.speed_up, found.certainty) == "worth it"]
    if common := pattern(study.varying, worth, one.found):
        return f"; those that are worth it are {common}"
    best = max(worth, key=lambda found: found.speed_up)
    names = [
        named_value(axis.name, best.point[axis.name])
        for axis in study.varying
        if axis.name not in ("program", FABRIC, OFFLOAD, *REPEATS) and best.point[axis.name]
    ]
    return f"; most for {', '.join(names)}" if names else ""


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


# ---- Many programs or fabrics --------------------------------------------------------------------


def _of_many(study: Study, found: Sequence[Choice]) -> str:
    """Return the programs and fabrics by verdict, the largest gains first."""
    ordered = sorted(found, key=lambda one: -one.mean_gain)
    groups: list[tuple[str, list[Choice]]] = [
        ("worth it", [one for one in ordered if one.word == "worth it" and not one.in_part]),
        ("in some combinations", [one for one in ordered if one.in_part]),
        (CANNOT_TELL, [one for one in ordered if one.word == CANNOT_TELL]),
        ("not worth it", [one for one in ordered if one.word == "not worth it"]),
    ]
    unit = f" times as fast as {study.reference.said or 'the hosts'}" if study.reference else ""
    parts: list[str] = []
    for word, some in groups:
        if some:
            subject = f"for {len(some):,}" if parts else _subject(found, f"{len(some):,}")
            parts.append(f"{word} {subject}: {_listed(found, some, unit)}")
            unit = ""
    return f"{_capital('; '.join(parts))}."


def _subject(found: Sequence[Choice], number: str) -> str:
    of = f"{number} of {len(found):,}"
    if len({one.fabric for one in found}) == 1:
        return f"on {found[0].fabric} for {of} programs"
    if len({one.program for one in found}) == 1:
        return f"for {found[0].program} on {of} fabrics"
    return f"for {of} programs on fabrics"


def _listed(found: Sequence[Choice], some: Sequence[Choice], unit: str) -> str:
    """Return the first names with their gains; `unit` follows the first gain."""
    programs, fabrics = ({one.program for one in found}, {one.fabric for one in found})
    names = []
    most = _MOST_NAMES if len(found) <= _FEW else 1
    for one in some[:most]:
        name = one.fabric if len(programs) == 1 else one.name
        name = one.program if len(fabrics) == 1 else name
        names.append(f"{name} ({_range(one.found)}{unit})")
        unit = ""
    more = len(some) - most
    return ", ".join([*names, *([f"{more:,} more"] if more > 0 else [])])
