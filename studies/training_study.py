# SPDX-License-Identifier: LGPL-2.1-only
"""docs/training-study.md: iterations of a dense and a mixture-of-experts model on many GPUs.

Each layout is simulated with rings and trees, NVLS and SHARP, some layouts also with multicast
Allgathers; one layout also with a concurrent second job, and with a failing cable. Times are
simulated and the same on every machine; CPU times are specific to the measuring machine.
"""

import random
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from matplotlib.figure import Figure

from studies.resume import kept_rows
from studies.study import DOCS, IMAGES, ROOT, Study, Table, markdown, read_table, write_table
from weft import _core, run_jobs
from weft.base.plots import COLOURS, HATCHES
from weft.base.units import format_ratio
from weft.iterations.iteration import Conditions, Iteration, simulate
from weft.training.run import Training, load_training
from weft.training.variants import MULTICAST, VARIANTS

FABRIC = "superpod-h100-32"
GPUS_OF_NODE = 8
FILE = DOCS / "training-study.csv"
FIGURE = IMAGES / "training-study.png"
HEAD = (
    "# studies/training_study.py: iterations on H100 SuperPODs (superpod-h100-32 with more units),"
    " by what NCCL may use\n"
)


GPUS_OF_UNIT = 256
"""GPUs per unit; more GPUs use 32 spines, so that each leaf has the same number of cables up and
down.
"""
_RINGS = ("rings and trees",)
_NCCL = tuple(name for name in VARIANTS if name != MULTICAST)
MOST_OF_TWO_LEVELS = 2048
"""GPUs up to which 64-port spines have a port for each leaf; more GPUs use larger spines."""
_WITHOUT_NVLS = ("rings and trees", "SHARP")
"""Variants for layouts in which NVLS across nodes takes minutes of CPU time, or is never chosen."""


@dataclass(frozen=True)
class Layout:
    """Model, and the parallel layout of its GPUs."""

    name: str
    model: str
    gpus: int
    changes: tuple[str, ...]
    variants: tuple[str, ...] = _NCCL
    detail: str = "step"

    @property
    def fabric_changes(self) -> tuple[str, ...]:
        """Changes to the fabric for the number of GPUs."""
        changes = [f"topology.nodes={self.gpus // GPUS_OF_NODE}"]
        if self.gpus > GPUS_OF_UNIT:
            changes.append("topology.spines=32")
        if self.gpus > MOST_OF_TWO_LEVELS:
            changes.append("switch.max_ports=512")
        return tuple(changes)


def _dense(
    name: str,
    gpus: int,
    *changes: str,
    variants: tuple[str, ...] = _NCCL,
    detail: str = "step",
) -> Layout:
    return Layout(name, "llama-3-70b", gpus, ("train.gpu=h100-sxm", *changes), variants, detail)


def _pipelined(
    gpus: int, sharding: str, variants: tuple[str, ...] = _NCCL, detail: str = "step"
) -> Layout:
    """Return tensor x pipeline x data parallelism, with 8 sequences of 8,192 tokens per rank."""
    data = gpus // 32
    return _dense(
        f"3-D, {sharding}",
        gpus,
        *("parallel.tensor=8", "parallel.pipeline=4", f"parallel.data={data}"),
        *(f"parallel.sharding={sharding}", "batch.sequence=8192", f"batch.global={8 * data}"),
        variants=variants,
        detail=detail,
    )


def _sharded(gpus: int, variants: tuple[str, ...] = _NCCL, detail: str = "step") -> Layout:
    """Return tensor parallelism within nodes and FSDP across nodes, with a sequence per node."""
    data = gpus // GPUS_OF_NODE
    return _dense(
        "tensor 8, FSDP",
        gpus,
        *("parallel.tensor=8", f"parallel.data={data}", "parallel.sharding=fsdp"),
        *("batch.sequence=8192", f"batch.global={data}"),
        variants=variants,
        detail=detail,
    )


