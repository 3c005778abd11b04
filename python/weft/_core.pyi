# SPDX-License-Identifier: LGPL-2.1-only
"""
The pure parts of weft: fabrics and what is in them.
"""

from __future__ import annotations
import collections.abc
import numpy
import numpy.typing
import typing

class Cable(typing.TypedDict):
    """One cable; its links are `NAME.up`, from the lower vertex to the upper, and `NAME.down`."""

    name: str
    lower: int
    upper: int
    bandwidth_Bps: float
    latency_s: float

class ForwardingTag(typing.TypedDict):
    """A tag that a switch looks up: the link by which it leaves, how many hosts have it, and the
    first of them."""

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
    """What every host is."""

    preset: str
    speed_flops: float
    cores: int
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
    """One algorithm of a collective's, with Open MPI's number of it and the library whose it is."""

    collective: str
    name: str
    number: int
    source: str
    any_operation: bool
    two_ranks: bool
    one_host: bool

class HostSchedule(typing.TypedDict):
    """What a collective does on hosts: messages as (round, from, to, bytes), and the bytes that
    each rank combines."""

    algorithm: str
    segment_bytes: float
    fan_out: int
    rounds: int
    messages: list[tuple[int, int, int, float]]
    combined_bytes: list[float]

class Mechanism(typing.TypedDict):
    """A way in which the network carries out collectives."""

    name: str
    meaning: str
    rest: str

class Mpi(typing.TypedDict):
    """What the hosts' MPI library adds to messages; a rate without limit is infinite."""

    eager_threshold_bytes: float
    send_overhead_s: float
    send_copy_rate_Bps: float
    receive_overhead_s: float
    receive_copy_rate_Bps: float
    overheads: list[MpiOverheads]

class MpiOverheads(typing.TypedDict):
    """What messages of at least so many bytes cost the hosts, in place of what `Mpi` says."""

    from_bytes: float
    send_overhead_s: float
    send_copy_rate_Bps: float
    receive_overhead_s: float
    receive_copy_rate_Bps: float

class Nic(typing.TypedDict):
    """What every host's network interface is; a rate without limit is infinite."""

    preset: str
    offload_overhead_s: float
    message_gap_s: float
    offload_copy_rate_Bps: float
    packet_copy_rate_Bps: float
    calls: list[NicCalls]
    reduce_scatter: str
    part_copy_rate_Bps: float
    registration_rate_Bps: float
    registration_from_bytes: float
    contributions: str
    host_reduce: str
    host_bcast: str

class NicCalls(typing.TypedDict):
    """Costs of offloaded calls of at least so many bytes, in place of what `Nic` says."""

    from_bytes: float
    offload_overhead_s: float
    offload_copy_rate_Bps: float
    packet_copy_rate_Bps: float

class Offload(typing.TypedDict):
    """Collectives that a switch does, and what it can do reductions on. A conversion is one of the
    hosts' ("" for none, whose rate is infinite)."""

    collectives: list[str]
    datatypes: list[str]
    operations: list[str]
    conversion: str
    conversion_rate_Bps: float

class Option(typing.TypedDict):
    """One key of a table of a fabric file. `otherwise` is what holds where it is absent, and empty
    where it must be there; `allowed` says which values are, where not all of its type are."""

    key: str
    type: str
    meaning: str
    required: bool
    otherwise: str
    allowed: str
    names: list[str]

class Segment(typing.TypedDict):
    """Factors of point-to-point messages of at least so many bytes."""

    from_bytes: float
    latency_factor: float
    bandwidth_factor: float

class Selection(typing.TypedDict):
    """A shipped selection of algorithms."""

    name: str
    description: str

class Shared(typing.TypedDict):
    """What several links pass beside themselves, by their names."""

    links: list[str]
    bandwidth_Bps: float

class Switch(typing.TypedDict):
    """One switch; all that begins with `processing_latency_s` means nothing but in smart ones."""

    name: str
    preset: str
    smart: bool
    max_ports: int
    forwarding_latency_s: float
    looks_up_by: str
    processing_latency_s: float
    turnaround_s: float
    window_bytes: float
    channels: int
    slots: int
    total_slots: int
    payload_bytes: float
    packet_overhead_bytes: float
    aggregation_rate_Bps: float
    streaming_from_bytes: float
    offload: list[Offload]

