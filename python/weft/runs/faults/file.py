# SPDX-License-Identifier: LGPL-2.1-only
"""Fault files: links, switches and hosts that fail while a program runs.

    [recovery]
    timeout = "67ms"
    collectives = "rebuild"

    [[fault]]
    link = "level1-000--level2-001"
    at = "1ms"
    until = "5ms"

    [[fault]]
    switch = "level2-*"
    mtbf = "10s"
    repair = "100ms"
    end = "60s"

docs/faults.md describes the keys, from the tables below.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weft.base.errors import WeftError
from weft.base.options import Entry, Options, parse
from weft.base.user_files import UnreadableError, read_text

PLACES = ("link", "switch", "host")
DOWN, SLOW, STATE = "down", "slow", "state"

KINDS: Mapping[str, str] = {
    DOWN: "it forwards nothing",
    SLOW: "a link has only a part of its bandwidth",
    STATE: "a switch loses what it has aggregated, and goes on",
}
"""Kinds of faults, with their meanings."""

POLICIES: Mapping[str, str] = {
    "resend": "it goes on from its last complete window once its tree is up again",
    "rebuild": "it is repeated over a new tree, or by the hosts if there is none",
    "hosts": "the hosts repeat it with their own algorithm",
    "abort": "its job ends",
}
"""Reactions of a collective in the network, with their meanings."""

FAULT: Mapping[str, str] = {
    "link": "Link that fails: a cable for both directions, one direction of it such as"
    ' `"host-3.up"`, or a pattern with `*` and `?`',
    "switch": "Switch that fails, or a pattern",
    "host": "Host whose cables all fail, as with its NIC, or a pattern",
    "kind": "What happens. "
    + "; ".join(f'`"{name}"`: {what}' for name, what in KINDS.items())
    + f'; `"{DOWN}"` by default',
    "at": "Simulated time of the fault; this or `mtbf` is required",
    "until": "Simulated time of the repair; by default never",
    "bandwidth": 'Part of the bandwidth that is left, such as `"25%"`; only of `slow`, required',
    "mtbf": "Mean time between failures of each link, switch or host that is named, instead of"
    " `at`: faults at random, with exponential times",
    "repair": "Mean time to repair, exponential too; required with `mtbf`, except for `state`",
    "start": "Simulated time at which faults at random begin; 0 by default",
    "end": "Simulated time of the last one; required with `mtbf`",
    "seed": "Seed of faults at random; 1 by default",
}
"""Keys of [[fault]]."""

RECOVERY: Mapping[str, str] = {
    "detection": "Time from a fault or a repair until the switches next to it notice; `900ms` by"
    " default, three missed BFD packets at the usual interval of 300 ms",
    "convergence": "Time from then until all routes avoid what is down, or use again what is up;"
    " 0 by default: each switch knows other ways",
    "timeout": "Time without acknowledgement after which a sender sends the rest again;"
    " `4.294967296s` by default, as NCCL sets it (4.096 us times 2^20)",
    "retries": "Times that a sender tries again before it gives up; 7 by default, as NCCL sets it",
    "collectives": "What happens to a collective in the network when its tree is hit. "
    + "; ".join(f'`"{name}"`: {what}' for name, what in POLICIES.items())
    + '; `"hosts"` by default',
}
"""Keys of [recovery]."""

_ROUTING_KEYS: Mapping[str, str] = {
    "detection": "routes do not change",
    "convergence": "routes do not change",
    "collectives": "collectives in the network resume as messages do",
}
"""Keys of [recovery] that SimGrid platforms have no use for."""

_TIMED = ("at", "until")
_RANDOM = ("mtbf", "repair", "start", "end", "seed")
_NANOSECOND = 1e-9
_ZERO = re.compile(r"0+(\.0*)? ?([pnum]?s|m)?")
_MOST_TABLES = 100_000
_MOST_SEED = 2**31 - 1


@dataclass(frozen=True, kw_only=True)
class Process:
    """Faults at random of each place."""

    mtbf_s: float
    repair_s: float
    start_s: float
    end_s: float
    seed: int


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One table of a fault file; its pattern has not been compared with a fabric."""

    table: Entry
    number: int
    """Place of the table in the file, from 1."""
    place: str
    pattern: str
    kind: str
    factor: float
    """Part of the bandwidth that is left."""
    at_s: float = 0.0
    until_s: float | None = None
    process: Process | None = None


@dataclass(frozen=True, kw_only=True)
class RecoveryOptions:
    """The table [recovery]."""

    detection_s: float
    convergence_s: float
    timeout_s: float
    retries: int
    collectives: str


@dataclass(frozen=True)
class FaultFile:
    """A fault file."""

    recovery: RecoveryOptions
    faults: tuple[Fault, ...]


def read(path: Path) -> FaultFile:
    """Read a fault file. Raises `WeftError`."""
    top = _parse(path)
    top.allow("recovery", "fault")
    tables = list(top.parts("fault"))
    if not tables:
        top.fail("fault", "is missing; write a table [[fault]] for each fault")
    if len(tables) > _MOST_TABLES:
        top.fail("fault", f"found {len(tables):,} tables; allowed are at most {_MOST_TABLES:,}")
    faults = tuple(_fault(one, number) for number, one in enumerate(tables, 1))
    return FaultFile(_recovery(_recovery_table(top)), faults)


