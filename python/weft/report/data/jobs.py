# SPDX-License-Identifier: LGPL-2.1-only
"""Runs of jobs files in a report of single records.

    for run, certainty in compared(record): ...  # without offload, with the fastest algorithms

A run counts by its first job, as in campaigns (`weft.campaign.own_job`). The file of
`weft run --jobs --compare` contains the other runs as results of each job.
"""

from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import UNSET
from msgspec.structs import fields, replace

from weft.benchmarks.certainty import Certainty
from weft.campaign.pairs import OFF
from weft.runs.record import Record
from weft.runs.record_data import AlonePart, JobPart
from weft.study.comparison.compare import BEST

_MOST_NAMED = 3
_RESULTS = {one.name for one in fields(JobPart)} & {one.name for one in fields(AlonePart)}
"""Fields of a job that each of its runs has."""
_PLACED = ("name", "program", "arguments", "replayed", "ranks", "ppn", "hosts_used", "hosts")
"""Fields of a job that all its runs share."""
_OF_ONE_RUN = (
    *("profile", "mpi_calls", "collectives", "multicast", "switches", "links", "events", "slices"),
    *("host_calls", "multicast_calls"),
)
"""Lists of a record that describe only the run that wrote it."""


def program(record: Record) -> str:
    """Return the program of a run; of several jobs, the first one's name and the other names."""
    if record.replayed or record.program or not record.jobs:
        return record.replayed or record.program
    first, *others = (job.name for job in record.jobs)
    more = len(others) - _MOST_NAMED
    named = [*others[:_MOST_NAMED], *([f"{more} more"] if more > 0 else [])]
    return f"{first} (with {', '.join(named)})" if named else first


def arguments(record: Record) -> Sequence[str]:
    """Return the arguments of a run, or of its first job."""
    return record.jobs[0].arguments if record.jobs else record.arguments


def asked(record: Record) -> dict[str, str]:
    """Return offload mode and fallback of a run, or of its first job, as keys of a report."""
    own = record.jobs[0] if record.jobs else record
    return {
        "offload": own.offload or record.offload,
        "fallback": own.fallback or record.fallback,
    }


def compared(record: Record) -> Iterator[tuple[Record, Certainty | None]]:
    """Yield the runs of all jobs without offload that a record contains.

    The certainty is that of the first job's gain over this run.
    """
    first = record.jobs[0] if record.jobs else None
    if first is None or first.offload == OFF:
        return
    if first.without_offload:
        yield _other_run(record, "without_offload"), first.certainty
    if first.with_best:
        yield _other_run(record, "with_best"), first.certainty_over_best


def _other_run(record: Record, part: Literal["without_offload", "with_best"]) -> Record:
    """Return the record of another run of the same jobs, from each job's results in it."""
    jobs = [
        _other_job(job, other, BEST if part == "with_best" else job.fallback)
        for job in record.jobs or ()
        if (other := getattr(job, part))
    ]
    return replace(
        record,
        jobs=jobs,
        offload=OFF,
        outcome=next((job.outcome for job in jobs if job.failed), jobs[0].outcome),
        simulated_time_s=max((job.end_s for job in jobs if job.end_s is not None), default=0.0),
        faults=UNSET,
        **{name: [] for name in _OF_ONE_RUN},
    )


def _other_job(job: JobPart, other: AlonePart, fallback: str) -> JobPart:
    return JobPart(
        **{name: getattr(job, name) for name in _PLACED},
        **{name: getattr(other, name) for name in _RESULTS},
        offload=OFF,
        fallback=fallback,
    )
