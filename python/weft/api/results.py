# SPDX-License-Identifier: LGPL-2.1-only
"""Results of a campaign: status, tables, records and report."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from weft.api.input_checks import PathLike, call
from weft.api.training import TrainedIteration
from weft.base import inputs
from weft.base.errors import WeftError
from weft.base.output import whole_file
from weft.base.units import plural
from weft.campaign import campaign as campaigns
from weft.campaign import table
from weft.campaign.campaign import Prepared
from weft.campaign.file.axes import Point
from weft.iterations.record import IterationRecord
from weft.runs.html import table as html_table
from weft.runs.record import Record
from weft.study.comparison.comparison import Comparison

if TYPE_CHECKING:
    from polars import DataFrame

    from weft.report.data.records import AnyRecord

__all__ = ["Results", "Status", "write_report"]

_SHOWN = 20


@dataclass(frozen=True)
class Status:
    """Progress of a campaign. A run is counted once for each combination that uses its result."""

    name: str
    total: int
    """Feasible combinations, including runs with the hosts' fastest algorithms and at the ends of
    calibration intervals.
    """
    done: int
    failed: int
    """Runs that failed in the simulation."""
    refused: int
    """Runs that weft did not start."""
    missing: int
    """Runs without a result."""
    running: int = 0
    """Missing runs that are in progress."""
    impossible: Sequence[tuple[Point, str]] = field(default=(), repr=False)
    """Infeasible combinations, with the reason."""

    @property
    def complete(self) -> bool:
        """True if all runs have ended and none has failed."""
        return self.done == self.total

    def __str__(self) -> str:
        """Return a one-line summary."""
        parts = [f"{self.done:,} done"]
        parts += [f"{n:,} failed" for n in (self.failed,) if n]
        parts += [f"{n:,} refused" for n in (self.refused,) if n]
        parts += [f"{n:,} to do" for n in (self.missing,) if n]
        if self.impossible:
            parts.append(f"{plural(len(self.impossible), 'combination')} cannot be run")
        return f"{self.name}: {plural(self.total, 'run')}: {', '.join(parts)}"

    def _repr_html_(self) -> str:
        reasons = Counter(reason for _, reason in self.impossible)
        rows = [{"cannot be run": str(n), "because": why} for why, n in reasons.most_common(_SHOWN)]
        return f"<div>{escape(str(self))}{html_table(rows) if rows else ''}</div>"


class Results:
    """Results of a campaign so far."""

    def __init__(self, prepared: Prepared) -> None:
        """Wrap a prepared campaign; see `Campaign.results`."""
        self._prepared = prepared
        self._read = inputs.current()

    @call
    def frame(self, *, missing: bool = False) -> "DataFrame":
        """Return a row for each combination that has ended.

        The campaign's keys come first, in order, followed by the columns that `columns()` describes
        with unit and meaning.

        Args:
            missing: Include combinations that have not been run, with the state `missing`.
        """
        return table.frame(self._prepared, missing=missing)

    @call
    def collectives(self) -> "DataFrame":
        """Return a row for each run and entry of its record's `collectives`."""
        return table.collectives(self._prepared)

    @call
    def parts(self) -> "DataFrame":
        """Return a row for each training iteration and use of its time."""
        return table.parts(self._prepared)

    @call
    def jobs(self) -> "DataFrame":
        """Return a row for each run and job of jobs files, with the gain in the job's own time."""
        return table.jobs(self._prepared)

    @call
    def columns(self, *, collectives: bool = False, parts: bool = False) -> "DataFrame":
        """Return descriptions of the columns of `frame()`: `column`, `unit`, `meaning`.

        Args:
            collectives: Describe the columns of `collectives()` instead.
            parts: Describe the columns of `parts()` instead.
        """
        import polars

        rows = self._table(collectives=collectives, parts=parts, missing=not (collectives or parts))
        found = table.described(rows, collectives=collectives, parts=parts)
        return polars.DataFrame(
            [
                {"column": name, "unit": one.unit, "meaning": one.meaning}
                for name, one in found.items()
            ]
        )

    @call
    def export(
        self,
        path: PathLike,
        *,
        collectives: bool = False,
        parts: bool = False,
        jobs: bool = False,
        missing: bool = False,
    ) -> None:
        """Write the table: .csv, .parquet or .json; Parquet and JSON include column descriptions.

        Args:
            path: The file to write.
            collectives: Write the table of collectives instead.
            parts: Write the table of the time uses of training iterations instead.
            jobs: Write the table of the jobs of jobs files instead.
            missing: Include combinations that have not been run.
        """
        from weft.campaign import export_files

        export_files.check_format("path", Path(path))
        rows = self._table(collectives=collectives, parts=parts, jobs=jobs, missing=missing)
        columns = table.described(rows, collectives=collectives, jobs=jobs, parts=parts)
        export_files.write("path", Path(path), rows, columns)

    def _table(
        self, *, collectives: bool, parts: bool, missing: bool, jobs: bool = False
    ) -> "DataFrame":
        """Return one of the tables. Raises `WeftError` if several are requested."""
        asked = {"collectives": collectives, "parts": parts, "jobs": jobs}
        names = [name for name, given in asked.items() if given]
        if len(names) > 1:
            raise WeftError(f"{names[1]}: cannot be combined with {names[0]}: these are two tables")
        if missing and names:
            raise WeftError(f"missing: cannot be combined with {names[0]}: missing runs have none")
        if collectives:
            return self.collectives()
        if jobs:
            return self.jobs()
        return self.parts() if parts else self.frame(missing=missing)

    @call
    def report(self, path: PathLike) -> None:
        """Write a self-contained HTML report of the combinations in which offloading pays.

        The report contains the underlying data, opens in any browser without a network, and
        compares runs that differ only in offload.
        """
        from weft.report.data import loading
        from weft.report.page import page

        study = loading.of(self._prepared)
        if (study.rows["state"] == "missing").all():
            raise WeftError(f"campaign {self.status.name}: no run of it has finished yet")
        with whole_file("path", Path(path)) as file:
            file.write(page.render(study))

    @call
    def records(self) -> Iterator[tuple[Point, Record]]:
        """Yield each combination that has a record, with the record read from its file.

        Training iterations have other records; see `iterations()`.
        """
        for run, result in self._prepared.results():
            if isinstance(result.record, Record) and not run.best:
                yield run.point, result.record

    @call
    def iterations(self) -> Iterator[tuple[Point, IterationRecord]]:
        """Yield each finished training iteration with its record, read from its file."""
        for run, result in self._prepared.results():
            if result.iteration and result.iteration.record:
                yield run.point, result.iteration.record

    @call
    def record(self, **keys: object) -> Record:
        """Return the record of the single combination with these values.

        Keys with a dot are given as `**{"switch.slots": 64}`. Runs with the hosts' fastest
        algorithms are considered only with `fallback="best"`.

        Raises:
            WeftError: Several combinations have these values, or none with a result.
        """
        fitting = [
            run
            for run in self._prepared.runs
            if all(run.point.get(k) == v for k, v in keys.items())
        ]
        own = [run for run in fitting if not run.best]
        found = {run.digest: run for run in own or fitting}
        if len(found) != 1:
            raise WeftError(
                f"keys: {plural(len(found), 'run')} with {keys}; give as many keys as one has"
            )
        ((digest, run),) = found.items()
        if not self._prepared.store.has(digest):
            raise WeftError(f"keys: {dict(run.point)} has not been run yet")
        result = self._prepared.store.read(digest)
        if result.iteration:
            raise WeftError(
                f"keys: {dict(run.point)} is an iteration of training; its record is among"
                " iterations()"
            )
        if not isinstance(result.record, Record):
            raise WeftError(f"keys: {dict(run.point)} was refused: {result.refused}")
        result.record.output = result.output
        return result.record

    @property
    def status(self) -> Status:
        """Progress of the campaign."""
        return status_of(self._prepared)

    def __len__(self) -> int:
        """Return the number of combinations that have ended."""
        there = set(self._prepared.index().rows["run"])
        return sum(run.digest in there for run in self._prepared.runs if not run.best)

    def __repr__(self) -> str:
        """Return a one-line summary."""
        return f"<Results of {self.status}>"

    def __str__(self) -> str:
        """Return a one-line summary and the table of runs."""
        return f"{self.status}\n{self.frame()}"

    def _repr_html_(self) -> str:
        return f"<div>{escape(str(self.status))}{self.frame()._repr_html_()}</div>"


