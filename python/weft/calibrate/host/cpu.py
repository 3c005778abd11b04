# SPDX-License-Identifier: LGPL-2.1-only
"""Measures the speed of this machine, for `--host-speed` and for fabrics with such hosts.

SMPI times a rank's computation and converts it to operations with the speed of the simulating
machine; the fabric's hosts then execute these operations at their own speed. If both speeds are
equal, computation takes as long in the simulation as on this machine.
"""

import statistics
from dataclasses import dataclass
from pathlib import Path

from weft import _core
from weft.base import paths
from weft.base.errors import WeftError
from weft.base.process import work_directory
from weft.fabric.toml_file import SourcedValue, with_values
from weft.runs import launch
from weft.runs.request import Request
from weft.runs.toolchain import compile_c

_FABRIC = "tofino-4"


@dataclass(frozen=True)
class CpuSpeed:
    """Floating-point operations per second of one core, by repetition."""

    repetitions: tuple[float, ...]

    @property
    def median(self) -> float:
        """Median speed; robust against other processes, which only slow down some repetitions."""
        return statistics.median(self.repetitions)

    @property
    def text(self) -> str:
        """Median speed as written in options and fabric files."""
        return format_speed(self.median)


def format_speed(flops: float) -> str:
    """Return a speed with its unit."""
    return f"{flops / 1e9:.4g}Gf"


def measure(repetitions: int) -> CpuSpeed:
    """Run the shipped kernel on one simulated host that is as fast as this machine."""
    # Equal speeds make simulated seconds equal to real ones.
    speed = format_speed(_core.load_fabric(_FABRIC).host["speed_flops"])
    lines: list[str] = []
    with work_directory() as work:
        program = work / "cpu_speed"
        compile_c(paths.example("cpu_speed.c"), program)
        request = Request.of(
            fabric=_FABRIC,
            ranks=1,
            program=str(program),
            arguments=(str(repetitions),),
            host_speed=speed,
            config=("smpi/wtime:0",),
        )
        record = launch.run(launch.prepare(request), lines.append)
    if record.failed:
        raise WeftError(f"calibrate cpu: {record.outcome.message}", record.exit_status)
    return CpuSpeed(tuple(map(float, lines)))


def with_speed(base: str, speed: str) -> str:
    """Return the text of a base fabric with the hosts' speed replaced."""
    text = Path(_core.load_fabric(base).file).read_text(encoding="utf-8")
    return with_values(
        text, "host", {"speed": SourcedValue(speed, "this machine's, by `weft calibrate cpu`")}
    )
