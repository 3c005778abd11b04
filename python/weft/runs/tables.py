# SPDX-License-Identifier: LGPL-2.1-only
"""Text tables of a record."""

from collections.abc import Iterator, Sequence
from itertools import chain

from msgspec import UnsetType
from rich.console import Console
from rich.table import Table

from weft.base.tables import fitting, microseconds, percent, print_table, print_title, printed
from weft.base.units import format_ratio, format_seconds, format_size, plural
from weft.benchmarks.certainty import gained, not_measured
from weft.runs.faults.file import DOWN
from weft.runs.faults.retries import gives_up_first
from weft.runs.faults.spans import Event, outlast
from weft.runs.offload_modes import REASONS
from weft.runs.profile import profile_rows
from weft.runs.record_data import (
    BudgetPart,
    CallSlowdown,
    CollectivePart,
    FaultsPart,
    FilePart,
    FlowCheckPart,
    JobBudgetPart,
    JobPart,
    JobTrainingPart,
    MulticastPart,
    RecordData,
    RecoveryPart,
    SchedulePart,
    SpawnedPart,
    TimePart,
    TrafficPart,
)

FOR_THIS_PLACEMENT = "Gains are for this placement of the jobs; vary it by placement and seed."
_MOST_FILES = 10
_MOST_ENDS = 8
"""Number of ranks up to which the end times of a schedule are all printed."""
_MOST_DIFFERING = 20
_MOST_EVENTS = 10
_MOST_CAUSES = 3
_ROUNDING = 1e-6
_LEAST_WAIT_OF_CALLS = 0.1
_LEAST_WAIT_OF_RUN = 0.01
"""Fractions of a collective's time and of the ranks' time; less waiting is not printed."""
_DISPENSABLE = ("bytes", "max(us)", "ranks")


def print_profile(record: RecordData, on: Console) -> None:
    """Print the use of the ranks' time."""
    if rows := profile_rows(record):
        print_table(fitting(rows, ("min(us)",), ("time per rank",), on), on)


def finalize_warning(record: RecordData) -> list[str]:
    """Return a warning about ranks that ended without MPI_Finalize, as MPI libraries print."""
    calls = {one.call: one.calls for one in record.mpi_calls}
    missing = calls.get("MPI_Init", 0) - calls.get("MPI_Finalize", 0)
    if record.outcome.kind != "completed" or missing <= 0:
        return []
    return [f"warning: {plural(missing, 'rank')} ended without MPI_Finalize, which MPI requires"]


def as_text(record: RecordData) -> str:
    """Return the printed form of a run, with its outcome if it failed."""
    lines = printed(lambda on: print_run(record, on))
    return "\n".join([*lines, *([record.outcome.message] if record.failed else [])])


def print_run(record: RecordData, on: Console) -> None:
    """Print collectives, reasons and times, if the run got as far as a simulated time."""
    if record.failed and record.simulated_time_s == 0 and not record.jobs:
        return
    if record.jobs:
        _print_jobs(record, record.jobs, on)
    elif record.collectives:
        print_table(_collectives(record.collectives, on), on)
    if record.spawned:
        print_table(_spawned(record.spawned, on), on)
    for line in (*waits(record), *reasons(record), *losses(record), *doubtful_values(record)):
        on.print(line, soft_wrap=True)
    if record.files:
        print_files(record.files, on)
    print_disturbances(record.faults or None, record.traffic or (), on)
    print_profile(record, on)
    if record.flow_check:
        print_flow_check(record.flow_check, on)
    for line in finalize_warning(record):
        on.print(line, soft_wrap=True)
    time = f"wall time {format_seconds(record.wall_time_s)}"
    on.print(f"{summary(record)}, {time}{schedule_ends(record)}", soft_wrap=True)


