# SPDX-License-Identifier: LGPL-2.1-only
"""Lists of a record as data frames."""

from typing import TYPE_CHECKING, Any, get_args

import polars
from msgspec import UNSET, structs

from weft.base.errors import WeftError, suggestion
from weft.runs.record_data import CollectivePart, Part, RecordData

if TYPE_CHECKING:
    from polars import DataFrame

_DERIVED = {CollectivePart: ("way", "mean_time_s")}
"""Properties included as columns after the fields."""
_OF_JOBS = ("collectives", "profile")
"""Lists that each job has separately; the record's own lists are then empty."""


def frame(record: RecordData, part: Part) -> "DataFrame":
    """Return a row for each entry. Raises `WeftError` if the record lacks the list."""
    allowed = get_args(Part)
    if part not in allowed:
        raise WeftError(f"part: found {part!r}; {suggestion(str(part), allowed)}")
    rows = [_row(one) for one in getattr(record, part)]
    if part in _OF_JOBS and record.jobs:
        rows = [{"job": job.name, **_row(one)} for job in record.jobs for one in getattr(job, part)]
    # A number that is an integer in the first row may be fractional in later rows.
    return polars.DataFrame(rows, infer_schema_length=None, strict=False)


def _row(entry: Any) -> dict[str, Any]:
    row = {name: _plain(value) for name, value in structs.asdict(entry).items()}
    return row | {name: getattr(entry, name) for name in _DERIVED.get(type(entry), ())}


def _plain(value: Any) -> Any:
    if value is UNSET:
        return None
    if isinstance(value, list):
        return [structs.asdict(one) if hasattr(one, "__struct_fields__") else one for one in value]
    return value
