"""Run an MPI program on a fabric: check everything first, run SimGrid, make the record.

    request = Request(fabric="tofino-4", ranks=4, program="./a.out")
    record = run(prepare(request))

`prepare` raises a `WeftError` for whatever the user can mend; nothing has been started then. What
happens in the simulation, a crash or a deadlock of the program included, is in the record's
outcome.
"""

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from weft import _core
from weft.base import paths
from weft.base.errors import WeftError, named, suggestion
from weft.base.process import Ended, Streams, run_child, work_directory
from weft.runs import outcome, settings
from weft.runs.libraries import (
    Library,
    as_environment,
    private_libraries,
    without_private_libraries,
)
from weft.runs.program import check_program, find_program
from weft.runs.record import EventPart, OutcomePart, Record
from weft.runs.simgrid import SimGrid
from weft.runs.site import Site, choose_site
from weft.runs.timeline import is_complete, write_timeline
from weft.trace.folder import Folder, waitall_notes

Offload = Literal["stream", "message", "multicast", "auto", "off"]
OFFLOADS: tuple[Offload, ...] = ("stream", "message", "multicast", "auto", "off")
DEFAULT_FALLBACK = "ompi"
MOST_RANKS = 1 << 20
"""Of a run: more than a machine holds, so that a slip of the finger is no hang."""

# SimGrid speaks only of what weft does not say itself; what goes to files is what libweft.so, which
# reads all of it (src/simgrid/complaints.cpp), says better.
_SILENCE = (
    "no_loc",
    "root.fmt:simgrid:%e%m%n",
    "xbt_cfg.thres:warning",
    "smpi.thres:warning",
    "smpi_config.thres:warning",
    "smpi_utils.thres:info",
    "smpi_bench.thres:info",
    "smpi_kernel.thres:warning",
)
_LOG_FILES = {"ker_engine": "engine.log", "smpi_pmpi": "mpi.log"}


@dataclass(frozen=True)
class Request:
    """What to run and how; nothing of it is checked yet."""

    fabric: str | None
    """Name of a shipped fabric, or the path of a fabric file; none with a platform."""
    ranks: int
    program: str
    arguments: tuple[str, ...] = ()
    ppn: int | None = None
    """Ranks a host; by default one while there are hosts enough, else as few as possible."""
    offload: Offload = "stream"
    fallback: str | None = None
    """SMPI algorithm of every Allreduce that is not offloaded; by default Open MPI's choice."""
    config: tuple[str, ...] = ()
    """SimGrid settings, KEY:VALUE, which come after weft's own."""
    host_speed: str | None = None
    """Speed of this machine, `10Gf` or `auto`; by default computation takes no simulated time."""
    privatize: bool = True
    """Give each rank its own global variables, at the cost of a copy of the program a rank."""
    timeout_s: float | None = None
    """Wall time after which the run is given up."""
    timeline: Path | None = None
    """Where to write what every rank and switch did when."""
    platform: Path | None = None
    """A platform file of SimGrid's to run on, in place of a fabric."""
    ti_trace: Path | None = None
    """Where SimGrid is to write its time-independent trace; not together with a timeline."""
    messages: Path | None = None
    """Where to write the hosts of every message between two: int32, two each."""
    replay: Folder | None = None
    """A trace to replay in place of the program."""
    command: tuple[str, ...] = ()
    """What the user typed, for the record."""


@dataclass(frozen=True)
class PreparedRun:
    """A request that has passed all checks."""

    request: Request
    site: Site
    program: Path
    simgrid: SimGrid = field(default_factory=SimGrid)
    libraries: tuple[Library, ...] = ()
    """Shared libraries that each rank gets its own copy of."""

    @property
    def argv0(self) -> str:
        """The program as the user wrote it, or where PATH has it."""
        as_written = "/" in self.request.program and not self.request.replay
        return self.request.program if as_written else str(self.program.absolute())


