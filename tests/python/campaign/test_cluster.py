# SPDX-License-Identifier: LGPL-2.1-only
"""Campaigns on a cluster: on a single-node Slurm that the tests start, and without Slurm."""

import contextlib
import errno
import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import weft
from tests.support import simulated, slurm_cluster
from tests.support.places import ROOT
from tests.support.slurm_cluster import Slurm
from weft.base.errors import WeftError
from weft.campaign.cluster import file as cluster_file
from weft.campaign.cluster import slurm as commands
from weft.campaign.cluster import worker as cluster_worker
from weft.campaign.store.store import Store

# Logs its start in a file, sleeps as long as requested in a call that SMPI does not intercept, so
# that real time passes, and executes a collective.
SOURCE = """
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  int rank, one = 1, sum;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    FILE *file = fopen(argv[1], "a");
    fprintf(file, "%s\\n", argv[3]);
    fclose(file);
    struct timespec wait = {atoi(argv[2]) / 1000, atoi(argv[2]) % 1000 * 1000000L};
    syscall(SYS_nanosleep, &wait, NULL);
  }
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return argc != 4;
}
"""
CAMPAIGN = """
[campaign]
name = "many"
[programs.waits]
source = "waits.c"
arguments = ["{folder}/started", "{{wait}}", "{{repetition}}"]
privatize = false
[[runs]]
program = "waits"
fabric = "tofino-4"
ranks = 2
wait = {wait}
repetition = {numbers}
"""
CLUSTER = """
[cluster]
partition = "main"
cores = 2
memory = "1GiB"
walltime = "00:10:00"
"""


