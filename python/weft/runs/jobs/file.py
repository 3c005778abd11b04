# SPDX-License-Identifier: LGPL-2.1-only
"""Jobs files: programs and traces that run simultaneously, each with its ranks and placement.

    shared_hosts = false

    [[jobs]]
    name = "train"
    program = "./train"
    arguments = ["--steps", "10"]
    ranks = 32
    ppn = 2
    placement = "fragments"
    seed = 7

    [[jobs]]
    name = "analysis"
    trace = "recorded"
    start = "1ms"
    hosts = "host-[0-3,7]"

    [[jobs]]
    name = "llama"
    training = "llama.toml"

Paths are relative to the file's folder. docs/jobs.md describes the keys, from the tables below.
"""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from weft.base import node_list
from weft.base.errors import WeftError
from weft.base.options import (
    COUNT,
    TABLE_OF_TEXTS,
    TEXT,
    TEXT_OR_TEXTS,
    TEXTS,
    TIME,
    TRUTH,
    WEIGHT,
    WHOLE,
    Key,
    Options,
    one_of,
    parse,
)
from weft.base.output import file_key
from weft.base.user_files import UnreadableError, read_text
from weft.runs import offload_modes
from weft.runs.jobs import iterations, slurm_topology
from weft.runs.jobs.iterations import JobIteration
from weft.runs.options import MOST_RANKS
from weft.trace.folder import Folder

PLACEMENTS: Mapping[str, str] = {
    "contiguous": "consecutive hosts, the first that are free",
    "round-robin": "a host of each leaf switch in turn",
    "random": "hosts at random",
    "fragments": "blocks of consecutive hosts at random, as a scheduler leaves them on a machine in"
    " use",
}
"""Placement policies for the hosts of a job, with their meanings."""

TOP: Mapping[str, Key] = {
    "shared_hosts": Key(
        "`true`: jobs may share hosts, as far as these have cores, and each job is"
        " placed as if it were alone; `false` by default: each host is for one job",
        TRUTH,
    ),
    "topology": Key(
        "Slurm's `topology.conf` or `topology.yaml` of the cluster whose nodes `hosts`"
        " names. Its switches stand for the fabric's leaf switches, and their nodes for the hosts"
        " there, both in order",
        TEXT,
    ),
}
"""Keys of the file itself."""

