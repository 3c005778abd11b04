# SPDX-License-Identifier: LGPL-2.1-only
"""Data of a run's record: the schema weft-run/1, as libweft.so and `weft run` write it.

The classes below are the schema (`weft.base.models`). Views are made of them: `weft.runs.report`
(text), `weft.runs.html` (notebooks) and `weft.runs.frames` (data frames); `weft.runs.record` joins
data and views.
"""

from collections.abc import Sequence
from typing import Literal

from msgspec import UNSET, UnsetType, field

from weft.base.models import Model, Number, Whole

SCHEMA: Literal["weft-run/1"] = "weft-run/1"
COMPARISON_SCHEMA: Literal["weft-compare/1"] = "weft-compare/1"

Part = Literal[
    "collectives",
    "mpi_calls",
    "profile",
    "links",
    "switches",
    "multicast",
    "events",
    "slices",
    "host_calls",
]
"""The lists of a record, of which each can be a data frame."""


def with_changes(fabric: str, changes: Sequence[str]) -> str:
    """Return how a fabric is called of whose keys some have other values than in its file."""
    return f"{fabric} ({', '.join(changes)})" if changes else fabric


class FabricPart(Model, kw_only=True):
    """The fabric that the program ran on."""

    name: str
    file: str
    topology: str
    hosts: Whole
    switches: Whole
    links: Whole
    changes: list[str] | UnsetType = UNSET
    """What differed from the file: `TABLE.KEY=VALUE` each."""
    unmeasured: list[str] | UnsetType = UNSET
    """Keys of [host] whose values are another device's, or guesses."""

    @property
    def label(self) -> str:
        """Its name, with what differed from its file."""
        return with_changes(self.name, self.changes or ())


class OutcomePart(Model, kw_only=True):
    """How the run ended.

    `completed`, `exit` (with a status other than 0), `early-exit` (the same, before MPI_Finalize),
    `signal`, `abort` (MPI_Abort), `error` (an MPI call failed), `unsupported` (SimGrid's MPI lacks
    the call), `deadlock`, `mismatch` (ranks called different collectives), `refused` (the
    algorithm that was chosen cannot do a call), `network-failure` (a link is off that a call or
    message needs), `memory` (this machine does not give the shared memory that ranks ask for),
    `stack-overflow` (a rank needs more stack than it has), `timeout`, `memory-limit` or
    `unfinished`.
    """

    kind: str
    message: str = ""
    signal: str | UnsetType = UNSET
    """Its name, where the program crashed."""
    rank: Whole | UnsetType = UNSET
    """The rank that crashed, where one did."""


class CollectivePart(Model, kw_only=True):
    """Calls of one collective, for communicators of one size, that went one way for one reason."""

    collective: str
    communicator_size: Whole
    datatype: str
    op: str
    path: str
    reason: str
    algorithm: str
    calls: Whole
    bytes: Number
    """Of all calls, mean of the ranks; with uneven parts it is no whole number."""
    total_time_s: Number | None
    """None for SMPI's own non-blocking calls: only the program sees when they complete."""
    max_time_s: Number | None

    @property
    def offloaded(self) -> bool:
        """Whether the switches did it."""
        return self.path != "fallback"

    @property
    def way(self) -> str:
        """What did it: a way to offload, or an algorithm of the hosts."""
        return self.path if self.offloaded else self.algorithm or "host"

    @property
    def by_smpi(self) -> bool:
        """Whether it was left to SMPI's algorithms."""
        return self.algorithm.startswith("smpi:")

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


class ProfilePart(Model, kw_only=True):
    """The time of all ranks in calls of one kind, or outside MPI, or after they ended."""

    kind: str
    calls: Whole
    least_s: Number
    mean_s: Number
    most_s: Number
    ranks_s: list[Number] = field(default_factory=list)


class MpiCallPart(Model, kw_only=True):
    """The calls of one function of MPI by all ranks."""

    call: str
    kind: str
    calls: Whole
    total_time_s: Number
    max_time_s: Number


class SwitchPart(Model, kw_only=True):
    """What one switch did."""

    name: str
    preset: str = ""
    offloaded: Whole
    packets_reduced: Whole | UnsetType = UNSET
    """Results that it computed, one a packet of each message; not in early records."""
    bytes_reduced: Number
    bytes_multicast: Number
    slots_used_max: Whole
    channels_used_max: Whole
    cache_hits: Whole | None = None
    cache_misses: Whole | None = None
    cache_packets: Whole | None = None
    cache_packet_hits: Whole | None = None


class LinkPart(Model, kw_only=True):
    """What one direction of a cable carried."""

    name: str
    bandwidth_Bps: Number  # noqa: N815 (the file's name for it)
    bytes: Number
    multicast_bytes: Number = 0
    utilisation: Number


class MulticastRankPart(Model, kw_only=True):
    """What one rank has seen of multicast calls."""

    rank: Whole
    drops: Whole
    staging_drops: Whole
    port_drops: Whole
    fetch_requests: Whole
    fetched_chunks: Whole
    duplicates: Whole
    timer_expiries: Whole
    barrier_s: Number
    multicast_s: Number
    recovery_s: Number
    handshake_s: Number


