# SPDX-License-Identifier: LGPL-2.1-only
"""Transformer sizes, parameters, and floating-point operations of an iteration.

A matrix product of m x k and k x n takes 2mnk operations; the backward pass takes twice as many as
the forward pass, half for the input gradients and half for the weight gradients (Narayanan et al.,
"Efficient Large-Scale Language Model Training on GPU Clusters Using Megatron-LM", SC '21,
appendix). The causal mask halves the products of queries, keys and values. Multi-head latent
attention: DeepSeek-AI, "DeepSeek-V3 Technical Report", 2024, section 2.1.1.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class MatrixProduct:
    """Product of an m x k and a k x n matrix, or `count` such products in one kernel."""

    m: float
    n: float
    k: float
    count: float = 1

    @property
    def flops(self) -> float:
        """Floating-point operations."""
        return 2.0 * self.m * self.n * self.k * self.count


@dataclass(frozen=True, kw_only=True)
class Model:
    """Sizes of a decoder-only transformer."""

    layers: int
    hidden: int
    feed_forward: int
    """Width of the feed-forward part in dense layers."""
    heads: int
    kv_heads: int
    head_size: int
    """Width of queries and keys per head."""
    value_size: int
    """Width of values per head."""
    vocabulary: int
    gated: bool = True
    """True for SwiGLU, whose feed-forward part has three matrices instead of two."""
    tied: bool = False
    """True if embedding and output share a matrix."""
    biases: bool = False
    """True if matrices have biases."""
    norm_vectors: int = 1
    """Vectors per norm: 1 for RMSNorm, 2 for LayerNorm."""
    positions: int = 0
    """Number of learned positions."""
    query_key_norm: bool = False
    window: int = 0
    """Window of attention in tokens, for layers with a sliding window; 0 without."""
    window_period: int = 1
    """The last of every `window_period` layers attends to all tokens; 1: all layers use the window.
    """
    query_rank: int = 0
    """Rank of the compressed queries of latent attention; 0: not compressed."""
    kv_rank: int = 0
    """Rank of the compressed keys and values of latent attention; 0: attention is not latent."""
    rope_size: int = 0
    """Fraction of a head's width that encodes positions in latent attention."""
    experts: int = 0
    experts_per_token: int = 0
    expert_feed_forward: int = 0
    shared_experts: int = 0
    dense_layers: int = 0
    """Number of initial layers without experts."""

    # ---- Layers

    def is_sparse(self, layer: int) -> bool:
        """Return true if a layer has experts."""
        return self.experts > 0 and layer >= self.dense_layers

    @property
    def sparse_layers(self) -> int:
        """Number of layers with experts."""
        return self.layers - self.dense_layers if self.experts else 0

    def looks_back(self, layer: int, sequence: int) -> float:
        """Return the mean number of tokens that a token attends to in a layer."""
        if not self.window or self.window >= sequence or self._attends_to_all(layer):
            return sequence / 2
        return self.window * (1 - self.window / (2 * sequence))

    def _attends_to_all(self, layer: int) -> bool:
        return self.window_period > 1 and (layer + 1) % self.window_period == 0

    # ---- Widths

    @property
    def query_width(self) -> int:
        """Width of the queries of all heads."""
        return self.heads * self.head_size

    @property
    def kv_width(self) -> int:
        """Width of the keys and values of all heads, as attention reads them."""
        return self.kv_heads * (self.head_size + self.value_size)

    @property
    def shared_feed_forward(self) -> int:
        """Width of all shared experts."""
        return self.shared_experts * self.expert_feed_forward

    @property
    def matrices(self) -> int:
        """Matrices per feed-forward part."""
        return 3 if self.gated else 2

    # ---- Matrix products of a forward pass

    def divided_projections(self, tokens: float, ways: int) -> list[MatrixProduct]:
        """Return the products before attention whose width tensor parallelism splits."""
        if not self.kv_rank:
            return [MatrixProduct(tokens, (self.query_width + self.kv_width) / ways, self.hidden)]
        queries = MatrixProduct(tokens, self.query_width / ways, self.query_rank or self.hidden)
        width = self.heads * (self.head_size - self.rope_size + self.value_size)
        return [queries, MatrixProduct(tokens, width / ways, self.kv_rank)]

    def latent_projections(self, tokens: float) -> list[MatrixProduct]:
        """Return the products that compress queries, keys and values."""
        if not self.kv_rank:
            return []
        down = [MatrixProduct(tokens, self.kv_rank + self.rope_size, self.hidden)]
        if self.query_rank:
            down.append(MatrixProduct(tokens, self.query_rank, self.hidden))
        return down

    def output_projection(self, tokens: float, ways: int) -> MatrixProduct:
        """Return the product after attention."""
        return MatrixProduct(tokens, self.hidden, self.heads * self.value_size / ways)

    def attention_flops(self, tokens: float, layer: int, sequence: int) -> float:
        """Return the operations of queries times keys, and of probabilities times values."""
        width = self.heads * (self.head_size + self.value_size)
        return 2.0 * tokens * self.looks_back(layer, sequence) * width

    def widening(
        self, tokens: float, width: float, ways: int, count: float = 1
    ) -> list[MatrixProduct]:
        """Return the first products of a feed-forward part of a given width."""
        columns = (self.matrices - 1) * width / ways
        return [MatrixProduct(tokens, columns, self.hidden, count)]

    def narrowing(
        self, tokens: float, width: float, ways: int, count: float = 1
    ) -> list[MatrixProduct]:
        """Return the last product of a feed-forward part of a given width."""
        return [MatrixProduct(tokens, self.hidden, width / ways, count)]

    # ---- Parameters

    @property
    def norm_parameters(self) -> int:
        """Parameters of a norm."""
        return self.norm_vectors * self.hidden

    @property
    def attention_parameters(self) -> int:
        """Parameters of a layer's attention, without its norm."""
        products = [
            *self.latent_projections(1),
            *self.divided_projections(1, 1),
            self.output_projection(1, 1),
        ]
        found = sum(round(one.n * one.k) for one in products)
        found += sum(round(one.n) for one in products) if self.biases else 0
        found += self.query_rank + self.kv_rank  # norms of the compressed vectors
        return found + (2 * self.head_size if self.query_key_norm else 0)

    def feed_forward_parameters(self, width: int) -> int:
        """Return the parameters of a feed-forward part of a given width."""
        biases = (self.matrices - 1) * width + self.hidden if self.biases else 0
        return self.matrices * self.hidden * width + biases if width else 0

    @property
    def expert_parameters(self) -> int:
        """Parameters of an expert."""
        return self.feed_forward_parameters(self.expert_feed_forward)

    def dense_parameters(self, layer: int) -> int:
        """Return the parameters of a layer except its routed experts."""
        found = self.attention_parameters + 2 * self.norm_parameters
        if not self.is_sparse(layer):
            return found + self.feed_forward_parameters(self.feed_forward)
        router = self.experts * (self.hidden + (1 if self.biases else 0))
        return found + router + self.feed_forward_parameters(self.shared_feed_forward)

    def routed_parameters(self, layer: int) -> int:
        """Return the parameters of a layer's routed experts."""
        return self.experts * self.expert_parameters if self.is_sparse(layer) else 0

    @property
    def embedding_parameters(self) -> int:
        """Parameters of the embedding and of learned positions."""
        return (self.vocabulary + self.positions) * self.hidden

    @property
    def output_parameters(self) -> int:
        """Parameters of the output and the norm before it."""
        return self.norm_parameters + (0 if self.tied else self.vocabulary * self.hidden)

    @property
    def parameters(self) -> int:
        """Parameters of the model."""
        return self._all_parameters(self.experts)

    @property
    def active_parameters(self) -> int:
        """Parameters used for a token."""
        return self._all_parameters(self.experts_per_token)

    def _all_parameters(self, experts: int) -> int:
        dense = sum(map(self.dense_parameters, range(self.layers)))
        routed = self.sparse_layers * experts * self.expert_parameters
        return dense + routed + self.embedding_parameters + self.output_parameters

    # ---- Operations of an iteration

    def forward_flops(self, sequence: int, *, causal: bool = True) -> float:
        """Return the operations of a forward pass of one sequence.

        Without `causal`, the operations include products that the mask discards, as in
        Megatron-LM's formula.
        """
        layers = sum(self._layer_flops(layer, sequence, causal) for layer in range(self.layers))
        return layers + 2.0 * sequence * self.hidden * self.vocabulary

    def iteration_flops(self, sequence: int, sequences: int, *, causal: bool = True) -> float:
        """Return the operations of a forward and a backward pass of several sequences."""
        return 3 * sequences * self.forward_flops(sequence, causal=causal)

    def _layer_flops(self, layer: int, sequence: int, causal: bool) -> float:
        products = [
            *self.latent_projections(sequence),
            *self.divided_projections(sequence, 1),
            self.output_projection(sequence, 1),
        ]
        width = self.feed_forward
        if self.is_sparse(layer):
            products.append(MatrixProduct(sequence, self.experts, self.hidden))
            width = self.shared_feed_forward + self.experts_per_token * self.expert_feed_forward
        products += [*self.widening(sequence, width, 1), *self.narrowing(sequence, width, 1)]
        attention = self.attention_flops(sequence, layer, sequence) * (1 if causal else 2)
        return sum(one.flops for one in products) + attention
