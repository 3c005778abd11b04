# SPDX-License-Identifier: LGPL-2.1-only
"""Data of a run's record: the schema weft-run/1, as written by libweft.so and `weft run`.

The classes below are the schema (`weft.base.models`). Views are in `weft.runs.tables` (text),
`weft.runs.html` (notebooks) and `weft.runs.frames` (data frames); `weft.runs.record` combines data
and views.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from msgspec import UNSET, UnsetType, field

from weft.base.models import Model, Number, Whole
from weft.benchmarks.certainty import Certainty
from weft.runs.faults.retries import retry_span_s

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
    "jobs",
    "slowdowns",
]
"""Lists of a record that can become data frames."""


ENDED_BY_FAULT = ("network-failure", "host-failure")
"""Outcomes of runs that a fault may have ended."""


def with_changes(fabric: str, changes: Sequence[str]) -> str:
    """Return the name of a fabric together with the keys changed from its file."""
    return f"{fabric} ({', '.join(changes)})" if changes else fabric


class FabricPart(Model, kw_only=True):
    """Fabric on which the program ran."""

    name: str
    file: str
    topology: str
    hosts: Whole
    switches: Whole
    links: Whole
    changes: list[str] | UnsetType = UNSET
    """Changes to the file, each as `TABLE.KEY=VALUE`."""
    unmeasured: list[str] | UnsetType = UNSET
    """Keys of [host] whose values are guesses or come from another device."""
    impossible: list[str] | UnsetType = UNSET
    """Combinations of devices that no network has."""

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
    """Calls of one collective with the same communicator size, executor and reason."""

    collective: str
    communicator_size: Whole
    datatype: str
    op: str
    path: str
    reason: str
    algorithm: str
    calls: Whole
    bytes: Number
    """Total over all calls, averaged over the ranks; fractional if ranks contribute different
    sizes.
    """
    total_time_s: Number | None
    """None for SMPI's own non-blocking calls: only the program knows when they complete."""
    total_wait_s: Number | None = None
    """Part of `total_time_s` before the last rank of each call entered it.

    None if `total_time_s` is, and in earlier records.
    """
    max_time_s: Number | None

    @property
    def offloaded(self) -> bool:
        """True if the switches executed the calls."""
        return self.path != "fallback"

    @property
    def way(self) -> str:
        """Executor: an offload mode, or an algorithm of the hosts."""
        return self.path if self.offloaded else self.algorithm or "host"

    @property
    def by_smpi(self) -> bool:
        """True if the calls were left to SMPI's algorithms."""
        return self.algorithm.startswith("smpi:")

    @property
    def why(self) -> str:
        """Short reason why the calls were or were not offloaded."""
        return "offloaded" if self.offloaded else self.reason

    @property
    def mean_time_s(self) -> float | None:
        """Mean time of one rank in one call."""
        return self._mean_s(self.total_time_s)

    @property
    def mean_wait_s(self) -> float | None:
        """Mean time that one rank spent in one call before the last rank entered it."""
        return self._mean_s(self.total_wait_s)

    def _mean_s(self, total_s: float | None) -> float | None:
        return None if total_s is None else total_s / max(1, self.calls * self.communicator_size)


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
    """Results computed, one per packet of each message; absent in early records."""
    packets_passed_on: Whole | UnsetType = UNSET
    """Packets that did not find a free slot; absent in earlier records."""
    bytes_reduced: Number
    bytes_multicast: Number
    slots_used_max: Whole
    channels_used_max: Whole
    cache_hits: Whole | None = None
    cache_misses: Whole | None = None
    cache_packets: Whole | None = None
    cache_packet_hits: Whole | None = None


class LinkPart(Model, kw_only=True):
    """Traffic in one direction of a cable; links without traffic are not listed."""

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
    """One rank's call executed by the multicast protocol, with consecutive phases."""

    communicator: Whole
    collective: str
    start_s: Number


class MulticastPart(Model, kw_only=True):
    """Calls of one collective executed by the multicast protocol."""

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
    """One rank's call executed by the hosts with a weft algorithm."""

    rank: Whole
    collective: str
    algorithm: str
    segment_bytes: Number
    """Segment size of messages; 0 if messages are not segmented."""
    messages: Whole
    """Number of messages sent by the rank."""
    rounds: Whole
    """Number of times the rank waited for messages."""
    start_s: Number
    end_s: Number


