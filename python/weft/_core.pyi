# SPDX-License-Identifier: LGPL-2.1-only
"""
The pure parts of weft: fabrics and what is in them.
"""

from __future__ import annotations
import collections.abc
import numpy
import numpy.typing
import typing

class AlgorithmCalls(typing.TypedDict):
    """Calls that NCCL executes with an algorithm and protocol."""

    algorithm: str
    calls: int

class Cable(typing.TypedDict):
    """One cable; its links are `NAME.up`, from the lower vertex to the upper, and `NAME.down`."""

    name: str
    lower: int
    upper: int
    upper_port: int
    bandwidth_Bps: float
    latency_s: float

class ForwardingTag(typing.TypedDict):
    """A tag of a switch's forwarding cache: its output link, the number of its hosts, and the first
    of them."""

    tag: int
    link: str
    hosts: int
    first: str

class HashProof(typing.TypedDict):
    """What was proven of a forwarding hash on a fabric."""

    pairs: int
    most_tags: int
    misroutes: bool
    crowded: bool

class Host(typing.TypedDict):
    """Parameters of every host."""

    preset: str
    speed_flops: float
    cores: int
    sockets: int
    intersocket_latency_s: float
    intersocket_rate_Bps: float
    shared_cache_bandwidth_Bps: float
    loopback_bandwidth_Bps: float
    loopback_latency_s: float
    memory_bandwidth_Bps: float
    single_copy_threshold_bytes: float
    cache_size_bytes: float
    message_overhead_s: float
    copy_rate_Bps: float
    piece_overhead_s: float
    reduction_rate_Bps: float
    core_cache_size_bytes: float
    shared_cache_rate_Bps: float
    core_memory_rate_Bps: float
    unmeasured: list[str]

class HostAlgorithm(typing.TypedDict):
    """One algorithm of a collective, with its number in Open MPI and its library."""

    collective: str
    name: str
    number: int
    source: str
    any_operation: bool
    two_ranks: bool
    one_host: bool

class HostSchedule(typing.TypedDict):
    """Schedule of a collective on hosts: messages as (round, from, to, bytes), and the bytes that
    each rank reduces."""

    algorithm: str
    segment_bytes: float
    fan_out: int
    rounds: int
    messages: list[tuple[int, int, int, float]]
    combined_bytes: list[float]

class IterationTimes(typing.TypedDict):
    """Times of an iteration: its outcome and, unless it has completed, why; its end in seconds,
    ranks, kinds of communication, uses of time, classes of links, operations of listed ranks;
    messages on the network, collectives, and those of them that no equal one has preceded; faults
    (empty if there were none to happen), traffic and packets (empty without), as the record has
    them."""

    outcome: str
    message: str
    end_s: float
    ranks: list[RankTimes]
    kinds: list[str]
    parts: list[TimePart]
    links: list[LinkClassUse]
    listed: list[TimedWork]
    algorithms: list[AlgorithmCalls]
    messages: int
    calls: int
    executed: int
    faults: str
    traffic: str
    packets: str

class LinkClassUse(typing.TypedDict):
    """Links of a class that have carried something: their number and bytes; the mean of the
    fractions of what they could have carried, and the largest of these fractions, with the name of
    its link (empty if each message chooses a route)."""

    name: str
    links: int
    bytes: float
    utilisation: float
    busiest: str
    busiest_utilisation: float

class Mechanism(typing.TypedDict):
    """A mechanism that executes collectives in the network."""

    name: str
    meaning: str
    rest: str

class Mpi(typing.TypedDict):
    """Message costs of the hosts' MPI library; unlimited rates are infinite."""

    preset: str
    eager_threshold_bytes: float
    send_overhead_s: float
    send_copy_rate_Bps: float
    receive_overhead_s: float
    receive_copy_rate_Bps: float
    reduction_overhead_s: float
    overheads: list[MpiOverheads]

class MpiOverheads(typing.TypedDict):
    """Host costs of messages from a size on, instead of those of `Mpi`."""

    from_bytes: float
    send_overhead_s: float
    send_copy_rate_Bps: float
    receive_overhead_s: float
    receive_copy_rate_Bps: float

