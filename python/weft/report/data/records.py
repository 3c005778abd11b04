# SPDX-License-Identifier: LGPL-2.1-only
"""Builds a report from single records: their runs become combinations of the keys that differ.

A campaign declares the keys in which its runs differ. For records they are inferred: programs,
their arguments by position, fabrics and changes to them, ranks, options, and the versions of the
simulator. Runs with the same values of all these keys are repetitions.
"""

import hashlib
import json
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from weft import _core
from weft.base import paths
from weft.base.errors import WeftError
from weft.base.models import Model, SchemaModel
from weft.base.user_files import UnreadableError, read_json
from weft.benchmarks.certainty import Certainty
from weft.campaign import table
from weft.campaign.file.keys import COLLECTIVES
from weft.campaign.gains import IndexedRun, IndexedRuns
from weft.campaign.own_job import own_job, own_results
from weft.campaign.pairs import best_rows
from weft.campaign.store import index
from weft.campaign.store.store import IterationPart, Result
from weft.iterations.comparison import COMPARISON_FORMAT, IterationComparison
from weft.iterations.record import FORMAT, IterationRecord
from weft.report.data import jobs
from weft.report.data.axes import Axis
from weft.report.data.commands import Command
from weft.report.data.iterations import Iterations, parts_of
from weft.report.data.study import Source, Study
from weft.runs.faults.changes import of_fabric
from weft.runs.record import Record, read_record
from weft.runs.record_data import COMPARISON_SCHEMA, Part
from weft.study.comparison.comparison import ComparisonRecord
from weft.training.variants import MULTICAST, VARIANTS

_PLACES = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
_ALWAYS = ("program", "fabric", "ranks")
_SHOWN_IF_SEVERAL = ("ppn", "contention", "progress", "cfg", "weft", "simgrid", "repetition")
_SOURCE = Source(
    has="this set of records has",
    commands="Commands are as they were given; records do not store the folder.",
    known="These are the versions stated in the records; fabric files are read in their current"
    " state.",
)


AnyRecord = Record | ComparisonRecord | IterationRecord | IterationComparison


def read(path: Path) -> AnyRecord:
    """Read the record of a run, a training iteration or a comparison."""
    try:
        data = read_json(path)
        if isinstance(data, dict) and data.get("format") == FORMAT:
            return IterationRecord.from_json(data)
        if isinstance(data, dict) and data.get("format") == COMPARISON_FORMAT:
            return IterationComparison.from_json(data)
        if SchemaModel.from_json(data).schema != COMPARISON_SCHEMA:
            return read_record(path)
        return ComparisonRecord.from_json(data)
    except UnreadableError as error:
        raise WeftError(
            f"record: {path} is not a record of a run: {error}; name files written by `weft run"
            " --json` or `weft train --json`"
        ) from None


def _records(comparison: ComparisonRecord) -> list[Record]:
    runs = (comparison.with_offload, comparison.without_offload, comparison.with_best)
    return [one for one in runs if one is not None]


@dataclass(frozen=True)
class _Run:
    """Excerpt of a record, whose lists may be long."""

    digest: str
    program: str
    """Path of the program, or of the replayed trace."""
    replayed: bool
    arguments: Sequence[str]
    fabric: str
    file: str
    """Path or name of the fabric as given by the user."""
    keys: Mapping[str, str]
    """Other keys that may differ between runs."""
    command: Sequence[str]
    versions: Sequence[str]
    trains: bool = False
    """True for a training iteration."""

    @classmethod
    def of(cls, record: Record) -> "_Run":
        return cls(
            _digest(record),
            jobs.program(record),
            bool(record.replayed),
            jobs.arguments(record),
            record.fabric.name,
            _file(record),
            dict(_keys(record)),
            record.command,
            (f"weft {record.weft}", f"SimGrid {record.simgrid}"),
        )

    def without_offload(self, record: Record) -> "_Run":
        """Return the run of the same jobs without offload, whose record was derived."""
        return replace(self, digest=_digest(record), keys={**self.keys, **jobs.asked(record)})


