# SPDX-License-Identifier: LGPL-2.1-only
"""Runs of a campaign: the work of each run, and its name in the store.

The name of a run is a digest of everything that affects its result: the program's bytes, its
arguments, the fabric's tables (not comments), every option, weft's library and SimGrid's version.
Therefore no run is executed twice, a changed fabric repeats only its own runs, and results produced
elsewhere are found by name.
"""

import hashlib
import json
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from weft import _core
from weft.base import paths
from weft.base.errors import WeftError
from weft.base.units import parse_size
from weft.base.user_files import UnreadableError, read_text
from weft.campaign.file.axes import Point, Value
from weft.campaign.file.file import Campaign
from weft.campaign.file.iterations import (
    IterationPlan,
    Traced,
    contents_digest,
    generator_digest,
    in_toml,
    model_digest,
    plan,
    replay_plan,
    trace_digest,
    traced,
)
from weft.campaign.file.keys import AXES, parts
from weft.campaign.file.programs import Program
from weft.runs import value_types
from weft.runs.faults import file as fault_file
from weft.runs.faults.changes import changed, of_faults
from weft.runs.jobs.file import JobsFile
from weft.runs.jobs.file import read as read_jobs
from weft.runs.options import DeclaredOption
from weft.runs.program import find_program
from weft.runs.request import Request
from weft.study.comparison import intervals as compare_intervals
from weft.study.comparison.compare import BEST

OFF = "off"
_FILES = ("fabric", "fallback", "traffic", "faults")
"""Keys whose values may name files in the campaign's folder; their contents enter the digest."""


@dataclass(frozen=True)
class Run:
    """One run: a combination and its request."""

    point: Point
    request: Request
    digest: str
    """Name in the store."""
    jobs: bool = False
    """True if the request's program is a jobs file."""
    iteration: IterationPlan | None = None
    """Training iteration that the run executes instead of a program."""
    best: bool = False
    """True for added host runs with the fastest algorithms, which the campaign file does not list.
    """
    ends: "Mapping[str, tuple[Run, Run]]" = field(default_factory=dict)
    """The same run at both interval ends of each calibrated value, by key."""


@dataclass(frozen=True)
class Runs:
    """All runs of a campaign, possibly with duplicates, and its impossible combinations."""

    runs: list[Run] = field(default_factory=list)
    """One run per combination; runs with the hosts' fastest algorithms come last."""
    impossible: list[tuple[Point, str]] = field(default_factory=list)

    @property
    def ends(self) -> Iterator[Run]:
        """Runs at the ends of intervals, which have no row in tables."""
        for run in self.runs:
            for pair in run.ends.values():
                yield from pair


@dataclass(frozen=True)
class _Fabric:
    """Properties of a fabric file that runs depend on."""

    digest: str
    drawn: frozenset[str]
    """Tables with randomly drawn values."""
    tables: Mapping[str, Any]


def of(campaign: Campaign, programs: Mapping[str, Path]) -> Runs:
    """Create the runs of a campaign; `programs` are its program files, which are read.

    If offloaded runs are compared with host runs, the campaign adds host runs with the fastest
    algorithms, and repeats all runs at the interval ends of calibrated fabrics.
    """
    make = _maker(campaign, programs)
    found = Runs()
    number = 0
    for point, best in _points(campaign, found.runs):
        try:
            run = replace(make(point), best=best)
        except (WeftError, _core.UserError) as error:
            found.impossible.append((point, str(error)))
            continue
        found.runs.append(run)
        number += 1 + 2 * len(run.ends)
        if number > campaign.most_runs:
            raise _too_many(campaign, found)
    return found


def _points(campaign: Campaign, found: Sequence[Run]) -> Iterator[tuple[Point, bool]]:
    """Yield the campaign's points, then the host points of `found` with the fastest algorithms."""
    yield from ((point, False) for point in campaign.points())
    if campaign.best:
        yield from ((point, True) for point in best_points([run.point for run in found]))


def _too_many(campaign: Campaign, found: Runs) -> WeftError:
    own = sum(not run.best for run in found.runs)
    ends = sum(1 for _ in found.ends)
    return WeftError(
        f"{campaign.file}: [campaign] most_runs: found more than {campaign.most_runs:,} runs:"
        f" among the first {len(found.runs) + ends:,} are {own:,} of [[runs]],"
        f" {len(found.runs) - own:,} by the hosts' fastest algorithms, {ends:,} at the ends of the"
        " fabrics' intervals; raise it, use fewer values, or set best = false or intervals = false"
    )


def compares_offloading(points: Iterable[Point]) -> bool:
    """Return True if some points offload and others do not."""
    return len({point.get("offload", "stream") == OFF for point in points}) > 1


def best_points(points: Sequence[Point]) -> list[Point]:
    """Return the host points with the fastest predicted algorithm for each call.

    Predictions require link contention.
    """
    if not compares_offloading(points):
        return []
    known = {frozenset(point.items()) for point in points}
    wanted = {
        frozenset(best.items()): best
        for point in points
        if point.get("offload") == OFF and point.get("contention", True)
        for best in [{**point, "fallback": BEST}]
    }
    return [best for key, best in wanted.items() if key not in known]


