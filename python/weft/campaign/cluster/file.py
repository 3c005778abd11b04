# SPDX-License-Identifier: LGPL-2.1-only
"""Cluster files: the cluster that executes a campaign's runs, and the resources to request.

    [cluster]
    partition = "batch"
    jobs = 4
    cores = 32
    walltime = "02:00:00"
    setup = ["module load gcc", "module load python/3.11"]

A job occupies one node. It executes runs until no run is left or its walltime ends; then weft
submits the next job.
"""

import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from weft.base.errors import WeftError, named
from weft.base.options import Options, parse
from weft.base.units import parse_size
from weft.base.user_files import UnreadableError, read_text

LOCAL = "local"
"""Name of the built-in cluster, a single local process as its job; needs neither file nor Slurm."""
KEYS = (
    *("partition", "account", "jobs", "cores", "memory", "walltime", "setup", "sbatch"),
    *("python", "logs", "address", "patience"),
)
_MOST_JOBS = 10_000
_MOST_CORES = 4096
_DEFAULT_WALLTIME = "01:00:00"
_TIME = re.compile(r"(?:(\d{1,3})-)?(\d{1,3}):([0-5]\d):([0-5]\d)")
# sbatch options that have a key here; giving both would be ambiguous, as Slurm uses the last one.
_OWN_OPTIONS = {
    "partition": "partition",
    "p": "partition",
    "account": "account",
    "A": "account",
    "cpus-per-task": "cores",
    "c": "cores",
    "mem": "memory",
    "time": "walltime",
    "t": "walltime",
    "array": "jobs",
    "a": "jobs",
    "output": "logs",
    "o": "logs",
    "error": "logs",
    "e": "logs",
}
_OTHER_CLUSTERS = ("clusters", "cluster", "M")
_ONE_NODE = ("nodes", "N", "ntasks", "n", "ntasks-per-node")


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """Jobs to submit, and their setup."""

    source: str
    """Name of the file for error messages."""
    slurm: bool = True
    """True for Slurm jobs; false for a single job that is a process on this machine."""
    partition: str = ""
    account: str = ""
    jobs: int = 1
    """Maximum number of simultaneous jobs, each on one node."""
    cores: int | None = None
    """Cores per job, and maximum of simultaneous runs in it; by default all cores of an exclusive
    node.
    """
    memory_bytes: int | None = None
    """Memory per job; by default the partition's default."""
    walltime_s: int | None = None
    setup: tuple[str, ...] = ()
    """Shell lines executed before the workers start."""
    sbatch: tuple[str, ...] = ()
    """Options of sbatch that have no key here."""
    python: str = sys.executable
    """Python interpreter that runs weft on the nodes."""
    logs: Path | None = None
    """Folder for logs, which are then kept; by default, logs are in the store and deleted on
    success.
    """
    address: str | None = None
    """Address at which the nodes reach this machine; by default, they try all of its addresses."""
    patience_s: int | None = None
    """Time to wait for a job to start; unlimited by default."""

    @property
    def at_once(self) -> int | None:
        """Maximum number of simultaneous runs; None if the nodes' cores are unknown."""
        return self.jobs * self.cores if self.cores else None


def chosen(file: Path | None, jobs: int | None) -> Cluster | None:
    """Return the cluster described by a file, or `local` with `jobs` runs at a time."""
    if file is None:
        return None
    if str(file) == LOCAL:
        return local(jobs)
    if jobs is not None:
        raise WeftError(
            f"{named('jobs')}: applies to this machine, but {named('cluster')} names another; set"
            f" jobs and cores in {file}"
        )
    return read(file)


def local(cores: int | None = None) -> Cluster:
    """Return the cluster that needs no Slurm."""
    return Cluster(source=LOCAL, slurm=False, cores=cores or len(os.sched_getaffinity(0)))


def read(file: Path) -> Cluster:
    """Read a cluster file. Raises `WeftError`."""
    try:
        top = parse(read_text(file), str(file)).allow("cluster")
    except UnreadableError as error:
        raise WeftError(f"{file}: {error}") from None
    table = top.part("cluster").allow(*KEYS)
    cores = table.integer("cores", 1, _MOST_CORES) if "cores" in table.values else None
    return Cluster(
        source=str(file),
        partition=_word(table, "partition"),
        account=_word(table, "account"),
        jobs=table.integer("jobs", 1, _MOST_JOBS, 1),
        cores=cores,
        memory_bytes=_memory(table),
        walltime_s=_time(table, "walltime", _DEFAULT_WALLTIME),
        setup=_lines(table, "setup"),
        sbatch=_options(table),
        python=os.path.expanduser(table.text("python", sys.executable)),
        logs=_folder(table, file.parent),
        address=_word(table, "address") or None,
        patience_s=_time(table, "patience", "") if "patience" in table.values else None,
    )


def _word(table: Options, key: str) -> str:
    value = table.text(key, "")
    if key in table.values and not re.fullmatch(r"[\w.,:+@/-]+", value):
        table.fail(key, f"found {value!r}; write a single word, as Slurm names it")
    return value


def _memory(table: Options) -> int | None:
    if "memory" not in table.values:
        return None
    return parse_size(table.text("memory"), f"{table.source}: [{table.table}] memory")


def _time(table: Options, key: str, default: str) -> int:
    value = table.text(key, default)
    match = _TIME.fullmatch(value)
    found = match and sum(
        int(number or 0) * unit
        for number, unit in zip(match.groups(), (86400, 3600, 60, 1), strict=True)
    )
    if not found:
        table.fail(
            key,
            f'found {value!r}; write hours, minutes and seconds, such as "02:00:00", or'
            ' "1-00:00:00" with days',
        )
    return found


def _lines(table: Options, key: str) -> tuple[str, ...]:
    found = table.values.get(key, [])
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        table.fail(key, f'found {found!r}; write a list of texts, such as ["module load gcc"]')
    for one in found:
        if not one.strip() or not one.isprintable():
            table.fail(key, f"found {one!r}; write texts of one line each")
    return tuple(found)


def _options(table: Options) -> tuple[str, ...]:
    found = _lines(table, "sbatch")
    for one in found:
        match = re.match(r"--?([A-Za-z][\w-]*)", one)
        if match is None:
            table.fail("sbatch", f'found {one!r}; write options of sbatch, such as ["--qos=short"]')
        if match[1] in _ONE_NODE:
            table.fail("sbatch", f"found {one!r}; a job uses one node; write jobs = NUMBER")
        if match[1] in _OTHER_CLUSTERS:
            table.fail("sbatch", f"found {one!r}; jobs run on one cluster; start weft there")
        if key := _OWN_OPTIONS.get(match[1]):
            table.fail("sbatch", f"found {one!r}; write the key {key} instead")
    return found


def _folder(table: Options, base: Path) -> Path | None:
    if "logs" not in table.values:
        return None
    return (base / Path(table.text("logs")).expanduser()).absolute()
