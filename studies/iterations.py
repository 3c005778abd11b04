# SPDX-License-Identifier: LGPL-2.1-only
"""Iterations of training: measured, and estimated from a rank of each stage.

The ranks of a stage do the same at the same time, so that one of them stands for all. Collectives
take the time that they take alone, by NCCL's algorithms on an idle fabric; messages that of a NIC.
What ranks and stages lose to each other on shared links is thus not in these times.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache

from studies.study import DOCS, ROOT, Study, Table, markdown, read_table, write_table
from weft import _core
from weft.training.accelerator import Accelerator, load_accelerator
from weft.training.build import build
from weft.training.file import TrainingFile, load_model
from weft.training.recorder import Operation, Recorder

MEASURED = ROOT / "data" / "training_iterations.csv"
TIMES = DOCS / "training-iterations.csv"
LIBRARY = "nccl-2.29"
GPUS_OF_NODE = 8
NIC_BPS = 50e9
"""Bytes per second of a NIC of 400 Gb/s."""
NIC_LATENCY_S = 2e-6
"""Four links of 500 ns (fabrics/superpod-h100-32.toml)."""
_NODES_OF_UNIT = 32
_BLOCKS = ("allgather", "reduce_scatter_block", "alltoall")

Index = tuple[int, int]
"""Stage and operation."""


@cache
def collective_s(collective: str, ranks: int, per_node: int, size: int) -> float:
    """Return the time of a collective of GPUs of which so many share a node."""
    nodes = -(-ranks // per_node)
    unit = min(nodes, _NODES_OF_UNIT)
    changes = [f"topology.nodes={nodes}", f"topology.nodes_per_unit={unit}"]
    if per_node < GPUS_OF_NODE:
        changes += [f"topology.gpus={per_node}", f"nccl.gpus_per_node={per_node}"]
    file = "superpod-h100-32" if nodes > 1 else "dgx-h100"
    fabric = _core.load_fabric(file, changes if nodes > 1 else [])
    count = max(size // ranks if collective in _BLOCKS else size, 1)
    return _core.predicted_times(fabric, LIBRARY, [(collective, ranks, 1, count, 1.0)])[0]


class Stages:
    """Timeline of one rank of each stage."""

    def __init__(self, training: TrainingFile, gpu: Accelerator) -> None:
        """Write the programs."""
        self._parallel = training.parallel
        workload, self.summary = build(training, gpu, Recorder, ignore_memory=True)
        self._groups = workload.groups
        self._programs: list[Sequence[Operation]] = [
            one.operations for one in workload.programs if isinstance(one, Recorder)
        ]
        self._before = [list(_predecessors(one)) for one in self._programs]
        self._partner = self._partners()
        self._begins: dict[Index, float] = {}
        self._ends: dict[Index, float] = {}

    def time_s(self) -> float:
        """Return the end of the last operation."""
        left = [(stage, k) for stage, ops in enumerate(self._programs) for k in range(len(ops))]
        while left:
            still = [at for at in left if not self._end(at)]
            if len(still) == len(left):
                raise ValueError("stages wait for each other")
            left = still
        return max(self._ends.values())

    def _end(self, at: Index) -> bool:
        """Return true if an operation has ended, or can now end."""
        if at in self._ends:
            return True
        stage, index = at
        one = self._programs[stage][index]
        waits = [(stage, other) for other in (*one.after, *self._before[stage][index])]
        if any(other not in self._ends for other in waits):
            return False
        self._begins[at] = max((self._ends[other] for other in waits), default=0.0)
        if one.type == "compute":
            self._ends[at] = self._begins[at] + one.amount
        elif one.type == "collective":
            self._ends[at] = self._begins[at] + self._collective_s(one)
        elif (other := self._partner[at]) in self._begins:
            end = max(self._begins[at], self._begins[other]) + NIC_LATENCY_S + one.amount / NIC_BPS
            self._ends[at] = self._ends[other] = end
        return at in self._ends

    def _collective_s(self, one: Operation) -> float:
        ranks = self._groups[one.kind][1][0]
        near = [rank for rank in ranks if rank // GPUS_OF_NODE == ranks[0] // GPUS_OF_NODE]
        return collective_s(one.collective, len(ranks), len(near), round(one.amount))

    def _partners(self) -> dict[Index, Index]:
        """Return the receipt of each message, and the reverse."""
        queues: dict[tuple[int, int, int, str], list[Index]] = defaultdict(list)
        for stage, operations in enumerate(self._programs):
            for index, one in enumerate(operations):
                other = stage + one.peer // self._parallel.stage_ranks
                if one.type in ("send", "receive"):
                    pair = (stage, other) if one.type == "send" else (other, stage)
                    queues[(*pair, one.tag, one.type)].append((stage, index))
        found: dict[Index, Index] = {}
        for (source, target, tag, kind), sends in queues.items():
            if kind == "send":
                receives = queues[(source, target, tag, "receive")]
                found |= zip(sends, receives, strict=True)
                found |= zip(receives, sends, strict=True)
        return found


def _predecessors(operations: Sequence[Operation]) -> Iterator[tuple[int, ...]]:
    """Yield the operation before each one on its stream."""
    last: dict[int, int] = {}
    for index, one in enumerate(operations):
        yield (last[one.stream],) if one.stream in last else ()
        last[one.stream] = index


def estimated(name: str) -> Stages:
    """Return the timeline of a file of examples/training."""
    training = load_model(ROOT / "examples" / "training" / f"{name}.toml")
    return Stages(training, load_accelerator(training.method.gpu))


def fitted(names: Sequence[str], measured_s: Sequence[float]) -> Accelerator:
    """Return the H100 whose matrix products make two iterations take the measured times.

    Newton's method on the logarithms of `efficiency` and `half_size`.
    """
    gpu = load_accelerator("h100-sxm")
    files = [load_model(ROOT / "examples" / "training" / f"{name}.toml") for name in names]
    for _ in range(_STEPS):
        tried = [gpu, *_nearby(gpu)]
        (here, *near) = [[Stages(one, with_gpu).time_s() for one in files] for with_gpu in tried]
        (a, b), (c, d) = [
            [(changed[k] - here[k]) / _NEAR for changed in near] for k in range(len(files))
        ]
        left = [target - time for target, time in zip(measured_s, here, strict=True)]
        determinant = a * d - b * c
        steps = (left[0] * d - left[1] * b, left[1] * a - left[0] * c)
        gpu = _changed(gpu, *(1 + step / determinant for step in steps))
    return gpu


_STEPS, _NEAR = 6, 1e-3


def _changed(gpu: Accelerator, efficiency: float, half_size: float) -> Accelerator:
    return replace(gpu, efficiency=gpu.efficiency * efficiency, half_size=gpu.half_size * half_size)


def _nearby(gpu: Accelerator) -> list[Accelerator]:
    return [_changed(gpu, 1 + _NEAR, 1), _changed(gpu, 1, 1 + _NEAR)]


def measure() -> None:
    """Estimate all measured iterations."""
    rows = []
    for row in read_table(MEASURED):
        stages = estimated(row["training"])
        time_s, summary = stages.time_s(), stages.summary
        rows.append(
            {
                **{key: row[key] for key in ("training", "gpus", "use")},
                "measured_s": row["seconds"],
                "estimated_s": f"{time_s:.4g}",
                "measured_mfu": f"{summary.mfu(float(row['seconds'])):.4f}",
                "estimated_mfu": f"{summary.mfu(time_s):.4f}",
                "memory_GB": f"{summary.memory.total / 1e9:.1f}",
            }
        )
    write_table(TIMES, rows, "# studies/iterations.py: iterations of training, estimated by weft\n")


_USES = {"fit": "GPU fitted", "slowdown": "`slowdown` fitted", "check": ""}


def _row(row: dict[str, str]) -> tuple[str, ...]:
    error = float(row["estimated_s"]) / float(row["measured_s"]) - 1
    return (
        f"[`{row['training']}`](../examples/training/{row['training']}.toml)",
        _USES[row["use"]],
        f"{int(row['gpus']):,}",
        f"{float(row['measured_s']):.2f}",
        f"{float(row['estimated_s']):.2f}",
        f"{error:+.0%}".replace("+0%", "0%").replace("-0%", "0%"),
        f"{float(row['measured_mfu']):.1%}",
        f"{float(row['estimated_mfu']):.1%}",
        f"{float(row['memory_GB']):.0f}",
    )


def _table(rows: Table) -> str:
    heads = (
        *("iteration", "", "GPUs", "measured, s", "weft, s", "error"),
        *("MFU measured", "MFU weft", "GB of a GPU"),
    )
    return markdown(heads, [_row(row) for row in rows], 2)


STUDY = Study(
    "iterations",
    "iterations of training: measured, and estimated",
    measure=measure,
    page=DOCS / "training-models.md",
    texts=lambda: {"table: iterations": _table(read_table(TIMES))},
)
