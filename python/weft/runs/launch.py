# SPDX-License-Identifier: LGPL-2.1-only
"""Launches an MPI program on a fabric: checks the request, runs SimGrid, assembles the record.

    request = Request.of(fabric="tofino-4", ranks=4, program="./a.out")
    record = run(prepare(request))

`prepare` raises a `WeftError` for every user error before it starts any process. Events inside the
simulation, including a crash or a deadlock of the program, are reported in the record's outcome.
"""

import json
import os
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from msgspec import UNSET, UnsetType

from weft import _core
from weft.base import inputs, paths
from weft.base.errors import WeftError, named, suggestion
from weft.base.output import show_files
from weft.base.process import ChildExit, Streams, run_child, work_directory
from weft.benchmarks import measured
from weft.runs import limits, outcome, settings
from weft.runs.faults import changes as fault_changes
from weft.runs.faults import description as fault_events
from weft.runs.faults.description import PreparedFaults
from weft.runs.options import DEFAULT_FALLBACK
from weft.runs.privatization.interpreter import is_launcher, launcher_of
from weft.runs.privatization.libraries import (
    Library,
    fortran_runtime,
    private_libraries,
    uses_cxx_streams,
    without_private_libraries,
)
from weft.runs.privatization.variables import program_may_be_shared
from weft.runs.program import check_program, find_program
from weft.runs.progress import page
from weft.runs.record import Record, complete_faults
from weft.runs.record_data import EventPart, OutcomePart, SchedulePart
from weft.runs.request import Request
from weft.runs.simgrid import SimGrid
from weft.runs.site import FabricSite, Site, choose_site
from weft.runs.timeline import is_complete, write_timeline
from weft.runs.toolchain import call_tool
from weft.runs.traffic import description
from weft.runs.traffic.description import PlacedTraffic
from weft.trace.folder import Folder

_SELECTOR = "smpi/coll-selector:"
_SMPI_SELECTOR = "ompi"
"""SMPI's selector for calls that weft leaves to SMPI; Open MPI users expect this one."""

_OF_GLIBCS = "glibc.malloc."
_ALLOCATOR = "weft-malloc.so"
"""mimalloc (src/allocator): SimGrid allocates and frees dozens of small blocks per message.

All ranks allocate blocks of one kind before any rank allocates blocks of the next kind.
"""

# SimGrid logs only events that weft does not report itself. libweft.so reads the categories that go
# to files (src/binding/entries/smpi_log.cpp), and words them better.
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
_FAULTS = "faults.json"
_TRAFFIC = "traffic.json"
_OWN_DIRECTORY = "files"
_LOG_FILES = {"ker_engine": "engine.log", "smpi_pmpi": "mpi.log"}


@dataclass(frozen=True)
class PreparedRun:
    """Request that has passed all checks."""

    request: Request
    site: Site
    program: Path
    simgrid: SimGrid = field(default_factory=SimGrid)
    libraries: tuple[Library, ...] = ()
    """Shared libraries of which each rank gets a copy."""
    copies: bool = True
    """True if each rank gets its own copy of the program."""
    traffic: tuple[PlacedTraffic, ...] = ()
    """Background traffic."""
    faults: PreparedFaults | None = None
    """Faults of links and switches."""
    seen: limits.StartResources | None = field(default=None, compare=False)
    """Resources of the machine at the time of the check."""

    @property
    def argv0(self) -> str:
        """Program as written by the user, or its path if found in PATH."""
        workload = self.request.workload
        if workload.replay:
            return str(self.program.absolute())
        name = called_name(workload.program, self.program)
        return str(Path(name).absolute()) if self.has_own_directory else name

    @property
    def has_own_directory(self) -> bool:
        """True if the program does not run in the current directory."""
        outputs = self.request.outputs
        if outputs.isolated and isinstance(self.site, FabricSite):
            return outputs.files is not None or self.site.fabric.has_storage
        return outputs.files is not None


