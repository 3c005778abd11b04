# SPDX-License-Identifier: LGPL-2.1-only
"""Computation times and message sizes of a layer's parts, for one microbatch on one rank.

The times include matrix products, attention, and the memory traffic of all other kernels: norms,
residuals, activation functions, rotations of queries and keys, and permutations of tokens.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from weft.training.accelerator import Accelerator
from weft.training.file import TrainingFile
from weft.training.model import MatrixProduct

ACTIVATION_BYTES = 2
"""Bytes of an activation: BF16."""
_LOSS_BYTES = 4
"""Bytes of a token's loss: FP32."""


@dataclass(frozen=True)
class Times:
    """Seconds of a part's forward pass, and of the gradients of its input and weights."""

    forward: float = 0.0
    input: float = 0.0
    weight: float = 0.0

    def __add__(self, other: "Times") -> "Times":
        """Return the times of two consecutive parts."""
        return Times(
            self.forward + other.forward, self.input + other.input, self.weight + other.weight
        )


@dataclass(frozen=True)
class Attention:
    """Times of a layer's attention."""

    before: Times
    """Norm and the products that compute queries, keys and values."""
    core: Times
    """Products of queries, keys and values."""
    after: Times
    """Output projection and residual."""


@dataclass(frozen=True)
class FeedForward:
    """Times of a feed-forward part without experts."""

    widening: Times
    """Norm, first products and activation function."""
    narrowing: Times
    """Last product and residual."""


@dataclass(frozen=True)
class Experts:
    """Times of a feed-forward part with experts."""

    router: Times
    """Norm, router, and permutation of tokens by expert."""
    shared: Times
    routed: Times
    combination: Times
    """Weighted sum of the experts' results, and residual."""


@dataclass(frozen=True)
class Costs:
    """Times and sizes for a training file on a GPU."""

    training: TrainingFile
    gpu: Accelerator

    # ---- Sizes

    @cached_property
    def tokens(self) -> float:
        """Tokens of a microbatch, which the tensor parallel ranks share."""
        batch = self.training.batch
        return batch.micro * batch.sequence / self.training.parallel.context

    @cached_property
    def lane_tokens(self) -> float:
        """Tokens of a rank where sequence parallelism splits the sequence."""
        parallel = self.training.parallel
        return self.tokens / (parallel.tensor if parallel.sequence_parallel else 1)

    @cached_property
    def activations(self) -> float:
        """Bytes between two layers, over all tensor parallel ranks."""
        return self.tokens * self.training.model.hidden * ACTIVATION_BYTES

    @cached_property
    def message(self) -> float:
        """Bytes that a rank sends to the next pipeline stage."""
        return self.lane_tokens * self.training.model.hidden * ACTIVATION_BYTES

    @cached_property
    def routed(self) -> float:
        """Bytes that a rank sends to all experts."""
        copies = self.lane_tokens * self.training.method.copies
        return copies * self.training.model.hidden * ACTIVATION_BYTES

    @cached_property
    def keys_and_values(self) -> float:
        """Bytes of a rank's keys and values."""
        model, parallel = self.training.model, self.training.parallel
        heads = max(model.kv_heads / parallel.tensor, 1)
        return self.tokens * heads * (model.head_size + model.value_size) * ACTIVATION_BYTES

    @cached_property
    def loss(self) -> float:
        """Bytes of maxima, sums and targets' logits of a microbatch.

        Ranks sum these for the cross-entropy of a vocabulary that is split among them
        (Megatron-LM).
        """
        return 3 * self.tokens * _LOSS_BYTES

    # ---- Times of parts

    def attention(self, layer: int) -> Attention:
        """Return the times of a layer's attention."""
        model, ways = self.training.model, self.training.parallel.tensor
        before = [
            *model.latent_projections(self.tokens),
            *model.divided_projections(self.tokens, ways),
        ]
        rotated = (model.heads + model.kv_heads) * model.head_size / ways * self.tokens
        normed = self.lane_tokens * model.hidden
        flops = model.attention_flops(self.tokens, layer, self.training.batch.sequence) / ways
        most = 2 * model.looks_back(layer, self.training.batch.sequence)
        core = Times(
            self.gpu.attention_forward_s(flops, most), self.gpu.attention_backward_s(flops, most)
        )
        after = [model.output_projection(self.tokens, ways)]
        return Attention(
            before=self._part(before, 2 * normed + 2 * rotated, 3 * normed + 2 * rotated),
            core=core,
            after=self._part(after, 3 * normed, 0),
        )

    def feed_forward(self) -> FeedForward:
        """Return the times of the feed-forward part of a layer without experts."""
        model, ways = self.training.model, self.training.parallel.tensor
        normed = self.lane_tokens * model.hidden
        width, narrow = model.feed_forward, model.narrowing(self.tokens, model.feed_forward, ways)
        active = self.tokens * width / ways
        return FeedForward(
            widening=self._part(
                model.widening(self.tokens, width, ways),
                2 * normed + model.matrices * active,
                3 * normed + (2 * model.matrices - 1) * active,
            ),
            narrowing=self._part(narrow, 3 * normed, 0),
        )

    def experts(self) -> Experts:
        """Return the times of the feed-forward part of a layer with experts."""
        model, parallel = self.training.model, self.training.parallel
        normed = self.lane_tokens * model.hidden
        copies = model.experts_per_token * normed
        router = MatrixProduct(self.lane_tokens, model.experts, model.hidden)
        routed = self.tokens * model.experts_per_token
        local = model.experts / parallel.expert
        shared = Times()
        if model.shared_experts:
            shared = self._both(self.tokens, model.shared_feed_forward, 1)
        return Experts(
            router=self._part([router], 3 * normed + copies, 4 * normed + copies),
            shared=shared,
            routed=self._both(routed / local, model.expert_feed_forward, local),
            combination=self._part([], copies + 3 * normed, copies + normed),
        )

    def embedding(self) -> Times:
        """Return the times of the embedding."""
        elements = 2 * self.lane_tokens * self.training.model.hidden
        return self._part([], elements, elements)

    def output(self) -> Times:
        """Return the times of the output and the loss."""
        model, ways = self.training.model, self.training.parallel.tensor
        product = MatrixProduct(self.tokens, model.vocabulary / ways, model.hidden)
        logits, normed = self.tokens * model.vocabulary / ways, self.lane_tokens * model.hidden
        return self._part([product], 2 * normed + 2 * logits, 3 * normed + 2 * logits)

    def optimizer_s(self, parameters: float) -> float:
        """Return the time of Adam's step for a number of parameters of a rank."""
        return self.gpu.memory_s(parameters * self.training.method.optimizer.step_bytes)

    def _both(self, tokens: float, width: float, count: float) -> Times:
        """Return the times of both products of a feed-forward part."""
        model, ways = self.training.model, self.training.parallel.tensor
        products = [
            *model.widening(tokens, width, ways, count),
            *model.narrowing(tokens, width, ways, count),
        ]
        active = tokens * count * width / ways
        return self._part(products, model.matrices * active, (2 * model.matrices - 1) * active)

    def _part(self, products: Sequence[MatrixProduct], forward: float, backward: float) -> Times:
        """Return the times of products, and of kernels that read or write a number of elements."""
        matrices = self.gpu.products_s(products, self.training.method.precision)
        return Times(
            matrices + self._memory_s(forward), matrices + self._memory_s(backward), matrices
        )

    def _memory_s(self, elements: float) -> float:
        return self.gpu.memory_s(elements * ACTIVATION_BYTES) if elements else 0.0