@dataclass
class Study:
    """Campaign in a separate folder."""

    folder: Path
    runs: int
    commands: "list[subprocess.Popen[str]]" = field(default_factory=list)

    @property
    def file(self) -> Path:
        return self.folder / "many.toml"

    @property
    def store(self) -> Path:
        return self.folder / "many.runs"

    def results(self) -> list[Path]:
        return list((self.store / "runs").glob("*/*.json"))

    def started(self) -> list[str]:
        """Return the runs that have started, as logged by the program."""
        return (self.folder / "started").read_text(encoding="utf-8").split()

    def cluster(self, text: str = CLUSTER) -> Path:
        file = self.folder / "cluster.toml"
        file.write_text(text, encoding="utf-8")
        return file

    def command(self, cluster: Path | str) -> list[str]:
        return [*simulated.WEFT, "campaign", "run", str(self.file), "--cluster", str(cluster)]

    def start(self, cluster: Path | str, slurm: Slurm | None = None) -> "subprocess.Popen[str]":
        command = subprocess.Popen(
            self.command(cluster),
            env={**os.environ, **(slurm.environment if slurm else {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.commands.append(command)
        return command

    def until(self, is_so: Callable[[], object], seconds: float = 180) -> None:
        """Wait for a condition while a command is running."""
        until(lambda: is_so() or self.commands[-1].poll() is not None, seconds)
        assert self.commands[-1].poll() is None, self.commands[-1].communicate()

    def check(self) -> None:
        """Assert that all results exist and are complete, and that nothing else remains."""
        files = self.results()
        assert len(files) == self.runs
        store = Store(self.store, "many")
        assert {store.read(file.stem).state for file in files} == {"done"}
        assert {store.read(file.stem).point["repetition"] for file in files} == {
            *range(1, self.runs + 1)
        }
        assert list((self.store / "claims").iterdir()) == []
        assert list((self.store / "cluster").iterdir()) == []


Make = Callable[..., Study]


def made(folder: Path, runs: int, wait: int = 0) -> Study:
    folder.mkdir(exist_ok=True)
    (folder / "waits.c").write_text(SOURCE, encoding="utf-8")
    text = CAMPAIGN.format(folder=folder, wait=wait, numbers=[*range(1, runs + 1)])
    (folder / "many.toml").write_text(text, encoding="utf-8")
    return Study(folder, runs)


@pytest.fixture
def study(tmp_path: Path) -> Iterator[Make]:
    """Return a function that creates a campaign; its commands end with the test."""
    studies: list[Study] = []

    def make(runs: int, wait: int = 0) -> Study:
        studies.append(made(tmp_path / "study", runs, wait))
        return studies[-1]

    yield make
    for command in [command for one in studies for command in one.commands]:
        if command.poll() is None:
            command.kill()
            command.communicate()


@pytest.fixture(scope="module")
def slurm() -> Iterator[Slurm]:
    """Start Slurm, or skip with the reason in the test summary."""
    try:
        with slurm_cluster.running() as one:
            yield one
    except slurm_cluster.CannotStartError as error:
        pytest.skip(f"Slurm cannot be started here, so that no cluster is tested: {error}")


@pytest.fixture
def queue(slurm: Slurm) -> Iterator[Slurm]:
    """Ensure that the queue is empty before and after."""
    yield slurm
    for job in slurm.jobs():
        slurm.ask("scancel", job)
    until(lambda: not slurm.jobs(), 30)


def until(is_so: Callable[[], object], seconds: float) -> None:
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, f"not within {seconds} s"
        time.sleep(0.1)


def ended(command: "subprocess.Popen[str]", seconds: float = 240) -> simulated.Result:
    try:
        output, errors = command.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(command.pid, signal.SIGKILL)
        command.communicate()
        raise
    return simulated.Result(command.returncode, output, errors)


def simulators(mark: Path) -> dict[int, int]:
    """Return the simulators whose command lines contain a folder, with the worker of each."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (folder / "cmdline").read_text(encoding="utf-8", errors="replace")
            if "smpimain" in words.split("\0")[0] and str(mark) in words:
                stat = (folder / "stat").read_text(encoding="utf-8")
                found[int(folder.name)] = int(stat.rpartition(")")[2].split()[1])
    return found


def killed_worker(mark: Path) -> bool:
    """Kill a worker that has started such a simulator; return true if one was found."""
    for worker in simulators(mark).values():
        with contextlib.suppress(ProcessLookupError):
            os.kill(worker, signal.SIGKILL)
            return True
    return False


def job_processes(slurm: Slurm) -> list[list[str]]:
    return [words for words in slurm.processes().values() if any("parsl" in one for one in words)]


# ---- On Slurm


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_200_runs_are_made_in_jobs_though_a_worker_is_killed(study: Make, queue: Slurm) -> None:
    one = study(200)
    command = one.start(one.cluster(), queue)
    one.until(lambda: len(one.results()) >= 40 and killed_worker(one.folder))
    status = simulated.run_command([*simulated.WEFT, "campaign", "status", str(one.file)])
    assert status.status == 3
    done = int(status.stdout.split(" done")[0].split()[-1].replace(",", ""))
    assert 40 <= done < 200
    result = ended(command)
    assert (result.status, result.stdout) == (0, "many: 200 runs: 200 done\n"), result.stderr
    one.check()
    # Only the killed worker's run was executed twice.
    assert 200 <= len(one.started()) <= 201
    until(lambda: not queue.jobs() and not job_processes(queue), 30)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_jobs_whose_time_ends_are_submitted_again(study: Make, queue: Slurm) -> None:
    before = set(queue.jobs("all"))
    one = study(110, wait=1000)
    cluster = one.cluster(CLUSTER.replace("00:10:00", "00:01:00"))
    command = one.start(cluster, queue)
    result = ended(command, 400)
    assert (result.status, result.stdout) == (0, "many: 110 runs: 110 done\n"), result.stderr
    one.check()
    assert len(set(queue.jobs("all")) - before) >= 2
    assert len(one.started()) == 110  # jobs stop taking runs before their time ends


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_job_that_is_killed_is_replaced(study: Make, queue: Slurm) -> None:
    one = study(30, wait=500)
    command = one.start(one.cluster(), queue)
    one.until(lambda: len(one.results()) >= 6 and simulators(one.folder))
    (job,) = queue.jobs()
    queue.ask("scancel", "--signal=KILL", "--full", job)
    result = ended(command)
    assert (result.status, result.stdout) == (0, "many: 30 runs: 30 done\n"), result.stderr
    one.check()
    assert len(one.started()) <= 32


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_ctrl_c_cancels_jobs_and_the_same_command_goes_on(study: Make, queue: Slurm) -> None:
    one = study(30, wait=500)
    text = CLUSTER.replace(
        "cores = 2", "cores = 3\njobs = 2"
    )  # of four cores: the second job waits
    command = one.start(one.cluster(text), queue)
    one.until(lambda: len(one.results()) >= 3 and len(queue.jobs("pending")) == 1)
    os.killpg(command.pid, signal.SIGINT)
    result = ended(command, 60)
    assert result.status == 130
    assert result.stderr.endswith("weft: interrupted\n")
    until(lambda: not queue.jobs() and not job_processes(queue), 30)
    assert list((one.store / "cluster").iterdir()) == []
    assert ended(one.start(one.cluster(), queue)).stdout == "many: 30 runs: 30 done\n"
    one.check()


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_workers_of_a_killed_command_end_by_themselves(study: Make, queue: Slurm) -> None:
    one = study(30, wait=500)
    command = one.start(one.cluster(), queue)
    one.until(lambda: len(one.results()) >= 3)
    command.kill()
    command.communicate()
    until(lambda: not job_processes(queue) and not queue.jobs(), 60)
    assert ended(one.start(one.cluster(), queue)).stdout == "many: 30 runs: 30 done\n"
    one.check()
    assert len(one.started()) <= 34


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_two_commands_share_the_work(study: Make, queue: Slurm) -> None:
    one = study(60, wait=300)
    cluster = one.cluster()
    commands = [one.start(cluster, queue), one.start(cluster, queue)]
    for command in commands:
        result = ended(command)
        assert (result.status, result.stdout) == (0, "many: 60 runs: 60 done\n"), result.stderr
    one.check()
    assert sorted(map(int, one.started())) == [*range(1, 61)]


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_slurm_that_goes_away_is_named_and_what_runs_goes_on(study: Make, queue: Slurm) -> None:
    one = study(80, wait=500)
    command = one.start(one.cluster(), queue)
    one.until(lambda: len(one.results()) >= 4)
    queue.stop_controller()
    result = ended(command)
    queue.start_controller()
    until(lambda: queue.jobs() is not None, 60)
    assert (result.status, result.stdout) == (0, "many: 80 runs: 80 done\n"), result.stderr
    assert "squeue" in result.stderr and "continuing with the existing workers" in result.stderr
    assert "write: scancel" in result.stderr
    one.check()


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (('"main"', '"other"'), "sbatch said: sbatch: error: "),
        (("cores = 2", "cores = 3\nsetup = ['echo no such module; exit 1']"), "no such module"),
        (("cores = 2", "cores = 2\npython = '/nowhere/python'"), "/nowhere/python: No such file"),
        (("cores = 2", "cores = 2\nsbatch = ['--hold']\npatience = '00:00:04'"), "JobHeldUser"),
    ],
)
def test_jobs_that_make_nothing_end_in_a_message(
    changed: tuple[str, str], message: str, study: Make, queue: Slurm
) -> None:
    one = study(2)
    result = ended(one.start(one.cluster(CLUSTER.replace(*changed)), queue), 120)
    assert result.status == 2
    assert message in result.stderr
    errors = result.stderr.partition("at a time\n")[2]
    assert errors.startswith("weft: ")
    assert "Traceback" not in errors
    assert one.results() == []
    until(lambda: not queue.jobs(), 30)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_nodes_that_do_not_see_the_store_end_in_a_message(queue: Slurm, tmp_path: Path) -> None:
    one = made(queue.hidden / "study", 2)
    result = ended(one.start(one.cluster(), queue), 120)
    assert result.status == 2
    assert f"can the nodes see {one.store}?" in result.stderr
    one.cluster(CLUSTER + f'logs = "{tmp_path}"')
    result = ended(one.start(one.folder / "cluster.toml", queue), 120)
    assert result.status == 2
    assert f"cannot run simulations: store {one.store}: does not see it" in result.stderr
    assert len(result.messages) == 1
    assert "Traceback" not in result.stderr
    assert one.results() == []


# ---- Without Slurm


def test_the_engine_makes_runs_on_this_machine(study: Make) -> None:
    one = study(6)
    result = ended(one.start("local"))
    assert (result.status, result.stdout) == (0, "many: 6 runs: 6 done\n"), result.stderr
    one.check()


def test_python_makes_runs_on_a_cluster_too(study: Make) -> None:
    one = study(2)
    told: list[int] = []
    campaign = weft.Campaign(one.file)
    results = campaign.run(
        cluster="local", jobs=2, progress=lambda so_far: told.append(so_far.ended)
    )
    assert told == [1, 2]
    assert results.frame()["state"].to_list() == ["done", "done"]
    one.check()


def test_a_run_that_ends_with_its_job_has_no_result(study: Make) -> None:
    one = study(1, wait=4000)
    command = one.start("local")
    one.until(lambda: (one.folder / "started").exists() and simulators(one.folder))
    ((simulator, worker),) = simulators(one.folder).items()
    os.kill(simulator, signal.SIGTERM)
    time.sleep(0.3)
    os.kill(worker, signal.SIGTERM)
    result = ended(command)
    assert (result.status, result.stdout) == (0, "many: 1 run: 1 done\n"), result.stderr
    assert len(one.started()) == 2


def test_workers_with_another_weft_make_no_runs(
    study: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = study(2)
    monkeypatch.setattr(cluster_worker, "version", lambda: "weft 0.0.1")
    result = simulated.run_command(one.command("local"))
    assert result.status == 2
    assert "cannot run simulations: has weft " in result.stderr
    assert "and this command is weft 0.0.1; use the same weft for all runs" in result.stderr
    assert one.results() == []


def test_a_worker_knows_another_folder_of_the_same_name(tmp_path: Path) -> None:
    folder = tmp_path / "store" / "cluster" / "one"
    site = cluster_worker.Site(folder, "a", cluster_worker.version())
    assert "does not see it" in cluster_worker.unfit(site)
    folder.mkdir(parents=True)
    (folder / "token").write_text("b", encoding="utf-8")
    other = cluster_worker.Site(folder, "c", cluster_worker.version())
    assert "is another folder on this node" in cluster_worker.unfit(other)
    (folder / "token").write_text("c", encoding="utf-8")
    again = cluster_worker.Site(folder, "c", site.weft + " ")
    assert "use the same weft for all runs" in cluster_worker.unfit(again)


def test_slurm_that_is_not_there_is_named(study: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    one = study(2)
    monkeypatch.setenv("PATH", str(one.folder))
    with pytest.raises(WeftError, match="sbatch is not on PATH; start weft where"):
        commands.check("cluster.toml")


MEMORY = """
import sys, time
from pathlib import Path
from weft.campaign.cluster import worker as cluster_worker
cluster_worker._budget = lambda: 10
with cluster_worker.memory(Path(sys.argv[1]), int(sys.argv[2])):
    print("begin", sys.argv[2], time.monotonic(), flush=True)
    time.sleep(0.5)
    print("end", sys.argv[2], time.monotonic(), flush=True)
"""


def test_workers_of_a_node_wait_for_memory(tmp_path: Path) -> None:
    commands = [
        subprocess.Popen(
            [sys.executable, "-c", MEMORY, str(tmp_path / "memory"), str(need)],
            env={**os.environ, "PARSL_WORKER_POOL_ID": "a", "PARSL_WORKER_RANK": str(rank)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for rank, need in enumerate((6, 3, 7, 20))
    ]
    lines = [line.split() for one in commands for line in one.communicate()[0].splitlines()]
    changes = sorted(
        (float(at), int(need) if kind == "begin" else -int(need)) for kind, need, at in lines
    )
    assert len(changes) == 8
    taken: list[int] = []
    for _, change in changes:
        taken = [*taken, change] if change > 0 else [one for one in taken if one != -change]
        assert sum(taken) <= 10 or len(taken) == 1, changes


# ---- The file


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("core = 2", "[cluster] core: no such key; did you mean cores?"),
        ("cores = 0", "[cluster] cores: found 0; allowed is a whole number from 1 to 4096"),
        ("walltime = '2h'", "[cluster] walltime: found '2h'; write hours, minutes and seconds"),
        ("walltime = '00:00:00'", "[cluster] walltime: found '00:00:00'; write hours"),
        ("memory = 'much'", "[cluster] memory: found 'much'; allowed is a positive whole number"),
        ("partition = 'a b'", "[cluster] partition: found 'a b'; write a single word"),
        ("setup = 'module load gcc'", "[cluster] setup: found 'module load gcc'; write a list"),
        ("sbatch = ['qos=short']", "[cluster] sbatch: found 'qos=short'; write options of sbatch"),
        ("sbatch = ['--mem=1G']", "[cluster] sbatch: found '--mem=1G'; write the key memory"),
        ("sbatch = ['-M other']", "[cluster] sbatch: found '-M other'; jobs run on one cluster"),
        ("sbatch = ['-N 2']", "[cluster] sbatch: found '-N 2'; a job uses one node"),
    ],
)
def test_wrong_files_are_refused(line: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "cluster.toml"
    file.write_text(f"[cluster]\n{line}\n", encoding="utf-8")
    with pytest.raises(WeftError) as error:
        cluster_file.read(file)
    assert str(error.value).startswith(f"{file}: ")
    assert message in str(error.value)


def test_the_page_has_all_keys_and_a_file_that_is_read(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "clusters.md").read_text(encoding="utf-8")
    rows = page.split("`[cluster]`")[1].split("\n## ")[0].splitlines()
    keys = [
        key for row in rows if row.startswith("| `") for key in row.split("|")[1].split("`")[1::2]
    ]
    assert keys == list(cluster_file.KEYS)
    file = tmp_path / "cluster.toml"
    file.write_text(page.split("```toml\n")[1].split("```")[0], encoding="utf-8")
    found = cluster_file.read(file)
    assert (found.jobs, found.cores, found.walltime_s, found.at_once) == (4, 32, 7200, 128)
    assert found.memory_bytes == 64 << 30


def test_a_store_without_locks_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    store = Store(tmp_path / "store", "many")
    monkeypatch.setattr(fcntl, "flock", refuse)
    locks = "choose a folder on a file system that has locks"
    with pytest.raises(WeftError, match=locks), store.claim("a"):
        pass


def test_stores_that_job_scripts_cannot_name_are_refused(study: Make, tmp_path: Path) -> None:
    one = study(2)
    result = simulated.run_command([*one.command("local"), "--store", str(tmp_path / "a store")])
    assert result.status == 2
    assert f"store {tmp_path}/a store: found ' '" in result.stderr


def test_the_number_of_jobs_stands_in_the_file(study: Make) -> None:
    one = study(2)
    result = simulated.run_command([*one.command(one.cluster()), "-j", "2"])
    assert result.status == 2
    assert "--jobs: applies to this machine" in result.stderr
