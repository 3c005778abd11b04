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
from weft.runs import launch
from weft.runs.record import Record
from weft.runs.report import explain
from weft.runs.request import Request
from weft.runs.toolchain import compile_c

Lines = list[list[str]]

MOST_SIZES = 128
"""Largest number of sizes per run of examples/allreduce_latency.c."""
_INT_BYTES = 4  # MPI_INT, the type that it sends


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
    """Compile an example program for the duration of the context."""
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
        lines, _ = program.run(fabric, arguments, max(hosts) + 1, ppn=1, config=("smpi/wtime:0",))
    return {int(line[0]): float(line[1]) for line in lines}


def simulate_bandwidth(fabric: str, sizes: Sequence[int]) -> Column:
    """Return the microseconds per message of a stream (osu_bw), by size."""
    arguments = (",".join(map(str, sizes)), "1")
    with compiled("bandwidth") as program:
        lines, _ = program.run(fabric, arguments, 2, config=("smpi/wtime:0",))
    return {int(line[0]): float(line[1]) for line in lines}


def simulate_offloaded(fabric: str, hosts: int, ppn: int, sizes: Sequence[int]) -> Column:
    """Return the microseconds of an Allreduce executed by the switches, by size.

    A size that is not a multiple of MPI_INT is rounded up.
    """
    asked = {size: max(1, -(-size // _INT_BYTES)) * _INT_BYTES for size in sizes}
    taken = sorted(set(asked.values()))
    times: Column = {}
    with compiled("allreduce_latency") as program:
        for first in range(0, len(taken), MOST_SIZES):
            some = taken[first : first + MOST_SIZES]
            arguments = (",".join(map(str, some)), "2")
            lines, record = program.run(fabric, arguments, hosts * ppn, ppn=ppn, offload="stream")
            _check_offloaded(record)
            times.update({int(line[0]): float(line[1]) for line in lines})
    return {size: times[of] for size, of in asked.items()}


def _check_offloaded(record: Record) -> None:
    for row in record.collectives:
        if row.collective == "allreduce" and not row.offloaded:
            raise WeftError(
                f"Allreduce on the fitted fabric: it falls back to the hosts, because"
                f" {explain(row.reason, record)}; the tables are of offloaded calls"
            )
