# SPDX-License-Identifier: LGPL-2.1-only
"""Records of iterations as JSON, and their ranks as CSV."""

import csv
from collections.abc import Sequence
from pathlib import Path

from msgspec import field

from weft import _core
from weft.base.errors import named
from weft.base.models import Model
from weft.base.output import whole_file
from weft.iterations.iteration import Iteration, LinkClassRecord
from weft.iterations.timeline import Uses, uses_of
from weft.runs.record_data import FaultsPart, OutcomePart, PacketsPart, TrafficPart
from weft.training.build import Summary

FORMAT = "weft-iteration"


class PartRecord(Model):
    """Use of time: the mean over the ranks, and the most of a rank."""

    name: str
    mean_s: float
    most_s: float


class TrainingRecord(Model):
    """Model, and rates of its training."""

    model: str
    gpu: str
    layout: str
    parameters: int
    active_parameters: int
    tokens: int
    flops: float
    memory_needed_bytes: float
    memory_available_bytes: float
    tflops_per_gpu: float | None
    """None, as the next two, of an iteration that could not go on."""
    mfu: float | None
    tokens_per_s_per_gpu: float | None


class IterationRecord(Model, kw_only=True):
    """An iteration of training on a fabric."""

    format: str
    version: int
    weft: str
    workload: str
    """Training file, preset or trace."""
    model_changes: list[str] = field(default_factory=list)
    """Changes of the training file."""
    fabric: str
    fabric_changes: list[str]
    library: str
    execute_all: bool
    detail: str
    multicast: bool = False
    """True: Allgathers between nodes were hardware multicasts, which NCCL does not have."""
    slowdown: dict[str, float]
    noise: float
    seed: int
    ranks: int
    outcome: OutcomePart = field(default_factory=lambda: OutcomePart(kind="completed"))
    """`completed`, or `network-failure` or `host-failure`: it could not go on."""
    time_s: float
    """Until the last rank has ended, or until the iteration could not go on."""
    bound: str
    """Name of the part that takes most."""
    parts: list[PartRecord]
    communicated_s: dict[str, float]
    links: list[LinkClassRecord] = field(default_factory=list)
    """Classes of links."""
    calls: int
    calls_executed: int
    """Calls that did not take the time of an equal one.

    Groups with a link that a fault names execute all their calls.
    """
    messages: int
    algorithms: dict[str, int]
    faults: FaultsPart | None = None
    """None without a fault file."""
    traffic_file: str = ""
    traffic: list[TrafficPart] = field(default_factory=list)
    """Background traffic."""
    packets: PacketsPart | None = None
    """None if messages were flows."""
    training: TrainingRecord | None
    """None for traces."""
    cpu_s: float
    memory_bytes: int
    uses: Uses | None = None
    """Picture of the iteration; None if no rank was listed."""


def record_of(
    workload: str,
    its: Iteration,
    summary: Summary | None = None,
    model_changes: Sequence[str] = (),
) -> IterationRecord:
    """Return the record of an iteration."""
    given = its.conditions
    return IterationRecord(
        format=FORMAT,
        version=1,
        weft=_core.version,
        workload=workload,
        model_changes=list(model_changes),
        fabric=its.fabric,
        fabric_changes=list(given.changes),
        library=given.library,
        execute_all=given.execute_all,
        detail=given.detail,
        multicast=given.multicast,
        slowdown={str(rank): factor for rank, factor in given.slowdown.items()},
        noise=given.noise,
        seed=given.seed,
        ranks=its.ranks,
        outcome=its.outcome,
        time_s=its.time_s,
        bound=its.bound,
        parts=[
            PartRecord(name=one.name, mean_s=one.mean_s, most_s=one.most_s) for one in its.parts
        ],
        communicated_s=dict(its.communicated_s),
        links=list(its.links),
        calls=its.calls,
        calls_executed=its.executed,
        messages=its.messages,
        algorithms=dict(its.algorithms),
        faults=its.faults,
        traffic_file=str(given.traffic or ""),
        traffic=list(its.traffic),
        packets=its.packets,
        training=_training(summary, its) if summary else None,
        cpu_s=its.cpu_s,
        memory_bytes=its.memory_bytes,
        uses=uses_of(its),
    )


def _training(summary: Summary, its: Iteration) -> TrainingRecord:
    time_s = None if its.failed else its.time_s
    return TrainingRecord(
        model=summary.model,
        gpu=summary.gpu,
        layout=summary.layout,
        parameters=summary.parameters,
        active_parameters=summary.active_parameters,
        tokens=summary.tokens,
        flops=summary.flops,
        memory_needed_bytes=float(summary.memory.total),
        memory_available_bytes=float(summary.memory_available),
        tflops_per_gpu=summary.tflops(time_s) if time_s else None,
        mfu=summary.mfu(time_s) if time_s else None,
        tokens_per_s_per_gpu=summary.tokens / time_s / summary.ranks if time_s else None,
    )


def write_ranks(its: Iteration, target: Path, option: str = named("csv")) -> None:
    """Write a row for each rank: its uses of time in seconds, and links that limit it."""
    names = ["rank", "computing_s"]
    names += [f"exposed_{kind}_s" for kind in its.kinds]
    names += [f"waiting_{kind}_s" for kind in its.kinds]
    names += ["idle_s", "end_s"]
    for one in its.links:
        names += [f"exposed_at_{one.name}_s", f"carried_at_{one.name}_s"]
    with whole_file(option, target) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([name.replace(" ", "_") for name in names])
        for rank, row in enumerate(its.rows):
            values = [row["computing_s"], *row["exposed_s"], *row["late_s"]]
            values += [row["idle_s"], row["end_s"]]
            for pair in zip(row["exposed_at_s"], row["carried_at_s"], strict=True):
                values += pair
            writer.writerow([rank, *(f"{value:.9g}" for value in values)])
