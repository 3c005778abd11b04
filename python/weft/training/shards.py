# SPDX-License-Identifier: LGPL-2.1-only
"""Collectives of data parallel ranks: gathering parameters and summing gradients.

A *unit* is gathered and summed at once: the embedding, a layer or the output. With sharded
parameters, a unit is gathered while the previous unit is computed (Zhao et al., "PyTorch FSDP",
VLDB '23, section 3.3). With a sharded optimizer, an iteration begins by gathering the parameters
updated in the previous iteration, since Megatron-LM overlaps this with the forward pass.
"""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence

from weft.training.file import Method
from weft.training.parallelism import DATA, EXPERT_DATA, REPLICAS, Parallelism
from weft.training.units import Unit
from weft.training.writer import DATA_STREAM, Writer

PARAMETER_BYTES = 2
"""Bytes per parameter in passes: BF16."""


class Shards:
    """Writes the collectives of data parallel ranks of a stage."""

    def __init__(
        self, write: Writer, parallel: Parallelism, method: Method, visits: Sequence[Unit]
    ) -> None:
        """Start a program whose passes visit units in the given order."""
        self._write = write
        self._parallel = parallel
        self._method = method
        self._visits = deque(visits)
        self._gathered: Unit | None = None
        self._gathers: dict[Unit, tuple[int, ...]] = {}
        self._ready: dict[int, float] = {}
        """Bytes of gradients, by group kind, that wait for a full bucket."""
        if parallel.sharding in ("zero-1", "zero-2") and method.overlap:
            self._gathers = {unit: self._gather(unit, ()) for unit in dict.fromkeys(visits)}

    def arrive(self, unit: Unit) -> None:
        """Make computation wait for the unit's parameters, and gather those of the next unit."""
        assert self._visits.popleft() == unit
        if not self._parallel.divides_parameters:
            self._write.wait(*self._gathers.pop(unit, ()))
            return
        if unit not in self._gathers and unit != self._gathered:
            self._gathers[unit] = self._gather(unit, self._write.computed)
        arrived = self._gathers.pop(unit, ())
        self._gathered = unit
        if self._method.overlap and self._visits and (following := self._visits[0]) != unit:
            self._gathers[following] = self._gather(following, self._write.computed)
        self._write.wait(*arrived)

    def leave(self, unit: Unit, *, is_last: bool) -> None:
        """Sum the unit's gradients for a finished microbatch; `is_last` for the last microbatch."""
        every = self._parallel.divides_parameters or self._parallel.sharding == "zero-2"
        if not (every or is_last):
            return
        for kind, parameters in self._parts(unit).items():
            size = parameters * self._method.gradient_bytes
            self._ready[kind] = self._ready.get(kind, 0.0) + size
            if self._ready[kind] >= self._method.bucket or self._parallel.divides_parameters:
                self._sum(kind, is_last=is_last)

    def flush(self) -> None:
        """Sum the gradients in a bucket that is not full."""
        for kind in list(self._ready):
            self._sum(kind, is_last=True)

    def finish(self, units: Iterable[Unit]) -> None:
        """Gather the updated parameters, unless the next iteration does so."""
        if self._parallel.sharding in ("zero-1", "zero-2") and not self._method.overlap:
            for unit in units:
                self._gather(unit, self._write.computed)

    def _parts(self, unit: Unit) -> Mapping[int, float]:
        found = {DATA: unit.dense if self._parallel.replicas > 1 else 0.0}
        if self._parallel.expert_replicas > 1:
            found[EXPERT_DATA] = unit.routed
        return {kind: parameters for kind, parameters in found.items() if parameters}

    def _gather(self, unit: Unit, after: Sequence[int]) -> tuple[int, ...]:
        return tuple(
            self._write.collective(
                kind, "allgather", parameters * PARAMETER_BYTES, stream=DATA_STREAM, after=after
            )
            for kind, parameters in self._parts(unit).items()
            if kind != DATA or self._parallel.shards > 1
        )

    def _sum(self, kind: int, *, is_last: bool) -> None:
        size = self._ready.pop(kind)
        after, found = self._write.computed, None
        if self._parallel.sharding == "ddp":
            found = self._add(kind, "allreduce", size, after)
        else:
            shards = self._parallel.shards if kind == DATA else self._parallel.expert_replicas
            if shards > 1:
                found = self._add(kind, "reduce_scatter_block", size, after)
            if kind == DATA and is_last and shards < self._parallel.replicas:
                found = self._add(REPLICAS, "allreduce", size / shards, after)
        if not self._method.overlap:
            self._write.wait(found)

    def _add(self, kind: int, collective: str, size: float, after: Sequence[int]) -> int:
        return self._write.collective(kind, collective, size, stream=DATA_STREAM, after=after)