def _experts(gpus: int, variants: tuple[str, ...] = _WITHOUT_NVLS, detail: str = "step") -> Layout:
    """Return the parallelism of a measured iteration of DeepSeek-V3, with half the batch size."""
    return Layout(
        "4 stages, experts among 64",
        "deepseek-v3",
        gpus,
        (f"parallel.data={gpus // 4}", f"batch.global={gpus}"),
        variants,
        detail,
    )


LAYOUTS = (
    _pipelined(1024, "ddp", _WITHOUT_NVLS),
    _pipelined(1024, "zero-1", tuple(VARIANTS)),
    _pipelined(16384, "zero-1", _RINGS, "call"),
    _sharded(256, tuple(VARIANTS)),
    _sharded(1024, _RINGS),
    _sharded(4096, _RINGS, "call"),
    _experts(256),
    _experts(1024, _RINGS, "call"),
)
"""Layouts in table order, by number of GPUs within each kind."""


def trained(layout: Layout) -> Training:
    """Return the programs of a layout."""
    name = layout.model
    if name == "deepseek-v3":
        name = str(ROOT / "examples" / "training" / "deepseek-v3-256.toml")
    return load_training(name, layout.changes)


def measure() -> None:
    """Simulate all layouts, then two concurrent jobs, and failing links."""
    parts = [
        (f"{layout.model}-{layout.name}-{layout.gpus}-{variant}", partial(_alone, layout, variant))
        for layout in LAYOUTS
        for variant in layout.variants
    ]
    write_table(FILE, kept_rows("training-study", parts), HEAD)
    disturbances = [(name, partial(beside, name)) for name in PLACEMENTS]
    write_table(BESIDE, kept_rows("training-study", disturbances), BESIDE_HEAD)
    failing = [(name, partial(failed, name)) for name in FAULTS]
    write_table(FAILING, kept_rows("training-study", failing), FAILING_HEAD)


def _alone(layout: Layout, variant: str) -> Table:
    training = trained(layout)
    executors = VARIANTS[variant]
    conditions = Conditions(
        fabric=FABRIC,
        changes=(*layout.fabric_changes, *executors.changes),
        detail=layout.detail,
        multicast=executors.multicast,
    )
    return [_row(layout, variant, training, simulate(training.workload, conditions))]


def _row(layout: Layout, variant: str, training: Training, its: Iteration) -> dict[str, str]:
    def sum_of(kind: str) -> str:
        return f"{sum(one.mean_s for one in its.parts if one.name.startswith(kind)):.4g}"

    exposed = {one.name: one.mean_s for one in its.parts if one.name.startswith("exposed")}
    most = max(exposed, key=exposed.__getitem__, default="")
    return {
        "model": training.summary.model,
        "layout": layout.name,
        "gpus": str(layout.gpus),
        "executed_by": layout.detail,
        "collectives": variant,
        "time_s": f"{its.time_s:.4g}",
        "mfu": f"{training.summary.mfu(its.time_s):.4f}",
        "computation_s": sum_of("computation"),
        "exposed_s": sum_of("exposed"),
        "waiting_s": sum_of("waiting"),
        "idle_s": sum_of("idle"),
        "most_exposed": most.removeprefix("exposed "),
        "most_exposed_s": f"{exposed.get(most, 0.0):.4g}",
        "messages": str(its.messages),
        "cpu_s": f"{its.cpu_s:.1f}",
    }


# ---- Two concurrent jobs

BESIDE = DOCS / "training-study-beside.csv"
BESIDE_HEAD = (
    "# studies/training_study.py: two iterations of llama-3-70b (tensor 8, FSDP, 256 GPUs each) at"
    " once on superpod-h100-32 with two units\n"
)
NODES = 64
"""Nodes of two units, half of them for each job."""
SEED = 1


def _at_random() -> list[int]:
    nodes = list(range(NODES))
    random.Random(SEED).shuffle(nodes)
    return nodes


PLACEMENTS: Mapping[str, tuple[int, Sequence[int]]] = {
    "a unit each": (4, range(NODES)),
    "nodes at random, 4 spines": (4, _at_random()),
    "nodes at random, 32 spines": (32, _at_random()),
}
"""Number of spines, and the nodes in rank order: the first half for the first job."""


