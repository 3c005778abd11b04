# SPDX-License-Identifier: LGPL-2.1-only
"""Training iterations on a page: sentences, sections and data."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from weft.base.units import format_ratio, plural
from weft.campaign.file.keys import COLLECTIVES
from weft.campaign.pairs import Point
from weft.report.data.compare import alike
from weft.report.data.study import ComparedRuns, Study
from weft.report.page.words import in_percent, in_time, named_value
from weft.training.variants import MULTICAST, NOT_NCCL

_OUTSIDE = ("program", "fabric", "ranks", COLLECTIVES)
_MOST_PARTS = 3


def trains(study: Study) -> list[bool]:
    """Return true for each combination that is a training iteration."""
    return [point["program"] in study.iterations.models for point in study.points]


def compares_collectives(study: Study) -> bool:
    """Return true if the baseline is a choice of the devices that reduce and copy."""
    return study.reference is not None and study.reference.axis == COLLECTIVES


def answers(study: Study) -> Iterator[str]:
    """Yield a sentence for each model, fabric and choice compared with the baseline."""
    groups: dict[tuple[str, ...], list[ComparedRuns]] = {}
    for one in study.compared:
        keys = (one.point[COLLECTIVES], one.point["program"], one.point.get("fabric", ""))
        groups.setdefault(keys, []).append(one)
    for (name, program, fabric), found in sorted(groups.items(), key=lambda one: -_most(one[1])):
        yield _answer(study, name, _iteration_of(study, program), fabric, found)
    if any(name == MULTICAST for name, _, _ in groups):
        yield NOT_NCCL


def _most(found: Sequence[ComparedRuns]) -> float:
    return max((one.speed_up for one in found if one.own_s and one.other_s), default=0.0)


def _iteration_of(study: Study, program: str) -> str:
    return f"an iteration of {study.iterations.models.get(program, program)}"


def _answer(
    study: Study, name: str, iteration: str, fabric: str, found: Sequence[ComparedRuns]
) -> str:
    """Return the largest speed-up of an iteration, and the smallest if below 1."""
    timed = [one for one in found if one.own_s and one.other_s]
    several = len({point["fabric"] for point in study.points}) > 1
    where = f" on {fabric}" if several else ""
    if not timed:
        missing = all(one.outcome == "missing" for one in found)
        why = "has not been run yet" if missing else "failed or was refused"
        return f"{name}: {iteration}{where} {why}, or its baseline."
    best = max(timed, key=lambda one: one.speed_up)
    worst = min(timed, key=lambda one: one.speed_up)
    said = f"{name}: {_factor(best)} {iteration}{_size(best.point)}{where} as {_base(study)}"
    said += f" {_times(best)}"
    if len(timed) == 1:
        return f"{said}."
    said += _settings(study, best.point)
    slower = sum(one.outcome == "slower" for one in timed)
    if worst is not best:
        count = f"slower in {slower:,} of {len(timed):,}, " if slower else ""
        said += f"; {count}at worst {_factor(worst)}{_size(worst.point)} {_times(worst)}"
        said += _settings(study, worst.point)
    return f"{said}."


def _factor(one: ComparedRuns) -> str:
    if alike(one.other_s, one.own_s):
        return "as fast"
    return f"{format_ratio(one.speed_up)} times as fast"


def _size(point: Point) -> str:
    return f" on {plural(int(point['ranks']), 'GPU')}"


def _times(one: ComparedRuns) -> str:
    return f"({in_time(one.own_s)} against {in_time(one.other_s)})"


def _base(study: Study) -> str:
    return study.reference.value if study.reference else ""


def _settings(study: Study, point: Point) -> str:
    names = [
        named_value(axis.name, point[axis.name])
        for axis in study.varying
        if axis.name not in _OUTSIDE and point[axis.name]
    ]
    return f" with {', '.join(names)}" if names else ""


def described(study: Study) -> Iterator[str]:
    """Yield the time of the fastest iteration of each model, and its bottleneck."""
    best: dict[str, int] = {}
    for row, (point, record) in enumerate(zip(study.points, study.records, strict=True)):
        time_s = record["simulated_time_s"]
        if point["program"] not in study.iterations.models or record["state"] != "done":
            continue
        other = best.get(point["program"])
        if other is None or time_s < study.records[other]["simulated_time_s"]:
            best[point["program"]] = row
    for program, row in best.items():
        yield _described(study, program, row)


def _described(study: Study, program: str, row: int) -> str:
    record, point = study.records[row], study.points[row]
    time_s = record["simulated_time_s"]
    several = sum(one["program"] == program for one in study.points) > 1
    fastest = "The fastest iteration" if several else "An iteration"
    name = study.iterations.models.get(program, program)
    chosen = point.get(COLLECTIVES, "")
    how = f" by {chosen}" if chosen else ""
    parts = study.iterations.parts.get(record["run"], {})
    largest = sorted(parts.items(), key=lambda one: -one[1])[:_MOST_PARTS]
    shares = ", ".join(f"{part} {in_percent(value / time_s)}" for part, value in largest)
    limit = record["limiting_links"]
    if limit:
        shares += f"; {limit} links limit {in_percent(record['limited_s'] / time_s)} of it"
    mfu = "" if record["mfu"] is None else f", MFU {in_percent(record['mfu'], 1)}"
    return (
        f"{fastest} of {name}{_size(point)} takes {in_time(time_s)}{how}"
        f"{_settings(study, point) if several else ''}: {shares}{mfu}."
    )


def payload(study: Study) -> dict[str, Any] | None:
    """Return the data of the sections' charts; None for a study without training iterations."""
    if not study.iterations.models:
        return None
    names = list(dict.fromkeys(_merged(study)))
    return {
        "only": study.only_trains,
        "parts": names,
        "times": [_row_of(study, record["run"], names) for record in study.records],
        "pictures": {
            row: {
                "names": one.names,
                "ranks": [[rank.rank, rank.columns] for rank in one.ranks],
            }
            for row, record in enumerate(study.records)
            if (one := study.iterations.pictures.get(record["run"]))
        },
    }


_ORDER = ("computation", "exposed", "waiting", "idle")


def _merged(study: Study) -> list[str]:
    """Return the time breakdown of each run, in order; all kinds of waiting are combined."""
    found = {_name(part) for parts in study.iterations.parts.values() for part in parts}
    return sorted(found, key=lambda part: (_ORDER.index(part.split()[0]), part))


def _name(part: str) -> str:
    return "waiting" if part.startswith("waiting") else part


def _row_of(study: Study, run: str, names: Sequence[str]) -> list[float] | None:
    parts: Mapping[str, float] | None = study.iterations.parts.get(run)
    if parts is None:
        return None
    found = dict.fromkeys(names, 0.0)
    for part, value in parts.items():
        found[_name(part)] += value
    return [float(f"{value:.6g}") for value in found.values()]