class Table(typing.TypedDict):
    """One table of a fabric file."""

    table: str
    meaning: str
    options: list[Option]

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
    """The way between two vertices, by names."""

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
    "alltoall_messages",
    "bitmap_bytes",
    "cache_of_messages",
    "cache_of_port",
    "cache_of_torus",
    "fabric_schema",
    "fallback_reasons",
    "forwarding_addresses",
    "forwarding_hash_name",
    "forwarding_tags",
    "host_algorithms",
    "host_schedule",
    "line_rate",
    "list_fabrics",
    "list_presets",
    "load_fabric",
    "load_progress_engine",
    "mechanisms",
    "offload_modes",
    "parse_bandwidth",
    "paths",
    "predicted_times",
    "prove_cube_hash",
    "prove_hash",
    "row_kinds",
    "selections",
    "simgrid_prefix",
    "simgrid_version",
    "smpi_fallbacks",
    "streaming_time",
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
    A fabric as a file describes it; nothing of it can be changed. Its vertices are numbered from 0, hosts first, then switches.
    """
    def cables(self) -> list[Cable]: ...
    def check(self) -> str:
        """
        Prove the routes; returns what was proven, raises UserError where it does not hold.
        """
    def describe(self) -> str: ...
    def route(self, source: int, destination: int) -> Way:
        """
        Raises IndexError where there is no such vertex.
        """
    @property
    def changes(self) -> list[str]:
        """
        What differs from the file: TABLE.KEY=VALUE each.
        """
    @property
    def cores_per_host(self) -> int: ...
    @property
    def description(self) -> str: ...
    @property
    def file(self) -> str: ...
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
        What the hosts' MPI library adds, where the file says it.
        """
    @property
    def name(self) -> str: ...
    @property
    def nic(self) -> Nic: ...
    @property
    def noise_seed(self) -> int | None:
        """
        Of what makes runs on it vary; None where nothing does.
        """
    @property
    def point_to_point(self) -> list[Segment]:
        """
        Factors of point-to-point messages, by rising size.
        """
    @property
    def shared(self) -> list[Shared]: ...
    @property
    def switches(self) -> list[Switch]:
        """
        The switches, in order.
        """
    @property
    def topology(self) -> str: ...

class ProgressEngine:
    """
    Who does the multicast protocol's work at a host.
    """
    def communicators(self, chunks: int) -> int:
        """
        How many with receive buffers of so many chunks its memory holds.
        """
    def describe(self) -> str: ...
    def receive_chunks_per_s(self, transport: str, chunk_bytes: float, workers: int) -> float:
        """
        Chunks that so many threads receive in a second. Raises UserError.
        """
    def receive_time_s(
        self, transport: str, chunk_bytes: float, buffer_bytes: float, workers: int, link_Bps: float
    ) -> float:
        """
        Seconds from a buffer's first byte on the link until all of it is with the user. Raises UserError.
        """
    @property
    def cores(self) -> int: ...
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
    Proves of a file of recorded calls that it can be played.
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

def alltoall_messages(fabric: Fabric, count: int) -> list[tuple[int, int]]:
    """
    Pairs of hosts, of all-to-alls one after the other: each to the next, then the next but one.
    """

def bitmap_bytes(chunks: int) -> float:
    """
    The bitmap of a receive buffer: a bit per chunk.
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
    Hits and misses of one port's forwarding cache with packets to so many hosts, by CRC.
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

def fabric_schema() -> list[Table]:
    """
    Every table and key of a fabric file.
    """

def fallback_reasons() -> list[str]:
    """
    Why a call falls back, as records say it; "": it does not.
    """

def forwarding_addresses(fabric: Fabric, hash: str) -> list[int]:
    """
    What packets carry of their destination, by host.
    """

def forwarding_hash_name(fabric: Fabric, hash: str) -> str:
    """
    What "auto" is on a fabric. Raises UserError.
    """

def forwarding_tags(fabric: Fabric, hash: str, switch: int) -> list[ForwardingTag]:
    """
    The tags of one switch, by its number.
    """

def host_algorithms() -> list[HostAlgorithm]:
    """
    All algorithms: collective, name, Open MPI's number, whose they are, what they need.
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
    The messages of a collective on hosts, in rounds: (round, from, to, bytes). The selection's choice where no algorithm is named.
    """

def line_rate(latency_s: float, stages: int, frame_bytes: float) -> float:
    """
    Bytes a second of frames that a port can look up.
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
    Read a fabric file, or a shipped fabric by its name, with other values of some keys: each of `changes` is TABLE.KEY=VALUE. Raises UserError.
    """

def load_progress_engine(name_or_path: str) -> ProgressEngine:
    """
    A preset, or the table [progress_engine] of a file. Raises UserError.
    """

def mechanisms() -> list[Mechanism]:
    """
    The ways in which the network carries out collectives; `rest`: which one takes those that it does not do.
    """

def offload_modes() -> list[str]:
    """
    What a run may ask for: a mechanism, auto or off.
    """

def parse_bandwidth(text: str) -> float:
    """
    Bytes a second. Raises UserError.
    """

def paths() -> list[str]:
    """
    Who carries a call out, as records say it.
    """

def predicted_times(
    fabric: Fabric, fallback: str, calls: collections.abc.Sequence[tuple[str, int, int, int, float]]
) -> list[float]:
    """
    How long the hosts take for collectives on a quiet network, in seconds, the mean over the ranks: calls as (collective, ranks, ranks per host, elements, bytes of one).
    """

def prove_cube_hash(size: int, dimensions: int, wraps: bool) -> HashProof:
    """
    The same of three switches of a cube whose fabric is not built. Raises UserError where it is too large.
    """

def prove_hash(fabric: Fabric, hash: str, step: int = 1) -> HashProof:
    """
    Hold every step-th switch against every host: pairs, most tags of a switch, and what does not hold.
    """

def row_kinds() -> dict[str, tuple[str, list[tuple[str, str]]]]:
    """
    Every kind of row: its meaning, and its keys with their types.
    """

def selections() -> list[Selection]:
    """
    Names and descriptions of the shipped selections of algorithms.
    """

def smpi_fallbacks(fallback: str) -> dict[str, str]:
    """
    Check what a run is told to do on the hosts (collective/host/fallback.hpp), but for SMPI's names: those, by collective, and for all under an empty name.
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