def print_flow_check(check: FlowCheckPart, on: Console) -> None:
    """Print the calls whose time differs on packets."""
    differing = [row for row in check.calls if row.differs]
    of_jobs = any(row.job for row in check.calls)
    rows = [
        {
            **({"job": row.job} if of_jobs else {}),
            "call": row.call,
            "ranks": f"{row.communicator_size:,}" if row.communicator_size else "",
            "type, op": ", ".join(filter(None, (row.datatype, row.op))),
            "calls": f"{row.calls:,}",
            "bytes": "" if row.bytes_per_call is None else format_size(row.bytes_per_call),
            "flows(us)": microseconds(row.flows_s),
            "packets(us)": microseconds(row.packets_s),
            "difference": _percent(row.difference),
        }
        for row in differing[:_MOST_DIFFERING]
    ]
    print_title("calls on flows and on packets", on)
    if rows:
        print_table(fitting(rows, ("ranks", "type, op"), ("job", "call"), on), on)
    if len(differing) > _MOST_DIFFERING:
        on.print(f"and {plural(len(differing) - _MOST_DIFFERING, 'row')} more")
    total = check.packets_s / check.flows_s - 1 if check.flows_s else None
    on.print(
        f"{len(differing)} of {plural(len(check.calls), 'kind')} of calls differ by more than"
        f" {100 * check.tolerance:.3g} %; on packets, the run takes"
        f" {format_seconds(check.packets_s)} ({_percent(total)})",
        soft_wrap=True,
    )
    if check.not_compared:
        on.print(
            f"not compared: {plural(check.not_compared, 'call')} that switches executed; --offload"
            " off compares them on hosts",
            soft_wrap=True,
        )


def _percent(fraction: float | None) -> str:
    return "" if fraction is None else f"{100 * fraction:+.1f} %"


def print_files(files: Sequence[FilePart], on: Console) -> None:
    """Print the files with the most bytes transferred."""
    ordered = sorted(files, key=lambda file: -(file.bytes_read + file.bytes_written))
    rows = [
        {
            "file": file.name,
            "opens": str(file.opens),
            "read": format_size(file.bytes_read),
            "written": format_size(file.bytes_written),
            "mean(us)": microseconds(file.time_s / max(1, file.reads + file.writes)),
        }
        for file in ordered[:_MOST_FILES]
    ]
    print_table(fitting(rows, ("opens",), ("file",), on), on)
    if len(files) > _MOST_FILES:
        on.print(f"and {plural(len(files) - _MOST_FILES, 'file')} with fewer bytes")


def print_faults(faults: FaultsPart, on: Console) -> None:
    """Print the faults that occurred, and their cost."""
    if print_events(faults, on):
        print_table(fitting([reactions(faults)], (), ("messages cut",), on), on)
    if faults.budget:
        print_budgets("", [("", faults, faults.budget)], on)


def print_events(faults: FaultsPart, on: Console) -> bool:
    """Print the faults that occurred and the recovery in effect; return False without faults."""
    shown = [
        {"event": event.what, "time(us)": microseconds(event.at_s)}
        for event in faults.events[:_MOST_EVENTS]
    ]
    if shown:  # a platform's profiles are not listed
        print_table(fitting(shown, (), ("event",), on), on)
    if len(faults.events) > _MOST_EVENTS:
        on.print(f"and {plural(len(faults.events) - _MOST_EVENTS, 'event')} more")
    if faults.left_events:
        due = "was" if faults.left_events == 1 else "were"
        on.print(f"{plural(faults.left_events, 'event')} {due} due after the run's end")
    if faults.recovery:
        on.print(recovery_in_force(faults, faults.recovery), soft_wrap=True)
        if note := _outlasted(faults, faults.recovery):
            on.print(note, soft_wrap=True)
    return bool(shown)


def _outlasted(faults: FaultsPart, recovery: RecoveryPart) -> str:
    """Return a note if senders gave up before routing avoids a failure, else an empty text."""
    if not faults.given_up or not any(one.what.endswith(f" {DOWN}") for one in faults.events):
        return ""
    return gives_up_first(recovery.gives_up_s, faults.detection_s, faults.convergence_s)


def print_budgets(
    head: str, found: Sequence[tuple[str, FaultsPart, BudgetPart]], on: Console
) -> None:
    """Print named budgets, below `head`: the cost of failures multiplied by the failure rate."""
    print_title("budget of faults", on)
    print_table(fitting(budget_rows(head, found), (), (head,), on), on)
    for line in budget_notes(found):
        on.print(line, soft_wrap=True)


