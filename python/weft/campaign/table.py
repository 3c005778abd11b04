# SPDX-License-Identifier: LGPL-2.1-only
"""The tables of a campaign, as Polars data frames; `COLUMNS` says what their columns are.

prepared = prepare(Path("slots.toml"))
frame(prepared).group_by("fabric", "offload").agg(pl.col("simulated_time_s").min())
"""

from collections.abc import Sequence
from typing import Any

import polars as pl

from weft.campaign import runs
from weft.campaign.campaign import Prepared
from weft.campaign.columns import COLLECTIVE_COLUMNS, COLUMNS, Column, collective_name
from weft.campaign.index import Index

__all__ = ["COLLECTIVE_COLUMNS", "COLUMNS", "Column", "collectives", "described", "frame"]

_KEY = Column("", "A key of the campaign, as its file has it")


def frame(prepared: Prepared, *, missing: bool = False, found: Index | None = None) -> pl.DataFrame:
    """Return a row for each combination that has ended: the campaign's keys, then `COLUMNS`.

    With `missing`, a row as well for each that has not, whose `state` is `missing`. Rows are in the
    campaign's order. `found` is the store's index, for who has it already.
    """
    rows = (found or prepared.index()).rows.select(*COLUMNS)
    table = _points(prepared).join(
        rows, on="run", how="left" if missing else "inner", maintain_order="left"
    )
    return table.with_columns(pl.col("state").fill_null("missing"))


def collectives(prepared: Prepared, *, found: Index | None = None) -> pl.DataFrame:
    """Return a row for each collective of each run: the keys, then `COLLECTIVE_COLUMNS`.

    A column that is called as one of the campaign's keys has `call_` before its name.
    """
    keys = list(runs.columns(prepared.runs))
    names = {name: collective_name(name, keys) for name in COLLECTIVE_COLUMNS}
    rows = calls((found or prepared.index()).rows).rename(names)
    return _points(prepared).join(rows, on="run", how="inner", maintain_order="left")


def calls(rows: pl.DataFrame) -> pl.DataFrame:
    """Return a row for each collective of each run of an index: `COLLECTIVE_COLUMNS`."""
    rows = rows.select("run", "collectives").filter(pl.col("collectives").list.len() > 0)
    return rows.explode("collectives").unnest("collectives").select(*COLLECTIVE_COLUMNS)


def _points(prepared: Prepared) -> pl.DataFrame:
    """Return the campaign's combinations in their order: keys, then `run`."""
    keys = list(runs.columns(prepared.runs))
    columns = {key: _column(key, [run.point.get(key) for run in prepared.runs]) for key in keys}
    return pl.DataFrame([*columns.values(), pl.Series("run", [r.digest for r in prepared.runs])])


def _column(name: str, values: Sequence[Any]) -> pl.Series:
    """Return values as numbers, truths or texts; as texts where they are of several kinds."""
    kinds = {type(value) for value in values if value is not None}
    if kinds == {int, float}:
        values = [None if value is None else float(value) for value in values]
    elif len(kinds) > 1:
        values = [None if value is None else str(value) for value in values]
    return pl.Series(name, values)


def described(rows: pl.DataFrame, *, collectives: bool = False) -> dict[str, Column]:
    """Return what the columns of one of these tables are, the campaign's keys included."""
    known = dict(COLUMNS)
    keys = rows.columns[: rows.columns.index("run")]
    if collectives:
        known = {collective_name(name, keys): one for name, one in COLLECTIVE_COLUMNS.items()}
    return {name: known.get(name, _KEY) for name in rows.columns}
