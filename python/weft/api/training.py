# SPDX-License-Identifier: LGPL-2.1-only
"""Training iterations on GPU fabrics."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from weft.api.fabrics import FabricLike, fabric_and_changes
from weft.api.input_checks import Changes, PathLike, call, changes
from weft.base.models import write_model
from weft.base.tables import printed
from weft.iterations import timeline
from weft.iterations.comparison import compare
from weft.iterations.iteration import Conditions, Iteration, simulate
from weft.iterations.record import IterationRecord, record_of
from weft.iterations.tables import print_iteration
from weft.study.bench.nccl import DEFAULT_VERSION
from weft.training import run
from weft.training.build import Summary
from weft.training.formats.options import ReadOptions
from weft.training.formats.roofline import roofline_of
from weft.training.formats.trace import load_trace
from weft.training.variants import VARIANTS

if TYPE_CHECKING:
    from polars import DataFrame

__all__ = ["TrainedIteration", "compare_training", "replay_training", "train"]


@dataclass(frozen=True)
class TrainedIteration:
    """Training iteration, as printed by `weft train`."""

    iteration: Iteration
    summary: Summary | None
    """Summary of the model; None for traces."""
    source: str

    @property
    def time_s(self) -> float:
        """Seconds of the iteration, or until it could not continue."""
        return self.iteration.time_s

    @property
    def mfu(self) -> float:
        """Model FLOPs utilisation: fraction of the GPUs' peak rate that the model uses.

        NaN for traces, which do not describe the model, and for an iteration that could not
        continue.
        """
        failed = self.iteration.failed
        return self.summary.mfu(self.time_s) if self.summary and not failed else math.nan

    @property
    def record(self) -> IterationRecord:
        """Record of the iteration."""
        return record_of(self.source, self.iteration, self.summary)

    def frame(self) -> "DataFrame":
        """Return the ranks' time by use: `part`, `mean_s`, `most_s`."""
        import polars

        rows = [(one.name, one.mean_s, one.most_s) for one in self.iteration.parts]
        return polars.DataFrame(rows, schema=["part", "mean_s", "most_s"], orient="row")

    @call
    def save(self, path: PathLike) -> None:
        """Write the record as JSON.

        Args:
            path: File to write.
        """
        write_model(self.record, Path(path), "path")

    @call
    def save_timeline(self, path: PathLike) -> None:
        """Write the operations of one rank per stage for Perfetto.

        Args:
            path: File to write.
        """
        timeline.write_timeline(self.iteration, Path(path), "path")

    def __str__(self) -> str:
        """Return the output of `weft train`."""
        return "\n".join(printed(lambda on: print_iteration(self.iteration, self.summary, on)))


def _conditions(
    fabric: FabricLike,
    changed: Changes | None,
    nccl: str,
    slowdown: Mapping[int, float] | None = None,
    *,
    faults: PathLike | None = None,
    traffic: PathLike | None = None,
    **more: Any,
) -> Conditions:
    """Return the conditions of an iteration; `more` are additional fields."""
    where, all_changes = fabric_and_changes(fabric, changed)
    factors = dict(slowdown or {})
    library = f"nccl-{nccl}"
    return Conditions(
        fabric=where,
        changes=all_changes,
        faults=Path(faults) if faults is not None else None,
        traffic=Path(traffic) if traffic is not None else None,
        library=library,
        slowdown=factors,
        **more,
    )


@call
def train(
    model: PathLike,
    fabric: FabricLike,
    *,
    set: Changes | None = None,
    faults: PathLike | None = None,
    traffic: PathLike | None = None,
    model_changes: Changes | None = None,
    gpu: str | None = None,
    nccl: str = DEFAULT_VERSION,
    slowdown: Mapping[int, float] | None = None,
    noise: float = 0.0,
    noise_seed: int = 0,
    execute_all: bool = False,
    detail: str = "step",
    multicast: bool = False,
    ignore_memory: bool = False,
) -> TrainedIteration:
    """Simulate an iteration of training a language model, as `weft train` does.

    Args:
        model: Training file, or the preset of a model.
        fabric: A fabric of GPUs: a shipped name, a file or a `weft.Fabric`.
        set: Values that override keys of the fabric file or, as `recovery.KEY` and `fault.KEY`, of
            `faults`.
        faults: File of links, switches and hosts that fail.
        traffic: File of background traffic.
        model_changes: Values that override keys of the training file, such as
            `{"parallel.tensor": 4}`.
        gpu: GPU preset, instead of the file's.
        nccl: Version of NCCL.
        slowdown: Slowdown factor of computation, by rank.
        noise: Standard deviation of the logarithm of a random factor of each computation.
        noise_seed: Seed of `noise`.
        execute_all: Execute repeated identical calls instead of reusing their times.
        detail: Detail of collectives: all NCCL messages ("slice"), one message per ring step
            ("step"), or one flow per call ("call").
        multicast: Let switches multicast the Allgathers between nodes, which NCCL does not support.
        ignore_memory: Allow models that exceed a GPU's memory.

    Raises:
        WeftError: The file is invalid, or does not fit the fabric or the GPU; the text states the
            reason.
    """
    training = run.load_training(
        Path(model), changes(model_changes), gpu=gpu, ignore_memory=ignore_memory
    )
    conditions = _conditions(
        *(fabric, set, nccl, slowdown),
        faults=faults,
        traffic=traffic,
        execute_all=execute_all,
        detail=detail,
        multicast=multicast,
        noise=noise,
        seed=noise_seed,
        listed=training.representatives(),
    )
    return TrainedIteration(
        simulate(training.workload, conditions), training.summary, training.file.source
    )