@call
def write_report(
    records: Sequence[PathLike | Record | Comparison | TrainedIteration], path: PathLike
) -> None:
    """Write an HTML report of single runs: their differences, and the gains from offloading.

    This is the report of `Results.report` for runs outside a campaign. The keys in which the runs
    differ are detected: programs, arguments by position, fabrics and changes to them, ranks,
    options, versions of weft and SimGrid.

    Args:
        records: Runs: records, comparisons, training iterations, or files written by `weft run
            --json` or `weft train --json`.
        path: The file to write.
    """
    from weft.report.data import records as found
    from weft.report.page import page

    if not records:
        raise WeftError("records: found an empty list; give at least one record")
    study = found.of(map(_record, records))
    with whole_file("path", Path(path)) as file:
        file.write(page.render(study))


def _record(given: "PathLike | Record | Comparison | TrainedIteration") -> "AnyRecord":
    """Return the record for an input of a report."""
    from weft.report.data.records import read

    if isinstance(given, Comparison):
        return given.record()
    if isinstance(given, TrainedIteration):
        return given.record
    return given if isinstance(given, Record) else read(Path(given))


def status_of(prepared: Prepared) -> Status:
    """Count a campaign's combinations by state."""
    states = campaigns.states(prepared)
    return Status(
        prepared.campaign.name,
        len(prepared.counted),
        states["done"],
        states["failed"],
        states["refused"],
        states["missing"],
        prepared.store.at_work(),
        tuple(prepared.found.impossible),
    )
