# SPDX-License-Identifier: LGPL-2.1-only
"""Tables of a campaign as Polars data frames; `COLUMNS` describes their columns.

Usage:

    prepared = prepare(Path("slots.toml"))
    frame(prepared).group_by("fabric", "offload").agg(pl.col("simulated_time_s").min())
"""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from weft.campaign import gains
from weft.campaign.campaign import Prepared
from weft.campaign.file import runs
from weft.campaign.file.axes import Point, Value
from weft.campaign.file.columns import (
    BEST_TIME,
    COLLECTIVE_COLUMNS,
    COLUMNS,
    COMMON_COLUMNS,
    GAINS,
    ITERATION_COLUMNS,
    JOB_COLUMNS,
    JOB_GAINS,
    NOT_MEASURED,
    OWN_TIME,
    PART_COLUMNS,
    Column,
    collective_name,
    job_name,
)
from weft.campaign.file.runs import OFF, Run
from weft.campaign.own_job import own_results
from weft.campaign.store.index import Index

__all__ = [
    "COLLECTIVE_COLUMNS",
    "COLUMNS",
    "ITERATION_COLUMNS",
    "JOB_COLUMNS",
    "PART_COLUMNS",
    "Column",
    "collectives",
    "described",
    "frame",
    "jobs",
    "parts",
]

_KEY = Column("", "Key of the campaign, as in its file")


def frame(
    prepared: Prepared,
    *,
    missing: bool = False,
    found: Index | None = None,
    best: bool = False,
    whole: bool = False,
) -> pl.DataFrame:
    """Return a row for each finished combination: the campaign's keys, then `COLUMNS`.

    If the campaign contains training iterations, `ITERATION_COLUMNS` follow; columns that apply to
    none of its runs are omitted unless `whole` is set. Rows are in the campaign's order. With
    `missing`, unfinished combinations are included as `state` `missing`. `found` is the store's
    index, if already read. With `best`, runs with the hosts' fastest algorithms are included.
    """
    found = found or prepared.index()
    added = (OWN_TIME, BEST_TIME, *GAINS)
    kept = (*COLUMNS, *ITERATION_COLUMNS)
    own = own_results(found.rows).select("run", pl.col("simulated_time_s").alias(OWN_TIME))
    rows = found.rows.select(*(one for one in kept if one not in added)).join(own, on="run")
    times = pl.Series(BEST_TIME, _best_times(prepared, rows, best=best), pl.Float64)
    table = (
        _points(prepared, best=best)
        .with_columns(times, *_gains(prepared, found, best=best))
        .join(rows, on="run", how="left" if missing else "inner", maintain_order="left")
    )
    keys = table.columns[: table.columns.index("run")]
    shown = kept if whole else _columns(prepared)
    return table.select(*keys, *shown).with_columns(pl.col("state").fill_null("missing"))


def _columns(prepared: Prepared) -> list[str]:
    """Return the columns that apply to runs of the campaign."""
    trains = {run.iteration is not None for run in prepared.runs}
    if True not in trains:
        return list(COLUMNS)
    return [
        *(name for name in COLUMNS if False in trains or name in COMMON_COLUMNS),
        *ITERATION_COLUMNS,
    ]


def _best_times(prepared: Prepared, rows: pl.DataFrame, *, best: bool) -> list[float | None]:
    """Return, for each row, the time of the same run with the hosts' fastest algorithms."""
    done = rows.filter(rows["state"] == "done")
    times = dict(zip(done["run"], done[OWN_TIME], strict=True))
    by_point = {
        _but_fallback(run.point): times.get(run.digest) for run in prepared.runs if run.best
    }
    return [
        by_point.get(_but_fallback(run.point)) if run.point.get("offload") == OFF else None
        for run in _shown(prepared, best=best)
    ]


def _gains(prepared: Prepared, found: Index, *, best: bool) -> list[pl.Series]:
    """Return the columns of gains."""
    rows = gains.rows(prepared, found)
    shown = [row for row, run in zip(rows, prepared.runs, strict=True) if best or not run.best]
    return _columns_of(GAINS, shown)


