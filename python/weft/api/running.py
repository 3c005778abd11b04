# SPDX-License-Identifier: LGPL-2.1-only
"""Runs of a program: one, one with and without offload, one that is recorded, one replayed.

What a program prints is kept in the record's `output`, and never goes to this process's own
streams: those of a notebook are no files.
"""

import os
import subprocess
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypedDict, Unpack

from weft.api.asking import (
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
from weft.api.compiling import DEFAULT_FLAGS, compile, is_source
from weft.api.fabrics import FabricLike, fabric_and_changes
from weft.base import inputs
from weft.base.errors import WeftError
from weft.base.process import Streams
from weft.base.units import parse_size
from weft.runs import launch, offloads
from weft.runs import record as records
from weft.runs import replay as replaying
from weft.runs.launch import PreparedRun
from weft.runs.record import Record
from weft.runs.replay import Recording
from weft.runs.request import Request
from weft.study.comparison import compare as comparing
from weft.study.comparison.comparison import Comparison
from weft.trace.folder import check_target, read_folder

OnLine = Callable[[str], object]
_MOST_OUTPUT = 1 << 20
"""Characters of a program's output that are kept: the last ones."""


class NetworkOptions(TypedDict, total=False):
    """Where a program or a trace runs, and how; `weft.run` says what each is."""

    fabric: FabricLike | None
    set: Changes | None
    platform: PathLike | None
    ppn: int | None
    contention: bool
    offload: str
    fallback: PathLike | None
    cfg: Mapping[str, object] | Sequence[str]
    timeout: float | None
    memory: int | str | None
    timeline: PathLike | None
    on_line: OnLine | None


class RunOptions(NetworkOptions, total=False):
    """What `weft.run` takes beside the program."""

    arguments: Sequence[Word]
    ranks: int
    host_speed: str | None
    privatize: bool
    flags: Sequence[str]
    input: PathLike | None


@call
def run(
    program: PathLike,
    arguments: Sequence[Word] = (),
    *,
    ranks: int,
    fabric: FabricLike | None = None,
    set: Changes | None = None,
    platform: PathLike | None = None,
    ppn: int | None = None,
    contention: bool = True,
    offload: str = offloads.DEFAULT,
    fallback: PathLike | None = None,
    host_speed: str | None = None,
    privatize: bool = True,
    flags: Sequence[str] = DEFAULT_FLAGS,
    cfg: Mapping[str, object] | Sequence[str] = (),
    timeout: float | None = None,
    memory: int | str | None = None,
    timeline: PathLike | None = None,
    input: PathLike | None = None,
    on_line: OnLine | None = None,
) -> Record:
    """Run an MPI program on a simulated fabric, as `weft run` does.

    Several runs may go on at a time, from threads of one process: each is a process of its own.

    Args:
        program: The program, which `weft.compile` or `weft cc` has made; or a source file, which is
            compiled first.
        arguments: The program's arguments.
        ranks: How many MPI ranks.
        fabric: Where it runs: a shipped name, a fabric file, or a `weft.Fabric`.
        set: Keys of the fabric that have other values: `{"switch.slots": 64}`.
        platform: In place of a fabric, a platform of SimGrid's (.xml or .so).
        ppn: Ranks per host. By default one while there are hosts enough, else as few as possible.
        contention: Whether messages share links. False gives each message the full bandwidth of
            every link on its way (SimGrid's sharing policy FATPIPE), and goes with `offload="off"`.
        offload: How the network does collectives: a mechanism ("stream": packet by packet), "auto"
            (where it is predicted to be faster) or "off"; `weft run --help` lists all.
        fallback: What the hosts do where nothing is offloaded: an MPI library's choice of
            algorithms, or a file of one, or an algorithm. By default "openmpi-5.0".
        host_speed: The speed of this machine by which computation is timed, such as "10Gf", or
            "auto". By default computation takes no simulated time.
        privatize: Give each rank its own global variables. False takes far less memory, and is
            right only for a program that writes no global variable.
        flags: What the compiler of a source is told.
        cfg: Options of SimGrid: `{"smpi/wtime": 0}`.
        timeout: Seconds of wall time after which the run is given up; the record then says so.
        memory: The most memory of the simulator, bytes or "2GiB"; beyond it the run is ended, and
            the record says so.
        timeline: A file for what every rank and switch did when, for ui.perfetto.dev.
        input: A file that is the program's standard input. By default it has none.
        on_line: Called with each line that the program prints, as it comes; `print` shows them.

    Returns:
        The record. A program that crashes, deadlocks or ends with an error in the simulation is a
        record as well: its `failed` is true and `outcome` says what happened; `check()` raises
        then. `output` is what the program printed, its last 2^20 characters.

    Raises:
        WeftError: weft cannot start the run; the text says what is wrong and what to do.
    """
    options = RunOptions(
        arguments=arguments,
        ranks=ranks,
        fabric=fabric,
        set=set,
        platform=platform,
        ppn=ppn,
        contention=contention,
        offload=offload,
        fallback=fallback,
        host_speed=host_speed,
        privatize=privatize,
        flags=flags,
        cfg=cfg,
        timeout=timeout,
        memory=memory,
        timeline=timeline,
        input=input,
        on_line=on_line,
    )
    return _whole(_heard(_of_program(program, options), on_line, input))


@call
def replay(trace: PathLike, **options: Unpack[NetworkOptions]) -> Record:
    """Replay a recorded program on another fabric, or with another offload, without running it.

    Args:
        trace: The folder that `weft.record_trace` or `weft run --record` has written. Its ranks
            are those of the recorded run.
        options: Those of `weft.run` that say where and how: `fabric`, `set`, `platform`, `ppn`,
            `contention`, `offload`, `fallback`, `cfg`, `timeout`, `memory`, `timeline`, `on_line`.

    Returns:
        The record.

    Raises:
        WeftError: It is no trace, or weft cannot start the run.
    """
    return _whole(_heard(_of_trace(trace, options), options.get("on_line")))


@call
def compare(
    program: PathLike, *, intervals: bool = True, **options: Unpack[RunOptions]
) -> Comparison:
    """Run a program, or replay a trace, with offload and without, and say what offloading gained.

    Args:
        program: As for `weft.run`; or the folder of a trace.
        intervals: Whether to run at the ends of the fabric's [calibration.intervals] as well, four
            times for each value, for `speed_up_interval`.
        options: Those of `weft.run`, or of `weft.replay`.

    Returns:
        The comparison: `speed_up` (simulated time without offload by the time with it),
        `speed_up_over_best` (the same of the hosts' fastest algorithms), `gains()` by collective,
        `shares()` of where time went, `offloaded`, `hosts` and `best`, the records.

    Raises:
        WeftError: weft cannot start the runs, or `offload` is "off".
    """
    if Path(program).is_dir():
        for name in options.keys() - NetworkOptions.__annotations__.keys():
            raise WeftError(
                f"{name}: is not for the folder of a trace, which says it; leave it out"
            )
        plan = _of_trace(program, options)
    else:
        plan = _of_program(program, options)
    on_line, source = options.get("on_line"), options.get("input")

    def heard(one: PreparedRun) -> Record:
        return _heard(one, on_line, source)

    comparison = comparing.compare(plan, runner=heard, intervals=intervals)
    for record in (comparison.offloaded, comparison.hosts, comparison.best):
        if record is not None:
            _whole(record)
    return comparison


@call
def record_trace(program: PathLike, trace: PathLike, **options: Unpack[RunOptions]) -> Recording:
    """Run a program and record all its calls of MPI, and what is computed between them.

    Args:
        program: As for `weft.run`.
        trace: The folder to write, which `weft.replay` takes.
        options: Those of `weft.run`.

    Returns:
        The recording: `record`, and `messages`, what there is to know of the trace. Where
        `exit_status` is not 0 no trace was written, and a message says why.

    Raises:
        WeftError: weft cannot start the run, or the folder is there.
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
    """Read a record from a file that `weft run --json` or `Record.save` has written.

    Args:
        path: The file.

    Raises:
        WeftError: There is no such file, or it is no record of a run.
    """
    return records.read_record(Path(path))


# ---- What is asked for


def _of_program(program: PathLike, options: RunOptions) -> PreparedRun:
    if "ranks" not in options:
        raise WeftError("ranks: is missing; write how many MPI ranks there are")
    arguments = words("arguments", options.get("arguments", ()))
    inputs.declare_inputs({Path(one): "arguments names to be read" for one in arguments})
    request = Request.of(
        program=_runnable(program, options.get("flags", DEFAULT_FLAGS)),
        arguments=arguments,
        ranks=whole("ranks", options["ranks"], 1, launch.MOST_RANKS),
        privatize=bool(options.get("privatize", True)),
        host_speed=options.get("host_speed"),
        **_network(options),
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
    request = replaying.replay_request(read_folder(existing("trace", trace)), **_network(options))
    return launch.prepare(request)


def _network(options: NetworkOptions) -> dict[str, Any]:
    """Return the fields of a request that say where and how."""
    fabric, platform, fallback = (
        options.get("fabric"),
        options.get("platform"),
        options.get("fallback"),
    )
    ppn, timeout, timeline = options.get("ppn"), options.get("timeout"), options.get("timeline")
    changed, memory = options.get("set"), options.get("memory")
    name, all_changes = (
        (None, changes(changed)) if fabric is None else fabric_and_changes(fabric, changed)
    )
    return {
        "fabric": name,
        "changes": all_changes,
        "platform": None if platform is None else Path(platform),
        "ppn": None if ppn is None else whole("ppn", ppn, 1, launch.MOST_RANKS),
        "contention": bool(options.get("contention", True)),
        "offload": choice("offload", options.get("offload", offloads.DEFAULT), offloads.OFFLOADS),
        "fallback": None if fallback is None else os.fspath(fallback),
        "config": settings(options.get("cfg", ())),
        "timeout_s": None if timeout is None else _seconds(timeout),
        "memory_bytes": None if memory is None else parse_size(str(memory), "memory"),
        "timeline": None if timeline is None else Path(timeline),
    }


def _seconds(timeout: object) -> float:
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not 0 < timeout < 1e9:
        raise WeftError(f"timeout: found {timeout!r}; allowed are seconds, more than 0")
    return float(timeout)


# ---- What is heard of it


@dataclass
class _Printed:
    """The last that a program prints, and who wants it as it comes."""

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
        """All that is kept."""
        return "".join(f"{line}\n" for line in self.lines)

    @property
    def complaint(self) -> str:
        """What weft's library or SimGrid said last, where the run did not begin."""
        said = self.text.rstrip()
        return said.rpartition("weft: ")[2] if "weft: " in said else said[-_MOST_COMPLAINT:]


_MOST_COMPLAINT = 2000


def _heard(
    plan: PreparedRun, on_line: OnLine | None = None, source: PathLike | None = None
) -> Record:
    """Run, and keep in the record what is printed."""
    printed = _Printed(on_line)
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
    """Return it, where all files that were wanted are written."""
    if record.unwritten:
        raise WeftError(record.unwritten)
    return record
