# SPDX-License-Identifier: LGPL-2.1-only
"""Units of a stage: embedding, layers and output, with a rank's parameters of each unit."""

from dataclasses import dataclass

from weft.training.file import TrainingFile
from weft.training.parallelism import Parallelism


@dataclass(frozen=True)
class Unit:
    """Parameters of a rank that are gathered at once, and whose gradients are summed at once."""

    chunk: int
    dense: float
    """Parameters shared by all data and context parallel ranks."""
    routed: float = 0.0
    """Expert parameters, shared only by ranks with the same experts."""
    layer: int | None = None
    """Index of the layer; None for embedding and output."""
    is_output: bool = False

    @property
    def is_embedding(self) -> bool:
        """True for the embedding."""
        return self.layer is None and not self.is_output

    def updated(self, parallel: Parallelism) -> float:
        """Return the parameters that a rank updates."""
        if parallel.sharding == "ddp":
            return self.dense + self.routed
        return self.dense / parallel.shards + self.routed / parallel.expert_replicas


def stage_units(training: TrainingFile, stage: int) -> tuple[tuple[Unit, ...], ...]:
    """Return the units of each chunk of a stage, in forward order."""
    count = len(training.chunks_of(stage))
    return tuple(_chunk_units(training, stage, chunk) for chunk in range(count))


def is_first(stage: int, chunk: int) -> bool:
    """Return true if a chunk begins with the embedding."""
    return stage == 0 and chunk == 0


def is_last(parallel: Parallelism, stage: int, chunk: int) -> bool:
    """Return true if a chunk ends with the output."""
    return stage == parallel.pipeline - 1 and chunk == parallel.virtual_stages - 1


def _chunk_units(training: TrainingFile, stage: int, chunk: int) -> tuple[Unit, ...]:
    model, parallel = training.model, training.parallel
    ways = parallel.tensor
    found = [
        Unit(
            chunk,
            model.dense_parameters(layer) / ways,
            model.routed_parameters(layer) / ways / parallel.expert,
            layer,
        )
        for layer in training.chunks_of(stage)[chunk]
    ]
    if is_first(stage, chunk):
        found.insert(0, Unit(chunk, model.embedding_parameters / ways))
    if is_last(parallel, stage, chunk):
        # The last stage stores a copy of a tied embedding.
        copy = model.vocabulary * model.hidden if model.tied and parallel.pipeline > 1 else 0
        found.append(Unit(chunk, (model.output_parameters + copy) / ways, is_output=True))
    return tuple(found)
