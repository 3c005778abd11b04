# SPDX-License-Identifier: LGPL-2.1-only
"""Runs of crowds.c."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from studies.study import OPTION
from weft.base.errors import WeftError
from weft.base.process import work_directory
from weft.runs import launch
from weft.runs.record import Record
from weft.runs.request import Request
from weft.runs.toolchain import compile_c

HERE = Path(__file__).parent
Fabric = tuple[str, ...]
"""Name of a fabric, and its changes, each as `TABLE.KEY=VALUE`."""
FABRICS: dict[str, Fabric] = {
    "fat tree": ("fat-tree-1024-radix-32",),
    "fat tree, 4:1": (
        "fat-tree-1024-radix-32",
        "topology.up=[1,4,2]",
        "topology.cables=[1,1,4]",
    ),
    "dragonfly": ("dragonfly-16x16",),
    "torus": ("torus-4x4x4x4",),
}


@dataclass(frozen=True)
class Crowd:
    """Messages that ranks send simultaneously."""

    fabric: str
    ranks: int
    words: tuple[str, ...]
    """Arguments of crowds.c."""

    def __str__(self) -> str:
        """Return the name used in errors."""
        return f"{self.ranks} ranks on {self.fabric}: {' '.join(self.words)}"


@dataclass(frozen=True)
class Result:
    """Output of a run, with its record."""

    lines: Sequence[str]
    record: Record

    @property
    def end(self) -> float:
        """End time of the last rank in seconds."""
        return float(self.lines[-1].split()[1])

    @property
    def ends(self) -> dict[tuple[int, int], float]:
        """End time of each receive, by rank and position."""
        words = (line.split() for line in self.lines[:-1])
        return {(int(rank), int(receive)): float(end) for rank, receive, end in words}


@contextmanager
def compiled() -> Iterator[Path]:
    """Compile the program for use within the context."""
    with work_directory() as work:
        program = work / "crowds"
        compile_c(HERE / "crowds.c", program)
        yield program


def run(program: Path, crowd: Crowd, *changes: str, **options: object) -> Result:
    """Run the program on a fabric with changes."""
    fabric, *own = FABRICS[crowd.fabric]
    lines: list[str] = []
    request = Request.of(
        fabric=fabric,
        changes=(*own, *changes),
        ranks=crowd.ranks,
        program=str(program),
        arguments=crowd.words,
        config=("smpi/wtime:0",),  # reading the clock at the end is free
        **{"offload": "off", **options},
    )
    record = launch.run(launch.prepare(request), lines.append)
    if record.failed:
        raise WeftError(f"{OPTION}: crowds: {crowd}: {record.outcome.message}")
    return Result(lines, record)
