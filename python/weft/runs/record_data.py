# SPDX-License-Identifier: LGPL-2.1-only
"""Data of a run's record: the schema weft-run/1, as written by libweft.so and `weft run`.

The classes below are the schema (`weft.base.models`). Views are in `weft.runs.tables` (text),
`weft.runs.html` (notebooks) and `weft.runs.frames` (data frames); `weft.runs.record` combines data
and views.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
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
"""Lists of a record that can become data frames."""


def with_changes(fabric: str, changes: Sequence[str]) -> str:
    """Return the name of a fabric together with the keys that differ from its file."""
    return f"{fabric} ({', '.join(changes)})" if changes else fabric


class FabricPart(Model, kw_only=True):
    """Fabric that the program ran on."""

    name: str
    file: str
    topology: str
    hosts: Whole
    switches: Whole
    links: Whole
    changes: list[str] | UnsetType = UNSET
    """Changes to the file, each `TABLE.KEY=VALUE`."""
    unmeasured: list[str] | UnsetType = UNSET
    """Keys of [host] whose values are guesses or taken from another device."""

    @property
    def label(self) -> str:
        """Name with the changes to the file."""
        return with_changes(self.name, self.changes or ())


class OutcomePart(Model, kw_only=True):
    """Outcome of the run.

    `completed`, `exit` (nonzero status), `early-exit` (nonzero status before MPI_Finalize),
    `signal`, `abort` (MPI_Abort), `error` (an MPI call failed), `unsupported` (SimGrid's MPI lacks
    the call), `deadlock`, `mismatch` (ranks called different collectives), `refused` (the selected
    algorithm cannot execute a call), `network-failure` (a link required by a call or message is
    down), `memory` (the machine cannot provide the shared memory requested by ranks),
    `stack-overflow` (a rank exceeded its stack), `blocked` (a rank waited outside MPI), `timeout`,
    `memory-limit`, `job-failed` (one of several jobs did not succeed) or `unfinished`.
    """

    kind: str
    message: str = ""
    signal: str | UnsetType = UNSET
    """Name of the signal, if the program crashed."""
    rank: Whole | UnsetType = UNSET
    """Rank that crashed, if one did."""


class CollectivePart(Model, kw_only=True):
    """Calls of one collective with one communicator size that took one way for one reason."""

    collective: str
    communicator_size: Whole
    datatype: str
    op: str
    path: str
    reason: str
    algorithm: str
    calls: Whole
    bytes: Number
    """Sum over all calls, mean over the ranks; fractional if ranks contribute different sizes."""
    total_time_s: Number | None
    """None for SMPI's own non-blocking calls: only the program sees when they complete."""
    max_time_s: Number | None

    @property
    def offloaded(self) -> bool:
        """True if the switches executed it."""
        return self.path != "fallback"

    @property
    def way(self) -> str:
        """Executor: an offload mode, or an algorithm of the hosts."""
        return self.path if self.offloaded else self.algorithm or "host"

    @property
    def by_smpi(self) -> bool:
        """True if left to SMPI's algorithms."""
        return self.algorithm.startswith("smpi:")

    @property
    def why(self) -> str:
        """Short reason why the call was or was not offloaded."""
        return "offloaded" if self.offloaded else self.reason

    @property
    def mean_time_s(self) -> float | None:
        """Time of one rank in one call."""
        if self.total_time_s is None:
            return None
        return self.total_time_s / max(1, self.calls * self.communicator_size)


class ProfilePart(Model, kw_only=True):
    """Time of all ranks in calls of one kind, outside MPI, or after they ended."""

    kind: str
    calls: Whole
    least_s: Number
    mean_s: Number
    most_s: Number
    ranks_s: list[Number] = field(default_factory=list)


class MpiCallPart(Model, kw_only=True):
    """Calls of one MPI function by all ranks."""

    call: str
    kind: str
    calls: Whole
    total_time_s: Number
    max_time_s: Number


class SwitchPart(Model, kw_only=True):
    """Activity of one switch."""

    name: str
    preset: str = ""
    offloaded: Whole
    packets_reduced: Whole | UnsetType = UNSET
    """Computed results, one per packet of each message; absent in early records."""
    packets_passed_on: Whole | UnsetType = UNSET
    """Packets that found no free slot; absent in earlier records."""
    bytes_reduced: Number
    bytes_multicast: Number
    slots_used_max: Whole
    channels_used_max: Whole
    cache_hits: Whole | None = None
    cache_misses: Whole | None = None
    cache_packets: Whole | None = None
    cache_packet_hits: Whole | None = None


