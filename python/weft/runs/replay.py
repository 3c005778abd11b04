# SPDX-License-Identifier: LGPL-2.1-only
"""Records a program's calls as a trace, and replays it on another fabric.

    recording = record_calls(prepare(request), Path("trace"))
    record = run(prepare(replay_request(read_folder(Path("trace")), fabric="fat-tree-1024")))

A new trace is immediately replayed on the same fabric, and weft warns if its time differs from the
program's.
"""

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
    write_calls,
)

TOLERANCE = 0.001
"""Accepted relative deviation between the program and its replay on the same fabric."""


@dataclass(frozen=True)
class Recording:
    """Run whose trace was requested."""

    record: Record
    messages: tuple[str, ...] = ()
    """Remarks about the trace, for the user."""
    exit_status: int = 0


Runner = Callable[[PreparedRun], Record]


def record_calls(plan: PreparedRun, target: Path, runner: Runner = launch.run) -> Recording:
    """Run the program and record all of its calls, if a trace can represent them.

    `runner` replaces weft's own launch for both the run and the replay.
    """
    with work_directory() as work:
        raw = work / "calls"
        record = runner(replace(plan, request=plan.request.changed(calls=raw)))
        if not record.ended:
            return Recording(record, (f"{target} was not written: the program did not finish",))
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
    """Return the fields of `Origin`, except the schema."""
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
    """Yield remarks on deviations between the program and its replay on the same fabric."""
    replayed = runner(launch.prepare(_replay_at_home(plan, folder)))
    recorded_s, replayed_s = record.simulated_time_s, replayed.simulated_time_s
    if replayed.failed:
        yield f"the trace cannot be replayed: {replayed.outcome.message}"
    elif abs(replayed_s - recorded_s) > TOLERANCE * recorded_s:
        yield (
            f"on the same fabric the trace takes {replayed_s:.9g} s and the program"
            f" {recorded_s:.9g} s: replays of this trace are not reliable"
        )


def _replay_at_home(plan: PreparedRun, folder: Folder) -> Request:
    asked = plan.request
    return replace(
        replay_request(folder, ppn=asked.placement.ppn, config=asked.simulation.config),
        placement=asked.placement,
        collectives=asked.collectives,
    )


def replay_request(folder: Folder, **options: Any) -> Request:
    """Return the request that replays a trace; options are additional fields of `Request`."""
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
