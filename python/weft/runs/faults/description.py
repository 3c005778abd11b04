# SPDX-License-Identifier: LGPL-2.1-only
"""Events of a fault file on a fabric, as libweft.so reads them."""

import json
import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from itertools import permutations
from math import inf, isinf, prod
from pathlib import Path
from typing import Any, NoReturn

from weft import _core
from weft.base.errors import suggestion
from weft.runs.faults.changes import changed
from weft.runs.faults.file import (
    DOWN,
    LOSSY,
    NO_STATE,
    REPAIRED,
    SLOW,
    STATE,
    STILL,
    Fault,
    FaultFile,
    RecoveryOptions,
    of_tables,
    read,
    read_recovery,
)
from weft.runs.faults.presets import HOST, LINK, NIC
from weft.runs.faults.retries import gives_up_first, retry_span_s

_DIRECTIONS = ("up", "down")
_MOST_EVENTS = 200_000
_GPU_CLUSTER = "gpu_cluster"
"""Kind of topology whose hosts are GPUs of nodes."""


@dataclass(frozen=True, kw_only=True)
class Event:
    """Changes of a fabric at one instant."""

    at_s: float
    what: str
    """Names what changes, for users."""
    changes: tuple[dict[str, Any], ...]
    without_state: int | None = None
    """Switch that loses its state."""
    dead_hosts: tuple[int, ...] = ()
    """Hosts whose ranks die."""
    repaired_hosts: tuple[int, ...] = ()
    """Hosts of which a fault is over."""
    begins: bool = True
    """False for a repair."""


@dataclass(frozen=True)
class PreparedFaults:
    """Faults that have passed all checks."""

    file: str
    changes: Sequence[str]
    """Keys of the file that have other values, TABLE.KEY=VALUE each."""
    recovery: RecoveryOptions
    events: tuple[Event, ...]
    """By time."""
    per_day: float | None = None
    """Failures per day at the real rates; None if the file does not say how often some happen."""
    longest_outage_s: float = 0.0
    """Longest time that a link or switch is down; infinite without a repair."""

    @property
    def warning(self) -> str:
        """Warning about failures that outlast the retries of senders; empty if there are none."""
        recovery = self.recovery
        span_s = retry_span_s(recovery.timeout_s, recovery.backoff, recovery.retries)
        if self.longest_outage_s <= span_s:
            return ""
        found = gives_up_first(span_s, recovery.detection_s, recovery.convergence_s)
        return f"{self.file}: {found}" if found else ""


@dataclass(frozen=True)
class _Place:
    """A link, a switch, or a host or its NIC with its cables."""

    name: str
    links: tuple[int, ...] = ()
    switch: int | None = None
    host: int | None = None


_Found = tuple[Fault, list[_Place]]
"""A fault, and the devices that it names on a fabric."""


@dataclass(frozen=True)
class _Half:
    """Begin or end of a fault."""

    at_s: float
    fault: Fault
    place: _Place
    over: bool


def prepare(path: Path, changes: Sequence[str], fabric: _core.Fabric) -> PreparedFaults:
    """Read a fault file, change some keys, and make its events.

    Raises:
        WeftError: The file or a change is wrong, or names what the fabric does not have.
    """
    file = of_tables(changed(read(path), changes))
    found = list(_Finder(fabric).all_places(file.faults))
    events = tuple(_events(file, found))
    return PreparedFaults(
        str(path), changes, file.recovery, events, _per_day(found), _longest_outage_s(found)
    )


def prepare_platform(path: Path, changes: Sequence[str]) -> PreparedFaults:
    """Read the fault file of a run on a SimGrid platform, whose profiles are the faults.

    Raises:
        WeftError: The file or a change is wrong, or has what a platform does not support.
    """
    recovery = read_recovery(changed(read(path), changes))
    return PreparedFaults(str(path), changes, recovery, ())


def describe(faults: PreparedFaults) -> str:
    """Return the description that libweft.so reads."""
    rows = []
    for event in faults.events:
        row = {"at_s": event.at_s, "what": event.what, "changes": event.changes}
        if event.without_state is not None:
            row["without_state"] = event.without_state
        if event.dead_hosts:
            row["dead_hosts"] = event.dead_hosts
        if event.repaired_hosts:
            row["repaired_hosts"] = event.repaired_hosts
        rows.append(row)
    return json.dumps({"recovery": asdict(faults.recovery), "events": rows})


