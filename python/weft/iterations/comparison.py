# SPDX-License-Identifier: LGPL-2.1-only
"""The same iteration with collectives on the GPUs, in NVSwitches, and in the network's switches."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from weft import _core
from weft.base.errors import WeftError
from weft.base.models import Model
from weft.iterations.iteration import Conditions, Iteration, Progress, simulate
from weft.iterations.record import FORMAT, IterationRecord, record_of
from weft.training.build import Summary
from weft.training.variants import VARIANTS
from weft.training.workload import Workload

COMPARISON_FORMAT = f"{FORMAT}-comparison"


@dataclass(frozen=True)
class Variant:
    """An iteration with some algorithms; or why the fabric cannot have it."""

    name: str
    iteration: Iteration | None
    refusal: str = ""

    @property
    def time_s(self) -> float | None:
        """Seconds of the iteration; None if there is none, or it could not go on."""
        return self.iteration.time_s if self.iteration and not self.iteration.failed else None

    @property
    def problem(self) -> str:
        """Why there is no time; empty if there is one."""
        return self.iteration.outcome.message if self.iteration else self.refusal

    def times_as_fast_as(self, other: "Variant") -> float | None:
        """Return the factor of speed over another variant, if both have a time."""
        return other.time_s / self.time_s if other.time_s and self.time_s else None


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


MOST_VARIANTS = len(VARIANTS) + 1
"""Variants of a comparison, those included that the fabric may not allow."""


def compare(
    workload: Workload, conditions: Conditions, progress: Progress | None = None
) -> list[Variant]:
    """Execute each variant. The first must be possible; of others, the reason is returned."""
    found: list[Variant] = []
    for name, executors in VARIANTS.items():
        varied = replace(
            conditions,
            changes=(*conditions.changes, *executors.changes),
            multicast=executors.multicast,
        )
        found.append(_variant(name, workload, varied, progress, must=not found))
    return found


def _variant(
    name: str,
    workload: Workload,
    conditions: Conditions,
    progress: Progress | None,
    *,
    must: bool = False,
) -> Variant:
    """Execute a variant, or return why it cannot be, unless it `must`."""
    try:
        return Variant(name, simulate(workload, conditions, progress))
    except (WeftError, _core.UserError) as error:
        if must:
            raise
        return Variant(name, None, str(error))


def comparison_record(
    workload: str,
    variants: list[Variant],
    summary: Summary | None,
    model_changes: Sequence[str] = (),
) -> IterationComparison:
    """Return the record of a comparison."""
    first = variants[0]
    return IterationComparison(
        format=COMPARISON_FORMAT,
        version=1,
        variants=[
            VariantRecord(
                name=one.name,
                times_as_fast=one.times_as_fast_as(first),
                iteration=record_of(workload, one.iteration, summary, model_changes)
                if one.iteration
                else None,
                refusal=one.refusal,
            )
            for one in variants
        ],
    )
