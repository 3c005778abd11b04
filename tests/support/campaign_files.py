# SPDX-License-Identifier: LGPL-2.1-only
"""Campaigns of the shipped Allreduce benchmark for tests: file heads, and commands."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.support import simulated
from tests.support.places import ROOT
from tests.support.simulated import Result

LATENCY = ROOT / "examples" / "allreduce_latency.c"
Write = Callable[[str], Path]
"""Writes a campaign file."""


def head(
    program: str = "latency",
    name: str = "small",
    source: Path | str = LATENCY,
    *,
    best: bool = False,
) -> str:
    """Return the head of a file: a program that makes two calls of a given size.

    `best` adds host runs with the fastest algorithms.
    """
    return f"""
[campaign]
name = "{name}"
best = {str(best).lower()}
[programs.{program}]
source = "{source}"
arguments = ["{{bytes:B}}", "2"]
privatize = false
"""


def written(folder: Path, text: str, name: str = "small") -> Path:
    """Write a campaign file into a folder."""
    file = folder / f"{name}.toml"
    file.write_text(text, encoding="utf-8")
    return file


def weft(*words: str, **more: Any) -> Result:
    """Run a command of `weft campaign`."""
    return simulated.weft("campaign", *words, **more)
