# SPDX-License-Identifier: LGPL-2.1-only
"""Record of a run: its data, files and views.

libweft.so writes its part while SimGrid runs; `weft run` adds the command, the outcome and the
times, and writes the file. All output is derived from the record.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Self

from weft.base.errors import WeftError, named
from weft.base.models import SchemaModel, write_model
from weft.base.user_files import UnreadableError, described, read_json
from weft.runs.faults.description import PreparedFaults
from weft.runs.faults.file import RecoveryOptions
from weft.runs.record_data import (
    COMPARISON_SCHEMA,
    SCHEMA,
    FaultsPart,
    Part,
    RecordData,
    RecoveryPart,
)

if TYPE_CHECKING:
    from polars import DataFrame

_LAST_LINES = 10


class FailedRunError(WeftError):
    """Raised if the program of a run failed and the caller required success."""

    def __init__(self, record: "Record") -> None:
        """Compose the message from the outcome and the last output, if kept."""
        last = record.output.rstrip().splitlines()[-_LAST_LINES:]
        printed = "; the last that it printed:\n" + "\n".join(last) if last else ""
        super().__init__(f"run: {record.outcome.message}{printed}", record.exit_status)
        self.record = record

    def __reduce__(self) -> "tuple[type[FailedRunError], tuple[Record]]":
        """Support pickling, so that the error can cross processes."""
        return FailedRunError, (self.record,)


class Record(RecordData, kw_only=True):
    """Record of one run; times are simulated, except `wall_time_s` and `cpu_time_s`."""

    def check(self) -> Self:
        """Return the record itself if the program succeeded.

        Raises:
            FailedRunError: The program failed; the text states the reason, and `record` is this
                record.
        """
        if self.failed:
            raise FailedRunError(self)
        return self

    def frame(self, part: Part = "collectives") -> "DataFrame":
        """Return a list of the record as a data frame, with one row per entry.

        The columns are the entries' fields; `docs/record.md` describes them and their units.
        Collectives additionally have `mean_time_s`, the time of one rank in one call,
        `mean_wait_s`, the part of it before the last rank entered, and `way`: an offload mode, or
        the hosts' algorithm.

        Args:
            part: Name of the list.
        """
        from weft.runs.frames import frame

        return frame(self, part)

    def save(self, path: str | Path) -> None:
        """Write the record as `weft run --json` does; `weft.read_record` reads it."""
        write_record(self, Path(path), "path")

    def __repr__(self) -> str:
        """Return ranks, fabric and outcome in one line; large fabrics have thousands of fields."""
        what = f"{self.ranks} ranks on {self.fabric.label}, offload {self.offload}"
        time_us = self.simulated_time_s * 1e6
        return f"<Record: {what}: {self.outcome.kind}, simulated time {time_us:g} us>"

    def __str__(self) -> str:
        """Return the output of `weft run`: collectives, profile, and anything unusual."""
        from weft.runs.tables import as_text

        return as_text(self)

    def _repr_html_(self) -> str:
        from weft.runs.html import record_as_html

        return record_as_html(self)


def read_record(path: Path) -> Record:
    """Read a record from a file."""
    try:
        data = read_json(path)
        found = SchemaModel.from_json(data).schema
        if found == COMPARISON_SCHEMA:
            raise WeftError(
                f"record: {path} holds the two records of a comparison; extract one of them, for"
                f" example `jq .with_offload {path}`"
            )
        if found != SCHEMA:
            raise UnreadableError(f"it has the schema {described(found)}; allowed is '{SCHEMA}'")
        return Record.from_json(data)
    except UnreadableError as error:
        raise WeftError(
            f"record: {path} is not a record of a run: {error}; name a file written by `weft run"
            " --json`"
        ) from None


def write_record(record: Record, target: Path, option: str = named("json")) -> None:
    """Write a record atomically."""
    write_model(record, target, option)


def complete_faults(part: FaultsPart, faults: PreparedFaults) -> None:
    """Add the file, the recovery in force, and the number of failures."""
    part.file = faults.file
    part.changes = list(faults.changes)
    part.detection_s = faults.recovery.detection_s
    part.convergence_s = faults.recovery.convergence_s
    part.recovery = _recovery(faults.recovery)
    happened = faults.events[: len(faults.events) - part.left_events]
    part.failures = sum(event.begins for event in happened)
    part.failure_times = len({event.at_s for event in happened if event.begins})
    if faults.per_day is not None:
        part.failures_per_day = faults.per_day


def _recovery(options: RecoveryOptions) -> RecoveryPart:
    return RecoveryPart(
        **{field: getattr(options, field) for field in RecoveryPart.__struct_fields__}
    )
