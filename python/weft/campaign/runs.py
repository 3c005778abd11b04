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
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from weft import _core
from weft.base import paths
from weft.base.errors import WeftError
from weft.base.reading import UnreadableError, read_text
from weft.base.units import parse_size
from weft.campaign.axes import Point
from weft.campaign.file import Campaign, Program
from weft.runs.request import Request

_REQUEST_KEYS = ("ranks", "ppn", "contention", "offload", "host_speed")


@dataclass(frozen=True)
class Run:
    """One run: a combination, and what it asks for."""

    point: Point
    request: Request
    digest: str
    """What a store calls it."""


@dataclass(frozen=True)
class Runs:
    """All runs of a campaign, of which some may be the same, and what cannot be run."""

    runs: list[Run] = field(default_factory=list)
    impossible: list[tuple[Point, str]] = field(default_factory=list)


def of(campaign: Campaign, programs: Mapping[str, Path]) -> Runs:
    """Make the runs of a campaign; `programs` are the files of its programs, which are read."""
    found: list[Run] = []
    wrong: list[tuple[Point, str]] = []
    digests = {
        name: [_file_digest(file) for file in (programs[name], *_inputs(campaign, one))]
        for name, one in campaign.programs.items()
    }
    tables = cache(_tables)  # files may change from one call to the next
    fabric_of = cache(lambda name: _fabric(campaign, name))
    fallback = cache(lambda text: _fallback(campaign, text))
    for point in campaign.points():
        name = str(point["program"])
        fabric = fabric_of(str(point["fabric"]))
        try:
            fabric_digest, drawn = tables(fabric)
            changes = (*_changes(point), *_seeds(point, drawn))
            chosen, rules = fallback(str(point["fallback"])) if "fallback" in point else (None, [])
            decides = {"program": digests[name], "fabric": fabric_digest, "rules": rules}
            request = _request(campaign, point, programs[name], fabric, changes, chosen)
            run = Run(point, request, _digest(point, request, decides))
        except (WeftError, _core.UserError) as error:
            wrong.append((point, str(error)))
        else:
            found.append(run)
    return Runs(found, wrong)


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
        **{key: point[key] for key in _REQUEST_KEYS if key in point},
    )


def _digest(point: Point, request: Request, decides: Mapping[str, Any]) -> str:
    decides = {
        **decides,
        "arguments": request.workload.arguments,
        "privatize": request.workload.privatize,
        "changes": request.placement.changes,
        "repetition": point.get("repetition"),
        **{key: point.get(key) for key in (*_REQUEST_KEYS, "fallback")},
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


def _tables(fabric: str) -> tuple[str, frozenset[str]]:
    """Return a digest of what a fabric file says, and what of it is drawn at random.

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
    return digest, frozenset(name for name, there in drawn.items() if there)


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
