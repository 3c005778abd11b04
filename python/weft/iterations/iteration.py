# SPDX-License-Identifier: LGPL-2.1-only
"""An iteration in time: a workload on a fabric of GPUs, and how its ranks spend it.

At each moment a rank computes, or else communicates, or else waits for others, or else is idle; the
first that holds counts, so that the parts add up to the iteration. Communication while a rank
computes is hidden.
"""

import resource
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from weft import _core
from weft.base.errors import WeftError, named
from weft.base.models import Model
from weft.iterations.disturbances import faults_part, prepare, traffic_parts
from weft.runs.faults.changes import of_fabric
from weft.runs.record_data import FaultsPart, OutcomePart, PacketsPart, TrafficPart
from weft.training.workload import Workload

LIBRARY = "nccl-2.29"
"""Default library of collectives."""
MESSAGES = "messages"
"""Name of point-to-point messages among the kinds of groups."""

Progress = Callable[[float], None]
"""Called with the fraction of operations that have ended."""


@dataclass(frozen=True, kw_only=True)
class Conditions:
    """Fabric and settings of an iteration."""

    fabric: str
    changes: tuple[str, ...] = ()
    """Changes of the fabric file and of the fault file, TABLE.KEY=VALUE each."""
    faults: Path | None = None
    """File of links, switches and hosts that fail."""
    traffic: Path | None = None
    """File of background traffic."""
    library: str = LIBRARY
    execute_all: bool = False
    """True: equal calls are executed again, instead of taking the times of the first one."""
    detail: str = "step"
    """Form in which a call is executed, one of DETAILS."""
    multicast: bool = False
    """True: Allgathers between nodes are hardware multicasts, which NCCL does not have."""
    slowdown: Mapping[int, float] = field(default_factory=dict)
    """Factor by which the computation of a rank takes longer."""
    noise: float = 0.0
    """Standard deviation of the logarithm of a random factor of each computation."""
    seed: int = 0
    listed: tuple[int, ...] = ()
    """Ranks of which all operations are listed."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """Seconds of a use of time: the mean over the ranks, and the most of a rank."""

    name: str
    """`computation`, `exposed KIND`, `waiting KIND` or `idle`."""
    mean_s: float
    most_s: float


class LinkClassRecord(Model):
    """Links between the same two kinds of devices, those that have carried something."""

    name: str
    """Both kinds, as in the names of cables: `gpu--nvswitch`, `leaf--spine`."""
    links: int
    """Number of these links; a cable has two."""
    bytes: float
    utilisation: float
    """Mean of these links: bytes over their capacity in the iteration."""
    busiest: str
    """Link with the highest utilisation; empty if each message chooses a route."""
    busiest_utilisation: float
    exposed_s: float
    """Exposed communication that a link of this class limits, mean of the ranks."""
    carried_s: float
    """Fraction of the exposed time in which the limiting links carry communication."""


@dataclass(frozen=True, kw_only=True)
class Iteration:
    """Times of an iteration."""

    fabric: str
    conditions: Conditions
    ranks: int
    outcome: OutcomePart
    """`completed`, or `network-failure` or `host-failure`: it could not go on."""
    time_s: float
    """Until the last rank has ended, or until the iteration could not go on."""
    parts: tuple[Part, ...]
    """Uses of time, whose means add up to the iteration; those of no rank are left out."""
    communicated_s: Mapping[str, float]
    """Mean duration of communication by kind, hidden or not."""
    links: tuple[LinkClassRecord, ...]
    """Classes of links that have carried something."""
    calls: int
    executed: int
    """Calls that no equal one has preceded."""
    messages: int
    algorithms: Mapping[str, int]
    """Calls by NCCL's algorithm and protocol."""
    rows: "tuple[_core.RankTimes, ...]"
    """Times by rank; lists have an entry for each of `kinds`."""
    kinds: tuple[str, ...]
    """Kinds of groups, then `messages`."""
    listed: "tuple[_core.TimedWork, ...]"
    cpu_s: float
    memory_bytes: int
    """Largest memory of the process so far."""
    faults: FaultsPart | None = None
    traffic: tuple[TrafficPart, ...] = ()
    """Background traffic."""
    packets: PacketsPart | None = None
    """None if messages are flows."""

    @property
    def failed(self) -> bool:
        """True if the iteration could not go on."""
        return self.outcome.kind != "completed"

    def part(self, name: str) -> float:
        """Return the mean seconds of a use of time."""
        return next((one.mean_s for one in self.parts if one.name == name), 0.0)

    @property
    def bound(self) -> str:
        """Name of the part that takes most."""
        return max(self.parts, key=lambda one: one.mean_s).name

    @property
    def limiting_links(self) -> LinkClassRecord | None:
        """Class of links that limits most of the exposed communication; None if there is none."""
        return limiting_links(self.links)


