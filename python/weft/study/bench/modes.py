# SPDX-License-Identifier: LGPL-2.1-only
"""Which way the calls of a benchmark went, beside the mode that was asked for.

A mode says what is asked for. Switches that cannot do a call leave it to the hosts, and algorithms
that a call has too few elements for take others' steps; every table and figure then names what was
simulated: `binomial for stream`, `recursive_doubling for segmented_ring`.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from weft import _core
from weft.base.errors import WeftError
from weft.runs.record import Record
from weft.runs.report import explain

_SMPI = {"smpi:only": "smpi"}  # SMPI has no choice of it
_WRITTEN_OUT = "messages"
_JOINT = " + "  # between ways of one path


@dataclass(frozen=True)
class Way:
    """What was simulated in a mode."""

    path: str
    """What did it: a way to offload, an algorithm of the hosts, or `messages` where the benchmark
    writes the collective out; several with ` + ` between."""
    reason: str = ""
    """Why the hosts did what the switches were asked for; empty where they were not, or did it."""
    label: str = ""
    """The mode as tables name it."""
    message: str = ""
    """What the user is told of it; empty where all went as asked for."""

    @property
    def several(self) -> bool:
        """Whether several things did it."""
        return _JOINT in self.path


def way_taken(record: Record, mode: str, collectives: Collection[str], *, offloading: bool) -> Way:
    """Return which way these collectives went in a run."""
    rows = [row for row in record.collectives if row.collective in collectives]
    path = _JOINT.join(dict.fromkeys(_SMPI.get(row.way, row.way) for row in rows)) or _WRITTEN_OUT
    fallen = [row for row in rows if not row.offloaded] if offloading else []
    if not fallen:
        return Way(
            path, label=_label(mode, [path], stood_in=not offloading and _stands_in(mode, path))
        )
    names = " and ".join(dict.fromkeys(row.collective for row in fallen))
    kept = {row.collective for row in rows if row.offloaded}
    if kept.isdisjoint(row.collective for row in fallen):
        label = f"{mode}, {names} by the hosts" if kept else _label(mode, [path], stood_in=True)
    else:
        label = _several(mode, [path])
    why = "; ".join(dict.fromkeys(explain(row.reason, record) for row in fallen))
    by = ", ".join(dict.fromkeys(_SMPI.get(row.way, row.way) for row in fallen))
    message = f"{mode}: on {record.fabric.label} the hosts ({by}) did {names}, because {why}"
    return Way(path, " + ".join(dict.fromkeys(row.reason for row in fallen)), label, message)


def _stands_in(mode: str, path: str) -> bool:
    """Whether a mode names an algorithm, and others were executed in its place."""
    name = mode.rpartition("=")[2]
    known = any(row["name"] == name for row in _core.host_algorithms())
    return known and path not in (name, _WRITTEN_OUT)


def _label(mode: str, paths: Sequence[str], *, stood_in: bool) -> str:
    if not stood_in:
        return mode
    ways = _parts(paths)
    asked = mode.rpartition("=")[2]
    return _several(mode, paths) if asked in ways else f"{' or '.join(ways)} for {mode}"


def _several(mode: str, paths: Sequence[str]) -> str:
    """Return the label of a mode whose calls went several ways."""
    return f"{mode} ({', '.join(_parts(paths))})"


def _parts(paths: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(part for path in paths for part in path.split(_JOINT)))


class WentAWay:
    """What a row of a benchmark says of the way that its calls went; part of its class."""

    way: Way

    @property
    def path(self) -> str:
        """What did it."""
        return self.way.path

    @property
    def reason(self) -> str:
        """Why the hosts did what the switches were asked for."""
        return self.way.reason


class Benched(Protocol):
    """A row of a benchmark."""

    @property
    def mode(self) -> str:
        """What was asked for."""

    @property
    def way(self) -> Way:
        """What was simulated."""


def labels(rows: Sequence[Benched], mode: str) -> str:
    """Return how figures and the heads of columns name a mode of which all rows are known."""
    ways = [row.way for row in rows if row.mode == mode]
    own = list(dict.fromkeys(way.label for way in ways))
    if len(own) < 2:
        return own[0] if own else mode
    paths = [way.path for way in ways]
    all_in_place = all(label.endswith(f" for {mode}") for label in own)
    return _label(mode, paths, stood_in=True) if all_in_place else _several(mode, paths)


def messages(rows: Sequence[Benched]) -> list[str]:
    """Return what the user is told of all modes that fell back, each once."""
    return list(dict.fromkeys(row.way.message for row in rows if row.way.message))


def check_as_asked(rows: Sequence[Benched], who: str) -> None:
    """Prove that every mode was simulated, where labels are fixed; else it is an error."""
    if said := messages(rows):
        raise WeftError(f"{who}: {said[0]}; it compares what is offloaded with measurements")
