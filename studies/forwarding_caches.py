# SPDX-License-Identifier: LGPL-2.1-only
"""Forwarding caches under given traffic: the figures of docs/forwarding.md.

The figures come from studies of `weft cache` (weft.study.forwarding.forwarding), whose tables are
in docs/forwarding/. Results are computed, and therefore the same on every machine.
"""

import re
from collections.abc import Callable
from pathlib import Path

from matplotlib.figure import Figure

from studies.forwarding import RESULTS, Program, programs, record_trace
from studies.study import DOCS, OPTION, Study, Table, read_table
from weft.base import paths, plots
from weft.base.plots import Series
from weft.base.process import work_directory
from weft.fabric.toml_file import with_values
from weft.study.forwarding import forwarding, jobs
from weft.study.forwarding.forwarding import Cache
from weft.trace.folder import read_folder

TABLES = DOCS / "forwarding"
WAYS = (1, 2, 4, 8, 16)
DESTINATIONS = (128, 256, 512, 1024, 2048)
SIZES = (2, 4, 6, 8, 10, 12, 14, 16)
TRACE_RANKS, TRACE_DIMENSIONS = 256, [8, 8, 4]
TRACE_ENTRIES = (2048, 64, 16)
TRACE_CURVES = {
    **{name: name for name in ("MG", "FT", "IS", "BFS", "CG", "MM")},
    "LU": "LU, and nearly BT, SP",
}
"""Labels of the programs in the figure, which omits DT because it has no conflicts."""


def by_ways() -> forwarding.CacheStudy:
    """Return figure 5 of Hirasawa et al."""
    return forwarding.conflicts_by_ways(Cache(), WAYS, DESTINATIONS, scattered=True)


def by_trace() -> forwarding.CacheStudy:
    """Return figure 6 of Hirasawa et al., for the ten programs of their section V.C.

    The programs use up to 256 ranks, one on each host of the paper's 8 x 8 x 4 torus.
    """
    with work_directory() as work:
        shipped = paths.installed("fabrics", "torus-4x4x4x4.toml").read_text(encoding="utf-8")
        text = with_values(shipped, "topology", {"dimensions": TRACE_DIMENSIONS})
        fabric = work / "torus-8x8x4.toml"
        fabric.write_text(with_values(text, "fabric", {"name": "torus-8x8x4"}), encoding="utf-8")
        rows = [
            (program.name, entries, *row)
            for program in programs(TRACE_RANKS)
            for entries, study in trace_studies(program, fabric).items()
            for row in study.rows
        ]
    return forwarding.CacheStudy(
        "Conflict misses of ten programs on torus-8x8x4",
        ("program", "entries", "hash", "ways", *forwarding.PARTS, forwarding.THROUGHPUT),
        rows,
        (),
        "ways",
        "conflict misses (% of lookups)",
    )


def trace_studies(program: Program, fabric: Path) -> dict[int, forwarding.CacheStudy]:
    """Return the study of a program's messages, by number of cache entries."""
    messages = forwarding.messages_of(read_folder(record_trace(program, RESULTS)), str(fabric))
    named = (program.name, messages)
    return {
        entries: forwarding.conflicts_of_messages(
            Cache(entries=entries), WAYS, named, str(fabric), ("auto", "crc")
        )
        for entries in TRACE_ENTRIES
    }


def by_capacity() -> forwarding.CacheStudy:
    """Return figure 7 of Hirasawa et al."""
    return forwarding.capacity_of_tori(Cache(), SIZES, 4)


def by_jobs() -> forwarding.CacheStudy:
    """Return figure 3 of Hirasawa et al."""
    return forwarding.job_sizes(jobs.shipped_jobs())


COMPUTED: dict[str, Callable[[], forwarding.CacheStudy]] = {
    "ways": by_ways,
    "trace": by_trace,
    "capacity": by_capacity,
    "jobs": by_jobs,
}


def measure() -> None:
    """Compute the tables."""
    TABLES.mkdir(exist_ok=True)
    for name, compute in COMPUTED.items():
        compute().write_csv(OPTION, TABLES / f"{name}.csv")


# ---- Figures


def title_of(name: str) -> str:
    """Return the title in the first line of a table."""
    first = (TABLES / f"{name}.csv").read_text(encoding="utf-8").splitlines()[0]
    return re.sub("^# ", "", first)


def line(rows: Table, x: str, y: str, label: str, number: int, **wanted: str) -> Series:
    """Return a curve of these columns of the rows, in per cent."""
    chosen = [row for row in rows if all(row[key] == value for key, value in wanted.items())]
    return Series(label, {int(row[x]): 100 * float(row[y]) for row in chosen}, number)


def draw_conflicts(name: str, column: str, label: str) -> Figure:
    """Plot conflict misses against associativity, one curve per value of a column."""
    rows = read_table(TABLES / f"{name}.csv")
    series = [
        line(rows, "ways", "conflict", label.format(value), number, **{column: value})
        for number, value in enumerate(dict.fromkeys(row[column] for row in rows))
    ]
    return plots.shares_figure(
        series, (title_of(name), "ways", "conflict misses (% of lookups)"), logarithmic=True
    )


def draw_traces() -> Figure:
    """Plot the conflict misses of CRC in the smallest caches, one curve per program."""
    rows = read_table(TABLES / "trace.csv")
    smallest = str(TRACE_ENTRIES[-1])
    series = [
        line(rows, "ways", "conflict", label, number, program=name, entries=smallest, hash="crc")
        for number, (name, label) in enumerate(TRACE_CURVES.items())
    ]
    title = f"{title_of('trace')}, CRC, {smallest} entries"
    return plots.shares_figure(
        series, (title, "ways", "conflict misses (% of lookups)"), logarithmic=True
    )


def draw_capacity() -> Figure:
    """Plot capacity misses against job size."""
    rows = read_table(TABLES / "capacity.csv")
    chosen = {
        "CRC, all ports": ("crc", "all"),
        "CRC, ports of hosts": ("crc", "host"),
        "hash of the torus": ("cube", "all"),
    }
    series = [
        line(rows, "hosts", "capacity", label, number, hash=name, ports=ports)
        for number, (label, (name, ports)) in enumerate(chosen.items())
    ]
    texts = (title_of("capacity"), "job size (hosts)", "capacity misses (% of lookups)")
    return plots.shares_figure(series, texts, logarithmic=True)


def draw_jobs() -> Figure:
    """Plot the cumulative fraction of jobs against the number of processors."""
    rows = read_table(TABLES / "jobs.csv")
    series = [
        line(rows, "processors", "share_of_jobs_up_to", name, number, trace=name)
        for number, name in enumerate(dict.fromkeys(row["trace"] for row in rows))
    ]
    texts = (title_of("jobs"), "processors", "cumulative share of jobs (%)")
    return plots.shares_figure(series, texts, logarithmic=True)


def figures() -> dict[Path, Figure]:
    """Draw all four figures."""
    folder = DOCS / "figures"
    return {
        folder / "cache_ways.png": draw_conflicts("ways", "destinations", "{} destinations"),
        folder / "cache_trace.png": draw_traces(),
        folder / "cache_capacity.png": draw_capacity(),
        folder / "job_sizes.png": draw_jobs(),
    }


STUDY = Study(
    name="forwarding-caches",
    about="what forwarding caches do with given traffic",
    measure=measure,
    figures=figures,
)