class NcclChoice(typing.TypedDict):
    """NCCL's choice for a call of a size, with the time that its tuner predicts."""

    bytes: float
    algorithm: str
    protocol: str
    channels: int
    threads: int
    chunk_bytes: float
    seconds: float

class NcclOption(typing.TypedDict):
    """An algorithm and protocol that NCCL can take, and its tuner's model: latency and
    bandwidth."""

    algorithm: str
    protocol: str
    latency_s: float
    bandwidth_Bps: float

class Nic(typing.TypedDict):
    """Parameters of every NIC; unlimited rates are infinite."""

    preset: str
    offload_overhead_s: float
    message_gap_s: float
    offload_copy_rate_Bps: float
    packet_copy_rate_Bps: float
    message_rate_per_s: float
    stripes: int
    least_stripe_B: float
    calls: list[NicCalls]
    reduce_scatter: str
    part_copy_rate_Bps: float
    registration_rate_Bps: float
    registration_from_bytes: float
    contributions: str
    host_reduce: str
    host_bcast: str

class NicCalls(typing.TypedDict):
    """Costs of offloaded calls from a size on, instead of those of `Nic`."""

    from_bytes: float
    offload_overhead_s: float
    offload_copy_rate_Bps: float
    packet_copy_rate_Bps: float

class Offload(typing.TypedDict):
    """Collectives that a switch executes, with the datatypes and operations of reductions. A
    conversion is done by the hosts ("" for none, with an infinite rate)."""

    collectives: list[str]
    datatypes: list[str]
    operations: list[str]
    conversion: str
    conversion_rate_Bps: float

class Option(typing.TypedDict):
    """One key of a table of a fabric file. `otherwise` is the default, empty for required keys;
    `allowed` lists the allowed values if not all of its type are."""

    key: str
    type: str
    meaning: str
    required: bool
    otherwise: str
    allowed: str
    names: list[str]

class RankTimes(typing.TypedDict):
    """How a rank spends an iteration, in seconds. Lists have an entry for each division into
    groups, then one for messages; the last two have one for each class of links: the exposed
    communication that a link of the class limits, and, of this, how long those links carry what is
    communicated."""

    computing_s: float
    exposed_s: list[float]
    late_s: list[float]
    communicated_s: list[float]
    idle_s: float
    end_s: float
    exposed_at_s: list[float]
    carried_at_s: list[float]

class Segment(typing.TypedDict):
    """Factors of point-to-point messages from a size on."""

    from_bytes: float
    latency_factor: float
    bandwidth_factor: float

class Selection(typing.TypedDict):
    """A shipped selection of algorithms."""

    name: str
    description: str

class Shared(typing.TypedDict):
    """Bandwidth that several links share, with their names."""

    links: list[str]
    bandwidth_Bps: float

class Switch(typing.TypedDict):
    """One switch; fields from `processing_latency_s` on apply to smart switches only."""

    name: str
    preset: str
    smart: bool
    looks_up_by: str
    max_ports: int
    forwarding_latency_s: float
    processing_latency_s: float
    pipe_ports: int
    pipe_latency_s: float
    turnaround_s: float
    channels: int
    channel_sharing: str
    job_channels: int
    slots: int
    total_slots: int
    payload_bytes: float
    packet_overhead_bytes: float
    aggregation_rate_Bps: float
    streaming_from_bytes: float
    stream_sharing: str
    window_bytes: float
    offload: list[Offload]

class Table(typing.TypedDict):
    """One table of a fabric file."""

    table: str
    meaning: str
    options: list[Option]

class TimePart(typing.TypedDict):
    """Use of time in seconds: the mean over the ranks, and the most of a rank."""

    name: str
    mean_s: float
    most_s: float

class TimedWork(typing.TypedDict):
    """Operation of a rank in time, in seconds: reached, active once all ranks that it needs have
    reached it, ended."""

    rank: int
    operation: int
    name: str
    kind: str
    stream: int
    begin_s: float
    active_s: float
    end_s: float

class Topology(typing.TypedDict):
    """One kind of topology with the keys of its [topology] table."""

    kind: str
    meaning: str
    options: list[Option]

class Tuning(typing.TypedDict):
    """An optimisation of SimGrid from outside."""

    name: str
    simgrid: str
    weft: str
    gain: str
    oldest: str
    newest: str

