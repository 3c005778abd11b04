# SPDX-License-Identifier: LGPL-2.1-only
"""Commands that reproduce a campaign's programs and runs individually, in its folder."""

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from os.path import relpath
from typing import Any

from weft.campaign.file.file import Campaign
from weft.campaign.file.iterations import fabric_changes, model_changes, slowdowns
from weft.campaign.file.programs import Program
from weft.campaign.pairs import text
from weft.runs.options import run_option
from weft.runs.request import Request, as_words


@dataclass(frozen=True)
class Command:
    """Command of a run, split into the program's arguments and the words before them.

    Many runs share either part.
    """

    head: str
    tail: str

    def __str__(self) -> str:
        """Return the complete command."""
        return f"{self.head} {self.tail}".rstrip()


def command(campaign: Campaign, point: Mapping[str, Any], request: Request) -> Command:
    """Return the command of a run, for the campaign's folder."""
    fabric = text(point.get("fabric", request.placement.fabric))
    words = ["weft", "run", *as_words(request.changed(fabric=fabric))]
    program = campaign.programs[text(point["program"])]
    if program.trains:
        return Command(shlex.join(_training_words(program, fabric, point)), "")
    if program.jobs is not None:
        ranks = words.index(run_option("ranks").option.flag)
        del words[ranks : ranks + 2]
        return Command(shlex.join([*words, "--jobs", str(program.jobs)]), "")
    return Command(
        shlex.join([*words, "--", _file(program)]), shlex.join(request.workload.arguments)
    )


def _training_words(program: Program, fabric: str, point: Mapping[str, Any]) -> Iterator[str]:
    """Yield the command of a training iteration."""
    if program.trace is not None:
        yield from ("weft", "replay", str(program.trace), "--fabric", fabric)
        yield from _reading_words(program)
    else:
        yield from ("weft", "train", program.model, "--fabric", fabric)
    for change in fabric_changes(point):
        yield from ("--set", change)
    for change in model_changes(point):
        yield from ("--with", change)
    if library := text(point.get("fallback")):
        given = ("--nccl", library.removeprefix("nccl-"))
        yield from given if program.trace is None else ("--fallback", library)
    for factor in slowdowns(point):
        yield from ("--slowdown", factor)
    for key in ("faults", "traffic", "noise", "noise_seed", "detail", "gpu", "replicate"):
        if value := text(point.get(key)):
            yield from (f"--{key.replace('_', '-')}", value)
    for key in ("execute_all", "ignore_memory"):
        if point.get(key):
            yield f"--{key.replace('_', '-')}"


def _reading_words(program: Program) -> Iterator[str]:
    """Yield the options of a trace reader."""
    for key, value in program.reading.items():
        said = ",".join(map(str, value)) if isinstance(value, list) else str(value)
        yield from (f"--{key.replace('_', '-')}", said)


def _file(program: Program) -> str:
    """Return the path of a program, which the command of `built` may create."""
    if program.path is not None:
        return str(program.path) if "/" in str(program.path) else f"./{program.path}"
    return f"./{program.name}"


_COMPILERS = {".c": "cc", **dict.fromkeys((".cpp", ".cc", ".cxx"), "cxx")}


def built(program: Program) -> str:
    """Return the command that builds a program in the campaign's folder, or its model's name.

    The result is empty if the program has neither.
    """
    if program.source is None:
        return program.build or program.model or str(program.trace or "")
    compiler = _COMPILERS.get(program.source.suffix, "f90")
    source = str(program.source)
    if program.source.is_absolute():
        source = relpath(source) if not relpath(source).startswith("..") else source
    words = ["weft", compiler, "-O2", *program.flags, source, "-o", f"./{program.name}", "-lm"]
    return shlex.join(words)