def read_recovery(path: Path) -> RecoveryOptions:
    """Read the fault file of a SimGrid platform, which has [recovery] only. Raises `WeftError`."""
    top = _parse(path)
    if "fault" in top.values:
        top.fail(
            "fault",
            "found with --platform; what fails on a SimGrid platform is what its profiles turn"
            " off, such as state_file of a link; leave out [[fault]]",
        )
    top.allow("recovery")
    table = _recovery_table(top)
    for key, why in _ROUTING_KEYS.items():
        if key in table.values:
            table.fail(key, f"found with --platform, where {why}; leave it out")
    return _recovery(table)


def _parse(path: Path) -> Options:
    try:
        return parse(read_text(path), str(path))
    except UnreadableError as error:
        raise WeftError(f"{path}: {error}") from None


def _recovery_table(top: Options) -> Options:
    return top.part("recovery") if "recovery" in top.values else Options(top.source, "", {})


def _recovery(table: Options) -> RecoveryOptions:
    table.allow(*RECOVERY)
    timeout = _time(table, "timeout", 4.096e-6 * 2**20)
    if timeout <= 0:
        table.fail("timeout", f"found {table.values['timeout']!r}; write a duration above zero")
    return RecoveryOptions(
        detection_s=_time(table, "detection", 0.9),
        convergence_s=_time(table, "convergence", 0.0),
        timeout_s=timeout,
        retries=table.integer("retries", 0, 1_000_000, 7),
        collectives=table.choice("collectives", tuple(POLICIES), "hosts"),
    )


def _fault(found: Options, number: int) -> Fault:
    table = Entry(found.source, f"number {number}", found.values, "fault")
    table.allow(*FAULT)
    named = [key for key in PLACES if key in table.values]
    if len(named) != 1:
        several = " and ".join(named) or "none"
        table.fail(
            named[-1] if named else "link", f"write one of link, switch, host; found {several}"
        )
    place = named[0]
    kind = table.choice("kind", tuple(KINDS), DOWN)
    if kind == SLOW and place == "switch":
        table.fail("kind", f'found "{SLOW}"; only links and hosts can be slow')
    if kind == STATE and place != "switch":
        table.fail("kind", f'found "{STATE}"; only switches have such a state')
    if ("bandwidth" in table.values) != (kind == SLOW):
        table.fail(
            "bandwidth",
            f'belongs to kind = "{SLOW}"'
            + (", which requires it" if kind == SLOW else "; leave it out"),
        )
    common: dict[str, Any] = {
        "table": table,
        "number": number,
        "place": place,
        "pattern": table.text(place),
        "kind": kind,
        "factor": _part(table) if kind == SLOW else 0.0,
    }
    if "mtbf" in table.values:
        return Fault(**common, process=_process(table, kind))
    for key in _RANDOM:
        if key in table.values:
            table.fail(key, "is a key of faults at random; write mtbf, or leave it out")
    table.need("at")
    at = _time(table, "at", 0.0)
    until = _time(table, "until", 0.0) if "until" in table.values else None
    if until is not None and kind == STATE:
        table.fail("until", f'does not belong to kind = "{STATE}"; leave it out')
    if until is not None and until <= at:
        table.fail("until", f"found {table.values['until']!r}, which is not after the fault")
    return Fault(**common, at_s=at, until_s=until)


def _process(table: Entry, kind: str) -> Process:
    for key in _TIMED:
        if key in table.values:
            table.fail(key, "found together with mtbf; write one of both")
    if kind == STATE and "repair" in table.values:
        table.fail("repair", f'does not belong to kind = "{STATE}"; leave it out')
    if kind != STATE:
        table.need("repair")
    table.need("end")
    process = Process(
        mtbf_s=_time(table, "mtbf", 0.0),
        repair_s=_time(table, "repair", 0.0),
        start_s=_time(table, "start", 0.0),
        end_s=_time(table, "end", 0.0),
        seed=table.integer("seed", 0, _MOST_SEED, 1),
    )
    if process.mtbf_s <= 0:
        table.fail("mtbf", f"found {table.values['mtbf']!r}; write a duration above zero")
    if process.end_s <= process.start_s:
        table.fail("end", f"found {table.values['end']!r}, which is not after the start")
    return process


def _part(table: Entry) -> float:
    value = table.values["bandwidth"]
    try:
        part = float(value.removesuffix("%")) / 100 if value.endswith("%") else 0.0
    except (AttributeError, ValueError):
        part = 0.0
    if not 0 < part < 1:
        table.fail("bandwidth", f'found {value!r}; write a part below 100 per cent, such as "25%"')
    return part


def _time(table: Options, key: str, default: float) -> float:
    value = table.values.get(key)
    if value is None:
        return default
    if type(value) is int and value == 0:
        return 0.0
    if isinstance(value, str) and _ZERO.fullmatch(value):
        return 0.0
    return table.duration(key) * _NANOSECOND