def _per_day(found: Sequence[_Found]) -> float | None:
    """Return how many of all faults begin in a day on average."""
    total = 0.0
    for fault, places in found:
        if fault.per_day is None:
            return None
        total += len(places) * fault.per_day
    return total


def _longest_outage_s(found: Sequence[_Found]) -> float:
    """Return the longest time that a link or switch is down; a failed host ends its job anyway."""
    return max(
        (
            inf if until is None else until - at
            for fault, places in found
            if fault.kind == DOWN and fault.place != HOST
            for number in range(len(places))
            for at, until in _times(fault, number)
        ),
        default=0.0,
    )


def _events(file: FaultFile, found: Sequence[_Found]) -> list[Event]:
    halves: list[_Half] = []
    for fault, places in found:
        for number, place in enumerate(places):
            for at, until in _times(fault, number):
                halves.append(_Half(at, fault, place, over=False))
                if until is not None:
                    halves.append(_Half(until, fault, place, over=True))
                if len(halves) > _MOST_EVENTS:
                    fault.table.fail(
                        fault.cause,
                        f"the file has more than {_MOST_EVENTS:,} events; name less, or an earlier"
                        " end",
                    )
    halves.sort(key=lambda half: half.at_s)
    events = list(_named(halves))
    _refuse_contradictions(file, events)
    return events


def _named(halves: Sequence[_Half]) -> Iterator[Event]:
    """Yield the events of beginnings and ends in order, with the faults in force afterwards."""
    in_force: dict[tuple[str, str, str], list[Fault]] = defaultdict(list)
    for half in halves:
        fault, place = half.fault, half.place
        name = f"{fault.place} {place.name}"
        if fault.kind == STATE:
            what = f"{name} {NO_STATE}"
            yield Event(at_s=half.at_s, what=what, changes=(), without_state=place.switch)
            continue
        faults = in_force[fault.kind, fault.place, place.name]
        before = _said(fault.kind, faults)
        if half.over:
            faults.remove(fault)
        else:
            faults.append(fault)
        said = _said(fault.kind, faults)
        host = (place.host,) if place.host is not None and fault.place == HOST else ()
        yield Event(
            at_s=half.at_s,
            what=f"{name} {STILL if said == before else ''}{said}",
            changes=_changes(fault, place, over=half.over),
            dead_hosts=() if half.over else host,
            repaired_hosts=host if half.over else (),
            begins=not half.over,
        )


def _said(kind: str, faults: Sequence[Fault]) -> str:
    """Return the state of a link, switch or host under the faults of one kind in force."""
    if not faults:
        return REPAIRED[kind]
    if kind == SLOW:
        return f"has {min(fault.factor for fault in faults):.3g} of its bandwidth"
    if kind == LOSSY:
        lost = 1 - prod(1 - fault.loss for fault in faults)
        return f"loses {lost:.3g} of the packets"
    return DOWN


def _times(fault: Fault, number: int) -> Iterator[tuple[float, float | None]]:
    """Yield the times of the faults of one device, and of their repairs."""
    process = fault.process
    if process is None:
        yield fault.at_s, fault.until_s
        return
    if isinf(process.mtbf_s):
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


def _changes(fault: Fault, place: _Place, *, over: bool) -> tuple[dict[str, Any], ...]:
    """Return the beginnings or the ends of a fault, of each link or switch."""
    if place.switch is not None:
        return ({"switch": place.switch, "over": over},)
    change: dict[str, Any] = {"over": over}
    if fault.kind == SLOW:
        change["factor"] = fault.factor
    elif fault.kind == LOSSY:
        change["loss"] = fault.loss
    return tuple({"link": link, **change} for link in place.links)


def _refuse_contradictions(file: FaultFile, events: Sequence[Event]) -> None:
    """Refuse two events of one link or switch at one instant, of which one repairs it."""
    seen: dict[tuple[float, str, int], set[bool]] = defaultdict(set)
    for event in events:
        for change in event.changes:
            if "factor" in change or "loss" in change:
                continue
            what = "switch" if "switch" in change else "link"
            key = (event.at_s, what, change[what])
            seen[key].add(change["over"])
            if len(seen[key]) > 1:
                file.faults[0].table.fail(
                    "at", f"at {event.at_s:g} s, another table contradicts: {event.what}"
                )


def _node(name: str) -> str:
    """Return the node of a part of a cluster of GPUs, which is named NODE.PART."""
    return name.rpartition(".")[0]


