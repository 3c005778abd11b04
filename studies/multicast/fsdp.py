# SPDX-License-Identifier: LGPL-2.1-only
"""Training step of FSDP with multicasts, with rings, and with SMPI's algorithms."""

import json
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from studies.multicast import FULL_BANDWIDTH, MULTICAST, changed_fabric, make_study
from studies.resume import kept_rows
from studies.study import OPTION, Table
from weft.base import paths
from weft.base.errors import WeftError
from weft.base.plots import COLOURS, GREY, look
from weft.base.process import work_directory
from weft.base.units import format_size
from weft.runs import launch
from weft.runs.record import Record
from weft.runs.request import Request
from weft.runs.toolchain import compile_c

FSDP_RANKS, FSDP_LAYERS, FSDP_BYTES = 16, 8, 4 * 2**20
FSDP_COMPUTE_US = (25, 50, 75, 100, 150, 200, 300, 400)
FSDP_SHOWN_US = 100
JOINED_US = 0.05
"""Upper bound on the time of MPI calls between two activities of a rank."""
FSDP_MODES = {MULTICAST: "mpi", "ring": "ring", "smpi": "mpi"}
FSDP_SMPI = "smpi:ompi"  # SMPI's algorithms, also non-blocking


def measure() -> Table:
    """Run a step by computation and mode; for one computation, store the timeline of rank 0."""
    return kept_rows(
        "multicast",
        [
            (f"fsdp-{compute_us}-{mode}", partial(measure_step, mode, compute_us))
            for compute_us in FSDP_COMPUTE_US
            for mode in FSDP_MODES
        ],
    )


def measure_step(mode: str, compute_us: int) -> Table:
    """Run one step; return its time and, if requested, the timeline of rank 0."""
    shown = compute_us == FSDP_SHOWN_US
    offload: Any = MULTICAST if mode == MULTICAST else "off"
    lines: list[str] = []
    chains = changed_fabric(FULL_BANDWIDTH, MULTICAST, {"chains": FSDP_RANKS})
    with work_directory() as work, chains as fabric:
        program, timeline = work / "fsdp_step", work / "timeline.json"
        compile_c(paths.example("fsdp_step.c"), program)
        request = Request.of(
            fabric=fabric,
            ranks=FSDP_RANKS,
            program=str(program),
            arguments=(str(FSDP_LAYERS), str(FSDP_BYTES), str(compute_us), FSDP_MODES[mode]),
            offload=offload,
            fallback=FSDP_SMPI if mode == "smpi" else None,
            privatize=False,
            timeline=timeline if shown else None,
        )
        record = launch.run(launch.prepare(request), lines.append)
        if record.failed:
            raise WeftError(f"{OPTION}: fsdp: {record.outcome.message}")
        seen = list(spans(timeline, record)) if shown else []
    step_us = next(line for line in lines if line.startswith("step")).split()[1]
    row = {"mode": mode, "compute_us": str(compute_us)}
    step = {"what": "step", "start_us": "0", "end_us": step_us}
    return [{**row, **one} for one in (step, *seen)]


def spans(timeline: Path, record: Record) -> Iterator[dict[str, str]]:
    """Yield spans of rank 0's computation and waiting, and of the network's switches."""
    what = {"computing": "compute", "MPI_Wait": "wait", "MPI_Waitany": "wait"}
    events = json.loads(timeline.read_text(encoding="utf-8"))["traceEvents"]
    of_rank = [one for one in events if one["ph"] == "X" and (one["pid"], one["tid"]) == (1, 0)]
    doing = [
        (what[one["name"]], one["ts"], one["ts"] + one["dur"])
        for one in of_rank
        if one["name"] in what
    ]
    yield from (span(*one) for one in joined(doing) if one[2] > one[1])
    whole = {(one.collective, one.start_s, one.end_s) for one in record.events}
    for collective, start_s, end_s in sorted(whole, key=lambda one: one[1]):
        if collective != "barrier":
            yield span(collective, start_s * 1e6, end_s * 1e6)


