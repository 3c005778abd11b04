"""The compiled core: fabric files, presets and what the build knows about SimGrid."""

from typing import TypedDict

import numpy as np
import numpy.typing as npt

version: str
simgrid_version: str
simgrid_prefix: str

class UserError(Exception):
    """A mistake in the user's input; its text is the complete message."""

class Offload(TypedDict):
    """Collectives that a switch does, and what it can do reductions on.

    A conversion is one of the hosts' ("" for none, whose rate is infinite).
    """

    collectives: list[str]
    datatypes: list[str]
    operations: list[str]
    conversion: str
    conversion_rate_Bps: float

class Switch(TypedDict):
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
    offload: list[Offload]

class Host(TypedDict):
    """What every host is."""

    preset: str
    speed_flops: float
    cores: int
    loopback_bandwidth_Bps: float
    loopback_latency_s: float

class Nic(TypedDict):
    """What every host's network interface is; a rate without limit is infinite."""

    preset: str
    offload_overhead_s: float
    message_gap_s: float
    offload_copy_rate_Bps: float
    contributions: str

class Segment(TypedDict):
    """Factors of point-to-point messages of at least so many bytes."""

    from_bytes: float
    latency_factor: float
    bandwidth_factor: float

class Mpi(TypedDict):
    """What the hosts' MPI library adds to messages; a rate without limit is infinite."""

    eager_threshold_bytes: float
    send_overhead_s: float
    send_copy_rate_Bps: float
    receive_overhead_s: float
    receive_copy_rate_Bps: float

class Cable(TypedDict):
    """One cable; its links are `NAME.up`, from the lower vertex to the upper, and `NAME.down`."""

    name: str
    lower: int
    upper: int
    bandwidth_Bps: float
    latency_s: float

class Shared(TypedDict):
    """What several links pass beside themselves, by their names."""

    links: list[str]
    bandwidth_Bps: float

class Way(TypedDict):
    """The way between two vertices, by names."""

    links: list[str]
    through: list[str]
    latency_s: float

class Fabric:
    """A fabric. Its vertices are numbered from 0, hosts first, then switches."""

    name: str
    description: str
    file: str
    topology: str
    hosts: list[str]
    cores_per_host: int
    switches: list[Switch]
    host: Host
    nic: Nic
    point_to_point: list[Segment]
    mpi: Mpi | None
    links: int
    shared: list[Shared]
    def cables(self) -> list[Cable]: ...
    def route(self, source: int, destination: int) -> Way: ...
    def describe(self) -> str: ...
    def check(self) -> str: ...

class ProgressEngine:
    """Who does the multicast protocol's work at a host; what is unlimited is infinite."""

    preset: str
    cores: int
    threads: int
    memory_bytes: float
    def describe(self) -> str: ...
    def receive_chunks_per_s(self, transport: str, chunk_bytes: float, workers: int) -> float: ...
    def receive_time_s(
        self,
        transport: str,
        chunk_bytes: float,
        buffer_bytes: float,
        workers: int,
        link_Bps: float,  # noqa: N803
    ) -> float: ...
    def communicators(self, chunks: int) -> int: ...

class Option(TypedDict):
    """One key of a table of a fabric file."""

    key: str
    type: str
    meaning: str
    required: bool

class Topology(TypedDict):
    """One kind of topology with the keys of its [topology] table."""

    kind: str
    meaning: str
    options: list[Option]

class Table(TypedDict):
    """One table of a fabric file."""

    table: str
    meaning: str
    options: list[Option]

def load_fabric(name_or_path: str) -> Fabric: ...
def load_progress_engine(name_or_path: str) -> ProgressEngine: ...
def bitmap_bytes(chunks: int) -> float: ...
def parse_bandwidth(text: str) -> float: ...
def list_presets(kind: str) -> list[str]: ...
def list_fabrics() -> list[str]: ...
def streaming_time(
    slots: int,
    payload_bytes: float,
    packet_overhead_bytes: float,
    message_bytes: npt.NDArray[np.float64],
    line_rate_Bps: npt.NDArray[np.float64],  # noqa: N803
    turnaround_s: float,
) -> npt.NDArray[np.float64]: ...
def topologies() -> list[Topology]: ...
def fabric_schema() -> list[Table]: ...

class HashProof(TypedDict):
    """What was proven of a forwarding hash on a fabric."""

    pairs: int
    most_tags: int
    misroutes: bool
    crowded: bool

def cache_of_port(
    entries: int,
    ways: int,
    replacement: str,
    destinations: int,
    scattered: bool,
    lookups: int,
    seed: int,
) -> dict[str, int]: ...
def cache_of_torus(
    entries: int,
    ways: int,
    replacement: str,
    size: int,
    dimensions: int,
    hashed: bool,
    messages: int,
    seed: int,
) -> list[dict[str, int]]: ...
def cache_of_messages(
    entries: int,
    ways: int,
    replacement: str,
    fabric: Fabric,
    hash: str,
    messages: list[tuple[int, int]],
) -> dict[str, int]: ...
def uniform_messages(fabric: Fabric, count: int, seed: int) -> list[tuple[int, int]]: ...
def prove_hash(fabric: Fabric, hash: str) -> HashProof: ...
def line_rate(latency_s: float, stages: int, frame_bytes: float) -> float: ...

class HostAlgorithm(TypedDict):
    collective: str
    name: str
    number: int
    any_operation: bool

class Selection(TypedDict):
    name: str
    description: str

class HostSchedule(TypedDict):
    algorithm: str
    segment_bytes: float
    fan_out: int
    rounds: int
    messages: list[tuple[int, int, int, float]]
    combined_bytes: list[float]

def host_algorithms() -> list[HostAlgorithm]: ...
def selections() -> list[Selection]: ...
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
    counts: list[int] | None = None,
) -> HostSchedule: ...