class LinkPart(Model, kw_only=True):
    """Traffic in one direction of a cable; there is none of links that nothing crossed."""

    name: str
    bandwidth_Bps: Number  # noqa: N815 (the file's name for it)
    bytes: Number
    multicast_bytes: Number = 0
    utilisation: Number


class MulticastRankPart(Model, kw_only=True):
    """Multicast statistics of one rank."""

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
    """One rank's call by the multicast protocol, with consecutive phases."""

    communicator: Whole
    collective: str
    start_s: Number


class MulticastPart(Model, kw_only=True):
    """Calls of one collective by the multicast protocol."""

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
    """One collective in a switch; `start_s` is the arrival of the last contribution."""

    switch: str
    communicator: Whole
    collective: str
    ranks: Whole
    bytes: Number
    start_s: Number
    end_s: Number


class SlicePart(Model, kw_only=True):
    """One MPI call by one rank."""

    rank: Whole
    call: str
    start_s: Number
    end_s: Number


class HostCallPart(Model, kw_only=True):
    """One rank's call that the hosts executed with a weft algorithm."""

    rank: Whole
    collective: str
    algorithm: str
    segment_bytes: Number
    """Segment size of messages; 0 if they are not segmented."""
    messages: Whole
    """Number of messages sent by the rank."""
    rounds: Whole
    """Number of times that the rank waited for messages."""
    start_s: Number
    end_s: Number


class FilePart(Model, kw_only=True):
    """A file that the program opened with MPI."""

    name: str
    opens: Whole
    reads: Whole
    writes: Whole
    bytes_read: Number
    bytes_written: Number
    time_s: Number
    """Time of accesses, summed over ranks."""


class StoragePart(Model, kw_only=True):
    """Traffic of a storage target, or of the disk of a host."""

    target: Whole | None
    """Number of the target; None for a disk."""
    host: str
    requests: Whole
    bytes_read: Number
    bytes_written: Number


class RendezvousPart(Model, kw_only=True):
    """Rendezvous messages that waited for ranks to enter MPI."""

    scheme: str
    """Sides that answered: the receiver (`get`), or the receiver and then the sender (`put`)."""
    delayed: Whole
    """Messages that started late."""
    delay_s: Number
    """Sum of their delays."""


class NoisePart(Model, kw_only=True):
    """Noise of a run: the seed of its random numbers."""

    seed: Whole


class ResolutionPart(Model, kw_only=True):
    """Changes of flows that the network merged into one event, and messages that queued."""

    asked: str
    """`automatic`, or a time, as in the fabric file."""
    longest_s: Number
    """Longest time between two updates of rates."""
    merged_updates: Whole
    """Updates that covered changes at several times."""
    most_flows: Whole
    """Most flows that shared links in such an update."""
    queued: Whole = 0
    """Short messages that queued at links."""


class PacketsPart(Model, kw_only=True):
    """Work of a network of packets."""

    packet_bytes: Number
    """Largest packet."""
    switching: str
    """`cut-through` or `store-and-forward`; this and the next two as in the fabric file."""
    flow_control: str
    congestion_control: str
    messages: Whole
    """Messages between hosts."""
    packets: Whole
    """Packets of data, with those sent again."""
    hops: Whole
    """Links that packets of any kind crossed."""
    dropped: Whole
    """Packets that found a full queue."""
    lost: Whole = 0
    """Packets of any kind that faults have lost."""
    sent_again: Whole
    timeouts: Whole
    """Times that a sender went back since nothing was acknowledged."""
    marked: Whole
    """Packets marked with congestion (ECN)."""
    notifications: Whole
    """Notifications of congestion to senders (CNP)."""
    pauses: Whole
    """Times that a link was paused."""
    paused_s: Number
    """Sum of the times for which links were paused."""
    most_queued_bytes: Number
    """Bytes in the fullest output queue of a switch."""
    most_packets: Whole
    """Most packets in flight at a time."""