def budgets_of(record: RecordData) -> list[tuple[str, FaultsPart, BudgetPart]]:
    """Return the budgets of a record's jobs by name, or that of its run without a name."""
    faults = record.faults or None
    if faults is None:
        return []
    of_run = [("", faults, faults.budget)] if faults.budget else []
    return of_run + [(job.name, faults, job.budget) for job in record.jobs or () if job.budget]


def budget_rows(
    head: str, found: Sequence[tuple[str, FaultsPart, BudgetPart]]
) -> list[dict[str, str]]:
    """Return the rows of named budgets, by column; without a head, names are left out."""
    return [
        {**({head: name} if head else {}), **_budget_cells(faults, budget)}
        for name, faults, budget in found
    ]


def budget_notes(found: Sequence[tuple[str, FaultsPart, BudgetPart]]) -> list[str]:
    """Return notes on named budgets, each once."""
    return list(
        dict.fromkeys(
            f"{name}: {note}" if budget.ended_job and name else note
            for name, faults, budget in found
            for note in _budget_notes(faults, budget)
        )
    )


def _counts(faults: FaultsPart, budget: BudgetPart) -> FaultsPart | JobBudgetPart:
    """Return the part that counts the failures of a budget."""
    return budget if isinstance(budget, JobBudgetPart) else faults


def _budget_cells(faults: FaultsPart, budget: BudgetPart) -> dict[str, str]:
    """Return the row of a budget, by column; a job that ended has lost more than times can say."""
    ended = budget.ended_job
    return {
        "without faults": format_seconds(budget.without_s),
        "lost": "the job" if ended else _lost(budget.lost_s),
        "failures": f"{_counts(faults, budget).failures:,}",
        "per failure": "" if ended else _lost(budget.per_failure_s or None),
        "failures per day": f"{faults.failures_per_day:.3g}" if faults.failures_per_day else "",
        "lost per day": "" if ended else _lost(budget.per_day_s or None),
        "fraction of the time": "" if ended or not budget.fraction else f"{budget.fraction:.3g}",
    }


def _budget_notes(faults: FaultsPart, budget: BudgetPart) -> list[str]:
    """Return what a budget means if failures end jobs, and what it does not know."""
    notes, counts = [], _counts(faults, budget)
    if budget.ended_job:
        subject = "each such failure ends the job"
        if counts.failure_times > 1:
            subject = f"one in {counts.failure_times:,} such failures ends the job"
        often = f", {budget.ends_per_day:.3g} per day" if budget.ends_per_day else ""
        notes.append(
            f"{subject}{often}: lost is the run so far, {format_seconds(budget.lost_s)} here (with"
            " checkpoints, the time since the last one)"
        )
    elif outlast([Event(event.at_s, event.what, hidden=False) for event in faults.events]):
        notes.append(
            "a failure outlasts the run: the budget leaves out what the program loses until the"
            " repair; for this, compare runs with and without the failure from the start"
            ' (at = "0s")'
        )
    if not counts.failures:
        notes.append("no failure happened during the run, so its cost is not known")
    elif not faults.failures_per_day:
        notes.append(
            "how often these faults happen is not known: write every into each table with at"
        )
    return notes


def _lost(time_s: float | None) -> str:
    if time_s is None:
        return ""
    return f"-{format_seconds(-time_s)}" if time_s < 0 else format_seconds(time_s)


def recovery_in_force(faults: FaultsPart, recovery: RecoveryPart) -> str:
    """Return the reactions to faults in one line, with the presets that set them."""
    backoff = f", each {recovery.backoff:g} times the last" if recovery.backoff > 1 else ""
    routing = f"routing {recovery.routing}" if recovery.routing else "routing"
    return (
        f"recovery: transport {recovery.transport} (timeout"
        f" {format_seconds(recovery.timeout_s)}{backoff}, {plural(recovery.retries, 'retry')}),"
        f" {routing} (detection {format_seconds(faults.detection_s)}, convergence"
        f" {format_seconds(faults.convergence_s)}), collectives {recovery.collectives}"
    )


