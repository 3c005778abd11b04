# SPDX-License-Identifier: LGPL-2.1-only
"""Reruns the same jobs together without offloading, to determine the gain of each job.

    for job, hosts in zip(record.jobs, run(without_offload(plan)).jobs): ...

All jobs run together in all runs, so a job's gain includes the effects of its neighbours. The
output of the reruns is discarded.
"""

import subprocess
from dataclasses import replace

from weft.base.errors import WeftError, named
from weft.base.process import Streams
from weft.runs import launch as launch_of_one
from weft.runs.jobs import launch
from weft.runs.jobs.launch import PreparedJob, PreparedJobs
from weft.runs.record import Record
from weft.runs.site import FabricSite, load_fabric
from weft.training.variants import GPUS_ALONE

BEST = "best"
"""Value of `--fallback` that selects the fastest algorithm for each call."""


def check(plan: PreparedJobs) -> None:
    """Refuse a comparison if no job offloads."""
    asked = plan.request.collectives.offload
    if all(one.job.iteration is None and (one.job.offload or asked) == "off" for one in plan.jobs):
        raise WeftError(
            f"{named('compare')}: found with jobs that all have offload off, the baseline of the"
            " comparison; name an offload mechanism for one of them"
        )


def has_best(plan: PreparedJobs) -> bool:
    """Return True if a run with the hosts' fastest algorithms is not redundant."""
    return any(
        one.job.iteration is None and BEST not in _fallback(one, plan).split(",")
        for one in plan.jobs
    )


def _fallback(one: PreparedJob, plan: PreparedJobs) -> str:
    return one.job.fallback or launch_of_one.fallback_of(plan.request)


def without_offload(plan: PreparedJobs, *, best: bool = False) -> PreparedJobs:
    """Return the plan with offload off for all jobs; with `best`, with the fastest algorithms."""
    off = [replace(one.job, offload="off", output=None) for one in plan.jobs]
    request = plan.request.changed(offload="off")
    if best:
        off = [replace(job, fallback=BEST) for job in off]
        request = request.changed(fallback=BEST)
    jobs = tuple(replace(one, job=job) for one, job in zip(plan.jobs, off, strict=True))
    return replace(
        plan,
        request=request,
        site=_site_without_switches(plan),
        file=replace(plan.file, jobs=tuple(one.job for one in jobs)),
        jobs=jobs,
        durations=None,
    )


def run(plan: PreparedJobs) -> Record:
    """Run jobs with discarded output."""
    return launch.run(plan, lambda _: None, Streams(subprocess.DEVNULL, None, subprocess.STDOUT))


def _site_without_switches(plan: PreparedJobs) -> FabricSite:
    """Return the fabric for a run in which GPUs execute all collectives of iterations."""
    if not any(one.job.iteration for one in plan.jobs):
        return plan.site
    fabric = plan.site.fabric
    return replace(plan.site, fabric=load_fabric(fabric.file, (*fabric.changes, *GPUS_ALONE)))
