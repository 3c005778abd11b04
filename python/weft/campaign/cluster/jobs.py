# SPDX-License-Identifier: LGPL-2.1-only
"""Jobs of a campaign on a cluster and the workers in them: Parsl's pilot jobs.

Parsl's executor is used without its dataflow kernel: runs have no dependencies, and the campaign
needs more information about jobs than that kernel provides (why a job waits, what it printed before
it ended). Parsl provides the rest: an encrypted interchange that the workers of all nodes connect
to, the assignment of runs to workers, and the detection of lost workers.

    STORE/cluster/HOST-PID-…/
      lock        held by the submitting command while it lives
      jobs        the numbers of its jobs, one per line
      token       proves to workers that they see the same store
      memory/     node memory used by the workers of each job
      engine/     Parsl's logs, and the scripts and last output of jobs
"""

import fcntl
import logging
import math
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil
from parsl.addresses import address_by_hostname, address_by_interface
from parsl.executors import HighThroughputExecutor
from parsl.launchers import SimpleLauncher
from parsl.providers import LocalProvider, SlurmProvider
from parsl.providers.base import ExecutionProvider
from parsl.providers.errors import SubmitException

from weft.base.errors import WeftError
from weft.campaign.cluster import slurm
from weft.campaign.cluster import worker as cluster_worker
from weft.campaign.cluster.file import Cluster
from weft.campaign.cluster.worker import RunTask, Site, UnsuitableWorker
from weft.campaign.execution.work import TaskResult

Say = Callable[[str], None]
UNFINISHED = 3
"""Exit status of `weft campaign run` while runs remain."""
_HEARTBEAT_S = 4
_LOST_S = 20
"""Silence after which workers exit and the interchange requeues their runs."""
_LEAST_WALLTIME_S = 60
_MOST_DRAIN_S = 300
_ANSWER_S = 30
_LAST_WORDS = 5
_POOL = "parsl.executors.high_throughput.process_worker_pool"


@dataclass
class Job:
    """A submitted job."""

    block: str
    number: str
    connected: bool = False
    """True once one of its workers has connected."""


@dataclass
class Engine:
    """Parsl's executor with its jobs."""

    cluster: Cluster
    site: Site
    executor: HighThroughputExecutor
    jobs: list[Job] = field(default_factory=list)
    """Jobs that have not ended, to the command's knowledge."""

    def submit(self, order: RunTask) -> "Future[TaskResult | UnsuitableWorker]":
        """Send a run to the first free worker."""
        return self.executor.submit(cluster_worker.carry, {}, order)

    def add_job(self) -> None:
        """Submit a job. Raises `WeftError` with the scheduler's message."""
        blocks = self.executor.scale_out_facade(1)
        if not blocks:
            raise WeftError(f"{self.cluster.source}: {_refusal(self.executor.provider)}")
        number = str(self.executor.blocks_to_job_id[blocks[0]])
        self.jobs.append(Job(blocks[0], number))
        with (self.site.folder / "jobs").open("a", encoding="ascii") as file:
            file.write(f"{number}\n")

    def workers(self) -> int:
        """Return the number of connected workers, and mark their jobs as connected."""
        if self.executor.interchange_proc and self.executor.interchange_proc.poll() is not None:
            raise WeftError(
                "Parsl's interchange has ended; all results are kept; run the same command to"
                " resume",
                UNFINISHED,
            )
        found = self.executor.command_client.run(  # type: ignore[no-untyped-call]
            "MANAGERS", timeout_s=_ANSWER_S
        )
        there = {manager["block_id"] for manager in found if manager["active"]}
        for job in self.jobs:
            job.connected |= job.block in there
        return sum(manager["worker_count"] for manager in found if manager["active"])

    def states(self) -> dict[str, slurm.State]:
        """Return the states of jobs that have not ended. Raises `slurm.AwayError`."""
        numbers = [job.number for job in self.jobs]
        if self.cluster.slurm:
            return slurm.states(numbers)
        provider = self.executor.provider
        assert provider is not None
        found = zip(numbers, provider.status(numbers), strict=True)
        return {number: slurm.State("RUNNING") for number, one in found if not one.terminal}

    def last_words(self, job: Job) -> str:
        """Return the last lines of a job's output."""
        scripts = Path(self.executor.run_dir) / "jobs"
        lines: list[str] = []
        for file in sorted(scripts.glob(f"*.block-{job.block}.*.std*")):
            with suppress(OSError):
                lines += file.read_text(encoding="utf-8", errors="replace").splitlines()
        return "\n  ".join([line for line in lines if line.strip()][-_LAST_WORDS:])

    def stop(self) -> str:
        """Cancel all jobs and stop the executor; return an error message if that failed."""
        numbers = [job.number for job in self.jobs]
        provider = self.executor.provider
        assert provider is not None
        left = ""
        if self.cluster.slurm:
            left = slurm.cancel(numbers)
        elif numbers:
            provider.cancel(numbers)
        self.executor.shutdown()
        return left