class Way(typing.TypedDict):
    """Route between two vertices, by names."""

    links: list[str]
    through: list[str]
    latency_s: float

__all__: list[str] = [
    "CallCheck",
    "Fabric",
    "ProgressEngine",
    "SMPI_EAGER_THRESHOLD_BYTES",
    "SMPI_ENVELOPE_BYTES",
    "UserError",
    "WorkloadProgram",
    "alltoall_messages",
    "bitmap_bytes",
    "cache_of_hosts",
    "cache_of_messages",
    "cache_of_port",
    "cache_of_torus",
    "describe_workload",
    "fabric_schema",
    "fallback_reasons",
    "forwarding_addresses",
    "forwarding_hash_name",
    "forwarding_tags",
    "gpus_per_node",
    "host_algorithms",
    "host_schedule",
    "line_rate",
    "list_fabrics",
    "list_presets",
    "load_fabric",
    "load_progress_engine",
    "mechanisms",
    "nccl_choices",
    "nccl_options",
    "offload_modes",
    "parse_bandwidth",
    "paths",
    "predicted_times",
    "prove_cube_hash",
    "prove_hash",
    "row_kinds",
    "run_workload",
    "selected_algorithms",
    "selections",
    "simgrid_prefix",
    "simgrid_version",
    "smpi_fallbacks",
    "streaming_time",
    "switch_properties",
    "topologies",
    "tunings",
    "tunings_off",
    "uniform_messages",
    "units",
    "version",
]

class UserError(Exception):
    """
    A mistake in the user's input; its text is the complete message.
    """

class Fabric:
    """
    An immutable fabric, as described by a file. Vertices are numbered from 0, hosts first, then switches.
    """
    def cables(self) -> list[Cable]: ...
    def check(self) -> str:
        """
        Verify the routes; returns a description, raises UserError if the check fails.
        """
    def check_packets(self) -> None:
        """
        Raises UserError if messages on this fabric cannot be packets.
        """
    def describe(self) -> str: ...
    def route(self, source: int, destination: int) -> Way:
        """
        Raises IndexError if there is no such vertex.
        """
    @property
    def changes(self) -> list[str]:
        """
        Changes of the file, TABLE.KEY=VALUE each.
        """
    @property
    def compute_hosts(self) -> list[str]:
        """
        Names of the hosts without those of [storage].
        """
    @property
    def cores_per_host(self) -> int: ...
    @property
    def description(self) -> str: ...
    @property
    def file(self) -> str: ...
    @property
    def has_storage(self) -> bool:
        """
        Whether programs can open files with MPI: there is a [storage] or a [disk].
        """
    @property
    def host(self) -> Host: ...
    @property
    def hosts(self) -> list[str]:
        """
        Names of the hosts, in order.
        """
    @property
    def links(self) -> int:
        """
        Number of links, two per cable.
        """
    @property
    def mpi(self) -> Mpi | None:
        """
        Message costs of the hosts' MPI library, if the file has them.
        """
    @property
    def name(self) -> str: ...
    @property
    def network(self) -> str:
        """
        What messages between hosts are: flows or packets.
        """
    @property
    def nic(self) -> Nic: ...
    @property
    def noise_seed(self) -> int | None:
        """
        Seed of the random variation of runs; None if there is none.
        """
    @property
    def point_to_point(self) -> list[Segment]:
        """
        Factors of point-to-point messages, by rising size.
        """
    @property
    def shared(self) -> list[Shared]: ...
    @property
    def stripes(self) -> int:
        """
        Largest number of cables of a host over which messages and offloaded calls are divided.
        """
    @property
    def switch_counts(self) -> list[tuple[str, int]]:
        """
        Number of switches by what they are, in the singular, such as ("NIC", 256).
        """
    @property
    def switch_models(self) -> list[Switch]:
        """
        The first switch of each model, in order.
        """
    @property
    def switches(self) -> list[Switch]:
        """
        The switches, in order.
        """
    @property
    def topology(self) -> str: ...

