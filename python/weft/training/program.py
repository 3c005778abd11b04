# SPDX-License-Identifier: LGPL-2.1-only
"""Programs of a pipeline stage's ranks: computation, collectives and messages, in order.

Tensor and sequence parallelism: Shoeybi et al., "Megatron-LM", 2019, section 3; Korthikanti et al.,
"Reducing Activation Recomputation in Large Transformer Models", MLSys '23, section 4.2: an
Allgather before and a Reduce_scatter after each part of a layer. The backward pass gathers the
part's input again while it computes the input gradients, and sums the input gradients while it
computes the weight gradients. Context parallelism: Dubey et al., "The Llama 3 Herd of Models",
2024, section 3.3.2, or messages around a ring (Liu et al., "Ring Attention", 2023). Experts: an
Alltoall to the experts and an Alltoall back (Lepikhin et al., "GShard", ICLR '21); all experts
receive the same number of tokens.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from weft.training.costs import Attention, Costs, Experts, FeedForward
from weft.training.parallelism import CONTEXT, EMBEDDING, EXPERT, TENSOR
from weft.training.schedule import BACKWARD, FORWARD, WEIGHT, Pass, passes
from weft.training.shards import Shards
from weft.training.units import Unit, is_first, is_last, stage_units
from weft.training.workload import Program
from weft.training.writer import (
    DATA_STREAM,
    EXPERT_STREAM,
    RECEIVE_ACTIVATIONS,
    RECEIVE_GRADIENTS,
    RECEIVE_KEYS,
    SEND_ACTIVATIONS,
    SEND_GRADIENTS,
    SEND_KEYS,
    TENSOR_STREAM,
    Writer,
)

_ACTIVATIONS, _GRADIENTS, _KEYS = range(3)
"""Message tags."""


@dataclass(frozen=True)
class Ring:
    """Distances to a rank's neighbours in its context parallel group."""

    following: int = 0
    preceding: int = 0


def write_program(program: Program, costs: Costs, stage: int, ring: Ring) -> int:
    """Write the operations of a rank of a stage; return their number."""
    writer = Writer(program)
    _Stage(writer, costs, stage, ring).write()
    return writer.size


