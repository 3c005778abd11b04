# SPDX-License-Identifier: LGPL-2.1-only
"""Study: the combinations of a campaign, their results and their calls.

    study(campaign, rows, calls, commands, keys).compared[0].speed_up

This module is independent of the page and reads no records: all data comes from the store's index.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from weft import _core
from weft.benchmarks.certainty import Certainty, verdict
from weft.campaign.file.file import Campaign
from weft.campaign.gains import CertaintyOf, unknown
from weft.campaign.pairs import (
    FABRIC,
    FALLBACK,
    OFF,
    OFFLOAD,
    Pairs,
    Point,
    Reference,
    best_rows,
    pairs,
    text,
)
from weft.report.data.axes import Axis, Roles, roles
from weft.report.data.commands import Command, built
from weft.report.data.compare import Outcome, outcome, references
from weft.report.data.iterations import NO_ITERATIONS, Iterations


@dataclass(frozen=True)
class ComparedRuns:
    """Combination compared with a baseline, such as its run on the hosts alone."""

    row: int
    """Index among all combinations."""
    point: Point
    outcome: Outcome
    reason: str = ""
    """Reason from the record if all of the run's calls fell back."""
    partly: bool = False
    """True if some calls of offloaded collectives fell back."""
    other_s: float = 0.0
    own_s: float = 0.0
    certainty: Certainty | None = None
    """Interval of the speed-up; None if the same devices executed all calls of both runs."""

    @property
    def speed_up(self) -> float:
        """Time of the baseline divided by the run's own time."""
        return self.other_s / self.own_s


@dataclass(frozen=True)
class Source:
    """Origin of the runs, in the page's words."""

    has: str = "the campaign has"
    commands: str = "Run the commands in the folder of the campaign's file."
    versions: Sequence[str] = (f"weft {_core.version}", f"SimGrid {_core.simgrid_version}")
    """Versions of the simulator that executed the runs."""
    known: str = (
        "A run is identified by a digest of everything that affects its result, including these"
        " versions and the program's bytes; results with other digests are not shown."
    )


