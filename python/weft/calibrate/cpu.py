"""The speed of this machine, for `--host-speed` and for hosts like it.

SMPI times what a rank computes and turns it into operations by the speed of the machine that
simulates; the fabric's hosts then do these operations at their own speed. Where both are the same,
computation takes as long in the simulation as here.
"""

import re
import statistics
import tomllib
from dataclasses import dataclass
from pathlib import Path

from weft import _core
from weft.base import paths
from weft.base.errors import WeftError, named
from weft.base.process import work_directory
from weft.runs import launch
from weft.runs.toolchain import compile_c

_FABRIC = "tofino-4"
_HOST_TABLE = re.compile(r"^[ \t]*\[host\][^\n]*\n", re.MULTILINE)
_SPEED = re.compile(r"[ \t]*speed[ \t]*=")


@dataclass(frozen=True)
class CpuSpeed:
    """Floating-point operations a second of one core, by repetition."""

    repetitions: tuple[float, ...]

    @property
    def median(self) -> float:
        """What to take: other work on the machine only ever slows some of them down."""
        return statistics.median(self.repetitions)

    @property
    def text(self) -> str:
        """The median, as options and fabric files have it."""
        return format_speed(self.median)


def format_speed(flops: float) -> str:
    """Return a speed with its unit."""
    return f"{flops / 1e9:.4g}Gf"


def measure(repetitions: int) -> CpuSpeed:
    """Run the shipped kernel on one simulated host as fast as this machine."""
    # Then simulated seconds are those of this machine.
    speed = format_speed(_core.load_fabric(_FABRIC).host["speed_flops"])
    lines: list[str] = []
    with work_directory() as work:
        program = work / "cpu_speed"
        compile_c(paths.example("cpu_speed.c"), program)
        request = launch.Request(
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
    """Return the text of a fabric whose hosts have this speed."""
    path = Path(_core.load_fabric(base).file)
    text = path.read_text(encoding="utf-8")
    table = _HOST_TABLE.search(text)
    if table is None:
        raise WeftError(
            f"{named('base')}: {path} has no line [host], where its speed could go; write one"
        )
    rest = text[table.end() :]
    body, following = _split_at_next_table(rest)
    kept = [line for line in body.splitlines(keepends=True) if not _SPEED.match(line)]
    new = f'# This machine\'s, by `weft calibrate cpu`.\nspeed = "{speed}"\n'
    changed = text[: table.end()] + new + "".join(kept) + following
    tomllib.loads(changed)
    return changed


def _split_at_next_table(text: str) -> tuple[str, str]:
    found = re.search(r"^[ \t]*\[", text, re.MULTILINE)
    at = found.start() if found else len(text)
    return text[:at], text[at:]
