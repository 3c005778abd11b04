# SPDX-License-Identifier: LGPL-2.1-only
"""Verdict in sentences: combinations in which offloading pays, according to the runs.

All statements count the campaign's combinations; none generalizes.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from weft.base.units import format_ratio, plural
from weft.benchmarks.certainty import (
    CALIBRATION,
    CANNOT_TELL,
    Certainty,
    around,
    not_measured,
    shown,
)
from weft.campaign.file.file import REPEATS
from weft.campaign.file.keys import COLLECTIVES
from weft.campaign.pairs import FABRIC, OFF, OFFLOAD
from weft.report.data.axes import Axis
from weft.report.data.compare import alike
from weft.report.data.study import ComparedRuns, Study
from weft.report.page import training
from weft.report.page.words import in_time, named_value
from weft.runs import offload_modes
from weft.runs.offload_modes import REASONS

_GROUPS = ("program", FABRIC, OFFLOAD)
_MOST_SENTENCES = 4
_MOST_NAMES = 3
_MOSTLY = 2 / 3
_NUMBERS = re.compile(r"[\d.,]+ ?(B|KiB|MiB|GiB)?")
DECIDED = ("faster", "same", "slower", CANNOT_TELL)
"""Outcomes of comparisons of two times."""


@dataclass(frozen=True)
class Verdict:
    """Summary of a group of comparisons."""

    values: Mapping[str, str]
    """Values of the keys that all comparisons share."""
    found: Sequence[ComparedRuns]

    def number(self, *outcomes: str) -> int:
        """Count the comparisons with one of these outcomes."""
        return sum(one.outcome in outcomes for one in self.found)

    @property
    def best(self) -> ComparedRuns | None:
        """Comparison with the largest gain, or None without a gain."""
        faster = [one for one in self.found if one.outcome == "faster"]
        return max(faster, key=lambda one: one.speed_up, default=None)

    @property
    def worst(self) -> ComparedRuns | None:
        """Comparison with the largest loss, or None without a loss."""
        slower = [one for one in self.found if one.outcome == "slower"]
        return min(slower, key=lambda one: one.speed_up, default=None)


def verdicts(study: Study) -> list[Verdict]:
    """Return a verdict for each program, fabric and offload mode."""
    keys = group_keys(study)
    groups: dict[tuple[str, ...], list[ComparedRuns]] = {}
    for one in study.compared:
        groups.setdefault(tuple(one.point.get(key, "") for key in keys), []).append(one)
    return [
        Verdict(dict(zip(keys, values, strict=True)), found) for values, found in groups.items()
    ]


def group_keys(study: Study) -> tuple[str, ...]:
    """Return the keys whose values get separate verdicts."""
    compared = (study.reference.axis,) if study.reference else ()
    groups = [key for key in _GROUPS if not (key == OFFLOAD and study.only_trains)]
    return tuple(dict.fromkeys((*groups, *compared)))


def question(study: Study) -> str:
    """Return the heading of the first part of the page."""
    if study.iterations.models and study.reference is None:
        return "What an iteration takes"
    if study.reference is None or study.reference.hosts:
        return "Where offloading pays off"
    if study.reference.axis == COLLECTIVES:
        return "What reductions in switches gain"
    return "Which fabric is faster" if study.reference.axis == FABRIC else "What pays"


def headline(study: Study) -> list[str]:
    """Return a sentence for each program, fabric and offload mode, or one for all."""
    if study.iterations.models and any(study.rows["state"] == "done"):
        return _of_training(study)
    if not study.compared:
        return [_nothing_compared(study)]
    best = _answers(study.over_best) if study.over_best else []
    return [*_answers(study), *best, *_unanswered(study)]


def _of_training(study: Study) -> list[str]:
    """Return the subject of the comparison, then the times of the fastest iterations."""
    compared = training.answers(study) if training.compares_collectives(study) else ()
    others = _answers(study) if study.compared and not training.compares_collectives(study) else ()
    return [*compared, *others, *training.described(study)]


def _unanswered(study: Study) -> Iterator[str]:
    """Yield a note if the runs cannot tell whether offloading pays."""
    if any(one.hosts for one in study.references):
        return
    lack = "without" if {OFF} != {one.get(OFFLOAD) for one in study.points} else "with"
    yield (
        f"Whether offloading pays off is unknown: {study.source.has} no run {lack} offloading to"
        " compare with."
    )


def _answers(study: Study) -> list[str]:
    groups = verdicts(study)
    if len(groups) <= _MOST_SENTENCES:
        return [_sentence(study, group) for group in groups]
    whole = Verdict({}, study.compared)
    return [_sentence(study, whole), *_extremes(groups)]


def _nothing_compared(study: Study) -> str:
    states = Counter(study.rows["state"])
    ended = states["done"] + states["failed"] + states["refused"]
    if not ended:
        return "Nothing of this campaign has been run yet."
    if not states["done"]:
        bad = plural(ended, "combination")
        return f"No run finished: all {bad} that were tried failed or were refused."
    asked = {point.get(OFFLOAD, offload_modes.DEFAULT) for point in study.points}
    lack = f"run without offloading (offload = {OFF})"
    if asked == {OFF}:
        lack = "run with offloading (all have offload = off)"
    elif OFF in asked:
        lack = "pair of runs that differ in offload alone"
    times = study.rows.filter(state="done")["simulated_time_s"].drop_nulls()
    low, high = (in_time(float(one)) for one in (times.min() or 0, times.max() or 0))  # type: ignore[arg-type]
    span = f"took {low}" if low == high else f"took {low} to {high}"
    done = plural(states["done"], "combination")
    return (
        f"Whether offloading pays off is unknown: {study.source.has} no {lack}."
        f" Its {done} that came to an end {span} of simulated time."
    )


def _sentence(study: Study, verdict: Verdict) -> str:
    missing = verdict.number("missing")
    if missing == len(verdict.found):
        return f"{_subject(study, verdict)} or its baseline has not been run yet."
    if len(verdict.found) == 1 and verdict.found[0].outcome in DECIDED:
        return (
            f"{_subject(study, verdict)}{_only(study, verdict.found[0])}{_not_measured(verdict)}."
        )
    total = plural(len(verdict.found) - missing, "combination")
    same = verdict.number("same")
    parts = [
        f"{_subject(study, verdict)} is faster than {_other(study)}"
        f" in {verdict.number('faster'):,} of {total}{_most(study, verdict)}"
    ]
    every = f"{'all of ' if len(verdict.found) - missing > 1 else ''}{total}"
    if same == len(verdict.found) - missing:
        parts = [
            f"{_subject(study, verdict)} is as fast as {_other(study)}, within 0.5 %, in {every}"
        ]
    unsure = verdict.number(CANNOT_TELL)
    if unsure == len(verdict.found) - missing:
        parts = [
            f"{_subject(study, verdict)}: {CANNOT_TELL} whether it is faster than {_other(study)}"
            f" in {every}: {_unsure_gains(verdict)}"
        ]
    parts += _slower(study, verdict)
    if same and verdict.number("faster", "slower", CANNOT_TELL):
        parts.append(f"as fast, within 0.5 %, in {same:,}")
    if unsure and unsure < len(verdict.found) - missing:
        where = _which(study, verdict, CANNOT_TELL)
        parts.append(f"{CANNOT_TELL} in {unsure:,}{where}: {_unsure_gains(verdict)}")
    parts += _fell_back(study, verdict)
    if none := verdict.number("no collectives"):
        parts.append(f"{none:,} made no collective calls")
    if failed := verdict.number("failed"):
        how = _which(study, verdict, "failed")
        parts.append(f"{failed:,}{how} cannot be compared, as a run failed or was refused")
    if missing:
        parts.append(f"{missing:,} more {'has' if missing == 1 else 'have'} not been run yet")
    return "; ".join(parts) + f"{_not_measured(verdict)}."


def _unsure_gains(verdict: Verdict) -> str:
    """Return the gains whose intervals contain 1, with the interval around them."""
    found = [one for one in verdict.found if one.outcome == CANNOT_TELL]
    return f"{gains(found)} times{within(found)}"


def gains(found: Sequence[ComparedRuns]) -> str:
    """Return the range of some gains."""
    low, high = (format_ratio(end(one.speed_up for one in found)) for end in (min, max))
    return low if low == high else f"{low} to {high}"


def within(found: Sequence[ComparedRuns], form: str = " ({})") -> str:
    """Return the interval around some gains; empty if none has an interval."""
    sure = [one.certainty for one in found if one.certainty]
    return form.format(around(sure)) if sure else ""


def _not_measured(verdict: Verdict) -> str:
    """Return the values outside the measured ranges; the last of those that differ in a number."""
    found = [text for one in verdict.found if one.certainty for text in one.certainty.beyond]
    kinds = {_NUMBERS.sub("#", text): text for text in found}
    return f" ({not_measured(kinds.values())})" if kinds else ""


def _only(study: Study, one: ComparedRuns) -> str:
    """Return the result of a study with a single combination."""
    other = _other(study)
    if one.outcome == CANNOT_TELL:
        times = f"{format_ratio(one.speed_up)} times as fast{_interval(one)}"
        return f": {CANNOT_TELL} whether it is faster than {other}: {times} {_times(one)}"
    if one.outcome == "same":
        return f" is as fast as {other}, within 0.5 % {_times(one)}"
    if one.outcome == "faster":
        how = f"{format_ratio(one.speed_up)} times as fast as {other}{_interval(one)}"
        return f" is {how} {_times(one)}"
    how = f"{format_ratio(1 / one.speed_up)} times as long as {other}{_interval(one)}"
    return f" takes {how} {_times(one)}"


def _interval(one: ComparedRuns) -> str:
    """Return a phrase for the interval of a gain or loss."""
    found = one.certainty
    if found is None:
        return ""
    low, high = found.low, found.high
    if one.outcome == "slower":
        low, high = 1 / high, 1 / low
    return f", {shown(low, high)}{sure_in(found)}"


def sure_in(found: Certainty) -> str:
    """Return a phrase for the fraction of measured cases that an interval covers."""
    if found.basis == CALIBRATION:
        return " within the intervals of the fabric's values"
    return f" in {found.level:.0%} of measured cases".replace("%", " %")


def _other(study: Study) -> str:
    return study.reference.name if study.reference else "the other"


def _subject(study: Study, verdict: Verdict) -> str:
    against = study.reference
    assert against is not None
    if not verdict.values:
        if against.hosts:
            return "Over all programs, fabrics and mechanisms, offloading"
        return f"Any other {against.axis}"
    parts = {"fabric": "on {}", "program": "program {}", OFFLOAD: "{}"}
    said = [
        form.format(verdict.values[key])
        for key, form in parts.items()
        if verdict.values.get(key) and key != against.axis
    ]
    own = verdict.values[against.axis]
    text = ", ".join([*said, own if against.hosts else f"{against.axis} {own}"])
    return text[0].upper() + text[1:]


def _most(study: Study, verdict: Verdict) -> str:
    best = verdict.best
    if best is None:
        return ""
    return (
        f": at most {format_ratio(best.speed_up)} times{_interval(best)},"
        f" {_where(study, best, verdict)}"
        f" {_times(best)}{_as_much(best, verdict)}"
    )


def _as_much(one: ComparedRuns, verdict: Verdict) -> str:
    """Return the number of comparisons of a verdict that tie with its extreme comparison."""
    ties = sum(
        alike(other.speed_up, one.speed_up)
        for other in verdict.found
        if other.outcome == one.outcome and other is not one
    )
    return f", and as much in {ties:,} more" if ties else ""


def _times(one: ComparedRuns) -> str:
    return f"({in_time(one.own_s)} against {in_time(one.other_s)})"


def _where(study: Study, one: ComparedRuns, verdict: Verdict) -> str:
    """Describe a combination by the values that vary within a verdict."""
    keys = group_keys(study)
    own = [] if verdict.values else [_label({key: one.point.get(key, "") for key in keys})]
    names = [
        named_value(axis.name, one.point[axis.name])
        for axis in study.varying
        if axis.name not in (*keys, *REPEATS) and one.point[axis.name]
    ]
    return "for " + ", ".join((*own, *names)) if own or names else "there"


def _slower(study: Study, verdict: Verdict) -> Iterator[str]:
    slower = [one for one in verdict.found if one.outcome == "slower"]
    worst = verdict.worst
    if worst is None:
        return
    compared = [one for one in verdict.found if one.outcome in DECIDED]
    where = pattern(study.varying, slower, compared)
    if len(slower) == len(compared) > 1:
        where = "which is all that could be compared"
    least = f"{format_ratio(1 / worst.speed_up)} times as long as {_short(study)}{_interval(worst)}"
    how = f", {where}" if where else ""
    takes = ": at worst it takes" if len(slower) > 1 else ", where it takes"
    yield (
        f"slower in {len(slower):,}{how}{takes} {least}, {_where(study, worst, verdict)}"
        f" {_times(worst)}{_as_much(worst, verdict)}"
    )


def _fell_back(study: Study, verdict: Verdict) -> Iterator[str]:
    found = [one for one in verdict.found if one.outcome == "fell back"]
    if found:
        reasons = Counter(one.reason for one in found)
        said = " or ".join(REASONS.get(one, one) for one, _ in reasons.most_common(2) if one)
        because = f" because {said}" if said else ""
        more = "" if len(reasons) <= 2 else ", or for other reasons"
        how = _which(study, verdict, "fell back")
        yield f"in {len(found):,}{how} every call fell back to the hosts{because}{more}"
    if partly := sum(one.partly for one in verdict.found):
        yield f"in {partly:,} a part of the calls fell back"


def _which(study: Study, verdict: Verdict, outcome: str) -> str:
    """Return, in parentheses, the common properties of the combinations with this outcome."""
    some = [one for one in verdict.found if one.outcome == outcome]
    where = pattern(study.varying, some, verdict.found)
    return f" ({where})" if where else ""


def _short(study: Study) -> str:
    against = study.reference
    return "the hosts" if against is None or against.hosts else against.value


def _extremes(groups: Sequence[Verdict]) -> Iterator[str]:
    """Yield the groups that are most often and least often faster."""
    rated = [one for one in groups if one.number(*DECIDED, "fell back")]
    if len(rated) < 2:
        return
    rated.sort(key=_share, reverse=True)
    if _share(rated[0]) == _share(rated[-1]):
        return
    for word, one in (("most", rated[0]), ("least", rated[-1])):
        ties = [other for other in rated if _share(other) == _share(one) and other is not one]
        as_often = f"; as often {_listed([_label(other.values) for other in ties])}" if ties else ""
        yield (
            f"Faster {word} often: {_label(one.values)}, in {one.number('faster'):,} of"
            f" {len(one.found):,}{as_often}."
        )


def _listed(names: Sequence[str]) -> str:
    """Return the first names, and the number of the remaining names."""
    more = len(names) - _MOST_NAMES
    return "; ".join(names[:_MOST_NAMES]) + (f"; and {more:,} more" if more > 0 else "")


def _label(values: Mapping[str, str]) -> str:
    named = [f"{key} {value}" for key, value in values.items() if key not in _GROUPS]
    by = f" by {values[OFFLOAD]}" if values.get(OFFLOAD) else ""
    return ", ".join([f"{values['program']} on {values['fabric']}{by}", *named])


def _share(one: Verdict) -> float:
    return one.number("faster") / len(one.found)


# ---- Common properties of combinations -----------------------------------------------------------


def pattern(
    axes: Sequence[Axis], some: Sequence[ComparedRuns], among: Sequence[ComparedRuns]
) -> str:
    """Describe a subset of comparisons by the single axis that characterizes it best."""
    if not 2 <= len(some) < len(among):
        return ""
    rows = {one.row for one in some}
    best, words = 0.0, ""
    for axis in axes:
        if len(axis.values) < 2 or axis.name in REPEATS:
            continue
        for said, values in _conditions(axis):
            inside = [one for one in among if one.point[axis.name] in values]
            if len(inside) == len(among):
                continue  # true of all combinations, so not characteristic
            hit = sum(one.row in rows for one in inside)
            recall, precision = hit / len(rows), hit / max(1, len(inside))
            score = 2 * recall * precision / max(recall + precision, 1e-9)
            if recall >= _MOSTLY and precision >= 0.5 and score > best + 1e-9:
                best = score
                words = f"all {said}" if recall == 1 else f"mostly {said}"
    return words


def _conditions(axis: Axis) -> Iterator[tuple[str, set[str]]]:
    """Yield descriptions of an axis with the values that satisfy them."""
    for value in axis.values:
        yield f"with {named_value(axis.name, value)}", {value}
    if axis.kind == "name":
        return
    for place in range(1, len(axis.values) - 1):
        said = named_value(axis.name, axis.values[place])
        yield f"with {said} or more", set(axis.values[place:])
        yield f"with {said} or less", set(axis.values[: place + 1])