class ProgressEngine:
    """
    Progress engine of the multicast protocol at a host.
    """
    def communicators(self, chunks: int) -> int:
        """
        Number of communicators with receive buffers of this many chunks that its memory holds.
        """
    def describe(self) -> str: ...
    def receive_chunks_per_s(self, transport: str, chunk_bytes: float, workers: int) -> float:
        """
        Chunks per second that a number of threads receives. Raises UserError.
        """
    def receive_time_s(
        self, transport: str, chunk_bytes: float, buffer_bytes: float, workers: int, link_Bps: float
    ) -> float:
        """
        Seconds from the first byte of a buffer on the link until the user has all of it. Raises UserError.
        """
    @property
    def cores(self) -> int: ...
    @property
    def host_cores(self) -> int:
        """
        Cores of the host that it occupies.
        """
    @property
    def memory_bytes(self) -> float: ...
    @property
    def preset(self) -> str: ...
    @property
    def threads(self) -> int:
        """
        Hardware threads of a core.
        """

class CallCheck:
    """
    Checks that a file of recorded calls can be replayed.
    """
    def __init__(
        self, ranks: int, datatypes: collections.abc.Set[str], operations: collections.abc.Set[str]
    ) -> None:
        """
        Of so many ranks; the names are those that lines may have.
        """
    def add(self, text: bytes) -> None:
        """
        Take in a part of the file. Raises UserError, which names the line.
        """
    def end(self) -> int:
        """
        Prove that nothing is missing; return the number of lines of ranks.
        """

class WorkloadProgram:
    """
    Operations of a rank in streams. Each method adds one, which begins when those of `after` have ended, and returns its number.
    """
    def __init__(self, in_order: bool) -> None:
        """
        `in_order`: operations of a stream follow each other as they were added; otherwise a stream takes the first one that waits for nothing.
        """
    def __len__(self) -> int: ...
    def collective(
        self,
        stream: int,
        kind: int,
        collective: str,
        size: float,
        after: collections.abc.Sequence[int] = [],
        name: str = "",
    ) -> int:
        """
        Add a collective of the rank's group in division `kind`. `size` in bytes: the vector, or all blocks of an Allgather, Reduce-Scatter or Alltoall.
        """
    def compute(
        self, stream: int, seconds: float, after: collections.abc.Sequence[int] = [], name: str = ""
    ) -> int:
        """
        Add computation.
        """
    def host_stream(self, stream: int) -> None:
        """
        Make a stream one of the CPU: its computation is none of the GPU.
        """
    def receive(
        self,
        stream: int,
        peer: int,
        size: float,
        tag: int = 0,
        after: collections.abc.Sequence[int] = [],
        name: str = "",
    ) -> int:
        """
        Add the receipt of a message from the rank that has this one's number plus `peer`.
        """
    def send(
        self,
        stream: int,
        peer: int,
        size: float,
        tag: int = 0,
        after: collections.abc.Sequence[int] = [],
        name: str = "",
    ) -> int:
        """
        Add a message of `size` bytes to the rank that has this one's number plus `peer`.
        """

def alltoall_messages(fabric: Fabric, count: int) -> list[tuple[int, int]]:
    """
    Pairs of hosts, of all-to-alls one after the other: each to the next, then the next but one.
    """

def bitmap_bytes(chunks: int) -> float:
    """
    The bitmap of a receive buffer: a bit per chunk.
    """

def cache_of_hosts(
    entries: int,
    ways: int,
    replacement: str,
    fabric: Fabric,
    hash: str,
    hosts: collections.abc.Sequence[int],
    lookups: int,
    seed: int,
) -> dict[str, int]:
    """
    The same of the port of the first of several hosts under uniform traffic to the others.
    """

def cache_of_messages(
    entries: int,
    ways: int,
    replacement: str,
    fabric: Fabric,
    hash: str,
    messages: collections.abc.Sequence[tuple[int, int]],
    ahead: int = 0,
) -> tuple[dict[str, int], dict[str, int]]:
    """
    The same of all ports of a fabric while messages, pairs of hosts, are routed one after the other; and of empty packets that go so many messages of their host ahead. The replacement may be "future", too: that of one who knows it.
    """

def cache_of_port(
    entries: int,
    ways: int,
    replacement: str,
    destinations: int,
    scattered: bool,
    lookups: int,
    seed: int,
) -> dict[str, int]:
    """
    Hits and misses of one port's forwarding cache under uniform traffic to a number of hosts, with the CRC hash.
    """

