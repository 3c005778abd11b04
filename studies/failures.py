# SPDX-License-Identifier: LGPL-2.1-only
"""docs/faults.md: time that programs lose to a failing switch, by policy and time of the failure.

Times are simulated and the same on every machine.
"""

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import weft
from studies.study import DOCS, IMAGES, Study, Table, read_table, write_table
from weft.base import paths
from weft.base.plots import look
from weft.base.process import work_directory
from weft.runs.record import Record
from weft.runs.toolchain import compile_c

FABRIC = "fat-tree-1024"
RANKS = 64
"""One rank per host: eight leaf switches below eight spines."""
ALLREDUCE = "Allreduce"
PROGRAMS = {
    ALLREDUCE: ("allreduce_latency", ("8388608", "10")),
    "stencil": ("halo_exchange", ("200", "262144")),
    "training step": ("fsdp_step", ("4", "16777216", "1000")),
}
"""Example and arguments of each program."""
OFF = "not offloaded"
POLICIES = ("resend", "rebuild", "hosts", OFF)
TIMES = 12
"""Number of failure times, spread over the middle of the run."""
FIRST, LAST = 0.3, 0.7
RECOVERY = """\
[recovery]
detection = "50us"
convergence = "1ms"
timeout = "500us"
retries = 100
"""
REPAIR_US = 5000.0
FILE = DOCS / "failures.csv"


def measure() -> Table:
    """Run all programs, policies and times."""
    with work_directory() as work:
        spine = _spine(work)
        return [
            row
            for program, policy in product(PROGRAMS, POLICIES)
            if program == ALLREDUCE or policy == OFF
            for row in _rows(work, spine, program, policy)
        ]


def _run(work: Path, program: str, offload: str, faults: Path | None = None) -> Record:
    example, arguments = PROGRAMS[program]
    binary = work / example
    if not binary.exists():
        compile_c(paths.example(f"{example}.c"), binary)
    return weft.run(
        binary, arguments, ranks=RANKS, fabric=FABRIC, offload=offload, faults=faults
    ).check()


def _spine(work: Path) -> str:
    """Return the second-level switch that combines the contributions of all ranks."""
    record = _run(work, ALLREDUCE, "stream")
    (name,) = (
        switch.name
        for switch in record.switches
        if switch.offloaded and switch.name.startswith("level2")
    )
    return name


def _rows(work: Path, spine: str, program: str, policy: str) -> Iterator[dict[str, str]]:
    offload = "off" if policy == OFF else "stream"
    alone = _run(work, program, offload)
    reaction = "" if policy == OFF else f'collectives = "{policy}"\n'
    for part in np.linspace(FIRST, LAST, TIMES):
        at_us = part * alone.simulated_time_s * 1e6
        file = work / "faults.toml"
        file.write_text(
            f'{RECOVERY}{reaction}[[fault]]\nswitch = "{spine}"\nat = "{at_us:.3f}us"\n'
            f'until = "{at_us + REPAIR_US:.3f}us"\n'
        )
        record = _run(work, program, offload, file)
        assert record.faults
        yield {
            "program": program,
            "policy": policy,
            "part": f"{part:.4f}",
            "alone_us": f"{alone.simulated_time_s * 1e6:.6g}",
            "lost_us": f"{(record.simulated_time_s - alone.simulated_time_s) * 1e6:.6g}",
            "cut": str(record.faults.cut),
        }


def _kinds(rows: Table) -> dict[str, Table]:
    """Return the rows by program and policy, under readable names."""
    kinds: dict[str, Table] = {}
    for row in rows:
        kinds.setdefault(f"{row['program']}, {row['policy']}", []).append(row)
    return kinds


def _figures() -> dict[Any, Figure]:
    figure = Figure(figsize=(7.5, 3.6), layout="constrained")
    axes = figure.subplots()
    for number, (name, rows) in enumerate(_kinds(read_table(FILE)).items()):
        parts = [100 * float(row["part"]) for row in rows]
        axes.plot(parts, [float(row["lost_us"]) / 1000 for row in rows], label=name, **look(number))
    axes.set_xlabel("time of the failure, per cent of the run without it")
    axes.set_ylabel("time lost, ms")
    axes.set_ylim(bottom=0)
    figure.legend(frameon=False, fontsize=8, loc="outside right upper")
    return {IMAGES / "failures.png": figure}


def _table() -> Iterator[str]:
    yield "| program, reaction | without failure, ms | lost: least, ms | mean, ms | most, ms |"
    yield "|---|" + "---:|" * 4
    for name, rows in _kinds(read_table(FILE)).items():
        lost = [float(row["lost_us"]) / 1000 for row in rows]
        cells = (float(rows[0]["alone_us"]) / 1000, min(lost), np.mean(lost), max(lost))
        yield f"| {name} | " + " | ".join(f"{cell:.2f}" for cell in cells) + " |"


STUDY = Study(
    "failures",
    "time that programs lose when a switch fails",
    measure=lambda: write_table(FILE, measure()),
    figures=_figures,
    page=DOCS / "faults.md",
    texts=lambda: {"table: failures": "\n".join(_table()) + "\n"},
)
