# SPDX-License-Identifier: LGPL-2.1-only
"""Launches several jobs in one simulation, and assembles their record.

    plan = prepare(read(Path("jobs.toml")), Request.of(fabric="tofino-16", ...))
    record = run(plan)

libweft.so's launcher (src/binding/launch) reads a JSON description that is written here.
"""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from weft import _core
from weft.base import inputs
from weft.base.errors import WeftError, named
from weft.base.output import check_beside_targets, check_writable
from weft.base.process import Streams, run_child, work_directory
from weft.runs import launch, limits, settings
from weft.runs.faults.changes import of_fabric
from weft.runs.faults.description import PreparedFaults
from weft.runs.jobs.file import Job, JobsFile, fail, key_of
from weft.runs.jobs.outputs import Outputs, outputs
from weft.runs.jobs.placement import Placed, place
from weft.runs.options import Collectives
from weft.runs.privatization.libraries import Library, fortran_runtime, uses_cxx_streams
from weft.runs.progress import page
from weft.runs.record import Record
from weft.runs.record_data import JobPart, OutcomePart
from weft.runs.request import Request
from weft.runs.simgrid import SimGrid
from weft.runs.site import FabricSite, load_fabric
from weft.runs.traffic.description import PlacedTraffic

DESCRIPTION = "jobs.json"


@dataclass(frozen=True)
class PreparedJob:
    """Job that has passed all checks."""

    job: Job
    placed: Placed
    program: Path
    libraries: tuple[Library, ...]
    """Shared libraries of which each rank gets a copy."""
    copies: bool
    """True if each rank gets its own copy of the program."""
    workload: str = ""
    """Description of a training iteration's workload for libweft.so."""

    @property
    def argv0(self) -> str:
        """Program as written in the file, or its path if found in PATH."""
        return launch.called_name(self.job.program, self.program)

    @property
    def shown_program(self) -> str:
        """Program as shown in the record."""
        if self.job.iteration is not None:
            return self.job.iteration.source
        trace = self.job.trace
        if trace is not None:
            return trace.manifest.program
        return launch.shown_program(self.job.program, self.program)

    @property
    def arguments(self) -> tuple[str, ...]:
        """Arguments as shown in the record."""
        return self.job.trace.manifest.arguments if self.job.trace else self.job.arguments


@dataclass(frozen=True)
class PreparedJobs:
    """Run of several jobs that has passed all checks."""

    request: Request
    file: JobsFile
    site: FabricSite
    jobs: tuple[PreparedJob, ...]
    simgrid: SimGrid
    traffic: tuple[PlacedTraffic, ...] = ()
    """Background traffic."""
    faults: PreparedFaults | None = None
    """Faults of links and switches."""
    seen: limits.StartResources | None = None
    """Resources of the machine at the time of the check."""
    durations: Path | None = None
    """File for the durations of all calls."""

    @property
    def copies(self) -> bool:
        """True if ranks get their own copies of a program."""
        return any(one.copies for one in self.jobs)


def prepare(file: JobsFile, request: Request) -> PreparedJobs:
    """Check the jobs, and the options that apply to all jobs.

    Raises:
        WeftError: A job is impossible; the error names the file, the job and the key.
    """
    simgrid = SimGrid()
    request = request.changed(ranks=file.ranks)
    site = _site(request)
    launch.check_options(request, simgrid)
    if request.simulation.strict:
        raise WeftError(
            f"{named('strict')}: found together with {named('jobs')}; measurements are of one"
            " program on an otherwise idle network: leave it out"
        )
    launch.refuse_smpi_messages(request, "jobs")
    _refuse_trace_of_run(request)
    placed = place(file, site.fabric)
    jobs = tuple(
        _prepared_iteration(job, placed[job.name], site)
        if job.iteration
        else _prepared(job, placed[job.name], request, simgrid)
        for job in file.jobs
    )
    for job in file.jobs:
        if job.output is not None:
            check_writable(key_of(job, "output"), job.output)
            check_beside_targets(key_of(job, "output"), job.output)
    used = {host for one in placed.values() for host in one.hosts}
    traffic = launch.traffic_of(request, site, used)
    faults = launch.faults_of(request, site)
    plan = PreparedJobs(
        request, file, replace(site, ranks=file.ranks), jobs, simgrid, traffic, faults
    )
    needs = _needs(plan)
    _refuse_threads(needs)
    return replace(plan, seen=limits.check(needs))


def _refuse_threads(needs: limits.ResourceInputs) -> None:
    if needs.has_threads:
        raise WeftError(
            f"{named('config')}: found contexts/factory:thread together with {named('jobs')}, whose"
            " output weft separates when one thread switches between ranks; leave it out"
        )