def limiting_links(links: Sequence[LinkClassRecord]) -> LinkClassRecord | None:
    """Return the class that limits most of the exposed communication; None if there is none."""
    exposed = [one for one in links if one.exposed_s > 0]
    return max(exposed, key=lambda one: one.exposed_s, default=None)


def simulate(
    workload: Workload, conditions: Conditions, progress: Progress | None = None
) -> Iteration:
    """Execute a workload, one rank a GPU, in the order of the fabric's hosts.

    Raises `WeftError` if it cannot end, or if the fabric has too few GPUs.
    """
    changes = conditions.changes
    fabric = _core.load_fabric(conditions.fabric, list(of_fabric(changes)))
    ranks = len(workload.program_of)
    _check(conditions, ranks)
    disturbances = prepare(conditions.faults, conditions.traffic, changes, fabric, ranks)
    slowdown = [conditions.slowdown.get(rank, 1.0) for rank in range(ranks)]
    begun = time.process_time()
    times = _core.run_workload(
        *(fabric, conditions.library, _programs(workload)),
        *(list(workload.program_of), list(workload.groups)),
        execute_all=conditions.execute_all,
        detail=conditions.detail,
        multicast=conditions.multicast,
        sms=workload.sms,
        slowdown=slowdown if conditions.slowdown else [],
        noise=conditions.noise,
        seed=conditions.seed,
        listed=list(conditions.listed),
        faults=disturbances.fault_text,
        traffic=disturbances.traffic_text,
        progress=progress,
    )
    kinds = tuple(times["kinds"])
    rows = tuple(times["ranks"])
    return Iteration(
        fabric=fabric.name,
        conditions=conditions,
        ranks=ranks,
        outcome=OutcomePart(kind=times["outcome"], message=times["message"]),
        time_s=times["end_s"],
        parts=tuple(Part(**one) for one in times["parts"]),
        communicated_s={
            kind: _mean([row["communicated_s"][at] for row in rows])
            for at, kind in enumerate(kinds)
            if any(row["communicated_s"][at] for row in rows)
        },
        links=_link_classes(times),
        calls=times["calls"],
        executed=times["executed"],
        messages=times["messages"],
        algorithms={one["algorithm"]: one["calls"] for one in times["algorithms"]},
        rows=rows,
        kinds=kinds,
        listed=tuple(times["listed"]),
        cpu_s=time.process_time() - begun,
        memory_bytes=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        faults=faults_part(times["faults"], disturbances.faults) if disturbances.faults else None,
        traffic=tuple(traffic_parts(times["traffic"])),
        packets=PacketsPart.from_json(msgspec.json.decode(times["packets"]))
        if times["packets"]
        else None,
    )


def _link_classes(times: "_core.IterationTimes") -> tuple[LinkClassRecord, ...]:
    rows = times["ranks"]
    return tuple(
        LinkClassRecord(
            **one,
            exposed_s=_mean([row["exposed_at_s"][at] for row in rows]),
            carried_s=_mean([row["carried_at_s"][at] for row in rows]),
        )
        for at, one in enumerate(times["links"])
    )


def _programs(workload: Workload) -> list[_core.WorkloadProgram]:
    programs = []
    for one in workload.programs:
        assert isinstance(one, _core.WorkloadProgram)
        programs.append(one)
    return programs


def _check(conditions: Conditions, ranks: int) -> None:
    for option, numbers in (("slowdown", conditions.slowdown), ("listed", conditions.listed)):
        for rank in numbers:
            if not 0 <= rank < ranks:
                raise WeftError(f"{named(option)}: found rank {rank}; allowed: 0 to {ranks - 1}")


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
