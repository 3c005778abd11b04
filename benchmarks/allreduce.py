# SPDX-License-Identifier: LGPL-2.1-only
"""CPU time of simulating a 1 KiB MPI_Allreduce on a Tofino star."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from measure import Case, Cost, ratio

from weft.base import paths
from weft.base.errors import WeftError
from weft.runs import launch
from weft.runs.offload_modes import OFFLOADS
from weft.runs.record import Record
from weft.runs.request import Request
from weft.runs.toolchain import compile_c

FABRIC = "tofino-64x64"
BYTES = 1024


@dataclass(frozen=True)
class Key:
    """Name of a case."""

    mode: str
    ranks: int
    ppn: int
    benchmark: str = "allreduce, 1 KiB"


# Numbers of calls for which the two runs differ by at least half a second of CPU time. Cases that
# are compared with each other are adjacent.
_CALLS = {
    Key("stream", 512, 8): (1, 601),
    Key("stream", 4096, 64): (1, 81),
    Key("smpi:rdb", 4096, 64): (1, 2),
    Key("smpi:rdb", 512, 8): (1, 16),
    Key("message", 512, 8): (1, 121),
    Key("message", 4096, 64): (1, 10),
    Key("openmpi-5.0", 512, 8): (1, 121),
    Key("openmpi-5.0", 4096, 64): (1, 41),
}

SMALL, LARGE = Key("stream", 512, 8), Key("stream", 4096, 64)
HOSTS = Key("smpi:rdb", 4096, 64)


@dataclass(frozen=True)
class Standard:
    """Figure with a limit that weft must meet."""

    what: str
    figure: float
    limit: float
    at_most: bool
    unit: str = ""

    @property
    def met(self) -> bool:
        """True if the figure is within the limit."""
        return self.figure <= self.limit if self.at_most else self.figure >= self.limit


def cases(work: Path) -> dict[Key, Case]:
    """Compile the benchmark and return the cases to run."""
    program = work / "allreduce_latency"
    compile_c(paths.example("allreduce_latency.c"), program)
    return {key: _case(key, program, *calls) for key, calls in _CALLS.items()}


def _case(key: Key, program: Path, few: int, many: int) -> Case:
    request = Request.of(
        fabric=FABRIC,
        ranks=key.ranks,
        ppn=key.ppn,
        program=str(program),
        privatize=False,
        **_mode_options(key.mode),
    )
    plan = launch.prepare(request)

    def run(calls: int) -> Record:
        arguments = (str(BYTES), str(calls))
        return checked(
            launch.run(replace(plan, request=request.changed(arguments=arguments)), _ignore)
        )

    return Case(run, key.ranks, few, many)


def _mode_options(mode: str) -> dict[str, Any]:
    offloads = mode in OFFLOADS
    return {"offload": mode} if offloads else {"offload": "off", "fallback": mode}


def _ignore(_line: str) -> None:
    pass


def checked(record: Record) -> Record:
    """Check that a run succeeded, and return its record."""
    if record.failed:
        raise WeftError(f"bench: {record.program}: {record.outcome.message}", record.exit_status)
    return record


def standards(costs: Mapping[Key, Cost]) -> list[Standard]:
    """Compare the figures with the standards."""
    large = costs[LARGE]
    return [
        Standard("stream, 4,096 ranks", large.median_us, 2.5, at_most=True, unit=" us"),
        Standard("smpi:rdb / stream, 4,096 ranks", ratio(costs[HOSTS], large), 40, at_most=False),
        Standard("stream, 4,096 / 512 ranks", ratio(large, costs[SMALL]), 1.3, at_most=True),
    ]
