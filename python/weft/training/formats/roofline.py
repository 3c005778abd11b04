# SPDX-License-Identifier: LGPL-2.1-only
"""Times of kernels for which a trace contains only operations and bytes."""

from weft.base.errors import WeftError
from weft.training.accelerator import load_accelerator
from weft.training.formats.options import Roofline

_PRECISION = "bf16"
"""Precision of the operations, which Chakra traces do not name."""


def roofline_of(gpu: str) -> Roofline:
    """Return the roofline of a GPU preset. Raises `WeftError`.

    A kernel takes the longer of two times: its operations at the rate of large matrix products, and
    its bytes at the memory bandwidth (S. Williams, A. Waterman, D. Patterson, "Roofline", CACM
    52(4), 2009).
    """
    accelerator = load_accelerator(gpu)
    if _PRECISION not in accelerator.peak:
        raise WeftError(f"gpu: '{gpu}' has no rate for {_PRECISION}; add it to its [peak]")
    rate = accelerator.peak[_PRECISION] * accelerator.efficiency

    def seconds(flops: float, size: float) -> float:
        return max(flops / rate + accelerator.launch_s, accelerator.memory_s(size))

    return seconds