def beside(name: str) -> Table:
    """Return the times of two jobs, concurrent and alone, with this placement."""
    spines, nodes = PLACEMENTS[name]
    layout = _sharded(256)
    jobs: list[dict[str, object]] = [
        {
            "name": job,
            "training": layout.model,
            "with": list(layout.changes),
            "hosts": [f"node-{node:02}.gpu-{gpu}" for node in its for gpu in range(GPUS_OF_NODE)],
        }
        for job, its in (("first", nodes[: NODES // 2]), ("second", nodes[NODES // 2 :]))
    ]
    changes = {"topology.nodes": NODES, "topology.spines": spines}
    record = run_jobs(jobs, fabric=FABRIC, set=changes, alone=True)
    rows = []
    for one in record.jobs or []:
        assert one.training and one.alone and one.alone.training
        exposed = {
            when: sum(part.mean_s for part in parts if part.name.startswith("exposed"))
            for when, parts in (
                ("alone", one.alone.training.parts),
                ("beside", one.training.parts),
            )
        }
        rows.append(
            {
                "placement": name,
                "job": one.name,
                "alone_s": f"{one.alone.training.time_s:.4g}",
                "beside_s": f"{one.training.time_s:.4g}",
                "exposed_alone_s": f"{exposed['alone']:.4g}",
                "exposed_beside_s": f"{exposed['beside']:.4g}",
                "cpu_s": f"{record.cpu_time_s:.1f}",
            }
        )
    return rows


def _beside_table(rows: Table) -> str:
    lines = [
        (
            row["placement"],
            row["job"],
            f"{float(row['alone_s']):.3g}",
            f"{float(row['beside_s']):.3g}",
            format_ratio(float(row["beside_s"]) / float(row["alone_s"])),
            f"{float(row['exposed_alone_s']):.3g}",
            f"{float(row['exposed_beside_s']):.3g}",
        )
        for row in rows
    ]
    heads = ("placement", "job", "alone, s", "beside, s", "times as long")
    return markdown((*heads, "exposed alone, s", "exposed beside, s"), lines, 2)


# ---- Failing links

FAILING = DOCS / "training-study-faults.csv"
FAILING_HEAD = (
    "# studies/training_study.py: a cable that fails 500 ms after the begin of an iteration of"
    " llama-3-70b (tensor 8, FSDP, 512 GPUs)\n"
)
RATE = 35 / 54
"""Failures of switches and cables per day with 16,384 GPUs: presets/faults/llama-3.toml."""
_DAY_S = 86_400
FAULTS: Mapping[str, str] = {
    "none": "",
    "leaf to spine": 'link = "{spine}"\nat = "500ms"\n',
    "GPU to leaf, repaired after 1 s": 'link = "{leaf}"\nat = "500ms"\nuntil = "1500ms"\n',
    "GPU to leaf, not repaired": 'link = "{leaf}"\nat = "500ms"\n',
}
"""Fault by name, on a cable of the first rail that the ring between the units crosses."""


def failed(name: str) -> Table:
    """Return the time of an iteration with a fault."""
    layout = _sharded(512)
    training = trained(layout)
    fabric = _core.load_fabric(FABRIC, list(layout.fabric_changes))
    with TemporaryDirectory() as folder:
        faults = Path(folder) / "faults.toml"
        if FAULTS[name]:
            text = FAULTS[name].format(**_cables(fabric))
            faults.write_text(f'[recovery]\ntransport = "nccl"\n\n[[fault]]\n{text}')
        conditions = Conditions(
            fabric=FABRIC, changes=layout.fabric_changes, faults=faults if FAULTS[name] else None
        )
        its = simulate(training.workload, conditions)
    part = its.faults
    return [
        {
            "fault": name,
            "outcome": its.outcome.kind,
            "time_s": f"{its.time_s:.6g}",
            "messages_cut": str(part.cut if part else 0),
            "waited_s": f"{part.waited_s if part else 0.0:.4g}",
            "cpu_s": f"{its.cpu_s:.1f}",
        }
    ]


def _cables(fabric: "_core.Fabric") -> dict[str, str]:
    """Return a cable of the GPU at the units' border, and its ring's cable to a spine.

    The ring of a rail goes from the last node of the first unit to the first node of the second.
    """
    border = 32 * GPUS_OF_NODE
    route = fabric.route(border - GPUS_OF_NODE, border)
    cables = [one.removesuffix(".up").removesuffix(".down") for one in route["links"]]
    return {
        "leaf": next(one for one in cables if "nic" in one and "leaf" in one),
        "spine": next(one for one in cables if "spine" in one),
    }


def _failing_table(rows: Table) -> str:
    base_s = float(rows[0]["time_s"])
    lines = []
    for row in rows:
        lost_s = float(row["time_s"]) - base_s
        ended = row["outcome"] == "completed"
        lines.append(
            (
                row["fault"],
                row["outcome"],
                f"{float(row['time_s']):.3g}",
                f"{lost_s:.3g}" if ended else "",
                f"{lost_s * RATE / _DAY_S:.1e}" if ended else "",
                row["messages_cut"],
            )
        )
    heads = ("cable", "outcome", "iteration, s", "lost, s", "fraction of a day", "messages cut")
    return markdown(heads, lines, 2)


# ---- The page


def _groups(rows: Table) -> Iterator[list[dict[str, str]]]:
    """Yield the rows of each layout, rings and trees first."""
    found: dict[tuple[str, str, str], list[dict[str, str]]] = {}
    for row in rows:
        found.setdefault((row["model"], row["layout"], row["gpus"]), []).append(row)
    yield from found.values()


def _cells(row: Mapping[str, str], base_s: float, *, first: bool) -> tuple[str, ...]:
    time_s = float(row["time_s"])

    def share(name: str) -> str:
        return f"{float(row[name]) / time_s:.0%}"

    name = f"{row['model']}, {row['layout']}"
    return (
        *((name, f"{int(row['gpus']):,}") if first else ("", "")),
        row["executed_by"],
        row["collectives"],
        f"{time_s:.3g}",
        format_ratio(base_s / time_s),
        f"{float(row['mfu']):.1%}",
        f"{share('exposed_s')} ({row['most_exposed']} {share('most_exposed_s')})",
    )


def _table(rows: Table) -> str:
    lines = [
        _cells(row, float(group[0]["time_s"]), first=row is group[0])
        for group in _groups(rows)
        for row in group
    ]
    heads = (
        *("model and layout", "GPUs", "executed by", "collectives by", "iteration, s"),
        *("times as fast", "MFU", "exposed (most)"),
    )
    return markdown(heads, lines, 1)


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
        # Times of different models are compared relative to their own times with rings and trees.
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
    more = sum(float(row["cpu_s"]) for row in read_table(FAILING))
    more += sum({row["placement"]: float(row["cpu_s"]) for row in read_table(BESIDE)}.values())
    most = max(rows, key=lambda row: float(row["cpu_s"]))
    said = (
        f"All {len(rows)} iterations took {total:,.0f} s of CPU, the longest one"
        f" {float(most['cpu_s']):,.0f} s ({most['model']}, {most['layout']},"
        f" {int(most['gpus']):,} GPUs, {most['collectives']}, {int(most['messages']):,} messages)."
        f" Concurrent jobs and faults took {more:,.0f} s."
    )
    return textwrap.fill(said, 100) + "\n"


STUDY = Study(
    "training-study",
    "iterations of a dense model and of a mixture of experts on up to 16,384 GPUs",
    measure=measure,
    figures=_figures,
    page=DOCS / "training-study.md",
    texts=lambda: {
        "table: iterations": _table(read_table(FILE)),
        "table: beside": _beside_table(read_table(BESIDE)),
        "table: failing": _failing_table(read_table(FAILING)),
        "table: costs": _costs(read_table(FILE)),
    },
)