def _asked_by(request: Request) -> tuple[str, str]:
    """Return the option names for the number of ranks and the ranks per host, for errors."""
    trace = request.workload.replay
    if trace is None:
        return named("ranks"), named("ppn")
    traced = f"trace {trace.path}"
    is_its_own = request.placement.ppn == trace.manifest.ppn
    return traced, f"{traced}, recorded with ranks per host" if is_its_own else named("ppn")


def prepare(request: Request) -> PreparedRun:
    """Check a request: network, placement, algorithm, settings, program, and required resources."""
    simgrid = SimGrid()
    site = choose_site(request.placement, *_asked_by(request))
    _check_measured(request, site)
    check_options(request, simgrid)
    _check_gpus(request, site)
    _check_packets(request, site)
    program = program_of(request.workload.program, replays=request.workload.replay is not None)
    libraries = libraries_of(request, program, simgrid)
    copies = needs_copies(request, program, libraries)
    used = site.placement if isinstance(site, FabricSite) else ()
    traffic = traffic_of(request, site, used)
    failing = faults_of(request, site)
    plan = PreparedRun(request, site, program, simgrid, libraries, copies, traffic, failing)
    return replace(plan, seen=limits.check(_needs(plan)))


def forecast(plan: PreparedRun) -> str:
    """Return a warning if ranks may need more memory than available; empty if that is unlikely."""
    return limits.forecast(_needs(plan), plan.seen) if plan.seen else ""


def fault_warning(faults: PreparedFaults | None) -> str:
    """Return a warning about failures that outlast the retries of senders; empty if none does."""
    return faults.warning if faults else ""


def _check_gpus(request: Request, site: Site) -> None:
    """Refuse ranks that would share a GPU in a run with NCCL."""
    asked = fallback_of(request)
    if isinstance(site, FabricSite) and site.ppn > 1 and "nccl-" in asked:
        raise WeftError(
            f"{named('fallback')}: found '{asked}' with {site.ppn} ranks per host; NCCL needs a GPU"
            f" for each rank, which is a host of the fabric: use at most {len(site.fabric.hosts)}"
            " ranks with one per host, or a larger fabric"
        )


def _check_packets(request: Request, site: Site) -> None:
    """Refuse packets on fabrics and with options that support only flows."""
    if not isinstance(site, FabricSite) or site.fabric.network == "flows":
        return
    try:
        site.fabric.check_packets()
    except _core.UserError as error:
        raise WeftError(str(error)) from None
    placement = request.placement
    for found, option in (
        (not placement.contention, named("contention=False")),
        (request.simulation.point_to_point == "smpi", f"{named('messages')} smpi"),
    ):
        if found:
            raise WeftError(
                f"{option}: found in a run whose messages are packets ([network] model of"
                f" {site.fabric.file}); allowed: with flows only"
            )


def _check_measured(request: Request, site: Site) -> None:
    """Refuse values outside the measured ranges, if requested."""
    if not request.simulation.strict:
        return
    if not isinstance(site, FabricSite):
        raise WeftError(
            f"{named('strict')}: found together with {named('platform')}; measurements are known of"
            f" the presets of weft's fabrics only: use {named('fabric')}"
        )
    offloads = request.collectives.offload != "off"
    measured.refuse(measured.run_beyond(site.fabric, site.ranks, site.ppn, offloads=offloads))


def _check_sizes(plan: PreparedRun, record: Record) -> None:
    """Refuse calls larger than the measured calls, if requested."""
    if not plan.request.simulation.strict or not isinstance(plan.site, FabricSite):
        return
    machine = measured.machine_of(plan.site.fabric)
    found = []
    for row in record.collectives:
        size = row.bytes / max(1, row.calls)
        call = measured.Call(row.collective, size, row.communicator_size, 1, 1)
        side = measured.SWITCHES if row.offloaded else measured.HOSTS
        found += [
            one for one in measured.beyond_measured(side, machine, [call]) if one.key == "bytes"
        ]
    measured.refuse(found)


