# SPDX-License-Identifier: LGPL-2.1-only
"""Runs of a program: single, compared with and without offload, recorded, or replayed.

The record's `output` stores the program's output, which never goes to this process's own streams,
because a notebook's streams are not files.
"""

import os
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypedDict, Unpack

from weft.api.compiling import DEFAULT_FLAGS, compile, is_source
from weft.api.fabrics import FabricLike, fabric_and_changes
from weft.api.input_checks import (
    Changes,
    PathLike,
    Word,
    call,
    changes,
    choice,
    existing,
    settings,
    whole,
    words,
)
from weft.base import inputs
from weft.base.errors import WeftError
from weft.base.options import Options
from weft.base.process import Streams
from weft.base.units import parse_size
from weft.runs import launch, offload_modes, value_types
from weft.runs import record as records
from weft.runs import replay as replaying
from weft.runs.jobs import file as jobs_file
from weft.runs.jobs import launch as several
from weft.runs.jobs.alone import add_alone, durations_kept
from weft.runs.jobs.without_offload import check as check_offload
from weft.runs.jobs.without_offload import run as run_unheard
from weft.runs.launch import PreparedRun
from weft.runs.options import DeclaredOption, run_options
from weft.runs.record import Record
from weft.runs.replay import Recording
from weft.runs.request import Request
from weft.study.comparison import compare as comparing
from weft.study.comparison.comparison import Comparison
from weft.study.comparison.fault_budget import add_budget, add_budgets
from weft.study.comparison.fault_budget import check as check_budget
from weft.study.comparison.flow_check import (
    DEFAULT_TOLERANCE,
    add_flow_check,
    jobs_on_packets,
    on_flows,
    on_packets,
)
from weft.study.comparison.job_gains import add_gains
from weft.trace.folder import check_target
from weft.trace.foreign import is_trace, read_trace

__all__ = ["compare", "read_record", "record_trace", "replay", "run", "run_jobs"]

OnLine = Callable[[str], object]
_MOST_OUTPUT = 1 << 20
"""Limit on the stored characters of a program's output, counted from the end."""


class NetworkOptions(TypedDict, total=False):
    """Options for the placement and execution of a program or trace; see `weft.run`."""

    # options of replays: `make stub`
    fabric: FabricLike | None
    platform: PathLike | None
    contention: bool
    set: Changes | None
    traffic: PathLike | None
    faults: PathLike | None
    ppn: int | None
    offload: str
    fallback: PathLike | None
    messages: str
    strict: bool
    tunings: str | None
    cfg: Mapping[str, object] | Sequence[str]
    timeout: float | None
    memory: int | str | None
    timeline: PathLike | None
    # end
    on_line: OnLine | None


class RunOptions(NetworkOptions, total=False):
    """Options of `weft.run` in addition to the program."""

    arguments: Sequence[Word]
    # options of programs: `make stub`
    ranks: int
    host_speed: str | None
    privatize: bool
    files: PathLike | None
    # end
    flags: Sequence[str]
    input: PathLike | None


