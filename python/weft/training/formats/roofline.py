# SPDX-License-Identifier: LGPL-2.1-only
"""Times of kernels of which a trace knows operations and bytes only."""

from weft.base.errors import WeftError
from weft.training.accelerator import load_accelerator
from weft.training.formats.options import Roofline

_PRECISION = "bf16"
"""Precision of the operations, which Chakra's traces do not name."""


def roofline_of(gpu: str) -> Roofline:
    """Return the roofline of a preset of a GPU. Raises `WeftError`.

    A kernel takes the time of its operations at the rate of large matrix products, or that of its
    bytes at the memory's rate, whichever is longer (S. Williams, A. Waterman, D. Patterson,
    "Roofline", CACM 52(4), 2009).
    """
    accelerator = load_accelerator(gpu)
    if _PRECISION not in accelerator.peak:
        raise WeftError(f"gpu: '{gpu}' has no rate for {_PRECISION}; add it to its [peak]")
    rate = accelerator.peak[_PRECISION] * accelerator.efficiency

    def seconds(flops: float, size: float) -> float:
        return max(flops / rate + accelerator.launch_s, accelerator.memory_s(size))

    return seconds
