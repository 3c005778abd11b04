# SPDX-License-Identifier: LGPL-2.1-only
"""Picture of docs/host-algorithms.md: computed messages of an algorithm by round."""

from collections.abc import Mapping
from pathlib import Path

from matplotlib.figure import Figure

from studies.study import IMAGES, Study
from weft.study import schedules
from weft.study.schedules import Case


def measure() -> None:
    """Do nothing: the picture shows a computed schedule."""


def figures() -> Mapping[Path, Figure]:
    """Draw Rabenseifner's Allreduce on six ranks, which is not a power of two."""
    shown = schedules.schedule(Case("allreduce", 6, 1024, algorithm="rabenseifner"))
    return {IMAGES / "rabenseifner.png": schedules.figure(shown)}


STUDY = Study("host-algorithms", "how MPI libraries execute collectives", measure, figures)