def cache_of_torus(
    entries: int,
    ways: int,
    replacement: str,
    size: int,
    dimensions: int,
    hashed: bool,
    messages: int,
    seed: int,
) -> list[dict[str, int]]:
    """
    The same of a torus under uniform traffic: ports of hosts, then of each dimension.
    """

def describe_workload(
    fabric: Fabric,
    library: str,
    programs: collections.abc.Sequence[WorkloadProgram],
    program_of: collections.abc.Sequence[int],
    groups: collections.abc.Sequence[
        tuple[str, collections.abc.Sequence[collections.abc.Sequence[int]]]
    ],
) -> str:
    """
    Return the text of a workload for a run of several jobs, in JSON; the arguments are those of run_workload(), which are checked.
    """

def fabric_schema() -> list[Table]:
    """
    Every table and key of a fabric file.
    """

def fallback_reasons() -> list[str]:
    """
    Fallback reasons, as named in records; "" for none.
    """

def forwarding_addresses(fabric: Fabric, hash: str) -> list[int]:
    """
    Destination address in packets, by host.
    """

def forwarding_hash_name(fabric: Fabric, hash: str) -> str:
    """
    Hash that "auto" selects on a fabric. Raises UserError.
    """

def forwarding_tags(fabric: Fabric, hash: str, switch: int) -> list[ForwardingTag]:
    """
    The tags of one switch, by its number.
    """

def gpus_per_node(fabric: Fabric) -> int:
    """
    Consecutive hosts of a fabric that are the GPUs of a node; 0 if its hosts are no GPUs.
    """

def host_algorithms() -> list[HostAlgorithm]:
    """
    All algorithms: collective, name, number in Open MPI, library, requirements.
    """

def host_schedule(
    selection: str,
    algorithm: str,
    segment_bytes: float,
    fan_out: int,
    collective: str,
    ranks: int,
    count: int,
    element_bytes: float,
    root: int,
    commutative: bool,
    blocking: bool,
    counts: collections.abc.Sequence[int] | None = None,
    hosts: collections.abc.Sequence[int] | None = None,
    predefined: bool = True,
) -> HostSchedule:
    """
    Messages of a collective on hosts, in rounds: (round, from, to, bytes). Without an algorithm, the selection chooses one.
    """

def line_rate(latency_s: float, stages: int, frame_bytes: float) -> float:
    """
    Highest line rate at which a port can look up every frame, in bytes per second.
    """

def list_fabrics() -> list[str]:
    """
    Names of the shipped fabrics.
    """

def list_presets(kind: str) -> list[str]:
    """
    Names of the presets of a kind: switch, nic, host or progress_engine.
    """

def load_fabric(name_or_path: str, changes: collections.abc.Sequence[str] = []) -> Fabric:
    """
    Read a fabric file, or a shipped fabric by its name; each of `changes`, TABLE.KEY=VALUE, overrides a key. Raises UserError.
    """

def load_progress_engine(name_or_path: str) -> ProgressEngine:
    """
    A preset, or the table [progress_engine] of a file. Raises UserError.
    """

def mechanisms() -> list[Mechanism]:
    """
    Mechanisms that execute collectives in the network; `rest`: the mechanism for collectives that it does not support.
    """

def nccl_choices(
    fabric: Fabric,
    version: str,
    collective: str,
    ranks: int,
    sizes: collections.abc.Sequence[float],
) -> list[NcclChoice]:
    """
    Algorithm, protocol, channels and chunk that a version of NCCL chooses for calls of one rank a GPU, by the bytes of the larger buffer.
    """

def nccl_options(fabric: Fabric, version: str, collective: str, ranks: int) -> list[NcclOption]:
    """
    All algorithms and protocols that a version of NCCL chooses among, with its model of them.
    """

def offload_modes() -> list[str]:
    """
    What a run may ask for: a mechanism, auto or off.
    """

def parse_bandwidth(text: str) -> float:
    """
    Bytes per second. Raises UserError.
    """

def paths() -> list[str]:
    """
    Executors of a call, as named in records.
    """

