# SPDX-License-Identifier: LGPL-2.1-only
"""Runs each job alone on the same hosts, to determine its slowdown among the other jobs.

    with durations_kept(plan) as kept:
        record = add_alone(launch.run(kept), kept)

These runs have no background traffic.
"""

import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from weft.base.process import Streams, work_directory
from weft.runs.jobs import launch
from weft.runs.jobs.launch import PreparedJob, PreparedJobs
from weft.runs.record import Record
from weft.runs.record_data import AlonePart, JobPart


@contextmanager
def durations_kept(plan: PreparedJobs) -> Iterator[PreparedJobs]:
    """Let a run of all jobs list the durations of calls, which `add_alone` compares."""
    with work_directory() as work:
        yield replace(plan, durations=work / "together")


def add_alone(
    record: Record, plan: PreparedJobs, told: Callable[[str], None] | None = None
) -> Record:
    """Run each job alone, and add the results to the job's part of the record.

    The output of these runs is discarded. `told` is called with the name of each job before its
    run.
    """
    from weft.runs.jobs import durations  # NumPy, which most runs do not need

    assert plan.durations is not None
    kept = plan.durations.with_name("alone")
    for job, prepared in zip(record.jobs or (), plan.jobs, strict=True):
        if told is not None:
            told(job.name)
        only = launch.run(
            replace(_plan_of(prepared, plan), durations=kept),
            lambda _: None,
            Streams(subprocess.DEVNULL, None, subprocess.STDOUT),
        )
        job.alone = part_of(only.jobs[0] if only.jobs else job)
        if not (job.failed or job.alone.failed):  # else ranks may be missing
            job.alone.ratios = durations.ratios(
                durations.read(plan.durations, job.name), durations.read(kept, job.name)
            )
        kept.unlink(missing_ok=True)
    return record


def _plan_of(one: PreparedJob, plan: PreparedJobs) -> PreparedJobs:
    ranks = one.job.ranks
    job = replace(one.job, output=None)
    return replace(
        plan,
        request=plan.request.changed(ranks=ranks),
        file=replace(plan.file, jobs=(job,)),
        site=replace(plan.site, ranks=ranks),
        jobs=(replace(one, job=job),),
        seen=None,
        traffic=(),
    )


def part_of(alone: JobPart) -> AlonePart:
    """Return the job's results in a separate run."""
    return AlonePart(
        start_s=alone.start_s,
        end_s=alone.end_s,
        outcome=alone.outcome,
        exit_status=alone.exit_status,
        collectives=alone.collectives,
        durations=alone.durations,
        messages=alone.messages,
        message_bytes=alone.message_bytes,
        switches=alone.switches,
        training=alone.training,
    )
