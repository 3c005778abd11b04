# SPDX-License-Identifier: LGPL-2.1-only
"""Hosts of each job's ranks.

Jobs that name their hosts are placed first, then all other jobs in file order. Consecutive ranks
share a host.
"""

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, zip_longest

from weft import _core
from weft.base.errors import WeftError, suggestion
from weft.runs.jobs import slurm_topology
from weft.runs.jobs.file import Job, JobsFile, fail

MEAN_FRAGMENT = 4
"""Mean number of hosts in a fragment."""


@dataclass(frozen=True)
class Placed:
    """Hosts of a job's ranks."""

    hosts: tuple[str, ...]
    """Host names by rank."""
    ppn: int


@dataclass
class _Hosts:
    """Hosts of the fabric, with the jobs on them."""

    fabric: _core.Fabric
    shared: bool
    nodes: Mapping[str, str]
    """Hosts by cluster node name, if the file uses node names."""
    names: list[str] = field(init=False)
    numbers: dict[str, int] = field(init=False)
    jobs: dict[str, list[str]] = field(default_factory=dict)
    """Names of the jobs on each host."""
    ranks: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.names = self.fabric.hosts
        self.numbers = {name: number for number, name in enumerate(self.names)}

    def free(self) -> list[int]:
        """Return the indices of the hosts available to automatic placement."""
        if self.shared:
            return list(range(len(self.names)))
        return [number for number, name in enumerate(self.names) if name not in self.jobs]


def place(file: JobsFile, fabric: _core.Fabric) -> dict[str, Placed]:
    """Return the hosts of each job by name. Raises `WeftError` if a job does not fit."""
    hosts = _Hosts(fabric, file.shared_hosts, _nodes(file, fabric))
    placed: dict[str, Placed] = {}
    for job in sorted(file.jobs, key=lambda one: not one.hosts):
        found = _named(job, hosts) if job.hosts else _chosen(job, hosts)
        _occupy(job, found, hosts)
        placed[job.name] = found
    return placed


def _nodes(file: JobsFile, fabric: _core.Fabric) -> Mapping[str, str]:
    """Return the host of each node in Slurm's topology."""
    leaves = leaf_of_hosts(fabric)
    by_leaf: dict[int, list[str]] = {}
    for number, name in enumerate(fabric.hosts):
        by_leaf.setdefault(leaves.get(number, number), []).append(name)
    try:
        return slurm_topology.hosts_of_nodes(file.leaves, list(by_leaf.values()))
    except ValueError as error:
        raise WeftError(
            f"{file.source}: topology: {file.topology} does not fit fabric {fabric.name}: {error}"
        ) from None


