# SPDX-License-Identifier: LGPL-2.1-only
"""A comparison of runs: its gains, its file, and what is shown of it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from weft.base.errors import named
from weft.base.models import Model, Number, Whole, write_json
from weft.base.output import whole_file
from weft.runs.record import Record
from weft.runs.record_data import COMPARISON_SCHEMA
from weft.study.comparison.gains import Compared, Gain, Share


class ComparisonRecord(Model, kw_only=True):
    """What offloading gained, with all records whole: `weft run --compare --json`."""

    schema: Literal["weft-compare/1"] = COMPARISON_SCHEMA
    exit_status: Whole
    simulated_time_s: Number
    simulated_time_without_s: Number | None
    speed_up: Number | None
    """How many times as fast the run is with offload; none where one of them did not end."""
    gains: list[Gain]
    profile: list[Share]
    with_offload: Record
    without_offload: Record | None
    simulated_time_best_s: Number | None = None
    speed_up_over_best: Number | None = None
    """How many times as fast the run is with offload as with the hosts' fastest algorithms."""
    with_best: Record | None = None
    """The run without offload and with `--fallback best`; none where there was none."""
    speed_up_interval: tuple[Number, Number] | None = None
    """What the intervals of the fabric's values leave of `speed_up`, where it has some."""


@dataclass(frozen=True, repr=False)
class Comparison(Compared):
    """A run with offload, and the same without; none where the first did not end."""

    def __repr__(self) -> str:
        """Return both runs and what was gained, in a line."""
        gained = "" if self.speed_up is None else f", {self.speed_up:.3g} times as fast with it"
        return f"<Comparison: {self.offloaded!r}, and without{gained}>"

    def __str__(self) -> str:
        """Return what `weft run --compare` prints: the gain of each collective, and in all."""
        from weft.study.comparison.views import comparison_as_text

        return comparison_as_text(self)

    def _repr_html_(self) -> str:
        from weft.study.comparison.views import comparison_as_html

        return comparison_as_html(self)

    def record(self) -> ComparisonRecord:
        """Return what is written: the gains, and both records whole."""
        return ComparisonRecord(
            exit_status=self.exit_status,
            simulated_time_s=self.offloaded.simulated_time_s,
            simulated_time_without_s=self.hosts.simulated_time_s if self.hosts else None,
            speed_up=self.speed_up,
            gains=self.gains(),
            profile=self.shares(),
            speed_up_interval=self.speed_up_interval,
            with_offload=self.offloaded,
            without_offload=self.hosts,
            simulated_time_best_s=self.best.simulated_time_s if self.best else None,
            speed_up_over_best=self.speed_up_over_best,
            with_best=self.best,
        )


def write_comparison(comparison: Comparison, target: Path, option: str = named("json")) -> None:
    """Write a comparison with both records, whole or not at all."""
    with whole_file(option, target) as file:
        write_json(comparison.record().to_json(), file)
