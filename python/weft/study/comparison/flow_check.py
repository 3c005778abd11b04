# SPDX-License-Identifier: LGPL-2.1-only
"""Check of flows: runs the program on flows and on packets, and compares its calls.

Calls that switches execute on flows and hosts on packets are not compared.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import groupby
from typing import TypeVar

from weft.base.errors import WeftError, named
from weft.runs import launch
from weft.runs.jobs import launch as several
from weft.runs.jobs.file import JobsFile
from weft.runs.jobs.launch import PreparedJobs
from weft.runs.launch import PreparedRun
from weft.runs.record import Record
from weft.runs.record_data import CollectivePart, FlowCheckPart, FlowCheckRowPart, JobPart
from weft.runs.request import Request

DEFAULT_TOLERANCE = 0.05
Plan = TypeVar("Plan", PreparedRun, PreparedJobs)


def on_flows(request: Request) -> Request:
    """Return the request for a run on flows; refuse requests without flows."""
    if request.placement.platform is not None:
        raise WeftError(
            f"{named('check_flows')}: found on a SimGrid platform, which has no packets; allowed:"
            f" with {named('fabric')} only"
        )
    return _with_model(request, "flows")


def on_packets(request: Request) -> PreparedRun:
    """Return the same run on packets, checked before the first run starts."""
    return launch.prepare(_with_model(request, "packets").changed(timeline=None))


def jobs_on_packets(file: JobsFile, request: Request) -> PreparedJobs:
    """Return the same jobs on packets, checked before the first run starts."""
    jobs = tuple(replace(job, output=None) for job in file.jobs)
    return several.prepare(replace(file, jobs=jobs), _with_model(request, "packets"))


def _with_model(request: Request, model: str) -> Request:
    return request.changed(changes=(*request.placement.changes, f"network.model={model}"))


def add_flow_check(
    record: Record,
    packets: Plan,
    runner: Callable[[Plan], Record],
    tolerance: float,
) -> Record:
    """Rerun the program on packets, and add the comparison to the record.

    `runner` executes the second run. A run that did not complete gets no comparison.
    """
    if record.failed:
        return record
    other: Record = runner(packets)
    if other.failed:
        raise WeftError(f"{named('check_flows')}: in the run on packets: {other.outcome.message}")
    rows = _jobs(record, other)
    if not record.jobs:
        rows = [*_collectives(record, other), *_calls(record, other)]
    for row in rows:
        row.difference = _difference(row.flows_s, row.packets_s)
        row.differs = row.difference is None or abs(row.difference) > tolerance
    record.flow_check = FlowCheckPart(
        tolerance=tolerance,
        flows_s=record.simulated_time_s,
        packets_s=other.simulated_time_s,
        not_compared=sum(_not_compared(*pair) for pair in _pairs(record, other)),
        calls=sorted(rows, key=lambda row: -abs(row.packets_s - row.flows_s) * row.calls),
    )
    return record


def _difference(flows_s: float, packets_s: float) -> float | None:
    """Return the additional time on packets, as a fraction; None if flows take no time."""
    if flows_s == packets_s:
        return 0.0
    return packets_s / flows_s - 1 if flows_s > 0 else None


_Kind = tuple[str, int, str, str]


def _kind(row: CollectivePart) -> _Kind:
    return row.collective, row.communicator_size, row.datatype, row.op


def _by_kind(rows: Iterable[CollectivePart]) -> dict[_Kind, list[CollectivePart]]:
    return {kind: list(its) for kind, its in groupby(sorted(rows, key=_kind), _kind)}


def _mean_s(rows: Iterable[CollectivePart]) -> float | None:
    """Return the mean time of one rank in one call."""
    total, calls = 0.0, 0
    for row in rows:
        if row.total_time_s is None:
            return None
        total += row.total_time_s
        calls += row.calls * row.communicator_size
    return total / max(1, calls)


def _same_executors(its: list[CollectivePart], theirs: list[CollectivePart]) -> bool:
    return {row.offloaded for row in its} == {row.offloaded for row in theirs}


_Part = Record | JobPart


def _pairs(flows: Record, packets: Record) -> list[tuple[_Part, _Part]]:
    """Return both runs of each job, or of the only program."""
    if not flows.jobs:
        return [(flows, packets)]
    return list(zip(flows.jobs, packets.jobs or (), strict=True))


def _jobs(flows: Record, packets: Record) -> list[FlowCheckRowPart]:
    """Return the rows of jobs: their collectives, messages and iterations."""
    rows: list[FlowCheckRowPart] = []
    for ours, theirs in zip(flows.jobs or (), packets.jobs or (), strict=True):
        rows += [*_collectives(ours, theirs), *_kinds(ours, theirs)]
        if ours.training and theirs.training:
            rows.append(
                FlowCheckRowPart(
                    job=ours.name,
                    call="iteration",
                    calls=1,
                    flows_s=ours.training.time_s,
                    packets_s=theirs.training.time_s,
                )
            )
    return rows


def _kinds(flows: JobPart, packets: JobPart) -> list[FlowCheckRowPart]:
    """Return the rows of a job's other MPI calls, which the record counts by kind."""
    theirs = {part.kind: part for part in packets.profile if part.calls}
    return [
        FlowCheckRowPart(
            job=flows.name,
            call=part.kind,
            calls=part.calls,
            flows_s=part.mean_s * flows.ranks / part.calls,
            packets_s=theirs[part.kind].mean_s * flows.ranks / theirs[part.kind].calls,
        )
        for part in flows.profile
        if part.kind in _POINT_TO_POINT and part.calls and part.kind in theirs
    ]


def _not_compared(flows: _Part, packets: _Part) -> int:
    theirs = _by_kind(packets.collectives)
    return sum(
        row.calls
        for kind, its in _by_kind(flows.collectives).items()
        if not _same_executors(its, theirs.get(kind, []))
        for row in its
        if row.offloaded
    )


def _collectives(flows: _Part, packets: _Part) -> list[FlowCheckRowPart]:
    theirs = _by_kind(packets.collectives)
    rows = []
    for kind, its in _by_kind(flows.collectives).items():
        calls = sum(row.calls for row in its)
        others = theirs.get(kind, [])
        flows_s, packets_s = _mean_s(its), _mean_s(others)
        if not _same_executors(its, others) or flows_s is None or packets_s is None:
            continue
        rows.append(
            FlowCheckRowPart(
                job=flows.name if isinstance(flows, JobPart) else "",
                call=kind[0],
                communicator_size=kind[1],
                datatype=kind[2],
                op=kind[3],
                calls=calls,
                bytes_per_call=sum(row.bytes for row in its) / max(1, calls),
                flows_s=flows_s,
                packets_s=packets_s,
            )
        )
    return rows


def _calls(flows: Record, packets: Record) -> list[FlowCheckRowPart]:
    """Return the rows of MPI functions other than collectives."""
    theirs = {call.call: call for call in packets.mpi_calls}
    return [
        FlowCheckRowPart(
            call=call.call,
            calls=call.calls,
            flows_s=call.total_time_s / call.calls,
            packets_s=theirs[call.call].total_time_s / theirs[call.call].calls,
        )
        for call in flows.mpi_calls
        if call.kind in _POINT_TO_POINT and call.call in theirs
    ]


_POINT_TO_POINT = ("point-to-point", "waits")