def _columns_of(names: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> list[pl.Series]:
    """Return columns of gains."""
    texts = ("_says", NOT_MEASURED)
    return [
        pl.Series(
            name,
            [row.get(name) for row in rows],
            pl.String if name.endswith(texts) else pl.Float64,
        )
        for name in names
    ]


def _but_fallback(point: Point) -> frozenset[tuple[str, Value]]:
    return frozenset((key, value) for key, value in point.items() if key != "fallback")


def _shown(prepared: Prepared, *, best: bool) -> list[Run]:
    return [run for run in prepared.runs if best or not run.best]


def collectives(
    prepared: Prepared, *, found: Index | None = None, best: bool = False
) -> pl.DataFrame:
    """Return a row for each collective of each run: the keys, then `COLLECTIVE_COLUMNS`.

    A column whose name clashes with a campaign key is prefixed with `call_`. With `best`, runs with
    the hosts' fastest algorithms are included.
    """
    keys = list(runs.columns(_shown(prepared, best=best)))
    names = {name: collective_name(name, keys) for name in COLLECTIVE_COLUMNS}
    rows = calls((found or prepared.index()).rows).rename(names)
    points = _points(prepared, best=best)
    return points.join(rows, on="run", how="inner", maintain_order="left")


def jobs(prepared: Prepared, *, found: Index | None = None) -> pl.DataFrame:
    """Return a row for each job of each run of a jobs file: the keys, then `JOB_COLUMNS`.

    A column whose name clashes with a campaign key is prefixed with `its_`.
    """
    found = found or prepared.index()
    rows = found.rows.select("run", "jobs")
    rows = rows.filter(pl.col("jobs").list.len() > 0).explode("jobs").unnest("jobs")
    keys = list(runs.columns(_shown(prepared, best=False)))
    gains_of = gains.of_jobs(prepared, found)
    cells = [gains_of.get(row, {}) for row in rows.select("run", "job").rows()]
    rows = rows.with_columns(*_columns_of(JOB_GAINS, cells)).select(*JOB_COLUMNS)
    names = {name: job_name(name, keys) for name in JOB_COLUMNS if name != "run"}
    points_of = _points(prepared, best=False)
    return points_of.join(rows.rename(names), on="run", how="inner", maintain_order="left")


def calls(rows: pl.DataFrame) -> pl.DataFrame:
    """Return a row for each collective of each run of an index: `COLLECTIVE_COLUMNS`."""
    rows = rows.select("run", "collectives").filter(pl.col("collectives").list.len() > 0)
    return rows.explode("collectives").unnest("collectives").select(*COLLECTIVE_COLUMNS)


def parts(prepared: Prepared, *, found: Index | None = None) -> pl.DataFrame:
    """Return a row for each use of time in each iteration: the keys, then `PART_COLUMNS`."""
    rows = (found or prepared.index()).rows.select("run", "parts")
    rows = rows.filter(pl.col("parts").list.len() > 0).explode("parts").unnest("parts")
    points = _points(prepared, best=False)
    return points.join(
        rows.select(*PART_COLUMNS), on="run", how="inner", maintain_order="left_right"
    )


def _points(prepared: Prepared, *, best: bool) -> pl.DataFrame:
    """Return the campaign's combinations in order: keys, then `run`."""
    shown = _shown(prepared, best=best)
    columns = [_column(key, [run.point.get(key) for run in shown]) for key in runs.columns(shown)]
    return pl.DataFrame([*columns, pl.Series("run", [run.digest for run in shown])])


def _column(name: str, values: Sequence[Any]) -> pl.Series:
    """Return values as a column of numbers, booleans or strings; mixed kinds become strings."""
    kinds = {type(value) for value in values if value is not None}
    if kinds == {int, float}:
        values = [None if value is None else float(value) for value in values]
    elif len(kinds) > 1:
        values = [None if value is None else str(value) for value in values]
    return pl.Series(name, values)


def described(
    rows: pl.DataFrame, *, collectives: bool = False, jobs: bool = False, parts: bool = False
) -> dict[str, Column]:
    """Return descriptions of a table's columns, including the campaign's keys."""
    known = dict(PART_COLUMNS) if parts else {**COLUMNS, **ITERATION_COLUMNS}
    keys = rows.columns[: rows.columns.index("run")]
    if jobs:
        known = {job_name(name, keys): one for name, one in JOB_COLUMNS.items()}
    if collectives:
        known = {collective_name(name, keys): one for name, one in COLLECTIVE_COLUMNS.items()}
    return {name: known.get(name, _KEY) for name in rows.columns}