class FilePart(Model, kw_only=True):
    """File that the program opened with MPI I/O."""

    name: str
    opens: Whole
    reads: Whole
    writes: Whole
    bytes_read: Number
    bytes_written: Number
    time_s: Number
    """Time of all accesses, summed over ranks."""


class StoragePart(Model, kw_only=True):
    """Traffic of a storage target, or of a host's local disk."""

    target: Whole | None
    """Number of the storage target; None for a disk."""
    host: str
    requests: Whole
    bytes_read: Number
    bytes_written: Number


class RendezvousPart(Model, kw_only=True):
    """Rendezvous messages that waited for ranks to enter MPI."""

    scheme: str
    """Sides that answered a request: the receiver (`get`), or the receiver and then the sender
    (`put`).
    """
    delayed: Whole
    """Messages that started late."""
    delay_s: Number
    """Total delay of these messages."""


class NoisePart(Model, kw_only=True):
    """OS noise of a run: seed of the random numbers."""

    seed: Whole


class ResolutionPart(Model, kw_only=True):
    """Flow changes that the network merged into one event, and messages that queued."""

    asked: str
    """`automatic`, or a time, as set in the fabric file."""
    longest_s: Number
    """Longest interval between two updates of rates."""
    merged_updates: Whole
    """Updates that covered changes at different times."""
    most_flows: Whole
    """Maximum number of flows that shared links in a merged update."""
    queued: Whole = 0
    """Short messages that queued at links."""


class PacketsPart(Model, kw_only=True):
    """Activity of a packet network."""

    packet_bytes: Number
    """Largest packet."""
    switching: str
    """`cut-through` or `store-and-forward`; the fabric file sets this field and the next four."""
    flow_control: str
    load_balancing: str = "route"
    retransmission: str = "go-back-n"
    congestion_control: str
    messages: Whole
    """Messages between hosts."""
    packets: Whole
    """Data packets, including retransmissions."""
    hops: Whole
    """Links crossed by packets of all kinds, in total."""
    dropped: Whole
    """Packets dropped at a full queue."""
    trimmed: Whole = 0
    """Packets trimmed to their headers at a full queue."""
    lost: Whole = 0
    """Packets of all kinds lost to faults."""
    overtaken: Whole = 0
    """Packets that arrived after a later packet of their message."""
    sent_again: Whole
    timeouts: Whole
    """Retransmission timeouts of senders."""
    marked: Whole
    """Packets marked by congestion (ECN)."""
    notifications: Whole
    """Congestion notification packets (CNPs) sent."""
    pauses: Whole
    """Number of link pauses."""
    paused_s: Number
    """Total time for which links were paused."""
    most_queued_bytes: Number
    """Maximum bytes in an output queue of a switch."""
    most_packets: Whole
    """Maximum number of packets in flight."""


class FlowCheckRowPart(Model, kw_only=True):
    """Calls of one collective, or of one other MPI function, in both runs."""

    job: str = ""
    """Job of a jobs file; empty if the run had one program."""
    call: str
    """Collective or MPI function; for jobs, `point-to-point`, `waits` or `iteration` of training.
    """
    communicator_size: Whole = 0
    """0 for functions; the next two fields are then empty."""
    datatype: str = ""
    op: str = ""
    calls: Whole
    bytes_per_call: Number | None = None
    """Bytes that each rank contributes; null for functions."""
    flows_s: Number
    """Mean time of one rank in one call in this run, whose messages are flows."""
    packets_s: Number
    """The same time with packets."""
    difference: Number | None = None
    """Additional time with packets, as a fraction; null if flows take no time."""
    differs: bool = False
    """True if the difference exceeds the tolerance."""


class FlowCheckPart(Model, kw_only=True):
    """Comparison of the run with a run whose messages are packets."""

    tolerance: Number
    """Difference above which calls are reported as different."""
    flows_s: Number
    """Simulated time of this run."""
    packets_s: Number
    """Simulated time with packets."""
    not_compared: Whole
    """Collectives executed by switches, which packets do not model."""
    calls: list[FlowCheckRowPart]
    """Ordered by their contribution to the difference of the run, largest first."""


