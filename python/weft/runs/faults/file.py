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

    [[fault]]
    rates = "alibaba-hpn"
    scale = 1e6
    repair = "10ms"
    end = "60s"

docs/faults.md describes the keys, from the tables below.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf, log
from pathlib import Path
from typing import Any

from weft.base.errors import WeftError, named
from weft.base.options import (
    BYTES,
    NUMBER,
    PERCENT,
    TEXT,
    TIME,
    WHOLE,
    Entry,
    Key,
    Options,
    number,
    one_of,
    parse,
)
from weft.base.user_files import UnreadableError, read_text
from weft.runs.faults import presets
from weft.runs.faults.presets import HOST, LINK, NIC, SWITCH

_USUAL_TRANSPORT = "nccl"
PLACES = (LINK, SWITCH, NIC, HOST)
DOWN, SLOW, LOSSY, STATE = "down", "slow", "lossy", "state"

KINDS: Mapping[str, str] = {
    DOWN: "it forwards nothing, and a host's ranks die",
    SLOW: "a link has only a part of its bandwidth",
    LOSSY: "a link loses packets",
    STATE: "a switch loses what it has aggregated, and continues",
}
"""Kinds of faults, with their meanings."""

REPAIRED: Mapping[str, str] = {
    DOWN: "up",
    SLOW: "has its bandwidth again",
    LOSSY: "loses no packets",
}
"""Texts of the ends of faults, by kind."""

NO_STATE = "loses its state"
"""Text of the event of a switch."""
STILL = "still "
"""Begin of the texts of events that leave a link, switch or host as it was: faults overlap."""

POLICIES: Mapping[str, str] = {
    "resend": "it continues from its last complete window once its tree is up again",
    "rebuild": "it is repeated over a new tree, or by the hosts if there is none",
    "hosts": "the hosts repeat it with their own algorithm",
    "abort": "its job ends",
}
"""Reactions of a collective in the network, with their meanings."""

FAULT: Mapping[str, Key] = {
    "link": Key(
        "Link that fails: a cable for both directions, one direction of it such as"
        ' `"host-3.up"`, or a pattern with `*` and `?`',
        TEXT,
    ),
    "switch": Key("Switch that fails, or a pattern", TEXT),
    "nic": Key(
        "Host whose cables all fail, while its ranks continue, or a pattern. Of a GPU, the cables"
        " of its NIC fail, but not its NVLinks",
        TEXT,
    ),
    "host": Key(
        "Host that fails: its ranks die, which ends their job, and its cables are down. Or a"
        " pattern",
        TEXT,
    ),
    "kind": Key(
        "What happens. "
        + "; ".join(f'`"{name}"`: {what}' for name, what in KINDS.items())
        + f'; `"{DOWN}"` by default',
        one_of(tuple(KINDS)),
    ),
    "at": Key("Simulated time of the fault; this or `mtbf` is required", TIME),
    "until": Key("Simulated time of the repair; by default never", TIME),
    "bandwidth": Key(
        'Fraction of the bandwidth that remains, such as `"25%"`; only of `slow`, required',
        PERCENT,
    ),
    "loss": Key(
        'Fraction of the packets that are lost, such as `"0.01%"`; only of `lossy`, required',
        PERCENT,
    ),
    "every": Key(
        "Mean time between such faults of each link, switch or host that is named, for the"
        " budget: how often `at` happens outside the simulation. It changes no run",
        TIME,
    ),
    "mtbf": Key(
        "Mean time between failures of each link, switch or host that is named, instead of"
        " `at`: faults at random, with exponential times",
        TIME,
    ),
    "rates": Key(
        "Failure rates of a published cluster instead of `mtbf`: "
        + ", ".join(f'`"{name}"`' for name in presets.rate_presets())
        + "; of all that it has rates of, or only of the `link`, `switch` or `host` that is named",
        one_of(presets.rate_presets()),
    ),
    "scale": Key(
        "Factor on the rate of failures, 1 by default. Clusters fail too rarely for a run of"
        " seconds; 0 is a run without failures",
        NUMBER,
    ),
    "repair": Key(
        "Mean time to repair, exponential too; required with `mtbf` and `rates`, except for"
        " `state`",
        TIME,
    ),
    "start": Key("Simulated time at which faults at random begin; 0 by default", TIME),
    "end": Key("Simulated time of the last one; required with `mtbf` and `rates`", TIME),
    "seed": Key("Seed of faults at random; 1 by default", WHOLE),
}
"""Keys of [[fault]]."""

