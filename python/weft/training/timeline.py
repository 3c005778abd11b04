# SPDX-License-Identifier: LGPL-2.1-only
"""Timeline of an iteration for Perfetto (Chrome's trace event format).

A process for each listed rank, a track for each of its streams. Computation is a slice; what
communicates is one from its begin at the rank to its end, with the time for which the rank waited
for others as an argument.
"""

import json
from pathlib import Path

from weft import _core
from weft.base.errors import named
from weft.base.output import whole_file
from weft.training.iteration import Iteration

_MICROSECONDS = 1e6


def write_timeline(its: Iteration, target: Path, option: str = named("timeline")) -> None:
    """Write the operations of the listed ranks."""
    ranks = sorted({one["rank"] for one in its.listed})
    names = [
        {"ph": "M", "name": "process_name", "pid": rank, "args": {"name": f"rank {rank}"}}
        for rank in ranks
    ]
    with whole_file(option, target) as file:
        file.write('{"displayTimeUnit": "ms", "traceEvents": [\n')
        events = [*names, *map(_event, sorted(its.listed, key=lambda one: one["begin_s"]))]
        file.write(",\n".join(json.dumps(event) for event in events))
        file.write("\n]}\n")


def _event(work: "_core.TimedWork") -> dict[str, object]:
    begin, end = work["begin_s"], work["end_s"]
    return {
        "ph": "X",
        "pid": work["rank"],
        "tid": work["stream"],
        "name": work["name"] or work["kind"],
        "cat": work["kind"],
        "ts": begin * _MICROSECONDS,
        "dur": (end - begin) * _MICROSECONDS,
        "args": {
            "operation": work["operation"],
            "waited_us": (work["active_s"] - begin) * _MICROSECONDS,
        },
    }