def reactions(faults: FaultsPart) -> dict[str, str]:
    """Return a row with the number and duration of hits to messages and calls."""
    row = {
        "messages cut": str(faults.cut),
        "lost": str(faults.lost),
        "resumed": str(faults.resumed),
        "given up": str(faults.given_up),
        "mean wait(us)": microseconds(faults.waited_s / max(1, faults.resumed)),
        "calls hit": str(faults.broken_calls),
        "resent": str(faults.resent_calls),
        "rebuilt": str(faults.rebuilt_calls),
        "on hosts": str(faults.calls_on_hosts),
        "lost(us)": microseconds(faults.lost_in_calls_s),
    }
    if faults.cut_branches:
        row["chunks lost"] = str(faults.lost_chunks)
    return row


def print_disturbances(
    faults: FaultsPart | None, traffic: Sequence[TrafficPart], on: Console
) -> None:
    """Print the faults that occurred, and the background traffic."""
    if faults:
        print_faults(faults, on)
    if traffic:
        print_table(_background_traffic(traffic, on), on)
        for line in traffic_failures(traffic):
            on.print(line, soft_wrap=True)


def traffic_failures(parts: Sequence[TrafficPart]) -> list[str]:
    """Return the outcome of background traffic whose messages were given up."""
    lines = []
    for part in parts:
        if part.outcome:
            lines.append(f"traffic {part.name} ended early: {part.message}")
        elif part.given_up_messages:
            given_up = plural(part.given_up_messages, "message")
            lines.append(f"traffic {part.name}: {given_up} given up after a fault")
    return lines


def _background_traffic(parts: Sequence[TrafficPart], on: Console) -> Table:
    """Return a table of background traffic."""
    rows = [
        {
            "background traffic": part.name,
            "pattern": part.pattern,
            "hosts": str(part.hosts),
            "offered": ""
            if part.rate_per_host_Bps is None
            else f"{format_size(round(part.rate_per_host_Bps))}/s",
            "messages": str(part.messages),
            "mean(us)": microseconds(part.mean_s),
        }
        for part in parts
    ]
    return fitting(rows, ("pattern", "offered"), ("background traffic",), on)


def _spawned(worlds: Sequence[SpawnedPart], on: Console) -> Table:
    """Return a table of spawned worlds."""
    rows = [
        {
            "spawned world": str(number),
            "job": world.job,
            "program": ", ".join(part.program for part in world.programs),
            "ranks": str(world.ranks),
            "hosts": str(len(set(world.hosts))),
            "spawned(us)": microseconds(world.spawned_s),
            "start(us)": microseconds(world.start_s),
            "end(us)": microseconds(world.end_s),
        }
        for number, world in enumerate(worlds, 1)
    ]
    return fitting(rows, ("hosts", "spawned(us)"), ("job", "program"), on)


def _print_jobs(record: RecordData, jobs: Sequence[JobPart], on: Console) -> None:
    """Print a table of the jobs, one of their traffic, and one of each job's collectives."""
    rows = [
        {
            "job": job.name,
            "ranks": str(job.ranks),
            "hosts": str(job.hosts_used),
            "start(us)": microseconds(job.start_s),
            "end(us)": microseconds(job.end_s),
            "outcome": job.outcome.kind,
            "status": str(job.exit_status),
        }
        for job in jobs
    ]
    print_table(fitting(rows, ("status", "hosts"), ("job", "outcome"), on), on)
    for job in jobs:
        if job.failed:
            on.print(f"job {job.name}: {job.outcome.message}", soft_wrap=True)
    if any(job.links or job.messages for job in jobs):
        print_table(_traffic(record, jobs, on), on)
    for job in jobs:
        if job.collectives:
            print_title(f"job {job.name}", on)
            print_table(_collectives(job.collectives, on), on)
    for job in jobs:
        if job.training:
            _print_iteration(job, job.training, on)
    if any(job.without_offload for job in jobs):
        _print_gains(record, jobs, on)
    if budgets := budgets_of(record):
        print_budgets("job", budgets, on)
    if any(job.alone for job in jobs):
        _print_slowdowns(record, jobs, on)


def _print_iteration(job: JobPart, training: JobTrainingPart, on: Console) -> None:
    """Print how the ranks of a training iteration spend their time."""
    print_title(f"job {job.name}, an iteration: {format_seconds(training.time_s)}", on)
    if training.layout:
        on.print(training.layout, soft_wrap=True)
    alone = {one.name: one for one in _alone_parts(job)}
    rows = [
        {
            "part": one.name,
            "mean of ranks": format_seconds(one.mean_s),
            "share": f"{one.mean_s / training.time_s:.1%}" if training.time_s else "",
            "most of a rank": format_seconds(one.most_s),
            **(
                {"mean alone": format_seconds(alone[one.name].mean_s) if one.name in alone else ""}
                if alone
                else {}
            ),
        }
        for one in training.parts
    ]
    if rows:
        print_table(fitting(rows, ("share",), ("part",), on), on)


