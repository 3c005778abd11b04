# SPDX-License-Identifier: LGPL-2.1-only
"""Claims of Belbeisi et al.: docs/accuracy.md and docs/papers/belbeisi.md.

The tables of accuracy.md and its appendix are what `weft validate` writes;
study/test_validate.py holds them against new runs.
"""

import re
from collections.abc import Iterator

from tests.claims import Repeat, printed, stored, stored_rows
from weft.base.measured import OSU_4X1, read_columns

ACCURACY, TABLES, PAPER = "accuracy.md", "accuracy-tables.md", "papers/belbeisi.md"
PAGES = (ACCURACY, PAPER)
VALIDATE, DEMO = "weft validate", "make demo"
OSU = "`tofino_osu_allreduce_4x1` | mpitofino_us | {}, tofino-4 |"
BENCH = "weft bench allreduce --fabric tofino-16 -n {} --sizes 1KiB --modes stream,message"
TREES = "`sharp_edr_128x1` | sharp_us | stream, hdr100-128 |"


def error(begins: str) -> tuple[str, str]:
    """Return the mean and the worst error of the first check that begins so, in percent."""
    mean, worst = stored_rows(TABLES, begins)[0][-2:]
    return mean.split()[0], worst.split()[0]


def gain(of: str) -> tuple[str, str]:
    """Return the mean and the largest factor of mpitofino over tuned Open MPI."""
    (row,) = (row for row in stored_rows(ACCURACY, f"{of} | ") if "KiB" in row[2])
    _, mean, most, _ = row
    return mean, most.split()[0]


def by_hosts(output: str) -> Iterator[str]:
    """Yield the latencies of 1 KiB by number of hosts, of each mode, and the measured one."""
    hosts = re.findall(r", (\d+) ranks,", output)
    found = re.findall(r"^ +1024 +([\d.]+) +([\d.]+)$", output, re.MULTILINE)
    by_number = dict(sorted(zip(map(int, hosts), found, strict=True)))
    for latencies in zip(*by_number.values(), strict=True):
        assert max(map(float, latencies)) - min(map(float, latencies)) < 1
        yield from latencies
    yield from map(str, by_number)
    yield from ("4", f"{read_columns(OSU_4X1)['mpitofino_us'][1024]:.2f}")


def proven(output: str) -> Iterator[str]:
    """Require the proof of all routes; yield nothing, as the cell has no numbers."""
    assert "is connected end to end" in output
    yield from ()


REPEATS: tuple[Repeat, ...] = ()
CLAIMS = (
    stored(
        ACCURACY,
        "Figure 4: the simulation is",
        VALIDATE,
        lambda: [*error(OSU.format("message")), *error(OSU.format("stream"))],
    ),
    stored(
        ACCURACY,
        "Figure 4: mpitofino is 2.2",
        DEMO,
        lambda: [*gain("measured"), *gain("simulated"), "2"],
    ),
    printed(
        ACCURACY,
        "Figure 5: 1 KiB",
        BENCH.format(16),
        by_hosts,
        also=[BENCH.format(hosts) for hosts in (4, 8, 12)],
    ),
    printed(ACCURACY, "Results are those of MPI", "weft fabric check tofino-4", proven),
    stored(ACCURACY, "Future work", VALIDATE, lambda: [error(TREES)[0]]),
    stored(PAPER, "Simulation by `message`", VALIDATE, lambda: [error(OSU.format("message"))[0]]),
    stored(PAPER, "Simulation by `stream`", VALIDATE, lambda: [error(OSU.format("stream"))[0]]),
    stored(PAPER, "mpitofino, measured", DEMO, lambda: gain("measured")),
    stored(PAPER, "mpitofino, simulated", DEMO, lambda: gain("simulated")),
)
