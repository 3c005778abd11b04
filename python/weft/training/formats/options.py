# SPDX-License-Identifier: LGPL-2.1-only
"""Options of the readers of training traces."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from weft.training.formats.source import Progress, quiet

Roofline = Callable[[float, float], float]
"""Seconds of a kernel from its floating-point operations and the bytes it accesses."""


@dataclass(frozen=True)
class ReadOptions:
    """Values that a trace may leave open."""

    replicate: int | None = None
    """Number of ranks that all execute the operations of the only recorded rank."""
    sizes: Literal["input", "total"] = "input"
    """Meaning of an Allgather's size in Chakra traces: the contribution of one rank, or the result.
    """
    groups: Path | None = None
    """JSON file with the ranks of process groups by number, in ASTRA-sim's format."""
    dimensions: tuple[int, ...] = ()
    """Ranks in each dimension of ASTRA-sim's logical topology, the fastest-varying first."""
    roofline: Roofline | None = None
    """Computes the time of computations that have operation counts but no duration."""
    progress: Progress = quiet