def _alone_parts(job: JobPart) -> Sequence[TimePart]:
    """Return the time uses of an iteration that also ran alone."""
    return job.alone.training.parts if job.alone and job.alone.training else ()


def _print_gains(record: RecordData, jobs: Sequence[JobPart], on: Console) -> None:
    """Print the gain of each job, based on its own time instead of the whole run's time."""
    print_title(f"gain of jobs, --offload {record.offload} and off for all", on)
    dispensable = ("offload", "its interval", "interval")
    print_table(fitting(gain_cells(jobs), dispensable, ("job", "offload"), on), on)
    sure = [one for job in jobs for one in (job.certainty, job.certainty_over_best) if one]
    beyond = not_measured(text for one in sure for text in one.beyond)
    for line in (*chain.from_iterable(map(_gains_of_job, jobs)), *([beyond] if beyond else [])):
        on.print(line)
    if len(jobs) > 1:
        on.print(FOR_THIS_PLACEMENT)


def gain_cells(jobs: Sequence[JobPart]) -> list[dict[str, str]]:
    """Return the rows of the table of the jobs' gains, by column."""
    rows = [
        {
            "job": job.name,
            "offload": job.offload,
            "offload(us)": microseconds(job.time_s),
            "hosts(us)": microseconds(job.without_offload.time_s if job.without_offload else None),
            "speed-up": format_ratio(job.speed_up),
            "interval": job.certainty.interval if job.certainty else "",
        }
        for job in jobs
    ]
    if not any(job.with_best for job in jobs):
        return rows
    return [
        row
        | {
            "best(us)": microseconds(job.with_best.time_s if job.with_best else None),
            "over best": format_ratio(job.speed_up_over_best),
            "its interval": job.certainty_over_best.interval if job.certainty_over_best else "",
        }
        for row, job in zip(rows, jobs, strict=True)
    ]


def _gains_of_job(job: JobPart) -> Iterator[str]:
    """Yield a line for each known gain of a job, as for a single run."""
    if job.speed_up is not None:
        yield f"job {job.name}: {gained(job.speed_up, job.certainty)}"
    if job.speed_up_over_best is not None:
        said = gained(job.speed_up_over_best, job.certainty_over_best)
        yield f"job {job.name}, over --fallback best: {said}"


def _print_slowdowns(record: RecordData, jobs: Sequence[JobPart], on: Console) -> None:
    """Print the slowdown of jobs and calls relative to running alone, and the shared resources."""
    print_title("slowdown of jobs among the others", on)
    rows = [
        {
            "job": job.name,
            "alone(us)": microseconds(job.alone.time_s if job.alone else None),
            "together(us)": microseconds(job.time_s),
            "slowdown": _ratio(job.slowdown),
            "offloaded alone": str(job.alone.offloaded_calls if job.alone else ""),
            "offloaded": str(job.offloaded_calls),
        }
        for job in jobs
    ]
    print_table(fitting(rows, ("offloaded alone", "offloaded"), ("job",), on), on)
    calls = [_slowdown_cells(job.name, row) for job in jobs for row in job.slowdowns()]
    if calls:
        print_title("slowdown of their calls", on)
        left = ("job", "collective", "type, op")
        print_table(fitting(calls, ("p95", "ranks", "calls"), left, on), on)
    causes = [cells for job in jobs for cells in _causes(record, job)]
    if causes:
        print_title("most utilised links, and switches, that they shared", on)
        print_table(fitting(causes, (), ("job", "link or switch"), on), on)


def _slowdown_cells(job: str, row: CallSlowdown) -> dict[str, str]:
    calls = row.together
    return {
        "job": job,
        "collective": calls.collective,
        "ranks": str(calls.communicator_size),
        "type, op": type_and_op(calls.datatype, calls.op),
        "calls": str(calls.calls),
        "alone(us)": microseconds(row.alone.mean_s),
        **{name: _ratio(getattr(row.ratio, name)) for name in ("mean", "p50", "p95", "p99", "max")},
    }