def _maker(campaign: Campaign, programs: Mapping[str, Path]) -> Callable[[Point], Run]:
    """Return a function that creates a point's run, including those at interval ends."""
    jobs = {
        name: read_jobs(programs[name])
        for name, one in campaign.programs.items()
        if one.jobs is not None
    }
    trains = {
        name for name, file in jobs.items() if any(job.iteration is not None for job in file.jobs)
    }
    digests = {
        name: [
            contents_digest(file)
            for file in (
                programs[name],
                *_inputs(campaign, one),
                *(_files_of_jobs(jobs[name]) if name in jobs else ()),
            )
        ]
        for name, one in campaign.programs.items()
        if not one.trains
    }
    read = cache(_read_fabric)  # not cached globally, as files may change between calls
    fabric_of = cache(lambda name: _fabric(campaign, name))
    fallback = cache(lambda text: _fallback(campaign, text))
    intervals = campaign.intervals and compares_offloading(campaign.points())
    file_digest = cache(contents_digest)
    check_faults = cache(_check_faults)

    models = {
        name: model_digest(str(programs[name]))
        for name, one in campaign.programs.items()
        if one.model
    }
    loaded = cache(Traced.load)
    digest_of_trace = cache(trace_digest)

    def train(name: str, point: Point) -> Run:
        fabric = fabric_of(str(point["fabric"]))
        files = _placed_files(campaign, point)
        if name in models:
            its = plan(point, str(programs[name]), fabric, files)
            source = models[name]
        else:
            trace = traced(point, campaign.programs[name], programs[name])
            its = replay_plan(point, trace, loaded(trace), fabric, files)
            source = digest_of_trace(trace)
        check_faults(files.get("faults"), of_faults(its.conditions.changes))
        point = {**point, "ranks": its.ranks}
        request = Request.of(
            program=its.source,
            fabric=fabric,
            changes=its.conditions.changes,
            ranks=its.ranks,
            timeout_s=campaign.timeout_s,
            memory_bytes=campaign.memory_bytes,
            **files,
        )
        decides = {
            "model": source,
            "fabric": read(fabric).digest,
            **{f"{key} file": file_digest(path) for key, path in files.items()},
            **its.decides,
        }
        return Run(point, request, _digest(point, request, decides), iteration=its)

    def make(point: Point) -> Run:
        name = str(point["program"])
        if campaign.programs[name].trains:
            return train(name, point)
        if name in jobs:
            point = {**point, "ranks": jobs[name].ranks}
        fabric = fabric_of(str(point["fabric"]))
        found = read(fabric)
        changes = (*_changes(point), *_seeds(point, found.drawn))
        chosen, rules = fallback(str(point["fallback"])) if "fallback" in point else (None, [])
        files = _placed_files(campaign, point)
        check_faults(files.get("faults"), of_faults(changes))
        decides = {
            "program": digests[name],
            "fabric": found.digest,
            "rules": rules,
            **({"iterations": generator_digest()} if name in trains else {}),
            **{f"{key} file": file_digest(path) for key, path in files.items()},
        }

        def run(more: Mapping[str, str]) -> Run:
            changed = (*changes, *(f"{key}={value}" for key, value in more.items()))
            request = _request(
                campaign, point, programs[name], fabric, changed, {"fallback": chosen, **files}
            )
            digest = _digest(point, request, decides)
            return Run({**point, **more}, request, digest, jobs=name in jobs)

        ends = compare_intervals.of_tables(found.tables, changes) if intervals else {}
        at_ends = {key: (run({key: low}), run({key: high})) for key, (low, high) in ends.items()}
        return replace(run({}), ends=at_ends)

    return make


def _placed_files(campaign: Campaign, point: Point) -> dict[str, Path]:
    """Return the fault file and the traffic file of a combination, by key."""
    return {key: campaign.folder / str(point[key]) for key in ("traffic", "faults") if key in point}


def _request(
    campaign: Campaign,
    point: Point,
    file: Path,
    fabric: str,
    changes: tuple[str, ...],
    files: Mapping[str, Any],
) -> Request:
    program = campaign.programs[str(point["program"])]
    return Request.of(
        program=str(file),
        arguments=tuple(text.format_map(_Words(point)) for text in program.arguments),
        privatize=program.privatize,
        fabric=fabric,
        changes=changes,
        **files,
        timeout_s=campaign.timeout_s,
        memory_bytes=campaign.memory_bytes,
        **{
            one.field: _option(one, point[key])
            for key, one in AXES.items()
            if key in point and key not in _FILES
        },
    )


def _option(one: DeclaredOption, value: Value) -> Value | tuple[str, ...]:
    """Return the value of a run option from that of a key, which is a text for several settings."""
    settings = isinstance(one.option.kind, value_types.Settings)
    return tuple(parts(str(value))) if settings else value