RECOVERY: Mapping[str, Key] = {
    "routing": Key(
        "Who finds other routes, which gives `detection` and `convergence`: "
        + ", ".join(f'`"{name}"`' for name in presets.routing_presets())
        + "; keys that are written too override it",
        one_of(presets.routing_presets()),
    ),
    "detection": Key(
        "Time from a fault or a repair until the switches next to it notice; `900ms` by"
        " default, three missed BFD packets at the usual interval of 300 ms",
        TIME,
    ),
    "convergence": Key(
        "Time from then until all routes avoid what is down, or use again what is up;"
        " 0 by default: each switch knows other ways",
        TIME,
    ),
    "transport": Key(
        "Who sends again, which gives `timeout`, `backoff`, `retries` and `packet`: "
        + ", ".join(f'`"{name}"`' for name in presets.transport_presets())
        + f'; `"{_USUAL_TRANSPORT}"` by default; keys that are written too override it',
        one_of(presets.transport_presets()),
    ),
    "timeout": Key("Time without acknowledgement after which a sender sends the rest again", TIME),
    "backoff": Key(
        "Factor by which each further timeout of a sender is longer than the last", number(1, 1000)
    ),
    "retries": Key("Times that a sender tries again before it gives up", WHOLE),
    "packet": Key("Payload of a packet of a message, for losses", BYTES),
    "go_back": Key(
        "What a sender sends again after each lost packet, besides that one; `0B` by"
        " default: selective repeat. With go-back-N, the bandwidth times the round-trip time",
        BYTES,
    ),
    "seed": Key("Seed of the losses; 1 by default", WHOLE),
    "collectives": Key(
        "What happens to a collective in the network when its tree is hit. "
        + "; ".join(f'`"{name}"`: {what}' for name, what in POLICIES.items())
        + '; `"hosts"` by default',
        one_of(tuple(POLICIES)),
    ),
}
"""Keys of [recovery]."""

AT_RANDOM = ("mtbf", "rates")
"""Keys of which one makes a table describe faults at random."""
ANYWHERE_AT_RANDOM = ("scale", "repair", "start", "end", "seed")
"""Further keys of such tables."""
_PLACES_OF: Mapping[str, Sequence[str]] = {
    DOWN: PLACES,
    SLOW: ("link", "nic"),
    LOSSY: ("link", "nic"),
    STATE: ("switch",),
}
_PLURALS: Mapping[str, str] = {"link": "links", "switch": "switches", "nic": "NICs"}
_PARTS: Mapping[str, str] = {"bandwidth": SLOW, "loss": LOSSY}
"""Keys with a fraction, with the kind that requires them."""
_ROUTING_KEYS: Mapping[str, str] = {
    "detection": "routes do not change",
    "convergence": "routes do not change",
    "routing": "routes do not change",
    "packet": "links lose no packets",
    "go_back": "links lose no packets",
    "seed": "links lose no packets",
    "collectives": "collectives in the network resume as messages do",
}
"""Keys of [recovery] that SimGrid platforms have no use for."""

_OWN = "own"
_TIMED = ("at", "until", "every")
_MOST_TABLES = 100_000
_MOST_DOWN = 0.9
"""Most of the time that something may be down on average; nothing works with more."""
_MOST_SEED = 2**31 - 1
_MOST_SCALE = 1e15
_MOST_RETRIES = 1_000_000
_LONGEST_S = 1e12


@dataclass(frozen=True, kw_only=True)
class Process:
    """Faults at random of each device."""

    mtbf_s: float
    """With the scale; infinite if nothing fails."""
    real_mtbf_s: float
    """Without the scale."""
    repair_s: float
    start_s: float
    end_s: float
    seed: int


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One table of a fault file; its pattern has not been compared with a fabric."""

    table: Entry
    number: str
    """Place of the table in the file, from 1, with the kind of parts of a preset's rate."""
    place: str
    pattern: str
    kind: str
    factor: float = 0.0
    """Fraction of the bandwidth that remains."""
    loss: float = 0.0
    """Fraction of the packets that are lost."""
    hosts: bool | None = None
    """True for parts with a host's cable only, False for all others only."""
    at_s: float = 0.0
    until_s: float | None = None
    every_s: float | None = None
    """Mean time between such faults of each device, if the file says it."""
    process: Process | None = None

    @property
    def per_day(self) -> float | None:
        """Faults of each device per day; None if the file does not say how often they happen."""
        between_s = self.process.real_mtbf_s if self.process else self.every_s
        return None if between_s is None else presets.DAY_S / between_s

    @property
    def cause(self) -> str:
        """Key that makes faults."""
        return next(key for key in ("rates", "mtbf", self.place) if key in self.table.values)