class _Finder:
    """Finds links, switches and hosts of a fabric by name or pattern."""

    def __init__(self, fabric: _core.Fabric) -> None:
        self._fabric = fabric
        self._cables: dict[str, tuple[int, ...]] = {}
        self._links: dict[str, tuple[int, ...]] = {}
        self._of_vertex: dict[int, list[int]] = defaultdict(list)
        """Links of the cables of each host and switch."""
        self._of_hosts: set[int] = set()
        """Links between hosts or their nodes and the network."""
        self._leaves: set[int] = set()
        """Switches with such a link."""
        hosts = len(fabric.hosts)
        names = [*fabric.hosts, *(one["name"] for one in fabric.switches)]
        of_gpus = fabric.topology == _GPU_CLUSTER
        nodes = {_node(name) if of_gpus else name for name in fabric.hosts}
        found = (_node(name) if of_gpus else name for name in names)
        self._nodes = [node if node in nodes else None for node in found]
        """Node of each host and switch: the host itself, unless it is a GPU; None: no node's."""
        nics: dict[int, set[int]] = defaultdict(set)
        for number, cable in enumerate(fabric.cables()):
            both = (2 * number, 2 * number + 1)
            self._cables[cable["name"]] = both
            for link, direction in zip(both, _DIRECTIONS, strict=True):
                self._links[f"{cable['name']}.{direction}"] = (link,)
            for end, other in permutations((cable["lower"], cable["upper"])):
                self._of_vertex[end].extend(both)
                if self._nodes[end] not in (None, self._nodes[other]):
                    self._of_hosts.update(both)
                    self._leaves.add(other - hosts)
                if of_gpus and end < hosts and ".nic-" in names[other]:
                    nics[end].add(other)
        self._of_nic: Mapping[int, Sequence[int]] = self._of_vertex
        if of_gpus:
            self._of_nic = {
                gpu: [link for nic in sorted(its) for link in self._of_vertex[nic]]
                for gpu, its in nics.items()
            }

    def all_places(self, faults: Sequence[Fault]) -> Iterator[_Found]:
        """Yield what faults name; refuse a table that names nothing."""
        found = [(fault, self._places(fault)) for fault in faults]
        reached = {id(fault.table) for fault, places in found if places}
        for fault, places in found:
            if id(fault.table) not in reached:
                self._refuse(fault)
            yield fault, places

    def _places(self, fault: Fault) -> list[_Place]:
        """Return the devices that a fault names."""
        if fault.place == "switch":
            return [
                _Place(name, switch=number)
                for number, name in enumerate(self._names(fault))
                if fnmatchcase(name, fault.pattern)
                and fault.hosts in (None, number in self._leaves)
                and self._is_meant(fault, number)
            ]
        if fault.place in (NIC, HOST):
            cables = self._of_nic if fault.place == NIC else self._of_vertex
            return [
                _Place(name, tuple(cables[number]), host=number)
                for number, name in enumerate(self._names(fault))
                if fnmatchcase(name, fault.pattern) and number in cables
            ]
        found = self._matching(self._cables, fault.pattern)
        found = found or self._matching(self._links, fault.pattern)
        return [one for one in found if not fault.hosts or one.links[0] in self._of_hosts]

    def _is_meant(self, fault: Fault, switch: int) -> bool:
        """Return false for a switch inside a node, which published rates are not of."""
        return fault.cause != "rates" or self._nodes[len(self._fabric.hosts) + switch] is None

    def _names(self, fault: Fault) -> list[str]:
        """Return the names of all switches, hosts or cables."""
        if fault.place == "switch":
            return [one["name"] for one in self._fabric.switches]
        return list(self._cables) if fault.place == LINK else list(self._fabric.hosts)

    def _refuse(self, fault: Fault) -> NoReturn:
        if fault.place not in fault.table.values:
            fault.table.fail(fault.cause, f"fabric {self._fabric.name} has none of its parts")
        what = HOST if fault.place == NIC else fault.place
        fault.table.fail(
            fault.place,
            f"found {fault.pattern!r}, which is no {what} of fabric {self._fabric.name}"
            f"{' that it has a rate of' if fault.cause == 'rates' else ''};"
            f" {suggestion(fault.pattern, self._names(fault))}",
        )

    @staticmethod
    def _matching(named: dict[str, tuple[int, ...]], pattern: str) -> list[_Place]:
        return [_Place(name, links) for name, links in named.items() if fnmatchcase(name, pattern)]
