# SPDX-License-Identifier: LGPL-2.1-only
"""What packet forwarding caches do with traffic, and what progress engines can do."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from weft import _core
from weft.api.asking import PathLike, Sizes, call, choice, existing, sizes, whole, words
from weft.base.errors import WeftError
from weft.base.plots import check_format
from weft.base.units import parse_size
from weft.study import progress_engine as engines
from weft.study.forwarding import forwarding, hashes, jobs
from weft.study.forwarding.forwarding import Cache, CacheStudy
from weft.trace.folder import read_folder

if TYPE_CHECKING:
    from polars import DataFrame

Replacement = Literal["lru", "fifo", "random"]
Ideal = Literal["lru", "fifo", "random", "future"]
_REPLACEMENTS = ("lru", "fifo", "random")
_MOST_ENTRIES = 1 << 20
_MOST_HOSTS = 1 << 20


@dataclass(frozen=True)
class CacheTable:
    """A study of caches: a table, and where there is one, its figure."""

    study: CacheStudy

    @property
    def title(self) -> str:
        """What was studied."""
        return self.study.title

    @call
    def frame(self) -> "DataFrame":
        """Return the table.

        `hits`, `initial`, `capacity` and `conflict` (misses) are parts of all lookups, from 0 to 1;
        `Gb/s` is the rate of the shortest frames that a port looks up.
        """
        import polars

        return polars.DataFrame(
            self.study.rows, schema=self.study.columns, orient="row", infer_schema_length=None
        )

    @call
    def plot(self, path: PathLike) -> None:
        """Draw it: .png, .svg or .pdf."""
        check_format("path", Path(path))
        if not self.study.series:
            raise WeftError(f"plot: there is no figure of '{self.title}'; use frame()")
        self.study.draw("path", Path(path))

    def __repr__(self) -> str:
        """Return its title and the number of its rows."""
        return f"<{self.title}: {len(self.study.rows)} rows>"

    def __str__(self) -> str:
        """Return its title and the table."""
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
    """Study conflict misses of one port by ways, under uniform traffic to so many hosts.

    Args:
        destinations: Hosts that packets go to.
        ways: Entries of a set.
        entries: Entries of a port.
        replacement: Which entry of a full set makes room.
        interval_ns: From a lookup that hits to the port's next.
        tcam_interval_ns: From one that misses.
        scattered: Hosts have any addresses of 24 bits, and not neighbouring ones.
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
    """Study conflict misses by ways while a recorded program runs on a fabric.

    Args:
        trace: A folder that `weft.record_trace` has written.
        fabric: Where its ranks run.
        ways: Entries of a set.
        hash: How packets are looked up: auto (the topology's own), crc, cube, fat_tree, dragonfly.
        entries: Entries of a port.
        replacement: Which entry of a full set makes room.
        interval_ns: From a lookup that hits to the port's next.
        tcam_interval_ns: From one that misses.
    """
    of = _cache(entries, 4, replacement, interval_ns, tcam_interval_ns)
    folder = read_folder(existing("trace", trace))
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
    """Study capacity misses on k-ary n-tori of one job, with the hash of the torus and without.

    Args:
        sizes: Switches along a dimension, a host each.
        dimensions: Of the tori.
        entries: Entries of a port.
        ways: Entries of a set.
        replacement: Which entry of a full set makes room.
        interval_ns: From a lookup that hits to the port's next.
        tcam_interval_ns: From one that misses.
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
    """Study hits and misses on a fabric, by hash, while hosts send to others, all equally often.

    Args:
        fabric: The fabric.
        messages: Messages sent.
        pattern: Anybody to anybody, or all-to-alls.
        ahead: Messages of its host by which an empty packet goes before each; 0: none does.
        hash: How packets are looked up.
        entries: Entries of a port.
        ways: Entries of a set.
        replacement: Which entry of a full set makes room; `future`: the one that is used last.
        interval_ns: From a lookup that hits to the port's next.
        tcam_interval_ns: From one that misses.
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
def cache_jobs(*files: PathLike) -> CacheTable:
    """Return the sizes of parallel jobs, from archives in the Standard Workload Format.

    Args:
        files: Archives, also compressed by gzip, or tables with the columns trace, procs and jobs.
            Without any: the sizes that come with weft.
    """
    paths = [existing("files", file) for file in files]
    return CacheTable(forwarding.job_sizes(jobs.read_all(paths) if paths else jobs.shipped_jobs()))