JOB: Mapping[str, Key] = {
    "name": Key("Name of the job; required", TEXT),
    "program": Key("Compiled MPI program; this, `trace` or `training` is required", TEXT),
    "arguments": Key("List of the program's arguments", TEXTS),
    "trace": Key(
        "Trace to replay: the folder that `weft run --record` wrote, an OTF2 or DUMPI trace, a"
        " time-independent trace of SimGrid, or a schedule in GOAL. Or traces of training on GPUs:"
        " Chakra's, those of PyTorch's profiler, or SimAI's text",
        TEXT,
    ),
    "training": Key(
        "An iteration of training: a [training file](training-models.md), or the preset of a model",
        TEXT,
    ),
    "with": Key("List of changes of the training file, such as `parallel.tensor=4`", TEXTS),
    "gpu": Key("GPU that computes an iteration, instead of the file's", TEXT),
    "nccl": Key('Version of NCCL of an iteration; `"2.29"` by default', TEXT),
    "ranks": Key("Number of MPI ranks; required, except for a trace or an iteration", COUNT),
    "ppn": Key(
        "Ranks per host; by default 1 if enough hosts are free, else as few as possible", COUNT
    ),
    "placement": Key(
        "How hosts are chosen. "
        + "; ".join(f'`"{name}"`: {what}' for name, what in PLACEMENTS.items())
        + '; `"contiguous"` by default',
        one_of(tuple(PLACEMENTS)),
    ),
    "seed": Key("Seed of a placement at random; 1 by default", WHOLE),
    "hosts": Key(
        "Hosts of the job, instead of a placement: a node list in Slurm's notation, such as"
        ' `"host-[0-3,7]"`, or a list of them',
        TEXT_OR_TEXTS,
    ),
    "weight": Key(
        "Weight of the job on full links, if the fabric shares them by job"
        " ([how flows share links](jobs.md#how-flows-share-links)), from 0.001 to 1000; 1 by"
        " default",
        WEIGHT,
    ),
    "start": Key('Simulated time at which the job starts, such as `"1ms"`; 0 by default', TIME),
    "offload": Key(
        f"Mechanism instead of the run's: {', '.join(offload_modes.OFFLOADS)}",
        one_of(tuple(offload_modes.OFFLOADS)),
    ),
    "fallback": Key("Host algorithms instead of the run's, without SMPI's", TEXT),
    "privatize": Key("`false`: all ranks of the job share the program's global variables", TRUTH),
    "environment": Key("Table of environment variables, in addition to weft's own", TABLE_OF_TEXTS),
    "output": Key(
        "File for the standard output and standard error of the job; by default weft prints"
        " both, with the name of the job before each line",
        TEXT,
    ),
}
"""Keys of [[jobs]]."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_MOST_JOBS = 10_000
_NCCL = "2.29"


@dataclass(frozen=True, kw_only=True)
class Job:
    """Job of a file. Only the file itself and the job's trace have been checked."""

    table: Options
    name: str
    program: str = ""
    arguments: tuple[str, ...] = ()
    trace: Folder | None = None
    iteration: JobIteration | None = None
    """Training iteration, each rank of which occupies a host of the fabric."""
    ranks: int
    ppn: int | None = None
    placement: str = "contiguous"
    seed: int = 1
    hosts: tuple[str, ...] = ()
    weight: float = 1.0
    start_s: float = 0.0
    offload: str | None = None
    fallback: str | None = None
    privatize: bool = True
    environment: tuple[tuple[str, str], ...] = ()
    output: Path | None = None


@dataclass(frozen=True)
class JobsFile:
    """Parsed jobs file."""

    source: str
    """Name for error messages."""
    jobs: tuple[Job, ...]
    shared_hosts: bool = False
    topology: Path | None = None
    leaves: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Nodes of each switch in `topology`."""

    @property
    def ranks(self) -> int:
        """Ranks of all jobs."""
        return sum(job.ranks for job in self.jobs)

    @property
    def processes(self) -> int:
        """Ranks simulated as processes; an iteration uses one process for all of its ranks."""
        return sum(1 if job.iteration else job.ranks for job in self.jobs)


def read(path: Path) -> JobsFile:
    """Read a jobs file. Raises `WeftError`."""
    try:
        return of_tables(parse(read_text(path), str(path)), path.parent)
    except UnreadableError as error:
        raise WeftError(f"{path}: {error}") from None


def of_tables(top: Options, folder: Path) -> JobsFile:
    """Return the jobs described by parsed tables; paths are relative to `folder`."""
    top.allow("jobs", *TOP)
    tables = [_numbered(table, k) for k, table in enumerate(top.parts("jobs"), 1)]
    if not tables:
        top.fail("jobs", "is missing; write a table [[jobs]] for each job")
    if len(tables) > _MOST_JOBS:
        top.fail("jobs", f"found {len(tables):,} tables; allowed are at most {_MOST_JOBS:,}")
    jobs = tuple(_job(table, folder) for table in tables)
    _check_names(jobs)
    _check_outputs(jobs)
    topology = folder / top.text("topology") if "topology" in top.values else None
    leaves = _leaves(top, topology) if topology else {}
    shared = top.truth("shared_hosts", default=False)
    return JobsFile(top.source, jobs, shared, topology, leaves)


def _leaves(top: Options, topology: Path) -> Mapping[str, Sequence[str]]:
    try:
        return slurm_topology.leaves_of(read_text(topology))
    except (UnreadableError, ValueError) as error:
        raise WeftError(f"{top.source}: topology: {topology}: {error}") from None


def _numbered(table: Options, number: int) -> Options:
    """Return a table whose errors include the job's name, or its number."""
    name = table.values.get("name")
    known = isinstance(name, str) and _NAME.fullmatch(name)
    which = f'name = "{name}"' if known else f"number {number}"
    return Options(table.source, f"[jobs]] {which}", table.values)