def prepare(request: Request) -> PreparedRun:
    """Check a request: network, placement, algorithm, settings, program."""
    simgrid = SimGrid()
    asked_by = f"trace {request.replay.path}" if request.replay else named("ranks")
    site = choose_site(request.fabric, request.platform, request.ranks, request.ppn, asked_by)
    if request.fallback is not None:
        check_algorithm(named("fallback"), request.fallback, simgrid)
    settings.check(request.host_speed, request.config, simgrid)
    program = _program(request)
    return PreparedRun(request, site, program, simgrid, _libraries(request, program, simgrid))


def _libraries(request: Request, program: Path, simgrid: SimGrid) -> tuple[Library, ...]:
    if request.replay or not request.privatize:
        return ()
    environment = simgrid.environment(os.environ)
    return tuple(private_libraries(program, simgrid.launcher, environment, request.config))


def _program(request: Request) -> Path:
    if request.replay:
        return paths.installed("replayer.so")
    program = find_program(request.program)
    check_program(program)
    return program


def check_algorithm(option: str, name: str, simgrid: SimGrid, besides: Sequence[str] = ()) -> None:
    """Prove that SMPI has this algorithm for an Allreduce, unless it is one of those besides."""
    known = [*besides, *simgrid.algorithms("allreduce")]
    if name not in known:
        raise WeftError(
            f"{option}: found '{name}', which is no Allreduce algorithm of SMPI;"
            f" {suggestion(name, known)}"
        )


def run(
    plan: PreparedRun,
    on_line: Callable[[str], None] | None = None,
    streams: Streams | None = None,
) -> Record:
    """Run the program; its output goes line by line to `on_line`, else to the streams given.

    Without either it goes where weft's own goes.
    """
    with work_directory() as work:
        plan.site.place(work / "hosts")
        ended = run_child(
            build_command(plan, work),
            _environment(plan, work),
            timeout_s=plan.request.timeout_s,
            on_line=on_line,
            streams=streams,
        )
        record = _make_record(plan, work, ended)
        if plan.request.ti_trace is not None and record.ended:
            _take_ti_trace(work, plan.request.ti_trace)
        if plan.request.timeline is not None:
            trace = work / "trace.paje"
            if not record.failed and not is_complete(trace):
                raise outcome.incomplete(trace)
            _write_timeline(trace, record, plan.request.timeline)
    return record


def _write_timeline(trace: Path, record: Record, target: Path) -> None:
    """Write it, and where the disk is full, keep what is known of the run all the same."""
    try:
        write_timeline(trace, record, target)
    except WeftError as error:
        record.unwritten = error.message


def _take_ti_trace(work: Path, target: Path) -> None:
    """Move the one file that SimGrid has written, under a name of its own, and weft's notes."""
    (written,) = (work / "ti_files").iterdir()
    shutil.move(written, target)
    if (notes := _waitall_notes(work)).exists():
        shutil.move(notes, waitall_notes(target))


def _waitall_notes(work: Path) -> Path:
    return work / "waitall-notes"


def build_command(plan: PreparedRun, work: Path) -> list[str]:
    """Return the command line of SimGrid's launcher; the program's arguments come untouched."""
    return [
        str(plan.simgrid.launcher),
        plan.argv0,
        *(f"--log={setting}" for setting in _log_settings(work)),
        *(f"--cfg={setting}" for setting in _settings(plan, work)),
        str(paths.platform_library()),
        "--",
        *_arguments(plan.request),
    ]


def _arguments(request: Request) -> tuple[str, ...]:
    return (str(request.replay.actions),) if request.replay else request.arguments


def _log_settings(work: Path) -> list[str]:
    files = [f"{category}.app:file:{work / name}" for category, name in _LOG_FILES.items()]
    return [*_SILENCE, *files, *(f"{category}.add:0" for category in _LOG_FILES)]


def _settings(plan: PreparedRun, work: Path) -> list[str]:
    request = plan.request
    return [
        f"smpi/np:{request.ranks}",
        f"smpi/hostfile:{work / 'hosts'}",
        f"smpi/tmpdir:{work}",
        f"smpi/privatization:{'dlopen' if request.privatize else 'no'}",
        "precision/timing:1e-9",
        "network/model:SMPI",
        "exception/cutpath:yes",
        f"smpi/coll-selector:{DEFAULT_FALLBACK}",
        *([f"smpi/allreduce:{request.fallback}"] if request.fallback else []),
        *(_speed_settings(request.host_speed) or ["smpi/simulate-computation:no"]),
        *(_trace_settings(work) if request.timeline else []),
        *(_ti_settings(work) if request.ti_trace else []),
        *without_private_libraries(request.config),
    ]


