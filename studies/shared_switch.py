# SPDX-License-Identifier: LGPL-2.1-only
"""docs/jobs.md: policies by which jobs share the slots of one switch.

Times are simulated and the same on every machine.
"""

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import weft
from studies.study import DOCS, IMAGES, Study, Table, read_table, write_table
from weft.base import paths
from weft.base.plots import look
from weft.base.process import work_directory
from weft.base.units import format_size
from weft.runs.toolchain import compile_c

FABRIC = "tofino-64x64"
HOSTS = 8
"""Hosts per job, with one rank each."""
JOBS = (1, 2, 4, 8)
SIZES = (1 << 10, 16 << 10, 256 << 10, 4 << 20)
SLOTS = 256
"""Slots of the switch for all jobs, each of 256 B, as in a channel of mpitofino."""
CALLS = 20
SHARES, LOCK, BEST, OFF = "equal parts", "one job at a time", "best effort", "hosts"
POLICIES = (SHARES, LOCK, BEST, OFF)
FILE = DOCS / "shared-switch.csv"


def measure() -> Table:
    """Run all policies, sizes and numbers of jobs."""
    with work_directory() as work:
        program = work / "allreduce_latency"
        compile_c(paths.example("allreduce_latency.c"), program)
        return [
            _row(str(program), policy, size, jobs)
            for policy, size, jobs in product(POLICIES, SIZES, JOBS)
        ]


def _row(program: str, policy: str, size: int, jobs: int) -> dict[str, str]:
    changes: dict[str, dict[str, Any]] = {
        SHARES: {"switch.channels": jobs, "switch.slots": SLOTS // jobs},
        LOCK: {
            "switch.channels": 1,
            "switch.slots": SLOTS,
            "switch.channel_sharing": "exclusive",
        },
        BEST: {
            "switch.channels": 1,
            "switch.slots": SLOTS,
            "switch.total_slots": SLOTS,
            "switch.channel_sharing": "best-effort",
        },
        OFF: {},
    }
    record = weft.run_jobs(
        [
            {
                "name": f"job{number}",
                "program": program,
                "arguments": [str(size), str(CALLS)],
                "ranks": HOSTS,
            }
            for number in range(jobs)
        ],
        fabric=FABRIC,
        set=changes[policy],
        offload="off" if policy == OFF else "stream",
    )
    record.check()
    lines = [line.split() for line in record.output.splitlines()]
    times = [float(words[2]) for words in lines if words[1] == str(size)]
    assert len(times) == jobs, record.output
    return {
        "policy": policy,
        "bytes": str(size),
        "jobs": str(jobs),
        "mean_us": f"{np.mean(times):.6g}",
        "worst_us": f"{max(times):.6g}",
    }


def _times(rows: Table, policy: str, size: int, column: str) -> list[float]:
    wanted = (policy, str(size))
    return [float(row[column]) for row in rows if (row["policy"], row["bytes"]) == wanted]


def _figures() -> dict[Any, Figure]:
    rows = read_table(FILE)
    figure = Figure(figsize=(10, 3.4), layout="constrained")
    for axes, size in zip(figure.subplots(1, len(SIZES)), SIZES, strict=True):
        hosts = _times(rows, OFF, size, "mean_us")
        for number, policy in enumerate((SHARES, LOCK, BEST)):
            gains = [
                alone / time
                for alone, time in zip(hosts, _times(rows, policy, size, "mean_us"), strict=True)
            ]
            axes.plot(JOBS, gains, label=policy, **look(number))
        axes.axhline(1, color="black", linewidth=0.8)
        axes.set_xscale("log", base=2)
        axes.set_xticks(JOBS, [str(jobs) for jobs in JOBS])
        axes.set_ylim(bottom=0)
        axes.set_title(f"Allreduce, {format_size(size)}", loc="left", fontsize=9)
        axes.set_xlabel("jobs")
    figure.axes[0].set_ylabel("gain over the hosts, mean of the jobs")
    figure.axes[0].legend(frameon=False, fontsize=8)
    return {IMAGES / "shared-switch.png": figure}


def _table() -> Iterator[str]:
    rows = read_table(FILE)
    yield (
        "| bytes | jobs | hosts, us | equal parts, us | one job at a time: mean, us | worst, us"
        " | best effort: mean, us | worst, us |"
    )
    yield "|" + "---:|" * 8
    for size in SIZES:
        columns = [
            _times(rows, OFF, size, "mean_us"),
            _times(rows, SHARES, size, "mean_us"),
            _times(rows, LOCK, size, "mean_us"),
            _times(rows, LOCK, size, "worst_us"),
            _times(rows, BEST, size, "mean_us"),
            _times(rows, BEST, size, "worst_us"),
        ]
        for jobs, *times in zip(JOBS, *columns, strict=True):
            cells = " | ".join(f"{time:.1f}" for time in times)
            yield f"| {format_size(size)} | {jobs} | {cells} |"


STUDY = Study(
    "shared-switch",
    "jobs that share the slots of a switch",
    measure=lambda: write_table(FILE, measure()),
    figures=_figures,
    page=DOCS / "jobs.md",
    texts=lambda: {"table: shared switch": "\n".join(_table()) + "\n"},
)
