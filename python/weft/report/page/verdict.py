# SPDX-License-Identifier: LGPL-2.1-only
"""The verdict at the top of a page: one sentence on the benefit of offloading.

The rule is that of `weft.benchmarks.certainty`, by which the page also counts the comparisons. Each
gain is followed by its interval; several gains, by the interval around all of theirs.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from weft.base.units import natural_order
from weft.benchmarks.certainty import CANNOT_TELL, WORTH, Worth, worth
from weft.campaign.file.file import REPEATS
from weft.campaign.pairs import FABRIC, OFFLOAD
from weft.report.data.study import ComparedRuns, Study
from weft.report.page.sentences import DECIDED, gains, pattern, within
from weft.report.page.words import named_value
from weft.runs.offload_modes import REASONS

_MOST_SENTENCES = 2
_FEW, _MOST_NAMES = 8, 3


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
    def words(self) -> "Counter[Worth]":
        """Number of comparisons by verdict."""
        return Counter(worth(one.speed_up, one.certainty) for one in self.found)

    @property
    def word(self) -> Worth:
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
        " Cannot tell: the interval contains 1."
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
            f" {_gain_of(study, one)}{_unsure(one)}{_where(study, one)}{over}."
        )
    return (
        f"{_capital(one.word)} {_question(one)}{subject}: {_gain_of(study, one)}{_unsure(one)}"
        f"{over}{_too_little(one)}."
    )


def _question(one: Choice) -> str:
    """Return the question that the simulation cannot answer."""
    if one.word != CANNOT_TELL:
        return ""
    return f"whether it is {'faster' if _too_little(one) else 'worth it'} "


def _too_little(one: Choice) -> str:
    """Return a note if no gain can be worth it, although some may be losses."""
    ends = [found.certainty.high if found.certainty else found.speed_up for found in one.found]
    if one.word != CANNOT_TELL or max(ends) >= WORTH:
        return ""
    return f"; not worth it in either case, as less than {WORTH:.2f} times"


def _unsure(one: Choice) -> str:
    """Return the number of combinations without a verdict, if others have one."""
    number = one.words[CANNOT_TELL]
    return f"; {CANNOT_TELL} in {number:,}" if 0 < number < len(one.found) else ""


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
    """Return the gains and their interval, with what they compare."""
    against = study.reference
    assert against is not None
    than = f"the {against.said}" if against.best else against.said or "the hosts"
    return f"{gains(one.found)} times as fast as {than}{within(one.found)}"


def _over_best(one: Choice, best: Choice | None) -> str:
    if best is None or not best.found:
        return ""
    differs = "" if best.word == one.word else f"{best.word} "
    return f"; {differs}over the best of all algorithms: {gains(best.found)}{within(best.found)}"


def _where(study: Study, one: Choice) -> str:
    """Return the common properties of the combinations that are worth it, or the best one."""
    some = [found for found in one.found if worth(found.speed_up, found.certainty) == "worth it"]
    if common := pattern(study.varying, some, one.found):
        return f"; those that are worth it are {common}"
    best = max(some, key=lambda found: found.speed_up)
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
        ("worth it in some combinations", [one for one in ordered if one.in_part]),
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
        names.append(f"{name} ({gains(one.found)}{unit}{within(one.found, '; {}')}{_unsure(one)})")
        unit = ""
    more = len(some) - most
    return ", ".join([*names, *([f"{more:,} more"] if more > 0 else [])])
