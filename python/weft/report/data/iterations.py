# SPDX-License-Identifier: LGPL-2.1-only
"""Training iterations in a report: uses of their time, and timelines."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from weft.iterations.timeline import Uses

MOST_PICTURES = 40
"""Number of runs on a page with a timeline, each of up to 16 ranks."""


@dataclass(frozen=True)
class Iterations:
    """Data of iterations that the table of runs lacks, by run."""

    parts: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Mean seconds of ranks by use of time."""
    pictures: Mapping[str, Uses] = field(default_factory=dict)
    models: Mapping[str, str] = field(default_factory=dict)
    """Name of the model by program."""


NO_ITERATIONS = Iterations()
"""Data of a study without training iterations."""


def parts_of(rows: Iterable[Mapping[str, object]]) -> dict[str, dict[str, float]]:
    """Return the mean seconds by use from rows with `run`, `part` and `mean_s`."""
    found: dict[str, dict[str, float]] = {}
    for row in rows:
        found.setdefault(str(row["run"]), {})[str(row["part"])] = float(str(row["mean_s"]))
    return found
