# SPDX-License-Identifier: LGPL-2.1-only
"""Record what a program does as a trace, and replay it on another fabric.

    recording = record_calls(prepare(request), Path("trace"))
    record = run(prepare(replay_request(read_folder(Path("trace")), fabric="fat-tree-1024")))

A trace is replayed at once on the same fabric, and where that takes another time than the program,
weft says so. One of SimGrid's (`record_trace`) is looked through before, and its collectives are
held against those that weft has counted; it is kept only where it can be the program's.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from weft import _core
from weft.base.errors import USER_ERROR
from weft.base.process import work_directory
from weft.runs import launch
from weft.runs.launch import PreparedRun
from weft.runs.record import Record
from weft.runs.request import Request
from weft.trace.actions import UnfitError
from weft.trace.folder import (
    CallsManifest,
    Folder,
    Manifest,
    Operations,
    survey,
    write_calls,
    write_folder,
)
from weft.trace.survey import Survey

TOLERANCE = 0.01
"""How far a replay of SimGrid's trace on the same fabric may be from the program itself."""
CALLS_TOLERANCE = 0.001
"""The same of weft's own."""


@dataclass(frozen=True)
class Recording:
    """A run whose trace was wanted."""

    record: Record
    messages: tuple[str, ...] = ()
    """What the user should know of the trace."""
    exit_status: int = 0


Runner = Callable[[PreparedRun], Record]


def record_calls(plan: PreparedRun, target: Path, runner: Runner = launch.run) -> Recording:
    """Run the program and keep every call of it, where a trace can hold them.

    A `runner` makes the run, and that of the trace, in place of weft's own.
    """
    with work_directory() as work:
        raw = work / "calls"
        record = runner(replace(plan, request=plan.request.changed(calls=raw)))
        if not record.ended:
            return Recording(record, (f"{target} was not written: the program did not end",))
        try:
            folder = write_calls(raw, _calls_manifest(plan, record), target)
        except UnfitError as error:
            return Recording(record, (f"{target} was not written: {error}",), USER_ERROR)
        except OSError as error:
            return Recording(record, (f"cannot write {target}: {error.strerror}",), USER_ERROR)
    return Recording(record, tuple(_differences(plan, folder, record, runner)))


def _calls_manifest(plan: PreparedRun, record: Record) -> CallsManifest:
    return CallsManifest(
        **_origin(plan, record),
        changes=plan.request.placement.changes,
        fallback=record.fallback,
        host_speed=record.host_speed,
        config=tuple(record.config),
        lines=0,
    )


def _origin(plan: PreparedRun, record: Record) -> dict[str, Any]:
    """Return the fields of `Origin`, but its schema."""
    return {
        "weft": _core.version,
        "simgrid": _core.simgrid_version,
        "program": record.program,
        "arguments": tuple(record.arguments),
        "command": tuple(record.command),
        "ranks": record.ranks,
        "ppn": plan.request.placement.ppn,
        "fabric": record.fabric.name,
        "offload": record.offload,
        "simulated_time_s": record.simulated_time_s,
    }


def _differences(
    plan: PreparedRun, folder: Folder, record: Record, runner: Runner
) -> Iterator[str]:
    """Say where a replay on the same fabric is not what the program was."""
    replayed = runner(launch.prepare(_replay_at_home(plan, folder)))
    recorded_s, replayed_s = record.simulated_time_s, replayed.simulated_time_s
    if replayed.failed:
        yield f"the trace does not replay: {replayed.outcome.message}"
    elif abs(replayed_s - recorded_s) > CALLS_TOLERANCE * recorded_s:
        yield (
            f"on the same fabric the trace takes {replayed_s:.9g} s and the program"
            f" {recorded_s:.9g} s: do not trust replays"
        )


def record_trace(plan: PreparedRun, target: Path, runner: Runner = launch.run) -> Recording:
    """Run the program and keep SimGrid's trace of it, where that is fit to be replayed.

    A `runner` makes the run, and that of the trace, in place of weft's own.
    """
    with work_directory() as work:
        raw = work / "actions"
        record = runner(replace(plan, request=plan.request.changed(ti_trace=raw)))
        if not record.ended:
            return Recording(record, (f"{target} was not written: the program did not end",))
        try:
            found = survey(raw, record.ranks)
            _check_collectives(found, record)
        except UnfitError as error:
            reason = f"{target} was not written, since it would not replay as the program ran"
            return Recording(record, (f"{reason}: {error}",), USER_ERROR)
        operations = _operations(record)
        try:
            folder = write_folder(raw, found, operations, _manifest(plan, record, found), target)
        except OSError as error:
            return Recording(record, (f"cannot write {target}: {error.strerror}",), USER_ERROR)
    return Recording(record, tuple(_doubts(plan, folder, record, found, runner)))