@call
def compare_training(
    model: PathLike,
    fabric: FabricLike,
    *,
    set: Changes | None = None,
    faults: PathLike | None = None,
    traffic: PathLike | None = None,
    model_changes: Changes | None = None,
    gpu: str | None = None,
    nccl: str = DEFAULT_VERSION,
    ignore_memory: bool = False,
) -> "DataFrame":
    """Compare an iteration by GPUs, NVSwitches, the network's switches, and multicast Allgathers.

    Args:
        model: Training file, or the preset of a model.
        fabric: A fabric of GPUs: a shipped name, a file or a `weft.Fabric`.
        set: Values that override keys of the fabric file or, as `recovery.KEY` and `fault.KEY`, of
            `faults`.
        faults: File of links, switches and hosts that fail.
        traffic: File of background traffic.
        model_changes: Values that override keys of the training file.
        gpu: GPU preset, instead of the file's.
        nccl: Version of NCCL.
        ignore_memory: Allow models that exceed a GPU's memory.

    Returns:
        `collectives_by`, `time_s`, `times_as_fast` (relative to the first row), `mfu`, `refusal`
        (why the fabric does not support a variant, or why it could not continue; its times are
        null).
    """
    import polars

    training = run.load_training(
        Path(model), changes(model_changes), gpu=gpu, ignore_memory=ignore_memory
    )
    variants = compare(
        training.workload, _conditions(fabric, set, nccl, faults=faults, traffic=traffic)
    )
    assert len(variants) == len(VARIANTS)
    rows = []
    for one in variants:
        factor = one.times_as_fast_as(variants[0])
        mfu = training.summary.mfu(one.time_s) if one.time_s else None
        rows.append((one.name, one.time_s, factor, mfu, one.problem))
    names = ["collectives_by", "time_s", "times_as_fast", "mfu", "refusal"]
    return polars.DataFrame(rows, schema=names, orient="row")


@call
def replay_training(
    trace: PathLike,
    fabric: FabricLike,
    *,
    set: Changes | None = None,
    faults: PathLike | None = None,
    traffic: PathLike | None = None,
    nccl: str = DEFAULT_VERSION,
    replicate: int | None = None,
    allgather_size: Literal["input", "total"] = "input",
    process_groups: PathLike | None = None,
    logical_dimensions: Sequence[int] = (),
    gpu: str | None = None,
    slowdown: Mapping[int, float] | None = None,
    noise: float = 0.0,
    noise_seed: int = 0,
    execute_all: bool = False,
    detail: str | None = None,
    multicast: bool = False,
) -> TrainedIteration:
    """Simulate an iteration recorded in training traces, as `weft replay` does.

    Args:
        trace: Traces of PyTorch's profiler (Kineto) or Chakra, or SimAI's text: folder or file.
        fabric: A fabric of GPUs: a shipped name, a file or a `weft.Fabric`.
        set: Values that override keys of the fabric file or, as `recovery.KEY` and `fault.KEY`, of
            `faults`.
        faults: File of links, switches and hosts that fail.
        traffic: File of background traffic.
        nccl: Version of NCCL.
        replicate: Number of ranks that execute the operations of the only recorded rank.
        allgather_size: Chakra: meaning of an Allgather's size: the contribution of a rank, or the
            result.
        process_groups: Chakra: JSON file with the ranks of process groups by number.
        logical_dimensions: Chakra: ranks in each dimension of ASTRA-sim's logical topology, the
            fastest first.
        gpu: Preset of the GPU that executes computations without recorded time.
        slowdown: Slowdown factor of computation, by rank.
        noise: Standard deviation of the logarithm of a random factor of each computation.
        noise_seed: Seed of `noise`.
        execute_all: Execute repeated identical calls instead of reusing their times.
        detail: Detail of collectives: all NCCL messages ("slice", the default up to 256 ranks), one
            message per ring step ("step", the default above), or one flow per call ("call").
        multicast: Let switches multicast the Allgathers between nodes, which NCCL does not support.

    Raises:
        WeftError: The trace is invalid or does not fit the fabric; the text states the reason.
    """
    options = ReadOptions(
        replicate=replicate,
        sizes=allgather_size,
        groups=Path(process_groups) if process_groups is not None else None,
        dimensions=tuple(logical_dimensions),
        roofline=roofline_of(gpu) if gpu else None,
    )
    read = load_trace(Path(trace), options)
    conditions = _conditions(
        *(fabric, set, nccl, slowdown),
        faults=faults,
        traffic=traffic,
        execute_all=execute_all,
        detail=detail or read.detail,
        multicast=multicast,
        noise=noise,
        seed=noise_seed,
        listed=read.representatives(),
    )
    return TrainedIteration(simulate(read.workload, conditions), None, read.source)
