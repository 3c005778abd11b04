# SPDX-License-Identifier: LGPL-2.1-only
"""Studies of campaigns with computed instead of simulated results, for tests of reports."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from weft.base.units import parse_size
from weft.campaign.file.axes import Point
from weft.campaign.file.columns import COLLECTIVE_COLUMNS, COLUMNS
from weft.campaign.file.file import read
from weft.report.data.commands import Command
from weft.report.data.study import Study, study

Row = Mapping[str, Any]
Result = Callable[[Point], Row]

PROGRAM = """
[campaign]
name = "small"
[programs.sum]
source = "sum.c"
arguments = ["{bytes:B}"]
"""
SMALL = (
    PROGRAM
    + """
[[runs]]
program = "sum"
fabric = "tofino-16"
ranks = [4, 16]
bytes = ["1KiB", "64KiB", "1MiB"]
offload = ["stream", "off"]
"""
)


def done(time_s: float, *, calls: int = 10, offloaded: int = 0, reason: str = "") -> Row:
    """Return the table row of a completed run with calls of one collective."""
    return {
        "state": "done",
        "outcome": "completed",
        "simulated_time_s": time_s,
        "collectives_s": time_s * 0.5,
        "collectives_wait_s": time_s * 0.125,
        "mpi_s": time_s * 0.75,
        "calls": calls,
        "offloaded_calls": offloaded,
        "busiest_link": "host-00.down",
        "busiest_link_utilisation": 0.25,
        "mean_link_utilisation": 0.125,
        "slots_used_max": offloaded,
        "reason": reason,
    }


def hosts_or_switches(point: Point) -> Row:
    """Return a switch that takes 4 us plus the cable latency, or slower hosts."""
    size, ranks = parse_size(str(point["bytes"])), int(point["ranks"])
    if point["offload"] == "off":
        return done(1e-6 * ranks + size * 2e-10, offloaded=0)
    return done(4e-6 + size * 4e-10, offloaded=10)


def made(folder: Path, text: str, result: Result) -> Study:
    """Return the study of a campaign file with this text and these results."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "campaign.toml"
    file.write_text(text, encoding="utf-8")
    campaign = read(file)
    points = list(campaign.points())
    keys = list(dict.fromkeys(key for point in points for key in point))
    found = [{"run": f"{k:032x}", **result(point)} for k, point in enumerate(points)]
    columns = {key: [text_of(point.get(key)) for point in points] for key in keys}
    rows = pl.DataFrame(columns | {name: [one.get(name) for one in found] for name in COLUMNS})
    commands = {one["run"]: Command("weft run", one["run"]) for one in found}
    return study(campaign, rows, calls_of(points, found), commands, keys)


def text_of(value: Any) -> str | None:
    return None if value is None else str(value)


def calls_of(points: Sequence[Point], found: Sequence[Row]) -> pl.DataFrame:
    """Return the table of collectives: each run's Allreduces, as many as its row states."""
    rows = [
        {
            "run": one["run"],
            "collective": "allreduce",
            "communicator_size": int(point["ranks"]),
            "datatype": "MPI_INT",
            "op": "MPI_SUM",
            "path": str(point.get("offload", "stream")) if one["offloaded_calls"] else "fallback",
            "reason": one["reason"],
            "algorithm": "" if one["offloaded_calls"] else "ring",
            "calls": one["calls"],
            "bytes": float(one["calls"] * parse_size(str(point.get("bytes", 8)))),
            "mean_time_s": one["collectives_s"] / one["calls"],
            "mean_wait_s": one["collectives_s"] / one["calls"] / 4,
            "max_time_s": one["collectives_s"] / one["calls"],
        }
        for point, one in zip(points, found, strict=True)
        if one["state"] == "done" and one["calls"]
    ]
    return pl.DataFrame(rows, schema=None if rows else dict.fromkeys(COLLECTIVE_COLUMNS, pl.String))
