# SPDX-License-Identifier: LGPL-2.1-only
"""Training iterations: measured, and simulated by `weft train`."""

from collections.abc import Sequence
from dataclasses import replace

from studies.study import DOCS, ROOT, Study, Table, markdown, read_table, write_table
from weft.iterations.iteration import Conditions, simulate
from weft.training.accelerator import Accelerator, load_accelerator
from weft.training.build import Summary, build
from weft.training.file import TrainingFile, load_model

MEASURED = ROOT / "data" / "training_iterations.csv"
TIMES = DOCS / "training-iterations.csv"
_GPUS_OF_NODE, _NODES_OF_UNIT = 8, 32
_SPINES_OF_RAIL = 32


def conditions(gpus: int) -> Conditions:
    """Return a fabric of one H100 node, a scalable unit, or the required units, by rails."""
    nodes = -(-gpus // _GPUS_OF_NODE)
    if nodes == 1:
        return Conditions(fabric="dgx-h100")
    if nodes <= _NODES_OF_UNIT:
        return Conditions(fabric="superpod-h100-32")
    shape = {"nodes": nodes, "network": "rail-only", "spines": _SPINES_OF_RAIL}
    changes = tuple(f"topology.{key}={value}" for key, value in shape.items())
    return Conditions(fabric="superpod-h100-32", changes=changes)


def training_of(name: str) -> TrainingFile:
    """Return a training file of examples/training."""
    return load_model(ROOT / "examples" / "training" / f"{name}.toml")


def simulated(training: TrainingFile, gpu: Accelerator) -> tuple[float, Summary]:
    """Return the seconds of an iteration, and its summary."""
    workload, summary = build(training, gpu, ignore_memory=True)
    return simulate(workload, conditions(summary.ranks)).time_s, summary


def fitted(names: Sequence[str], measured_s: Sequence[float]) -> Accelerator:
    """Fit `efficiency` and `half_size` of the H100 so that two iterations take the measured times.

    The method is Newton's in log space.
    """
    gpu = load_accelerator("h100-sxm")
    files = [training_of(name) for name in names]
    for _ in range(_STEPS):
        tried = [gpu, *_nearby(gpu)]
        (here, *near) = [[simulated(one, with_gpu)[0] for one in files] for with_gpu in tried]
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
    """Simulate all measured iterations."""
    rows = []
    for row in read_table(MEASURED):
        training = training_of(row["training"])
        time_s, summary = simulated(training, load_accelerator(training.method.gpu))
        rows.append(
            {
                **{key: row[key] for key in ("training", "gpus", "use")},
                "measured_s": row["seconds"],
                "simulated_s": f"{time_s:.4g}",
                "measured_mfu": f"{summary.mfu(float(row['seconds'])):.4f}",
                "simulated_mfu": f"{summary.mfu(time_s):.4f}",
                "memory_GB": f"{summary.memory.total / 1e9:.1f}",
            }
        )
    write_table(
        TIMES, rows, "# studies/iterations.py: iterations of training, as weft executes them\n"
    )


_USES = {"fit": "GPU fitted", "slowdown": "`slowdown` fitted", "check": ""}


def _row(row: dict[str, str]) -> tuple[str, ...]:
    error = float(row["simulated_s"]) / float(row["measured_s"]) - 1
    return (
        f"[`{row['training']}`](../examples/training/{row['training']}.toml)",
        _USES[row["use"]],
        f"{int(row['gpus']):,}",
        f"{float(row['measured_s']):.2f}",
        f"{float(row['simulated_s']):.2f}",
        f"{error:+.0%}".replace("+0%", "0%").replace("-0%", "0%"),
        f"{float(row['measured_mfu']):.1%}",
        f"{float(row['simulated_mfu']):.1%}",
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
    "iterations of training: measured, and simulated",
    measure=measure,
    page=DOCS / "training-models.md",
    texts=lambda: {"table: iterations": _table(read_table(TIMES))},
)
