# SPDX-License-Identifier: LGPL-2.1-only
"""The runs of a campaign: what each is, and by which name a store knows it.

A run's name is a digest of all that decides its result: the program's bytes, its arguments, the
fabric's tables (not the comments of its file), every option, weft's library and SimGrid's version.
So nothing is run twice, a change of one fabric repeats the runs on it and no others, and results
that were made elsewhere are found by their names.
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
from weft.base.reading import UnreadableError, read_text
from weft.base.units import parse_size
from weft.campaign.file.axes import Point
from weft.campaign.file.file import Campaign
from weft.campaign.file.keys import AXES
from weft.campaign.file.programs import Program
from weft.runs.request import Request
from weft.study.comparison import intervals as compare_intervals
from weft.study.comparison.compare import BEST

OFF = "off"
_FILES = ("fabric", "fallback")
"""Keys whose values may be files of the campaign's folder, which decide by what they hold."""


@dataclass(frozen=True)
class Run:
    """One run: a combination, and what it asks for."""

    point: Point
    request: Request
    digest: str
    """What a store calls it."""
    best: bool = False
    """One of the hosts' fastest algorithms, which the campaign's file does not have."""
    ends: "Mapping[str, tuple[Run, Run]]" = field(default_factory=dict)
    """By the fabric's calibrated values, the same run at the ends of the value's interval."""


@dataclass(frozen=True)
class Runs:
    """All runs of a campaign, of which some may be the same, and what cannot be run."""

    runs: list[Run] = field(default_factory=list)
    """A run for each combination, those of the hosts' fastest algorithms last."""
    impossible: list[tuple[Point, str]] = field(default_factory=list)

    @property
    def ends(self) -> Iterator[Run]:
        """Yield the runs at the ends of intervals, of which no table has a row."""
        for run in self.runs:
            for pair in run.ends.values():
                yield from pair


@dataclass(frozen=True)
class _Fabric:
    """A fabric's file, as runs need to know it."""

    digest: str
    drawn: frozenset[str]
    """Tables with values that are drawn at random."""
    tables: Mapping[str, Any]


def of(campaign: Campaign, programs: Mapping[str, Path]) -> Runs:
    """Make the runs of a campaign; `programs` are the files of its programs, which are read.

    Where runs with offloading are compared with the hosts', the latter are made by their fastest
    algorithms as well, and all of them at the ends of the intervals of calibrated fabrics.
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
    """Yield the campaign's points, then of those that were `found` the hosts' once more."""
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
        " fabrics' intervals; raise it, take fewer values, or leave some out by best = false or"
        " intervals = false"
    )


def compares_offloading(points: Iterable[Point]) -> bool:
    """Tell whether some points offload and others leave all to the hosts."""
    return len({point.get("offload", "stream") == OFF for point in points}) > 1


def best_points(points: Sequence[Point]) -> list[Point]:
    """Return the hosts' points once more, with the fastest of all algorithms for each call.

    Links that do not contend have no such prediction.
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
    """Return what makes the run of a point, with those at the ends of its fabric's intervals."""
    digests = {
        name: [_file_digest(file) for file in (programs[name], *_inputs(campaign, one))]
        for name, one in campaign.programs.items()
    }
    read = cache(_read_fabric)  # files may change from one call to the next
    fabric_of = cache(lambda name: _fabric(campaign, name))
    fallback = cache(lambda text: _fallback(campaign, text))
    intervals = campaign.intervals and compares_offloading(campaign.points())

    def make(point: Point) -> Run:
        name = str(point["program"])
        fabric = fabric_of(str(point["fabric"]))
        found = read(fabric)
        changes = (*_changes(point), *_seeds(point, found.drawn))
        chosen, rules = fallback(str(point["fallback"])) if "fallback" in point else (None, [])
        decides = {"program": digests[name], "fabric": found.digest, "rules": rules}

        def run(more: Mapping[str, str]) -> Run:
            changed = (*changes, *(f"{key}={value}" for key, value in more.items()))
            request = _request(campaign, point, programs[name], fabric, changed, chosen)
            return Run({**point, **more}, request, _digest(point, request, decides))

        ends = compare_intervals.of_tables(found.tables, changes) if intervals else {}
        at_ends = {key: (run({key: low}), run({key: high})) for key, (low, high) in ends.items()}
        return replace(run({}), ends=at_ends)

    return make