class _Stage:
    """Writes the program of a stage."""

    def __init__(self, write: Writer, costs: Costs, stage: int, ring: Ring) -> None:
        self._write = write
        self._costs = costs
        self._training = costs.training
        self._model = costs.training.model
        self._parallel = costs.training.parallel
        self._stage = stage
        self._ring = ring
        self._units = stage_units(self._training, stage)
        self._order = passes(self._parallel, stage, self._training.microbatches)
        visits = [unit for one in self._order if one.kind != WEIGHT for unit in self._in_order(one)]
        self._shards = Shards(write, self._parallel, self._training.method, visits)

    def write(self) -> None:
        """Write all operations of an iteration."""
        for one in self._order:
            if one.kind == FORWARD:
                self._forward(one)
            elif one.kind == WEIGHT:
                self._weights(one)
            else:
                self._backward(one)
        self._step()

    def _in_order(self, one: Pass) -> Sequence[Unit]:
        units = self._units[one.chunk]
        return units if one.kind == FORWARD else units[::-1]

    def _is_first(self, chunk: int) -> bool:
        return is_first(self._stage, chunk)

    def _is_last(self, chunk: int) -> bool:
        return is_last(self._parallel, self._stage, chunk)

    # ---- Passes

    def _forward(self, one: Pass) -> None:
        if not self._is_first(one.chunk):
            self._receive(RECEIVE_ACTIVATIONS, -1, _ACTIVATIONS, "receive activations")
        for unit in self._in_order(one):
            self._shards.arrive(unit)
            if unit.is_embedding:
                self._compute("embedding", self._costs.embedding().forward)
                self._leave_lanes()
            elif unit.is_output:
                self._enter_lanes()
                self._compute("output", self._costs.output().forward)
                if self._parallel.tensor > 1:
                    self._write.collective(TENSOR, "allreduce", self._costs.loss)
            elif unit.layer is not None:
                self._forward_layer(unit.layer, "")
        if not self._is_last(one.chunk):
            self._send(SEND_ACTIVATIONS, 1, _ACTIVATIONS, "send activations")

    def _backward(self, one: Pass) -> None:
        if not self._is_last(one.chunk):
            self._receive(RECEIVE_GRADIENTS, 1, _GRADIENTS, "receive gradients")
        whole = one.kind == BACKWARD
        is_last = whole and self._is_final(one)
        for unit in self._in_order(one):
            self._shards.arrive(unit)
            if unit.is_embedding:
                self._enter_lanes()
                self._compute("embedding backward", self._costs.embedding().input)
            elif unit.is_output:
                self._backward_output(whole)
            elif unit.layer is not None:
                self._backward_layer(unit.layer, whole)
            if whole:
                self._shards.leave(unit, is_last=is_last)
        if is_last:
            self._shards.flush()
        if not self._is_first(one.chunk):
            self._send(SEND_GRADIENTS, -1, _GRADIENTS, "send gradients")

    def _weights(self, one: Pass) -> None:
        """Write a pass that computes the weight gradients."""
        is_last = self._is_final(one)
        for unit in self._in_order(one):
            if unit.is_output:
                self._gather_input()
                self._compute("output weights", self._costs.output().weight)
            elif unit.layer is not None:
                self._layer_weights(unit.layer)
            self._shards.leave(unit, is_last=is_last)
        if is_last:
            self._shards.flush()

    def _is_final(self, one: Pass) -> bool:
        """Return true for the last microbatch of a chunk."""
        return one.microbatch == self._training.microbatches - 1

    def _step(self) -> None:
        """Write the optimizer's step, after all gradients have been summed."""
        units = [unit for chunk in self._units for unit in chunk]
        if self._model.tied and self._parallel.pipeline > 1 and self._has_end:
            size = self._model.vocabulary * self._model.hidden / self._parallel.tensor
            self._write.collective(
                *(EMBEDDING, "allreduce", size * self._training.method.gradient_bytes),
                stream=DATA_STREAM,
                after=self._write.computed,
            )
        self._write.wait(*self._write.last_of_data)
        updated = sum(unit.updated(self._parallel) for unit in units)
        self._compute("optimizer", self._costs.optimizer_s(updated))
        self._shards.finish(units)

    @property
    def _has_end(self) -> bool:
        return self._stage in (0, self._parallel.pipeline - 1)

    # ---- Layers

    def _forward_layer(self, layer: int, suffix: str) -> None:
        self._forward_attention(self._costs.attention(layer), suffix)
        if self._model.is_sparse(layer):
            self._forward_experts(self._costs.experts(), suffix)
        else:
            part = self._costs.feed_forward()
            self._enter_lanes()
            self._compute(f"feed-forward{suffix}", part.widening.forward + part.narrowing.forward)
            self._leave_lanes()

    def _backward_layer(self, layer: int, whole: bool) -> None:
        recomputation = self._training.method.recomputation
        if recomputation == "full":
            self._forward_layer(layer, " recomputation")
        attention = self._costs.attention(layer)
        if self._model.is_sparse(layer):
            self._backward_experts(self._costs.experts(), whole)
        else:
            self._backward_feed_forward(self._costs.feed_forward(), whole)
        again = attention.core.forward if recomputation == "selective" else 0.0
        self._backward_attention(attention, again, whole)

    def _layer_weights(self, layer: int) -> None:
        if self._model.is_sparse(layer):
            part = self._costs.experts()
            self._compute("experts weights", part.routed.weight)
            self._gather_input()
            self._compute("router weights", part.router.weight + part.shared.weight)
        else:
            dense = self._costs.feed_forward()
            self._gather_input()
            self._compute("feed-forward weights", dense.widening.weight + dense.narrowing.weight)
        attention = self._costs.attention(layer)
        self._gather_input()
        self._compute("attention weights", attention.before.weight + attention.after.weight)

    # ---- Attention

    def _forward_attention(self, part: Attention, suffix: str) -> None:
        name = f"attention{suffix}"
        self._enter_lanes()
        if self._parallel.context == 1:
            self._compute(name, part.before.forward + part.core.forward + part.after.forward)
        else:
            self._compute(f"projections{suffix}", part.before.forward)
            self._attend(name, part.core.forward, backward=False)
            self._compute(f"output projection{suffix}", part.after.forward)
        self._leave_lanes()

    def _backward_attention(self, part: Attention, again: float, whole: bool) -> None:
        after = part.after.input + (part.after.weight if whole else 0)
        core = again + part.core.input
        weight = part.before.weight if whole else 0.0
        if self._parallel.context == 1:
            self._backward_part("attention", after + core + part.before.input, weight)
            return
        self._enter_backward(whole)
        self._compute("output projection backward", after)
        self._attend("attention backward", core, backward=True)
        self._compute("projections backward", part.before.input)
        self._leave_backward("attention", weight)

    def _attend(self, name: str, seconds: float, *, backward: bool) -> None:
        """Write attention to the keys and values of all context parallel ranks."""
        if self._parallel.context_exchange == "ring":
            self._attend_in_ring(name, seconds, backward=backward)
            return
        whole = self._costs.keys_and_values * self._parallel.context
        self._write.collective(CONTEXT, "allgather", whole)
        self._compute(name, seconds)
        if backward:
            self._write.collective(CONTEXT, "reduce_scatter_block", whole)

    def _attend_in_ring(self, name: str, seconds: float, *, backward: bool) -> None:
        """Write attention in as many steps as the ring has ranks.

        During a step, the next keys and values arrive. In a backward pass, the gradients of the
        previous keys and values arrive as well, and therefore need one more step to return.
        """
        steps = self._parallel.context
        came = self._write.computed
        for step in range(steps):
            moves = [step < steps - 1, backward and step > 0]
            if size := sum(moves) * self._costs.keys_and_values:
                came = (*came, *self._write.computed) if backward else came
                came = (self._pass_on(size, came),)
            self._compute(name, seconds / steps)
            self._write.wait(*came)

    def _pass_on(self, size: float, after: Sequence[int]) -> int:
        """Send keys and values to the ring's next rank; return the receive from its predecessor."""
        self._write.send(SEND_KEYS, self._ring.following, size, _KEYS, after, "send keys")
        return self._write.receive(
            RECEIVE_KEYS, self._ring.preceding, size, _KEYS, after, "receive keys"
        )

    # ---- Feed-forward parts

    def _backward_feed_forward(self, part: FeedForward, whole: bool) -> None:
        weight = part.narrowing.weight if whole else 0.0
        self._backward_part(
            "feed-forward",
            part.narrowing.input + weight + part.widening.input,
            part.widening.weight if whole else 0.0,
        )

    def _forward_experts(self, part: Experts, suffix: str) -> None:
        self._compute(f"router{suffix}", part.router.forward)
        dispatched = self._exchange_tokens()
        if self._model.shared_experts:
            self._enter_lanes()
            self._compute(f"shared experts{suffix}", part.shared.forward)
            self._leave_lanes()
        self._write.wait(dispatched)
        self._routed(f"experts{suffix}", part.routed.forward)
        self._write.wait(self._exchange_tokens())
        self._compute(f"combination{suffix}", part.combination.forward)

    def _backward_experts(self, part: Experts, whole: bool) -> None:
        self._compute("combination backward", part.combination.input)
        combined = self._exchange_tokens()
        if self._model.shared_experts:
            self._enter_lanes()
            weight = part.shared.weight if whole else 0.0
            self._compute("shared experts backward", part.shared.input + weight)
            self._leave_lanes()
        self._write.wait(combined)
        weight = part.routed.weight if whole else 0.0
        self._routed("experts backward", part.routed.input + weight)
        self._write.wait(self._exchange_tokens())
        weight = part.router.weight if whole else 0.0
        self._compute("router backward", part.router.input + weight)

    def _exchange_tokens(self) -> int | None:
        """Write the Alltoall of tokens; return it, or None if all ranks have the same experts."""
        if self._parallel.expert == 1:
            return None
        return self._write.collective(
            *(EXPERT, "alltoall", self._costs.routed),
            stream=EXPERT_STREAM,
            after=self._write.done(),
        )

    def _routed(self, name: str, seconds: float) -> None:
        """Write the experts' computation, whose matrices are split among tensor parallel ranks."""
        divided = self._parallel.tensor > 1
        size = self._costs.routed * (self._parallel.tensor if divided else 1)
        if divided and self._parallel.sequence_parallel:
            self._write.collective(TENSOR, "allgather", size)
        self._compute(name, seconds)
        if divided and self._parallel.sequence_parallel:
            self._write.collective(TENSOR, "reduce_scatter_block", size)
        elif divided:
            self._write.collective(TENSOR, "allreduce", self._costs.routed)

    # ---- Ends of the model

    def _backward_output(self, whole: bool) -> None:
        part = self._costs.output()
        if self._parallel.tensor == 1:
            self._compute("output backward", part.input + (part.weight if whole else 0))
            return
        self._input = self._gathered() if whole else None
        self._compute("output backward", part.input)
        self._leave_backward("output", part.weight if whole else 0.0)

    # ---- Tensor parallel ranks

    def _enter_lanes(self) -> None:
        """Gather the sequence, which sequence parallelism splits."""
        if self._parallel.tensor > 1 and self._parallel.sequence_parallel:
            self._write.collective(TENSOR, "allgather", self._costs.activations)

    def _leave_lanes(self) -> None:
        """Sum the results of tensor parallel ranks."""
        if self._parallel.tensor > 1:
            self._write.collective(TENSOR, self._sum, self._costs.activations)

    @property
    def _sum(self) -> str:
        return "reduce_scatter_block" if self._parallel.sequence_parallel else "allreduce"

    def _backward_part(self, name: str, gradients: float, weight: float) -> None:
        """Write the backward pass of a part of a layer.

        `weight` is the time of the weight gradients, which are computed while the input gradients
        are summed; 0 if a later pass computes them.
        """
        if self._parallel.tensor == 1:
            self._compute(f"{name} backward", gradients + weight)
            return
        self._enter_backward(weight > 0)
        self._compute(f"{name} backward", gradients)
        self._leave_backward(name, weight)

    def _enter_backward(self, whole: bool) -> None:
        """Gather the gradients, then the input during the next computation."""
        self._enter_lanes()
        self._input = self._gathered() if whole else None

    def _leave_backward(self, name: str, weight: float) -> None:
        """Sum the input gradients during the computation of the weight gradients."""
        if not weight:
            self._leave_lanes()
            return
        if self._parallel.tensor == 1:
            self._compute(f"{name} weights", weight)
            return
        summed = self._write.collective(
            *(TENSOR, self._sum, self._costs.activations),
            stream=TENSOR_STREAM,
            after=self._write.computed,
        )
        self._write.wait(self._input)
        self._compute(f"{name} weights", weight)
        self._write.wait(summed)

    def _gather_input(self) -> None:
        """Gather the input that the weight gradients require."""
        self._write.wait(self._gathered())

    def _gathered(self) -> int | None:
        if self._parallel.tensor == 1 or not self._parallel.sequence_parallel:
            return None
        return self._write.collective(
            *(TENSOR, "allgather", self._costs.activations),
            stream=TENSOR_STREAM,
            after=self._write.computed,
        )

    # ---- Operations

    def _compute(self, name: str, seconds: float) -> None:
        if seconds > 0:
            self._write.compute(name, seconds)

    def _peer(self, distance: int) -> int:
        """Return the rank offset to a stage, which may wrap around the end of the pipeline."""
        other = (self._stage + distance) % self._parallel.pipeline
        return (other - self._stage) * self._parallel.stage_ranks

    def _send(self, stream: int, distance: int, tag: int, name: str) -> None:
        after = self._write.done()
        self._write.send(stream, self._peer(distance), self._costs.message, tag, after, name)

    def _receive(self, stream: int, distance: int, tag: int, name: str) -> None:
        peer = self._peer(distance)
        self._write.wait(self._write.receive(stream, peer, self._costs.message, tag, (), name))