def _causes(record: RecordData, job: JobPart) -> list[dict[str, str]]:
    """Return the links and switches with other traffic that a slowed-down job used most."""
    if job.slowdown is not None and job.slowdown <= 1 + _ROUNDING:
        return []
    used = {link.name: link.utilisation for link in record.links}
    links = sorted(job.shared_links, key=lambda link: -used.get(link.name, 0))
    alone = {one.name: one.offloaded for one in job.alone.switches} if job.alone else {}
    refused = [one for one in job.switches if one.offloaded < alone.get(one.name, 0)]
    return [
        *(
            {
                "job": job.name,
                "link or switch": link.name,
                "utilised": percent(used.get(link.name, 0)),
                "own": percent(link.share),
                "offloaded alone": "",
                "offloaded": "",
            }
            for link in links[:_MOST_CAUSES]
        ),
        *(
            {
                "job": job.name,
                "link or switch": one.name,
                "utilised": "",
                "own": percent(one.share),
                "offloaded alone": str(alone[one.name]),
                "offloaded": str(one.offloaded),
            }
            for one in refused[:_MOST_CAUSES]
        ),
    ]


def _ratio(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _traffic(record: RecordData, jobs: Sequence[JobPart], on: Console) -> Table:
    """Return the traffic of each job, and the most utilised link that it shared with other jobs."""
    used = {link.name: link.utilisation for link in record.links}
    rows = []
    for job in jobs:
        shared = job.shared_links
        busiest = max(shared, key=lambda link: used.get(link.name, 0), default=None)
        rows.append(
            {
                "job": job.name,
                "messages": str(job.messages),
                "sent": format_size(job.message_bytes),
                "offloaded": str(job.offloaded_calls),
                "fallbacks": str(job.fallback_calls),
                "links": str(len(job.links)),
                "shared": str(len(shared)),
                "busiest shared link": busiest.name if busiest else "",
                "utilised": percent(used.get(busiest.name, 0)) if busiest else "",
                "own": percent(busiest.share) if busiest else "",
            }
        )
    return fitting(rows, ("messages", "links", "offloaded"), ("job", "busiest shared link"), on)


def _collectives(rows: Sequence[CollectivePart], on: Console) -> Table:
    """Return a row for each entry, the longest times first."""
    ordered = sorted(rows, key=lambda row: -(row.total_time_s or 0))
    cells = [cells_of(row) for row in ordered]
    return fitting(cells, _DISPENSABLE, ("collective", "type, op", "path", "reason"), on)


def cells_of(row: CollectivePart) -> dict[str, str]:
    """Return a row of the table of collectives, by column."""
    return {
        "collective": row.collective,
        "ranks": str(row.communicator_size),
        "type, op": type_and_op(row.datatype, row.op),
        "path": row.way,
        "reason": row.why,
        "calls": str(row.calls),
        "bytes": format_size(row.bytes),
        "mean(us)": microseconds(row.mean_time_s),
        "max(us)": microseconds(row.max_time_s),
    }


def type_and_op(datatype: str, op: str) -> str:
    """Return datatype and operation as shown in tables."""
    return ", ".join(name.removeprefix("MPI_") for name in (datatype, op) if name)


def waits(record: RecordData) -> list[str]:
    """Return the wait for late ranks in each blocking collective in which it matters.

    Ranks that wait in non-blocking calls may compute meanwhile.
    """
    lines = []
    for part in record.jobs or (record,):
        job = f"job {part.name}: " if isinstance(part, JobPart) else ""
        least_s = _LEAST_WAIT_OF_RUN * record.simulated_time_s * part.ranks
        for collective in dict.fromkeys(row.collective for row in part.collectives):
            rows = [row for row in part.collectives if row.collective == collective]
            time_s = sum(row.total_time_s or 0 for row in rows)
            wait_s = sum(row.total_wait_s or 0 for row in rows)
            matters = wait_s > 0 and wait_s >= max(least_s, _LEAST_WAIT_OF_CALLS * time_s)
            if collective.startswith("i") or not matters:
                continue
            each = sum(row.calls * row.communicator_size for row in rows)
            lines.append(
                f"{job}{collective}: of {microseconds(time_s / each)} us per call,"
                f" {microseconds(wait_s / each)} us pass before the last rank enters"
            )
    return lines


def reasons(record: RecordData) -> list[str]:
    """Return an explanation for each word in the column `reason`, and remarks on progress."""
    if not any(row.offloaded for row in record.collectives):
        return [why_nothing(record), *progress(record), *unfit_algorithms(record)]
    words = dict.fromkeys(row.reason for row in record.collectives if not row.offloaded)
    explained = (f"fallback ({word}): {explain(word, record)}" for word in words)
    return [*explained, *progress(record), *unfit_algorithms(record)]


def unfit_algorithms(record: RecordData) -> list[str]:
    """Return the calls that a named algorithm could not execute, for which the library decided."""
    lines = []
    for part in record.jobs or (record,):
        for row in part.collectives:
            name, _, library = row.algorithm.removesuffix(")").partition(" (")
            asked = _asked(part.fallback, row.collective)
            if row.offloaded or not library or asked in ("", "best"):
                continue
            if not (asked.startswith(("smpi:", "nccl-")) or asked.isidentifier()):
                asked = f"a rule of {asked}"  # a file
            lines.append(
                f"{row.collective}: {asked} cannot execute"
                f" {plural(row.calls, 'call')} on {plural(row.communicator_size, 'rank')};"
                f" {library} selects {name}"
            )
    return list(dict.fromkeys(lines))


def _asked(fallback: str, collective: str) -> str:
    """Return a fallback's last entry that applies to a collective, `ialltoall` or `alltoall`."""
    asked = ""
    for item in fallback.split(","):
        of, equals, name = item.rpartition("=")
        if not equals or collective in (of, f"i{of}"):
            asked = name
    return asked


def progress(record: RecordData, *, messages: bool = True) -> list[str]:
    """Return how messages and non-blocking calls on hosts progress during computation."""
    return [*(_progress_of_messages(record) if messages else ()), *_progress_of_calls(record)]


def _progress_of_messages(record: RecordData) -> list[str]:
    late = record.rendezvous or None
    if late is None or late.delayed == 0:
        return []
    whom = "receivers" if late.scheme == "get" else "receivers and senders"
    return [
        "rendezvous messages progress only inside MPI calls, as Open MPI over UCX does without a"
        f" progress thread: {plural(late.delayed, 'message')} started"
        f" {format_seconds(late.delay_s / late.delayed)} late on average, when {whom} entered MPI"
        ' ([mpi] progress = "calls"; --set mpi.progress=thread starts them at once)'
    ]


def _progress_of_calls(record: RecordData) -> list[str]:
    by_hosts = dict.fromkeys(
        row.collective
        for row in record.collectives
        if row.collective.startswith("i") and not (row.offloaded or row.by_smpi)
    )
    if not by_hosts:
        return []
    where = {
        "thread": "beside the program, as with a progress thread of the MPI library",
        "calls": "only inside MPI calls, as in MPI libraries without a progress thread",
    }[record.progress]
    names = ", ".join(by_hosts)
    return [f'on the hosts {names} advances {where} ([mpi] progress = "{record.progress}")']


def why_nothing(record: RecordData) -> str:
    """Return in one line the reasons why no collective was offloaded."""
    if not record.collectives and record.outcome.kind != "completed":
        return "Nothing was offloaded before the run ended."
    if not record.collectives:
        return "Nothing was offloaded: the program called no collective that a switch can execute."
    reasons: dict[str, int] = {}
    for row in record.collectives:
        reasons[row.reason] = reasons.get(row.reason, 0) + row.calls
    parts = (
        f"{explain(reason, record)} ({plural(calls, 'call')})" for reason, calls in reasons.items()
    )
    return f"Nothing was offloaded: {'; '.join(parts)}."


def explain(reason: str, record: RecordData) -> str:
    """Return a reason in a few words."""
    if reason == "policy" and _is_off(record):
        return "offloading is off"
    return REASONS.get(reason, reason or "no reason recorded")


def _is_off(record: RecordData) -> bool:
    """Return True if the user chose off for every job with calls of this reason."""
    modes = [
        job.offload
        for job in record.jobs or ()
        if any(row.reason == "policy" for row in job.collectives)
    ]
    return set(modes or [record.offload]) == {"off"}


def doubtful_values(*records: RecordData) -> list[str]:
    """Return the values of the fabric that no device has, or that were measured on others."""
    lines = (line for one in records for line in (*_impossible(one), *_unmeasured(one)))
    return list(dict.fromkeys(lines))


def _impossible(record: RecordData) -> list[str]:
    found = record.fabric.impossible or ()
    return [f"exists nowhere: {'; '.join(found)}"] if found else []


def _unmeasured(record: RecordData) -> list[str]:
    """Return the unmeasured host values, if ranks share hosts and depend on them."""
    keys = record.fabric.unmeasured or ()
    on_hosts = (
        record.host_stages
        or any(not row.offloaded for row in record.collectives)
        or any(part.kind in ("point-to-point", "waits") and part.calls for part in record.profile)
    )
    if not keys or not on_hosts or record.ranks <= record.hosts_used:
        return []
    return [f"[host] values that were not measured on these hosts: {', '.join(keys)}"]


def losses(record: RecordData) -> list[str]:
    """Return the losses of multicasts by collective, if any."""
    return [
        f"{row.collective}: {plural(row.drops, 'chunk')} did not arrive{_where(row)}{_why(row)};"
        f" ranks fetched {format_size(round(row.fetched_bytes))} from their neighbours"
        for row in record.multicast
        if row.drops > 0
    ]


def _where(row: MulticastPart) -> str:
    missed = [(rank.drops, rank.rank) for rank in row.by_rank if rank.drops]
    if not missed:
        return ""
    if len(missed) == 1:
        return f" at rank {missed[0][1]}"
    most, rank = max(missed, key=lambda one: (one[0], -one[1]))
    return f" at {len(missed)} ranks, most at rank {rank} ({most})"


def _why(row: MulticastPart) -> str:
    places = {"a staging ring": row.staging_drops, "a switch": row.port_drops}
    full = [f"{drops:,} dropped by {place}" for place, drops in places.items() if drops]
    return f" ({', '.join(full)})" if full else ""


def schedule_ends(record: RecordData) -> str:
    """Return the end times of the ranks of GOAL schedules, for the last line."""
    told = [f"; the schedule ended: {_ends(record.schedule)}"] if record.schedule else []
    for row in record.jobs or ():
        if row.schedule:
            told.append(f"; the schedule of {row.name} ended: {_ends(row.schedule)}")
    return "".join(told)


def _ends(schedule: SchedulePart) -> str:
    shown = list(enumerate(schedule.rank_ends_s))
    between = ", "
    if len(shown) > _MOST_ENDS:
        shown = [min(shown, key=lambda one: one[1]), max(shown, key=lambda one: one[1])]
        between = ", …, "
    return between.join(f"rank {rank} at {format_seconds(end)}" for rank, end in shown)


def place(record: RecordData) -> str:
    """Return the ranks, their hosts and the fabric, and the spawned ranks."""
    ranks, hosts = plural(record.ranks, "rank"), plural(record.hosts_used, "host")
    where = f"{ranks} on {hosts} of {record.fabric.label}"
    if isinstance(record.spawned, UnsetType):
        return where
    spawned = plural(sum(world.ranks for world in record.spawned), "spawned rank")
    hosts = plural(len({host for world in record.spawned for host in world.hosts}), "host")
    return f"{where}, {spawned} on {hosts}"


def summary(record: RecordData) -> str:
    """Return placement and simulated time in one line."""
    where = place(record)
    where += "" if record.contention else ", without contention"
    packets = record.packets
    if not isinstance(packets, UnsetType):
        where += f", as {packets.packets:,} packets"
        if packets.dropped > 0:
            where += f" ({packets.dropped:,} dropped)"
    merged = record.resolution
    if not isinstance(merged, UnsetType):
        if merged.merged_updates > 0:
            longest = format_seconds(merged.longest_s)
            where += (
                f", rates updated every {longest} at most"
                f" while {merged.most_flows:,} flows shared links"
            )
        if merged.queued > 0:
            where += f", {plural(merged.queued, 'short message')} queued at links"
    return f"{where}: simulated time {format_seconds(record.simulated_time_s)}"
