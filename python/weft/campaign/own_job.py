# SPDX-License-Identifier: LGPL-2.1-only
"""Results of a run's own job: the first job of a jobs file, whose gain is reported.

The time of the whole run includes the last job to end, so it may not reflect the own job.
"""

from collections.abc import Mapping
from typing import Any

import polars as pl

_OF_RUN = {
    "simulated_time_s": "time_s",
    "collectives_s": "collectives_s",
    "collectives_wait_s": "collectives_wait_s",
    "mpi_s": "mpi_s",
    "calls": "calls",
    "offloaded_calls": "offloaded_calls",
}
"""Index columns that also exist for a job, with the job's name for each column."""


def own_job(row: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the first job of an index row; None if the run had one program."""
    return row["jobs"][0] if row["jobs"] else None


def own_results(rows: pl.DataFrame) -> pl.DataFrame:
    """Return index rows with the results of their own jobs in place of totals over all jobs."""
    several = pl.col("jobs").list.len() > 0
    if rows.is_empty() or not rows.select(several.any()).item():
        return rows
    first = pl.col("jobs").list.first()
    return rows.with_columns(
        *(
            pl.when(several).then(first.struct.field(name)).otherwise(pl.col(column)).alias(column)
            for column, name in _OF_RUN.items()
        ),
        pl.Series(
            "collectives", map(_own_calls, rows.iter_rows(named=True)), rows.schema["collectives"]
        ),
    )


def _own_calls(row: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    job = own_job(row)
    return [one for one in row["collectives"] if job is None or one["job"] == job["job"]]
