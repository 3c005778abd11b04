# SPDX-License-Identifier: LGPL-2.1-only
"""Table export to CSV, Parquet or JSON, by file extension; Parquet and JSON describe the columns.

In Parquet, the description is JSON text under `weft-campaign-table-1` in the file metadata.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

import polars as pl

from weft.base.errors import WeftError
from weft.base.models import Model
from weft.base.output import STANDARD_OUTPUT, whole_file, whole_path
from weft.campaign.file.columns import Column

SCHEMA: Literal["weft-campaign-table-1"] = "weft-campaign-table-1"
FORMATS = (".csv", ".parquet", ".json")


class ColumnPart(Model, kw_only=True):
    """Unit and meaning of a column."""

    unit: str
    meaning: str


class Table(Model, kw_only=True):
    """A table of a campaign's results."""

    schema: Literal["weft-campaign-table-1"] = SCHEMA
    columns: dict[str, ColumnPart]
    """Columns in table order, the campaign's keys first."""
    rows: list[dict[str, str | int | float | bool | None]]


def check_format(option: str, target: Path) -> None:
    """Refuse a file whose extension is not a table format. Raises `WeftError`."""
    if target != STANDARD_OUTPUT and target.suffix.lower() not in FORMATS:
        raise WeftError(
            f"{option}: found '{target.name}'; allowed are files whose names end in"
            f" {', '.join(FORMATS)}, and - for CSV on standard output"
        )


def write(option: str, target: Path, rows: pl.DataFrame, columns: Mapping[str, Column]) -> None:
    """Write a table atomically; `columns` describes its columns."""
    meanings: dict[str, Any] = {name: asdict(one) for name, one in columns.items()}
    if target.suffix.lower() == ".parquet":
        with whole_path(option, target) as path:
            rows.write_parquet(path, metadata={SCHEMA: json.dumps(meanings)})
        return
    with whole_file(option, target) as file:
        if target.suffix.lower() == ".json":
            json.dump({"schema": SCHEMA, "columns": meanings, "rows": rows.to_dicts()}, file)
            file.write("\n")
        else:
            rows.write_csv(file)