class FlowCheckRowPart(Model, kw_only=True):
    """Calls of one collective, or of one MPI function that is not a collective, in both runs."""

    call: str
    """Collective or MPI function."""
    communicator_size: Whole = 0
    """0 for functions; so are the next two empty."""
    datatype: str = ""
    op: str = ""
    calls: Whole
    bytes_per_call: Number | None = None
    """What one rank contributes; null for functions."""
    flows_s: Number
    """Time of one rank in one call in this run, whose messages are flows."""
    packets_s: Number
    """The same if messages are packets."""
    difference: Number | None = None
    """Additional time on packets, as a fraction; null if flows take no time."""
    differs: bool = False
    """True if the difference is more than the tolerance."""


class FlowCheckPart(Model, kw_only=True):
    """The run compared with one whose messages are packets."""

    tolerance: Number
    """Difference above which calls differ."""
    flows_s: Number
    """Simulated time of this run."""
    packets_s: Number
    """Simulated time on packets."""
    not_compared: Whole
    """Collectives that switches executed, which packets do not model."""
    calls: list[FlowCheckRowPart]
    """By what they add to the difference of the run, most first."""


class StacksPart(Model, kw_only=True):
    """Stacks of ranks and their helpers, if weft allocated them."""

    bytes: Whole
    """Size of each stack."""
    number: Whole
    unguarded: Whole
    """Number of stacks without guard pages because Linux's limit of mappings was reached."""


class DurationPart(Model, kw_only=True):
    """Durations of a job's calls of one collective, however they were carried out.

    Each is the time of one rank in one call.
    """

    collective: str
    communicator_size: Whole
    datatype: str
    op: str
    calls: Whole
    mean_s: Number
    p50_s: Number
    p95_s: Number
    p99_s: Number
    max_s: Number

    @property
    def of(self) -> tuple[str, int, str, str]:
        """Fields that distinguish the entry from the others of its job."""
        return self.collective, self.communicator_size, self.datatype, self.op


@dataclass(frozen=True)
class CallSlowdown:
    """Durations of calls among other jobs, divided by those of the same calls alone."""

    together: DurationPart
    alone: DurationPart
    mean: float
    p50: float
    p95: float
    p99: float
    max: float


class JobLinkPart(Model, kw_only=True):
    """Link that a job used."""

    name: str
    bytes: Number
    """Bytes of the job."""
    share: Number
    """Part of all bytes on the link that are the job's."""


class JobSwitchPart(Model, kw_only=True):
    """Switch that a job used."""

    name: str
    bytes: Number
    """Bytes of the job that entered the switch."""
    share: Number
    offloaded: Whole
    """Offloaded calls of the job that the switch took part in."""
    bytes_reduced: Number
    bytes_multicast: Number


class TrafficPart(Model, kw_only=True):
    """Background traffic of one table of a traffic file."""

    name: str
    pattern: str
    hosts: Whole
    """Hosts that send."""
    rate_per_host_Bps: Number | None = None  # noqa: N815 (unit)
    """Mean rate that each host offers; absent for a GOAL schedule."""
    messages: Whole
    """Messages that have arrived."""
    bytes: Number
    mean_s: Number
    """Mean time of a message, from its start to its arrival."""
    waiting_messages: Whole | None = None
    """Messages that still waited at their hosts at the end; absent for a GOAL schedule."""
    rounds: Whole | None = None
    """Times that the schedule has ended; GOAL only."""
    given_up_messages: Whole | UnsetType = UNSET
    """Messages that were given up after a fault, if any were."""
    outcome: str | UnsetType = UNSET
    """`network-failure` if a schedule has ended because one of its messages was given up."""
    message: str | UnsetType = UNSET
    """Why, for people."""


class FaultEventPart(Model, kw_only=True):
    """A fault or a repair that has happened."""

    at_s: Number
    what: str
    hidden: bool | UnsetType = UNSET
    """True if all links or switches that it is of stay down through other faults, else absent."""


class HitCallPart(Model, kw_only=True):
    """A collective in the network that a fault has hit."""

    hit_s: Number
    went_on_s: Number
    """Time at which it continued, or failed."""
    collective: str
    communicator: Whole
    what: Literal["resent", "rebuilt", "on hosts", "failed"]