def key_of(job: Job, key: str) -> str:
    """Return the name of a job's key in error messages."""
    return _key_of(job.table, key)


def fail(job: Job, key: str, problem: str) -> WeftError:
    """Return the error about a key of a job."""
    return _error(job.table, key, problem)


def _key_of(table: Options, key: str) -> str:
    return f"{table.source}: [{table.table}: {key}"


def _error(table: Options, key: str, problem: str) -> WeftError:
    return WeftError(f"{_key_of(table, key)}: {problem}")


class _Table(Options):
    """Table of a job, whose errors begin with `FILE: [[jobs]] name = "NAME": KEY`."""

    def fail(self, key: str, problem: str) -> Any:
        """Raise an error about a key of this table."""
        raise _error(self, key, problem)


def _job(found: Options, folder: Path) -> Job:
    table = _Table(found.source, found.table, found.values)
    table.allow(*JOB)
    name = table.text("name")
    if not _NAME.fullmatch(name):
        table.fail(
            "name",
            f"found {name!r}; allowed are up to 64 letters, digits and ._- that begin with a letter"
            " or digit",
        )
    iteration = _iteration(table, folder)
    trace = None if iteration else _trace(table, folder)
    return Job(
        table=table,
        name=name,
        program="" if trace or iteration else _program(table, folder),
        arguments=() if trace else _words(table, "arguments"),
        trace=trace,
        iteration=iteration,
        ranks=iteration.ranks if iteration else _ranks(table, trace),
        ppn=1 if iteration else _ppn(table, trace),
        placement=table.choice("placement", tuple(PLACEMENTS), "contiguous"),
        seed=table.integer("seed", 0, 2**31 - 1, 1),
        hosts=_hosts(table),
        weight=table.number("weight", 0.001, 1000, 1),
        start_s=_start(table),
        offload=_offload(table),
        fallback=table.text("fallback") if "fallback" in table.values else None,
        privatize=trace is None and table.truth("privatize", default=True),
        environment=_environment(table),
        output=folder / table.text("output") if "output" in table.values else None,
    )


def _program(table: Options, folder: Path) -> str:
    if "program" not in table.values:
        table.fail(
            "program",
            "is missing; name a program, a trace as trace, or a training file as training",
        )
    name = table.text("program")
    return os.path.join(folder, name) if "/" in name and folder != Path() else name


_OF_ITERATIONS = ("training", "with", "gpu", "nccl")
_NOT_OF_ITERATIONS = (
    *("program", "arguments", "ranks", "ppn", "offload", "fallback", "privatize", "environment"),
    "output",
)


def _iteration(table: Options, folder: Path) -> JobIteration | None:
    """Return the training iteration of a job; None for other jobs."""
    key = "training" if "training" in table.values else "trace"
    path = folder / table.text("trace") if "trace" in table.values else None
    if key == "trace" and (path is None or not iterations.is_trace(path)):
        for other in _OF_ITERATIONS:
            if other in table.values:
                table.fail(other, "found in a job that is no iteration of training; leave it out")
        return None
    wrong = ("trace", *_NOT_OF_ITERATIONS) if key == "training" else ("with", *_NOT_OF_ITERATIONS)
    for other in wrong:
        if other in table.values:
            table.fail(other, f"found beside {key}, an iteration of training; leave it out")
    gpu = table.text("gpu") if "gpu" in table.values else None
    library = f"nccl-{table.text('nccl', _NCCL)}"
    try:
        if path is not None:
            return iterations.of_trace(path, gpu, library)
        changes = _words(table, "with")
        return iterations.of_model(table.text("training"), folder, changes, gpu, library)
    except WeftError as error:
        raise _error(table, key, error.message) from None