@dataclass(frozen=True)
class HashProof:
    """What was proven of the hash by which switches look packets up."""

    text: str
    """What was proven, in two lines."""
    details: hashes.FabricHash | None = None

    def _of_fabric(self) -> hashes.FabricHash:
        if self.details is None:
            raise WeftError("cube: has no addresses and tags, since its fabric is not built")
        return self.details

    @call
    def addresses(self) -> "DataFrame":
        """Return what packets carry of their destination: `host`, `address`."""
        import polars

        found = self._of_fabric()
        addresses = _core.forwarding_addresses(found.fabric, found.name)
        return polars.DataFrame({"host": found.fabric.hosts, "address": addresses})

    @call
    def tags(self, switch: str) -> "DataFrame":
        """Return the tags that a switch looks up: `tag`, `link`, `hosts`, `first` of them."""
        import polars

        return polars.DataFrame([dict(one) for one in self._of_fabric().tags(switch)])


@call
def cache_hash(
    fabric: PathLike | None = None, *, cube: hashes.Cube | None = None, hash: str = "auto"
) -> HashProof:
    """Prove the hash by which the switches of a fabric look packets up.

    Args:
        fabric: The fabric.
        cube: Or a k-ary n-cube that is too large to build: `weft.Cube(64, 4)`.
        hash: auto (the topology's own), crc, cube, fat_tree or dragonfly.

    Raises:
        WeftError: It does not hold.
    """
    if (fabric is None) == (cube is None):
        raise WeftError("fabric: name a fabric or a cube, one of them")
    if cube is not None:
        choice("hash", hash, ("auto", "cube"))
        return HashProof(hashes.prove_cube(cube))
    found = hashes.of_fabric(str(fabric), hash)
    return HashProof(found.text, found)


@call
def cache_rate(latency_ns: float, stages: int = 1) -> "DataFrame":
    """Compute the line rate up to which a port can look up every frame.

    Args:
        latency_ns: Of a lookup, in nanoseconds.
        stages: Lookups in flight.

    Returns:
        `frames` (the shortest and the longest), `bytes` of one, `bytes_per_s`.
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
    """Compute how fast a progress engine receives the chunks of multicasts.

    Args:
        engine: A preset ("bluefield-3-dpa"), or a file with a table [progress_engine].
        transport: `ud`, datagrams by way of a staging ring, and `uc`, messages of any length.
        threads: Threads that receive. By default doubling from 1 to all.
        chunk: Payload of a chunk.
        buffer: Receive buffer, whose first and last chunk count. By default one without end.
        link: Speed of the link, for payload ("200Gbps"). By default it is no limit.

    Returns:
        `transport`, `chunk_bytes`, `buffer_bytes`, `threads`, `chunks_per_s` (what the threads
        take), `bytes_per_s` (with the link as the ceiling).
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
    """Compute which receive buffers an engine's memory is for.

    Args:
        engine: A preset, or a file with a table [progress_engine].
        chunk: Payload of a chunk.

    Returns:
        By the bits of a chunk's number, `psn_bits`: `chunk_bytes`, `buffer_bytes` that they can
        address, `bitmap_bytes` of such a buffer, and for how many `communicators` there is room.
    """
    import polars

    rows = [asdict(row) for row in engines.memory(str(engine), parse_size(str(chunk), "chunk"))]
    return polars.DataFrame(rows).drop("engine", "memory_bytes")