def _digest(record: Model) -> str:
    text = json.dumps(record.to_json(), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


# ---- Training iterations


def _of_iteration(record: IterationRecord) -> _Run:
    chosen, changes = _collectives(record)
    keys = {"ranks": str(record.ranks), COLLECTIVES: chosen, "fallback": record.library}
    keys["slowdown"] = ",".join(f"{rank}={factor:g}" for rank, factor in record.slowdown.items())
    keys["noise"] = f"{record.noise:g}" if record.noise else ""
    keys |= dict(one.split("=", 1) for one in (*record.model_changes, *changes) if "=" in one)
    keys["weft"] = record.weft
    verb = "train" if record.training else "replay"
    words = ["weft", verb, record.workload, "--fabric", record.fabric]
    words += [word for one in record.fabric_changes for word in ("--set", one)]
    words += [word for one in record.model_changes for word in ("--with", one)]
    words += ["--multicast"] if record.multicast else []
    return _Run(
        _digest(record),
        record.workload,
        record.training is None,
        (),
        record.fabric,
        record.fabric,
        keys,
        words,
        (f"weft {record.weft}",),
        trains=True,
    )


def _collectives(record: IterationRecord) -> tuple[str, tuple[str, ...]]:
    """Return the variant of a comparison, and all other changes to the fabric."""
    changes = tuple(record.fabric_changes)
    for name, executors in VARIANTS.items():
        count = len(executors.changes)
        if record.multicast == executors.multicast and changes[-count:] == executors.changes:
            return name, changes[:-count]
    return MULTICAST if record.multicast else "", changes


def _part(record: IterationRecord) -> IterationPart:
    return IterationPart(
        outcome="completed",
        message="",
        wall_time_s=record.cpu_s,
        cpu_time_s=record.cpu_s,
        peak_memory_bytes=record.memory_bytes,
        record=record,
    )


def _data_of(
    runs: Sequence[_Run],
    points: Sequence[Mapping[str, str]],
    trained: Mapping[str, IterationRecord],
    rows: pl.DataFrame,
) -> Iterations:
    """Return the data of iterations for the page."""
    parts = rows.select("run", "parts").explode("parts").unnest("parts").drop_nulls("part")
    return Iterations(
        parts_of(parts.iter_rows(named=True)),
        {digest: one.uses for digest, one in trained.items() if one.uses},
        {
            point["program"]: one.training.model if one.training else point["program"]
            for run, point in zip(runs, points, strict=True)
            if (one := trained.get(run.digest))
        },
    )


# ---- Keys of runs


def _file(record: Record) -> str:
    """Return the name of a shipped fabric, independent of the installation, or else its path."""
    file = Path(record.fabric.file)
    if record.fabric.name not in _core.list_fabrics():
        return str(file)
    shipped = paths.installed("fabrics", f"{record.fabric.name}.toml")
    if file.name != shipped.name:
        return str(file)
    same = not file.is_file() or file.read_bytes() == shipped.read_bytes()
    return record.fabric.name if same else str(file)


def _keys(record: Record) -> Iterator[tuple[str, str]]:
    usual = -(-record.ranks // max(1, record.fabric.hosts))
    yield "ranks", str(record.ranks)
    yield "ppn", "" if record.ppn == usual else str(record.ppn)
    yield "contention", "" if record.contention else "no"
    yield from jobs.asked(record).items()
    yield "progress", record.progress
    yield "host_speed", record.host_speed
    yield "cfg", " ".join(record.config)
    changes = list(record.fabric.changes or ())
    if record.faults:
        yield "faults", record.faults.file
        changes += record.faults.changes
    for change in changes:
        key, _, value = change.partition("=")
        yield key, value
    yield "weft", record.weft
    yield "simgrid", record.simgrid


def _iterations(given: IterationComparison) -> list[IterationRecord]:
    return [one.iteration for one in given.variants if one.iteration is not None]


def of(given: Iterable[AnyRecord]) -> Study:
    """Build the study of records and comparisons; duplicates count once."""
    found: dict[str, _Run] = {}
    trained: dict[str, IterationRecord] = {}
    stored: dict[tuple[str, ...], Certainty | None] = {}
    compared: dict[int, Record] = {}
    gained: dict[int, Record] = {}

    def results() -> Iterator[tuple[str, Result]]:
        for one in given:
            if isinstance(one, IterationRecord | IterationComparison):
                for its in [one] if isinstance(one, IterationRecord) else _iterations(one):
                    run = _of_iteration(its)
                    if run.digest not in found:
                        found[run.digest], trained[run.digest] = run, its
                        yield run.digest, Result(point={}, iteration=_part(its))
                continue
            records = [one] if isinstance(one, Record) else _records(one)
            digests = []
            for record in records:
                run = _Run.of(record)
                digests.append(run.digest)
                if run.digest in found:
                    continue
                found[run.digest] = run
                if any(job.alone for job in record.jobs or ()):
                    compared[len(found)] = record
                if any(job.without_offload for job in record.jobs or ()):
                    gained[len(found)] = record
                yield run.digest, Result(point={}, record=record)
                for other, sure in jobs.compared(record):
                    twin = run.without_offload(other)
                    found[twin.digest] = twin
                    stored[run.digest, twin.digest] = sure
                    yield twin.digest, Result(point={}, record=other)
            if isinstance(one, ComparisonRecord):
                stored[tuple(digests[:2])] = one.certainty
                stored[tuple(digests[::2])] = one.certainty_over_best

    rows = index.table(results())
    runs = list(found.values())
    points = _points(runs)
    rows = own_results(rows)
    computed = IndexedRuns(_indexed(runs, rows))

    def certainty_of(row: int, other: int) -> Certainty | None:
        """Return the certainty from the comparison's file, or else from the runs' records."""
        known = stored.get((runs[row].digest, runs[other].digest))
        return known or computed(row, other)

    return Study(
        "Runs",
        "",
        [Axis.of(key, (point[key] for point in points)) for key in points[0]],
        points,
        rows.drop("jobs", "collectives", "parts"),
        table.calls(rows),
        [_command(run.command) for run in runs],
        dict.fromkeys((point.get("program", "") for point in points), ""),
        iterations=_data_of(runs, points, trained, rows),
        alone=_frames(compared, "jobs"),
        job_gains=_frames(gained, "jobs"),
        slowdowns=_frames(compared, "slowdowns"),
        fabrics={
            point.get("fabric", ""): run.file for point, run in zip(points, runs, strict=True)
        },
        library=_library(points),
        certainty_of=certainty_of,
        source=replace(_SOURCE, versions=sorted({one for run in runs for one in run.versions})),
    )


def _frames(compared: Mapping[int, Record], part: Part) -> pl.DataFrame:
    """Return the rows of runs whose jobs also ran otherwise, with the numbers of the runs."""
    frames = [
        frame.insert_column(0, pl.Series("run", [number] * len(frame)))
        for number, record in compared.items()
        if len(frame := record.frame(part))
    ]
    return pl.concat(frames, how="vertical_relaxed") if frames else pl.DataFrame()


def _indexed(runs: Sequence[_Run], rows: pl.DataFrame) -> list[IndexedRun]:
    """Return the properties of the runs that determine the certainty of their gains."""
    by_run = {row["run"]: row for row in rows.iter_rows(named=True)}

    def placed(run: _Run) -> tuple[int, int | None]:
        job = own_job(by_run[run.digest])
        if job is not None:
            return job["job_ranks"], job["job_ppn"]
        return int(run.keys["ranks"]), int(run.keys.get("ppn") or 0) or None

    return [
        IndexedRun(
            run.file,
            of_fabric([f"{key}={value}" for key, value in run.keys.items() if "." in key]),
            *placed(run),
            None if run.trains else by_run[run.digest],
        )
        for run in runs
    ]


def _points(runs: Sequence[_Run]) -> list[dict[str, str]]:
    """Return the keys of each run, without keys that carry no information."""
    programs = _apart({(Path(run.program).name, run.program) for run in runs})
    fabrics = _apart({(run.fabric, run.file) for run in runs})
    points = [
        {
            "program": programs[run.program] + (" (replayed)" if run.replayed else ""),
            "fabric": fabrics[run.file],
            **run.keys,
        }
        for run in runs
    ]
    for point, arguments in zip(points, _arguments(runs, points), strict=True):
        point.update(arguments)
    keys = list(dict.fromkeys(key for point in points for key in point))
    values = {key: [point.get(key, "") for point in points] for key in keys}
    values["repetition"] = _repetitions(points)
    said = [key for key in values if _says_something(key, values[key])]
    return [{key: values[key][place] for key in said} for place in range(len(points))]


def _library(points: Sequence[Mapping[str, str]]) -> str:
    """Return the hosts' fallback without offload; empty if it differs between runs."""
    best = set(best_rows(points).values())
    names = {point.get("fallback", "") for row, point in enumerate(points) if row not in best}
    return names.pop() if len(names) == 1 else ""


def _apart(named: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return names by path; ambiguous names are replaced with the path."""
    pairs = sorted(named)
    often = Counter(name for name, _ in pairs)
    return {path: name if often[name] == 1 else path for name, path in pairs}


def _arguments(
    runs: Sequence[_Run], points: Sequence[Mapping[str, str]]
) -> Iterator[dict[str, str]]:
    """Yield each run's arguments by position, where they differ among runs of its program."""
    of_program: dict[str, list[Sequence[str]]] = {}
    for run, point in zip(runs, points, strict=True):
        of_program.setdefault(point["program"], []).append(run.arguments)
    differing = {
        program: [
            place
            for place in range(max(map(len, lists)))
            if len({one[place] if place < len(one) else None for one in lists}) > 1
        ]
        for program, lists in of_program.items()
    }
    for run, point in zip(runs, points, strict=True):
        yield {
            f"{_PLACES[place] if place < len(_PLACES) else f'{place + 1}th'} argument": text
            for place in differing[point["program"]]
            for text in run.arguments[place : place + 1]
        }


def _repetitions(points: Sequence[Mapping[str, str]]) -> list[str]:
    counted: Counter[tuple[tuple[str, str], ...]] = Counter()
    numbers = []
    for point in points:
        key = tuple(sorted(point.items()))
        counted[key] += 1
        numbers.append(str(counted[key]))
    return numbers


def _says_something(key: str, values: Sequence[str]) -> bool:
    if key in _ALWAYS:
        return True
    return any(values) and (key not in _SHOWN_IF_SEVERAL or len(set(values)) > 1)


def _command(words: Sequence[str]) -> Command:
    """Return the user's command, split so that runs can share the part before the arguments."""
    if "--" not in words:
        return Command(shlex.join(words), "")
    head = words.index("--") + 2
    return Command(shlex.join(words[:head]), shlex.join(words[head:]))
