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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weft.base.errors import WeftError
from weft.base.options import Entry, Options, parse
from weft.base.user_files import UnreadableError, read_text

PLACES = ("link", "switch", "nic", "host")
DOWN, SLOW, LOSSY, STATE = "down", "slow", "lossy", "state"

KINDS: Mapping[str, str] = {
    DOWN: "it forwards nothing, and a host's ranks die",
    SLOW: "a link has only a part of its bandwidth",
    LOSSY: "a link loses packets",
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
    "nic": "Host whose cables all fail, while its ranks go on, or a pattern",
    "host": "Host that fails: its ranks die, which ends their job, and its cables are down. Or a"
    " pattern",
    "kind": "What happens. "
    + "; ".join(f'`"{name}"`: {what}' for name, what in KINDS.items())
    + f'; `"{DOWN}"` by default',
    "at": "Simulated time of the fault; this or `mtbf` is required",
    "until": "Simulated time of the repair; by default never",
    "bandwidth": 'Part of the bandwidth that is left, such as `"25%"`; only of `slow`, required',
    "loss": 'Part of the packets that are lost, such as `"0.01%"`; only of `lossy`, required',
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
    "packet": "Payload of a packet of a message, for losses; `4KiB` by default, the largest of"
    " InfiniBand and RoCE",
    "go_back": "What a sender sends again after each lost packet, besides that one; `0B` by"
    " default: selective repeat. With go-back-N, the bandwidth times the round-trip time",
    "seed": "Seed of the losses; 1 by default",
    "collectives": "What happens to a collective in the network when its tree is hit. "
    + "; ".join(f'`"{name}"`: {what}' for name, what in POLICIES.items())
    + '; `"hosts"` by default',
}
"""Keys of [recovery]."""

_PLACES_OF: Mapping[str, Sequence[str]] = {
    DOWN: PLACES,
    SLOW: ("link", "nic"),
    LOSSY: ("link", "nic"),
    STATE: ("switch",),
}
_PLURALS: Mapping[str, str] = {"link": "links", "switch": "switches", "nic": "NICs"}
_PARTS: Mapping[str, str] = {"bandwidth": SLOW, "loss": LOSSY}
"""Keys that are a part of something, with the kind that requires them."""
_TIMED = ("at", "until")
_RANDOM = ("mtbf", "repair", "start", "end", "seed")
_MOST_TABLES = 100_000
_MOST_DOWN = 0.9
"""Most of the time that something may be down on average; nothing works with more."""
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
    loss: float
    """Part of the packets that are lost."""
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
    packet_bytes: int
    go_back_bytes: int
    seed: int


@dataclass(frozen=True)
class FaultFile:
    """A fault file."""

    recovery: RecoveryOptions
    faults: tuple[Fault, ...]


def read(path: Path) -> FaultFile:
    """Read a fault file. Raises `WeftError`."""
    try:
        top = parse(read_text(path), str(path))
    except UnreadableError as error:
        raise WeftError(f"{path}: {error}") from None
    top.allow("recovery", "fault")
    tables = list(top.parts("fault"))
    if not tables:
        top.fail("fault", "is missing; write a table [[fault]] for each fault")
    if len(tables) > _MOST_TABLES:
        top.fail("fault", f"found {len(tables):,} tables; allowed are at most {_MOST_TABLES:,}")
    recovery = top.part("recovery") if "recovery" in top.values else Options(top.source, "", {})
    faults = tuple(_fault(one, number) for number, one in enumerate(tables, 1))
    return FaultFile(_recovery(recovery), faults)


def _recovery(table: Options) -> RecoveryOptions:
    table.allow(*RECOVERY)
    timeout = table.seconds("timeout", 4.096e-6 * 2**20)
    if timeout <= 0:
        table.fail("timeout", f"found {table.values['timeout']!r}; write a duration above zero")
    return RecoveryOptions(
        detection_s=table.seconds("detection", 0.9),
        convergence_s=table.seconds("convergence", 0.0),
        timeout_s=timeout,
        retries=table.integer("retries", 0, 1_000_000, 7),
        collectives=table.choice("collectives", tuple(POLICIES), "hosts"),
        packet_bytes=table.size("packet", "4KiB"),
        go_back_bytes=table.size("go_back", "0B", least=0),
        seed=table.integer("seed", 0, _MOST_SEED, 1),
    )


def _fault(found: Options, number: int) -> Fault:
    table = Entry(found.source, f"number {number}", found.values, "fault")
    table.allow(*FAULT)
    named = [key for key in PLACES if key in table.values]
    if len(named) != 1:
        several = " and ".join(named) or "none"
        table.fail(
            named[-1] if named else "link",
            f"write one of {', '.join(PLACES)}; found {several}",
        )
    place = named[0]
    kind = table.choice("kind", tuple(KINDS), DOWN)
    if place not in _PLACES_OF[kind]:
        table.fail("kind", f'found "{kind}"; that is for {_names(_PLACES_OF[kind])}')
    for key, its_kind in _PARTS.items():
        if (key in table.values) != (kind == its_kind):
            table.fail(
                key,
                f'belongs to kind = "{its_kind}"'
                + (", which requires it" if kind == its_kind else "; leave it out"),
            )
    common: dict[str, Any] = {
        "table": table,
        "number": number,
        "place": place,
        "pattern": table.text(place),
        "kind": kind,
        "factor": table.percentage("bandwidth", None, "25%", whole=False) if kind == SLOW else 0.0,
        "loss": table.percentage("loss", None, "0.01%", whole=False) if kind == LOSSY else 0.0,
    }
    if "mtbf" in table.values:
        return Fault(**common, process=_process(table, kind))
    for key in _RANDOM:
        if key in table.values:
            table.fail(key, "is a key of faults at random; write mtbf, or leave it out")
    table.need("at")
    at = table.seconds("at", 0.0)
    until = table.seconds("until") if "until" in table.values else None
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
        mtbf_s=table.seconds("mtbf", 0.0),
        repair_s=table.seconds("repair", 0.0),
        start_s=table.seconds("start", 0.0),
        end_s=table.seconds("end", 0.0),
        seed=table.integer("seed", 0, _MOST_SEED, 1),
    )
    if process.mtbf_s <= 0:
        table.fail("mtbf", f"found {table.values['mtbf']!r}; write a duration above zero")
    down = process.repair_s / (process.mtbf_s + process.repair_s)
    if kind == DOWN and down > _MOST_DOWN:
        table.fail(
            "mtbf",
            f"found {table.values['mtbf']!r} with repair = {table.values['repair']!r}: each would"
            f" be down {down:.1%} of the time; allowed are at most {_MOST_DOWN:.0%}",
        )
    if process.end_s <= process.start_s:
        table.fail("end", f"found {table.values['end']!r}, which is not after the start")
    return process


def _names(places: Sequence[str]) -> str:
    return " and ".join(_PLURALS[place] for place in places)
