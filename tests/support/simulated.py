# SPDX-License-Identifier: LGPL-2.1-only
"""Runs of the programs in tests/smpi: under `weft run`, under plain smpirun, on stock SimGrid."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from tests.support import in_process
from tests.support.places import TESTS
from weft.base import paths

WEFT = (sys.executable, "-m", "weft.cli.main")
STAR = TESTS / "cases" / "equal-platforms" / "star.xml"
TIMEOUT_S = 120

Program = Callable[[str], Path]
"""Returns the compiled program of a source in tests/smpi."""

# Settings of `weft run`, so that a run under plain smpirun is the same simulation.
COMMON_SETTINGS = ("smpi/simulate-computation:no", "smpi/coll-selector:ompi")
# Settings that libweft.so makes for its fabrics, with the factors of
# cases/equal-platforms/fabric.toml. SMPI adds 16 bytes to a message, and SimGrid applies a factor
# to sizes above its bound. Messages of a rank to itself (above 4 KiB) get the loopback's 10 GB/s
# through a factor of one half on 20 GB/s.
STOCK_SETTINGS = (
    "network/crosstraffic:0",
    "network/TCP-gamma:0",
    "network/weight-S:0",
    "network/latency-factor:0:1.0;4112:1.356",
    "network/bandwidth-factor:0:0.163;4112:0.5",
    "network/loopback-bw:20e9",
)


@dataclass(frozen=True)
class Result:
    """Exit status and results of a run."""

    status: int
    stdout: str
    stderr: str
    record: dict[str, Any] = field(default_factory=dict)

    @property
    def lines(self) -> list[str]:
        """Output lines, sorted to be independent of the order of ranks."""
        return sorted(self.stdout.splitlines())

    @property
    def messages(self) -> list[str]:
        """Messages printed by weft, without its table."""
        return [line for line in self.stderr.splitlines() if line.startswith("weft:")]

    @property
    def switch(self) -> dict[str, Any]:
        """Counters of the fabric's only switch."""
        switches: list[dict[str, Any]] = self.record["switches"]
        (switch,) = switches
        return switch

    def rows(self, **wanted: Any) -> list[dict[str, Any]]:
        """Return the record's rows of calls that contain these values."""
        rows = self.record["collectives"]
        return [row for row in rows if all(row[key] == wanted[key] for key in wanted)]

    def row(self, **wanted: Any) -> dict[str, Any]:
        """Return the record's only row of calls that contains these values."""
        found = self.rows(**wanted)
        assert len(found) == 1, f"{wanted}: {found} of {self.record['collectives']}"
        return found[0]


class Run(Protocol):
    """Runs a program of tests/smpi under `weft run`."""

    def __call__(
        self,
        source: str,
        *arguments: str,
        on: str = "tofino-4",
        ranks: int = 4,
        options: Sequence[str] = (),
        status: int = 0,
        **more: Any,
    ) -> Result: ...


def fabric(case: str) -> str:
    """Return the fabric file of a case."""
    return str(TESTS / "cases" / case / "fabric.toml")


def weft_command(
    program: Path | str,
    *arguments: str,
    on: str = "tofino-4",
    ranks: int = 4,
    options: Sequence[str] = (),
) -> list[str]:
    """Return the command line of a run with free clock reads."""
    return [
        *WEFT,
        "run",
        *("--fabric", on, "-n", str(ranks), "--cfg", "smpi/wtime:0"),
        *options,
        "--",
        str(program),
        *arguments,
    ]


def run_command(
    command: Sequence[str], environment: Mapping[str, str] | None = None, **options: Any
) -> Result:
    """Run a command to its end; run weft in this process, unless a separate one is required."""
    words = list(command[len(WEFT) :])
    own = tuple(command[: len(WEFT)]) == WEFT and in_process.can_run(words)
    if own and options.keys() <= {"cwd"}:
        return Result(*in_process.run(words, environment, **options))
    ended = subprocess.run(
        command,
        text=True,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        env={**os.environ, **(environment or {})},
        timeout=TIMEOUT_S,
        check=False,
        **options,
    )
    return Result(ended.returncode, ended.stdout, ended.stderr)


def weft(*words: str, **options: Any) -> Result:
    """Run a weft command to its end."""
    return run_command([*WEFT, *words], **options)


def read_record(path: Path) -> dict[str, Any]:
    """Return the record, or an empty one if there is none."""
    record: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    return record


def smpirun_command(
    platform: Path, program: Path, *arguments: str, ranks: int = 4, settings: Sequence[str] = ()
) -> list[str]:
    """Return the command line of a run without `weft run`."""
    return [
        f"{paths.simgrid_prefix()}/bin/smpirun",
        *("-platform", str(platform), "-np", str(ranks), "--log=root.thres:warning"),
        *(f"--cfg={setting}" for setting in (*COMMON_SETTINGS, "smpi/wtime:0", *settings)),
        str(program),
        *arguments,
    ]


def run_stock(
    program: Path, *arguments: str, ranks: int = 4, settings: Sequence[str] = ()
) -> Result:
    """Run on the star of cases/equal-platforms without any part of weft."""
    return run_command(
        smpirun_command(
            STAR, program, *arguments, ranks=ranks, settings=(*STOCK_SETTINGS, *settings)
        )
    )


def run_library(
    program: Path,
    *arguments: str,
    record: Path | None = None,
    ranks: int = 4,
    settings: Sequence[str] = (),
    hostfile: Path | None = None,
    **environment: str,
) -> Result:
    """Run under plain smpirun with libweft.so as its platform; keywords are WEFT_… variables."""
    command = smpirun_command(
        paths.platform_library(), program, *arguments, ranks=ranks, settings=settings
    )
    if hostfile is not None:
        command[1:1] = ["-hostfile", str(hostfile)]
    where = {} if record is None else {"WEFT_RECORD": str(record)}
    result = run_command(command, {**environment, **where})
    return Result(
        result.status, result.stdout, result.stderr, read_record(record) if record else {}
    )


def weft_says(*arguments: str, **more: Any) -> "subprocess.CompletedProcess[str]":
    """Run weft as users do, without a terminal; in this process if this is equivalent."""
    if not more and in_process.can_run(arguments):
        status, output, errors = in_process.run(arguments)
        return subprocess.CompletedProcess(arguments, status, output, errors)
    return subprocess.run(
        [*WEFT, *arguments],
        text=True,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        check=False,
        timeout=TIMEOUT_S,
        **{"stdout": subprocess.PIPE, **more},
    )
