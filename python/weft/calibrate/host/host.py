# SPDX-License-Identifier: LGPL-2.1-only
"""Host calibration: searches host parameters from collectives with several ranks per host.

No closed formula describes a host that is shared by its ranks. Each trial therefore executes the
schedules of the rows on a fabric with other values, as `--offload auto` does to predict them. A
subset of rows from all series locates the region (`search.explore`), then all rows determine the
values. The result depends only on rows, keys and fabric, so the same call finds the same values.

In a trial, all ranks enter a call at once; in a benchmark, they leave the barrier, or the previous
call, at different times. At the best point, the benchmark of each row is therefore simulated. The
ratio of the simulated to the predicted time becomes a factor of the row in a second search, which
starts at this point. All reported errors come from simulations.

Keys that the rows do not determine (`intervals`) fall back to the base's value, and the remaining
keys are fitted again, provided that the loss hardly increases. All other undetermined keys are
written as fitted and reported as vague, because the rows contradict the base's value or because
other keys depend on the fitted value.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from weft.base.measured import LogError, log_error
from weft.base.process import work_directory
from weft.benchmarks.methods import Method
from weft.calibrate.host.intervals import NO_ROW, PERCENT, Interval, Local
from weft.calibrate.host.keys import Key, is_stated, value_in, with_keys
from weft.calibrate.host.rows import HostRow, Times, choose, predict_in, simulate_as_measured
from weft.calibrate.host.search import Progress, Search, explore, find, smooth
from weft.fabric.toml_file import without_tables

if TYPE_CHECKING:
    from weft._core import Fabric

_EXPLORED = 18
"""Rows used for exploration; the best points are then evaluated on all rows."""
_KEPT = 2
_MOST_WORSE = 1.03
"""Largest allowed ratio of the loss without undetermined keys to the loss of the full fit."""
_NO_LIMIT = ("bandwidth", "speed", "frequency")
"""Types for which an absent key means unlimited; for all others it means zero."""


@dataclass(frozen=True)
class HostFit:
    """Result of the search."""

    values: Mapping[Key, Interval]
    """Keys written to the file; those not `determined` are vague."""
    undetermined: Mapping[Key, Interval]
    """Keys that keep the base's values, each with the reason."""
    text: str
    """Contents of the fabric file."""
    fitted: tuple[HostRow, ...]
    predicted: Times
    """Simulated times of all rows on the fitted fabric, by the benchmarks that measured them."""
    left_out: Mapping[HostRow, float]
    """ln(predicted / measured) of fitted rows, each predicted from the other folds."""
    tries: int

    @property
    def intervals(self) -> dict[str, tuple[str, str]]:
        """Bootstrap intervals by key, as in [calibration.intervals]."""
        return {
            key.text: (str(key.toml(one.low)), str(key.toml(one.high)))
            for key, one in self.values.items()
            if not key.names
        }

    def error(self, measured: Times, rows: Sequence[HostRow]) -> LogError:
        """Return the error of the fitted fabric on some rows."""
        numbers = range(len(rows))
        predicted, real = (
            {number: times[rows[number]] for number in numbers}
            for times in (self.predicted, measured)
        )
        return log_error(predicted, real)

    def held_out(self, measured: Times, rows: Sequence[HostRow] | None = None) -> LogError | None:
        """Return the prediction error on held-out rows.

        A fitted row is predicted by the fit of its fold, which leaves it out; other rows are
        predicted by the fit to all rows.
        """
        logs = [abs(log) for row, log in self.left_out.items() if rows is None or row in rows]
        logs += [
            abs(math.log(self.predicted[row] / time))
            for row, time in measured.items()
            if row not in self.left_out and (rows is None or row in rows)
        ]
        if not logs:
            return None
        return LogError(math.expm1(sum(logs) / len(logs)), math.expm1(max(logs)))


def fit(
    fabric: "Fabric",
    keys: Sequence[Key],
    measured: Times,
    methods: Mapping[HostRow, Method],
    rows: Sequence[HostRow],
    fallback: str | None = None,
    progress: Progress | None = None,
) -> HostFit:
    """Fit the keys to some rows of a table, and simulate the whole table on the fitted fabric.

    `methods` maps each measured row to its benchmark.
    """
    with work_directory() as work:
        return _fit(work, fabric, keys, measured, methods, tuple(rows), fallback, progress)