def _speed_settings(speed: str | None) -> list[str]:
    return [f"smpi/host-speed:{speed}", "smpi/simulate-computation:yes"] if speed else []


def _trace_settings(work: Path) -> list[str]:
    return [
        "tracing:yes",
        f"tracing/filename:{work / 'trace.paje'}",
        "tracing/smpi:yes",
        "tracing/smpi/computing:yes",
        "tracing/smpi/display-sizes:yes",
        "tracing/precision:9",
    ]


def _ti_settings(work: Path) -> list[str]:
    return [
        "tracing:yes",
        f"tracing/filename:{work / 'ti'}",
        "tracing/smpi:yes",
        "tracing/smpi/computing:yes",
        "tracing/smpi/sleeping:yes",
        "tracing/smpi/format:TI",
        "tracing/smpi/format/ti-one-file:yes",
    ]


def _environment(plan: PreparedRun, work: Path) -> dict[str, str]:
    ours = {
        **plan.site.environment(work / "hosts"),
        "WEFT_OFFLOAD": plan.request.offload,
        **as_environment(plan.libraries),
        "WEFT_RECORD": str(work / outcome.RAW_RECORD),
        **({"WEFT_EVENTS": "1"} if plan.request.timeline else {}),
        **({"WEFT_WAITALL_NOTES": str(_waitall_notes(work))} if plan.request.ti_trace else {}),
        **({"WEFT_MESSAGES": str(plan.request.messages)} if plan.request.messages else {}),
    }
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("WEFT_")}
    return _preloading(plan.simgrid.environment({**inherited, **ours}), work)


def _preloading(environment: Mapping[str, str], work: Path) -> dict[str, str]:
    """Have weft's library loaded before SimGrid's: its non-blocking collectives replace SMPI's.

    By its name alone, because LD_PRELOAD knows no way to write a path with a space in it.
    """
    library = paths.platform_library()
    preloaded = [library.name, *filter(None, [environment.get("LD_PRELOAD")])]
    folders = [environment["LD_LIBRARY_PATH"], str(library.parent), str(work)]
    return {
        **environment,
        "LD_PRELOAD": ":".join(preloaded),
        "LD_LIBRARY_PATH": ":".join(folders),
    }


def _make_record(plan: PreparedRun, work: Path, ended: Ended) -> Record:
    request = plan.request
    record = outcome.read_raw_record(work / outcome.RAW_RECORD) or _empty_record(plan)
    record.outcome, record.exit_status = outcome.judge(
        record.outcome, ended, work, request.timeout_s
    )
    record.ranks = request.ranks
    record.program = request.program if request.replay else str(plan.program.absolute())
    record.replayed = str(request.replay.path.absolute()) if request.replay else ""
    record.arguments = list(request.arguments)
    record.command = list(request.command)
    record.ppn = plan.site.ppn or -(-request.ranks // max(1, record.fabric.hosts))
    record.hosts_used = -(-request.ranks // record.ppn)
    record.fallback = request.fallback or DEFAULT_FALLBACK
    record.config = list(request.config)
    record.host_speed = request.host_speed or ""
    record.wall_time_s = ended.wall_time_s
    record.cpu_time_s = ended.cpu_time_s
    record.peak_memory_bytes = ended.peak_memory_bytes
    return record


def _empty_record(plan: PreparedRun) -> Record:
    """Return the record of a run that ended before libweft.so could write its part."""
    return Record(
        weft=_core.version,
        simgrid=_core.simgrid_version,
        fabric=plan.site.part,
        ranks=plan.request.ranks,
        hosts_used=0,
        offload=plan.request.offload,
        outcome=OutcomePart(kind="unfinished"),
        simulated_time_s=0.0,
        events=list[EventPart](),
    )