class StacksPart(Model, kw_only=True):
    """Stacks of ranks and helpers, if weft allocated them."""

    bytes: Whole
    """Size of each stack."""
    number: Whole
    unguarded: Whole
    """Number of stacks without guard pages because of Linux's limit on mappings."""


class DurationPart(Model, kw_only=True):
    """Durations of a job's calls of one collective, regardless of the executor.

    Each duration is the time of one rank in one call.
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
        """Fields that distinguish the entry from other entries of its job."""
        return self.collective, self.communicator_size, self.datatype, self.op


class RatioPart(Model, kw_only=True):
    """Durations of a job's calls of one collective, each divided by the same call's in another run.

    A rank's calls are paired in their order. Calls that took no time in the other run are left out.
    """

    collective: str
    communicator_size: Whole
    datatype: str
    op: str
    rank_calls: Whole
    """Pairs: calls, counted once per rank."""
    mean: Number
    p50: Number
    p95: Number
    p99: Number
    max: Number

    @property
    def of(self) -> tuple[str, int, str, str]:
        """Fields that distinguish the entry from the others of its job."""
        return self.collective, self.communicator_size, self.datatype, self.op


@dataclass(frozen=True)
class CallSlowdown:
    """Calls of one collective among other jobs and alone."""

    together: DurationPart
    alone: DurationPart
    ratio: RatioPart
    """Distribution of the duration of each call divided by that of the same call alone."""


class JobLinkPart(Model, kw_only=True):
    """Link that a job used."""

    name: str
    bytes: Number
    """Bytes of the job on the link."""
    share: Number
    """Fraction of the link's bytes that belong to the job."""


class JobSwitchPart(Model, kw_only=True):
    """Switch that a job used."""

    name: str
    bytes: Number
    """Bytes of the job that entered the switch."""
    share: Number
    offloaded: Whole
    """Offloaded calls of the job in which the switch took part."""
    bytes_reduced: Number
    bytes_multicast: Number


class TrafficPart(Model, kw_only=True):
    """Background traffic from one table of a traffic file."""

    name: str
    pattern: str
    hosts: Whole
    """Number of sending hosts."""
    rate_per_host_Bps: Number | None = None  # noqa: N815 (unit)
    """Mean rate offered by each host; absent for a GOAL schedule."""
    messages: Whole
    """Number of messages that arrived."""
    bytes: Number
    mean_s: Number
    """Mean time of a message from start to arrival."""
    waiting_messages: Whole | None = None
    """Messages still queued at their source host at the end of the run; absent for a GOAL schedule.
    """
    rounds: Whole | None = None
    """Number of times the schedule completed; GOAL only."""
    given_up_messages: Whole | UnsetType = UNSET
    """Messages given up after a fault; absent if none."""
    outcome: str | UnsetType = UNSET
    """`network-failure` if a schedule ended because one of its messages was given up."""
    message: str | UnsetType = UNSET
    """Reason as text for users."""


class FaultEventPart(Model, kw_only=True):
    """Fault or repair that has occurred."""

    at_s: Number
    what: str
    hidden: bool | UnsetType = UNSET
    """True if other faults keep all affected links or switches down, else absent."""


class HitCallPart(Model, kw_only=True):
    """Collective in the network that was hit by a fault."""

    hit_s: Number
    went_on_s: Number
    """Time at which the collective continued or failed."""
    collective: str
    communicator: Whole
    what: Literal["resent", "rebuilt", "on hosts", "failed"]


class RecoveryPart(Model, kw_only=True):
    """Reactions to faults that were in effect."""

    transport: str
    """Preset of the senders' timeouts and retries; `own` if the file overrides one of them."""
    timeout_s: Number
    """First retransmission timeout of a sender."""
    backoff: Number
    """Factor between consecutive timeouts."""
    retries: Whole
    """Number of retries before a sender gives up."""
    packet_bytes: Whole
    """Payload of a packet, for packet losses."""
    routing: str
    """Preset for detection and convergence; `own` if the file overrides one, empty by default."""
    collectives: str
    """Reaction of a collective in the network to a fault that hits it."""

    @property
    def gives_up_s(self) -> float:
        """Time from a cut until its sender gives up: the sum of the timeouts."""
        return retry_span_s(self.timeout_s, self.backoff, self.retries)


