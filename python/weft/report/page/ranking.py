# SPDX-License-Identifier: LGPL-2.1-only
"""Ranking of a report's fabrics: the fastest, how often each one wins, and ties.

No baseline is needed. Fabrics are compared in combinations that differ only in the fabric. Each
fabric is represented by its fastest offload mode, with the best value of keys that only affect
offloading.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from weft.base.units import plural
from weft.campaign.pairs import FABRIC, OFFLOAD, only_offloads
from weft.report.data.compare import alike
from weft.report.data.study import Study
from weft.report.page.words import in_time

_MOST_PROGRAMS = 3
_MOST_NAMED = 4


def ranked(study: Study) -> list[str]:
    """Return a sentence per program, or one for all; empty if redundant with the headline."""
    fabrics = next((axis.values for axis in study.axes if axis.name == FABRIC), ())
    against = study.reference
    if len(fabrics) < 2 or (len(fabrics) == 2 and against and against.axis == FABRIC):
        return []
    races: dict[str, list[Mapping[str, float]]] = {}
    for program, race in _races(study):
        races.setdefault(program, []).append(race)
    if len(races) > _MOST_PROGRAMS:
        whole = [race for some in races.values() for race in some]
        races = {f"all {len(races)} programs": whole}
    modes = [axis.values for axis in study.axes if axis.name == OFFLOAD and len(axis.values) > 1]
    how = f", each with its fastest mode ({', '.join(modes[0])})" if modes else ""
    return [_sentence(name, fabrics, some, how) for name, some in races.items()]


def _races(study: Study) -> Iterator[tuple[str, Mapping[str, float]]]:
    """Yield programs with the best time per fabric, for combinations run on several fabrics."""
    best: dict[tuple[str, ...], dict[str, float]] = {}
    keys = [
        axis.name
        for axis in study.axes
        if axis.name not in (FABRIC, OFFLOAD) and not only_offloads(axis.name)
    ]
    for number, (row, point) in enumerate(zip(study.records, study.points, strict=True)):
        time_s = row["simulated_time_s"]
        if number not in study.best_rows and row["state"] == "done" and time_s:
            times = best.setdefault(tuple(point[key] for key in keys), {})
            times[point[FABRIC]] = min(time_s, times.get(point[FABRIC], time_s))
    for values, times in best.items():
        if len(times) > 1:
            yield values[keys.index("program")], times


def _sentence(
    name: str, fabrics: Sequence[str], races: Sequence[Mapping[str, float]], how: str
) -> str:
    if len(races) == 1:
        order = sorted(races[0].items(), key=lambda item: item[1])
        tie = ", a tie within 0.5 %" if alike(order[0][1], order[1][1]) else ""
        times = ", ".join(f"{one} ({in_time(time_s)})" for one, time_s in order)
        return f"The fastest fabric for {name}{how}: {times}{tie}."
    wins: Counter[str] = Counter()
    ties: Counter[tuple[str, ...]] = Counter()
    for race in races:
        least = min(race.values())
        first = tuple(one for one in fabrics if one in race and alike(race[one], least))
        if len(first) == 1:
            wins[first[0]] += 1
        else:
            ties[first] += 1
    total = plural(len(races), "combination")
    said = [f"{one} in {number:,}" for one, number in wins.most_common(_MOST_NAMED)]
    if len(wins) > _MOST_NAMED:
        others = sum(wins.values()) - sum(number for _, number in wins.most_common(_MOST_NAMED))
        said.append(f"others in {others:,}")
    for tied, number in ties.most_common(_MOST_NAMED):
        said.append(f"{_together(tied)} tie, within 0.5 %, in {number:,}")
    if more := sum(ties.values()) - sum(number for _, number in ties.most_common(_MOST_NAMED)):
        said.append(f"others tie in {more:,}")
    seen = {*wins, *(one for tied in ties for one in tied)}
    never = [one for one in fabrics if one not in seen]
    if never:
        said.append(f"never {_together(never, 'or')}")
    return f"The fastest fabric for {name}{how}, of {total}: {'; '.join(said)}."


def _together(names: Sequence[str], word: str = "and") -> str:
    more = len(names) - _MOST_NAMED
    *others, last = [*names[:_MOST_NAMED], *([f"{more} more"] if more > 0 else [])]
    return f"{', '.join(others)} {word} {last}" if others else last
