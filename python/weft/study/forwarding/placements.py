# SPDX-License-Identifier: LGPL-2.1-only
"""Forwarding caches under the traffic of jobs on given hosts: `weft cache placement`.

All ports of a job's hosts look up the same destinations, so one port represents all of them. The
ports of the whole fabric are simulated message by message.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from weft import _core
from weft.base import node_list
from weft.base.errors import WeftError, suggestion
from weft.base.user_files import UnreadableError, read_text
from weft.runs.jobs.file import JobsFile
from weft.runs.jobs.placement import place
from weft.study.forwarding.forwarding import (
    LOOKUPS_A_DESTINATION,
    PARTS,
    SEED,
    THROUGHPUT,
    Cache,
    CacheStudy,
    with_throughput,
)

Places = Mapping[str, Sequence[int]]
"""Host indices of each job, by job name."""


def of_file(path: Path, fabric: _core.Fabric) -> Places:
    """Return the hosts in a file of node lists, as a single job."""
    try:
        names = [name for word in read_text(path).split() for name in node_list.expand(word)]
    except (UnreadableError, ValueError) as error:
        raise WeftError(f"{path}: {error}") from None
    return {path.stem: _numbers(str(path), names, fabric)}


def of_jobs(file: JobsFile, fabric: _core.Fabric) -> Places:
    """Return the hosts of each job in a jobs file."""
    return {
        name: _numbers(file.source, placed.hosts, fabric)
        for name, placed in place(file, fabric).items()
    }


def _numbers(source: str, names: Iterable[str], fabric: _core.Fabric) -> list[int]:
    numbers = {name: number for number, name in enumerate(fabric.hosts)}
    found = dict.fromkeys(names)
    for name in found:
        if name not in numbers:
            raise WeftError(
                f"{source}: fabric {fabric.name} has no host {name}; {suggestion(name, numbers)}"
            )
    return [numbers[name] for name in found]


def study(
    cache: Cache, fabric: _core.Fabric, places: Places, hashes: Sequence[str], messages: int
) -> CacheStudy:
    """Study the ports of each job's hosts, and all ports of the fabric, under uniform traffic.

    Each job sends messages among its own hosts, in proportion to its number of hosts.
    """
    jobs = {name: hosts for name, hosts in places.items() if len(hosts) > 1}
    if not jobs:
        raise WeftError("no job has two hosts or more, so that there are no messages")
    shape = (cache.entries, cache.ways, cache.replacement)
    ends = {name: _messages(hosts, messages, len(jobs)) for name, hosts in jobs.items()}
    rows: list[tuple[str | int | float, ...]] = []
    for used in hashes:
        for name, hosts in jobs.items():
            lookups = LOOKUPS_A_DESTINATION * len(hosts)
            found = _core.cache_of_hosts(*shape, fabric, used, hosts, lookups, SEED)
            rows.append((name, len(hosts), used, "of a host", *with_throughput(cache, found)))
            found, _ = _core.cache_of_messages(*shape, fabric, used, ends[name])
            rows.append((name, len(hosts), used, "all", *with_throughput(cache, found)))
        if len(jobs) > 1:
            mixed = _mixed(list(ends.values()))
            found, _ = _core.cache_of_messages(*shape, fabric, used, mixed)
            number = len({host for hosts in jobs.values() for host in hosts})
            rows.append(("together", number, used, "all", *with_throughput(cache, found)))
    return CacheStudy(
        f"Lookups on {fabric.name}, uniform traffic within each job, {cache.entries:,} entries,"
        f" {cache.ways} ways",
        ("job", "hosts", "hash", "ports", *PARTS, THROUGHPUT),
        rows,
        (),
        "",
        "",
    )


def _messages(hosts: Sequence[int], messages: int, seed: int) -> list[tuple[int, int]]:
    """Return messages between random hosts of a job."""
    random = np.random.default_rng([SEED, seed, *hosts[:2]])
    places = np.array(hosts)
    senders = random.integers(len(hosts), size=messages)
    others = (senders + 1 + random.integers(len(hosts) - 1, size=messages)) % len(hosts)
    return list(zip(places[senders].tolist(), places[others].tolist(), strict=True))


def _mixed(of_jobs: Sequence[Sequence[tuple[int, int]]]) -> list[tuple[int, int]]:
    """Interleave the messages of all jobs."""
    return [ends for together in zip(*of_jobs, strict=True) for ends in together]