@dataclass(frozen=True)
class Study:
    """Runs of a report, from a campaign or from single records."""

    name: str
    description: str
    axes: Sequence[Axis]
    points: Sequence[Point]
    """Values as strings by key for each combination; empty if the combination lacks the key."""
    rows: pl.DataFrame
    """Rows of `weft.campaign.table.frame`, one per combination."""
    calls: pl.DataFrame
    """Rows of `weft.campaign.table.collectives`."""
    commands: Sequence[Command]
    programs: Mapping[str, str] = field(default_factory=dict)
    """Build command of each program."""
    impossible: Sequence[tuple[Mapping[str, Any], str]] = ()
    """Combinations that cannot be run, with the reason."""
    folder: Path = Path()
    """Folder that fabric files are relative to."""
    fabrics: Mapping[str, str] = field(default_factory=dict)
    """Files of fabrics that are not relative to `folder`."""
    source: Source = Source()
    picked: Reference | None = None
    """Baseline chosen in the campaign file."""
    against: Reference | None = None
    """Baseline that replaces the default."""
    library: str = ""
    """Fallback of the hosts without offload, if all runs share it."""
    certainty_of: CertaintyOf = unknown
    """Returns the certainty of a row's gain over another row."""
    iterations: Iterations = NO_ITERATIONS
    """Data of training iterations."""
    jobs: pl.DataFrame = field(default_factory=pl.DataFrame)
    """Rows of `weft.campaign.table.jobs`; runs of jobs files are represented by their first job."""
    alone: pl.DataFrame = field(default_factory=pl.DataFrame)
    """Jobs that also ran alone: rows of `Record.frame("jobs")`, with the number of the run."""
    job_gains: pl.DataFrame = field(default_factory=pl.DataFrame)
    """Jobs of records that also ran without offloading: rows likewise."""
    slowdowns: pl.DataFrame = field(default_factory=pl.DataFrame)
    """Their calls: rows of `Record.frame("slowdowns")`, likewise."""

    @cached_property
    def best_rows(self) -> frozenset[int]:
        """Runs with the hosts' fastest algorithms, in addition to runs with the hosts' library."""
        return frozenset(best_rows(self.points).values())

    @cached_property
    def varying(self) -> Sequence[Axis]:
        """Axes in which runs differ, ignoring runs with the hosts' fastest algorithms."""
        own = [point for row, point in enumerate(self.points) if row not in self.best_rows]
        found = [axis for axis in self.axes if len({point[axis.name] for point in own}) > 1]
        # The ranks of a training iteration follow from its other keys.
        return [axis for axis in found if not (self.only_trains and axis.name == "ranks")]

    @property
    def only_trains(self) -> bool:
        """True if all runs are training iterations."""
        models = self.iterations.models
        return bool(models) and all(point["program"] in models for point in self.points)

    @cached_property
    def roles(self) -> Roles:
        """Roles of the axes."""
        return roles(self.varying, self.reference.axis if self.reference else OFFLOAD)

    @cached_property
    def reference(self) -> Reference | None:
        """Baseline of the comparison, or None."""
        return self.against or next(iter(self.references), None)

    @cached_property
    def references(self) -> list[Reference]:
        """Baselines offered on the page, the default first."""
        return list(self._references())

    def _references(self) -> Iterator[Reference]:
        """Yield each baseline, and its variant with the hosts' fastest algorithms if useful."""
        for place, one in enumerate(references(self.axes, self.picked, self.library)):
            yield one
            best = replace(one, best=True)
            if (one.hosts or (place == 0 and one.axis == FABRIC)) and any(
                other is not None for other in pairs(self.points, best).of
            ):
                yield best

    @cached_property
    def over_best(self) -> "Study | None":
        """The same runs compared with the hosts' fastest algorithms; None if these were not run."""
        if self.reference is None or self.reference.best:
            return None
        best = replace(self.reference, best=True)
        return replace(self, against=best) if best in self.references else None

    @cached_property
    def by_baseline(self) -> "list[Study]":
        """Return the same runs compared with each baseline; one study if there is one baseline."""
        return [self, *(replace(self, against=one) for one in self.references[1:])]

    @cached_property
    def pairs(self) -> Pairs:
        """Pairs of compared combinations."""
        if self.reference is None:
            return Pairs([None] * len(self.points), ())
        return pairs(self.points, self.reference)

    @cached_property
    def records(self) -> list[dict[str, Any]]:
        """Rows as dictionaries."""
        return self.rows.to_dicts()

    @cached_property
    def reasons(self) -> Mapping[str, str]:
        """Reason for the fallback by run: the reason whose calls took the most time."""
        if self.calls.is_empty():
            return {}
        fallen = self.calls.filter((pl.col("path") == "fallback") & (pl.col("reason") != ""))
        spent = (pl.col("calls") * pl.col("mean_time_s").fill_null(0)).sum().alias("spent")
        worst = fallen.group_by("run", "reason").agg(spent).sort("spent", "reason")
        return dict(worst.select("run", "reason").iter_rows())

    @cached_property
    def compared(self) -> list[ComparedRuns]:
        """All combinations with a counterpart in the baseline."""
        return [
            self._compared(row, other)
            for row, other in enumerate(self.pairs.of)
            if other is not None
        ]

    @property
    def uncompared(self) -> int:
        """Number of combinations that should have a counterpart but do not."""
        if self.reference is None:
            return 0
        none = ("", self.reference.value)
        apart = () if self.reference.axis == FALLBACK else self.best_rows
        others = sum(
            point[self.reference.axis] not in none
            and row not in apart
            and not (self.reference.best and point[OFFLOAD] == OFF)
            for row, point in enumerate(self.points)
        )
        return others - len(self.compared)

    def _compared(self, row: int, other: int) -> ComparedRuns:
        own, hosts, point = self.records[row], self.records[other], self.points[row]
        states = {own["state"], hosts["state"]}
        if "missing" in states:
            return ComparedRuns(row, point, "missing")
        times = hosts["simulated_time_s"], own["simulated_time_s"]
        if states != {"done"} or not all(times):
            return ComparedRuns(row, point, "failed")
        if not (self.reference and self.reference.hosts):
            return self._decided(row, other, times)
        if not own["calls"]:
            return ComparedRuns(row, point, "no collectives", "", False, *times)
        if not own["offloaded_calls"]:
            return ComparedRuns(
                row, point, "fell back", self.reasons.get(own["run"], ""), False, *times
            )
        return self._decided(row, other, times, partly=own["run"] in self._partly)

    def _decided(
        self, row: int, other: int, times: tuple[float, float], *, partly: bool = False
    ) -> ComparedRuns:
        """Return a comparison of two times, with the verdict of their interval if there is one."""
        sure = self.certainty_of(row, other)
        said = outcome(*times) if sure is None else verdict(sure.low, sure.high)
        return ComparedRuns(row, self.points[row], said, "", partly, *times, sure)

    @cached_property
    def _partly(self) -> set[str]:
        """Runs in which some calls of a collective were offloaded and others fell back."""
        if self.calls.is_empty():
            return set()
        offloaded = (pl.col("path") != "fallback").any().alias("did")
        fell_back = (pl.col("path") == "fallback").any().alias("did_not")
        by_collective = self.calls.group_by("run", "collective").agg(offloaded, fell_back)
        return set(by_collective.filter("did", "did_not")["run"])


def study(
    campaign: Campaign,
    rows: pl.DataFrame,
    calls: pl.DataFrame,
    commands: Mapping[str, Command],
    keys: Sequence[str],
    impossible: Sequence[tuple[Mapping[str, Any], str]] = (),
    library: str = "",
    certainty_of: CertaintyOf = unknown,
    iterations: Iterations = NO_ITERATIONS,
    jobs: pl.DataFrame | None = None,
) -> Study:
    """Build the study of a campaign's tables."""
    points = [
        {key: text(row[key]) for key in keys} for row in rows.select(keys).iter_rows(named=True)
    ]
    axes = [Axis.of(key, (point[key] for point in points)) for key in keys]
    return Study(
        campaign.name,
        campaign.description,
        axes,
        points,
        rows,
        calls,
        [commands.get(digest, Command("", "")) for digest in rows["run"]],
        {name: built(one) for name, one in campaign.programs.items()},
        impossible,
        campaign.folder,
        picked=_picked(campaign),
        library=library,
        certainty_of=certainty_of,
        iterations=iterations,
        jobs=pl.DataFrame() if jobs is None else jobs,
    )


def _picked(campaign: Campaign) -> Reference | None:
    if campaign.baseline is None:
        return None
    key, value = campaign.baseline
    return Reference(key, text(value))