@call
def run(
    program: PathLike,
    arguments: Sequence[Word] = (),
    *,
    # options of runs: `make stub`
    ranks: int,
    fabric: FabricLike | None = None,
    platform: PathLike | None = None,
    contention: bool = True,
    set: Changes | None = None,
    traffic: PathLike | None = None,
    faults: PathLike | None = None,
    ppn: int | None = None,
    offload: str = offload_modes.DEFAULT,
    fallback: PathLike | None = None,
    host_speed: str | None = None,
    messages: str = "weft",
    strict: bool = False,
    privatize: bool = True,
    tunings: str | None = None,
    cfg: Mapping[str, object] | Sequence[str] = (),
    timeout: float | None = None,
    memory: int | str | None = None,
    timeline: PathLike | None = None,
    files: PathLike | None = None,
    # end
    flags: Sequence[str] = DEFAULT_FLAGS,
    input: PathLike | None = None,
    budget: bool = False,
    check_flows: bool | float = False,
    on_line: OnLine | None = None,
) -> Record:
    """Run an MPI program on a simulated fabric, as `weft run` does.

    Threads of one process may run simulations concurrently, as each simulation is a separate
    process.

    Args:
        program: A program compiled by `weft.compile` or `weft cc`, or a source file, which is
            compiled first.
        arguments: The program's arguments.
        ranks: Number of MPI ranks.
        fabric: Fabric to run on: a fabric file, or the name of a shipped one. Or a `weft.Fabric`.
        platform: SimGrid platform to run on instead of a fabric (.xml or .so). Smart switches are
            hosts with the properties processing_latency and max_ports.
        contention: Link contention between messages. False: disable link contention: each message
            gets the full bandwidth of every link on its route (SimGrid's sharing policy FATPIPE);
            only without offloading.
        set: Values that override keys of the fabric file. For example `{"switch.slots": 64}`;
            `weft.fabric_options()` lists all keys.
        traffic: File of background traffic: messages between hosts that no rank sends.
        faults: File of faults: links, switches and hosts that fail while the program runs.
            `set={"recovery.KEY": VALUE}` and `"fault.KEY"` override its keys.
        ppn: Ranks per host; consecutive ranks share a host. By default 1 if there are enough hosts,
            else as few as possible.
        offload: Mechanism that executes collectives in the network. stream: packet by packet, over
            a tree of switches; message: message by message, over a tree of switches; multicast:
            multicast protocol of the hosts for Bcast and Allgather, stream for other collectives;
            auto: the fastest by prediction, hosts included, unless [[policy]] decides; off: no
            offloading.
        fallback: Host algorithms of collectives that are not offloaded. An MPI library's selection,
            by name or file; a version of NCCL (nccl-2.29); an algorithm (recursive_doubling); an
            algorithm per collective (bcast=binomial, bcast=best); SMPI's algorithms as smpi:NAME;
            or best: for each call the fastest algorithm by prediction. Separate several with
            commas. `weft.collective_algorithms()` and `weft.collective_selections()` list them. By
            default openmpi-5.0.
        host_speed: Speed of this machine, from which the time of computation is derived. For
            example 10Gf, or auto to measure it. By default computation takes no simulated time.
        messages: Transport of point-to-point messages. weft: weft's own matching and network model,
            on fabrics; smpi: SimGrid's MPI, with simulated times equal to a few nanoseconds, in
            more CPU time.
        strict: Refuse values outside what was measured with the fabric's presets: rate of the
            cables, hosts, ranks per host, sizes of calls, changed values.
        privatize: Separate global variables for each rank. False: let all ranks share the program's
            global variables: saves memory and start-up time with thousands of ranks; correct only
            for programs that write no global variable.
        tunings: Optimisations of SimGrid that the run uses; they change no simulated time. Values:
            all; none; NAME,… for only these; -NAME,… for all but these. By default all.
        cfg: SimGrid options. For example `{"smpi/wtime": 0}`, or a list of KEY:VALUE.
        timeout: Wall-time limit of the run, in seconds. The record states that the run reached it.
        memory: Memory limit of the simulator, such as 2GiB. Checked twenty times per second. The
            record states that the run reached it.
        timeline: File for a timeline of all ranks and switches, for ui.perfetto.dev.
        files: Directory in which the program runs: that of its files with relative names. Made if
            it does not exist. By default the current directory.
        flags: Compiler flags for a source.
        input: File for the program's standard input. By default empty.
        budget: With `faults`: also run without faults, for `faults.budget` of the record: what a
            failure costs, or that it ends the job, times how often it happens.
        check_flows: Also run with messages as packets, for `flow_check` of the record: which calls
            differ. A number is the difference above which they do; True means 0.05.
        on_line: Called with each line of output as the program prints it, for example `print`.

    Returns:
        The record. A program that crashes, deadlocks or ends with an error in the simulation yields
        a record as well: `failed` is true, `outcome` describes what happened, and `check()` raises.
        `output` contains the last 2^20 characters printed by the program.

    Raises:
        WeftError: weft cannot start the run; the text gives the cause and the remedy.
    """
    return _run(**locals())


