# SPDX-License-Identifier: LGPL-2.1-only
"""Spans of time for a timeline: faults, and those that routing did not know."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from weft.runs.faults.file import DOWN, LOSSY, NO_STATE, REPAIRED, SLOW, STILL


@dataclass(frozen=True)
class Event:
    """A fault or repair as listed in the record."""

    at_s: float
    what: str
    hidden: bool
    """True if other faults leave the state unchanged."""


_Parts = tuple[float, str, str]
"""Time, thing, and what happens to it."""
ROUTING = "routing"
_LEARNT = ("down", REPAIRED[DOWN])
"""Changes that routing has to learn."""
_MOST = 10_000
"""Events shown; a timeline with more is of no use."""


@dataclass(frozen=True)
class Learning:
    """Time that routing needs to learn of a change."""

    detection_s: float
    convergence_s: float


@dataclass(frozen=True)
class Span:
    """One row's state for a time."""

    track: str
    name: str
    start_s: float
    end_s: float


def spans(events: Sequence[Event], learning: Learning, end_s: float) -> Iterator[Span]:
    """Yield the spans of a run's events until its end."""
    shown = events[:_MOST]
    yield from _wrong([(event.at_s, *_parts(event.what)) for event in shown], end_s)
    changed = [event for event in shown if not event.hidden]
    yield from _unlearnt([(event.at_s, *_parts(event.what)) for event in changed], learning, end_s)


def outlast(events: Sequence[Event]) -> bool:
    """Return True if a fault that began during a run lasts beyond its end."""
    parts = [(event.at_s, *_parts(event.what)) for event in events]
    return any(span.start_s > 0 and math.isinf(span.end_s) for span in _wrong(parts, math.inf))


def _wrong(events: Sequence[_Parts], end_s: float) -> Iterator[Span]:
    """Yield the faults of each link, switch or host, until an event changes them."""
    since: dict[tuple[str, str], tuple[str, float]] = {}
    for at_s, thing, said in events:
        if said == NO_STATE:
            yield Span(thing, said, at_s, at_s)
            continue
        if said.startswith(STILL):
            continue
        key = (thing, _kind(said))
        if key in since:
            yield Span(thing, *since.pop(key), at_s)
        if said not in REPAIRED.values():
            since[key] = said, at_s
    for (thing, _), (said, start_s) in since.items():
        yield Span(thing, said, start_s, max(start_s, end_s))


def _kind(said: str) -> str:
    """Return the kind of a fault that says this at its begin or end."""
    if "bandwidth" in said:
        return SLOW
    return LOSSY if "packets" in said else DOWN


def _unlearnt(events: Sequence[_Parts], learning: Learning, end_s: float) -> Iterator[Span]:
    """Yield the detection of the changes at each instant, and the convergence that follows."""
    learnt = (event for event in events if event[2] in _LEARNT)
    for at_s, some in groupby(learnt, key=lambda event: event[0]):
        named = [f"{thing} {said}" for _, thing, said in some]
        what = named[0] if len(named) == 1 else f"{len(named):,} changes"
        for name, start_s, lasts_s in (
            ("detection", at_s, learning.detection_s),
            ("convergence", at_s + learning.detection_s, learning.convergence_s),
        ):
            if lasts_s > 0 and start_s < end_s:
                yield Span(ROUTING, f"{name}: {what}", start_s, min(start_s + lasts_s, end_s))


def _parts(what: str) -> tuple[str, str]:
    """Return the thing and what happens to it: `switch level2-000`, `down`."""
    kind, name, said = (*what.split(" ", 2), "", "")[:3]
    return f"{kind} {name}", said
