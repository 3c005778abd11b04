# SPDX-License-Identifier: LGPL-2.1-only
"""Cores that a progress engine on the host takes from computation, compared with one on the NIC.

The study runs a training step on hosts whose cores share a layer's computation, with a thread per
core. Cores that poll for chunks do not compute (`host_cores`), so the threads share the remaining
cores.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

from matplotlib.figure import Figure

from studies.multicast import FULL_BANDWIDTH, MULTICAST, changed_fabric, make_study
from studies.resume import kept_rows
from studies.study import OPTION, Table
from weft.base import paths
from weft.base.errors import WeftError
from weft.base.plots import GREY, look
from weft.base.process import work_directory
from weft.base.units import format_size
from weft.runs import launch
from weft.runs.request import Request
from weft.runs.toolchain import compile_c

HOST_CORES = 24
"""Cores of an AMD Epyc 7413, as in the paper's second testbed."""
ENGINE_CORES = (0, 1, 2, 4)
"""Number of host cores that poll; 0: the engine is on the NIC."""
ENGINES = {0: '"bluefield-3-dpa"'} | dict.fromkeys(ENGINE_CORES[1:], '"epyc-7413-core"')
RANKS, LAYERS, BYTES, THREADS = 16, 8, 4 * 2**20, 16
FORWARD_US = (25, 50, 100, 150, 200, 300, 400)
"""Time of a layer's forward pass on all cores."""


def measure() -> Table:
    """Run a step by computation time and engine."""
    return kept_rows(
        "multicast",
        [
            (
                f"threads-{HOST_CORES}-{cores}-{forward_us}",
                partial(measure_one, cores, forward_us),
            )
            for cores in ENGINE_CORES
            for forward_us in FORWARD_US
        ],
    )


def measure_one(cores: int, forward_us: int) -> Table:
    """Run one step; return its time, and the time of its computation."""
    workers = cores or THREADS
    engine = (
        f"\n[progress_engine]\npreset = {ENGINES[cores]}\nreceive_workers = {workers}\n"
        f"host_cores = {cores}\n"
    )
    values = {"chains": RANKS, "trees": workers}
    fabrics = changed_fabric(FULL_BANDWIDTH, MULTICAST, values, engine)
    lines: list[str] = []
    offload: Any = MULTICAST
    with work_directory() as work, fabrics as fabric:
        program = work / "fsdp_step"
        compile_c(paths.example("fsdp_step.c"), program)
        request = Request.of(
            fabric=fabric,
            ranks=RANKS,
            program=str(program),
            arguments=(*map(str, (LAYERS, BYTES, forward_us)), "mpi", "checked", str(HOST_CORES)),
            changes=(f"host.cores={HOST_CORES}",),
            offload=offload,
            privatize=False,
        )
        record = launch.run(launch.prepare(request), lines.append)
        if record.failed:
            raise WeftError(f"{OPTION}: cores: {record.outcome.message}")
    (part,) = (one for one in record.multicast if one.calls)
    step_us = next(line for line in lines if line.startswith("step")).split()[1]
    return [
        {
            "engine_cores": str(cores),
            "forward_us": str(forward_us),
            "step_us": step_us,
            "staging_drops": f"{part.staging_drops:.6g}",
        }
    ]


def step_times(rows: Table, cores: int) -> dict[int, float]:
    """Return the step time by forward pass time."""
    return {
        int(row["forward_us"]): float(row["step_us"])
        for row in rows
        if row["engine_cores"] == str(cores)
    }


def name(cores: int) -> str:
    """Return the label of an engine."""
    return f"{cores} of {HOST_CORES} cores" if cores else "DPA"


def draw(rows: Table, figure: Figure) -> None:
    """Plot the step time, and the slow-down relative to the DPA."""
    times, slower = figure.subplots(1, 2)
    dpa = step_times(rows, 0)
    for k, cores in enumerate(ENGINE_CORES):
        points = step_times(rows, cores)
        times.plot(list(points), list(points.values()), label=name(cores), **look(k))
        ratios = [time / dpa[forward] for forward, time in points.items()]
        slower.plot(list(points), ratios, label=name(cores), **look(k))
    alone = [3 * LAYERS * forward for forward in FORWARD_US]
    times.plot(FORWARD_US, alone, color=GREY, linestyle="dotted", label="computation on all cores")
    times.set_ylim(bottom=0)
    times.set_ylabel("training step, us")
    times.set_title(f"{LAYERS} layers of {format_size(BYTES)}, {RANKS} hosts", loc="left")
    slower.set_ylabel("step / step with the DPA")
    for axes in (times, slower):
        axes.set_xlabel(f"forward pass of a layer on {HOST_CORES} cores, us")
        axes.legend(frameon=False)


def table(rows: Table) -> Iterator[str]:
    """Yield the step time by forward pass time and engine."""
    yield "| forward pass | " + " | ".join(map(name, ENGINE_CORES)) + " |"
    yield "|---:|" + "---:|" * len(ENGINE_CORES)
    columns = {cores: step_times(rows, cores) for cores in ENGINE_CORES}
    for forward in FORWARD_US:
        cells = []
        for cores, points in columns.items():
            more = points[forward] / columns[0][forward] - 1
            cells.append(f"{points[forward]:.0f} us" + (f", {more:+.1%}" if cores else ""))
        yield f"| {forward} us | " + " | ".join(cells) + " |"


STUDY = make_study("cores", "cores that a host's progress engine takes", measure, draw, table, 12)
