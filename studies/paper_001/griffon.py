# SPDX-License-Identifier: LGPL-2.1-only
"""The cluster griffon, with and without contention, and runs on it."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from matplotlib.axis import Axis
from matplotlib.ticker import FuncFormatter, NullFormatter

from studies.real_programs.sources import simgrid_file
from studies.study import DOCS, OPTION
from weft.base.errors import WeftError
from weft.runs import launch
from weft.runs.record import Record
from weft.runs.request import Request
from weft.runs.toolchain import compile_c

HERE = Path(__file__).parent
PAGE = DOCS / "paper-001.md"
TABLES = DOCS / "paper-001"
HOSTS = 92
HOST_SPEED = "286.087kf"
"""Speed of griffon's hosts in the file, so that computation takes as long in the simulation as
here.
"""
LINKS = {"shared": "contention", "fatpipe": "no contention"}


def griffon() -> Path:
    """Return the platform file of SimGrid's source distribution."""
    return simgrid_file("examples/platforms/", "griffon.xml")


def compiled(source: Path, folder: Path) -> Path:
    """Compile a program."""
    target = folder / source.stem
    compile_c(source, target)
    return target


def run(
    program: Path, ranks: int, arguments: Sequence[str], **options: Any
) -> tuple[list[str], Record]:
    """Run a program on griffon unless options say otherwise; return its lines. DT exits with 1."""
    lines: list[str] = []
    where = {} if {"platform", "fabric"} & options.keys() else {"platform": griffon()}
    request = Request.of(
        ranks=ranks,
        program=str(program),
        arguments=tuple(arguments),
        offload="off",
        **where,
        **options,
    )
    record = launch.run(launch.prepare(request), lines.append)
    if record.outcome.kind not in ("completed", "exit"):
        raise WeftError(f"{OPTION}: paper-001: {record.outcome.message}")
    return lines, record


def plain_numbers(axis: Axis) -> None:
    """Label a logarithmic axis with plain numbers instead of powers of ten."""
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def numbers(lines: Sequence[str]) -> list[tuple[float, ...]]:
    """Return the lines that consist of numbers, sorted by value."""
    found = []
    for line in lines:
        with suppress(ValueError):
            found.append(tuple(map(float, line.split())))
    return sorted(found)