def _site(request: Request) -> FabricSite:
    where = request.placement
    if where.platform is not None:
        raise WeftError(
            f"{named('platform')}: found together with {named('jobs')}, which need a weft fabric:"
            f" use {named('fabric')}"
        )
    if where.ppn is not None:
        raise WeftError(
            f"{named('ppn')}: found together with {named('jobs')}; the file has the ranks per host"
            " of each job"
        )
    if where.fabric is None:
        raise WeftError(
            f"name the network to run on: {named('fabric')}, a fabric file or a shipped name"
        )
    return FabricSite(load_fabric(where.fabric, of_fabric(where.changes)), where.ranks, 1)


def _refuse_trace_of_run(request: Request) -> None:
    if request.outputs.timeline is not None:
        raise WeftError(
            f"{named('timeline')}: found together with {named('jobs')}; a timeline shows the ranks"
            " of one program"
        )


def _prepared(job: Job, placed: Placed, request: Request, simgrid: SimGrid) -> PreparedJob:
    try:
        program = launch.program_of(job.program, replays=job.trace is not None)
        alone = _alone(job, request)
        libraries = launch.libraries_of(alone, program, simgrid)
    except WeftError as error:
        key = "trace" if job.trace else "program"
        raise fail(job, key, error.message.removeprefix("program: ")) from None
    inputs.declare_inputs({program: "a job runs", **_files(job)})
    _check_choices(job, request, simgrid)
    return PreparedJob(
        job, placed, program, libraries, launch.needs_copies(alone, program, libraries)
    )


def _prepared_iteration(job: Job, placed: Placed, site: FabricSite) -> PreparedJob:
    assert job.iteration
    try:
        workload = job.iteration.describe(site.fabric)
    except _core.UserError as error:
        key = "training" if "training" in job.table.values else "trace"
        raise fail(job, key, str(error)) from None
    inputs.declare_inputs(dict.fromkeys(job.iteration.files, "a job reads"))
    program = launch.program_of("", replays=True)  # not executed
    return PreparedJob(job, placed, program, (), copies=False, workload=workload)


def _files(job: Job) -> dict[Path, str]:
    return {Path(one): "arguments name to be read" for one in job.arguments}


def _alone(job: Job, request: Request) -> Request:
    """Return the request for a run of this job alone."""
    return replace(
        request.changed(
            program=job.program,
            arguments=job.arguments,
            replay=job.trace,
            ranks=job.ranks,
            privatize=request.simulation.privatize and job.privatize,
        ),
        collectives=_collectives(job, request),
    )


def _collectives(job: Job, request: Request) -> Collectives:
    return replace(
        request.collectives,
        offload=job.offload or request.collectives.offload,
        fallback=job.fallback or request.collectives.fallback,
    )


def _check_choices(job: Job, request: Request, simgrid: SimGrid) -> None:
    if job.fallback is not None:
        try:
            launch.check_fallback("fallback", job.fallback, simgrid)
        except WeftError as error:
            raise fail(job, "fallback", error.message.removeprefix("fallback: ")) from None
        if "smpi:" in job.fallback:
            raise fail(
                job,
                "fallback",
                f"found '{job.fallback}'; SMPI's algorithms apply to all jobs of a run: choose them"
                " for the run, not for a job",
            )
    if job.offload not in (None, "off") and not request.placement.contention:
        raise fail(
            job,
            "offload",
            f"found '{job.offload}' in a run without contention, which requires off",
        )


def _needs(plan: PreparedJobs) -> limits.ResourceInputs:
    programs = {one.program for one in plan.jobs}
    smallest = min(programs, key=lambda path: path.stat().st_size)
    return limits.ResourceInputs(
        ranks=plan.file.processes,
        links=plan.site.part.links,
        copied=(smallest,) if all(one.copies for one in plan.jobs) else (),
        settings=plan.request.simulation.config,
    )


def run(
    plan: PreparedJobs,
    on_line: Callable[[str], None] | None = None,
    streams: Streams | None = None,
) -> Record:
    """Run the jobs; their output goes line by line to `on_line`, else to weft's own streams."""
    one = _as_run(plan)
    start = plan.seen.renewed() if plan.seen else limits.StartResources.seen()
    with (
        work_directory() as work,
        outputs(plan.file.jobs, work, on_line, streams) as destinations,
    ):
        _describe(plan, destinations, work)
        launch.write_descriptions(one, work)
        command, environment = launch.build_command(one, work), _environment(plan, one, work)
        with page.followed(work):
            ended = run_child(
                command,
                environment,
                timeout_s=plan.request.limits.timeout_s,
                memory_bytes=plan.request.limits.memory_bytes,
                there_bytes=start.memory_bytes,
                on_line=on_line,
                streams=streams,
            )
        record = launch.make_record(one, work, ended, start)
        return _complete(record, plan, work)


def _as_run(plan: PreparedJobs) -> launch.PreparedRun:
    """Return the run as a launch of a single program, the first job's."""
    first = plan.jobs[0]
    return launch.PreparedRun(
        plan.request.changed(program=first.argv0, arguments=()),
        plan.site,
        first.program,
        plan.simgrid,
        copies=plan.copies,
        traffic=plan.traffic,
        faults=plan.faults,
    )


