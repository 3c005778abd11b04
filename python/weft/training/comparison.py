# SPDX-License-Identifier: LGPL-2.1-only
"""The same iteration with collectives on the GPUs, in NVSwitches, and in the network's switches."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from weft import _core
from weft.base.errors import WeftError
from weft.base.models import Model
from weft.training.build import Summary
from weft.training.iteration import Conditions, Iteration, Progress, simulate
from weft.training.record import FORMAT, IterationRecord, record_of
from weft.training.workload import Workload

COMPARISON_FORMAT = f"{FORMAT}-comparison"


@dataclass(frozen=True)
class Executors:
    """Devices that may reduce and copy. NCCL chooses the fastest among what it may use."""

    meaning: str
    changes: tuple[str, ...]
    """Changes of the fabric file."""


VARIANTS: Mapping[str, Executors] = {
    "rings and trees": Executors("GPUs alone", ("nccl.NCCL_ALGO=ring,tree,pat",)),
    "NVLS": Executors("NVSwitches too", ("nccl.NCCL_ALGO=^collnetdirect,collnetchain",)),
    "SHARP": Executors("the network's switches too", ("nccl.collnet=yes",)),
}
"""Variants of an iteration, by name; the first is the base of the factors."""


@dataclass(frozen=True)
class Variant:
    """An iteration with some algorithms; or why the fabric cannot have it."""

    name: str
    iteration: Iteration | None
    refusal: str = ""


class VariantRecord(Model):
    """A variant of a comparison."""

    name: str
    times_as_fast: float | None
    iteration: IterationRecord | None
    refusal: str


class IterationComparison(Model):
    """Variants of an iteration; the first is the base of the factors."""

    format: str
    version: int
    variants: list[VariantRecord]


def compare(
    workload: Workload, conditions: Conditions, progress: Progress | None = None
) -> list[Variant]:
    """Execute each variant. The first must be possible; of others, the reason is returned."""
    found: list[Variant] = []
    for name, executors in VARIANTS.items():
        varied = replace(conditions, changes=(*conditions.changes, *executors.changes))
        try:
            found.append(Variant(name, simulate(workload, varied, progress)))
        except (WeftError, _core.UserError) as error:
            if not found:
                raise
            found.append(Variant(name, None, str(error)))
    return found


def comparison_record(
    workload: str,
    variants: list[Variant],
    summary: Summary | None,
    model_changes: Sequence[str] = (),
) -> IterationComparison:
    """Return the record of a comparison."""
    first = variants[0].iteration
    assert first
    return IterationComparison(
        format=COMPARISON_FORMAT,
        version=1,
        variants=[
            VariantRecord(
                name=one.name,
                times_as_fast=first.time_s / one.iteration.time_s if one.iteration else None,
                iteration=record_of(workload, one.iteration, summary, model_changes)
                if one.iteration
                else None,
                refusal=one.refusal,
            )
            for one in variants
        ],
    )
