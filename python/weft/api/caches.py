# SPDX-License-Identifier: LGPL-2.1-only
"""Studies of packet forwarding caches, and models of progress engines."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from weft import _core
from weft.api.input_checks import PathLike, Sizes, call, choice, existing, sizes, whole, words
from weft.base.errors import WeftError
from weft.base.plots import check_format
from weft.base.units import parse_size
from weft.runs.jobs.file import read as read_jobs_file
from weft.study import progress_engine as engines
from weft.study.forwarding import forwarding, hashes, placements
from weft.study.forwarding import jobs as archives
from weft.study.forwarding.forwarding import Cache, CacheStudy
from weft.trace.foreign import read_trace

if TYPE_CHECKING:
    from polars import DataFrame

__all__ = [
    "CacheTable",
    "HashProof",
    "cache_capacity",
    "cache_hash",
    "cache_jobs",
    "cache_placement",
    "cache_rate",
    "cache_trace",
    "cache_traffic",
    "cache_ways",
    "progress_engine_memory",
    "progress_engine_throughput",
]

Replacement = Literal["lru", "fifo", "random"]
Ideal = Literal["lru", "fifo", "random", "future"]
_REPLACEMENTS = ("lru", "fifo", "random")
_MOST_ENTRIES = 1 << 20
_MOST_HOSTS = 1 << 20


@dataclass(frozen=True)
class CacheTable:
    """Study of caches: a table and, for some studies, a figure."""

    study: CacheStudy

    @property
    def title(self) -> str:
        """Subject of the study."""
        return self.study.title

    @call
    def frame(self) -> "DataFrame":
        """Return the table.

        `hits`, `initial`, `capacity` and `conflict` (misses) are fractions of all lookups, from 0
        to 1; `Gb/s` is the lookup rate of a port as throughput of minimum-size frames.
        """
        import polars

        return polars.DataFrame(
            self.study.rows, schema=self.study.columns, orient="row", infer_schema_length=None
        )

    @call
    def plot(self, path: PathLike) -> None:
        """Draw the figure: .png, .svg or .pdf."""
        check_format("path", Path(path))
        if not self.study.series:
            raise WeftError(f"plot: '{self.title}' has no figure; use frame()")
        self.study.draw("path", Path(path))

    def __repr__(self) -> str:
        """Return title and number of rows."""
        return f"<{self.title}: {len(self.study.rows)} rows>"

    def __str__(self) -> str:
        """Return title and table."""
        return f"{self.title}\n{self.frame()}"

    def _repr_html_(self) -> str:
        return self.frame()._repr_html_()


def _cache(
    entries: int,
    ways: int,
    replacement: str,
    interval_ns: float,
    tcam_interval_ns: float,
    allowed: Sequence[str] = _REPLACEMENTS,
) -> Cache:
    return Cache(
        whole("entries", entries, 1, _MOST_ENTRIES),
        whole("ways", ways, 1, _MOST_ENTRIES),
        choice("replacement", replacement, allowed),
        _nanoseconds("interval_ns", interval_ns),
        _nanoseconds("tcam_interval_ns", tcam_interval_ns),
    )


def _nanoseconds(name: str, value: float) -> float:
    if not 1e-3 <= value <= 1e9:
        raise WeftError(f"{name}: found {value!r}; allowed are nanoseconds from 0.001 to 10^9")
    return float(value)


def _numbers(name: str, values: Sequence[int], least: int = 1, most: int = 1 << 24) -> list[int]:
    words(name, values)
    found = [whole(name, one, least, most) for one in values]
    if not found:
        raise WeftError(f"{name}: found an empty list; write at least one number")
    return found


@call
def cache_ways(
    destinations: Sequence[int] = (128, 256, 512, 1024, 2048),
    *,
    ways: Sequence[int] = (1, 2, 4, 8, 16),
    entries: int = 2048,
    replacement: Replacement = "lru",
    interval_ns: float = Cache.interval_ns,
    tcam_interval_ns: float = Cache.tcam_interval_ns,
    scattered: bool = False,
) -> CacheTable:
    """Study conflict misses of a port by associativity, under uniform traffic to several hosts.

    Args:
        destinations: Numbers of destination hosts.
        ways: Associativity: entries per set.
        entries: Entries per port.
        replacement: Replacement policy of a full set.
        interval_ns: Time from a hit to the port's next lookup.
        tcam_interval_ns: Time from a miss to the port's next lookup.
        scattered: Hosts have arbitrary 24-bit addresses instead of consecutive ones.
    """
    of = _cache(entries, 4, replacement, interval_ns, tcam_interval_ns)
    counts = _numbers("destinations", destinations)
    by = _numbers("ways", ways)
    return CacheTable(forwarding.conflicts_by_ways(of, by, counts, scattered=scattered))


@call
def cache_trace(
    trace: PathLike,
    fabric: PathLike,
    *,
    ways: Sequence[int] = (1, 2, 4, 8, 16),
    hash: Sequence[str] = ("auto", "crc"),
    entries: int = 2048,
    replacement: Replacement = "lru",
    interval_ns: float = Cache.interval_ns,
    tcam_interval_ns: float = Cache.tcam_interval_ns,
) -> CacheTable:
    """Study conflict misses by associativity while a recorded program runs on a fabric.

    Args:
        trace: A folder written by `weft.record_trace`.
        fabric: Fabric for its ranks.
        ways: Associativity: entries per set.
        hash: Forwarding hashes: auto (the topology's own), crc, cube, fat_tree, dragonfly.
        entries: Entries per port.
        replacement: Replacement policy of a full set.
        interval_ns: Time from a hit to the port's next lookup.
        tcam_interval_ns: Time from a miss to the port's next lookup.
    """
    of = _cache(entries, 4, replacement, interval_ns, tcam_interval_ns)
    folder = read_trace(existing("trace", trace))
    names, by = words("hash", hash), _numbers("ways", ways)
    return CacheTable(forwarding.conflicts_of_trace(of, by, folder, str(fabric), names))


@call
def cache_capacity(
    sizes: Sequence[int] = (2, 4, 6, 8, 10, 12, 14, 16),
    *,
    dimensions: int = 4,
    entries: int = 2048,
    ways: int = 4,
    replacement: Replacement = "lru",
    interval_ns: float = Cache.interval_ns,
    tcam_interval_ns: float = Cache.tcam_interval_ns,
) -> CacheTable:
    """Study capacity misses on k-ary n-tori of one job, with and without the torus's own hash.

    Args:
        sizes: Numbers of switches along a dimension, with one host per switch.
        dimensions: Dimensions of the tori.
        entries: Entries per port.
        ways: Associativity: entries per set.
        replacement: Replacement policy of a full set.
        interval_ns: Time from a hit to the port's next lookup.
        tcam_interval_ns: Time from a miss to the port's next lookup.
    """
    of = _cache(entries, ways, replacement, interval_ns, tcam_interval_ns)
    counts = _numbers("sizes", sizes, 2, 64)
    if max(counts) ** whole("dimensions", dimensions, 1, 6) > _MOST_HOSTS:
        raise WeftError(
            f"sizes: found {max(counts)}, which makes a torus of {max(counts) ** dimensions:,}"
            f" hosts; allowed: at most {_MOST_HOSTS:,}"
        )
    return CacheTable(forwarding.capacity_of_tori(of, counts, dimensions))


@call
def cache_traffic(
    fabric: PathLike,
    *,
    messages: int = 200_000,
    pattern: Literal["uniform", "alltoall"] = "uniform",
    ahead: int = 0,
    hash: Sequence[str] = ("auto", "crc"),
    entries: int = 2048,
    ways: int = 4,
    replacement: Ideal = "lru",
    interval_ns: float = Cache.interval_ns,
    tcam_interval_ns: float = Cache.tcam_interval_ns,
) -> CacheTable:
    """Study hits and misses by hash on a fabric under uniform traffic.

    Args:
        fabric: The fabric.
        messages: Number of messages.
        pattern: Random pairs, or all-to-alls.
        ahead: Prefetch distance: the number of messages of the same host by which an empty packet
            precedes each message, to load its entries; 0: no prefetching.
        hash: Forwarding hashes.
        entries: Entries per port.
        ways: Associativity: entries per set.
        replacement: Replacement policy of a full set; `future`: evict the entry whose next use is
            furthest away.
        interval_ns: Time from a hit to the port's next lookup.
        tcam_interval_ns: Time from a miss to the port's next lookup.
    """
    allowed = (*_REPLACEMENTS, "future")
    of = _cache(entries, ways, replacement, interval_ns, tcam_interval_ns, allowed)
    study = forwarding.traffic(
        of,
        str(fabric),
        words("hash", hash),
        whole("messages", messages, 1, 1 << 26),
        pattern=choice("pattern", pattern, forwarding.PATTERNS),
        ahead=whole("ahead", ahead, 0, 1 << 20),
    )
    return CacheTable(study)


@call
def cache_placement(
    fabric: PathLike,
    *,
    hosts: PathLike | None = None,
    jobs: PathLike | None = None,
    messages: int = 200_000,
    hash: Sequence[str] = ("auto", "crc"),
    entries: int = 2048,
    ways: int = 4,
    replacement: Replacement = "lru",
    interval_ns: float = Cache.interval_ns,
    tcam_interval_ns: float = Cache.tcam_interval_ns,
) -> CacheTable:
    """Study hits and misses of jobs on given hosts, under uniform traffic within each job.

    Args:
        fabric: The fabric.
        hosts: A file with the names of one job's hosts, also in Slurm's notation.
        jobs: A jobs file, instead of `hosts`: the hosts of its jobs.
        messages: Number of messages of each job.
        hash: Forwarding hashes.
        entries: Entries per port.
        ways: Associativity: entries per set.
        replacement: Replacement policy of a full set.
        interval_ns: Time from a hit to the port's next lookup.
        tcam_interval_ns: Time from a miss to the port's next lookup.
    """
    of = _cache(entries, ways, replacement, interval_ns, tcam_interval_ns)
    if (hosts is None) == (jobs is None):
        raise WeftError("hosts: give either hosts or jobs")
    loaded = _core.load_fabric(str(fabric))
    places = (
        placements.of_file(existing("hosts", hosts), loaded)
        if hosts is not None
        else placements.of_jobs(read_jobs_file(existing("jobs", str(jobs))), loaded)
    )
    number = whole("messages", messages, 1, 1 << 26)
    return CacheTable(placements.study(of, loaded, places, words("hash", hash), number))


@call
def cache_jobs(*files: PathLike) -> CacheTable:
    """Return the sizes of parallel jobs, from archives in the Standard Workload Format.

    Args:
        files: Archives, optionally gzipped, or tables with the columns trace, procs and jobs. By
            default the sizes shipped with weft.
    """
    paths = [existing("files", file) for file in files]
    return CacheTable(
        forwarding.job_sizes(archives.read_all(paths) if paths else archives.shipped_jobs())
    )


@dataclass(frozen=True)
class HashProof:
    """Proof that the forwarding hash of a fabric's switches is correct."""

    text: str
    """Summary of the proof, in two lines."""
    details: hashes.FabricHash | None = None

    def _of_fabric(self) -> hashes.FabricHash:
        if self.details is None:
            raise WeftError("cube: has no addresses and tags, since its fabric is not built")
        return self.details

    @call
    def addresses(self) -> "DataFrame":
        """Return the destination address in packets, by host: `host`, `address`."""
        import polars

        found = self._of_fabric()
        addresses = _core.forwarding_addresses(found.fabric, found.name)
        return polars.DataFrame({"host": found.fabric.hosts, "address": addresses})

    @call
    def tags(self, switch: str) -> "DataFrame":
        """Return the tags that a switch looks up: `tag`, `link`, `hosts` and their `first`."""
        import polars

        return polars.DataFrame([dict(one) for one in self._of_fabric().tags(switch)])


@call
def cache_hash(
    fabric: PathLike | None = None, *, cube: hashes.Cube | None = None, hash: str = "auto"
) -> HashProof:
    """Prove that the forwarding hash of a fabric's switches is correct.

    Args:
        fabric: The fabric.
        cube: A k-ary n-cube that is too large to build, instead of a fabric: `weft.Cube(64, 4)`.
        hash: auto (the topology's own), crc, cube, fat_tree or dragonfly.

    Raises:
        WeftError: The proof fails.
    """
    if (fabric is None) == (cube is None):
        raise WeftError("fabric: give either a fabric or a cube")
    if cube is not None:
        choice("hash", hash, ("auto", "cube"))
        return HashProof(hashes.prove_cube(cube))
    found = hashes.of_fabric(str(fabric), hash)
    return HashProof(found.text, found)


@call
def cache_rate(latency_ns: float, stages: int = 1) -> "DataFrame":
    """Compute the line rate up to which a port can look up every frame.

    Args:
        latency_ns: Latency of a lookup, in nanoseconds.
        stages: Lookups in flight.

    Returns:
        `frames` (shortest and longest), `bytes` per frame, `bytes_per_s`.
    """
    import polars

    wanted = _nanoseconds("latency_ns", latency_ns) * 1e-9
    count = whole("stages", stages, 1, 1 << 20)
    frames = {"shortest": forwarding.SHORTEST_FRAME, "longest": forwarding.LONGEST_FRAME}
    rates = [_core.line_rate(wanted, count, size) for size in frames.values()]
    return polars.DataFrame(
        {"frames": list(frames), "bytes": list(frames.values()), "bytes_per_s": rates}
    )


# ---- Progress engines


@call
def progress_engine_throughput(
    engine: PathLike,
    *,
    transport: Sequence[str] = engines.TRANSPORTS,
    threads: Sequence[int] = (),
    chunk: Sizes = "4KiB",
    buffer: Sizes | None = None,
    link: str | None = None,
) -> "DataFrame":
    """Compute the rate at which a progress engine receives multicast chunks.

    Args:
        engine: A preset ("bluefield-3-dpa"), or a file with a table [progress_engine].
        transport: `ud`, datagrams through a staging ring, and `uc`, messages of any length.
        threads: Receiving threads. By default, powers of two up to all threads.
        chunk: Payload of a chunk.
        buffer: Receive buffer; accounts for the fixed costs of its first and last chunk. By default
            unlimited.
        link: Payload rate of the link ("200Gbps"). By default unlimited.

    Returns:
        `transport`, `chunk_bytes`, `buffer_bytes`, `threads`, `chunks_per_s` (rate of the threads),
        `bytes_per_s` (capped by the link).
    """
    import polars

    if not transport:
        raise WeftError("transport: found an empty list; write ud, uc or both")
    case = engines.Case(
        str(engine),
        [choice("transport", one, engines.TRANSPORTS) for one in transport],
        [whole("threads", one, 1, 999_999) for one in threads],
        sizes("chunk", chunk),
        () if buffer is None else sizes("buffer", buffer),
        math.inf if link is None else _bandwidth(link),
    )
    hidden = ("engine", "link_bytes_per_s")
    rows = [asdict(row) for row in engines.throughput(case)]
    return polars.DataFrame(rows, infer_schema_length=None).drop(hidden)


def _bandwidth(link: str) -> float:
    found = _core.parse_bandwidth(link)
    if found <= 0:
        raise WeftError(f"link: found '{link}'; allowed: more than zero")
    return found


@call
def progress_engine_memory(engine: PathLike, *, chunk: int | str = "4KiB") -> "DataFrame":
    """Compute the receive buffers that fit an engine's memory.

    Args:
        engine: A preset, or a file with a table [progress_engine].
        chunk: Payload of a chunk.

    Returns:
        By the number of bits in a chunk number, `psn_bits`: `chunk_bytes`, the addressable
        `buffer_bytes`, `bitmap_bytes` of this buffer, and the number of `communicators` that fit.
    """
    import polars

    rows = [asdict(row) for row in engines.memory(str(engine), parse_size(str(chunk), "chunk"))]
    return polars.DataFrame(rows).drop("engine", "memory_bytes")
