# SPDX-License-Identifier: LGPL-2.1-only
"""Forwarding caches under given traffic: the studies behind `weft cache`.

The loops are in C++ (src/fabric/analysis/cache_study.cpp); this module sets their parameters and
builds tables.
"""

import csv
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from weft import _core
from weft.base import plots
from weft.base.errors import WeftError
from weft.base.output import whole_file
from weft.base.plots import Series
from weft.base.process import work_directory
from weft.runs import launch
from weft.runs.replay import replay_request
from weft.study.forwarding import jobs
from weft.trace.folder import Folder

SEED = 1
SHORTEST_FRAME, LONGEST_FRAME = 84, 1518
"""Ethernet frame sizes in bytes: 64 plus preamble and gap, and the largest (Hirasawa et al.)."""

LOOKUPS_A_DESTINATION = 200
"""High enough that initial misses are negligible."""
_MESSAGES_A_HOST = 8
_LEAST_MESSAGES = 50_000


@dataclass(frozen=True)
class Cache:
    """Forwarding cache of an input port."""

    entries: int = 2048
    ways: int = 4
    replacement: str = "lru"
    interval_ns: float = 0.72
    """Time between lookups after a hit (Hirasawa et al., section V.B: cache and hash)."""
    tcam_interval_ns: float = 4.0
    """Time between lookups after a miss (section I: the TCAM)."""

    def throughput_Gbps(self, hits: float) -> int:  # noqa: N802 (the unit's name)
        """Return the rate of the shortest frames at this hit rate, with sequential lookups."""
        return round(SHORTEST_FRAME * 8 / self.mean_ns(hits))

    def mean_ns(self, hits: float) -> float:
        """Return the mean time of a lookup at this hit rate."""
        return hits * self.interval_ns + (1 - hits) * self.tcam_interval_ns


@dataclass(frozen=True)
class CacheStudy:
    """Table, and the curves of its figure."""

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[str | int | float, ...]]
    series: tuple[Series, ...]
    x: str
    y: str
    logarithmic: bool = True

    def write_csv(self, option: str, target: Path) -> None:
        """Write the table, with its title as a comment."""
        with whole_file(option, target) as file:
            file.write(f"# {self.title}\n")
            csv.writer(file, lineterminator="\n").writerows([self.columns, *self.rows])

    def draw(self, option: str, target: Path) -> None:
        """Draw the figure."""
        texts = (self.title, self.x, self.y)
        figure = plots.shares_figure(self.series, texts, logarithmic=self.logarithmic)
        plots.save(figure, [target], option)


T = TypeVar("T", int, str)
PARTS = ("hits", "initial", "capacity", "conflict")
THROUGHPUT = "Gb/s"
"""Throughput for the shortest frames, in the last column of all lookup tables."""


def _shares(counters: dict[str, int]) -> tuple[float, ...]:
    lookups = sum(counters.values())
    return tuple(round(counters[part] / lookups, 6) for part in PARTS) if lookups else (0.0,) * 4


def with_throughput(cache: Cache, counters: dict[str, int]) -> tuple[float | int, ...]:
    """Return the fractions of PARTS, and the throughput."""
    shares = _shares(counters)
    return (*shares, cache.throughput_Gbps(shares[0]))


def _series(labels: Sequence[str], points: Iterable[dict[int, float]]) -> tuple[Series, ...]:
    return tuple(
        Series(label, line, colour)
        for colour, (label, line) in enumerate(zip(labels, points, strict=True))
    )


def conflicts_by_ways(
    cache: Cache, ways: Sequence[int], destinations: Sequence[int], *, scattered: bool
) -> CacheStudy:
    """Study one port with uniform traffic to several hosts (Hirasawa et al., figure 5)."""

    def counters(count: int, way: int) -> dict[str, int]:
        lookups = count * LOOKUPS_A_DESTINATION
        return _core.cache_of_port(
            cache.entries, way, cache.replacement, count, scattered, lookups, SEED
        )

    addresses = "scattered addresses" if scattered else "addresses in one block"
    title = f"Conflict misses, uniform traffic, {cache.entries:,} entries, {addresses}"
    labels = [f"{count} destinations" for count in destinations]
    return _conflicts(cache, title, "destinations", destinations, labels, ways, counters)


def _conflicts(
    cache: Cache,
    title: str,
    what: str,
    subjects: Sequence[T],
    labels: Sequence[str],
    ways: Sequence[int],
    counters: Callable[[T, int], dict[str, int]],
) -> CacheStudy:
    """Study conflict misses by associativity, one line per subject."""
    rows: list[tuple[str | int | float, ...]] = []
    lines: list[dict[int, float]] = []
    for one in subjects:
        line: dict[int, float] = {}
        for way in ways:
            shares: tuple[float, ...] = _shares(counters(one, way))
            rows.append((one, way, *shares, cache.throughput_Gbps(shares[0])))
            line[way] = 100 * shares[3]
        lines.append(line)
    return CacheStudy(
        title,
        (what, "ways", *PARTS, THROUGHPUT),
        rows,
        _series(labels, lines),
        "ways",
        "conflict misses (% of lookups)",
    )


def messages_of(folder: Folder, fabric: str) -> list[tuple[int, int]]:
    """Replay a trace without offload; return the hosts of each message, ordered by start."""
    with work_directory() as work:
        target = work / "messages"
        request = replay_request(folder, fabric=fabric, offload="off")
        record = launch.run(launch.prepare(request.changed(messages=target)))
        if record.failed:
            raise WeftError(
                f"{folder.path}: its replay on {fabric} failed: {record.outcome.message}"
            )
        ends = np.fromfile(target, dtype=np.int32).reshape(-1, 2)
    if not len(ends):
        raise WeftError(f"{folder.path}: has no message between hosts of {fabric}")
    return [(source, destination) for source, destination in ends.tolist()]


