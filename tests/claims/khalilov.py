# SPDX-License-Identifier: LGPL-2.1-only
"""Claims of Khalilov et al.: docs/multicast.md and docs/papers/khalilov.md.

The rows of multicast.md are written from the tables of its studies (studies/multicast/claims.py).
Where a run takes seconds, it is repeated here.
"""

from functools import partial

from studies.multicast import FULL_BANDWIDTH, MANY, MULTICAST, claims, cores, figure_10, run_one
from studies.study import DOCS
from tests.claims import Claim, Repeat, numbers_of, stored

PAGE, PAPER = "multicast.md", "papers/khalilov.md"
PAGES = (PAGE, PAPER)
MAKE = 'make multicast FIGURES="{}"'


def written(begins: str, figure: str) -> Claim:
    """Return a row of multicast.md, which `claims` writes from the stored tables of a figure."""

    return stored(PAGE, begins, MAKE.format(figure), lambda: cell(begins))


def cell(begins: str) -> list[str]:
    """Return the numbers that the stored tables give for a row of multicast.md."""
    (row,) = (row for row in claims.rows() if row[0].startswith(begins))
    return numbers_of(row[2])


TRAFFIC, TOGETHER = "2 times less traffic", "Allgather beside Reduce-Scatter"
KNOMIAL, SWITCHES = "Broadcast up to 1.3", "1.5 times less traffic"
TABLES = DOCS / "multicast"
REPEATS = (
    Repeat(
        TABLES / "figure-2.csv",
        "1,024 ranks, multicast",
        partial(run_one, "allgather", FULL_BANDWIDTH, 1024, 4096, MULTICAST, **MANY),
    ),
    Repeat(
        TABLES / "figure-2.csv",
        "1,024 ranks, ring",
        partial(run_one, "allgather", FULL_BANDWIDTH, 1024, 4096, "ring", **MANY),
    ),
    Repeat(TABLES / "figure-10.csv", "16 ranks", partial(figure_10.measure_one, 16, 262144)),
    Repeat(TABLES / "claims.csv", "188 nodes", partial(claims.measure_nodes, 188)),
    Repeat(TABLES / "cores.csv", "two cores", partial(cores.measure_one, 2, 400)),
    Repeat(TABLES / "claims.csv", "16 trees", partial(claims.measure_trees, 16)),
)
CLAIMS = (
    written(TRAFFIC, "figure-2"),
    written(TOGETHER, "ag-rs"),
    written("Broadcast in constant time", "claims"),
    written("99 % of the time", "figure-10"),
    written(KNOMIAL, "figure-11"),
    written("Broadcast up to 4.75", "figure-11"),
    written("Allgather of 128 and 256 KiB", "figure-11"),
    written(SWITCHES, "figure-12"),
    written("a worker polls", "claims"),
    stored(PAGE, "one thread takes 11.9", "make bench-progress-engine", lambda: cell("one thread")),
    stored(
        PAGE,
        "receivers that are too slow",
        "weft run --fabric slow.toml -n 8 --offload multicast",
        lambda: cell("receivers that are"),
    ),
    written("progress on the host costs", "cores"),
    written("incast where all roots", "incast"),
    written("throughput of large messages varies", "variability"),
    stored(PAPER, "Traffic of an Allgather", MAKE.format("figure-2"), lambda: cell(TRAFFIC)),
    stored(
        PAPER,
        "Allgather concurrent with",
        MAKE.format("ag-rs"),
        lambda: cell(TOGETHER)[:1],
    ),
    stored(PAPER, "Broadcast compared with", MAKE.format("figure-11"), lambda: cell(KNOMIAL)),
    stored(PAPER, "Traffic on 188 hosts", MAKE.format("figure-12"), lambda: cell(SWITCHES)),
)