def _environment(plan: PreparedJobs, one: launch.PreparedRun, work: Path) -> dict[str, str]:
    binaries = [
        path
        for each in plan.jobs
        for path in (each.program, *(library.path for library in each.libraries))
    ]
    ours = replace(
        launch.own_settings(one, work),
        program="",
        jobs=str(work / DESCRIPTION),
        durations=str(plan.durations) if plan.durations else "",
        cxx_streams=any(map(uses_cxx_streams, binaries)),
    )
    environment = plan.simgrid.environment({**settings.without_own(os.environ), **ours.variables()})
    runtimes = (
        fortran_runtime(each.program, plan.simgrid.launcher, environment) for each in plan.jobs
    )
    runtime = next(filter(None, runtimes), "")
    return launch.preloading(one, environment, work, runtime)


def _describe(plan: PreparedJobs, destinations: Outputs, work: Path) -> None:
    """Write the description that libweft.so reads."""
    for one in plan.jobs:
        if one.workload:
            _workload(one.job, work).write_text(one.workload, encoding="utf-8")
    rows = [_row(one, destinations, work) for one in plan.jobs]
    (work / DESCRIPTION).write_text(json.dumps(rows), encoding="utf-8")


def _row(one: PreparedJob, destinations: Outputs, work: Path) -> dict[str, Any]:
    job = one.job
    ends = destinations.of_job[job.name]
    row: dict[str, Any] = {
        "name": job.name,
        "program": one.argv0,
        "arguments": list(_arguments(job, work)),
        "start_s": job.start_s,
        "weight": job.weight,
        "file": str(one.program.absolute()),
        "copies": one.copies,
        "private_libraries": [f"{library.name}={library.path}" for library in one.libraries],
        "environment": [list(pair) for pair in job.environment],
        "hosts": list(one.placed.hosts),
        "offload": job.offload or "",
        "fallback": job.fallback or "",
        "output": str(ends.output),
        "error": str(ends.error),
    }
    if job.iteration:
        row["training"] = {
            "workload": str(_workload(job, work)),
            "library": job.iteration.library,
            "detail": job.iteration.detail,
            "sms": job.iteration.workload.sms,
        }
    return row


def _workload(job: Job, work: Path) -> Path:
    """Return the file for a job's workload."""
    return work / f"workload-{job.name}"


def _arguments(job: Job, work: Path) -> Sequence[str]:
    if job.trace is None:
        return job.arguments
    return job.trace.replay_arguments(_lines(job, work))


def _lines(job: Job, work: Path) -> Path:
    """Return the file for the lines of a job's trace."""
    return work / f"calls-{job.name}"


# ---- The record


def _complete(record: Record, plan: PreparedJobs, work: Path) -> Record:
    """Add the properties of jobs that libweft.so does not know."""
    rows = {row.name: row for row in record.jobs or ()}
    record.jobs = [rows.get(one.job.name) or _missing(one) for one in plan.jobs]
    for row, one in zip(record.jobs, plan.jobs, strict=True):
        _complete_job(row, one, plan)
        if one.job.trace is not None:
            row.schedule = launch.schedule_part(one.job.trace, _lines(one.job, work))
    only = plan.jobs[0] if len(plan.jobs) == 1 else None
    record.program = only.shown_program if only else ""
    record.replayed = _replayed(only.job) if only else ""
    record.arguments = list(only.arguments) if only else []
    record.ppn = max(one.placed.ppn for one in plan.jobs)
    record.hosts_used = len({host for one in plan.jobs for host in one.placed.hosts})
    return record


def _complete_job(row: JobPart, one: PreparedJob, plan: PreparedJobs) -> None:
    alone = _alone(one.job, plan.request)
    row.program = one.shown_program
    if row.training and one.job.iteration:
        row.training.layout = one.job.iteration.layout
        row.training.library = one.job.iteration.library
    row.arguments = list(one.arguments)
    row.replayed = _replayed(one.job)
    row.ppn = one.placed.ppn
    row.hosts = list(dict.fromkeys(one.placed.hosts))
    row.offload = alone.collectives.offload
    row.fallback = launch.fallback_of(alone)


def _replayed(job: Job) -> str:
    return str(job.trace.path.absolute()) if job.trace else ""


def _missing(one: PreparedJob) -> JobPart:
    """Return the row of a job in a run that ended before libweft.so could write the record."""
    return JobPart(
        name=one.job.name,
        ranks=one.job.ranks,
        hosts_used=len(set(one.placed.hosts)),
        start_s=one.job.start_s,
        end_s=None,
        outcome=OutcomePart(kind="unfinished"),
        exit_status=0,
    )


def failed_jobs(record: Record) -> Iterator[JobPart]:
    """Yield the jobs of a record that did not succeed."""
    return (job for job in record.jobs or () if job.outcome.kind != "completed")
