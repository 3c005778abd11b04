# SPDX-License-Identifier: LGPL-2.1-only
"""Options of the readers of training traces."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from weft.training.formats.source import Progress, quiet

Roofline = Callable[[float, float], float]
"""Seconds of a kernel from its floating-point operations and the bytes that it touches."""


@dataclass(frozen=True)
class ReadOptions:
    """Answers to what a trace leaves open."""

    replicate: int | None = None
    """Number of ranks that all do what the only recorded rank does."""
    sizes: Literal["input", "total"] = "input"
    """Meaning of an Allgather's size in Chakra traces: what one rank contributes, or the result."""
    groups: Path | None = None
    """JSON file with the ranks of process groups, by number, as ASTRA-sim reads it."""
    dimensions: tuple[int, ...] = ()
    """Ranks in each dimension of ASTRA-sim's logical topology, the fastest first."""
    roofline: Roofline | None = None
    """Gives times to computations that have operation counts but no duration."""
    progress: Progress = quiet
