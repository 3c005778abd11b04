# SPDX-License-Identifier: LGPL-2.1-only
"""Data for the page's script: runs as columns of numbers, with each string stored once.

Ten thousand runs take about a megabyte. Times are rounded to six digits; charts and tables show
three.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from weft.campaign.file.file import REPEATS
from weft.report.data.axes import Axis
from weft.report.data.study import Study
from weft.report.page import losses, training
from weft.report.page.fabrics import Variant, variants
from weft.report.page.sentences import DECIDED, question
from weft.runs import offload_modes
from weft.runs.offload_modes import REASONS

STATES = ("done", "failed", "refused", "missing")
OUTCOMES = (*DECIDED, "fell back", "no collectives", "failed", "missing")
_SHOWN_DIGEST = 12
_NUMBERS = {
    "time": "simulated_time_s",
    "collectives": "collectives_s",
    "mpi": "mpi_s",
    "calls": "calls",
    "offloaded": "offloaded_calls",
    "busiest": "busiest_link_utilisation",
    "mean": "mean_link_utilisation",
    "slots": "slots_used_max",
}
"""Columns of runs by their names in the page's script."""
_OF_ITERATIONS = {
    "mfu": "mfu",
    "tokens": "tokens_per_s_per_gpu",
    "computation": "computation_s",
    "exposed": "exposed_s",
    "waiting": "waiting_s",
}
"""Columns of training iterations."""


class _Words:
    """Strings interned as numbers in order of appearance."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, word: str | None) -> int:
        """Return the number of a string; -1 for an empty one."""
        return self._numbers.setdefault(word, len(self._numbers)) if word else -1

    def all(self) -> list[str]:
        """Return all strings."""
        return list(self._numbers)


def payload(study: Study) -> dict[str, Any]:
    """Return the data of the page's script as a JSON object."""
    words, runs = _Words(), _Words()
    found = variants(study)
    rows = _rows(study, words, runs, found)
    calls = _calls(study, words, runs)
    return {
        "axes": [_axis(axis) for axis in study.axes],
        "baselines": [_baseline(one, words) for one in study.by_baseline],
        "repeats": list(REPEATS),
        "fixed": [one.name for one in study.axes if one not in study.varying],
        "best": sorted(study.best_rows),
        "library": study.library,
        "states": STATES,
        "outcomes": OUTCOMES,
        "reasons": REASONS,
        "offload": offload_modes.DEFAULT,
        "n": len(study.points),
        "rows": rows,
        "calls": calls,
        "words": words.all(),
        "measured": _measured(found),
        "losses": losses.payload(study),
        "training": training.payload(study),
    }


def _baseline(study: Study, words: _Words) -> dict[str, Any]:
    """Return the data that depends on the selected baseline."""
    return {
        "reference": _reference(study),
        "overBest": _over_best(study),
        "question": question(study),
        "across": study.roles.across,
        "down": study.roles.down,
        "further": list(study.roles.further),
        "defaults": _defaults(study),
        "rows": _compared(study, words),
    }


def _over_best(study: Study) -> int | None:
    """Return the index of the corresponding baseline with the hosts' fastest algorithms."""
    best = study.over_best
    return study.references.index(best.reference) if best and best.reference else None


def _reference(study: Study) -> dict[str, Any] | None:
    against = study.reference
    if against is None:
        return None
    return {
        "axis": against.axis,
        "value": against.value,
        "hosts": against.hosts,
        "name": against.name,
        "said": against.said,
    }


def _compared(study: Study, words: _Words) -> dict[str, Any]:
    """Return the columns that depend on the baseline."""
    outcomes = {one.row: one for one in study.compared}
    compared = [outcomes.get(row) for row in range(len(study.points))]
    return {
        "reference": [-1 if other is None else other for other in study.pairs.of],
        "outcome": [-1 if one is None else OUTCOMES.index(one.outcome) for one in compared],
        "reason": [-1 if one is None else words.number(one.reason) for one in compared],
        "partly": [int(one is not None and one.partly) for one in compared],
        "interval": {
            one.row: [_six_digits(one.certainty.low), _six_digits(one.certainty.high)]
            for one in study.compared
            if one.certainty
        },
        "beyond": {
            one.row: words.number("; ".join(one.certainty.beyond))
            for one in study.compared
            if one.certainty and one.certainty.beyond
        },
    }


def _axis(axis: Axis) -> dict[str, Any]:
    numbers = [axis.number(value) for value in axis.values] if axis.kind != "name" else []
    return {
        "name": axis.name,
        "kind": axis.kind,
        "values": axis.values,
        "numbers": [None if number == float("-inf") else number for number in numbers],
    }


