# SPDX-License-Identifier: LGPL-2.1-only
"""Time and traffic on the testbed, by bit error rate of its links.

The paper names bit error rates of 1e-12 for Ethernet and 1e-15 for InfiniBand (section II-B, note
2) and gives no times with losses. A link loses a chunk if one of the chunk's bits is wrong.
"""

import math
from collections.abc import Iterator
from functools import partial

from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

from studies.multicast import (
    MANY,
    MULTICAST,
    TESTBED,
    TESTBED_HOSTS,
    changed_fabric,
    make_study,
)
from studies.resume import kept_rows
from studies.study import Table
from weft.base import paths
from weft.base.plots import look
from weft.base.process import work_directory
from weft.base.units import format_size
from weft.runs.toolchain import compile_c
from weft.study.bench import collectives as bench
from weft.study.bench.collectives import COLLECTIVES, CollectivesBench

BIT_ERROR_RATES = (0.0, 1e-15, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7)
CHUNK_BYTES = 4096 + 78
"""Size of a chunk on fdr-188's links: an MTU and the packet headers."""
SIZES = {"bcast": 256 * 2**10, "allgather": 64 * 2**10}
ITERATIONS = {"bcast": 1000, "allgather": 100}


def lost_on_link(bit_error_rate: float) -> float:
    """Return the probability that a link loses a chunk."""
    return -math.expm1(8 * CHUNK_BYTES * math.log1p(-bit_error_rate))


def measure() -> Table:
    """Run both collectives by bit error rate."""
    return kept_rows(
        "multicast",
        [
            (
                f"drops-{collective}-{size}-{ITERATIONS[collective]}-{rate:g}",
                partial(measure_one, collective, size, rate),
            )
            for collective, size in SIZES.items()
            for rate in BIT_ERROR_RATES
        ],
    )


def measure_one(collective: str, size: int, bit_error_rate: float) -> Table:
    """Run calls of one collective."""
    rule = f'\n[[multicast.drops]]\nlink = "*"\nprobability = {lost_on_link(bit_error_rate)!r}\n'
    with changed_fabric(TESTBED, MULTICAST, {}, rule) as fabric, work_directory() as work:
        study = CollectivesBench(
            COLLECTIVES[collective],
            fabric,
            TESTBED_HOSTS,
            (size,),
            [MULTICAST],
            iterations=ITERATIONS[collective],
            **MANY,
        )
        program = work / "collective_times"
        compile_c(paths.example("collective_times.c"), program)
        row, record = bench.measure(study, program, MULTICAST, size)
    (part,) = record.multicast
    calls = ITERATIONS[collective]
    numbers = {
        "drops": part.drops / calls,
        "latency_us": row.latency_us,
        "max_us": row.max_us,
        "port_bytes": row.port_bytes / calls,
    }
    return [
        {
            "collective": collective,
            "bytes": str(size),
            "bit_error_rate": f"{bit_error_rate:g}",
            **{name: f"{value:.6g}" for name, value in numbers.items()},
        }
    ]


def _of(rows: Table, collective: str) -> Table:
    return [row for row in rows if row["collective"] == collective]


def draw(rows: Table, figure: Figure) -> None:
    """Plot the mean time against the bit error rate."""
    axes = figure.subplots()
    for k, (collective, size) in enumerate(SIZES.items()):
        lossless, *its = _of(rows, collective)
        axes.plot(
            [float(row["bit_error_rate"]) for row in its],
            [float(row["latency_us"]) / float(lossless["latency_us"]) for row in its],
            label=f"{COLLECTIVES[collective].title}, {format_size(size)}",
            **look(k),
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("bit error rate of each link")
    axes.set_ylabel("mean time by that without losses")
    axes.set_title(f"{TESTBED_HOSTS} hosts", loc="left")
    axes.legend(frameon=False)


def table(rows: Table) -> Iterator[str]:
    """Yield times and traffic by bit error rate."""
    yield (
        "| | bytes | bit error rate | chunk lost on a link | lost chunks per call "
        "| mean time | slowest call | traffic |"
    )
    yield "|---|---:|---:|---:|---:|---:|---:|---:|"
    for collective in SIZES:
        its = _of(rows, collective)
        for row in its:
            rate = float(row["bit_error_rate"])
            more = float(row["port_bytes"]) / float(its[0]["port_bytes"]) - 1
            yield (
                f"| {collective} | {format_size(int(row['bytes']))} | {rate:g} "
                f"| {lost_on_link(rate):.1e} | {float(row['drops']):,.2f} "
                f"| {float(row['latency_us']):,.1f} us | {float(row['max_us']):,.1f} us "
                f"| {more:+.2%} |"
            )


STUDY = make_study("drops", "time and traffic by bit error rate", measure, draw, table)
