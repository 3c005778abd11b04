# SPDX-License-Identifier: LGPL-2.1-only
"""Comparison of runs: gains, file format and presentation."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from weft.base.errors import named
from weft.base.models import Model, Number, Whole, write_model
from weft.benchmarks.certainty import Certainty
from weft.runs.record import Record
from weft.runs.record_data import COMPARISON_SCHEMA
from weft.study.comparison.gains import ComparedRuns, Gain, Share


class ComparisonRecord(Model, kw_only=True):
    """Gains from offloading with all complete records: `weft run --compare --json`."""

    schema: Literal["weft-compare/1"] = COMPARISON_SCHEMA
    exit_status: Whole
    simulated_time_s: Number
    simulated_time_without_s: Number | None
    speed_up: Number | None
    """Speed-up of the run by offloading; None if a run did not complete."""
    gains: list[Gain]
    profile: list[Share]
    with_offload: Record
    without_offload: Record | None
    simulated_time_best_s: Number | None = None
    speed_up_over_best: Number | None = None
    """Speed-up by offloading over the hosts' fastest algorithms."""
    with_best: Record | None = None
    """Run without offload and with `--fallback best`; None if not executed."""
    speed_up_interval: tuple[Number, Number] | None = None
    """Range of `speed_up` over the intervals of the fabric's values; None without intervals."""
    certainty: Certainty | None = None
    """Interval of `speed_up` and its basis; None on SimGrid platforms, and without offloaded calls.
    """
    certainty_over_best: Certainty | None = None
    """Certainty of `speed_up_over_best`."""


@dataclass(frozen=True, repr=False)
class Comparison(ComparedRuns):
    """Run with offload and the same run without; None if the first run did not complete."""

    def __repr__(self) -> str:
        """Return both runs and the gain in one line."""
        gained = "" if self.speed_up is None else f", {self.speed_up:.3g} times as fast with it"
        return f"<Comparison: {self.offloaded!r}, and without{gained}>"

    def __str__(self) -> str:
        """Return the output of `weft run --compare`: gains by collective and of the whole run."""
        from weft.study.comparison.views import comparison_as_text

        return comparison_as_text(self)

    def _repr_html_(self) -> str:
        from weft.study.comparison.views import comparison_as_html

        return comparison_as_html(self)

    def record(self) -> ComparisonRecord:
        """Return the content of the file: gains and all complete records."""
        return ComparisonRecord(
            exit_status=self.exit_status,
            simulated_time_s=self.offloaded.simulated_time_s,
            simulated_time_without_s=self.hosts.simulated_time_s if self.hosts else None,
            speed_up=self.speed_up,
            gains=self.gains(),
            profile=self.shares(),
            speed_up_interval=self.speed_up_interval,
            certainty=self.certainty,
            certainty_over_best=self.certainty_over_best,
            with_offload=self.offloaded,
            without_offload=self.hosts,
            simulated_time_best_s=self.best.simulated_time_s if self.best else None,
            speed_up_over_best=self.speed_up_over_best,
            with_best=self.best,
        )


def write_comparison(comparison: Comparison, target: Path, option: str = named("json")) -> None:
    """Write a comparison with all records, atomically."""
    write_model(comparison.record(), target, option)
