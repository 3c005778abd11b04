# SPDX-License-Identifier: LGPL-2.1-only
"""Lists of a record as data frames."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, get_args

import polars
from msgspec import UNSET, structs

from weft.base.errors import WeftError, suggestion
from weft.benchmarks.certainty import Certainty
from weft.runs.record_data import CollectivePart, JobPart, Part, RecordData

if TYPE_CHECKING:
    from polars import DataFrame

_DERIVED = {CollectivePart: ("way", "mean_time_s", "mean_wait_s")}
"""Properties included as columns after the fields."""
_OF_JOBS = ("collectives", "profile")
"""Lists that each job has separately; the record's own lists are then empty."""


def frame(record: RecordData, part: Part) -> "DataFrame":
    """Return a row for each entry. Raises `WeftError` if the record lacks the list."""
    allowed = get_args(Part)
    if part not in allowed:
        raise WeftError(f"part: found {part!r}; {suggestion(str(part), allowed)}")
    if part == "slowdowns":
        rows = list(_slowdowns(record))
    elif part == "jobs":
        rows = [_job_row(job) for job in record.jobs or ()]
    else:
        rows = [_row(one) for one in getattr(record, part)]
    if part in _OF_JOBS and record.jobs:
        rows = [{"job": job.name, **_row(one)} for job in record.jobs for one in getattr(job, part)]
    # A number that is an integer in the first row may be fractional in later rows.
    return polars.DataFrame(rows, infer_schema_length=None, strict=False)


def _job_row(job: JobPart) -> dict[str, Any]:
    alone = job.alone or None
    return {
        "job": job.name,
        "ranks": job.ranks,
        "hosts_used": job.hosts_used,
        "start_s": job.start_s,
        "time_s": job.time_s,
        "outcome": job.outcome.kind,
        "offloaded_calls": job.offloaded_calls,
        "fallback_calls": job.fallback_calls,
        "speed_up": job.speed_up,
        **_interval(job.certainty, ""),
        "speed_up_over_best": job.speed_up_over_best,
        **_interval(job.certainty_over_best, "_over_best"),
        "not_measured": job.not_measured,
        "alone_s": alone.time_s if alone else None,
        "slowdown": job.slowdown,
    }


def _interval(found: Certainty | None, suffix: str) -> dict[str, Any]:
    """Return the columns of a gain's interval; None if it is unknown."""
    return {
        f"low{suffix}": found.low if found else None,
        f"high{suffix}": found.high if found else None,
        f"says{suffix}": found.says if found else None,
    }


def _slowdowns(record: RecordData) -> Iterator[dict[str, Any]]:
    """Yield a row for each job and collective whose calls ran alone, too."""
    for job in record.jobs or ():
        for one in job.slowdowns():
            times = {"mean_s": one.together.mean_s, "mean_alone_s": one.alone.mean_s}
            yield {"job": job.name, **structs.asdict(one.ratio), **times}


def _row(entry: Any) -> dict[str, Any]:
    row = {name: _plain(value) for name, value in structs.asdict(entry).items()}
    return row | {name: getattr(entry, name) for name in _DERIVED.get(type(entry), ())}


def _plain(value: Any) -> Any:
    if value is UNSET:
        return None
    if isinstance(value, list):
        return [structs.asdict(one) if hasattr(one, "__struct_fields__") else one for one in value]
    return value
