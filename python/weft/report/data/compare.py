# SPDX-License-Identifier: LGPL-2.1-only
"""Baselines of a report, and verdicts of comparisons."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from weft.benchmarks.certainty import TIE, verdict
from weft.campaign.file.file import REPEATS
from weft.campaign.file.keys import COLLECTIVES
from weft.campaign.pairs import FABRIC, HOSTS, OFF, OFFLOAD, Reference
from weft.report.data.axes import Axis

Outcome = Literal[
    "faster", "same", "slower", "cannot tell", "fell back", "no collectives", "failed", "missing"
]


def references(
    axes: Sequence[Axis], picked: Reference | None = None, library: str = ""
) -> list[Reference]:
    """Return the baselines offered by a page, the default first.

    The default is the baseline chosen in the campaign file, else the hosts alone, else the first
    offload mode, fabric or algorithm, else the first value of a changed key.
    """
    several = {axis.name: axis.values for axis in axes if len(axis.values) > 1}
    found = [] if picked is None or picked.value not in several.get(picked.axis, ()) else [picked]
    ways = several.get(OFFLOAD, ())
    if OFF in ways:
        found.append(HOSTS)
    if len(ways) > 2 or OFF not in ways:  # with two modes, these would be the same pairs reversed
        found += [Reference(OFFLOAD, value) for value in ways]
    for name in (COLLECTIVES, FABRIC, "fallback"):
        found += [Reference(name, value) for value in several.get(name, ())]
    found = [one for one in found if one.value]
    if not found:
        changed = [name for name in several if "." in name and name not in REPEATS]
        found = [Reference(name, value) for name in changed[:1] for value in several[name]]
    return [
        replace(one, library=library if one.hosts else "")
        for one in dict.fromkeys(found)
        if one.value
    ]


def alike(one: float, other: float) -> bool:
    """Return True if two times or speed-ups are a tie."""
    return abs(one / other - 1) <= TIE


def outcome(hosts_s: float, offloaded_s: float) -> Outcome:
    """Return the verdict: which of two times is shorter, or a tie."""
    ratio = hosts_s / offloaded_s
    return verdict(ratio, ratio)
