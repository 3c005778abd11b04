# SPDX-License-Identifier: LGPL-2.1-only
"""The same iteration with collectives on the GPUs, in NVSwitches, and in the network's switches."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from weft import _core
from weft.base.errors import WeftError
from weft.base.models import Model
from weft.training.build import Summary
from weft.training.iteration import Conditions, Iteration
from weft.training.record import FORMAT, IterationRecord, record_of

VARIANTS: Mapping[str, tuple[str, ...]] = {
    "rings and trees": ("nccl.NCCL_ALGO=ring,tree,pat",),
    "NVLS": ("nccl.NCCL_ALGO=^collnetdirect,collnetchain",),
    "SHARP": ("nccl.collnet=yes",),
}
"""Who may reduce and copy, and the changes of the fabric that allow it: GPUs alone; NVSwitches,
too; the switches of the network, too. NCCL chooses the fastest among what it may use."""


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


def compare(conditions: Conditions, run: Callable[[Conditions], Iteration]) -> Iterator[Variant]:
    """Run each variant. The first must be possible; of others, the reason is returned."""
    for name, changes in VARIANTS.items():
        varied = replace(conditions, changes=(*conditions.changes, *changes))
        try:
            yield Variant(name, run(varied))
        except (WeftError, _core.UserError) as error:
            if name == next(iter(VARIANTS)):
                raise
            yield Variant(name, None, str(error))


def comparison_record(
    workload: str, variants: list[Variant], summary: Summary | None
) -> IterationComparison:
    """Return the record of a comparison."""
    first = variants[0].iteration
    assert first
    return IterationComparison(
        format=f"{FORMAT}-comparison",
        version=1,
        variants=[
            VariantRecord(
                name=one.name,
                times_as_fast=first.time_s / one.iteration.time_s if one.iteration else None,
                iteration=record_of(workload, one.iteration, summary) if one.iteration else None,
                refusal=one.refusal,
            )
            for one in variants
        ],
    )
