# SPDX-License-Identifier: LGPL-2.1-only
"""Workload of a training file on a GPU, with a summary of the iteration."""

from collections.abc import Iterator
from dataclasses import dataclass

from weft import _core
from weft.base.errors import WeftError
from weft.base.units import plural
from weft.training.accelerator import Accelerator
from weft.training.costs import Costs
from weft.training.file import TrainingFile
from weft.training.memory import Memory, check_memory, most_memory
from weft.training.parallelism import Parallelism
from weft.training.program import Ring, write_program
from weft.training.workload import NewProgram, Program, Workload


@dataclass(frozen=True, kw_only=True)
class Summary:
    """Summary of an iteration, without its time."""

    model: str
    gpu: str
    ranks: int
    parameters: int
    active_parameters: int
    """Parameters used for a token."""
    tokens: int
    """Tokens of the iteration."""
    flops: float
    """Operations of the model, without recomputation; the causal mask counts as half."""
    whole_attention_flops: float
    """Operations of the model with all products of attention, as without the mask."""
    peak: float
    """Operations per second of a GPU in this precision."""
    layout: str
    """Parallel layout of the ranks, in words."""
    memory: Memory
    """Memory requirements of a GPU in the stage that requires most."""
    memory_available: float
    """Memory of a GPU in bytes."""
    operations: tuple[int, ...]
    """Number of operations of each stage's program."""

    def tflops(self, time_s: float) -> float:
        """Return the TFLOP/s per GPU of an iteration."""
        return self.flops / time_s / self.ranks / 1e12

    def mfu(self, time_s: float) -> float:
        """Return the model FLOPs utilisation of an iteration.

        MFU is the fraction of the peak rate (Chowdhery et al., "PaLM", 2022, appendix B).
        """
        return self.flops / time_s / self.ranks / self.peak


def build(
    training: TrainingFile,
    gpu: Accelerator,
    new_program: NewProgram = _core.WorkloadProgram,
    *,
    ignore_memory: bool = False,
) -> tuple[Workload, Summary]:
    """Return the programs of an iteration, and its summary.

    Raises `WeftError` if the GPU has less memory than needed, or if its preset lacks a rate for the
    precision.
    """
    costs = Costs(training, gpu.slowed(training.method.slowdown))
    parallel = training.parallel
    _check_precision(training, gpu)
    memory = most_memory(costs)
    if not ignore_memory:
        check_memory(training, gpu, memory)
    rings = _rings(parallel)
    programs: list[Program] = []
    sizes: list[int] = []
    for stage in range(parallel.pipeline):
        for ring in rings:
            program = new_program(True)
            sizes.append(write_program(program, costs, stage, ring))
            programs.append(program)
    program_of = [
        parallel.stage_of(rank) * len(rings) + _ring_of(parallel, rank)
        for rank in range(parallel.ranks)
    ]
    workload = Workload(programs, program_of, parallel.groups, gpu.sms)
    return workload, _summary(training, gpu, memory, tuple(sizes[:: len(rings)]))


def _check_precision(training: TrainingFile, gpu: Accelerator) -> None:
    precision = training.method.precision
    if precision not in gpu.peak:
        raise WeftError(
            f"{training.source}: [train] precision: found '{precision}', but {gpu.name} has"
            f" {', '.join(gpu.peak)}"
        )


def _rings(parallel: Parallelism) -> list[Ring]:
    """Return the ring neighbours of the first, the last and all other context parallel ranks."""
    if parallel.context == 1 or parallel.context_exchange != "ring":
        return [Ring()]
    step = parallel.tensor
    around = step * (parallel.context - 1)
    return [Ring(step, around), Ring(-around, -step), Ring(step, -step)]


def _ring_of(parallel: Parallelism, rank: int) -> int:
    if parallel.context == 1 or parallel.context_exchange != "ring":
        return 0
    index = parallel.context_of(rank)
    return 0 if index == 0 else 1 if index == parallel.context - 1 else 2


def _summary(
    training: TrainingFile, gpu: Accelerator, memory: Memory, operations: tuple[int, ...]
) -> Summary:
    model, batch = training.model, training.batch
    return Summary(
        model=training.name,
        gpu=gpu.name,
        ranks=training.parallel.ranks,
        parameters=model.parameters,
        active_parameters=model.active_parameters,
        tokens=batch.sequence * batch.sequences,
        flops=model.iteration_flops(batch.sequence, batch.sequences),
        whole_attention_flops=model.iteration_flops(batch.sequence, batch.sequences, causal=False),
        peak=gpu.peak[training.method.precision],
        layout=" ".join(_sentences(training)),
        memory=memory,
        memory_available=gpu.memory,
        operations=operations,
    )


def _sentences(training: TrainingFile) -> Iterator[str]:
    parallel, batch = training.parallel, training.batch
    dimensions = {
        "tensor": parallel.tensor,
        "context": parallel.context,
        "data": parallel.data,
        "pipeline": parallel.pipeline,
    }
    product = " x ".join(f"{size} {name}" for name, size in dimensions.items() if size > 1)
    yield f"{parallel.ranks:,} GPUs: {product}." if product else "1 GPU."
    if parallel.expert > 1:
        yield f"Experts are divided among {parallel.expert} of the data and context ranks."
    if parallel.pipeline > 1:
        chunks = f" of {parallel.virtual_stages} chunks" if parallel.virtual_stages > 1 else ""
        yield f"{parallel.pipeline} stages{chunks} follow the schedule {parallel.schedule}."
    if parallel.replicas > 1:
        among = f" in groups of {parallel.shard_group}" if parallel.shard_group else ""
        yield f"Data parallel ranks divide their state by {parallel.sharding}{among}."
    yield (
        f"An iteration has {plural(batch.sequences, 'sequence')} of {batch.sequence:,} tokens,"
        f" {plural(training.microbatches, 'microbatch')} of {batch.micro} a rank."
    )