@call
def replay(trace: PathLike, **options: Unpack[NetworkOptions]) -> Record:
    """Replay a recorded program on another fabric or with another offload, without running it.

    Args:
        trace: The folder written by `weft.record_trace` or `weft run --record`; or a trace of
            another tool: OTF2, DUMPI, SimGrid's (`smpirun -trace-ti`), or a schedule in GOAL. The
            number of ranks is taken from the recorded run.
        options: Those of `weft.run` that say where and how: `fabric`, `platform`, `contention`,
            `set`, `traffic`, `faults`, `ppn`, `offload`, `fallback`, `messages`, `strict`,
            `tunings`, `cfg`, `timeout`, `memory`, `timeline`, `on_line`.

    Returns:
        The record.

    Raises:
        WeftError: The folder is not a trace, or weft cannot start the run.
    """
    return _whole(_heard(_of_trace(trace, options), options.get("on_line")))


@call
def run_jobs(
    jobs: PathLike | Sequence[Mapping[str, object]],
    *,
    shared_hosts: bool = False,
    alone: bool = False,
    compare: bool = False,
    intervals: bool = True,
    best: bool = True,
    budget: bool = False,
    check_flows: bool | float = False,
    host_speed: str | None = None,
    privatize: bool = True,
    **options: Unpack[NetworkOptions],
) -> Record:
    """Run several programs and traces concurrently on one fabric, as `weft run --jobs` does.

    Args:
        jobs: A jobs file; or the tables of its `[[jobs]]` as dictionaries, with paths relative to
            the current directory.
        shared_hosts: With tables: jobs may share hosts. A file sets this with its own key.
        alone: Also run each job alone, on the same hosts: each part of `jobs` then contains
            `alone`, `slowdown` and `slowdowns()`.
        compare: Also run all jobs without offloading, and with the hosts' fastest algorithms: each
            part of `jobs` then contains `without_offload`, `speed_up`, its `certainty`, and
            `speed_up_over_best`.
        intervals: With `compare`: as for `weft.compare`.
        best: With `compare`: False skips the run with the hosts' fastest algorithms.
        budget: With `faults`: also run all jobs without faults: each part of `jobs` then contains
            `budget`, what a failure costs the job. Without `alone` and `compare`.
        check_flows: As for `weft.run`; the rows of `flow_check` name their job.
        host_speed: As for `weft.run`.
        privatize: False: all ranks of each job share the program's global variables.
        options: Placement and execution options of `weft.run`, except `platform`, `ppn` and
            `timeline`.

    Returns:
        The record, whose `jobs` contains a part for each job. A failing job does not end the other
        jobs; `failed` is then true, and `check()` raises. In `output`, each line is prefixed with
        the name of its job.

    Raises:
        WeftError: A job or an option is impossible; the text gives the cause and the remedy.
    """
    request = Request.of(
        program="",
        ranks=1,
        privatize=privatize,
        host_speed=host_speed,
        **_fields(options),
    )
    file = _jobs_file(jobs, shared_hosts=shared_hosts)
    if check_flows is not False:
        _refuse_together("check_flows", compare=compare, alone=alone, budget=budget)
        packets = jobs_on_packets(file, request)
        request = on_flows(request)
    plan = several.prepare(file, request)
    if budget:
        _refuse_together("budget", compare=compare, alone=alone)
        check_budget(plan)
    if compare:
        check_offload(plan)
    printed = _ProgramOutput(options.get("on_line"))
    with durations_kept(plan) if alone else nullcontext(plan) as plan:
        with _input(None) as stdin:
            record = several.run(plan, printed.take, Streams(stdin, None, subprocess.STDOUT))
        record.output = printed.text
        if compare:
            add_gains(record, plan, best=best, intervals=intervals)
        if check_flows is not False:
            return add_flow_check(record, packets, run_unheard, _tolerance(check_flows))
        if budget:
            return add_budgets(record, plan)
        return add_alone(record, plan) if alone else record


def _jobs_file(
    jobs: PathLike | Sequence[Mapping[str, object]], *, shared_hosts: bool
) -> jobs_file.JobsFile:
    if isinstance(jobs, str | os.PathLike):
        if shared_hosts:
            raise WeftError("shared_hosts: found together with a file, which has its own key")
        return jobs_file.read(existing("jobs", jobs))
    tables = Options("jobs", "", {"jobs": list(jobs), "shared_hosts": shared_hosts})
    return jobs_file.of_tables(tables, Path())


