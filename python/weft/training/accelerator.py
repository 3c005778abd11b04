# SPDX-License-Identifier: LGPL-2.1-only
"""GPUs: peak rates, memory, and kernel times.

A matrix product executes its operations at a fraction of the peak rate that rises with the sizes of
the matrices: `efficiency` * x / (x + `half_size`) for 1/x = 1/m + 1/n + 1/k. This is equivalent to
the time of the operations at the highest rate reached, plus the time of moving the operands' 2(mn +
nk + mk) bytes through memory and caches, since both limit a product.

The rate of attention rises in the same way with the number of tokens that a token may attend to.
All other kernels are limited by the bytes that they read and write.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from weft import _core
from weft.base import paths
from weft.base.errors import WeftError, suggestion
from weft.base.options import Options, parse
from weft.base.user_files import read_text
from weft.training.model import MatrixProduct

PRECISIONS: Mapping[str, str] = {
    "bf16": "BF16 matrices",
    "fp16": "FP16 matrices",
    "fp8": "FP8 matrices of linear layers; attention in BF16",
}
"""Precisions of matrix products."""

_MOST_FLOPS = 1e18


@dataclass(frozen=True, kw_only=True)
class Accelerator:
    """Type of GPU."""

    name: str
    sms: int
    """Streaming multiprocessors."""
    memory: float
    """Memory in bytes."""
    bandwidth: float
    """Memory bandwidth in bytes per second."""
    peak: Mapping[str, float]
    """Dense matrix operations per second, by precision."""
    efficiency: float
    """Fraction of the peak rate that large matrix products reach."""
    half_size: float
    """Size x, in elements, at which half of `efficiency` is reached."""
    attention: Mapping[str, float]
    """Operations per second of attention for many tokens, and the number of tokens at which half of
    this rate is reached: `forward`, `forward_half`, `backward` and `backward_half`.
    """
    memory_efficiency: float = 1.0
    """Fraction of the bandwidth that memory-bound kernels reach."""
    launch_s: float = 0.0
    """Gap between two kernels."""

    def slowed(self, factor: float) -> "Accelerator":
        """Return the same GPU with all computation slowed down by a factor."""
        rates = {
            name: rate if name.endswith("_half") else rate / factor
            for name, rate in self.attention.items()
        }
        return replace(
            self,
            efficiency=self.efficiency / factor,
            memory_efficiency=self.memory_efficiency / factor,
            attention=rates,
            launch_s=self.launch_s * factor,
        )

    def products_s(self, products: Iterable[MatrixProduct], precision: str) -> float:
        """Return the time of matrix products."""
        return sum(self._product_s(one, self.peak[precision]) for one in products)

    def _product_s(self, one: MatrixProduct, peak: float) -> float:
        slower = 1 + self.half_size * (1 / one.m + 1 / one.n + 1 / one.k)
        return one.flops / (peak * self.efficiency) * slower + self.launch_s

    def attention_forward_s(self, flops: float, tokens: float) -> float:
        """Return the time of attention to a number of tokens in a forward pass."""
        return self._attention_s("forward", flops, tokens)

    def attention_backward_s(self, flops: float, tokens: float) -> float:
        """Return the time of the backward pass of attention, given its forward operations.

        The scores are recomputed: five products instead of two (Dao, "FlashAttention-2", ICLR '24,
        section 4.1).
        """
        return self._attention_s("backward", 2.5 * flops, tokens)

    def _attention_s(self, name: str, flops: float, tokens: float) -> float:
        slower = 1 + self.attention[f"{name}_half"] / tokens
        return flops / self.attention[name] * slower + self.launch_s

    def memory_s(self, amount: float) -> float:
        """Return the time of kernels that read or write a number of bytes."""
        return amount / (self.bandwidth * self.memory_efficiency) + self.launch_s


def accelerators() -> list[str]:
    """Return the names of the GPU presets."""
    return _core.list_presets("accelerator")


def load_accelerator(name: str) -> Accelerator:
    """Return a preset. Raises `WeftError`."""
    if name not in accelerators():
        raise WeftError(f"gpu: found '{name}'; {suggestion(name, accelerators())}")
    path = paths.installed("presets", "accelerator", f"{name}.toml")
    return _accelerator(name, parse(read_text(path), str(path)))


KEYS: Mapping[str, str] = {
    "sms": "Streaming multiprocessors",
    "memory": "Memory in bytes",
    "bandwidth": "Bytes of memory per second",
    "efficiency": "Fraction of the peak that large matrix products reach",
    "half_size": "Size, in elements, at which half of that is reached",
    "memory_efficiency": "Fraction of the bandwidth that kernels limited by memory reach",
    "launch": "Time between two kernels",
}
"""Keys of a preset, besides [peak] and [attention]."""

ATTENTION: Mapping[str, str] = {
    "forward": "Operations per second of attention in forward passes, at many tokens",
    "forward_half": "Tokens at which half of that is reached",
    "backward": "Operations per second in backward passes, which have 2.5 times as many",
    "backward_half": "Tokens at which half of that is reached",
}
"""Keys of [attention]."""


def _accelerator(name: str, top: Options) -> Accelerator:
    top.allow("description", "peak", "attention", *KEYS)
    attention = top.part("attention").allow(*ATTENTION)
    peak = top.part("peak").allow(*PRECISIONS)
    return Accelerator(
        name=name,
        sms=top.integer("sms", 1, 10_000),
        memory=_rate(top, "memory"),
        bandwidth=_rate(top, "bandwidth"),
        peak={precision: _rate(peak, precision) for precision in peak.values},
        efficiency=top.number("efficiency", 0.01, 1, 1),
        half_size=top.number("half_size", 0, 1e6, 0),
        attention={
            "forward": _rate(attention, "forward"),
            "forward_half": attention.number("forward_half", 0, 1e6, 0),
            "backward": _rate(attention, "backward"),
            "backward_half": attention.number("backward_half", 0, 1e6, 0),
        },
        memory_efficiency=top.number("memory_efficiency", 0.01, 1, 1),
        launch_s=top.seconds("launch", 0.0),
    )


def _rate(table: Options, key: str) -> float:
    table.need(key)
    return table.number(key, 1, _MOST_FLOPS, 1)
