# SPDX-License-Identifier: LGPL-2.1-only
"""docs/training-study.md: iterations of a dense model and of a mixture of experts on many GPUs.

Each layout is executed with rings and trees, NVLS and SHARP, some with Allgathers by multicast.
Times are simulated and the same on every machine; the CPU time is that of the machine that
measured.
"""

import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from matplotlib.figure import Figure

from studies.study import DOCS, IMAGES, ROOT, Study, Table, markdown, read_table, write_table
from weft.base.plots import COLOURS, HATCHES
from weft.base.units import format_ratio
from weft.iterations.iteration import Conditions, Iteration, simulate
from weft.training.run import Training, load_training
from weft.training.variants import GPUS_ALONE, MULTICAST, VARIANTS

FABRIC = "superpod-h100-32"
GPUS_OF_NODE = 8
FILE = DOCS / "training-study.csv"
FIGURE = IMAGES / "training-study.png"
HEAD = (
    "# studies/training_study.py: iterations on H100 SuperPODs (superpod-h100-32 with more units),"
    " by what NCCL may use\n"
)


_WITHOUT_NVLS = ("rings and trees", "SHARP")
"""Variants of layouts in which NVLS over nodes takes minutes of CPU, or is never chosen."""


@dataclass(frozen=True)
class Layout:
    """A model, and how GPUs share its training."""

    name: str
    model: str
    gpus: int
    changes: tuple[str, ...]
    variants: tuple[str, ...] = tuple(VARIANTS)


def _dense(
    name: str, gpus: int, *changes: str, variants: tuple[str, ...] = tuple(VARIANTS)
) -> Layout:
    return Layout(name, "llama-3-70b", gpus, ("train.gpu=h100-sxm", *changes), variants)


def _pipelined(gpus: int, sharding: str, variants: tuple[str, ...] = tuple(VARIANTS)) -> Layout:
    """Return tensor x pipeline x data parallelism, with 8 sequences of 8,192 tokens a rank."""
    data = gpus // 32
    return _dense(
        f"3-D, {sharding}",
        gpus,
        *("parallel.tensor=8", "parallel.pipeline=4", f"parallel.data={data}"),
        *(f"parallel.sharding={sharding}", "batch.sequence=8192", f"batch.global={8 * data}"),
        variants=variants,
    )


def _sharded(gpus: int, variants: tuple[str, ...] = tuple(VARIANTS)) -> Layout:
    """Return tensor parallelism in a node and FSDP over the nodes, a sequence for each node."""
    data = gpus // GPUS_OF_NODE
    return _dense(
        "tensor 8, FSDP",
        gpus,
        *("parallel.tensor=8", f"parallel.data={data}", "parallel.sharding=fsdp"),
        *("batch.sequence=8192", f"batch.global={data}"),
        variants=variants,
    )


def _experts(gpus: int) -> Layout:
    """Return the parallelism of a measured iteration of DeepSeek-V3, with half of its batch."""
    return Layout(
        "4 stages, experts among 64",
        "deepseek-v3",
        gpus,
        (f"parallel.data={gpus // 4}", f"batch.global={gpus}"),
        _WITHOUT_NVLS,
    )


LAYOUTS = (
    _pipelined(1024, "ddp", _WITHOUT_NVLS),
    _pipelined(1024, "zero-1", (*VARIANTS, MULTICAST)),
    _sharded(256, (*VARIANTS, MULTICAST)),
    _sharded(1024, ("rings and trees",)),
    _experts(256),
)


def trained(layout: Layout) -> Training:
    """Return the programs of a layout."""
    name = layout.model
    if name == "deepseek-v3":
        name = str(ROOT / "examples" / "training" / "deepseek-v3-256.toml")
    return load_training(name, layout.changes)


def measure() -> None:
    """Execute all layouts."""
    rows = []
    for layout in LAYOUTS:
        training = trained(layout)
        for variant in layout.variants:
            rows.append(_row(layout, variant, training, _executed(layout, variant, training)))
    write_table(FILE, rows, HEAD)


def _executed(layout: Layout, variant: str, training: Training) -> Iteration:
    multicast = variant == MULTICAST
    executors = GPUS_ALONE if multicast else VARIANTS[variant].changes
    changes = (f"topology.nodes={layout.gpus // GPUS_OF_NODE}", *executors)
    conditions = Conditions(fabric=FABRIC, changes=changes, multicast=multicast)
    return simulate(training.workload, conditions)


