# SPDX-License-Identifier: LGPL-2.1-only
"""Speed-up of offloading in a benchmark over the library's and the fastest algorithms."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from weft.base.units import format_ratio, format_size
from weft.benchmarks.certainty import CANNOT_TELL, Certainty, around, not_measured
from weft.benchmarks.measured import SWITCHES, Call, Machine, machine_of
from weft.runs import offload_modes
from weft.runs.site import load_fabric
from weft.study.bench import micro_benchmarks
from weft.study.bench.micro_benchmarks import Study, Time
from weft.study.comparison.certainty import of_call
from weft.study.comparison.compare import BEST


@dataclass(frozen=True)
class SizeGain:
    """Speed-up of an offload mode over the hosts at one size."""

    bytes: int
    speed_up: float
    certainty: Certainty | None
    """None on fabrics without smart switches."""


def gains(study: Study, rows: Sequence[Time]) -> list[str]:
    """Return the speed-up of each offload mode over the hosts, if `best` is one of their modes.

    A speed-up is given as a range over all sizes, with its interval, and the sizes at which the
    interval contains 1. The last line lists the values outside the measured ranges.
    """
    by_label: dict[str, list[Time]] = {}
    for row in rows:
        label = micro_benchmarks.label(rows, row.mode, row.ppn)
        by_label.setdefault(label, []).append(row)
    offloaded = [mode for mode in by_label if mode in offload_modes.WAYS]
    hosts = [mode for mode in by_label if mode not in offload_modes.WAYS and " for " not in mode]
    if BEST not in hosts:
        return []
    machine = machine_of(load_fabric(study.fabric, study.changes))
    found = {
        mode: {host: size_gains(machine, by_label[mode], by_label[host]) for host in hosts}
        for mode in offloaded
    }
    sure = [
        one.certainty
        for by_host in found.values()
        for some in by_host.values()
        for one in some
        if one.certainty
    ]
    beyond = not_measured(text for one in sure for text in one.beyond)
    return [*(_line(mode, some) for mode, some in found.items()), *([beyond] if beyond else [])]


def size_gains(machine: Machine, ours: Sequence[Time], hosts: Sequence[Time]) -> list[SizeGain]:
    """Return the speed-up at each size."""
    theirs = {row.bytes: row for row in hosts}
    return [_gain(machine, row, theirs[row.bytes]) for row in ours if row.figure]


def _gain(machine: Machine, row: Time, hosts: Time) -> SizeGain:
    speed_up = hosts.figure / row.figure
    if SWITCHES not in machine.devices:
        return SizeGain(row.bytes, speed_up, None)
    switches = machine.switches(-(-row.ranks // row.ppn))
    call = Call(row.collective, row.bytes, row.ranks, row.ppn, switches)
    certainty = of_call(speed_up, machine, call, row.way.path, hosts.way.path)
    return SizeGain(row.bytes, speed_up, certainty)


def _line(mode: str, found: Mapping[str, Sequence[SizeGain]]) -> str:
    said = ", ".join(f"{_range(some)} {host}{_sure(some)}" for host, some in found.items())
    return f"{mode}: {said}"


def _range(found: Sequence[SizeGain]) -> str:
    speed_ups = [one.speed_up for one in found]
    least, most = (format_ratio(one(speed_ups, default=None)) for one in (min, max))
    return f"{least if least == most else f'{least} to {most}'} times as fast as"


def _sure(found: Sequence[SizeGain]) -> str:
    """Return the interval over all sizes, and the sizes at which it contains 1."""
    sure = [one.certainty for one in found if one.certainty]
    if not sure:
        return ""
    sizes = " and ".join(_unsure(found))
    unsure = f"; {CANNOT_TELL} at {sizes}" if sizes else ""
    return f" ({around(sure)}{unsure})"


def _unsure(found: Sequence[SizeGain]) -> Iterator[str]:
    """Yield the ranges of sizes at which the interval contains 1."""
    for unsure, some in groupby(
        found, lambda one: bool(one.certainty and one.certainty.cannot_tell)
    ):
        sizes = [format_size(one.bytes) for one in some]
        if unsure:
            yield sizes[0] if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
