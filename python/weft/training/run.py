# SPDX-License-Identifier: LGPL-2.1-only
"""Training file on a fabric: from its name to a simulated iteration."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from weft.base.errors import WeftError
from weft.training.accelerator import load_accelerator
from weft.training.build import Summary, build
from weft.training.file import TrainingFile, load_model
from weft.training.workload import Workload


@dataclass(frozen=True)
class Training:
    """Training file with its programs and summary."""

    file: TrainingFile
    workload: Workload
    summary: Summary

    def representatives(self) -> tuple[int, ...]:
        """Return the first rank of each pipeline stage."""
        parallel = self.file.parallel
        return tuple(range(0, parallel.ranks, parallel.ranks // parallel.pipeline))


def load_training(
    model: str | Path,
    changes: Sequence[str] = (),
    *,
    gpu: str | None = None,
    ignore_memory: bool = False,
) -> Training:
    """Read a training file or preset, and write its programs.

    `gpu` replaces the file's GPU. Raises `WeftError` if the model does not fit the ranks or the
    GPU's memory.
    """
    file = load_model(model, changes)
    name = gpu or file.method.gpu
    if not name:
        raise WeftError(
            f"{file.source}: [train] gpu is missing: the preset of the GPU that computes; give it"
            " there, or choose one for this run"
        )
    workload, summary = build(file, load_accelerator(name), ignore_memory=ignore_memory)
    return Training(file, workload, summary)


def parsed_slowdown(texts: Sequence[str], option: str) -> dict[int, float]:
    """Parse factors of the form RANK=FACTOR; RANK may be a range such as 8-15."""
    factors: dict[int, float] = {}
    for text in texts:
        ranks, sign, factor = text.partition("=")
        first, dash, last = ranks.partition("-")
        try:
            begin, end = int(first), int(last if dash else first)
            value = float(factor)
        except ValueError:
            sign = ""
            begin, end, value = 0, 0, 1.0
        if not sign or not 0 <= begin <= end or not 0.01 <= value <= 1000:
            raise WeftError(
                f"{option}: found '{text}'; write RANK=FACTOR or FIRST-LAST=FACTOR, with a factor"
                " from 0.01 to 1000"
            )
        factors |= dict.fromkeys(range(begin, end + 1), value)
    return factors