def _doubts(
    plan: PreparedRun, folder: Folder, record: Record, found: Survey, runner: Runner
) -> Iterator[str]:
    """Say what may make a replay differ from the program."""
    if found.polls:
        yield (
            "the program calls MPI_Test, which a replay calls as often, although on another fabric"
            " the program might not"
        )
    yield from _mixed_operations(record)
    replayed = runner(launch.prepare(_replay_at_home(plan, folder)))
    recorded_s, replayed_s = record.simulated_time_s, replayed.simulated_time_s
    if replayed.failed:
        yield f"the trace does not replay: {replayed.outcome.message}"
    elif abs(replayed_s - recorded_s) > TOLERANCE * recorded_s:
        yield (
            f"on the same fabric the trace takes {replayed_s:.6g} s and the program"
            f" {recorded_s:.6g} s: do not trust replays; {_untraced(record, replayed)}"
        )


def _untraced(record: Record, replayed: Record) -> str:
    """Say what took time in the program, and is not in its trace."""
    again = {row.call: row.calls for row in replayed.mpi_calls}
    lost = [
        row
        for row in record.mpi_calls
        if row.total_time_s > 0 and row.calls > again.get(row.call, 0)
    ]
    if not lost:
        return "something that the program does beside its calls of MPI is not in SimGrid's trace"
    calls = ", ".join(
        f"{row.call} ({row.calls:,} calls, {row.total_time_s:.3g} s of all ranks together)"
        for row in sorted(lost, key=lambda row: -row.total_time_s)
    )
    clock = any(row.call == "MPI_Wtime" for row in lost)
    hint = "; with --cfg smpi/wtime:0 the clock takes no time" if clock else ""
    return f"SimGrid's trace does not have {calls}{hint}"


def _mixed_operations(record: Record) -> Iterator[str]:
    """Say where the switches treat operations differently that a trace does not tell apart."""
    paths: dict[tuple[str, str], set[bool]] = defaultdict(set)
    for row in record.collectives:
        paths[row.collective, row.datatype].add(row.offloaded)
    for (collective, datatype), offloaded in paths.items():
        operations = {
            row.op
            for row in record.collectives
            if (row.collective, row.datatype) == (collective, datatype)
        }
        if len(offloaded) > 1 and len(operations) > 1:
            yield (
                f"MPI_{collective.capitalize()} of {datatype} is called with"
                f" {' and '.join(sorted(operations))}, which SimGrid does not trace: a replay takes"
                " the commonest for all"
            )


def _replay_at_home(plan: PreparedRun, folder: Folder) -> Request:
    asked = plan.request
    return replace(
        replay_request(folder, ppn=asked.placement.ppn, config=asked.simulation.config),
        placement=asked.placement,
        collectives=asked.collectives,
    )


def _manifest(plan: PreparedRun, record: Record, found: Survey) -> Manifest:
    return Manifest(**_origin(plan, record), polls=found.polls)


def _check_collectives(found: Survey, record: Record) -> None:
    """Prove that all collectives are in the trace, and on MPI_COMM_WORLD as the replay's are."""
    called: Counter[str] = Counter()
    for row in record.collectives:
        if row.communicator_size != record.ranks:
            raise UnfitError(
                f"MPI_{row.collective.capitalize()} is called on a communicator of"
                f" {row.communicator_size} ranks, and SimGrid does not trace communicators"
            )
        called[_merged(row.collective)] += row.calls * row.communicator_size
    traced: Counter[str] = Counter()
    for name, calls in found.collectives.items():
        traced[_merged(name)] += calls
    for name, calls in called.items():
        if calls != traced[name]:
            raise UnfitError(
                f"the ranks make {calls} calls of MPI_{name.capitalize()}, and SimGrid has traced"
                f" {traced[name]} of them"
            )


def _merged(collective: str) -> str:
    """Return the name that SMPI does a collective by."""
    return collective.removesuffix("_block")


def _operations(record: Record) -> Operations:
    """Return the operation, or the commonest, that goes with a collective and a datatype."""
    calls: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for row in record.collectives:
        if row.op:
            for name in (row.collective, f"{row.collective}_block"):
                calls[name, row.datatype][row.op] += row.calls
    return {key: counter.most_common(1)[0][0] for key, counter in calls.items()}


def replay_request(folder: Folder, **options: Any) -> Request:
    """Return what replays a trace; options are those of `Request` that say where and how."""
    manifest = folder.manifest
    options["ppn"] = options.get("ppn") or manifest.ppn
    return Request.of(
        **options,
        ranks=manifest.ranks,
        program=manifest.program,
        arguments=manifest.arguments,
        privatize=False,
        replay=folder,
    )
