# SPDX-License-Identifier: LGPL-2.1-only
"""Simulations of the measured benchmarks on a calibrated fabric file."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weft.base import paths
from weft.base.errors import WeftError
from weft.base.measured import Column
from weft.base.process import work_directory
from weft.benchmarks.bytes_of import BYTES_OF, elements_of
from weft.benchmarks.methods import Method
from weft.runs import launch
from weft.runs.record import Record
from weft.runs.request import Request
from weft.runs.tables import explain
from weft.runs.toolchain import compile_c

Lines = list[list[str]]

MOST_SIZES = 128
"""Largest number of sizes per run of examples/benchmark_collectives.c."""
ITERATIONS = {False: (2, 1), True: (10, 2)}
"""Timed calls and warm-up calls; back-to-back calls need a few calls to settle."""
SHARED = ("smpi/auto-shared-malloc-thresh:4096", "smpi/shared-malloc:local")
"""Settings for benchmarks that neither fill nor read their buffers: ranks share the pages of
buffers of at least a page."""
FREE_CLOCK = ("smpi/wtime:0",)
"""Makes clock reads free; by default, SMPI charges 10 ns each."""
_SUMMED = "float"


@dataclass(frozen=True)
class Program:
    """Compiled example program."""

    example: str
    path: Path

    def run(
        self, fabric: str, arguments: Sequence[str], ranks: int, **options: Any
    ) -> tuple[Lines, Record]:
        """Run the program on a fabric given as text; return its lines of numbers and the record."""
        with work_directory() as work:
            file = work / "fabric.toml"
            file.write_text(fabric, encoding="utf-8")
            request = Request.of(
                fabric=str(file),
                ranks=ranks,
                program=str(self.path),
                arguments=tuple(arguments),
                privatize=False,
                **options,
            )
            lines: Lines = []
            record = launch.run(launch.prepare(request), lambda line: lines.append(line.split()))
        if record.failed:
            raise WeftError(f"{self.example} on the fitted fabric: {record.outcome.message}", 1)
        return [line for line in lines if line and line[0].isdigit()], record


@contextmanager
def compiled(example: str) -> Iterator[Program]:
    """Compile an example program for use within the context."""
    with work_directory() as work:
        compile_c(paths.example(f"{example}.c"), work / example)
        yield Program(example, work / example)


def simulate_ping_pong(
    fabric: str, sizes: Sequence[int], hosts: tuple[int, int] = (0, 1)
) -> Column:
    """Return the one-way times in microseconds between two hosts of a fabric's text."""
    # Reading the clock takes no simulated time.
    arguments = (",".join(map(str, sizes)), "1", *map(str, hosts))
    with compiled("pingpong") as program:
        lines, _ = program.run(fabric, arguments, max(hosts) + 1, ppn=1, config=FREE_CLOCK)
    return {int(line[0]): float(line[1]) for line in lines}


def simulate_bandwidth(fabric: str, sizes: Sequence[int]) -> Column:
    """Return the microseconds per message of a stream (osu_bw), by size."""
    arguments = (",".join(map(str, sizes)), "1")
    with compiled("bandwidth") as program:
        lines, _ = program.run(fabric, arguments, 2, config=FREE_CLOCK)
    return {int(line[0]): float(line[1]) for line in lines}


@dataclass(frozen=True)
class Calls:
    """Collective calls by a number of ranks, as a benchmark times them."""

    collective: str
    ranks: int
    ppn: int
    method: Method

    def size_of(self, bytes_: int) -> int:
        """Return the size passed to the program: whole elements in each part of a vector."""
        passed = elements_of(self.collective, bytes_, self.ranks)
        if passed.element_bytes == 1:
            return bytes_
        parts = self.ranks if BYTES_OF[self.collective] == "split" else 1
        return max(bytes_ // passed.element_bytes, parts) * passed.element_bytes

    def arguments(self, sizes: Sequence[int]) -> list[str]:
        """Return the arguments of examples/benchmark_collectives.c."""
        type_ = "int" if self.collective == "allreduce" else _SUMMED
        iterations, warm_up = ITERATIONS[self.method.back_to_back]
        return [
            *(self.collective, ",".join(map(str, sizes))),
            *(f"iterations={iterations}", f"warm-up={warm_up}"),
            *([f"type={type_}"] if "reduce" in self.collective else []),
            *(["back-to-back"] if self.method.back_to_back else []),
        ]


def simulate_calls(
    program: Program, fabric: str, calls: Calls, sizes: Sequence[int], **options: Any
) -> Column:
    """Return the microseconds of a call by size on a fabric of this text.

    With the option `offload`, calls that fall back to the hosts are an error.
    """
    passed = {size: calls.size_of(size) for size in sizes}
    taken = sorted(set(passed.values()))
    config = (*SHARED, *FREE_CLOCK, *options.pop("config", ()))
    times: Column = {}
    for first in range(0, len(taken), MOST_SIZES):
        arguments = calls.arguments(taken[first : first + MOST_SIZES])
        lines, record = program.run(
            fabric, arguments, calls.ranks, ppn=calls.ppn, config=config, **options
        )
        if options.get("offload", "off") != "off":
            _check_offloaded(record, calls.collective)
        times.update({int(line[0]): float(line[1]) for line in lines})
    return {size: times[of] for size, of in passed.items()}


def _check_offloaded(record: Record, collective: str) -> None:
    for row in record.collectives:
        if row.collective == collective and not row.offloaded:
            raise WeftError(
                f"{collective.capitalize()} on {record.fabric.label}: it falls back to the hosts,"
                f" because {explain(row.reason, record)}; the tables are of offloaded calls"
            )