def _check_faults(file: Path | None, changes: tuple[str, ...]) -> None:
    """Check a fault file with changes, as far as possible without a fabric."""
    if file is not None:
        fault_file.of_tables(changed(fault_file.read(file), changes))
    elif changes:
        raise WeftError(
            f"faults: is missing, but required by {changes[0].partition('=')[0]}, a key of fault"
            " files"
        )


def _digest(point: Point, request: Request, decides: Mapping[str, Any]) -> str:
    decides = {
        **decides,
        "arguments": request.workload.arguments,
        "privatize": request.simulation.privatize,
        "changes": request.placement.changes,
        "repetition": point.get("repetition"),
        **{key: point.get(key) for key in AXES if key != "fabric"},
        "weft": simulator_digest(),
        "simgrid": _core.simgrid_version,
    }
    text = json.dumps(decides, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _changes(point: Point) -> Iterator[str]:
    """Yield the changes to the fabric file."""
    yield from (f"{key}={in_toml(value)}" for key, value in point.items() if "." in key)


def _seeds(point: Point, drawn: frozenset[str]) -> Iterator[str]:
    """Yield the changes that seed every random component of this fabric."""
    if "seed" not in point:
        return
    here = {name for name, key in _DRAWN.items() if name in drawn or any(map(key, point))}
    if not here:
        raise WeftError(
            f"fabric {point['fabric']}: seed: the fabric has no random behaviour; add [noise] or"
            " [multicast] drops, or leave out the seed"
        )
    if "noise" in here:
        yield f"noise.seed={point['seed']}"
    if "drops" in here:
        yield f"multicast.drop_seed={point['seed']}"


_DRAWN: Mapping[str, Callable[[str], bool]] = {
    "noise": lambda key: key.startswith("noise."),
    "drops": lambda key: key == "multicast.drops",
}
"""Random components, with the campaign keys that enable them on a fabric."""


def _fallback(campaign: Campaign, text: str) -> tuple[str, list[str]]:
    """Return the fallback with paths relative to the campaign's folder resolved, and file digests.

    A fallback is a list of choices such as `bcast=binomial`; a choice is a file, or a library's
    name with a file of rules, `openmpi-5.0+rules.conf`.
    """
    digests: list[str] = []

    def placed(name: str) -> str:
        path = campaign.folder / name
        if not name or not path.is_file():
            return name
        digests.append(contents_digest(path))
        return str(path)

    chosen = []
    for part in text.split(","):
        collective, equals, what = part.rpartition("=")
        chosen.append(collective + equals + "+".join(placed(name) for name in what.split("+")))
    return ",".join(chosen), digests


def _files_of_jobs(jobs: JobsFile) -> Iterator[Path]:
    """Yield the files that runs of a jobs file depend on.

    These are programs, traces, training files, and the topology.
    """
    for job in jobs.jobs:
        if job.iteration is not None:
            yield from job.iteration.files
        elif job.trace is not None:
            yield from sorted(one for one in job.trace.path.iterdir() if one.is_file())
        else:
            yield find_program(job.program)
    if jobs.topology is not None:
        yield jobs.topology


def _inputs(campaign: Campaign, program: Program) -> Iterator[Path]:
    for file in program.inputs:
        path = campaign.folder / file
        if not path.is_file():
            raise WeftError(
                f"{campaign.file}: [programs.{program.name}] inputs: {path} is not a file; name"
                " files that the program reads"
            )
        yield path


class _Words(dict[str, "_Word"]):
    """Values as formatted in arguments."""

    def __init__(self, point: Point) -> None:
        super().__init__({key: _Word(value) for key, value in point.items()})


class _Word(str):
    """Value that supports `{KEY:B}`: a size such as 64KiB converted to bytes."""

    __slots__ = ()

    def __format__(self, form: str) -> str:
        if form == "B":
            return str(parse_size(self))
        return super().__format__(form)


def _fabric(campaign: Campaign, name: str) -> str:
    """Return the path if the campaign's folder contains this file, else the name."""
    path = campaign.folder / name
    return str(path) if path.is_file() else name


def _read_fabric(fabric: str) -> _Fabric:
    """Read the properties of a fabric file.

    Presets are not included, since they belong to weft's library.
    """
    file = Path(_core.load_fabric(fabric).file)
    try:
        tables = tomllib.loads(read_text(file))
    except UnreadableError as error:
        raise WeftError(f"fabric {file}: {error}") from None
    drawn = {"noise": "noise" in tables, "drops": "drops" in tables.get("multicast", {})}
    text = json.dumps(tables, sort_keys=True, default=str)
    digest = hashlib.sha256(text.encode()).hexdigest()
    return _Fabric(digest, frozenset(name for name, there in drawn.items() if there), tables)


@cache
def simulator_digest() -> str:
    """Return a digest of the simulator and its presets."""
    files = [paths.platform_library(), *sorted(paths.installed("presets").rglob("*.toml"))]
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()


def columns(runs: list[Run]) -> Iterator[str]:
    """Yield the distinct keys of all points in order of appearance."""
    yield from dict.fromkeys(key for run in runs for key in run.point)