def _defaults(study: Study) -> dict[str, int]:
    """Return the initial value of each further axis: the first value with a run of the baseline."""
    hosts = {other for other in study.pairs.of if other is not None}
    firsts = {}
    for axis in study.axes:
        if axis.name in study.roles.further:
            there = {study.points[row][axis.name] for row in hosts}
            value = next((one for one in axis.values if one in there), axis.values[0])
            firsts[axis.name] = axis.values.index(value)
    return firsts


def _rows(
    study: Study, words: _Words, runs: _Words, found: Sequence[Variant]
) -> dict[str, list[Any]]:
    numbers = {**_NUMBERS, **(_OF_ITERATIONS if study.iterations.models else {})}
    columns = {name: _rounded(study.rows[column].to_list()) for name, column in numbers.items()}
    records = study.records
    return {
        **columns,
        "trains": [int(one) for one in training.trains(study)],
        "keys": [_indices(axis, study.points) for axis in study.axes],
        "state": [STATES.index(row["state"]) for row in records],
        "message": [words.number(row["message"]) for row in records],
        "link": [words.number(row["busiest_link"]) for row in records],
        "id": [runs.number(row["run"]) for row in records],
        "run": [row["run"][:_SHOWN_DIGEST] for row in records],
        "head": [words.number(one.head) for one in study.commands],
        "tail": [words.number(one.tail) for one in study.commands],
        **_on_fabrics(study, found),
    }


def _indices(axis: Axis, points: Sequence[Mapping[str, str]]) -> list[int]:
    numbers = {value: number for number, value in enumerate(axis.values)}
    return [numbers[point[axis.name]] for point in points]


def _on_fabrics(study: Study, found: Sequence[Variant]) -> dict[str, list[Any]]:
    """Return the fabric variant and the ranks per host of each run."""
    numbers = {row: number for number, one in enumerate(found) for row in one.rows}
    variant = [numbers[row] for row in range(len(study.points))]
    ppn = [
        int(point.get("ppn") or 0) or found[number].ranks_per_host(int(point["ranks"]))
        for point, number in zip(study.points, variant, strict=True)
    ]
    return {"variant": variant, "ppn": ppn}


def _rounded(values: Iterable[float | None]) -> list[float | int | None]:
    return [
        None if value is None else value if isinstance(value, int) else _six_digits(value)
        for value in values
    ]


def _six_digits(value: float) -> float | int:
    """Round to six digits; integers, such as sizes, stay exact."""
    short = value if value == int(value) else float(f"{value:.6g}")
    return int(short) if short == int(short) else short


def _calls(study: Study, words: _Words, runs: _Words) -> dict[str, list[Any]]:
    """Return the calls of runs, one entry per collective, executor and size."""
    if study.calls.is_empty():
        names = ("id", "collective", "way", "size", "calls", "mean", "wait", "ranks")
        return {name: [] for name in names}
    by = ("run", "collective", "path", "algorithm", "communicator_size", "size")
    number = pl.col("calls").sum()
    spent, waited = ((pl.col(f"mean_{one}_s") * pl.col("calls")).sum() for one in ("time", "wait"))
    known = pl.col("mean_wait_s").is_not_null().all()  # false for records of earlier versions
    calls = (
        study.calls.with_columns((pl.col("bytes") / pl.col("calls")).round(2).alias("size"))
        .filter(pl.col("mean_time_s").is_not_null())
        .group_by(by, maintain_order=True)
        .agg(
            number,
            (spent / number).alias("mean"),
            pl.when(known).then(waited / number).alias("wait"),
        )
    )
    rows = calls.to_dicts()
    return {
        "id": [runs.number(row["run"]) for row in rows],
        "collective": [words.number(row["collective"]) for row in rows],
        "way": [words.number(way(row["path"], row["algorithm"])) for row in rows],
        "ranks": [row["communicator_size"] for row in rows],
        "size": _rounded(row["size"] for row in rows),
        "calls": [row["calls"] for row in rows],
        "mean": _rounded(row["mean"] for row in rows),
        "wait": _rounded(row["wait"] for row in rows),
    }


def way(path: str, algorithm: str) -> str:
    """Return the executor of a call: an offload mode, or the hosts with an algorithm."""
    return path if path != "fallback" else f"hosts: {algorithm or 'an algorithm of their own'}"


def _measured(found: Sequence[Variant]) -> list[list[dict[str, Any]]]:
    """Return the measurements of each fabric."""
    return [
        [
            {
                "label": one.label,
                "collective": one.collective,
                "mode": one.check.mode,
                "table": one.check.table,
                "fabric": one.check.fabric,
                "points": [[p.bytes, p.ranks, p.ppn, _six_digits(p.time_s)] for p in one.points],
            }
            for one in variant.measurements
            if one.check.rows == "all" and one.points
        ]
        for variant in found
    ]