def _named(job: Job, hosts: _Hosts) -> Placed:
    if hosts.nodes:
        for name in job.hosts:
            if name not in hosts.nodes:
                near = suggestion(name, hosts.nodes)
                raise fail(job, "hosts", f"topology has no node {name}; {near}")
        job = replace(job, hosts=tuple(hosts.nodes[name] for name in job.hosts))
    for name in job.hosts:
        if name not in hosts.numbers:
            raise fail(
                job,
                "hosts",
                f"fabric {hosts.fabric.name} has no host {name}; {suggestion(name, hosts.names)}",
            )
    ppn = job.ppn or -(-job.ranks // len(job.hosts))
    _check_cores(job, ppn, hosts)
    if ppn * len(job.hosts) < job.ranks:
        raise fail(
            job,
            "hosts",
            f"found {len(job.hosts)} hosts; {job.ranks} ranks with {ppn} per host need"
            f" {-(-job.ranks // ppn)}",
        )
    return _blocks(job, job.hosts, ppn)


def _chosen(job: Job, hosts: _Hosts) -> Placed:
    free = hosts.free()
    ppn = job.ppn or max(1, -(-job.ranks // max(1, len(free))))
    needed = -(-job.ranks // ppn)
    if needed > len(free) or (job.ppn is None and ppn > hosts.fabric.cores_per_host):
        taken = len(hosts.names) - len(free)
        others = f", of which jobs before it occupy {taken}" if taken else ""
        raise fail(
            job,
            "ranks",
            f"found {job.ranks}, which need {needed} hosts with {ppn} ranks each; fabric"
            f" {hosts.fabric.name} has {len(hosts.names)} hosts of"
            f" {hosts.fabric.cores_per_host} cores{others}: use fewer ranks, a larger fabric, or"
            " shared_hosts = true",
        )
    _check_cores(job, ppn, hosts)
    numbers = _CHOICES[job.placement](job, free, needed, hosts)
    return _blocks(job, [hosts.names[number] for number in numbers], ppn)


def _check_cores(job: Job, ppn: int, hosts: _Hosts) -> None:
    if ppn > hosts.fabric.cores_per_host:
        raise fail(
            job,
            "ppn" if job.ppn else "ranks",
            f"found {job.ppn or job.ranks}, so that {ppn} ranks share a host; hosts of fabric"
            f" {hosts.fabric.name} have {hosts.fabric.cores_per_host} cores",
        )


def _blocks(job: Job, names: Sequence[str], ppn: int) -> Placed:
    return Placed(tuple(names[rank // ppn] for rank in range(job.ranks)), ppn)


def _occupy(job: Job, placed: Placed, hosts: _Hosts) -> None:
    for name, count in Counter(placed.hosts).items():
        others = hosts.jobs.setdefault(name, [])
        if others and not hosts.shared:
            raise fail(
                job,
                "hosts",
                f"job {others[0]} occupies {name}; choose other hosts, or write"
                " shared_hosts = true",
            )
        others.append(job.name)
        hosts.ranks[name] += count
        if hosts.ranks[name] > hosts.fabric.cores_per_host:
            raise fail(
                job,
                "ranks",
                f"{name} has {hosts.fabric.cores_per_host} cores, and {hosts.ranks[name]} ranks of"
                f" jobs {', '.join(others)} would share it",
            )


# ---- Placement policies


def _contiguous(job: Job, free: Sequence[int], needed: int, hosts: _Hosts) -> Sequence[int]:
    for first in range(len(free) - needed + 1):
        if free[first + needed - 1] - free[first] == needed - 1:
            return free[first : first + needed]
    raise fail(
        job,
        "placement",
        f"no {needed} consecutive hosts of fabric {hosts.fabric.name} are free; place this job"
        ' before those that take single hosts, or write placement = "fragments"',
    )


def _round_robin(_job: Job, free: Sequence[int], needed: int, hosts: _Hosts) -> Sequence[int]:
    leaves = leaf_of_hosts(hosts.fabric)
    by_leaf: dict[int, list[int]] = {}
    for number in free:
        by_leaf.setdefault(leaves.get(number, number), []).append(number)
    turns = chain.from_iterable(zip_longest(*by_leaf.values()))
    return [number for number in turns if number is not None][:needed]


def _random(job: Job, free: Sequence[int], needed: int, _hosts: _Hosts) -> Sequence[int]:
    return random.Random(job.seed).sample(free, needed)


def _fragments(job: Job, free: Sequence[int], needed: int, _hosts: _Hosts) -> Sequence[int]:
    draw = random.Random(job.seed)
    blocks: list[list[int]] = []
    for number in free:
        consecutive = bool(blocks) and blocks[-1][-1] == number - 1
        if not consecutive or draw.random() < 1 / MEAN_FRAGMENT:
            blocks.append([])
        blocks[-1].append(number)
    draw.shuffle(blocks)
    return sorted([number for block in blocks for number in block][:needed])


_CHOICES: Mapping[str, Callable[[Job, Sequence[int], int, _Hosts], Sequence[int]]] = {
    "contiguous": _contiguous,
    "round-robin": _round_robin,
    "random": _random,
    "fragments": _fragments,
}


def leaf_of_hosts(fabric: _core.Fabric) -> dict[int, int]:
    """Return the first switch of each host, by vertex."""
    count = len(fabric.hosts)
    leaves: dict[int, int] = {}
    for cable in fabric.cables():
        host, switch = sorted((cable["lower"], cable["upper"]))
        if host < count <= switch:
            leaves.setdefault(host, switch)
    return leaves