@call
def compare(
    program: PathLike,
    *,
    intervals: bool = True,
    best: bool = True,
    budget: bool = False,
    **options: Unpack[RunOptions],
) -> Comparison:
    """Run a program, or replay a trace, with and without offload, and compute the gain.

    Args:
        program: As for `weft.run`; or a trace, as for `weft.replay`.
        intervals: Also run at the ends of the fabric's [calibration.intervals], four times for each
            value, for `speed_up_interval`.
        best: Also run with the hosts' fastest algorithms, for `speed_up_over_best`; False saves
            most of the time with many ranks.
        budget: With `faults`: also run each of these without faults, for `faults.budget` of each
            record.
        options: Options of `weft.run`, or of `weft.replay`.

    Returns:
        The comparison: `speed_up` (simulated time without offload divided by the time with
        offload), `speed_up_over_best` (the same against the hosts' fastest algorithms), `gains()`
        by collective, `shares()` of time by activity, and the records `offloaded`, `hosts` and
        `best`.

    Raises:
        WeftError: weft cannot start the runs, or `offload` is "off".
    """
    if is_trace(Path(program)):
        for name in options.keys() - NetworkOptions.__annotations__.keys():
            raise WeftError(f"{name}: is given by the trace; leave it out")
        plan = _of_trace(program, options)
    else:
        plan = _of_program(program, options)
    on_line, source = options.get("on_line"), options.get("input")

    def heard(one: PreparedRun) -> Record:
        return _heard(one, on_line, source)

    comparison = comparing.compare(
        plan, runner=heard, intervals=intervals, best=best, budget=budget
    )
    for record in (comparison.offloaded, comparison.hosts, comparison.best):
        if record is not None:
            _whole(record)
    return comparison


@call
def record_trace(program: PathLike, trace: PathLike, **options: Unpack[RunOptions]) -> Recording:
    """Run a program and record all its MPI calls and the computation between them.

    Args:
        program: As for `weft.run`.
        trace: The folder to be written, for `weft.replay`.
        options: Options of `weft.run`.

    Returns:
        The recording: `record`, and `messages` about the trace. If `exit_status` is not 0, no trace
        was written, and a message states the reason.

    Raises:
        WeftError: weft cannot start the run, or the folder exists.
    """
    check_target("trace", Path(trace))
    on_line, source = options.get("on_line"), options.get("input")

    def heard(one: PreparedRun) -> Record:
        return _heard(one, on_line, source)

    recording = replaying.record_calls(_of_program(program, options), Path(trace), runner=heard)
    _whole(recording.record)
    return recording


@call
def read_record(path: PathLike) -> Record:
    """Read a record from a file written by `weft run --json` or `Record.save`.

    Args:
        path: The file.

    Raises:
        WeftError: There is no such file, or it is not a record of a run.
    """
    return records.read_record(Path(path))


# ---- Requests


def _run(
    program: PathLike, *, budget: bool, check_flows: bool | float, **options: Unpack[RunOptions]
) -> Record:
    plan, source = _of_program(program, options), options.get("input")
    if budget:
        check_budget(plan)
    if check_flows is not False:
        _refuse_together("check_flows", budget=budget)
        tolerance = _tolerance(check_flows)
        packets = on_packets(plan.request)
        plan = launch.prepare(on_flows(plan.request))
        first = _whole(_heard(plan, options.get("on_line"), source))
        return add_flow_check(first, packets, lambda one: _heard(one, None, source), tolerance)
    record = _whole(_heard(plan, options.get("on_line"), source))
    return add_budget(record, plan, lambda one: _heard(one, None, source)) if budget else record


def _refuse_together(own: str, **others: bool) -> None:
    """Refuse arguments that each need further runs, which are not combined."""
    for name, found in others.items():
        if found:
            raise WeftError(f"{own}: found together with {name}; run once with each")


def _tolerance(check_flows: bool | float) -> float:
    return DEFAULT_TOLERANCE if check_flows is True else float(check_flows)


def _of_program(program: PathLike, options: RunOptions) -> PreparedRun:
    if "ranks" not in options:
        raise WeftError("ranks: is missing; write how many MPI ranks there are")
    arguments = words("arguments", options.get("arguments", ()))
    inputs.declare_inputs({Path(one): "arguments names to be read" for one in arguments})
    request = Request.of(
        program=_runnable(program, options.get("flags", DEFAULT_FLAGS)),
        arguments=arguments,
        **_fields(options),
    )
    return launch.prepare(request)