def joined(doing: Sequence[tuple[str, float, float]]) -> list[tuple[str, float, float]]:
    """Merge spans that follow each other without a gap."""
    whole: list[tuple[str, float, float]] = []
    for what, start, end in doing:
        if whole and whole[-1][0] == what and start - whole[-1][2] < JOINED_US:
            whole[-1] = (what, whole[-1][1], end)
        else:
            whole.append((what, start, end))
    return whole


def span(what: str, start_us: float, end_us: float) -> dict[str, str]:
    """Return the cells of one span."""
    return {"what": what, "start_us": f"{start_us:.6g}", "end_us": f"{end_us:.6g}"}


def draw(rows: Table, figure: Figure) -> None:
    """Draw two timelines, and plot the step time against computation."""
    axes_of = figure.subplot_mosaic([[MULTICAST, "times"], ["ring", "times"]])
    titles = {MULTICAST: "multicast Allgather, in-network Reduce-Scatter", "ring": "ring, ring"}
    lanes = {"compute": 3, "wait": 2, "iallgather": 1, "ireduce_scatter": 0}
    longest = max(float(row["end_us"]) for row in rows if row["what"] in lanes)
    for mode, title in titles.items():
        axes = axes_of[mode]
        for k, (what, lane) in enumerate(lanes.items()):
            bars = [
                (float(row["start_us"]), float(row["end_us"]) - float(row["start_us"]))
                for row in rows
                if (row["mode"], row["what"]) == (mode, what)
            ]
            axes.broken_barh(bars, (lane - 0.4, 0.8), color=COLOURS[k], linewidth=0)
        axes.set_yticks(list(lanes.values()), ["computes", "waits", "Allgather", "Reduce-Scatter"])
        axes.set_ylim(-0.5 if mode == MULTICAST else 1.5, 3.5)
        axes.set_xlim(0, longest)
        axes.set_title(f"{title}: rank 0", loc="left")
        axes.set_xlabel("time, us")
    draw_times(rows, axes_of["times"])


def draw_times(rows: Table, axes: Any) -> None:
    """Plot the step time against the time of a layer's forward pass."""
    for k, (mode, points) in enumerate(step_times(rows).items()):
        axes.plot(list(points), list(points.values()), label=mode, **look(k))
    alone = [3 * FSDP_LAYERS * compute for compute in FSDP_COMPUTE_US]
    axes.plot(FSDP_COMPUTE_US, alone, color=GREY, linestyle="dotted", label="computation")
    axes.set_ylim(bottom=0)
    axes.set_xlabel("forward pass of a layer, us")
    axes.set_ylabel("training step, us")
    axes.set_title(f"{FSDP_LAYERS} layers of {format_size(FSDP_BYTES)}, {FSDP_RANKS} ranks")
    axes.legend(frameon=False)


def step_times(rows: Table) -> dict[str, dict[int, float]]:
    """Return the step time by mode and computation."""
    return {
        mode: {
            int(row["compute_us"]): float(row["end_us"])
            for row in rows
            if (row["mode"], row["what"]) == (mode, "step")
        }
        for mode in FSDP_MODES
    }


def table(rows: Table) -> Iterator[str]:
    """Yield the step times."""
    times = step_times(rows)
    yield "| forward pass | computation alone | multicast | ring | SMPI | ring / multicast |"
    yield "|---:|---:|---:|---:|---:|---:|"
    for compute in FSDP_COMPUTE_US:
        ours, ring, smpi = (times[mode][compute] for mode in FSDP_MODES)
        yield (
            f"| {compute} us | {3 * FSDP_LAYERS * compute} us | {ours:.0f} us | {ring:.0f} us "
            f"| {smpi:.0f} us | {ring / ours:.2f} |"
        )


STUDY = make_study("fsdp", "a training step", measure, draw, table, 14)