def check_options(request: Request, simgrid: SimGrid) -> None:
    """Check the algorithms, tunings and settings of a run."""
    if request.collectives.fallback is not None:
        check_fallback(named("fallback"), request.collectives.fallback, simgrid)
    _check_contention(request)
    _tunings_off(request)
    _check_files(request.outputs.files)
    settings.check(request.simulation.host_speed, request.simulation.config, simgrid)


def traffic_of(request: Request, site: Site, used: Collection[str]) -> tuple[PlacedTraffic, ...]:
    """Return the background traffic of a run whose ranks occupy the hosts `used`."""
    path = request.placement.traffic
    if path is None:
        return ()
    if not isinstance(site, FabricSite):
        raise WeftError(
            f"{named('traffic')}: found together with {named('platform')}; background traffic needs"
            f" a weft fabric: use {named('fabric')}"
        )
    refuse_smpi_messages(request, "traffic")
    inputs.declare_inputs({path: f"{named('traffic')} names to be read"})
    return description.prepare(path, site.fabric, used)


def refuse_smpi_messages(request: Request, option: str) -> None:
    """Refuse SMPI's transport, which does not distinguish the traffic of several jobs."""
    if request.simulation.point_to_point == "smpi":
        raise WeftError(
            f"{named('messages')}: found smpi together with {named(option)}; SimGrid's MPI carries"
            " the messages of one program on an otherwise idle network: leave it out"
        )


def faults_of(request: Request, site: Site) -> PreparedFaults | None:
    """Return the faults of a run, or None."""
    path = request.placement.faults
    changes = fault_changes.of_faults(request.placement.changes)
    if path is None and changes:
        raise WeftError(
            f"{named('changes')}: found {changes[0]!r}, a key of fault files; name one by"
            f" {named('faults')}, or leave it out"
        )
    if path is None:
        return None
    inputs.declare_inputs({path: f"{named('faults')} names to be read"})
    if isinstance(site, FabricSite):
        return fault_events.prepare(path, changes, site.fabric)
    return fault_events.prepare_platform(path, changes)


def needs_copies(request: Request, program: Path, libraries: Sequence[Library]) -> bool:
    """Return True if each rank needs its own copy of the program."""
    # SimGrid copies libraries only together with the program.
    return request.simulation.privatize and (bool(libraries) or not program_may_be_shared(program))


def _tunings_off(request: Request) -> list[str]:
    """Return the tunings that are off in a run; refuse unknown names."""
    try:
        return _core.tunings_off(request.simulation.tunings or "")
    except _core.UserError as error:
        raise WeftError(f"{named('tunings')}: {error}") from None


def _check_files(directory: Path | None) -> None:
    """Check the directory in which the program runs, and create it."""
    if directory is None:
        return
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WeftError(
            f"{named('files')}: found '{directory}', which cannot be made a directory:"
            f" {error.strerror}"
        ) from None
    if not os.access(directory, os.R_OK | os.W_OK | os.X_OK):
        raise WeftError(f"{named('files')}: found '{directory}', in which weft may not write")


def _check_contention(request: Request) -> None:
    """Refuse offloading and `best` without contention: both are modelled only on shared links."""
    offload = request.collectives.offload
    fallback = (request.collectives.fallback or "").split(",")
    if not request.placement.contention and any(
        one.rpartition("=")[2] == "best" for one in fallback
    ):
        raise WeftError(
            f"{named('contention=False')}: found together with {named('fallback')} best, which"
            " predicts times with link contention; name a selection or an algorithm"
        )
    if not request.placement.contention and offload != "off":
        raise WeftError(
            f"{named('contention=False')}: found together with {named('offload')} {offload};"
            " switches divide their links among the parts of a collective, so this requires"
            f" {named('offload')} off"
        )


def _needs(plan: PreparedRun) -> limits.ResourceInputs:
    libraries = (library.path for library in plan.libraries)
    return limits.ResourceInputs(
        ranks=plan.request.placement.ranks,
        links=plan.site.part.links,
        copied=(plan.program, *libraries) if plan.copies else (),
        settings=plan.request.simulation.config,
    )