class RecoveryPart(Model, kw_only=True):
    """Reactions to faults that were in force."""

    transport: str
    """Preset of the senders' timeouts and retries; `own` if the file overrides one of them."""
    timeout_s: Number
    """First timeout of a sender."""
    backoff: Number
    """Factor of each further timeout."""
    retries: Whole
    """Times that a sender tries again before it gives up."""
    packet_bytes: Whole
    """Payload of a packet, for losses."""
    routing: str
    """Preset of detection and convergence; `own` if the file overrides one, empty by default."""
    collectives: str
    """Reaction of a collective in the network that is hit."""


class BudgetPart(Model, kw_only=True):
    """Cost of failures: the run with faults compared with the same run without."""

    without_s: Number
    """Simulated time without faults."""
    lost_s: Number
    """Simulated time with faults less that without."""
    per_failure_s: Number | UnsetType = UNSET
    """Mean time that a failure costs; absent if none happened."""
    per_day_s: Number | UnsetType = UNSET
    """Time lost in a day: failures per day times the cost of one; absent if one is unknown."""
    fraction: Number | UnsetType = UNSET
    """Fraction of the time that is lost."""


class FaultsPart(Model, kw_only=True):
    """Faults of a run, and the reactions to them."""

    file: str = ""
    """Fault file."""
    changes: list[str] = field(default_factory=list)
    """Keys of the file that have other values, TABLE.KEY=VALUE each."""
    detection_s: Number = 0
    """Time from a fault or a repair until it is noticed."""
    convergence_s: Number = 0
    """Time from then until routing has converged."""
    recovery: RecoveryPart | UnsetType = UNSET
    """Absent from records of older versions."""
    failures: Whole = 0
    """Faults that have begun; repairs do not count."""
    failures_per_day: Number | UnsetType = UNSET
    """Failures per day at the real rates, without `scale`; absent if the file does not say."""
    budget: BudgetPart | UnsetType = UNSET
    """Present with `--budget`."""
    events: list[FaultEventPart]
    left_events: Whole
    """Events of the file after the end of the run."""
    cut: Whole
    """Times that a fault has cut a message."""
    lost: Whole
    """Times that a link has lost the last packet of a message."""
    resumed: Whole
    """Times that a sender has sent the rest of a message again."""
    given_up: Whole
    """Messages that their senders have given up."""
    waited_s: Number
    """Time from cuts and losses until the rest was sent again, over all of them."""
    longest_waiting_s: Number
    broken_calls: Whole
    """Times that a collective in the network was hit."""
    resent_calls: Whole
    """Times that one continued over the same tree."""
    rebuilt_calls: Whole
    """Times that one was repeated over a new tree."""
    calls_on_hosts: Whole
    """Times that the hosts repeated one."""
    lost_in_calls_s: Number
    """Time from hits until calls continued, with the time of what they repeated."""
    cut_branches: Whole = 0
    """Flows of multicasts that faults have cut, which nobody sends again."""
    lost_chunks: Whole = 0
    """Chunks of multicasts that faults have kept from a rank, over all ranks."""
    calls: list[HitCallPart] = field(default_factory=list)
    """The first 10,000 hits."""


class TimePart(Model, kw_only=True):
    """Use of time by the ranks of an iteration."""

    name: str
    """`computation`, `exposed KIND`, `waiting KIND` or `idle`."""
    mean_s: Number
    """Mean of the ranks."""
    most_s: Number


class JobTrainingPart(Model, kw_only=True):
    """Iteration of training that was a job."""

    layout: str = ""
    """Division of the work among the ranks, in words; empty for traces."""
    library: str = ""
    """Version of NCCL."""
    time_s: Number
    """From its start until its last rank has ended, or until it could not go on."""
    parts: list[TimePart]
    calls: Whole
    """Collectives, all of which are executed."""
    algorithms: dict[str, Whole]
    """Collectives by NCCL's algorithm and protocol."""


