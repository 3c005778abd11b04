# SPDX-License-Identifier: LGPL-2.1-only
"""Reruns the same jobs together without offloading, to determine the gain of each job."""

import subprocess
from dataclasses import replace

from weft.base.errors import WeftError, named
from weft.base.process import Streams
from weft.runs.jobs import launch
from weft.runs.jobs.alone import part_of
from weft.runs.jobs.launch import PreparedJobs
from weft.runs.record import Record
from weft.runs.site import FabricSite, load_fabric
from weft.training.variants import GPUS_ALONE


def check(plan: PreparedJobs) -> None:
    """Refuse a comparison if no job offloads."""
    asked = plan.request.collectives.offload
    if all(one.job.iteration is None and (one.job.offload or asked) == "off" for one in plan.jobs):
        raise WeftError(
            f"{named('compare')}: found with jobs that all have offload off, the baseline of the"
            " comparison; name an offload mechanism for one of them"
        )


def add_without_offload(record: Record, plan: PreparedJobs) -> Record:
    """Rerun all jobs with offload off, and add each job's results to its part of the record.

    All jobs run together in both runs, so a job's gain includes the effects of its neighbours. The
    output of the second run is discarded.
    """
    jobs = tuple(
        replace(one, job=replace(one.job, offload="off", output=None)) for one in plan.jobs
    )
    second = replace(
        plan,
        request=plan.request.changed(offload="off"),
        site=_site_without_switches(plan),
        file=replace(plan.file, jobs=tuple(one.job for one in jobs)),
        jobs=jobs,
        durations=None,
    )
    hosts = launch.run(second, lambda _: None, Streams(subprocess.DEVNULL, None, subprocess.STDOUT))
    for job, without in zip(record.jobs or (), hosts.jobs or (), strict=True):
        job.without_offload = part_of(without)
    return record


def _site_without_switches(plan: PreparedJobs) -> FabricSite:
    """Return the fabric for a run in which GPUs execute all collectives of iterations."""
    if not any(one.job.iteration for one in plan.jobs):
        return plan.site
    fabric = plan.site.fabric
    return replace(plan.site, fabric=load_fabric(fabric.file, (*fabric.changes, *GPUS_ALONE)))