def libraries_of(request: Request, program: Path, simgrid: SimGrid) -> tuple[Library, ...]:
    """Return the shared libraries of which each rank gets a copy."""
    if request.workload.replay or not request.simulation.privatize:
        return ()
    environment = simgrid.environment(os.environ)
    return tuple(
        private_libraries(program, simgrid.launcher, environment, request.simulation.config)
    )


def program_of(name: str, *, replays: bool) -> Path:
    """Return the program's file; for a trace, the program that replays it."""
    if replays:
        return paths.installed("replayer.so")
    program = find_program(name)
    if (launcher := launcher_of(program, partial(call_tool, "Python"))) is not None:
        return launcher
    check_program(program)
    return program


def called_name(name: str, program: Path) -> str:
    """Return the program's name for SimGrid: as the user wrote it, or its path."""
    return name if "/" in name and not is_launcher(program) else str(program.absolute())


def shown_program(name: str, program: Path) -> str:
    """Return the program's path for the record."""
    return str((find_program(name) if is_launcher(program) else program).absolute())


def check_fallback(option: str, text: str, simgrid: SimGrid) -> None:
    """Check that the text is a valid choice of host algorithms."""
    if not text:
        raise WeftError(f"{option}: found an empty text; leave it out for {DEFAULT_FALLBACK}")
    try:
        left = _core.smpi_fallbacks(text)
    except _core.UserError as error:
        raise WeftError(f"{option}: {error}") from None
    for collective, name in left.items():
        known = simgrid.algorithms(collective or None)
        if name not in known:
            what = f"for {collective}" if collective else "for any collective"
            raise WeftError(
                f"{option}: found 'smpi:{name}', and SMPI has no such algorithm {what};"
                f" {suggestion(name, known)}"
            )


def fallback_of(request: Request) -> str:
    """Return the fallback: the request's, else an SMPI selector set by --cfg, else the default."""
    if request.collectives.fallback is not None:
        return request.collectives.fallback
    selectors = [one for one in request.simulation.config if one.startswith(_SELECTOR)]
    return f"smpi:{selectors[-1].removeprefix(_SELECTOR)}" if selectors else DEFAULT_FALLBACK


def run(
    plan: PreparedRun,
    on_line: Callable[[str], None] | None = None,
    streams: Streams | None = None,
) -> Record:
    """Run the program; its output goes line by line to `on_line`, else to the given streams.

    Without either, output goes to weft's own streams.
    """
    with work_directory() as work:
        plan.site.place(work / "hosts")
        write_descriptions(plan, work)
        start = plan.seen.renewed() if plan.seen else limits.StartResources.seen()
        command, environment = build_command(plan, work), _environment(plan, work)
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
        record = make_record(plan, work, ended, start)
        if plan.request.outputs.timeline is not None:
            trace = work / "trace.paje"
            if not record.failed and not is_complete(trace):
                raise outcome.incomplete(trace)
            _write_timeline(trace, record, plan.request.outputs.timeline)
    _check_sizes(plan, record)
    return record


def write_descriptions(plan: PreparedRun, work: Path) -> None:
    """Write the descriptions of background traffic and faults, if any."""
    if plan.traffic:
        (work / _TRAFFIC).write_text(description.describe(plan.traffic), encoding="utf-8")
    if plan.faults is not None:
        (work / _FAULTS).write_text(fault_events.describe(plan.faults), encoding="utf-8")


def _write_timeline(trace: Path, record: Record, target: Path) -> None:
    """Write the timeline; if the disk is full, keep the record and add an error message."""
    try:
        write_timeline(trace, record, target)
    except WeftError as error:
        record.unwritten = error.message


def prove_routes(platform: Path) -> str:
    """Return the proven properties of a platform's routes, from SimGrid and libweft.so.

    Raises:
        WeftError: The platform cannot be loaded, or a route is wrong; the error names the first
            one.
    """
    request = Request.of(
        platform=platform, ranks=1, program=str(platform), offload="off", privatize=False
    )
    plan = PreparedRun(
        request, choose_site(request.placement), paths.installed("replayer.so"), copies=False
    )
    with work_directory() as work:
        proven = work / "routes"
        environment = _environment(plan, work, routes=str(proven))
        ended = run_child(build_command(plan, work), environment, on_line=lambda _line: None)
        if proven.is_file() and ended.returncode == 0:
            return proven.read_text(encoding="utf-8")
        record = make_record(plan, work, ended, limits.StartResources.seen())
    raise WeftError(f"platform {platform}: {record.outcome.message}")