class MulticastCallPart(MulticastRankPart, kw_only=True):
    """One rank's call by the multicast protocol, whose phases follow one another."""

    communicator: Whole
    collective: str
    start_s: Number


class MulticastPart(Model, kw_only=True):
    """The calls of one collective by the multicast protocol."""

    collective: str
    communicator_size: Whole
    calls: Whole
    multicasts: Whole
    chunks: Whole
    payload_bytes: Number
    header_bytes: Number
    drops: Whole
    staging_drops: Whole = 0
    port_drops: Whole = 0
    fetch_requests: Whole
    fetched_chunks: Whole
    fetched_bytes: Number
    duplicates: Whole
    timer_expiries: Whole
    barrier_s: Number
    multicast_s: Number
    recovery_s: Number
    handshake_s: Number
    by_rank: list[MulticastRankPart] = field(default_factory=list)


class EventPart(Model, kw_only=True):
    """One collective in a switch; `start_s` is when the last contribution arrived."""

    switch: str
    communicator: Whole
    collective: str
    ranks: Whole
    bytes: Number
    start_s: Number
    end_s: Number


class SlicePart(Model, kw_only=True):
    """One call of MPI by one rank."""

    rank: Whole
    call: str
    start_s: Number
    end_s: Number


class HostCallPart(Model, kw_only=True):
    """One rank's call that the hosts carried out by one of weft's algorithms."""

    rank: Whole
    collective: str
    algorithm: str
    segment_bytes: Number
    """Messages are cut into pieces of so many; 0: they are not."""
    messages: Whole
    """That the rank sent."""
    rounds: Whole
    """How often it waited for messages to come."""
    start_s: Number
    end_s: Number


class NoisePart(Model, kw_only=True):
    """What was drawn in a run on a fabric that varies."""

    seed: Whole


class StacksPart(Model, kw_only=True):
    """The stacks of the ranks and of what works beside them, where weft has made them."""

    bytes: Whole
    """Of each."""
    number: Whole
    unguarded: Whole
    """Those without guard pages, as Linux had mappings for no more."""


class RecordData(Model, kw_only=True):
    """Fields of a record, and what follows from them (`weft.runs.record.Record`)."""

    schema: Literal["weft-run/1"] = SCHEMA
    weft: str
    simgrid: str
    fabric: FabricPart
    ranks: Whole
    hosts_used: Whole
    offload: str
    progress: str = "thread"
    """Where calls that do not block go on, on the hosts: beside the program, or in its `calls`."""
    poll_overhead_s: Number | None = None
    """Cost of a poll that finds nothing; None where smpi/test or smpi/iprobe sets it."""
    host_stages: bool = False
    """Whether ranks of a host combined what they gave to an offloaded call."""
    outcome: OutcomePart
    simulated_time_s: Number
    profile: list[ProfilePart] = field(default_factory=list)
    mpi_calls: list[MpiCallPart] = field(default_factory=list)
    collectives: list[CollectivePart] = field(default_factory=list)
    multicast: list[MulticastPart] = field(default_factory=list)
    switches: list[SwitchPart] = field(default_factory=list)
    links: list[LinkPart] = field(default_factory=list)
    events: list[EventPart] = field(default_factory=list)
    slices: list[SlicePart] = field(default_factory=list)
    host_calls: list[HostCallPart] = field(default_factory=list)
    multicast_calls: list[MulticastCallPart] = field(default_factory=list)
    noise: NoisePart | UnsetType = UNSET
    """There where the fabric has a [noise] table."""
    stacks: StacksPart | UnsetType = UNSET
    """Absent where SimGrid has made them, and where the run ended before there were any."""
    program: str = ""
    arguments: list[str] = field(default_factory=list)
    command: list[str] = field(default_factory=list)
    replayed: str = ""
    ppn: Whole = 1
    contention: bool = True
    """Whether messages shared links."""
    fallback: str = ""
    config: list[str] = field(default_factory=list)
    host_speed: str = ""
    exit_status: Whole = 0
    wall_time_s: Number = 0.0
    cpu_time_s: Number = 0.0
    peak_memory_bytes: Whole = 0

    @property
    def unwritten(self) -> str:
        """Why a file that goes with the run could not be written; no part of the record."""
        return str(self.__dict__.get("_unwritten", ""))

    @unwritten.setter
    def unwritten(self, message: str) -> None:
        self.__dict__["_unwritten"] = message

    @property
    def output(self) -> str:
        """What the program printed, where `weft.run` has kept it; no part of the file."""
        return str(self.__dict__.get("_output", ""))

    @output.setter
    def output(self, text: str) -> None:
        self.__dict__["_output"] = text

    @property
    def ended(self) -> bool:
        """Whether the program came to its end, with whatever exit status."""
        return self.outcome.kind in ("completed", "exit")

    @property
    def failed(self) -> bool:
        """Whether the program did not end well."""
        return self.outcome.kind != "completed"
