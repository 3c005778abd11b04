# SPDX-License-Identifier: LGPL-2.1-only
"""The clusters griffon and gdx, with and without contention, and runs on them."""

import re
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
"""Speed of griffon's hosts in the file, for which simulated computation takes as long as on this
machine.
"""
GDX_SWITCH = 36
"""Hosts of gdx on its first switch, which two cabinets share."""
LINKS = {"shared": "contention", "fatpipe": "no contention"}


def griffon() -> Path:
    """Return the platform file of SimGrid's source distribution."""
    return simgrid_file("examples/platforms/", "griffon.xml")


def gdx(folder: Path) -> Path:
    """Write only gdx to a folder: its zone of SimGrid's Grid'5000 description."""
    text = simgrid_file("examples/platforms/", "g5k.xml").read_text(encoding="utf-8")
    start = text.index('<zone id="AS_gdx"')
    depth = 0
    for tag in re.finditer(r"<(/?)zone\b", text[start:]):
        depth += -1 if tag[1] else 1
        if depth == 0:
            break
    zone = text[start : start + tag.start()] + "</zone>"
    head = '<?xml version="1.0"?>\n<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
    target = folder / "gdx.xml"
    target.write_text(f'{head}<platform version="4.1">\n{zone}\n</platform>\n', encoding="utf-8")
    return target


def compiled(source: Path, folder: Path) -> Path:
    """Compile a program."""
    target = folder / source.stem
    compile_c(source, target)
    return target


def run(
    program: Path, ranks: int, arguments: Sequence[str], **options: Any
) -> tuple[list[str], Record]:
    """Run a program on griffon or the platform in options; return its lines. DT exits with 1."""
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
