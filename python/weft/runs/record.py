"""The record of a run: everything that weft shows is made from it.

libweft.so writes its part while SimGrid runs; `weft run` adds the command, the outcome and the
times, and writes the file. The classes below are the schema. What a newer weft wrote beside it is
kept in `extra` and written again.
"""

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self, get_args, get_type_hints

from weft.base.errors import WeftError, named
from weft.base.output import whole_file
from weft.base.reading import UnreadableError, check_type, read_json

SCHEMA = "weft-run/1"
COMPARISON_SCHEMA = "weft-compare/1"


def _is_entry(hint: Any) -> bool:
    """Whether a field holds an entry or a list of them, which check themselves."""
    return any(hasattr(one, "from_json") for one in (hint, *get_args(hint)))


@dataclass(kw_only=True)
class _Entry:
    extra: dict[str, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Read it. Raises `UnreadableError` where something is missing or is of another type."""
        if not isinstance(data, Mapping):
            raise UnreadableError("a part of it is no object")
        names = {item.name for item in dataclasses.fields(cls)} - {"extra"}
        hints = get_type_hints(cls)
        for name in names & set(data):
            if not _is_entry(hints[name]):
                check_type(name, data[name], hints[name])
        known = {name: cls._read(name, value) for name, value in data.items() if name in names}
        lacking = [name for name in cls._required() if name not in known]
        if lacking:
            raise UnreadableError(f"'{lacking[0]}' is missing")
        return cls(**known, extra={name: data[name] for name in data if name not in names})

    @classmethod
    def _required(cls) -> list[str]:
        missing = dataclasses.MISSING
        return [
            item.name
            for item in dataclasses.fields(cls)
            if item.default is missing and item.default_factory is missing
        ]

    @classmethod
    def _read(cls, name: str, value: Any) -> Any:
        return value

    def to_json(self) -> dict[str, Any]:
        """Return what `json` writes."""
        data = dataclasses.asdict(self)
        return {**_without_extra(data), **self.extra}


def _without_extra(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_extra(item) for item in value]
    if isinstance(value, dict) and "extra" in value:
        own = {name: _without_extra(item) for name, item in value.items() if name != "extra"}
        return {**own, **value["extra"]}
    return value


@dataclass(kw_only=True)
class FabricPart(_Entry):
    """The fabric that the program ran on."""

    name: str
    file: str
    topology: str
    hosts: int
    switches: int
    links: int


@dataclass(kw_only=True)
class OutcomePart(_Entry):
    """How the run ended.

    `completed`, `exit` (with a status other than 0), `early-exit` (the same, before MPI_Finalize),
    `signal`, `abort` (MPI_Abort), `error` (an MPI call failed), `unsupported` (SimGrid's MPI lacks
    the call), `deadlock`, `mismatch` (ranks called different collectives), `refused` (the
    algorithm that was chosen cannot do a call), `network-failure` (a link is off that a call or
    message needs), `timeout` or `unfinished`.
    """

    kind: str
    message: str = ""


@dataclass(kw_only=True)
class CollectivePart(_Entry):
    """Calls of one collective, for communicators of one size, that went one way for one reason."""

    collective: str
    communicator_size: int
    datatype: str
    op: str
    path: str
    reason: str
    algorithm: str
    calls: int
    bytes: float
    """Of all calls, mean of the ranks; with uneven parts it is no whole number."""
    total_time_s: float | None
    """None for SMPI's own non-blocking calls: only the program sees when they complete."""
    max_time_s: float | None

    @property
    def offloaded(self) -> bool:
        """Whether the switches did it."""
        return self.path != "fallback"

    @property
    def way(self) -> str:
        """What did it: a way to offload, or an algorithm of the hosts."""
        return self.path if self.offloaded else self.algorithm or "host"

    @property
    def why(self) -> str:
        """Why it went that way, in a word or few."""
        return "offloaded" if self.offloaded else self.reason

    @property
    def mean_time_s(self) -> float | None:
        """Time of one rank in one call."""
        if self.total_time_s is None:
            return None
        return self.total_time_s / max(1, self.calls * self.communicator_size)


@dataclass(kw_only=True)
class ProfilePart(_Entry):
    """The time of all ranks in calls of one kind, or outside MPI, or after they ended."""

    kind: str
    calls: int
    least_s: float
    mean_s: float
    most_s: float
    ranks_s: list[float] = field(default_factory=list)


@dataclass(kw_only=True)
class MpiCallPart(_Entry):
    """The calls of one function of MPI by all ranks."""

    call: str
    kind: str
    calls: int
    total_time_s: float
    max_time_s: float


@dataclass(kw_only=True)
class SwitchPart(_Entry):
    """What one switch did."""

    name: str
    preset: str = ""
    offloaded: int
    bytes_reduced: int
    bytes_multicast: int
    slots_used_max: int
    channels_used_max: int
    cache_hits: int | None = None
    cache_misses: int | None = None


@dataclass(kw_only=True)
class LinkPart(_Entry):
    """What one direction of a cable carried."""

    name: str
    bandwidth_Bps: float  # noqa: N815 (the file's name for it)
    bytes: float
    multicast_bytes: float = 0
    utilisation: float


@dataclass(kw_only=True)
class MulticastPart(_Entry):
    """The calls of one collective by the multicast protocol."""

    collective: str
    communicator_size: int
    calls: int
    multicasts: int
    chunks: int
    payload_bytes: float
    header_bytes: float
    drops: int
    fetch_requests: int
    fetched_chunks: int
    fetched_bytes: float
    duplicates: int
    timer_expiries: int
    barrier_s: float
    multicast_s: float
    recovery_s: float
    handshake_s: float


@dataclass(kw_only=True)
class EventPart(_Entry):
    """One collective in a switch; `start_s` is when the last contribution arrived."""

    switch: str
    communicator: int
    collective: str
    ranks: int
    bytes: int
    start_s: float
    end_s: float


@dataclass(kw_only=True)
class SlicePart(_Entry):
    """One call of MPI by one rank."""

    rank: int
    call: str
    start_s: float
    end_s: float


_LISTS: dict[str, type[_Entry]] = {
    "profile": ProfilePart,
    "mpi_calls": MpiCallPart,
    "collectives": CollectivePart,
    "multicast": MulticastPart,
    "switches": SwitchPart,
    "links": LinkPart,
    "events": EventPart,
    "slices": SlicePart,
}


@dataclass(kw_only=True)
class Record(_Entry):
    """One run. Times are simulated, but for the simulator's own `wall_time_s` and `cpu_time_s`."""

    schema: str = SCHEMA
    weft: str
    simgrid: str
    fabric: FabricPart
    ranks: int
    hosts_used: int
    offload: str
    outcome: OutcomePart
    simulated_time_s: float
    profile: list[ProfilePart] = field(default_factory=list)
    mpi_calls: list[MpiCallPart] = field(default_factory=list)
    collectives: list[CollectivePart] = field(default_factory=list)
    multicast: list[MulticastPart] = field(default_factory=list)
    switches: list[SwitchPart] = field(default_factory=list)
    links: list[LinkPart] = field(default_factory=list)
    events: list[EventPart] = field(default_factory=list)
    slices: list[SlicePart] = field(default_factory=list)
    program: str = ""
    arguments: list[str] = field(default_factory=list)
    command: list[str] = field(default_factory=list)
    replayed: str = ""
    ppn: int = 1
    fallback: str = ""
    config: list[str] = field(default_factory=list)
    host_speed: str = ""
    exit_status: int = 0
    wall_time_s: float = 0.0
    cpu_time_s: float = 0.0
    peak_memory_bytes: int = 0

    def __post_init__(self) -> None:
        """Nothing is unwritten yet; what is, is no part of the file."""
        self.unwritten = ""

    @classmethod
    def _read(cls, name: str, value: Any) -> Any:
        if name in _LISTS:
            check_type(name, value, list[Any])
            return [_LISTS[name].from_json(item) for item in value]
        parts: dict[str, type[_Entry]] = {"fabric": FabricPart, "outcome": OutcomePart}
        return parts[name].from_json(value) if name in parts else value

    @property
    def ended(self) -> bool:
        """Whether the program came to its end, with whatever exit status."""
        return self.outcome.kind in ("completed", "exit")

    @property
    def failed(self) -> bool:
        """Whether the program did not end well."""
        return self.outcome.kind != "completed"


def read_record(path: Path) -> Record:
    """Read a record from a file."""
    try:
        data = read_json(path)
        check_type("the whole", data, dict[str, Any])
        if data.get("schema") == COMPARISON_SCHEMA:
            raise WeftError(
                f"record: {path} holds the two records of a comparison; write the one that is meant"
                f" into a file of its own, for example `jq .with_offload {path}`"
            )
        if data.get("schema") != SCHEMA:
            check_type("schema", data.get("schema"), str)
            raise UnreadableError(f"it has the schema '{data['schema']}'; allowed is '{SCHEMA}'")
        return Record.from_json(data)
    except UnreadableError as error:
        raise WeftError(
            f"record: {path} is no record of a run: {error}; give a file that"
            " `weft run --json` has written"
        ) from None


def write_record(record: Record, target: Path, option: str = named("json")) -> None:
    """Write a record, whole or not at all."""
    with whole_file(option, target) as file:
        json.dump(record.to_json(), file, indent=1)
        file.write("\n")
