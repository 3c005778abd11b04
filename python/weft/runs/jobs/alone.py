# SPDX-License-Identifier: LGPL-2.1-only
"""Runs each job alone on the same hosts, to determine its slowdown among the other jobs.

These runs have no background traffic.
"""

import subprocess
from collections.abc import Callable
from dataclasses import replace

from weft.base.process import Streams
from weft.runs.jobs import launch
from weft.runs.jobs.launch import PreparedJob, PreparedJobs
from weft.runs.record import Record
from weft.runs.record_data import AlonePart, JobPart


def add_alone(
    record: Record, plan: PreparedJobs, told: Callable[[str], None] | None = None
) -> Record:
    """Run each job alone, and add the results to the job's part of the record.

    The output of these runs is discarded. `told` is called with the name of each job before its
    run.
    """
    for job, prepared in zip(record.jobs or (), plan.jobs, strict=True):
        if told is not None:
            told(job.name)
        only = launch.run(
            _plan_of(prepared, plan),
            lambda _: None,
            Streams(subprocess.DEVNULL, None, subprocess.STDOUT),
        )
        job.alone = part_of(only.jobs[0] if only.jobs else job)
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
