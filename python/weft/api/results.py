# SPDX-License-Identifier: LGPL-2.1-only
"""What has come of a campaign: how far it is, its tables, its records, its page."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from weft.api.asking import PathLike, call
from weft.base import inputs
from weft.base.errors import WeftError
from weft.base.output import whole_file
from weft.base.units import plural
from weft.campaign import campaign as campaigns
from weft.campaign import table
from weft.campaign.campaign import Prepared
from weft.campaign.file.axes import Point
from weft.runs.html import table as html_table
from weft.runs.record import Record
from weft.study.comparison.comparison import Comparison, ComparisonRecord

if TYPE_CHECKING:
    from polars import DataFrame

_SHOWN = 20


@dataclass(frozen=True)
class Status:
    """How far a campaign has come. A run counts once for each combination that has its result."""

    name: str
    total: int
    """Combinations that can be run, with those by the hosts' fastest algorithms, and runs at the
    ends of calibrated fabrics' intervals."""
    done: int
    failed: int
    """Ended otherwise than well in the simulation."""
    refused: int
    """Not started by weft."""
    missing: int
    """Not run yet."""
    running: int = 0
    """Of these, what some process is at."""
    impossible: Sequence[tuple[Point, str]] = field(default=(), repr=False)
    """Combinations that cannot be run, and why."""

    @property
    def complete(self) -> bool:
        """Whether all has been run and nothing has failed."""
        return self.done == self.total

    def __str__(self) -> str:
        """Return it in a line."""
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
    """What has come of a campaign, as far as it has been run."""

    def __init__(self, prepared: Prepared) -> None:
        """Take what `Campaign.results` gives."""
        self._prepared = prepared
        self._read = inputs.current()

    @call
    def frame(self, *, missing: bool = False) -> "DataFrame":
        """Return a row for each combination that has ended.

        The campaign's keys come first, in their order, then what `columns()` lists with its
        unit and meaning.

        Args:
            missing: Also combinations that have not been run, with the state `missing`.
        """
        return table.frame(self._prepared, missing=missing)

    @call
    def collectives(self) -> "DataFrame":
        """Return a row for each run and entry of its record's `collectives`."""
        return table.collectives(self._prepared)

    @call
    def columns(self, *, collectives: bool = False) -> "DataFrame":
        """Return what the columns of `frame()` are: `column`, `unit`, `meaning`.

        Args:
            collectives: Those of `collectives()` instead.
        """
        import polars

        rows = self.collectives() if collectives else self.frame(missing=True)
        found = table.described(rows, collectives=collectives)
        return polars.DataFrame(
            [
                {"column": name, "unit": one.unit, "meaning": one.meaning}
                for name, one in found.items()
            ]
        )

    @call
    def export(self, path: PathLike, *, collectives: bool = False, missing: bool = False) -> None:
        """Write the table: .csv, .parquet or .json, of which the last two say what columns are.

        Args:
            path: The file to write.
            collectives: The table of collectives instead.
            missing: Also combinations that have not been run.
        """
        from weft.campaign import exported

        if collectives and missing:
            raise WeftError("missing: is not for collectives, which runs to do have none of")

        exported.check_format("path", Path(path))
        rows = self.collectives() if collectives else self.frame(missing=missing)
        columns = table.described(rows, collectives=collectives)
        exported.write("path", Path(path), rows, columns)

    @call
    def report(self, path: PathLike) -> None:
        """Write one page (HTML) that says where offloading pays, and shows what it rests on.

        It opens in any browser without a network. It compares runs that differ in offload alone.
        """
        from weft.report.data import loading
        from weft.report.page import page

        study = loading.of(self._prepared)
        if (study.rows["state"] == "missing").all():
            raise WeftError(f"campaign {self.status.name}: nothing of it has been run yet")
        with whole_file("path", Path(path)) as file:
            file.write(page.render(study))

    @call
    def records(self) -> Iterator[tuple[Point, Record]]:
        """Yield the combinations of which there is a record, with it; each is read from a file."""
        for run, result in self._prepared.results():
            if isinstance(result.record, Record) and not run.best:
                yield run.point, result.record

    @call
    def record(self, **keys: object) -> Record:
        """Return the record of the one combination that has these values.

        Keys with a dot are given as `**{"switch.slots": 64}`. The run by the hosts' fastest
        algorithms is `fallback="best"`; without, it is none of those that are looked among.

        Raises:
            WeftError: Several combinations have these values, or none that has been run.
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
        if not isinstance(result.record, Record):
            raise WeftError(f"keys: {dict(run.point)} was refused: {result.refused}")
        result.record.output = result.output
        return result.record

    @property
    def status(self) -> Status:
        """How far the campaign has come."""
        return status_of(self._prepared)

    def __len__(self) -> int:
        """Return how many combinations have ended."""
        there = set(self._prepared.index().rows["run"])
        return sum(run.digest in there for run in self._prepared.runs if not run.best)

    def __repr__(self) -> str:
        """Return it in a line."""
        return f"<Results of {self.status}>"

    def __str__(self) -> str:
        """Return it in a line, and the table of runs."""
        return f"{self.status}\n{self.frame()}"

    def _repr_html_(self) -> str:
        return f"<div>{escape(str(self.status))}{self.frame()._repr_html_()}</div>"


@call
def write_report(records: Sequence[PathLike | Record | Comparison], path: PathLike) -> None:
    """Write one page (HTML) of single runs: what differs among them, where offloading pays.

    It is the page of `Results.report`, of runs that no campaign has made. In which keys they differ
    is found out: programs, arguments by their places, fabrics and what of them was changed, ranks,
    options, versions of weft and SimGrid.

    Args:
        records: Runs: records, comparisons, or files of either that `weft run --json` has written.
        path: The file to write.
    """
    from weft.report.data import records as found
    from weft.report.page import page

    if not records:
        raise WeftError("records: found an empty list; give at least one record")
    study = found.of(map(_record, records))
    with whole_file("path", Path(path)) as file:
        file.write(page.render(study))


def _record(given: "PathLike | Record | Comparison") -> Record | ComparisonRecord:
    """Return what is meant by one of the records of a report."""
    from weft.report.data.records import read

    if isinstance(given, Comparison):
        return given.record()
    return given if isinstance(given, Record) else read(Path(given))


def status_of(prepared: Prepared) -> Status:
    """Count a campaign's combinations by what has come of them."""
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
