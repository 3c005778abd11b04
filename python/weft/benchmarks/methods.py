# SPDX-License-Identifier: LGPL-2.1-only
"""Timing methods of collective benchmarks, and detection of the benchmark behind a table.

Ranks leave a barrier at different times, and a rank that is ahead in one of several back-to-back
calls stays ahead in the next. Each effect changes the mean time of a call by up to a microsecond,
so a measured call is simulated with its benchmark's loop.

- `osu`: the OSU micro-benchmarks time each call, with a barrier after it (osu_allreduce.c, 4.2 to
  7.5).
- `imb`: the Intel MPI Benchmarks do the same since version 2019 (IMB_allreduce.c, option `-sync`);
  earlier versions timed all calls back to back.
- `ucc_perftest`: as OSU (ucc_pt_benchmark.cc, run_single_coll_test).
- `nccl-tests`: back-to-back calls (common.cu, BenchTime).
- `loop`: a program's own loop of back-to-back calls.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from weft.base.errors import WeftError, named, suggestion

_SYNCHRONISED_IMB = 2019  # versions before 2017 are numbers such as 4.1
_DECLARED = re.compile(r"#\s*benchmark:\s*(\S+)(?:\s+v?(\d[\w.]*))?", re.IGNORECASE)
# Names of benchmarks in comments.
_CALLED = {
    "osu": re.compile(r"\bOSU\b|\bosu_[a-z]+\b(?!\w*\.csv)"),
    "imb": re.compile(r"\bIMB\b|Intel\s*\(R\)\s*MPI Benchmarks?"),
    "ucc_perftest": re.compile(r"\bucc_perftest\b|\bUCC'?s? perftest\b"),
    "nccl-tests": re.compile(r"\bnccl-tests\b"),
}
_VERSION = re.compile(r"(?:IMB|Benchmarks?(?: Suite)?)[\s-]*[Vv]?(?:ersion\s*)?(\d+)")


@dataclass(frozen=True)
class Method:
    """Benchmark of collectives."""

    name: str
    back_to_back: bool
    """True if calls follow each other; False if a barrier separates them."""


METHODS = {
    "osu": Method("osu", False),
    "imb": Method("imb", False),
    "ucc_perftest": Method("ucc_perftest", False),
    "nccl-tests": Method("nccl-tests", True),
    "loop": Method("loop", True),
}


def method_named(name: str, version: str = "", place: str = named("benchmark")) -> Method:
    """Return the benchmark of this name and version; errors name the position `place`."""
    found = METHODS.get(name.lower())
    if found is None:
        raise WeftError(f"{place}: found '{name}'; {suggestion(name, list(METHODS))}")
    year = re.match(r"\d+", version)
    if found.name == "imb" and year and int(year[0]) < _SYNCHRONISED_IMB:
        return Method("imb", True)
    return found


def method_in(path: Path, lines: Sequence[str], given: str | None = None) -> Method:
    """Return the benchmark that produced a table, from its lines or as `given`.

    A line `# benchmark: NAME [VERSION]` names it; otherwise it is the only benchmark that comments
    mention.
    """
    said: dict[Method, int] = {}
    for number, line in enumerate(lines, 1):
        if line.startswith("#") and (match := _DECLARED.match(line)):
            place = f"{path}: line {number}"
            said.setdefault(method_named(match[1], match[2] or "", place), number)
    if not said:
        said = _called(lines)
    if len(said) > 1:
        (first, one), (second, other), *_ = said.items()
        raise WeftError(
            f"{path}: line {max(one, other)}: found the benchmarks {first.name} (line {one}) and"
            f" {second.name} (line {other}), which time calls differently; put each into its own"
            " file, or write a line `# benchmark: NAME`"
        )
    if given is not None:
        chosen = method_named(given)
        if said and chosen.name != (stated := next(iter(said))).name:
            raise WeftError(
                f"{named('benchmark')}: found {given}, and {path} is of {stated.name}; leave"
                f" {named('benchmark')} out"
            )
        return chosen
    if not said:
        raise WeftError(
            f"{path}: names no benchmark, and they time collectives differently; give"
            f" {named('benchmark')}, or write a line `# benchmark: NAME`, NAME being one of"
            f" {', '.join(METHODS)}"
        )
    return next(iter(said))


def _called(lines: Sequence[str]) -> dict[Method, int]:
    found: dict[Method, int] = {}
    for number, line in enumerate(lines, 1):
        if not line.startswith("#"):
            continue
        for name, pattern in _CALLED.items():
            if pattern.search(line):
                version = _VERSION.search(line)
                found.setdefault(method_named(name, version[1] if version else ""), number)
    return found
