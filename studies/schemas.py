# SPDX-License-Identifier: LGPL-2.1-only
"""Writes docs/schema: the JSON schemas of weft files, from the models that read and write them.

python -m studies.schemas
"""

import json
from pathlib import Path

from studies.study import DOCS
from weft.base.models import Model, schema
from weft.campaign.export_files import Table
from weft.campaign.store.store import Result
from weft.iterations.comparison import IterationComparison
from weft.iterations.record import IterationRecord
from weft.runs.record import Record
from weft.schemas.input_files import SCHEMAS as INPUT_SCHEMAS
from weft.schemas.input_files import schema_of
from weft.study.comparison.comparison import ComparisonRecord
from weft.trace.folder import CallsManifest, Manifest
from weft_testbed.plan.file import PlanRecord

SCHEMAS = DOCS / "schema"
FILES: dict[str, type[Model]] = {
    "weft-run-1": Record,
    "weft-compare-1": ComparisonRecord,
    "weft-campaign-run-1": Result,
    "weft-campaign-table-1": Table,
    "weft-testbed-plan-1": PlanRecord,
    "weft-trace-1": Manifest,
    "weft-trace-2": CallsManifest,
    "weft-iteration-1": IterationRecord,
    "weft-iteration-comparison-1": IterationComparison,
}

INPUTS = [f"weft-{name}" for name in INPUT_SCHEMAS]
"""Names of the schemas of files that users write."""


def text(name: str) -> str:
    """Return a schema as the text of its file."""
    if name in INPUTS:
        return json.dumps(schema_of(name.removeprefix("weft-")), indent=1) + "\n"
    return json.dumps(schema(FILES[name], name), indent=1) + "\n"


def write(folder: Path = SCHEMAS) -> None:
    """Write all schemas."""
    folder.mkdir(exist_ok=True)
    for name in (*FILES, *INPUTS):
        (folder / f"{name}.json").write_text(text(name), encoding="utf-8")


if __name__ == "__main__":
    write()
