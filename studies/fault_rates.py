# SPDX-License-Identifier: LGPL-2.1-only
"""docs/faults.md: time of an Allreduce program, offloaded or not, against the rate of failures.

The campaign covers all rates, reactions and seeds. Times are simulated and the same on every
machine.
"""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import weft
from studies.study import DOCS, IMAGES, Study, Table, read_table, write_table
from weft.base import paths
from weft.base.plots import look
from weft.base.process import work_directory

FABRIC = "fat-tree-1024"
RANKS = 32
"""One rank per host: four leaf switches below eight spines."""
CALLS = 10
SEEDS = 9
SCALES = (10, 30, 100, 300)
"""Failure rates of each spine, in failures per second."""
OFF = "not offloaded"
POLICIES = ("resend", "rebuild", "hosts")
FAULTS = """\
[recovery]
detection = "50us"
convergence = "1ms"
timeout = "500us"
retries = 1000

[[fault]]
switch = "level2-00[0-7]"
mtbf = "1s"
repair = "5ms"
end = "2s"
"""
CAMPAIGN = """\
[campaign]
name = "fault-rates"
best = false

[programs.allreduce]
source = "allreduce_latency.c"
arguments = ["8388608", "{calls}"]
privatize = false

[[runs]]
program = "allreduce"
fabric = "{fabric}"
ranks = {ranks}
offload = ["stream", "off"]
faults = "faults.toml"
fault.scale = {scales}
fault.seed = {seeds}
recovery.collectives = {policies}
leave_out = [
  {{ offload = "off", "recovery.collectives" = {others} }},
  {{ "fault.scale" = 0, "fault.seed" = {repeated} }},
  {{ "fault.scale" = 0, "recovery.collectives" = {others} }},
]
"""
FILE = DOCS / "fault-rates.csv"


def measure() -> Table:
    """Run the campaign."""
    with work_directory() as work:
        shutil.copy(paths.example("allreduce_latency.c"), work)
        (work / "faults.toml").write_text(FAULTS)
        file = work / "fault-rates.toml"
        seeds = list(range(1, SEEDS + 1))
        file.write_text(
            CAMPAIGN.format(
                calls=CALLS,
                fabric=FABRIC,
                ranks=RANKS,
                scales=[0, *SCALES],
                seeds=seeds,
                repeated=seeds[1:],
                policies=_listed(POLICIES),
                others=_listed(POLICIES[1:]),
            )
        )
        campaign = weft.Campaign(file)
        campaign.run()
        rows = campaign.frame()
    return [_row(row) for row in rows.to_dicts()]


def _listed(words: Sequence[str]) -> str:
    return "[" + ", ".join(f'"{word}"' for word in words) + "]"


def _row(row: Mapping[str, Any]) -> dict[str, str]:
    assert row["state"] == "done", row["message"]
    return {
        "policy": OFF if row["offload"] == "off" else row["recovery.collectives"],
        "failures_per_s": str(row["fault.scale"]),
        "seed": str(row["fault.seed"]),
        "time_us": f"{row['simulated_time_s'] * 1e6:.6g}",
        "events": str(row["fault_events"]),
        "hit": str(row["calls_hit"]),
        "cut": str(row["messages_cut"]),
    }


def _times() -> dict[str, dict[int, list[float]]]:
    """Return the times in ms by policy and rate; rate 0 is a run without faults."""
    found: dict[str, dict[int, list[float]]] = {name: {} for name in (*POLICIES, OFF)}
    for row in read_table(FILE):
        names = [row["policy"]]
        if row["failures_per_s"] == "0" and row["policy"] != OFF:
            names = list(POLICIES)
        for name in names:
            of = found[name].setdefault(int(row["failures_per_s"]), [])
            of.append(float(row["time_us"]) / 1000)
    return found


def _figures() -> dict[Any, Figure]:
    figure = Figure(figsize=(7.5, 3.8), layout="constrained")
    axes = figure.subplots()
    for number, (name, times) in enumerate(_times().items()):
        style = look(number)
        middle = [float(np.median(times[rate])) for rate in SCALES]
        low, high = (
            [float(np.quantile(times[rate], part)) for rate in SCALES] for part in (0.05, 0.95)
        )
        (line,) = axes.plot(SCALES, middle, label=name, **style)
        axes.fill_between(SCALES, low, high, alpha=0.15, color=line.get_color(), linewidth=0)
        axes.axhline(times[0][0], color=line.get_color(), linewidth=0.5)
    axes.set_xscale("log")
    axes.set_xticks(SCALES, [f"{rate}" for rate in SCALES])
    axes.set_xlabel("failures of each spine per second")
    axes.set_ylabel("time of the program, ms")
    axes.set_ylim(bottom=0)
    axes.minorticks_off()
    figure.legend(frameon=False, fontsize=8, loc="outside right upper")
    return {IMAGES / "fault-rates.png": figure}


def _table() -> Iterator[str]:
    found = _times()
    yield (
        "| failures of each spine per second | "
        + " | ".join(f"{name}, ms" for name in found)
        + " |"
    )
    yield "|---:|" + "---:|" * len(found)
    for rate in (0, *SCALES):
        yield f"| {rate} | " + " | ".join(_cell(times[rate]) for times in found.values()) + " |"


def _cell(times: Sequence[float]) -> str:
    if len(set(times)) == 1:
        return f"{times[0]:.0f}"
    low, middle, high = (np.quantile(times, part) for part in (0.05, 0.5, 0.95))
    return f"{middle:.0f} ({low:.0f} to {high:.0f})"


STUDY = Study(
    "fault-rates",
    "time of an Allreduce program against the rate of failures of spines",
    measure=lambda: write_table(FILE, measure()),
    figures=_figures,
    page=DOCS / "faults.md",
    texts=lambda: {"table: fault rates": "\n".join(_table()) + "\n"},
)