@contextmanager
def engine(cluster: Cluster, store: Path, say: Say) -> Iterator[Engine]:
    """Start an executor without jobs, and clean up everything on exit."""
    if cluster.slurm:
        slurm.check(cluster.source)
    for folder, what in ((store, "store"), (cluster.logs, f"{cluster.source}: [cluster] logs")):
        if folder is not None:
            _check_name(folder, what)
    _remove_left(store, say)
    with _folder(store) as folder:
        site = Site(folder, uuid.uuid4().hex, cluster_worker.version())
        (folder / "token").write_text(site.token, encoding="utf-8")
        logs = (cluster.logs or folder) / (folder.name if cluster.logs else "engine")
        with _log(logs):
            one = Engine(cluster, site, _executor(cluster, logs))
            one.executor.start()  # type: ignore[no-untyped-call]
            try:
                yield one
            finally:
                if left := one.stop():
                    say(left)


def _check_name(folder: Path, what: str) -> None:
    """Refuse folder names that are unsafe in job scripts, where Parsl does not quote them."""
    if found := re.search(r"[^\w./+@=:,~-]", str(folder)):
        raise WeftError(
            f"{what} {folder}: found {found[0]!r} in a path that job scripts use; choose a folder"
            " whose path has only letters, digits and _ . - + @ = : , ~"
        )


@contextmanager
def _folder(store: Path) -> Iterator[Path]:
    """Create the folder of this command, which is removed on exit."""
    host = re.sub(r"[^\w.-]", "_", platform.node())
    name = f"{host}-{os.getpid()}-{uuid.uuid4().hex[:8]}"
    folder = store / "cluster" / name
    folder.mkdir(parents=True)
    lock = os.open(folder / "lock.new", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    (folder / "lock.new").rename(folder / "lock")  # atomic: never visible without its lock
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def _remove_left(store: Path, say: Say) -> None:
    """Cancel the jobs of commands that were killed, and remove their folders."""
    for folder in (store / "cluster").glob("*"):
        with suppress(OSError):
            lock = os.open(folder / "lock", os.O_RDWR | os.O_CLOEXEC)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                with suppress(FileNotFoundError):
                    numbers = (folder / "jobs").read_text(encoding="ascii").split()
                    if shutil.which("scancel") and (left := slurm.cancel(numbers)):
                        say(left)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)


@contextmanager
def _log(folder: Path) -> Iterator[None]:
    """Redirect Parsl's log from the terminal to a file."""
    folder.mkdir(parents=True, exist_ok=True)
    logger = logging.getLogger("parsl")
    handler = logging.FileHandler(folder / "parsl.log", encoding="utf-8")
    logger.addHandler(handler)
    before = logger.propagate
    logger.propagate = False
    try:
        yield
    finally:
        logger.propagate = before
        logger.removeHandler(handler)
        handler.close()


# ---- Parsl configuration