def _fit(
    work: Path,
    fabric: "Fabric",
    keys: Sequence[Key],
    measured: Times,
    methods: Mapping[HostRow, Method],
    rows: tuple[HostRow, ...],
    fallback: str | None,
    progress: Progress | None,
) -> HostFit:
    factors: dict[HostRow, float] = {}

    def predict(text: str, some: Sequence[HostRow]) -> Times:
        times = predict_in(work, text, some, fallback)
        return {row: time * factors.get(row, 1.0) for row, time in times.items()}

    def search_of(some: Sequence[HostRow], left: Sequence[Key]) -> Search:
        return Search(fabric, left, measured, lambda text: predict(text, some))

    coarse = search_of(choose({row: measured[row] for row in rows}, _EXPLORED), keys)
    starts = explore(coarse, progress)[:_KEPT]
    search = search_of(rows, keys)
    best = find(search, progress, min(starts, key=search.loss))
    tries = coarse.tries + search.tries
    text = search.text(best)
    simulated = simulate_as_measured(text, {row: methods[row] for row in rows}, fallback)
    alone = predict(text, rows)
    factors |= {row: time / alone[row] for row, time in simulated.items()}
    search = search_of(rows, keys)
    best = find(search, progress, best)
    tries += search.tries
    local = Local(search, best)
    most = _MOST_WORSE * search.loss(best)
    undetermined: dict[Key, Interval] = {}
    for some in _undetermined(fabric, local.intervals(rows)):
        left = [key for key in search.keys if key not in some]
        trial = search_of(rows, left)
        start = tuple(best[search.keys.index(key)] for key in left)
        found = smooth(trial, start)
        tries += trial.tries
        if trial.loss(found) <= most:
            undetermined |= some
            search, best = trial, found
    if undetermined:
        tries -= search.tries
        best = find(search, progress, best)
        tries += search.tries
        local = Local(search, best)
    intervals = local.intervals(rows)
    notes = {
        key: f"{PERCENT} %: {_span(key, one)}{'' if one.determined else ', vague'}"
        for key, one in intervals.items()
    }
    text = with_keys(fabric, {key: one.value for key, one in intervals.items()}, notes)
    predicted = simulate_as_measured(text, methods, fallback)
    return HostFit(intervals, undetermined, text, rows, predicted, local.held_out(rows), tries)


def _undetermined(fabric: "Fabric", intervals: Mapping[Key, Interval]) -> list[dict[Key, Interval]]:
    """Return sets of keys to drop, in order: keys that affect no row, then the widest.

    Only keys whose interval contains the base's value are candidates.
    """
    found = {
        key: one
        for key, one in intervals.items()
        if not one.determined and _allows(fabric, key, one)
    }
    without = {key: one for key, one in found.items() if one.why == NO_ROW}
    others = [key for key in found if key not in without]
    others.sort(key=lambda key: -found[key].high / found[key].low)
    return [some for some in (without, *({key: found[key]} for key in others)) if some]


def _allows(fabric: "Fabric", key: Key, interval: Interval) -> bool:
    """Return True if the rows are compatible with the base's value of a key."""
    if interval.why == NO_ROW or key.names:
        return True
    value = value_in(fabric, key)
    if value is not None and not is_stated(fabric, key):
        return False  # a default that the user did not choose
    if value is not None:
        return interval.low <= value <= interval.high
    # An absent rate or threshold means unlimited; an absent time or cache size means zero.
    unlimited = key.type in _NO_LIMIT or bool(key.steps)
    return interval.high >= key.high if unlimited else interval.low <= key.low


def _span(key: Key, interval: Interval) -> str:
    return f"{key.toml(interval.low)} to {key.toml(interval.high)}"


def with_intervals(text: str, intervals: Mapping[str, tuple[str, str]]) -> str:
    """Return a fabric's text with these intervals in place of earlier ones."""
    text = without_tables(text, ("calibration",))
    if not intervals:
        return text
    lines = "".join(f'"{key}" = ["{low}", "{high}"]\n' for key, (low, high) in intervals.items())
    return (
        f"{text.rstrip()}\n\n# {PERCENT} % bootstrap intervals of fitted values.\n"
        f"[calibration.intervals]\n{lines}"
    )
