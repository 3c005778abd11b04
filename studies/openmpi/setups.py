# SPDX-License-Identifier: LGPL-2.1-only
"""Setups of Open MPI (default, rules file, HAN on hosts), with their calls and predictions."""

from collections.abc import Iterator
from pathlib import Path

from studies.messages.cases import RANKS, REDUCTIONS, ROOTED, VECTORS, Case, calls, form
from studies.messages.comparison import Setting, Setup
from studies.study import DOCS

RULES = Path(__file__).with_name("rules.conf")
HOST = Path(__file__).with_name("host.sh")


def every(setting: Setting) -> Iterator[Case]:
    """Yield all calls of the grid for a setting."""
    yield from calls(setting.ranks)


def plain(setting: Setting) -> Iterator[Case]:
    """Yield the blocking calls with MPI_INT and MPI_SUM; rules ignore type and operation."""
    for case in calls(setting.ranks):
        if form(case.called)[1] and (case.operation, case.type) == ("sum", "int"):
            yield case


def on_hosts(setting: Setting) -> Iterator[Case]:
    """Yield calls around HAN's segments of 64 KiB.

    Allreduces consist of whole segments, because Open MPI 4.1.4, unlike 5.0, broadcasts a partial
    last segment as a whole one.
    """
    roots = sorted({0, 1, setting.ranks // 2, setting.ranks - 1})
    for collective in ("barrier", "bcast", "reduce", "allreduce", "allgather", "gather", "scatter"):
        counts = [2, 7, 1000, 16384, 32768, 81920] if collective in VECTORS else [2, 7, 300, 5000]
        if collective in ("bcast", "reduce"):
            counts += [16385, 40000]
        for count in [0] if collective == "barrier" else counts:
            for root in roots if collective in ROOTED else [0]:
                yield Case(collective, count, "int", root, "sum", 0)
        if collective in REDUCTIONS:
            yield Case(collective, 100, "int", 0, "ordered", 0)


DEFAULTS = Setup(
    "openmpi-4.1", DOCS / "openmpi-messages.csv.gz", [Setting(ranks) for ranks in RANKS], every
)
DYNAMIC = Setup(
    f"openmpi-4.1+{RULES}",
    DOCS / "openmpi-rules-messages.csv.gz",
    [Setting(ranks) for ranks in (3, 5, 8, 12)],
    plain,
    (
        *("--mca", "coll_tuned_use_dynamic_rules", "1"),
        *("--mca", "coll_tuned_dynamic_rules_filename", str(RULES)),
    ),
)
HAN = Setup(
    "openmpi-5.0",
    DOCS / "openmpi-han-messages.csv.gz",
    [
        *(Setting(4, 2), Setting(9, 3), Setting(8, 2), Setting(10, 2, in_turn=True)),
        *(Setting(12, 6), Setting(15, 5, in_turn=True), Setting(24, 3)),
        *(Setting(7, 3), Setting(5, 4), Setting(11, 2, in_turn=True), Setting(3, 3)),
    ],
    on_hosts,
    (
        *("--mca", "coll_han_priority", "100"),
        *("--mca", "plm", "rsh", "--mca", "plm_rsh_agent", str(HOST)),
        # Open MPI assumes that each host has a core per rank.
        *("--mca", "mpi_yield_when_idle", "1"),
    ),
)
SETUPS = (DEFAULTS, DYNAMIC, HAN)