class _JobResult(Model, kw_only=True):
    """Results of a job, among others or alone."""

    start_s: Number
    end_s: Number | None
    """Time at which its last rank ended, or it failed; None if it has not started."""
    outcome: OutcomePart
    """As that of the run; also `not-started`."""
    exit_status: Whole
    collectives: list[CollectivePart] = field(default_factory=list)
    durations: list[DurationPart] = field(default_factory=list)
    messages: Whole = 0
    """Messages between ranks, also of algorithms of the hosts."""
    message_bytes: Number = 0
    switches: list[JobSwitchPart] = field(default_factory=list)
    training: JobTrainingPart | UnsetType = UNSET
    """Present if it was an iteration of training that has ended or failed."""

    @property
    def failed(self) -> bool:
        """True if the job did not succeed."""
        return self.outcome.kind != "completed"

    @property
    def time_s(self) -> float | None:
        """Time from its start to its end; None if it did not succeed."""
        return None if self.failed or self.end_s is None else self.end_s - self.start_s

    @property
    def offloaded_calls(self) -> int:
        """Collective calls that the switches executed."""
        return sum(row.calls for row in self.collectives if row.offloaded)

    @property
    def fallback_calls(self) -> int:
        """Collective calls that were to be offloaded, but that the hosts executed."""
        return sum(
            row.calls for row in self.collectives if not row.offloaded and row.reason != "policy"
        )


class AlonePart(_JobResult, kw_only=True):
    """A job in another run on the same hosts: alone, or without offloading."""


class SchedulePart(Model, kw_only=True):
    """Schedule in GOAL that was the workload."""

    operations: Whole
    end_s: Number
    """Time at which the last rank ended."""
    rank_ends_s: list[Number]
    """Likewise of each rank."""


class SpawnedProgramPart(Model, kw_only=True):
    """Ranks of one program of a spawned world."""

    program: str
    arguments: list[str] = field(default_factory=list)
    ranks: Whole


class SpawnedPart(Model, kw_only=True):
    """World that ranks spawned."""

    job: str = ""
    """Job of the ranks that spawned it; empty in runs of one program."""
    ranks: Whole
    programs: list[SpawnedProgramPart]
    hosts: list[str]
    """Hosts in the order of the ranks."""
    spawned_s: Number
    """Time at which its ranks were asked for."""
    start_s: Number | None
    """Time at which its ranks began; None if the run ended before."""
    end_s: Number | None
    """Time at which its last rank ended; None if not all have."""


class JobPart(_JobResult, kw_only=True):
    """One job of a run of several."""

    name: str
    program: str = ""
    arguments: list[str] = field(default_factory=list)
    replayed: str = ""
    """Trace that the job replayed."""
    ranks: Whole
    ppn: Whole = 1
    hosts_used: Whole
    hosts: list[str] = field(default_factory=list)
    """Hosts in the order of the ranks."""
    offload: str = ""
    fallback: str = ""
    profile: list[ProfilePart] = field(default_factory=list)
    links: list[JobLinkPart] = field(default_factory=list)
    alone: AlonePart | UnsetType = UNSET
    """Present if each job also ran alone."""
    without_offload: AlonePart | UnsetType = UNSET
    """Present if all jobs also ran together without offloading."""
    schedule: SchedulePart | UnsetType = UNSET
    """Present if the job was a schedule in GOAL that ended."""

    @property
    def speed_up(self) -> float | None:
        """Time without offloading divided by the time with it; None if unknown."""
        if not self.without_offload or not self.without_offload.time_s or not self.time_s:
            return None
        return self.without_offload.time_s / self.time_s

    @property
    def shared_links(self) -> list[JobLinkPart]:
        """Links that other traffic crossed too."""
        return [link for link in self.links if link.share < 1]

    @property
    def slowdown(self) -> float | None:
        """Its time among the others divided by its time alone; None if one of them is unknown."""
        together, alone = self.time_s, self.alone.time_s if self.alone else None
        return together / alone if together is not None and alone else None

    def slowdowns(self) -> list[CallSlowdown]:
        """Return the slowdown of the calls of each collective that it also made alone."""
        there = {row.of: row for row in self.alone.durations} if self.alone else {}
        return [
            _slowdown(row, there[row.of])
            for row in self.durations
            if row.of in there and there[row.of].max_s > 0
        ]


def _slowdown(together: DurationPart, alone: DurationPart) -> CallSlowdown:
    def ratio(one: float, other: float) -> float:
        return one / other if other > 0 else 1.0 if one == 0 else math.inf

    return CallSlowdown(
        together,
        alone,
        mean=ratio(together.mean_s, alone.mean_s),
        p50=ratio(together.p50_s, alone.p50_s),
        p95=ratio(together.p95_s, alone.p95_s),
        p99=ratio(together.p99_s, alone.p99_s),
        max=ratio(together.max_s, alone.max_s),
    )


