# SPDX-License-Identifier: LGPL-2.1-only
"""Events of a fault file on a fabric, as libweft.so reads them."""

import json
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from weft import _core
from weft.base.errors import suggestion
from weft.runs.faults.file import (
    SLOW,
    STATE,
    Fault,
    FaultFile,
    RecoveryOptions,
    read,
    read_recovery,
)

_DIRECTIONS = ("up", "down")
_MOST_EVENTS = 200_000


@dataclass(frozen=True, kw_only=True)
class Event:
    """Changes of a fabric at one instant."""

    at_s: float
    what: str
    """Names what changes, for users."""
    changes: tuple[dict[str, Any], ...]
    without_state: int | None = None
    """Switch that loses its state."""


@dataclass(frozen=True)
class PreparedFaults:
    """Faults that have passed all checks."""

    recovery: RecoveryOptions
    events: tuple[Event, ...]
    """By time."""


@dataclass(frozen=True)
class _Place:
    """A link, a switch, or a host with its cables."""

    name: str
    links: tuple[int, ...] = ()
    switch: int | None = None


def prepare(path: Path, fabric: _core.Fabric) -> PreparedFaults:
    """Read a fault file, and make its events.

    Raises:
        WeftError: The file is wrong, or names what the fabric does not have.
    """
    file = read(path)
    return PreparedFaults(file.recovery, tuple(_events(file, fabric)))


def prepare_platform(path: Path) -> PreparedFaults:
    """Read the fault file of a run on a SimGrid platform, whose profiles are the faults.

    Raises:
        WeftError: The file is wrong, or has what a platform does not support.
    """
    return PreparedFaults(read_recovery(path), ())


def describe(faults: PreparedFaults) -> str:
    """Return the description that libweft.so reads."""
    rows = []
    for event in faults.events:
        row = {"at_s": event.at_s, "what": event.what, "changes": event.changes}
        if event.without_state is not None:
            row["without_state"] = event.without_state
        rows.append(row)
    return json.dumps({"recovery": asdict(faults.recovery), "events": rows})


def _events(file: FaultFile, fabric: _core.Fabric) -> list[Event]:
    finder = _Finder(fabric)
    events: list[Event] = []
    for fault in file.faults:
        places = finder.places(fault)
        for number, place in enumerate(places):
            for at, until in _times(fault, number):
                events.append(_begin(fault, place, at))
                if until is not None:
                    events.append(_end(fault, place, until))
                if len(events) > _MOST_EVENTS:
                    fault.table.fail(
                        "mtbf" if fault.process else fault.place,
                        f"the file has more than {_MOST_EVENTS:,} events; name less, or an earlier"
                        " end",
                    )
    events.sort(key=lambda event: event.at_s)
    _refuse_contradictions(file, events)
    return events


def _times(fault: Fault, number: int) -> Iterator[tuple[float, float | None]]:
    """Yield the times of the faults of one place, and of their repairs."""
    process = fault.process
    if process is None:
        yield fault.at_s, fault.until_s
        return
    draw = random.Random(f"{process.seed} {fault.number} {number}")
    now = process.start_s
    while True:
        now += draw.expovariate(1 / process.mtbf_s)
        if now > process.end_s:
            return
        if fault.kind == STATE:
            yield now, None
            continue
        repaired = now + (draw.expovariate(1 / process.repair_s) if process.repair_s > 0 else 0.0)
        yield now, repaired
        now = repaired


def _begin(fault: Fault, place: _Place, at: float) -> Event:
    if fault.kind == STATE:
        what = f"switch {place.name} loses its state"
        return Event(at_s=at, what=what, changes=(), without_state=place.switch)
    if fault.kind == SLOW:
        what = f"{fault.place} {place.name} has {fault.factor:.3g} of its bandwidth"
        return Event(at_s=at, what=what, changes=_slow(place, fault.factor))
    return Event(at_s=at, what=f"{fault.place} {place.name} down", changes=_set(place, up=False))


def _end(fault: Fault, place: _Place, at: float) -> Event:
    changes = _slow(place, 1.0) if fault.kind == SLOW else _set(place, up=True)
    return Event(at_s=at, what=f"{fault.place} {place.name} up", changes=changes)


def _slow(place: _Place, factor: float) -> tuple[dict[str, Any], ...]:
    return tuple({"link": link, "factor": factor} for link in place.links)


def _set(place: _Place, *, up: bool) -> tuple[dict[str, Any], ...]:
    if place.switch is not None:
        return ({"switch": place.switch, "up": up},)
    return tuple({"link": link, "up": up} for link in place.links)


def _refuse_contradictions(file: FaultFile, events: Sequence[Event]) -> None:
    """Refuse two events of one link or switch at one instant, of which one repairs it."""
    seen: dict[tuple[float, str, int], set[bool]] = defaultdict(set)
    for event in events:
        for change in event.changes:
            if "factor" in change:
                continue
            what = "switch" if "switch" in change else "link"
            key = (event.at_s, what, change[what])
            seen[key].add(change["up"])
            if len(seen[key]) > 1:
                file.faults[0].table.fail(
                    "at", f"at {event.at_s:g} s, another table contradicts: {event.what}"
                )


class _Finder:
    """Finds links, switches and hosts of a fabric by name or pattern."""

    def __init__(self, fabric: _core.Fabric) -> None:
        self._fabric = fabric
        self._cables: dict[str, tuple[int, ...]] = {}
        self._links: dict[str, tuple[int, ...]] = {}
        self._of_host: dict[int, list[int]] = defaultdict(list)
        hosts = len(fabric.hosts)
        for number, cable in enumerate(fabric.cables()):
            both = (2 * number, 2 * number + 1)
            self._cables[cable["name"]] = both
            for link, direction in zip(both, _DIRECTIONS, strict=True):
                self._links[f"{cable['name']}.{direction}"] = (link,)
            for end in (cable["lower"], cable["upper"]):
                if end < hosts:
                    self._of_host[end].extend(both)

    def places(self, fault: Fault) -> list[_Place]:
        """Return what a fault names."""
        if fault.place == "switch":
            names = [one["name"] for one in self._fabric.switches]
            found = [
                _Place(name, switch=number)
                for number, name in enumerate(names)
                if fnmatchcase(name, fault.pattern)
            ]
        elif fault.place == "host":
            names = list(self._fabric.hosts)
            found = [
                _Place(name, tuple(self._of_host[number]))
                for number, name in enumerate(names)
                if fnmatchcase(name, fault.pattern)
            ]
        else:
            names = list(self._cables)
            found = self._matching(self._cables, fault.pattern) or self._matching(
                self._links, fault.pattern
            )
        if not found:
            fault.table.fail(
                fault.place,
                f"found {fault.pattern!r}, which is no {fault.place} of fabric"
                f" {self._fabric.name}; {suggestion(fault.pattern, names)}",
            )
        return found

    @staticmethod
    def _matching(named: dict[str, tuple[int, ...]], pattern: str) -> list[_Place]:
        return [_Place(name, links) for name, links in named.items() if fnmatchcase(name, pattern)]
