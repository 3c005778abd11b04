# SPDX-License-Identifier: LGPL-2.1-only
"""Dimensions of parallelism of an iteration, and their groups of ranks.

Ranks are numbered as Megatron-LM does: tensor parallel ranks vary fastest, then context parallel,
data parallel, and pipeline ranks. Expert parallel groups are neighbours among the context and data
parallel ranks of a stage. Gradients are summed over data and context parallel ranks together.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

SHARDINGS: Mapping[str, str] = {
    "ddp": "nothing is divided; gradients are summed by an Allreduce",
    "zero-1": "data parallel ranks divide the optimizer's state: gradients are summed by a"
    " Reduce_scatter in the last microbatch, and updated parameters gathered",
    "zero-2": "gradients are divided too: a Reduce_scatter in each microbatch",
    "zero-3": "parameters are divided too: an Allgather before each layer of each pass",
    "fsdp": "the same as `zero-3`",
    "hybrid": "as `zero-3` within groups of `shard_group` ranks, and an Allreduce among the groups",
}
"""Ways to shard a stage's state among data parallel ranks."""

SCHEDULES: Mapping[str, str] = {
    "1f1b": "a forward pass and a backward pass in turn",
    "interleaved": "the same with several chunks of layers per stage (`virtual_stages`)",
    "zero-bubble": "ZB-H1: gradients of weights fill the end of the pipeline",
}
"""Schedules of a stage's passes."""

TENSOR, CONTEXT, DATA, EXPERT, EXPERT_DATA, REPLICAS, EMBEDDING = range(7)
"""Kinds of groups."""
GROUPS = ("tensor", "context", "data", "expert", "expert data", "replicas", "embedding")
"""Names of the group kinds, in order."""


@dataclass(frozen=True, kw_only=True)
class Parallelism:
    """Numbers of ranks in each dimension, and the division of work."""

    tensor: int = 1
    context: int = 1
    pipeline: int = 1
    virtual_stages: int = 1
    """Chunks of layers per pipeline stage."""
    data: int = 1
    expert: int = 1
    sequence_parallel: bool = True
    """True if norms and residuals split the sequence among tensor parallel ranks."""
    context_exchange: str = "allgather"
    """`allgather` of keys and values before attention, or `ring`: messages during attention."""
    sharding: str = "ddp"
    shard_group: int = 0
    """Number of ranks that share the parameters under `hybrid` sharding."""
    schedule: str = "1f1b"

    @property
    def ranks(self) -> int:
        """Number of ranks."""
        return self.tensor * self.context * self.pipeline * self.data

    @property
    def stage_ranks(self) -> int:
        """Ranks per stage, which is the distance between corresponding ranks of two stages."""
        return self.tensor * self.replicas

    @property
    def replicas(self) -> int:
        """Ranks with the same parameters, unless these are sharded."""
        return self.context * self.data

    @property
    def expert_replicas(self) -> int:
        """Ranks with the same experts, unless these are sharded."""
        return self.replicas // self.expert

    @property
    def divides_parameters(self) -> bool:
        """True if parameters are gathered before each use."""
        return self.sharding in ("zero-3", "fsdp", "hybrid")

    @property
    def shards(self) -> int:
        """Ranks in a group of the kind `data`."""
        return self.shard_group if self.sharding == "hybrid" else self.replicas

    def stage_of(self, rank: int) -> int:
        """Return the pipeline stage of a rank."""
        return rank // self.stage_ranks

    def context_of(self, rank: int) -> int:
        """Return the index of a rank in its context parallel group."""
        return rank // self.tensor % self.context

    @cached_property
    def groups(self) -> list[tuple[str, list[list[int]]]]:
        """Names of all group kinds, with the ranks of each group of several ranks."""
        lanes, shards = self.tensor, self.shards
        keys: dict[int, Callable[[int], tuple[int, ...]]] = {
            TENSOR: lambda rank: (rank // lanes,),
            CONTEXT: lambda rank: (rank % lanes, rank // lanes // self.context),
            DATA: lambda rank: (
                *(self.stage_of(rank), rank % lanes),
                self._replica(rank) // shards,
            ),
            EXPERT: lambda rank: (
                *(self.stage_of(rank), rank % lanes),
                self._replica(rank) // self.expert,
            ),
            EXPERT_DATA: lambda rank: (
                *(self.stage_of(rank), rank % lanes),
                self._replica(rank) % self.expert,
            ),
            REPLICAS: lambda rank: (
                *(self.stage_of(rank), rank % lanes),
                self._replica(rank) % shards,
            ),
        }
        found = [(GROUPS[kind], self._grouped(key)) for kind, key in keys.items()]
        return [*found, (GROUPS[EMBEDDING], self._ends())]

    def _replica(self, rank: int) -> int:
        return rank % self.stage_ranks // self.tensor

    def _grouped(self, key: Callable[[int], tuple[int, ...]]) -> list[list[int]]:
        found: dict[tuple[int, ...], list[int]] = {}
        for rank in range(self.ranks):
            found.setdefault(key(rank), []).append(rank)
        return [ranks for ranks in found.values() if len(ranks) > 1]

    def _ends(self) -> list[list[int]]:
        """Return pairs of ranks of the first and last stage that share a tied embedding."""
        if self.pipeline == 1:
            return []
        last = (self.pipeline - 1) * self.stage_ranks
        return [[rank, rank + last] for rank in range(self.stage_ranks)]