def _runnable(program: PathLike, flags: Sequence[str]) -> str:
    if not isinstance(program, str | os.PathLike):
        raise WeftError(f"program: found {program!r}; write the path of a program or of its source")
    if is_source(program):
        return str(compile(program, flags=flags))
    there = Path(program).is_file() and "/" not in os.fspath(program)
    return f"./{os.fspath(program)}" if there else os.fspath(program)


def _of_trace(trace: PathLike, options: NetworkOptions) -> PreparedRun:
    request = replaying.replay_request(read_trace(existing("trace", trace)), **_fields(options))
    return launch.prepare(request)


def _fields(options: NetworkOptions) -> dict[str, Any]:
    """Return the fields of a request from options."""
    given: Mapping[str, Any] = options
    found = {
        one.field: _value(one, given[one.name])
        for one in run_options()
        if given.get(one.name) is not None
    }
    if (fabric := options.get("fabric")) is not None:  # may contain changes of its own
        found["fabric"], found["changes"] = fabric_and_changes(fabric, options.get("set"))
    return found


def _value(one: DeclaredOption, value: Any) -> object:
    """Return an argument in the form that requests use."""
    match one.option.kind:
        case value_types.Count(least, most):
            return whole(one.name, value, least, sys.maxsize if most is None else most)
        case value_types.Seconds():
            return _seconds(one.name, value)
        case value_types.Size():
            return parse_size(str(value), one.name)
        case value_types.Choice(allowed):
            return choice(one.name, value, allowed)
        case value_types.Changes():
            return changes(value)
        case value_types.Settings():
            return settings(value)
        case value_types.InputFile() | value_types.OutputFile() | value_types.Directory():
            return Path(value)
        case value_types.Algorithms():
            return os.fspath(value)
        case (
            value_types.Switch()
            | value_types.Probability()
            | value_types.Text()
            | value_types.FabricName()
        ):
            return value


def _seconds(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e9:
        raise WeftError(f"{name}: found {value!r}; allowed are seconds, more than 0")
    return float(value)


# ---- Output and outcome


@dataclass
class _ProgramOutput:
    """Tail of a program's output, forwarded line by line to a callback."""

    on_line: OnLine | None
    lines: deque[str] = field(default_factory=deque)
    characters: int = 0

    def take(self, line: str) -> None:
        """Keep a line."""
        self.lines.append(line)
        self.characters += len(line) + 1
        while self.characters > _MOST_OUTPUT and len(self.lines) > 1:
            self.characters -= len(self.lines.popleft()) + 1
        if self.on_line is not None:
            self.on_line(line)

    @property
    def text(self) -> str:
        """Stored output."""
        return "".join(f"{line}\n" for line in self.lines)

    @property
    def complaint(self) -> str:
        """Last line from weft's library or SimGrid, for runs that failed to start."""
        said = self.text.rstrip()
        return said.rpartition("weft: ")[2] if "weft: " in said else said[-_MOST_COMPLAINT:]


_MOST_COMPLAINT = 2000


def _heard(
    plan: PreparedRun, on_line: OnLine | None = None, source: PathLike | None = None
) -> Record:
    """Execute a run, and store its printed output in the record."""
    printed = _ProgramOutput(on_line)
    with _input(source) as stdin:
        try:
            record = launch.run(plan, printed.take, Streams(stdin, None, subprocess.STDOUT))
        except WeftError as error:
            if str(error):
                raise
            raise WeftError(printed.complaint, error.exit_status) from None
    record.output = printed.text
    return record


@contextmanager
def _input(source: PathLike | None) -> Iterator[int]:
    path = existing("input", os.devnull if source is None else source)
    try:
        with path.open("rb") as file:
            yield file.fileno()
    except OSError as error:
        if error.filename is None:
            raise
        raise WeftError(f"input: {path} cannot be read: {error.strerror}") from None


def _whole(record: Record) -> Record:
    """Return the record if all requested files were written."""
    if record.unwritten:
        raise WeftError(record.unwritten)
    return record
