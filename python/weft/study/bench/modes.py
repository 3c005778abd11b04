# SPDX-License-Identifier: LGPL-2.1-only
"""Executors of a benchmark's calls, as opposed to the requested mode.

Switches pass calls that they cannot execute to the hosts, and algorithms with too few elements fall
back to other algorithms. Tables and figures therefore name the simulated executor: `binomial for
stream`, `recursive_doubling for segmented_ring`.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from weft import _core
from weft.base.errors import WeftError
from weft.runs.record import Record
from weft.runs.tables import explain

_SMPI = {"smpi:only": "smpi"}  # SMPI offers only one algorithm
_WRITTEN_OUT = "messages"
_JOINT = " + "  # separates the executors within one path


@dataclass(frozen=True)
class Way:
    """Executor that was actually simulated for a mode."""

    path: str
    """Executor: an offload mode, a host algorithm, or `messages`; several are joined by ` + `.

    `messages` means that the benchmark implements the collective itself.
    """
    reason: str = ""
    """Reason for falling back to the hosts; empty if nothing was offloaded or nothing fell back."""
    label: str = ""
    """Label of the mode in tables."""
    message: str = ""
    """Notice to the user; empty if the mode ran as requested."""

    @property
    def several(self) -> bool:
        """True if there are several executors."""
        return _JOINT in self.path


def way_taken(record: Record, mode: str, collectives: Collection[str], *, offloading: bool) -> Way:
    """Return the executor of these collectives in a run."""
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
        label = f"{mode}, {names} on the hosts" if kept else _label(mode, [path], stood_in=True)
    else:
        label = _several(mode, [path])
    why = "; ".join(dict.fromkeys(explain(row.reason, record) for row in fallen))
    by = ", ".join(dict.fromkeys(_SMPI.get(row.way, row.way) for row in fallen))
    where = record.fabric.label
    message = f"{mode}: on {where} {names} fell back to the hosts ({by}), because {why}"
    return Way(path, " + ".join(dict.fromkeys(row.reason for row in fallen)), label, message)


def _stands_in(mode: str, path: str) -> bool:
    """Return True if the mode names an algorithm, but another algorithm was executed."""
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
    """Return the label of a mode whose calls had several executors."""
    return f"{mode} ({', '.join(_parts(paths))})"


def _parts(paths: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(part for path in paths for part in path.split(_JOINT)))


class MechanismRow:
    """Mixin of benchmark rows: executor of the calls."""

    way: Way

    @property
    def path(self) -> str:
        """Executor of the calls."""
        return self.way.path

    @property
    def reason(self) -> str:
        """Reason for falling back to the hosts."""
        return self.way.reason


class Benched(Protocol):
    """Row of a benchmark."""

    @property
    def mode(self) -> str:
        """Requested mode."""

    @property
    def way(self) -> Way:
        """Executor that was actually simulated."""


def labels(rows: Sequence[Benched], mode: str) -> str:
    """Return the label of a mode for figures and column headings, once all its rows are known."""
    ways = [row.way for row in rows if row.mode == mode]
    own = list(dict.fromkeys(way.label for way in ways))
    if len(own) < 2:
        return own[0] if own else mode
    paths = [way.path for way in ways]
    all_in_place = all(label.endswith(f" for {mode}") for label in own)
    return _label(mode, paths, stood_in=True) if all_in_place else _several(mode, paths)


def messages(rows: Sequence[Benched]) -> list[str]:
    """Return the notices of all modes that fell back, without duplicates."""
    return list(dict.fromkeys(row.way.message for row in rows if row.way.message))


def check_as_asked(rows: Sequence[Benched], who: str) -> None:
    """Raise an error if a mode fell back; for callers with fixed labels."""
    if said := messages(rows):
        raise WeftError(f"{who}: {said[0]}; it compares offloaded calls with measurements")