def _row(layout: Layout, variant: str, training: Training, its: Iteration) -> dict[str, object]:
    def sum_of(kind: str) -> str:
        return f"{sum(one.mean_s for one in its.parts if one.name.startswith(kind)):.4g}"

    exposed = {one.name: one.mean_s for one in its.parts if one.name.startswith("exposed")}
    most = max(exposed, key=exposed.__getitem__, default="")
    return {
        "model": training.summary.model,
        "layout": layout.name,
        "gpus": layout.gpus,
        "collectives": variant,
        "time_s": f"{its.time_s:.4g}",
        "mfu": f"{training.summary.mfu(its.time_s):.4f}",
        "computation_s": sum_of("computation"),
        "exposed_s": sum_of("exposed"),
        "waiting_s": sum_of("waiting"),
        "idle_s": sum_of("idle"),
        "most_exposed": most.removeprefix("exposed "),
        "most_exposed_s": f"{exposed.get(most, 0.0):.4g}",
        "messages": its.messages,
        "cpu_s": f"{its.cpu_s:.1f}",
    }


# ---- The page


def _groups(rows: Table) -> Iterator[list[dict[str, str]]]:
    """Yield the rows of each layout, those of rings and trees first."""
    found: dict[tuple[str, str, str], list[dict[str, str]]] = {}
    for row in rows:
        found.setdefault((row["model"], row["layout"], row["gpus"]), []).append(row)
    yield from found.values()


def _cells(row: Mapping[str, str], base_s: float, *, first: bool) -> tuple[str, ...]:
    time_s = float(row["time_s"])

    def share(name: str) -> str:
        return f"{float(row[name]) / time_s:.0%}"

    bubbles = (float(row["waiting_s"]) + float(row["idle_s"])) / time_s
    return (
        *((row["model"], row["layout"], f"{int(row['gpus']):,}") if first else ("", "", "")),
        row["collectives"],
        f"{time_s:.3g}",
        format_ratio(base_s / time_s),
        f"{float(row['mfu']):.1%}",
        share("computation_s"),
        f"{share('exposed_s')} ({row['most_exposed']} {share('most_exposed_s')})",
        f"{bubbles:.0%}",
    )


def _table(rows: Table) -> str:
    lines = [
        _cells(row, float(group[0]["time_s"]), first=row is group[0])
        for group in _groups(rows)
        for row in group
    ]
    heads = (
        *("model", "layout", "GPUs", "collectives by", "iteration, s", "times as fast", "MFU"),
        *("computation", "exposed (most)", "waiting and idle"),
    )
    return markdown(heads, lines, 2)


PARTS = {
    "computation_s": "computation",
    "exposed_s": "exposed communication",
    "waiting_s": "waiting",
    "idle_s": "idle",
}


def _figures() -> dict[Any, Figure]:
    rows = read_table(FILE)
    figure = Figure(figsize=(8, 0.9 + 0.34 * len(rows)), layout="constrained")
    axes = figure.subplots()
    names = [
        f"{row['model']}, {row['layout']},\n{int(row['gpus']):,} GPUs: {row['collectives']}"
        for row in rows
    ]
    begins = [0.0] * len(rows)
    for number, (column, name) in enumerate(PARTS.items()):
        # Times of different models are compared as shares of their own rings and trees.
        widths = [float(row[column]) / _base_s(rows, row) for row in rows]
        axes.barh(
            range(len(rows)),
            widths,
            left=begins,
            label=name,
            color=COLOURS[number],
            hatch=HATCHES[number],
            edgecolor="white",
            linewidth=0.4,
        )
        begins = [begin + width for begin, width in zip(begins, widths, strict=True)]
    axes.set_yticks(range(len(rows)), names, fontsize=7)
    axes.invert_yaxis()
    axes.axvline(1, color="black", linewidth=0.6)
    axes.set_xlabel("time of an iteration; 1 is that of rings and trees")
    figure.legend(frameon=False, fontsize=8, loc="outside upper right", ncols=len(PARTS))
    return {FIGURE: figure}


def _base_s(rows: Table, row: Mapping[str, str]) -> float:
    keys = ("model", "layout", "gpus")
    return next(float(one["time_s"]) for one in rows if all(one[key] == row[key] for key in keys))


def _costs(rows: Table) -> str:
    total = sum(float(row["cpu_s"]) for row in rows)
    most = max(rows, key=lambda row: float(row["cpu_s"]))
    said = (
        f"All {len(rows)} iterations took {total:,.0f} s of CPU, the longest one"
        f" {float(most['cpu_s']):,.0f} s ({most['model']}, {most['layout']},"
        f" {int(most['gpus']):,} GPUs, {most['collectives']}, {int(most['messages']):,} messages)."
    )
    return textwrap.fill(said, 100) + "\n"


STUDY = Study(
    "training-study",
    "iterations of a dense model and of a mixture of experts on up to 1,024 GPUs",
    measure=measure,
    figures=_figures,
    page=DOCS / "training-study.md",
    texts=lambda: {
        "table: iterations": _table(read_table(FILE)),
        "table: costs": _costs(read_table(FILE)),
    },
)