class RecordData(Model, kw_only=True):
    """Fields of a record, and derived properties (`weft.runs.record.Record`)."""

    schema: Literal["weft-run/1"] = SCHEMA
    weft: str
    simgrid: str
    fabric: FabricPart
    ranks: Whole
    hosts_used: Whole
    offload: str
    progress: str = "thread"
    """Progress of rendezvous messages and of non-blocking calls on hosts: in a `thread`, or only
    inside MPI `calls`."""
    poll_overhead_s: Number | None = None
    """Cost of an unsuccessful poll; None if smpi/test or smpi/iprobe sets it."""
    messages: str = "smpi"
    """Transport of point-to-point messages: `weft`, or `smpi` for SimGrid's MPI."""
    messages_reason: str = ""
    """Why the run could not use the requested transport."""
    host_stages: bool = False
    """True if ranks of a host combined their contributions to an offloaded call."""
    tunings_off: list[str] = field(default_factory=list)
    """Tunings that were switched off, or do not know the SimGrid that ran."""
    outcome: OutcomePart
    simulated_time_s: Number
    profile: list[ProfilePart] = field(default_factory=list)
    mpi_calls: list[MpiCallPart] = field(default_factory=list)
    collectives: list[CollectivePart] = field(default_factory=list)
    multicast: list[MulticastPart] = field(default_factory=list)
    files: list[FilePart] | UnsetType = UNSET
    """Present if the program opened files with MPI on a fabric; likewise `storage`."""
    storage: list[StoragePart] | UnsetType = UNSET
    switches: list[SwitchPart] = field(default_factory=list)
    links: list[LinkPart] = field(default_factory=list)
    events: list[EventPart] = field(default_factory=list)
    slices: list[SlicePart] = field(default_factory=list)
    host_calls: list[HostCallPart] = field(default_factory=list)
    multicast_calls: list[MulticastCallPart] = field(default_factory=list)
    rendezvous: RendezvousPart | UnsetType = UNSET
    """Present if rendezvous messages waited for ranks to enter MPI."""
    noise: NoisePart | UnsetType = UNSET
    """Present if the fabric has a [noise] table."""
    resolution: ResolutionPart | UnsetType = UNSET
    """Present if the network's resolution took effect."""
    packets: PacketsPart | UnsetType = UNSET
    """Present if messages were packets."""
    flow_check: FlowCheckPart | UnsetType = UNSET
    """Present with `--check-flows`."""
    stacks: StacksPart | UnsetType = UNSET
    """Absent if SimGrid allocated the stacks, or the run ended before there were any."""
    faults: FaultsPart | UnsetType = UNSET
    """Present if the run had faults."""
    traffic: list[TrafficPart] | UnsetType = UNSET
    """Present if the run had background traffic."""
    schedule: SchedulePart | UnsetType = UNSET
    """Present if the run was a schedule in GOAL that ended."""
    jobs: list[JobPart] | UnsetType = UNSET
    """Present if the run was one of a jobs file."""
    spawned: list[SpawnedPart] | UnsetType = UNSET
    """Present if ranks spawned worlds."""
    program: str = ""
    arguments: list[str] = field(default_factory=list)
    command: list[str] = field(default_factory=list)
    replayed: str = ""
    ppn: Whole = 1
    contention: bool = True
    """True if messages shared links."""
    fallback: str = ""
    config: list[str] = field(default_factory=list)
    host_speed: str = ""
    exit_status: Whole = 0
    wall_time_s: Number = 0.0
    cpu_time_s: Number = 0.0
    peak_memory_bytes: Whole = 0

    @property
    def unwritten(self) -> str:
        """Error about a file of the run that could not be written; not part of the record."""
        return str(self.__dict__.get("_unwritten", ""))

    @unwritten.setter
    def unwritten(self, message: str) -> None:
        self.__dict__["_unwritten"] = message

    @property
    def output(self) -> str:
        """Output of the program, if kept by `weft.run`; not part of the file."""
        return str(self.__dict__.get("_output", ""))

    @output.setter
    def output(self, text: str) -> None:
        self.__dict__["_output"] = text

    @property
    def ended(self) -> bool:
        """True if the program came to its end, with any exit status."""
        return self.outcome.kind in ("completed", "exit")

    @property
    def failed(self) -> bool:
        """True if the program did not succeed."""
        return self.outcome.kind != "completed"