def _executor(cluster: Cluster, logs: Path) -> HighThroughputExecutor:
    provider = _slurm(cluster) if cluster.slurm else _local(cluster)
    executor = HighThroughputExecutor(
        label="weft",
        provider=provider,
        address=cluster.address or "127.0.0.1",
        cores_per_worker=1 if cluster.slurm else 1e-3,
        max_workers_per_node=cluster.cores,
        heartbeat_period=_HEARTBEAT_S,
        heartbeat_threshold=_LOST_S,
        drain_period=_drain(cluster),
        interchange_launch_cmd=[sys.executable, "-m", "weft.campaign.cluster.interchange"],
        block_error_handler=False,
    )
    if cluster.slurm and cluster.address is None:
        # To determine this machine's address, Parsl's default queries an internet service.
        executor.address = None
        executor.all_addresses = _addresses()
    pool = executor.launch_cmd.removeprefix("process_worker_pool.py")
    executor.launch_cmd = f"exec {_shell(cluster.python)} -m {_POOL}{pool}"
    executor.run_dir = str(logs)
    executor.run_id = logs.name
    executor.log_config = None
    provider.script_dir = str(logs / "jobs")
    Path(provider.script_dir).mkdir(exist_ok=True)
    return executor


def _shell(word: str) -> str:
    """Quote a word for the shell, and escape it for Parsl's string formatting."""
    return shlex.quote(word).replace("{", "{{").replace("}", "}}")


def _addresses() -> set[str]:
    found = set()
    for name in psutil.net_if_addrs():
        with suppress(OSError):
            found.add(address_by_interface(name))
    with suppress(OSError):
        found.add(address_by_hostname())
    return found


def _drain(cluster: Cluster) -> int | None:
    """Return the age from which a job accepts no new runs, so that its current runs can finish."""
    if cluster.walltime_s is None:
        return None
    seconds = max(cluster.walltime_s, _LEAST_WALLTIME_S)
    return int(seconds - min(_MOST_DRAIN_S, seconds / 6))


class _Slurm(SlurmProvider):
    """Parsl's Slurm provider, which additionally remembers the message of sbatch."""

    refusal = ""

    def execute_wait(self, cmd: str, timeout: int | None = None) -> tuple[int, str, str]:
        if cmd.startswith("sacct"):  # sacct may hang; squeue provides the states
            return 1, "", "not asked"
        code, out, err = super().execute_wait(cmd, timeout)  # type: ignore[no-untyped-call]
        return code, out, err

    def submit(self, command: str, tasks_per_node: int, job_name: str = "weft") -> str:
        try:
            return str(super().submit(command, tasks_per_node, job_name))
        except SubmitException as error:
            said = (error.stderr or error.stdout or "nothing").strip().splitlines()
            self.refusal = f"sbatch said: {said[-1]}"
            raise
        except subprocess.TimeoutExpired as error:
            self.refusal = f"sbatch did not answer in {error.timeout:.0f} s"
            raise


def _refusal(provider: ExecutionProvider | None) -> str:
    return getattr(provider, "refusal", "") or "the job could not be started"


def _slurm(cluster: Cluster) -> _Slurm:
    options = list(cluster.sbatch)
    if cluster.memory_bytes is not None:
        options.append(f"--mem={max(1, cluster.memory_bytes >> 20)}M")
    walltime = cluster.walltime_s or 0
    minutes = math.ceil(walltime / 60)
    return _Slurm(
        partition=cluster.partition or None,
        account=cluster.account or None,
        cores_per_node=cluster.cores,
        exclusive=cluster.cores is None,
        walltime=f"{minutes // 60:02}:{minutes % 60:02}:00",
        scheduler_options="\n".join(f"#SBATCH {one}" for one in options),
        worker_init="\n".join(cluster.setup),
        init_blocks=0,
        max_blocks=cluster.jobs,
        launcher=SimpleLauncher(),
        cmd_timeout=_ANSWER_S,
    )


def _local(cluster: Cluster) -> LocalProvider:
    return LocalProvider(  # type: ignore[no-untyped-call]
        init_blocks=0, max_blocks=1, worker_init="\n".join(cluster.setup), launcher=SimpleLauncher()
    )