def _request(
    campaign: Campaign,
    point: Point,
    file: Path,
    fabric: str,
    changes: tuple[str, ...],
    fallback: str | None,
) -> Request:
    program = campaign.programs[str(point["program"])]
    return Request.of(
        program=str(file),
        arguments=tuple(text.format_map(_Words(point)) for text in program.arguments),
        privatize=program.privatize,
        fabric=fabric,
        changes=changes,
        fallback=fallback,
        timeout_s=campaign.timeout_s,
        memory_bytes=campaign.memory_bytes,
        **{
            one.field: point[key] for key, one in AXES.items() if key in point and key not in _FILES
        },
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
    """Yield what differs from the fabric's file."""
    yield from (f"{key}={_in_toml(value)}" for key, value in point.items() if "." in key)


def _seeds(point: Point, drawn: frozenset[str]) -> Iterator[str]:
    """Yield what a seed changes: of all that is drawn at random on this fabric, its seed."""
    if "seed" not in point:
        return
    here = {name for name, key in _DRAWN.items() if name in drawn or any(map(key, point))}
    if not here:
        raise WeftError(
            f"fabric {point['fabric']}: seed: nothing of it is drawn at random; give it [noise] or"
            " [multicast] drops, or leave the seed out"
        )
    if "noise" in here:
        yield f"noise.seed={point['seed']}"
    if "drops" in here:
        yield f"multicast.drop_seed={point['seed']}"


_DRAWN: Mapping[str, Callable[[str], bool]] = {
    "noise": lambda key: key.startswith("noise."),
    "drops": lambda key: key == "multicast.drops",
}
"""What is drawn at random, and which keys of a campaign make a fabric do so."""


def _fallback(campaign: Campaign, text: str) -> tuple[str, list[str]]:
    """Return it with its files' paths from the campaign's folder, and the files' digests.

    It is a list of choices, `bcast=binomial` for one collective; a choice is a file, or a library's
    name and a file of rules, `openmpi-5.0+rules.conf`.
    """
    digests: list[str] = []

    def placed(name: str) -> str:
        path = campaign.folder / name
        if not name or not path.is_file():
            return name
        digests.append(_file_digest(path))
        return str(path)

    chosen = []
    for part in text.split(","):
        collective, equals, what = part.rpartition("=")
        chosen.append(collective + equals + "+".join(placed(name) for name in what.split("+")))
    return ",".join(chosen), digests


def _inputs(campaign: Campaign, program: Program) -> Iterator[Path]:
    for file in program.inputs:
        path = campaign.folder / file
        if not path.is_file():
            raise WeftError(
                f"{campaign.file}: [programs.{program.name}] inputs: {path} is no file; name files"
                " that the program reads"
            )
        yield path


class _Words(dict[str, "_Word"]):
    """Values as arguments have them."""

    def __init__(self, point: Point) -> None:
        super().__init__({key: _Word(value) for key, value in point.items()})


class _Word(str):
    """A value; `{KEY:B}` is one such as 64KiB in bytes."""

    __slots__ = ()

    def __format__(self, form: str) -> str:
        if form == "B":
            return str(parse_size(self))
        return super().__format__(form)


def _in_toml(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _fabric(campaign: Campaign, name: str) -> str:
    """Return a path where the campaign's folder has such a file, else the name as it is."""
    path = campaign.folder / name
    return str(path) if path.is_file() else name


def _file_digest(file: Path) -> str:
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError as error:
        raise WeftError(f"{file} cannot be read: {error.strerror}") from None


def _read_fabric(fabric: str) -> _Fabric:
    """Read what a fabric file says.

    Presets are weft's, and go with its library.
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
    """Return a digest of what simulates, and of the presets that it reads."""
    files = [paths.platform_library(), *sorted(paths.installed("presets").rglob("*.toml"))]
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()


def columns(runs: list[Run]) -> Iterator[str]:
    """Yield the keys of all points, in the order in which they come."""
    yield from dict.fromkeys(key for run in runs for key in run.point)