def predicted_times(
    fabric: Fabric, fallback: str, calls: collections.abc.Sequence[tuple[str, int, int, int, float]]
) -> list[float]:
    """
    Predicted times of collectives on the hosts of an idle network, in seconds, averaged over the ranks: calls as (collective, ranks, ranks per host, elements, bytes of one).
    """

def prove_cube_hash(size: int, dimensions: int, wraps: bool) -> HashProof:
    """
    The same check for three switches of a cube whose fabric is not built. Raises UserError if it is too large.
    """

def prove_hash(fabric: Fabric, hash: str, step: int = 1) -> HashProof:
    """
    Check every step-th switch against every host: pairs, most tags of a switch, and the violation found.
    """

def row_kinds() -> dict[str, tuple[str, list[tuple[str, str]]]]:
    """
    Every kind of row: its meaning, and its keys with their types.
    """

def run_workload(
    fabric: Fabric,
    library: str,
    programs: collections.abc.Sequence[WorkloadProgram],
    program_of: collections.abc.Sequence[int],
    groups: collections.abc.Sequence[
        tuple[str, collections.abc.Sequence[collections.abc.Sequence[int]]]
    ],
    *,
    execute_all: bool = False,
    detail: str = "step",
    multicast: bool = False,
    sms: int = 0,
    slowdown: collections.abc.Sequence[float] = [],
    noise: float = 0.0,
    seed: int = 0,
    listed: collections.abc.Sequence[int] = [],
    faults: str = "",
    traffic: str = "",
    progress: collections.abc.Callable[[float], None] | None = None,
) -> IterationTimes:
    """
    Execute programs on a fabric of GPUs: the number of each rank's program, and the groups of ranks that communicate, by division. `execute_all`: execute equal calls again. `detail`: all messages of NCCL ("slice"), one for each step of its rings ("step"), or one flow for each call ("call"). `multicast`: Allgathers between nodes are multicasts. `sms`: multiprocessors of a GPU, of which NCCL's channels take one each from computation. `slowdown`: factor of computation by rank; `noise`: standard deviation of the logarithm of a random one. `listed`: ranks whose operations are returned. `faults`, `traffic`: descriptions in JSON of what disturbs them. `progress` is called with the fraction of operations that have ended.
    """

def selected_algorithms(
    fabric: Fabric, fallback: str, calls: collections.abc.Sequence[tuple[str, int, int, int, float]]
) -> list[str]:
    """
    Algorithms of the hosts that a fallback selects for calls, as records name them; empty for calls that SMPI executes. Calls as in predicted_times.
    """

def selections() -> list[Selection]:
    """
    Names and descriptions of the shipped selections of algorithms.
    """

def smpi_fallbacks(fallback: str) -> dict[str, str]:
    """
    Check the fallback of a run (collective/host/fallback.hpp); returns SMPI's names in it by collective, and for all collectives under an empty name.
    """

def streaming_time(
    slots: int,
    payload_bytes: float,
    packet_overhead_bytes: float,
    message_bytes: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    line_rate_Bps: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    turnaround_s: float,
) -> numpy.typing.NDArray[numpy.float64]:
    """
    Seconds in which the packets of messages pass a link that nothing else uses.
    """

def switch_properties() -> list[tuple[str, str]]:
    """
    Keys of [switch] that switches of SimGrid platforms have as properties, each with its field in a Switch.
    """

def topologies() -> list[Topology]:
    """
    The kinds of topology with the keys of each.
    """

def tunings() -> list[Tuning]:
    """
    Optimisations of SimGrid from outside, and the SimGrid versions that they know.
    """

def tunings_off(choice: str = "") -> list[str]:
    """
    Names of the tunings that a choice (all, none, NAME,…, -NAME,…) or the installed SimGrid's version turns off.
    """

def uniform_messages(fabric: Fabric, count: int, seed: int) -> list[tuple[int, int]]:
    """
    Pairs of hosts, all equally often.
    """

def units() -> dict[str, list[tuple[str, float]]]:
    """
    By the type of a value: its units by rising factor, with that to SI's.
    """

SMPI_EAGER_THRESHOLD_BYTES: int
SMPI_ENVELOPE_BYTES: int
simgrid_prefix: str
simgrid_version: str
version: str
