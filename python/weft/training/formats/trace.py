# SPDX-License-Identifier: LGPL-2.1-only
"""Training trace on a fabric: from its path to a simulated iteration."""

from dataclasses import dataclass
from pathlib import Path

from weft import _core
from weft.training.formats.options import ReadOptions
from weft.training.formats.reading import read
from weft.training.workload import Workload

MOST_FINE = 256
"""Ranks up to which `slice` is the default detail; it executes up to four times as many messages as
`step`.
"""
_MOST_LISTED = 16
"""Maximum number of ranks in a timeline."""


@dataclass(frozen=True)
class TrainingTrace:
    """Trace and its programs."""

    source: str
    workload: Workload

    @property
    def detail(self) -> str:
        """Default detail of collectives (workload.DETAILS)."""
        return "slice" if len(self.workload.program_of) <= MOST_FINE else "step"

    def representatives(self) -> tuple[int, ...]:
        """Return the first rank of each program, for the first programs if there are many."""
        first: dict[int, int] = {}
        for rank, program in enumerate(self.workload.program_of):
            first.setdefault(program, rank)
        return tuple(first.values())[:_MOST_LISTED]


def load_trace(path: Path, options: ReadOptions) -> TrainingTrace:
    """Read a trace. Raises `WeftError` if it is invalid, or if its simulation would hang."""
    return TrainingTrace(str(path), read(path, options, _core.WorkloadProgram))
