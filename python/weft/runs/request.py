# SPDX-License-Identifier: LGPL-2.1-only
"""What is asked for: what runs, where, how its collectives are done, how it is simulated.

A `Request` is a value; nothing of it is checked yet (`weft.runs.launch.prepare` does). `deciding`
is all of it that a result depends on; beside it stand what is written and how long weft waits.

    request = Request.of(program="./a.out", fabric="tofino-4", ranks=4)
    request.changed(offload="off").placement.ranks
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Self

from weft.runs import offloads
from weft.trace.folder import Folder


@dataclass(frozen=True)
class Workload:
    """What runs."""

    program: str
    """Its path, or a name that PATH has; of a trace, what was recorded."""
    arguments: tuple[str, ...] = ()
    privatize: bool = True
    """Give each rank its own global variables, at the cost of a copy of the program per rank."""
    replay: Folder | None = None
    """A trace to replay in place of the program."""


@dataclass(frozen=True, kw_only=True)
class Placement:
    """Where it runs: on a fabric of weft's, or on a platform file of SimGrid's."""

    ranks: int
    fabric: str | None = None
    """Name of a shipped fabric, or the path of a fabric file; none with a platform."""
    changes: tuple[str, ...] = ()
    """What differs from the fabric file: TABLE.KEY=VALUE each, as `switch.slots=64`."""
    platform: Path | None = None
    ppn: int | None = None
    """Ranks per host; by default one while there are hosts enough, else as few as possible."""
    contention: bool = True
    """Whether messages share links; without, each has every link on its way to itself."""


@dataclass(frozen=True, kw_only=True)
class Collectives:
    """How its collectives are done."""

    offload: str = offloads.DEFAULT
    """One of `weft.runs.offloads.OFFLOADS`."""
    fallback: str | None = None
    """SMPI algorithm of every Allreduce that is not offloaded; by default Open MPI's choice."""


@dataclass(frozen=True, kw_only=True)
class Simulation:
    """How SimGrid simulates it."""

    config: tuple[str, ...] = ()
    """SimGrid settings, KEY:VALUE, which come after weft's own."""
    host_speed: str | None = None
    """Speed of this machine, `10Gf` or `auto`; by default computation takes no simulated time."""


@dataclass(frozen=True, kw_only=True)
class Outputs:
    """What is written beside the record."""

    timeline: Path | None = None
    """Where to write what every rank and switch did when."""
    calls: Path | None = None
    """Where to write every call, for a trace of weft's own."""
    messages: Path | None = None
    """Where to write the hosts of every message between two: int32, two each."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """What to run and how."""

    workload: Workload
    placement: Placement
    collectives: Collectives = Collectives()
    simulation: Simulation = Simulation()
    outputs: Outputs = Outputs()
    timeout_s: float | None = None
    """Wall time after which the run is given up."""
    memory_bytes: int | None = None
    """Memory of the simulation, resident, above which the run is ended."""
    command: tuple[str, ...] = ()
    """What the user typed, for the record."""

    @classmethod
    def of(cls, **values: Any) -> Self:
        """Make one of the fields of its parts by their names, as command lines have them."""
        own, parts = _sorted_by_part(values)
        return cls(**own, **{name: _PARTS[name](**parts.get(name, {})) for name in _PARTS})

    def changed(self, **values: Any) -> Self:
        """Return the same with other values of some fields, by their names."""
        own, parts = _sorted_by_part(values)
        changed = {name: replace(getattr(self, name), **some) for name, some in parts.items()}
        return replace(self, **own, **changed)

    @property
    def deciding(self) -> tuple[Workload, Placement, Collectives, Simulation]:
        """All that a result depends on: two runs with the same of it have the same times."""
        return self.workload, self.placement, self.collectives, self.simulation


_PARTS: Mapping[str, Any] = {
    "workload": Workload,
    "placement": Placement,
    "collectives": Collectives,
    "simulation": Simulation,
    "outputs": Outputs,
}
_PART_OF = {item.name: name for name, part in _PARTS.items() for item in fields(part)}


def _sorted_by_part(values: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Return the fields of the request itself, and those of each part."""
    own: dict[str, Any] = {}
    parts: dict[str, dict[str, Any]] = {}
    for name, value in values.items():
        (parts.setdefault(_PART_OF[name], {}) if name in _PART_OF else own)[name] = value
    return own, parts
