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
from collections.abc import Iterator, Mapping
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
from weft.campaign.file import Campaign
from weft.runs.request import Request

_REQUEST_KEYS = ("ranks", "ppn", "offload", "fallback", "host_speed")


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
    digests = {name: _file_digest(file) for name, file in programs.items()}
    fabric_digest = cache(_fabric_digest)  # files may change from one call to the next
    for point in campaign.points():
        name = str(point["program"])
        fabric = _fabric(campaign, str(point["fabric"]))
        try:
            decides = {"program": digests[name], "fabric": fabric_digest(fabric)}
            run = _run(campaign, point, programs[name], fabric, decides)
        except (WeftError, _core.UserError) as error:
            wrong.append((point, str(error)))
        else:
            found.append(run)
    return Runs(found, wrong)


def _run(
    campaign: Campaign, point: Point, file: Path, fabric: str, decides: Mapping[str, Any]
) -> Run:
    program = campaign.programs[str(point["program"])]
    arguments = tuple(text.format_map(_Words(point)) for text in program.arguments)
    changes = tuple(f"{key}={_in_toml(value)}" for key, value in point.items() if "." in key)
    request = Request.of(
        program=str(file),
        arguments=arguments,
        privatize=program.privatize,
        fabric=fabric,
        changes=changes,
        timeout_s=campaign.timeout_s,
        **{key: point[key] for key in _REQUEST_KEYS if key in point},
    )
    decides = {
        **decides,
        "arguments": arguments,
        "privatize": program.privatize,
        "changes": changes,
        "repetition": point.get("repetition"),
        **{key: point.get(key) for key in _REQUEST_KEYS},
        "weft": _library_digest(),
        "simgrid": _core.simgrid_version,
    }
    text = json.dumps(decides, sort_keys=True)
    return Run(point, request, hashlib.sha256(text.encode()).hexdigest()[:32])


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
        raise WeftError(f"program {file}: cannot be read: {error.strerror}") from None


def _fabric_digest(fabric: str) -> str:
    """Return a digest of what a fabric file says; presets are weft's, and go with its library."""
    file = Path(_core.load_fabric(fabric).file)
    try:
        tables = tomllib.loads(read_text(file))
    except UnreadableError as error:
        raise WeftError(f"fabric {file}: {error}") from None
    return hashlib.sha256(json.dumps(tables, sort_keys=True, default=str).encode()).hexdigest()


@cache
def _library_digest() -> str:
    """Return a digest of what simulates, and of the presets that it reads."""
    files = [paths.platform_library(), *sorted(paths.installed("presets").rglob("*.toml"))]
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()


def columns(runs: list[Run]) -> Iterator[str]:
    """Yield the keys of all points, in the order in which they come."""
    yield from dict.fromkeys(key for run in runs for key in run.point)