class BudgetPart(Model, kw_only=True):
    """Cost of failures: the run with faults compared with the same run without faults."""

    without_s: Number
    """Simulated time without faults."""
    lost_s: Number
    """Simulated time with faults minus simulated time without; the whole time until its end if a
    failure ended the run."""
    ended_job: bool | UnsetType = UNSET
    """True if a failure ended the run, else absent."""
    ends_per_day: Number | UnsetType = UNSET
    """Failures per day that end the job; absent unless `ended_job`, and if the rate is unknown."""
    per_failure_s: Number | UnsetType = UNSET
    """Mean cost of a failure; absent if there was none."""
    per_day_s: Number | UnsetType = UNSET
    """Time lost per day: failures per day times the cost of a failure; absent if either is unknown.
    """
    fraction: Number | UnsetType = UNSET
    """Fraction of time lost."""


class JobBudgetPart(BudgetPart, kw_only=True):
    """Cost of failures for one of several jobs."""

    failures: Whole
    """Faults that began while the job ran."""
    failure_times: Whole
    """Number of distinct times at which they began."""


class FaultsPart(Model, kw_only=True):
    """Faults in a run, and the reactions to them."""

    file: str = ""
    """Name of the fault file."""
    changes: list[str] = field(default_factory=list)
    """Changed keys of the fault file, each as TABLE.KEY=VALUE."""
    detection_s: Number = 0
    """Time from a fault or repair until its detection."""
    convergence_s: Number = 0
    """Time from detection until routing has converged."""
    recovery: RecoveryPart | UnsetType = UNSET
    """Absent from records of older versions."""
    failures: Whole = 0
    """Faults that have begun; repairs are not counted."""
    failure_times: Whole = 0
    """Number of distinct times at which faults began."""
    failures_per_day: Number | UnsetType = UNSET
    """Failures per day at the real rates, without `scale`; absent if the file does not state them.
    """
    budget: BudgetPart | UnsetType = UNSET
    """Present with `--budget`."""
    events: list[FaultEventPart]
    left_events: Whole
    """Events of the file that lie after the end of the run."""
    cut: Whole
    """Number of messages cut by faults."""
    lost: Whole
    """Number of times a link lost the last packet of a message."""
    resumed: Whole
    """Number of times a sender resent the remainder of a message."""
    given_up: Whole
    """Messages given up by their senders."""
    waited_s: Number
    """Total time from cuts and losses until the remainder was resent."""
    longest_waiting_s: Number
    broken_calls: Whole
    """Number of times a collective in the network was hit."""
    resent_calls: Whole
    """Number of hit collectives that continued over the same tree."""
    rebuilt_calls: Whole
    """Number of hit collectives that were repeated over a new tree."""
    calls_on_hosts: Whole
    """Number of hit collectives that the hosts repeated."""
    lost_in_calls_s: Number
    """Total time from hits until calls continued, including repeated work."""
    cut_branches: Whole = 0
    """Multicast flows cut by faults, which are not resent."""
    lost_chunks: Whole = 0
    """Multicast chunks that faults kept from ranks, summed over ranks."""
    calls: list[HitCallPart] = field(default_factory=list)
    """The first 10,000 hits."""


class TimePart(Model, kw_only=True):
    """Use of time by the ranks of a training iteration."""

    name: str
    """`computation`, `exposed KIND`, `waiting KIND` or `idle`."""
    mean_s: Number
    """Mean over the ranks."""
    most_s: Number


class JobTrainingPart(Model, kw_only=True):
    """Training iteration that ran as a job."""

    layout: str = ""
    """Parallel layout of the ranks, in words; empty for traces."""
    library: str = ""
    """NCCL version."""
    time_s: Number
    """Time from the start until the last rank ended, or until the iteration could not continue."""
    parts: list[TimePart]
    calls: Whole
    """Number of collectives, all of which are executed."""
    algorithms: dict[str, Whole]
    """Number of collectives by NCCL's algorithm and protocol."""


