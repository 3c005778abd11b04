# SPDX-License-Identifier: LGPL-2.1-only
"""Requests: the program, its placement, the execution of collectives, and the simulation.

A `Request` is an unchecked value (`weft.runs.launch.prepare` checks it). Its parts are the options
of runs (`weft.runs.options`). `deciding` contains the parts that affect results, and therefore not
limits and outputs.

    request = Request.of(program="./a.out", fabric="tofino-4", ranks=4)
    request.changed(offload="off").placement.ranks
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self

from weft.runs.options import (
    PARTS,
    Collectives,
    DeclaredOption,
    Limits,
    Outputs,
    Placement,
    RunOption,
    Simulation,
    run_options,
)
from weft.runs.value_types import Switch
from weft.trace.folder import Folder


@dataclass(frozen=True)
class Workload:
    """Program to run."""

    program: str
    """Path, or a name that is looked up in PATH; for a trace, the recorded program."""
    arguments: tuple[str, ...] = ()
    replay: Folder | None = None
    """Trace to replay instead of the program."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """Complete description of a run."""

    workload: Workload
    placement: Placement
    collectives: Collectives = field(default_factory=Collectives)
    simulation: Simulation = field(default_factory=Simulation)
    limits: Limits = field(default_factory=Limits)
    outputs: Outputs = field(default_factory=Outputs)
    command: tuple[str, ...] = ()
    """Command line as typed by the user, for the record."""

    @classmethod
    def of(cls, **values: Any) -> Self:
        """Create a request from the fields of its parts, by name."""
        own, parts = _sorted_by_part(values)
        return cls(**own, **{name: _PARTS[name](**parts.get(name, {})) for name in _PARTS})

    def changed(self, **values: Any) -> Self:
        """Return a copy with some fields changed, by name."""
        own, parts = _sorted_by_part(values)
        changed = {name: replace(getattr(self, name), **some) for name, some in parts.items()}
        return replace(self, **own, **changed)

    @property
    def deciding(self) -> tuple[Workload, Placement, Collectives, Simulation]:
        """Parts that affect results: equal values imply equal times."""
        return self.workload, self.placement, self.collectives, self.simulation

    def options(self, wanted: Callable[[RunOption], bool]) -> dict[str, Any]:
        """Return the values of some options by field name."""
        return {
            one.field: getattr(getattr(self, _PART_OF[one.field]), one.field)
            for one in run_options()
            if wanted(one.option)
        }


_PARTS: Mapping[str, Any] = {"workload": Workload, **PARTS}
_PART_OF = {one.name: name for name, part in _PARTS.items() for one in fields(part)}


def _sorted_by_part(values: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Return the fields of the request itself, and the fields of each part."""
    own: dict[str, Any] = {}
    parts: dict[str, dict[str, Any]] = {}
    for name, value in values.items():
        (parts.setdefault(_PART_OF[name], {}) if name in _PART_OF else own)[name] = value
    return own, parts


def as_words(request: Request) -> list[str]:
    """Return the command-line options that reproduce a run.

    Limits and outputs are omitted.
    """
    return [
        word
        for one in run_options()
        if _PART_OF[one.field] not in ("limits", "outputs")
        for word in _words(one, getattr(getattr(request, _PART_OF[one.field]), one.field))
    ]


def _words(one: DeclaredOption, value: Any) -> Iterator[str]:
    if isinstance(one.option.kind, Switch):
        yield from () if value == one.default else (one.option.flag,)
    elif isinstance(value, tuple):
        yield from (word for each in value for word in (one.option.flag, str(each)))
    elif value is not None:
        yield from (one.option.flag, str(value))