@dataclass(frozen=True, kw_only=True)
class RecoveryOptions:
    """The table [recovery]."""

    transport: str
    """Preset of the senders' values; `own` if the file overrides one of them."""
    routing: str
    """Preset of detection and convergence; `own` if the file writes one of them, else empty."""
    detection_s: float
    convergence_s: float
    timeout_s: float
    backoff: float
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


def read(path: Path) -> Options:
    """Read the tables of a fault file. Raises `WeftError`."""
    try:
        return parse(read_text(path), str(path))
    except UnreadableError as error:
        raise WeftError(f"{path}: {error}") from None


def of_tables(top: Options) -> FaultFile:
    """Return the fault file of these tables. Raises `WeftError`."""
    top.allow("recovery", "fault")
    tables = list(top.parts("fault"))
    if not tables:
        top.fail("fault", "is missing; write a table [[fault]] for each fault")
    if len(tables) > _MOST_TABLES:
        top.fail("fault", f"found {len(tables):,} tables; allowed are at most {_MOST_TABLES:,}")
    faults = tuple(fault for number, one in enumerate(tables, 1) for fault in _faults(one, number))
    return FaultFile(_recovery(_recovery_table(top)), faults)


def read_recovery(top: Options) -> RecoveryOptions:
    """Return [recovery], the only table of a file for a SimGrid platform. Raises `WeftError`."""
    if "fault" in top.values:
        top.fail(
            "fault",
            f"found with {named('platform')}; what fails on a SimGrid platform is what its"
            " profiles turn off, such as state_file of a link; leave out [[fault]]",
        )
    top.allow("recovery")
    table = _recovery_table(top)
    for key, why in _ROUTING_KEYS.items():
        if key in table.values:
            table.fail(key, f"found with {named('platform')}, where {why}; leave it out")
    return _recovery(table)


def _recovery_table(top: Options) -> Options:
    return top.part("recovery") if "recovery" in top.values else Options(top.source, "", {})


def _recovery(table: Options) -> RecoveryOptions:
    table.allow(*RECOVERY)
    usual = Options(table.source, table.table, {})
    routing = ""
    if "routing" in table.values:
        routing = table.choice("routing", presets.routing_presets(), "")
        usual = presets.routing(routing)
    transport = table.choice("transport", presets.transport_presets(), _USUAL_TRANSPORT)
    senders = presets.transport(transport)
    timeout = table.seconds("timeout", senders.seconds("timeout"))
    if timeout <= 0:
        table.fail("timeout", f"found {table.values['timeout']!r}; write a duration above zero")
    retries = table.integer("retries", 0, _MOST_RETRIES, senders.need("retries"))
    return RecoveryOptions(
        transport=_preset_in_force(table, transport, senders),
        routing=_preset_in_force(table, routing, usual, ("detection", "convergence")),
        detection_s=table.seconds("detection", usual.seconds("detection", 0.9)),
        convergence_s=table.seconds("convergence", usual.seconds("convergence", 0.0)),
        timeout_s=timeout,
        backoff=_backoff(table, senders.need("backoff"), timeout, retries),
        retries=retries,
        collectives=table.choice("collectives", tuple(POLICIES), "hosts"),
        packet_bytes=table.size("packet", senders.text("packet")),
        go_back_bytes=table.size("go_back", "0B", least=0),
        seed=table.integer("seed", 0, _MOST_SEED, 1),
    )


def _preset_in_force(
    table: Options, name: str, preset: Options, keys: Sequence[str] | None = None
) -> str:
    """Return the preset whose values count; `own` if the table overrides one."""
    overridden = any(
        table.values[key] != preset.values.get(key)
        for key in keys or preset.values
        if key in table.values
    )
    return _OWN if overridden else name


def _backoff(table: Options, usual: float, timeout_s: float, retries: int) -> float:
    """Return the factor of further timeouts; refuse those that outlast any run."""
    backoff = table.number("backoff", 1, 1_000, usual)
    if retries * log(backoff) + log(timeout_s) > log(_LONGEST_S):
        table.fail(
            "backoff",
            f"found {backoff:g} with {retries} retries, whose last timeout would be"
            f" more than {_LONGEST_S:g} s; write fewer retries, or a smaller factor",
        )
    return backoff


def _faults(found: Options, number: int) -> Iterator[Fault]:
    table = Entry(found.source, f"number {number}", found.values, "fault")
    table.allow(*FAULT)
    if "rates" in table.values:
        yield from _published(table, number)
    else:
        yield _fault(table, number)