class _JobResult(Model, kw_only=True):
    """Results of a job, alone or among other jobs."""

    start_s: Number
    end_s: Number | None
    """Time at which the last rank ended or the job failed; None if the job has not started."""
    outcome: OutcomePart
    """Outcome, of the same kinds as a run's; also `not-started`."""
    exit_status: Whole
    collectives: list[CollectivePart] = field(default_factory=list)
    durations: list[DurationPart] = field(default_factory=list)
    messages: Whole = 0
    """Messages between ranks, including messages of host algorithms."""
    message_bytes: Number = 0
    switches: list[JobSwitchPart] = field(default_factory=list)
    training: JobTrainingPart | UnsetType = UNSET
    """Present if the job was a training iteration that has ended or failed."""

    @property
    def failed(self) -> bool:
        """True if the job did not succeed."""
        return self.outcome.kind != "completed"

    @property
    def time_s(self) -> float | None:
        """Time from the job's start to its end; None if the job did not succeed."""
        return None if self.failed or self.end_s is None else self.end_s - self.start_s

    @property
    def offloaded_calls(self) -> int:
        """Collective calls that the switches executed."""
        return sum(row.calls for row in self.collectives if row.offloaded)

    @property
    def fallback_calls(self) -> int:
        """Collective calls that should have been offloaded but that the hosts executed."""
        return sum(
            row.calls for row in self.collectives if not row.offloaded and row.reason != "policy"
        )


class AlonePart(_JobResult, kw_only=True):
    """Job in a separate run on the same hosts: alone, or without offloading with all jobs."""

    ratios: list[RatioPart] = field(default_factory=list)
    """Durations of calls among the other jobs, divided by those of the same calls alone."""


class SchedulePart(Model, kw_only=True):
    """GOAL schedule that was the workload."""

    operations: Whole
    end_s: Number
    """Time at which the last rank ended."""
    rank_ends_s: list[Number]
    """Time at which each rank ended."""


class SpawnedProgramPart(Model, kw_only=True):
    """Ranks of one program of a spawned world."""

    program: str
    arguments: list[str] = field(default_factory=list)
    ranks: Whole


class SpawnedPart(Model, kw_only=True):
    """World spawned by ranks."""

    job: str = ""
    """Job of the spawning ranks; empty in runs of one program."""
    ranks: Whole
    programs: list[SpawnedProgramPart]
    hosts: list[str]
    """Hosts in rank order."""
    spawned_s: Number
    """Time at which the spawn was requested."""
    start_s: Number | None
    """Time at which the spawned ranks started; None if the run ended before."""
    end_s: Number | None
    """Time at which the last rank ended; None if some have not ended."""


class JobPart(_JobResult, kw_only=True):
    """One job in a run of several jobs."""

    name: str
    program: str = ""
    arguments: list[str] = field(default_factory=list)
    replayed: str = ""
    """Trace replayed by the job."""
    ranks: Whole
    ppn: Whole = 1
    hosts_used: Whole
    hosts: list[str] = field(default_factory=list)
    """Hosts in rank order."""
    offload: str = ""
    fallback: str = ""
    profile: list[ProfilePart] = field(default_factory=list)
    links: list[JobLinkPart] = field(default_factory=list)
    alone: AlonePart | UnsetType = UNSET
    """Present if each job was also run alone."""
    without_offload: AlonePart | UnsetType = UNSET
    """Present if all jobs were also run together without offloading."""
    with_best: AlonePart | UnsetType = UNSET
    """Present if all jobs also ran together without offloading and with `--fallback best`; absent
    for training iterations."""
    certainty: Certainty | None = None
    """Interval of `speed_up` and its basis; None without offloaded calls, and without such a run.
    """
    certainty_over_best: Certainty | None = None
    """Certainty of `speed_up_over_best`."""
    budget: JobBudgetPart | UnsetType = UNSET
    """Present with `--budget`, unless the job failed for another reason than a fault."""
    schedule: SchedulePart | UnsetType = UNSET
    """Present if the job was a GOAL schedule that ended."""

    @property
    def speed_up(self) -> float | None:
        """Time without offloading divided by the time with offloading; None if unknown."""
        return self._speed_up_over(self.without_offload)

    @property
    def speed_up_over_best(self) -> float | None:
        """Speed-up of offloading over the hosts' fastest algorithms; None if unknown."""
        return self._speed_up_over(self.with_best)

    def _speed_up_over(self, other: AlonePart | UnsetType) -> float | None:
        if not other or not other.time_s or not self.time_s:
            return None
        return other.time_s / self.time_s

    @property
    def not_measured(self) -> str | None:
        """Values outside the measured ranges; empty if there are none, None without an interval."""
        known = [one for one in (self.certainty, self.certainty_over_best) if one]
        found = dict.fromkeys(text for one in known for text in one.beyond)
        return "; ".join(found) if known else None

    @property
    def shared_links(self) -> list[JobLinkPart]:
        """Links also crossed by other traffic."""
        return [link for link in self.links if link.share < 1]

    @property
    def slowdown(self) -> float | None:
        """Time among other jobs divided by the time alone; None if either is unknown."""
        together, alone = self.time_s, self.alone.time_s if self.alone else None
        return together / alone if together is not None and alone else None

    def slowdowns(self) -> list[CallSlowdown]:
        """Return the slowdown of calls by collective, for calls that the job also made alone."""
        if not self.alone:
            return []
        together = {row.of: row for row in self.durations}
        alone = {row.of: row for row in self.alone.durations}
        return [
            CallSlowdown(together[row.of], alone[row.of], row)
            for row in self.alone.ratios
            if row.of in together and row.of in alone
        ]


