# SPDX-License-Identifier: LGPL-2.1-only
"""Spans of time for a timeline: what was wrong, what routing did not know, and what was hit."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from weft.runs.record_data import FaultsPart

ROUTING, HIT = "routing", "collectives hit"
_UP = "up"
_LEARNT = ("down", _UP)
"""Changes that routing has to learn."""
_MOST = 10_000
"""Events shown; a timeline with more is of no use."""


@dataclass(frozen=True)
class Span:
    """One row's state for a time."""

    track: str
    name: str
    start_s: float
    end_s: float
    details: dict[str, Any] = field(default_factory=dict)


def spans(faults: FaultsPart, end_s: float) -> Iterator[Span]:
    """Yield the spans of a run that ended at a time."""
    yield from _wrong(faults, end_s)
    yield from _unlearnt(faults, end_s)
    for call in faults.calls:
        details = {"communicator": call.communicator, "then": call.what}
        yield Span(HIT, f"{call.collective} {call.what}", call.hit_s, call.went_on_s, details)


def _wrong(faults: FaultsPart, end_s: float) -> Iterator[Span]:
    """Yield what is wrong with each link, switch or host, from a fault to its next event."""
    since: dict[str, tuple[str, float]] = {}
    for event in faults.events[:_MOST]:
        thing, said = _parts(event.what)
        if thing in since:
            name, start_s = since.pop(thing)
            yield Span(thing, name, start_s, event.at_s)
        if said == "loses its state":
            yield Span(thing, said, event.at_s, event.at_s)
        elif said != _UP:
            since[thing] = said, event.at_s
    for thing, (name, start_s) in since.items():
        yield Span(thing, name, start_s, max(start_s, end_s))


def _unlearnt(faults: FaultsPart, end_s: float) -> Iterator[Span]:
    """Yield the detection of each change, and the convergence of routing that follows."""
    for event in faults.events[:_MOST]:
        if _parts(event.what)[1] not in _LEARNT:
            continue
        noticed_s = event.at_s + faults.detection_s
        for name, start_s, lasts_s in (
            ("detection", event.at_s, faults.detection_s),
            ("convergence", noticed_s, faults.convergence_s),
        ):
            if lasts_s > 0 and start_s < end_s:
                until_s = min(start_s + lasts_s, end_s)
                yield Span(ROUTING, f"{name}: {event.what}", start_s, until_s)


def _parts(what: str) -> tuple[str, str]:
    """Return the thing and what happens to it: `switch level2-000`, `down`."""
    kind, name, said = (*what.split(" ", 2), "", "")[:3]
    return f"{kind} {name}", said