def _trace(table: Options, folder: Path) -> Folder | None:
    if "trace" not in table.values:
        return None
    for key in ("program", "arguments", "privatize", "environment"):
        if key in table.values:
            table.fail(key, "found beside trace, which is replayed without the program")
    try:
        from weft.trace.foreign import read_trace

        return read_trace(folder / table.text("trace"))
    except WeftError as error:
        raise _error(table, "trace", error.message) from None


def _ranks(table: Options, trace: Folder | None) -> int:
    ranks = table.integer("ranks", 1, MOST_RANKS, trace.manifest.ranks if trace else None)
    if trace and ranks != trace.manifest.ranks:
        table.fail(
            "ranks",
            f"found {ranks}; the trace {trace.path} has {trace.manifest.ranks} ranks, which a"
            " replay cannot change: leave ranks out",
        )
    return ranks


def _ppn(table: Options, trace: Folder | None) -> int | None:
    if "ppn" in table.values:
        return table.integer("ppn", 1, MOST_RANKS)
    return trace.manifest.ppn if trace else None


def _hosts(table: Options) -> tuple[str, ...]:
    if "hosts" not in table.values:
        return ()
    for key in ("placement", "seed"):
        if key in table.values:
            table.fail(key, "found beside hosts, which names the hosts; leave one out")
    value = table.values["hosts"]
    lists = [value] if isinstance(value, str) else value
    if not isinstance(lists, list) or not lists or not all(isinstance(one, str) for one in lists):
        table.fail("hosts", f'found {value!r}; write a node list, such as "host-[0-3,7]"')
    try:
        names = [name for one in lists for name in node_list.expand(one)]
    except ValueError as error:
        table.fail("hosts", f"found {value!r}; {error}")
    if not names:
        table.fail("hosts", f'found {value!r}; write a node list, such as "host-[0-3,7]"')
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        table.fail("hosts", f"found {twice} twice; ppn says how many ranks a host has")
    return tuple(names)


def _start(table: Options) -> float:
    value = table.values.get("start", 0)
    if isinstance(value, int | float) and not isinstance(value, bool) and value != 0:
        table.fail(
            "start", f'found {value!r}; write a time of 0 or more with its unit, such as "1ms"'
        )
    return table.seconds("start", 0.0)


def _offload(table: Options) -> str | None:
    if "offload" not in table.values:
        return None
    return table.choice("offload", offload_modes.OFFLOADS, offload_modes.DEFAULT)


def _words(table: Options, key: str) -> tuple[str, ...]:
    value = table.values.get(key, [])
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        table.fail(key, f'found {value!r}; write a list of texts, such as ["a", "b"]')
    if any("\0" in one for one in value):
        table.fail(key, "has a null character, which no argument can have")
    return tuple(value)


def _environment(table: Options) -> tuple[tuple[str, str], ...]:
    value = table.values.get("environment", {})
    if not isinstance(value, dict) or not all(isinstance(one, str) for one in value.values()):
        table.fail("environment", f'found {value!r}; write a table of texts: {{ NAME = "VALUE" }}')
    for name in value:
        if not _VARIABLE.fullmatch(name):
            table.fail("environment", f"found {name!r}, which is not a name of a variable")
        if name.startswith("WEFT_"):
            table.fail("environment", f"found {name}; variables WEFT_… are weft's own")
    return tuple(value.items())


def _check_names(jobs: Sequence[Job]) -> None:
    seen: set[str] = set()
    for job in jobs:
        if job.name in seen:
            raise fail(job, "name", "two jobs have this name; give each its own")
        seen.add(job.name)


def _check_outputs(jobs: Sequence[Job]) -> None:
    seen: dict[object, str] = {}
    for job in jobs:
        if job.output is None:
            continue
        other = seen.setdefault(file_key(job.output), job.name)
        if other != job.name:
            raise fail(job, "output", f"found {job.output}, which job {other} writes too")