def _published(table: Entry, number: int) -> Iterator[Fault]:
    """Yield the faults of a preset of failure rates."""
    name = table.choice("rates", presets.rate_presets(), "")
    for key in ("mtbf", "kind", *_PARTS):
        if key in table.values:
            table.fail(key, "found together with rates; write one of both")
    if "repair" not in table.values:
        table.fail(
            "repair",
            f"is missing, but required: the source of {name} has no time to repair; write one, such"
            ' as "10ms"',
        )
    places = [key for key in PLACES if key in table.values]
    if len(places) > 1:
        several = " and ".join(places)
        table.fail(places[-1], f"write at most one of {', '.join(PLACES)}; found {several}")
    found = [rate for rate in presets.rates(name) if not places or rate.kind.place == places[0]]
    if not found:
        table.fail(
            places[0],
            f"{name} has no rate of a {places[0]}; it has those of"
            f" {', '.join(rate.kind.meaning for rate in presets.rates(name))}",
        )
    for rate in found:
        yield Fault(
            table=table,
            number=f"{number} {rate.name}",
            place=rate.kind.place,
            pattern=table.text(rate.kind.place, "*"),
            kind=DOWN,
            hosts=rate.kind.hosts,
            process=_process(table, DOWN, rate.mtbf_s),
        )


def _fault(table: Entry, number: int) -> Fault:
    places = [key for key in PLACES if key in table.values]
    if len(places) != 1:
        several = " and ".join(places) or "none"
        table.fail(
            places[-1] if places else "link",
            f"write one of {', '.join(PLACES)}; found {several}",
        )
    place = places[0]
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
        "number": str(number),
        "place": place,
        "pattern": table.text(place),
        "kind": kind,
        "factor": table.percentage("bandwidth", None, "25%", whole=False) if kind == SLOW else 0.0,
        "loss": table.percentage("loss", None, "0.01%", whole=False) if kind == LOSSY else 0.0,
    }
    if "mtbf" in table.values:
        mtbf_s = table.seconds("mtbf")
        if mtbf_s <= 0:
            table.fail("mtbf", f"found {table.values['mtbf']!r}; write a duration above zero")
        return Fault(**common, process=_process(table, kind, mtbf_s))
    for key in ANYWHERE_AT_RANDOM:
        if key in table.values:
            table.fail(key, "is a key of faults at random; write mtbf or rates, or leave it out")
    table.need("at")
    at = table.seconds("at", 0.0)
    until = table.seconds("until") if "until" in table.values else None
    if until is not None and kind == STATE:
        table.fail("until", f'does not belong to kind = "{STATE}"; leave it out')
    if until is not None and until <= at:
        table.fail("until", f"found {table.values['until']!r}, which is not after the fault")
    every = table.seconds("every") if "every" in table.values else None
    if every is not None and every <= 0:
        table.fail("every", f"found {table.values['every']!r}; write a duration above zero")
    return Fault(**common, at_s=at, until_s=until, every_s=every)


def _process(table: Entry, kind: str, mtbf_s: float) -> Process:
    rate = "rates" if "rates" in table.values else "mtbf"
    for key in _TIMED:
        if key in table.values:
            table.fail(key, f"found together with {rate}; write one of both")
    if kind == STATE and "repair" in table.values:
        table.fail("repair", f'does not belong to kind = "{STATE}"; leave it out')
    if kind != STATE:
        table.need("repair")
    table.need("end")
    scale = table.number("scale", 0, _MOST_SCALE, 1)
    process = Process(
        mtbf_s=mtbf_s / scale if scale > 0 else inf,
        real_mtbf_s=mtbf_s,
        repair_s=table.seconds("repair", 0.0),
        start_s=table.seconds("start", 0.0),
        end_s=table.seconds("end", 0.0),
        seed=table.integer("seed", 0, _MOST_SEED, 1),
    )
    down = process.repair_s / (process.mtbf_s + process.repair_s)
    if kind == DOWN and down > _MOST_DOWN:
        table.fail(
            rate,
            f"found {table.values[rate]!r} with repair = {table.values['repair']!r}: each would"
            f" be down {down:.1%} of the time; allowed are at most {_MOST_DOWN:.0%}",
        )
    if process.end_s <= process.start_s:
        table.fail("end", f"found {table.values['end']!r}, which is not after the start")
    return process


def _names(places: Sequence[str]) -> str:
    return " and ".join(_PLURALS[place] for place in places)
