# SPDX-License-Identifier: LGPL-2.1-only
"""docs/jobs.md: slowdown of jobs that share a fabric, by placement and switch policy.

Times are simulated and the same on every machine.
"""

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import weft
from studies.shared_switch import SLOTS
from studies.study import DOCS, IMAGES, Study, Table, read_table, write_table
from weft.base import paths
from weft.base.plots import bar_look
from weft.base.process import work_directory
from weft.runs.record_data import JobPart
from weft.runs.toolchain import compile_c

FABRICS = {"fat-tree-1024": "fat tree, 1,024 hosts", "dragonfly-16x16": "Dragonfly, 256 hosts"}
PLACEMENTS = ("contiguous", "round-robin", "fragments", "random")
JOBS = 8
RANKS = 32
"""Ranks per job, one per host: the jobs together fill the Dragonfly."""
PROGRAMS = {
    "allreduce": ("allreduce_latency.c", ("65536", "40")),
    "alltoall": ("benchmark_collectives.c", ("alltoall", "65536", "iterations=20", "warm-up=1")),
}
"""Programs, with arguments, of every second job."""
POLICIES: dict[str, dict[str, Any]] = {
    "hosts": {},
    "equal parts": {"switch.channels": JOBS, "switch.slots": SLOTS // JOBS},
    "one job at a time": {
        "switch.channels": 1,
        "switch.slots": SLOTS,
        "switch.channel_sharing": "exclusive",
    },
    "best effort": {
        "switch.channels": 1,
        "switch.slots": SLOTS,
        "switch.total_slots": SLOTS,
        "switch.channel_sharing": "best-effort",
    },
}
FILE = DOCS / "shared-fabric.csv"


def measure() -> Table:
    """Run all fabrics, placements and policies."""
    with work_directory() as work:
        programs = {}
        for kind, (source, _) in PROGRAMS.items():
            programs[kind] = str(work / kind)
            compile_c(paths.example(source), work / kind)
        return [
            row
            for fabric, placement, policy in product(FABRICS, PLACEMENTS, POLICIES)
            for row in _rows(programs, fabric, placement, policy)
        ]


def _rows(
    programs: dict[str, str], fabric: str, placement: str, policy: str
) -> Iterator[dict[str, str]]:
    kinds = [list(PROGRAMS)[number % len(PROGRAMS)] for number in range(JOBS)]
    record = weft.run_jobs(
        [
            {
                "name": f"{kind}-{number}",
                "program": programs[kind],
                "arguments": list(PROGRAMS[kind][1]),
                "ranks": RANKS,
                "placement": placement,
                "seed": number + 1,
            }
            for number, kind in enumerate(kinds)
        ],
        fabric=fabric,
        set=POLICIES[policy],
        offload="off" if policy == "hosts" else "stream",
        alone=True,
    )
    record.check()
    jobs = record.jobs or ()
    for kind in PROGRAMS:
        its = [job for job in jobs if job.name.startswith(kind)]
        slowdowns = [job.slowdown or 0.0 for job in its]
        yield {
            "fabric": fabric,
            "placement": placement,
            "policy": policy,
            "program": kind,
            "mean_us": f"{np.mean([_duration(job) for job in its]) * 1e6:.6g}",
            "slowdown": f"{np.mean(slowdowns):.6g}",
            "worst": f"{max(slowdowns):.6g}",
        }


def _duration(job: JobPart) -> float:
    assert job.start_s is not None
    assert job.end_s is not None
    return job.end_s - job.start_s


def _column(rows: Table, fabric: str, policy: str, program: str, column: str) -> list[float]:
    """Return a column, by placement."""
    wanted = (fabric, policy, program)
    return [
        float(row[column])
        for row in rows
        if (row["fabric"], row["policy"], row["program"]) == wanted
    ]


def _figures() -> dict[Any, Figure]:
    rows = read_table(FILE)
    figure = Figure(figsize=(10, 5.2), layout="constrained")
    grid = figure.subplots(len(PROGRAMS), len(FABRICS), sharey="row", sharex=True)
    for (row, program), (column, fabric) in product(enumerate(PROGRAMS), enumerate(FABRICS)):
        axes = grid[row][column]
        at, width = np.arange(len(PLACEMENTS)), 0.8 / len(POLICIES)
        for number, policy in enumerate(POLICIES):
            places = at + (number - (len(POLICIES) - 1) / 2) * width
            heights = _column(rows, fabric, policy, program, "slowdown")
            axes.bar(places, heights, width, label=policy, **bar_look(number))
        axes.axhline(1, color="black", linewidth=0.8)
        axes.set_xticks(at, PLACEMENTS)
        axes.set_title(f"{program} on {FABRICS[fabric]}", loc="left", fontsize=9)
        if column == 0:
            axes.set_ylabel("slowdown, mean of four jobs")
    grid[0][0].legend(frameon=False, fontsize=8)
    return {IMAGES / "shared-fabric.png": figure}


def _table() -> Iterator[str]:
    rows = read_table(FILE)
    heads = ["Alltoall", *(f"Allreduce: {policy}" for policy in POLICIES)]
    yield "| fabric | placement |" + "".join(f" {head}, us | slowdown |" for head in heads)
    yield "|---|---|" + "---:|" * 10
    for fabric in FABRICS:
        runs = [("hosts", "alltoall"), *((policy, "allreduce") for policy in POLICIES)]
        columns = [
            _column(rows, fabric, *run, column)
            for run in runs
            for column in ("mean_us", "slowdown")
        ]
        for placement, *values in zip(PLACEMENTS, *columns, strict=True):
            cells = [
                f"{value:,.0f}" if number % 2 == 0 else f"{value:.2f}"
                for number, value in enumerate(values)
            ]
            yield f"| {fabric} | {placement} | {' | '.join(cells)} |"


STUDY = Study(
    "shared-fabric",
    "jobs that share a fabric, by their places and the policy of switches",
    measure=lambda: write_table(FILE, measure()),
    figures=_figures,
    page=DOCS / "jobs.md",
    texts=lambda: {"table: shared fabric": "\n".join(_table()) + "\n"},
)