def build_command(plan: PreparedRun, work: Path) -> list[str]:
    """Return the command line of SimGrid's launcher, with the program's arguments unchanged."""
    return [
        str(plan.simgrid.launcher),
        plan.argv0,
        *(f"--log={setting}" for setting in _log_settings(work)),
        *(f"--cfg={setting}" for setting in _settings(plan, work)),
        str(paths.platform_library()),
        "--",
        *_arguments(plan.request, work),
    ]


def _arguments(request: Request, work: Path) -> tuple[str, ...]:
    if request.workload.replay is None:
        return request.workload.arguments
    return request.workload.replay.replay_arguments(work / "calls")


def _log_settings(work: Path) -> list[str]:
    files = [f"{category}.app:file:{work / name}" for category, name in _LOG_FILES.items()]
    return [*_SILENCE, *files, *(f"{category}.add:0" for category in _LOG_FILES)]


def _settings(plan: PreparedRun, work: Path) -> list[str]:
    request = plan.request
    return [
        f"smpi/np:{request.placement.ranks}",
        f"smpi/hostfile:{work / 'hosts'}",
        f"smpi/tmpdir:{work}",
        f"smpi/privatization:{'dlopen' if plan.copies else 'no'}",
        "precision/timing:1e-9",
        "network/model:SMPI",
        "exception/cutpath:yes",
        f"{_SELECTOR}{_SMPI_SELECTOR}",
        *(_speed_settings(request.simulation.host_speed) or ["smpi/simulate-computation:no"]),
        *(_trace_settings(work) if request.outputs.timeline else []),
        *without_private_libraries(request.simulation.config),
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


def _checking_command(request: Request) -> tuple[str, ...]:
    """Return the command that checks spawned programs, without the program's name."""
    simulation = request.simulation
    options = {"privatize": simulation.privatize, "config": list(simulation.config)}
    return (sys.executable, "-P", "-m", "weft.runs.jobs.spawned", json.dumps(options))


def own_settings(plan: PreparedRun, work: Path) -> settings.Settings:
    """Return weft's own settings of a run."""
    outputs = plan.request.outputs
    if plan.has_own_directory and outputs.files is None:
        show_files(Path.cwd(), work / _OWN_DIRECTORY)
    binaries = [plan.program, *(library.path for library in plan.libraries)]
    passed = plan.request.options(lambda one: one.library)
    return replace(
        plan.site.settings(work / "hosts"),
        fallback=fallback_of(plan.request),
        faults=str(work / _FAULTS) if plan.faults is not None else "",
        traffic=str(work / _TRAFFIC) if plan.traffic else "",
        program=str(plan.program.absolute()),
        private_libraries=tuple(f"{library.name}={library.path}" for library in plan.libraries),
        spawn=_checking_command(plan.request),
        cxx_streams=any(map(uses_cxx_streams, binaries)),
        record=str(work / outcome.RAW_RECORD),
        events=outputs.timeline is not None,
        calls=str(outputs.calls.absolute()) if outputs.calls else "",
        messages=str(outputs.messages.absolute()) if outputs.messages else "",
        files=str((outputs.files or work / _OWN_DIRECTORY).absolute())
        if plan.has_own_directory
        else "",
        refusal=str(work / outcome.REFUSED),
        progress=page.page(work),
        options={name: value for name, value in passed.items() if value is not None},
    )


def _environment(plan: PreparedRun, work: Path, routes: str = "") -> dict[str, str]:
    ours = replace(own_settings(plan, work), routes=routes).variables()
    inherited = settings.without_own(os.environ)
    environment = plan.simgrid.environment({**inherited, **ours})
    runtime = fortran_runtime(plan.program, plan.simgrid.launcher, environment)
    return preloading(plan, environment, work, runtime)


def preloading(
    plan: PreparedRun, environment: Mapping[str, str], work: Path, runtime: str
) -> dict[str, str]:
    """Preload weft's library before SimGrid's, so that it interposes on non-blocking collectives.

    LD_PRELOAD contains only the library's name, because it cannot express paths with spaces.
    """
    library = paths.platform_library()
    others = (_allocator(plan, environment), runtime)
    preloaded = [library.name, *others, environment.get("LD_PRELOAD", "")]
    folders = [environment["LD_LIBRARY_PATH"], str(work)]
    return {
        **environment,
        "LD_PRELOAD": ":".join(filter(None, preloaded)),
        "LD_LIBRARY_PATH": ":".join(folders),
    }


def _allocator(plan: PreparedRun, environment: Mapping[str, str]) -> str:
    """Return the malloc library to preload, or an empty text for glibc's.

    glibc's malloc is kept if the user preloads a library, which may be a malloc or rely on glibc's,
    or tunes glibc's. glibc's malloc is also kept if ranks are threads: mimalloc reserves memory per
    thread, 70 KB per rank.
    """
    if "allocator" in _tunings_off(plan.request):
        return ""
    users = environment.get("LD_PRELOAD") or _OF_GLIBCS in environment.get("GLIBC_TUNABLES", "")
    return "" if users or _needs(plan).has_threads else _ALLOCATOR


def make_record(
    plan: PreparedRun, work: Path, ended: ChildExit, start: limits.StartResources
) -> Record:
    """Return the record written by libweft.so, with the outcome and the request."""
    request = plan.request
    record = outcome.read_raw_record(work / outcome.RAW_RECORD) or _empty_record(plan)
    record.outcome, record.exit_status = outcome.judge(
        record.outcome, ended, work, request.limits.timeout_s, request.limits.memory_bytes, start
    )
    record.ranks = request.placement.ranks
    record.fabric.impossible = plan.site.impossible or UNSET
    record.program = (
        request.workload.program
        if request.workload.replay
        else shown_program(request.workload.program, plan.program)
    )
    record.replayed = (
        str(request.workload.replay.path.absolute()) if request.workload.replay else ""
    )
    if request.workload.replay:
        record.schedule = schedule_part(request.workload.replay, work / "calls")
    record.arguments = list(request.workload.arguments)
    record.command = list(request.command)
    record.ppn = plan.site.ppn or -(-request.placement.ranks // max(1, record.fabric.hosts))
    record.hosts_used = -(-request.placement.ranks // record.ppn)
    for name, value in request.options(lambda one: one.recorded).items():
        plain = list(value) if isinstance(value, tuple) else value
        setattr(record, name, "" if plain is None else plain)
    record.fallback = fallback_of(request)
    record.wall_time_s = ended.wall_time_s
    record.cpu_time_s = ended.cpu_time_s
    record.peak_memory_bytes = record.peak_memory_bytes or ended.peak_memory_bytes
    if record.faults and plan.faults is not None:
        complete_faults(record.faults, plan.faults)
    return record


def schedule_part(trace: Folder, lines: Path) -> SchedulePart | UnsetType:
    """Return the record's part for a schedule that was replayed completely."""
    ends = trace.rank_ends(lines)
    if ends is None:
        return UNSET
    return SchedulePart(operations=trace.operations, end_s=max(ends), rank_ends_s=ends)


def _empty_record(plan: PreparedRun) -> Record:
    """Return the record of a run that ended before libweft.so could write one."""
    return Record(
        weft=_core.version,
        simgrid=_core.simgrid_version,
        fabric=plan.site.part,
        ranks=plan.request.placement.ranks,
        hosts_used=0,
        offload=plan.request.collectives.offload,
        tunings_off=_tunings_off(plan.request),
        outcome=OutcomePart(kind="unfinished"),
        simulated_time_s=0.0,
        events=list[EventPart](),
    )