class RecordData(Model, kw_only=True):
    """Fields of a record, with derived properties (`weft.runs.record.Record`)."""

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
    """Cost of an unsuccessful poll; None if smpi/test or smpi/iprobe sets the cost."""
    messages: str = "smpi"
    """Transport of point-to-point messages: `weft`, or `smpi` for SimGrid's MPI."""
    messages_reason: str = ""
    """Reason why the run could not use the requested transport."""
    host_stages: bool = False
    """True if the ranks of a host combined their contributions to an offloaded call."""
    tunings_off: list[str] = field(default_factory=list)
    """Tunings that were switched off, or that do not support the SimGrid version of the run."""
    outcome: OutcomePart
    simulated_time_s: Number
    profile: list[ProfilePart] = field(default_factory=list)
    mpi_calls: list[MpiCallPart] = field(default_factory=list)
    collectives: list[CollectivePart] = field(default_factory=list)
    multicast: list[MulticastPart] = field(default_factory=list)
    files: list[FilePart] | UnsetType = UNSET
    """Present if the program opened files with MPI I/O on a fabric; `storage` likewise."""
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
    """Present if the network's time resolution took effect."""
    packets: PacketsPart | UnsetType = UNSET
    """Present if messages were packets."""
    flow_check: FlowCheckPart | UnsetType = UNSET
    """Present with `--check-flows`."""
    stacks: StacksPart | UnsetType = UNSET
    """Absent if SimGrid allocated the stacks, or if the run ended before any stack was allocated.
    """
    faults: FaultsPart | UnsetType = UNSET
    """Present if the run had faults."""
    traffic: list[TrafficPart] | UnsetType = UNSET
    """Present if the run had background traffic."""
    schedule: SchedulePart | UnsetType = UNSET
    """Present if the run replayed a GOAL schedule that ended."""
    jobs: list[JobPart] | UnsetType = UNSET
    """Present if the run executed a jobs file."""
    spawned: list[SpawnedPart] | UnsetType = UNSET
    """Present if ranks spawned worlds."""
    program: str = ""
    arguments: list[str] = field(default_factory=list)
    command: list[str] = field(default_factory=list)
    replayed: str = ""
    ppn: Whole = 1
    contention: bool = True
    """True if messages contended for links."""
    fallback: str = ""
    config: list[str] = field(default_factory=list)
    host_speed: str = ""
    exit_status: Whole = 0
    wall_time_s: Number = 0.0
    cpu_time_s: Number = 0.0
    peak_memory_bytes: Whole = 0

    @property
    def unwritten(self) -> str:
        """Error about an output file that could not be written; not part of the record."""
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
        """True if the program ended by itself, with any exit status."""
        return self.outcome.kind in ("completed", "exit")

    @property
    def failed(self) -> bool:
        """True if the program did not succeed."""
        return self.outcome.kind != "completed"

    @property
    def ended_by_fault(self) -> bool:
        """True if a fault of the fault file ended the run."""
        began = self.faults and self.faults.failures > 0
        return bool(began) and self.outcome.kind in ENDED_BY_FAULT
