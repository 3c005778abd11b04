# SPDX-License-Identifier: LGPL-2.1-only
"""Single-node Slurm cluster for tests: munge, controller and node daemon, as root, in a folder.

It does not affect the system's own Slurm: keys, sockets, ports and state are in the folder. The
node has four cores, independent of the machine, and does not see the content of `hidden`. All
processes, including those of jobs, are always removed afterwards.
"""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

_PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "scontrol", "unshare")
_SBIN = "/usr/local/sbin:/usr/sbin:/sbin"
_START_S = 60
_END_S = 20
_CONFIGURATION = """
ClusterName=weft
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge.socket
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=batch_sched_delay=0,sched_interval=2
SlurmdParameters=config_overrides
ReturnToService=2
MpiDefault=none
SwitchType=switch/none
KillWait=2
MessageTimeout=5
NodeName=node1 NodeHostname={host} NodeAddr=127.0.0.1 CPUs=4 RealMemory=4000 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=60 State=UP
"""


class CannotStartError(Exception):
    """Raised if Slurm does not run on this machine; the text states the reason."""


@dataclass
class Slurm:
    """Running cluster."""

    folder: Path
    daemons: dict[str, "subprocess.Popen[bytes]"] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        """Return the environment that directs Slurm's commands and jobs to this cluster."""
        path = f"{os.environ.get('PATH', '')}:{_SBIN}"
        return {"SLURM_CONF": str(self.folder / "slurm.conf"), "PATH": path}

    @property
    def hidden(self) -> Path:
        """Return a folder that appears empty on the node."""
        return self.folder / "hidden"

    def ask(self, *command: str) -> str:
        """Return the output of a Slurm command."""
        ended = subprocess.run(
            command,
            env={**os.environ, **self.environment},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        if ended.returncode != 0:
            raise CannotStartError(f"{' '.join(command)}: {ended.stderr.strip()}")
        return ended.stdout

    def jobs(self, *states: str) -> list[str]:
        """Return the numbers of jobs in the queue, or of jobs in these states."""
        chosen = [f"--states={','.join(states)}"] if states else []
        return self.ask("squeue", "--noheader", "--format=%i", *chosen).split()

    def processes(self) -> dict[int, list[str]]:
        """Return all processes of the cluster and its jobs: command words by PID."""
        mark = f"SLURM_CONF={self.folder}/slurm.conf".encode()
        found = {}
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if mark in (folder / "environ").read_bytes().split(b"\0"):
                    words = (folder / "cmdline").read_bytes().decode(errors="replace")
                    found[int(folder.name)] = words.split("\0")
        found.pop(os.getpid(), None)
        return found

    def start(self, name: str, *words: str) -> None:
        """Start a daemon as a child, in the foreground."""
        with (self.folder / f"{name}.log").open("ab") as log:
            self.daemons[name] = subprocess.Popen(
                ("setpriv", "--pdeathsig", "KILL", *words),
                env={**os.environ, **self.environment},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def start_controller(self) -> None:
        """Start the controller, which manages the queue."""
        self.start("slurmctld", "slurmctld", "-D")

    def stop_controller(self) -> None:
        """Terminate the controller."""
        daemon = self.daemons.pop("slurmctld")
        daemon.kill()
        daemon.wait()

    def said(self) -> str:
        """Return the last log lines of the daemons."""
        lines = []
        for log in sorted(self.folder.glob("*.log")):
            text = log.read_text(errors="replace").strip().splitlines()
            lines.append(f"{log.stem}: {text[-1] if text else 'nothing'}")
        return "; ".join(lines)


@contextlib.contextmanager
def running() -> Iterator[Slurm]:
    """Start a cluster, and remove it afterwards. Raises `CannotStartError`."""
    _check()
    folder = Path(tempfile.mkdtemp(prefix="slurm-", dir="/tmp"))
    slurm = Slurm(folder)
    try:
        _start(slurm)
        yield slurm
    finally:
        _stop(slurm)
        shutil.rmtree(folder, ignore_errors=True)


def _check() -> None:
    if os.geteuid() != 0:
        raise CannotStartError("Slurm's daemons are started as root, and this is not root")
    missing = [name for name in _PROGRAMS if not shutil.which(name, path=_path())]
    if missing:
        raise CannotStartError(f"not installed: {', '.join(missing)} (slurm-wlm, munge)")


def _path() -> str:
    return f"{os.environ.get('PATH', '')}:{_SBIN}"


def _start(slurm: Slurm) -> None:
    folder = slurm.folder
    for name in ("munge", "state", "spool", "hidden"):
        (folder / name).mkdir(mode=0o700)
    (folder / "munge" / "key").write_bytes(os.urandom(1024))
    (folder / "munge" / "key").chmod(0o400)
    host = socket.gethostname().split(".")[0]
    ports = _free_ports()
    (folder / "slurm.conf").write_text(
        _CONFIGURATION.format(host=host, folder=folder, ports=ports), encoding="utf-8"
    )
    files = {"key": "munge/key", "pid": "munge/pid", "log": "munge/log", "seed": "munge/seed"}
    options = [f"--{kind}-file={folder / name}" for kind, name in files.items()]
    slurm.start("munged", "munged", "-F", "--force", f"--socket={folder}/munge.socket", *options)
    _wait(slurm, "munge's socket", lambda: (folder / "munge.socket").exists())
    slurm.start_controller()
    hide = 'mount -t tmpfs none "$0" && exec slurmd -D -N node1'
    slurm.start("slurmd", "unshare", "--mount", "sh", "-c", hide, str(slurm.hidden))
    _wait(slurm, "an idle node", lambda: "idle" in slurm.ask("sinfo", "--noheader", "-o", "%T"))


def _free_ports() -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(2)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def _wait(slurm: Slurm, what: str, is_there: Callable[[], bool]) -> None:
    end = time.monotonic() + _START_S
    said = ""
    while time.monotonic() < end:
        for name, daemon in slurm.daemons.items():
            if daemon.poll() is not None:
                raise CannotStartError(f"{name} has ended; {slurm.said()}")
        try:
            if is_there():
                return
        except CannotStartError as error:
            said = f"{error}; "
        time.sleep(0.2)
    raise CannotStartError(f"no {what} after {_START_S} s: {said}{slurm.said()}")


def _stop(slurm: Slurm) -> None:
    for name in ("slurmctld", "slurmd", "munged"):
        if daemon := slurm.daemons.get(name):
            daemon.kill()
            daemon.wait()
    end = time.monotonic() + _END_S
    while (left := slurm.processes()) and time.monotonic() < end:
        for number in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)
        time.sleep(0.1)