def conflicts_of_trace(
    cache: Cache, ways: Sequence[int], folder: Folder, fabric: str, hashes: Sequence[str]
) -> CacheStudy:
    """Study all ports of a fabric under a recorded program (Hirasawa et al., figure 6)."""
    messages = messages_of(folder, fabric)
    return conflicts_of_messages(cache, ways, (folder.path.name, messages), fabric, hashes)


def conflicts_of_messages(
    cache: Cache,
    ways: Sequence[int],
    program: tuple[str, list[tuple[int, int]]],
    fabric: str,
    hashes: Sequence[str],
) -> CacheStudy:
    """Study all ports of a fabric under the messages of a named program."""
    loaded = _core.load_fabric(fabric)
    program_name, messages = program

    def counters(name: str, way: int) -> dict[str, int]:
        shape = (cache.entries, way, cache.replacement)
        return _core.cache_of_messages(*shape, loaded, name, messages)[0]

    title = f"Conflict misses of {program_name} on {loaded.name}, {cache.entries:,} entries"
    labels = [f"hash {name}" for name in hashes]
    return _conflicts(cache, title, "hash", hashes, labels, ways, counters)


def capacity_of_tori(cache: Cache, sizes: Sequence[int], dimensions: int) -> CacheStudy:
    """Study k-ary n-tori of one job under uniform traffic, with and without the hash (figure 7)."""
    rows: list[tuple[str | int | float, ...]] = []
    names = ("CRC, all ports", "CRC, ports of hosts", "hash of the torus")
    lines: list[dict[int, float]] = [{}, {}, {}]
    ports = ("host", *(f"dimension {i}" for i in range(dimensions)))
    for size in sizes:
        hosts = size**dimensions
        messages = max(_LEAST_MESSAGES, _MESSAGES_A_HOST * hosts)
        for hashed in (False, True):
            by_port = _core.cache_of_torus(
                cache.entries,
                cache.ways,
                cache.replacement,
                size,
                dimensions,
                hashed,
                messages,
                SEED,
            )
            everything = {part: sum(port[part] for port in by_port) for part in PARTS}
            named = zip((*ports, "all"), (*by_port, everything), strict=True)
            name = "cube" if hashed else "crc"
            rows += [
                (size, hosts, name, port, *with_throughput(cache, part)) for port, part in named
            ]
            lines[2 if hashed else 0][hosts] = 100 * _shares(everything)[2]
            if not hashed:
                lines[1][hosts] = 100 * _shares(by_port[0])[2]
    return CacheStudy(
        f"Capacity misses on k-ary {dimensions}-tori, uniform traffic, {cache.entries:,} entries",
        ("k", "hosts", "hash", "ports", *PARTS, THROUGHPUT),
        rows,
        _series(names, lines),
        "job size (hosts)",
        "capacity misses (% of lookups)",
    )


PATTERNS = ("uniform", "alltoall")


def traffic(
    cache: Cache,
    fabric: str,
    hashes: Sequence[str],
    messages: int,
    *,
    pattern: str = "uniform",
    ahead: int = 0,
) -> CacheStudy:
    """Study all ports of a fabric under uniform traffic or consecutive all-to-alls.

    If `ahead` is not 0, an empty packet precedes each message by `ahead` messages of its host
    (section VI.A). Empty packets also need lookups, which lowers the throughput of messages.
    """
    loaded = _core.load_fabric(fabric)
    if len(loaded.hosts) < 2:
        raise WeftError(f"fabric {loaded.name}: has one host; allowed: at least two")
    ends = (
        _core.uniform_messages(loaded, messages, SEED)
        if pattern == "uniform"
        else _core.alltoall_messages(loaded, messages)
    )
    rows: list[tuple[str | int | float, ...]] = []
    shape = (cache.entries, cache.ways, cache.replacement)
    for name in hashes:
        found, empty = _core.cache_of_messages(*shape, loaded, name, ends, ahead)
        lookups = sum(found.values())
        share = found["hits"] / lookups if lookups else 0.0
        busy_ns = cache.mean_ns(share) * lookups + _busy_ns(cache, empty)
        throughput = round(SHORTEST_FRAME * 8 * lookups / busy_ns) if lookups else 0
        rows.append((loaded.name, name, lookups, *_shares(found), throughput))
    sent_ahead = f", empty packets {ahead} ahead" if ahead else ""
    kind = {"uniform": "uniform traffic", "alltoall": "all-to-alls"}[pattern]
    return CacheStudy(
        f"Lookups on {loaded.name}, {messages:,} messages, {kind}{sent_ahead}",
        ("fabric", "hash", "lookups", *PARTS, THROUGHPUT),
        rows,
        (),
        "",
        "",
    )


def _busy_ns(cache: Cache, counters: dict[str, int]) -> float:
    lookups = sum(counters.values())
    return lookups * cache.mean_ns(counters["hits"] / lookups) if lookups else 0.0


def job_sizes(sizes: jobs.Sizes) -> CacheStudy:
    """Return the cumulative distribution of job sizes in processors (Hirasawa et al., figure 3)."""
    shares = {name: jobs.distribution(of) for name, of in sizes.items()}
    rows: list[tuple[str | int | float, ...]] = [
        (name, processors, sizes[name][processors], round(share, 6))
        for name, line in shares.items()
        for processors, share in line.items()
    ]
    lines = [
        {processors: 100 * share for processors, share in line.items()} for line in shares.values()
    ]
    return CacheStudy(
        "Sizes of jobs",
        ("trace", "processors", "jobs", "share_of_jobs_up_to"),
        rows,
        _series(list(shares), lines),
        "processors",
        "cumulative share of jobs (%)",
    )
