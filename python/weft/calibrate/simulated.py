# SPDX-License-Identifier: LGPL-2.1-only
"""What a fabric file that a calibration writes gives: the simulation of what was measured."""

from collections.abc import Sequence

from weft.base import paths
from weft.base.errors import WeftError
from weft.base.measured import Column
from weft.base.process import work_directory
from weft.runs import launch
from weft.runs.request import Request
from weft.runs.toolchain import compile_c

_PING_PONG = "pingpong"


def simulate_ping_pong(fabric: str, sizes: Sequence[int]) -> Column:
    """Return the one-way times in microseconds between the first two hosts of a fabric's text."""
    with work_directory() as work:
        file, program = work / "fabric.toml", work / _PING_PONG
        file.write_text(fabric, encoding="utf-8")
        compile_c(paths.example("pingpong.c"), program)
        request = Request.of(
            fabric=str(file),
            ranks=2,
            program=str(program),
            arguments=(",".join(map(str, sizes)), "1"),
            config=("smpi/wtime:0",),  # looking at a clock takes no time
            privatize=False,
        )
        lines: list[list[str]] = []
        record = launch.run(launch.prepare(request), lambda line: lines.append(line.split()))
    if record.failed:
        raise WeftError(f"the ping-pong on the fitted fabric: {record.outcome.message}", 1)
    return {int(line[0]): float(line[1]) for line in lines if line[0].isdigit()}
