# SPDX-License-Identifier: LGPL-2.1-only
"""Simulation of a switch calibration's rows on the base fabric and on the written fabric."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from weft.base.errors import WeftError, named
from weft.base.measured import Column
from weft.base.units import plural
from weft.benchmarks.methods import METHODS, Method
from weft.calibrate.measurements.samples import Floats
from weft.calibrate.measurements.simulated import Calls, compiled, simulate_calls
from weft.calibrate.measurements.tables import Rows
from weft.calibrate.switch.observations import read_observations
from weft.calibrate.switch.switch import Hardware, Observations, model_seconds

if TYPE_CHECKING:
    from weft._core import Fabric

_SMALL = 4  # bytes: only the tree's round trip
_LOOP = METHODS["loop"]
# Upper limit of a buffer, which all ranks share; rows that need more memory are not simulated.
_MOST_MEMORY = 4 << 30


def path_of_one_switch(fabric: "Fabric") -> float:
    """Return the latency of links and processing with one switch, in seconds."""
    smart = next(number for number, one in enumerate(fabric.switches) if one["smart"])
    # The host link is crossed twice.
    link = next(
        cable["latency_s"] for cable in fabric.cables() if cable["lower"] < len(fabric.hosts)
    )
    return 2 * link + fabric.switches[smart]["processing_latency_s"]


@dataclass(frozen=True)
class Asked:
    """Selection of rows, with the arguments of `read_observations`."""

    column: str | None
    size: int | None
    ppn: int
    hosts: int
    benchmark: str | None


def read(
    fabric: "Fabric", hardware: Hardware, paths: Sequence[Path], which: Rows, asked: Asked
) -> list[Observations]:
    """Read tables, and add the extra time of their trees and benchmarks per call."""
    seen = [
        read_observations(
            path, asked.column, which, asked.size, asked.ppn, asked.hosts, asked.benchmark
        )
        for path in paths
    ]
    return as_measured(fabric, hardware, seen)


def as_measured(
    fabric: "Fabric", hardware: Hardware, tables: Sequence[Observations]
) -> list[Observations]:
    """Return the tables with the extra time of their trees and benchmarks per call."""
    _check_hosts(fabric, tables)
    text = Path(fabric.file).read_text(encoding="utf-8")

    @cache
    def small_s(hosts: int, ppn: int, method: Method) -> float:
        found = simulated(text, hosts, ppn, method, [_SMALL])
        return found[_SMALL] * 1e-6

    def longer_s(hosts: int) -> float:
        one = Observations("", np.array([float(_SMALL)]), np.ones(1), np.ones(1))
        streaming = float(model_seconds(hardware, one, 0.0, {})[0])
        around = small_s(hosts, 1, _LOOP) - fabric.nic["offload_overhead_s"] - streaming
        # The program prints times to a tenth of a nanosecond.
        return max(0.0, round(around - path_of_one_switch(fabric), 10))

    def entering_s(hosts: int, ppn: int, method: Method) -> float:
        return small_s(hosts, ppn, method) - small_s(hosts, ppn, _LOOP)

    found = []
    for table in tables:
        hosts, ppn = _hosts(fabric, table), table.ranks_a_host.astype(int).tolist()
        rows = list(zip(hosts, ppn, strict=True))
        longer = np.array([longer_s(one) for one in hosts])
        entering = np.array([entering_s(*one, table.method) for one in rows])
        found.append(replace(table, longer_s=longer, entering_s=entering))
    return found


def simulated_seconds(text: str, fabric: "Fabric", rows: Observations) -> Floats:
    """Return the rows' simulated seconds on a fabric text; nan if memory is too small."""
    hosts = np.array(_hosts(fabric, rows))
    ppn, sizes = rows.ranks_a_host.astype(int), rows.bytes.astype(int)
    seconds = np.full(len(sizes), np.nan)
    fits = sizes <= _MOST_MEMORY
    for some in np.unique(np.stack([hosts, ppn])[:, fits], axis=1).T:
        at = fits & (hosts == some[0]) & (ppn == some[1])
        times = simulated(text, int(some[0]), int(some[1]), rows.method, sizes[at].tolist())
        seconds[at] = [times[size] * 1e-6 for size in sizes[at].tolist()]
    return seconds


def simulated(text: str, hosts: int, ppn: int, method: Method, sizes: Sequence[int]) -> Column:
    """Return the microseconds of an Allreduce executed by the switches, by size."""
    calls = Calls("allreduce", hosts * ppn, ppn, method)
    with compiled("benchmark_collectives") as program:
        return simulate_calls(program, text, calls, sizes, offload="stream")


def _hosts(fabric: "Fabric", rows: Observations) -> list[int]:
    every = len(fabric.hosts)
    return [every] * len(rows.bytes) if rows.hosts is None else rows.hosts.astype(int).tolist()


def _check_hosts(fabric: "Fabric", tables: Sequence[Observations]) -> None:
    most = max(hosts for table in tables for hosts in _hosts(fabric, table))
    if most > len(fabric.hosts):
        raise WeftError(
            f"{named('base')}: {fabric.name} has {plural(len(fabric.hosts), 'host')}, and the"
            f" tables are of up to {most}; name a fabric with as many"
        )
