# SPDX-License-Identifier: LGPL-2.1-only
"""Memory requirements of a GPU: parameters, gradients, optimizer, activations in flight.

Activations are the tensors that the backward pass reads (Korthikanti et al., "Reducing Activation
Recomputation in Large Transformer Models", MLSys '23, section 4), without dropout, and with
FlashAttention, which stores its output and a statistic per token and head instead of the scores.
Workspaces, buffers of NCCL and fragmentation are not counted.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from weft.base.errors import WeftError, named
from weft.training.accelerator import Accelerator
from weft.training.costs import ACTIVATION_BYTES, Costs
from weft.training.file import TrainingFile
from weft.training.schedule import BACKWARD, FORWARD, WEIGHT, passes
from weft.training.shards import PARAMETER_BYTES
from weft.training.units import Unit, stage_units

_STATISTICS_BYTES = 4
"""Bytes that FlashAttention stores per token and head."""
_LOGIT_BYTES = 2 + 4
"""Bytes of a BF16 logit and its FP32 probability."""
_GIGA = 1e9


@dataclass(frozen=True)
class Memory:
    """Bytes required on a GPU of a stage."""

    stage: int
    parameters: float
    gradients: float
    optimizer: float
    activations: float

    @property
    def total(self) -> float:
        """Total bytes."""
        return self.parameters + self.gradients + self.optimizer + self.activations


def memory_of(costs: Costs, stage: int) -> Memory:
    """Return the memory requirements of a GPU of a stage."""
    return _Stage(costs, stage).memory()


def most_memory(costs: Costs) -> Memory:
    """Return the memory requirements of a GPU of the stage with the largest total."""
    stages = range(costs.training.parallel.pipeline)
    return max((memory_of(costs, stage) for stage in stages), key=lambda one: one.total)


def check_memory(training: TrainingFile, gpu: Accelerator, most: Memory) -> None:
    """Raise `WeftError` if a GPU has less memory than required."""
    if most.total <= gpu.memory:
        return
    parts = ", ".join(
        f"{name} {size / _GIGA:.1f} GB"
        for name, size in (
            ("parameters", most.parameters),
            ("gradients", most.gradients),
            ("optimizer", most.optimizer),
            ("activations", most.activations),
        )
    )
    raise WeftError(
        f"{training.source}: a GPU of stage {most.stage} needs {most.total / _GIGA:.1f} GB"
        f" ({parts}), but {gpu.name} has {gpu.memory / _GIGA:g} GB;"
        f" {' or '.join(_remedies(training, most))}, or set {named('ignore_memory')}"
    )


def _remedies(training: TrainingFile, most: Memory) -> Iterator[str]:
    """Yield changes to the file that reduce the largest part."""
    parallel, method = training.parallel, training.method
    if most.activations > most.total / 2:
        if method.recomputation != "full":
            yield 'set recomputation = "full"'
        if training.batch.micro > 1:
            yield "lower micro"
        yield "raise tensor or context"
        return
    if parallel.replicas > 1 and not parallel.divides_parameters:
        better = "zero-1" if parallel.sharding == "ddp" else "fsdp"
        yield f'set sharding = "{better}"'
    if training.model.experts > parallel.expert:
        yield "raise expert"
    yield "raise tensor or pipeline"


class _Stage:
    """Computes the memory of a stage's GPU."""

    def __init__(self, costs: Costs, stage: int) -> None:
        self._costs = costs
        self._training = costs.training
        self._parallel = costs.training.parallel
        self._stage = stage

    def memory(self) -> Memory:
        """Return all parts of the memory requirements."""
        units = [unit for chunk in self._units for unit in chunk]
        return Memory(
            stage=self._stage,
            parameters=PARAMETER_BYTES * self._kept(units, self._parallel.divides_parameters),
            gradients=self._training.method.gradient_bytes
            * self._kept(units, self._divides_gradients),
            optimizer=self._training.method.optimizer.state_bytes * self._updated(units),
            activations=self._activations(),
        )

    @cached_property
    def _units(self) -> tuple[tuple[Unit, ...], ...]:
        return stage_units(self._training, self._stage)

    @property
    def _divides_gradients(self) -> bool:
        return self._parallel.divides_parameters or self._parallel.sharding == "zero-2"

    def _kept(self, units: list[Unit], divided: bool) -> float:
        """Return the parameters stored on a rank: its own, and two whole units."""
        whole = sorted((unit.dense + unit.routed for unit in units), reverse=True)
        if not divided:
            return sum(whole)
        return self._updated(units) + sum(whole[:2])

    def _updated(self, units: list[Unit]) -> float:
        return sum(unit.updated(self._parallel) for unit in units)

    def _activations(self) -> float:
        """Return the peak bytes of microbatches in flight."""
        chunks = [self._of_chunk(chunk) for chunk in range(len(self._units))]
        now = most = 0.0
        for one in passes(self._parallel, self._stage, self._training.microbatches):
            if one.kind == FORWARD:
                now += chunks[one.chunk]
            most = max(most, now)
            if one.kind in (BACKWARD, WEIGHT):
                now -= chunks[one.chunk]
        return most + self._working_layer()

    def _of_chunk(self, chunk: int) -> float:
        found = 0.0
        for unit in self._units[chunk]:
            if unit.layer is not None:
                found += self._of_layer(unit.layer, self._training.method.recomputation)
            elif unit.is_output:
                logits = self._costs.tokens * self._training.model.vocabulary
                found += logits / self._parallel.tensor * _LOGIT_BYTES
        return found

    def _working_layer(self) -> float:
        """Return the bytes of a layer that is recomputed."""
        if self._training.method.recomputation != "full":
            return 0.0
        layers = [unit.layer for chunk in self._units for unit in chunk if unit.layer is not None]
        return max((self._of_layer(layer, "none") for layer in layers), default=0.0)

    def _of_layer(self, layer: int, recomputation: str) -> float:
        """Return the bytes of a microbatch's activations in a layer."""
        model, costs = self._training.model, self._costs
        hidden = costs.lane_tokens * model.hidden * ACTIVATION_BYTES
        if recomputation == "full":
            return hidden
        lanes = costs.tokens / self._parallel.tensor
        kept = model.query_width + model.kv_width + model.query_rank + model.kv_rank
        attention = kept * ACTIVATION_BYTES
        if recomputation == "none":
            output = model.value_size * ACTIVATION_BYTES + _STATISTICS_BYTES
            attention += model.heads * output
        # Both norms store their input and output.
        return 4 * hidden + lanes * attention + self._of_feed_forward(layer, hidden, lanes)

    def _of_feed_forward(self, layer: int, hidden: float, lanes: float) -> float:
        model = self._training.model
        if not model.is_sparse(layer):
            return lanes * model.matrices * model.feed_forward * ACTIVATION_BYTES
        experts = model.experts_per_token * model.expert_feed_forward + model.shared_feed_forward
        # Tokens before and after the experts.
        moved = 2 * model.experts_per_token * hidden
        return moved + lanes * model.matrices * experts * ACTIVATION_BYTES
