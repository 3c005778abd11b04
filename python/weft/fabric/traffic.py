# SPDX-License-Identifier: LGPL-2.1-only
"""Load of a fabric in a run: utilisation of cables, and bytes reduced by switches."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from weft.base.errors import WeftError, named, suggestion
from weft.base.units import format_seconds, plural
from weft.runs.record import Record, read_record
from weft.runs.record_data import JobPart

if TYPE_CHECKING:
    from weft._core import Fabric


@dataclass(frozen=True)
class Traffic:
    """Load in one run, by cable (the busier of its two links) and by switch name."""

    title: str
    by_cable: Sequence[float]
    by_switch: dict[str, float]
    hosts: frozenset[str] = frozenset()
    """Hosts of the job, if the load is restricted to one job."""

    def utilisation(self, cables: Sequence[int]) -> float:
        """Return the highest utilisation of these cables."""
        return max(self.by_cable[cable] for cable in cables)

    @property
    def utilisation_max(self) -> float:
        """Utilisation of the busiest link."""
        return max(self.by_cable)

    @property
    def reduced_max(self) -> float:
        """Largest number of bytes reduced by a switch."""
        return max(self.by_switch.values())


def read_traffic(path: Path, fabric: "Fabric", job: str | None = None) -> Traffic:
    """Read the record of a run, which must have used this fabric."""
    return traffic_of(read_record(path), fabric, str(path), job)


def traffic_of(
    record: Record, fabric: "Fabric", source: str = "the record", job: str | None = None
) -> Traffic:
    """Return the load of a run, or of one of its jobs; errors name the record's source.

    The run must have used this fabric.
    """
    _check_fabric(source, record, fabric)
    one = None if job is None else _job(record, job, source)
    utilisation = _utilisation(record, one)  # of used links
    by_cable = [
        max(utilisation.pop(f"{cable['name']}.{way}", 0.0) for way in ("up", "down"))
        for cable in fabric.cables()
    ]
    for name in utilisation:
        raise _other_fabric(source, f"it has a link '{name}'", fabric)
    try:
        reduced = {switch.name: switch.bytes_reduced for switch in record.switches}
        if one is not None:
            reduced = dict.fromkeys(reduced, 0) | {
                switch.name: switch.bytes_reduced for switch in one.switches
            }
        by_switch = {switch["name"]: reduced[switch["name"]] for switch in fabric.switches}
    except KeyError as error:
        raise _other_fabric(source, f"it says nothing about {error}", fabric) from None
    hosts = frozenset(one.hosts if one else ())
    return Traffic(_title(record, one), by_cable, by_switch, hosts)


def _job(record: Record, name: str, source: str) -> JobPart:
    jobs = {job.name: job for job in record.jobs or ()}
    if not jobs:
        raise WeftError(
            f"{named('job')}: {source} is a run of one program; leave {named('job')} out"
        )
    if name not in jobs:
        raise WeftError(f"{named('job')}: {source} has no job {name}; {suggestion(name, jobs)}")
    return jobs[name]


def _utilisation(record: Record, job: JobPart | None) -> dict[str, float]:
    """Return the utilisation of links by all traffic, or by a job's traffic during the job."""
    if job is None:
        return {link.name: link.utilisation for link in record.links}
    share = {link.name: link.share for link in job.links}
    longer = record.simulated_time_s / job.time_s if job.time_s else 1.0
    return {
        link.name: link.utilisation * share[link.name] * longer
        for link in record.links
        if link.name in share
    }


def _check_fabric(source: str, record: Record, fabric: "Fabric") -> None:
    ran_on = record.fabric
    if (ran_on.name, ran_on.links) != (fabric.name, fabric.links):
        problem = f"it ran on '{ran_on.name}' with {plural(ran_on.links, 'link')}"
        raise _other_fabric(source, problem, fabric)


def _other_fabric(source: str, problem: str, fabric: "Fabric") -> WeftError:
    return WeftError(
        f"{named('record')}:"
        f" {source} is not a run on '{fabric.name}' with {plural(fabric.links, 'link')}:"
        f" {problem}; name the fabric of the run"
    )


def _title(record: Record, job: JobPart | None) -> str:
    program = Path(record.program).name or "a program"
    ranks, offload = record.ranks, record.offload
    if job is not None:
        hosts, time_s = plural(job.hosts_used, "host"), job.time_s or record.simulated_time_s
        return (
            f"traffic of job {job.name} with {plural(job.ranks, 'rank')} on {hosts}, offload"
            f" {job.offload}, {format_seconds(time_s)} of simulated time"
        )
    if len(record.jobs or ()) > 1:
        program = plural(len(record.jobs or ()), "job")
    return (
        f"{program} on {plural(ranks, 'rank')}, offload {offload},"
        f" {format_seconds(record.simulated_time_s)} of simulated time"
    )
