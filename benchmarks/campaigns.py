# SPDX-License-Identifier: LGPL-2.1-only
"""CPU time of campaigns without the simulator: per run, and with 10,000 results."""

import os
import sys
from pathlib import Path

import fabricated
import polars as pl
from allreduce import Standard

from weft.base import paths
from weft.base.errors import WeftError
from weft.base.process import ChildExit, Streams, run_child
from weft.campaign import campaign as api
from weft.campaign import table

_RUN_S = 0.2
"""CPU time of a run; a campaign may add 20 %."""
_CAMPAIGN = """
[campaign]
name = "bench"
[programs.allreduce]
source = "{source}"
arguments = ["{{bytes:B}}", "{calls}"]
privatize = false
[[runs]]
program = "allreduce"
fabric = "tofino-16"
ranks = 4
bytes = {{ from = "4B", to = "{largest}", plus = "4B" }}
switch.slots = {{ from = {slots}, to = 256, plus = 1 }}
"""


def standards(work: Path) -> list[Standard]:
    """Execute 200 runs, create 10,000 results, and measure the CPU time that the campaign adds."""
    added_s = _of_a_run(work)
    looked = _of_results(work)
    return [
        Standard("campaign, CPU time added to a run", 1e3 * added_s, 40, at_most=True, unit=" ms"),
        Standard("campaign, of runs of 0.2 s", 100 * added_s / _RUN_S, 20, at_most=True, unit=" %"),
        *(
            Standard(f"campaign {name}, 10,000 results", cpu_s, 5, at_most=True, unit=" s")
            for name, cpu_s in looked.items()
        ),
    ]


def _of_a_run(work: Path) -> float:
    """Return the CPU time that a campaign adds to the simulator's, per run, over 200 runs."""
    file = _write(work / "overhead.toml", calls=10, largest="4B", slots=57)
    api.prepare(file)  # compiles
    ended = weft("run", str(file))
    rows = table.frame(api.prepare(file))
    return (ended.cpu_time_s - float(rows["cpu_time_s"].sum())) / len(rows)


def _of_results(work: Path) -> dict[str, float]:
    """Return the CPU time of commands on a store of 10,000 results, one of them simulated."""
    file = _write(work / "results.toml", calls=10, largest="160B", slots=7)
    prepared = fabricated.fill(file)
    assert len(table.frame(prepared).filter(pl.col("state") == "done")) == 10_000
    commands = {"status": [], "export": ["-o", str(work / "results.csv")], "run": []}
    return {name: weft(name, str(file), *more).cpu_time_s for name, more in commands.items()}


def _write(file: Path, *, calls: int, largest: str, slots: int) -> Path:
    source = paths.example("allreduce_latency.c")
    text = _CAMPAIGN.format(source=source, calls=calls, largest=largest, slots=slots)
    file.write_text(text, encoding="utf-8")
    return file


def weft(*words: str) -> ChildExit:
    """Run a command of `weft campaign` to completion."""
    command = [str(Path(sys.executable).with_name("weft")), "campaign", *words]
    with open(os.devnull, "r+b") as nothing:
        ended = run_child(command, os.environ, streams=Streams(*[nothing.fileno()] * 3))
    if ended.returncode != 0:
        raise WeftError(f"bench: {' '.join(command)} ended with status {ended.returncode}")
    return ended
