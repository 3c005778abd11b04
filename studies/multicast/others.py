# SPDX-License-Identifier: LGPL-2.1-only
"""The paper's figure 11 with background traffic: an Allgather on a random half of the testbed.

The other half sends permutation traffic. Each draw chooses a new placement and a new permutation.
"""

from collections.abc import Iterator
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import weft
from studies.multicast import MULTICAST, TESTBED, TESTBED_HOSTS, make_study
from studies.resume import kept_rows
from studies.study import Table
from weft.base import paths
from weft.base.plots import look
from weft.base.process import work_directory
from weft.runs.toolchain import compile_c

RANKS = TESTBED_HOSTS // 2
SIZE = 64 << 10
"""Bytes per rank."""
CALLS = 5
LOADS = (0, 30, 60, 100)
DRAWS = range(1, 21)
RING = "ring"
MODES = (MULTICAST, RING)


def measure() -> Table:
    """Run all modes, loads and draws."""
    return kept_rows(
        "multicast",
        [
            (f"others-{mode}-{load}-{draw}", partial(_run, mode, load, draw))
            for mode, load, draw in product(MODES, LOADS, DRAWS)
        ],
    )


def _run(mode: str, load: int, draw: int) -> Table:
    with work_directory() as work:
        program = work / "collective_times"
        compile_c(paths.example("collective_times.c"), program)
        job = {
            "name": "allgather",
            "program": str(program),
            "arguments": ["allgather", "mpi", str(SIZE), str(CALLS), "unchecked"],
            "ranks": RANKS,
            "placement": "random",
            "seed": draw,
            "offload": mode if mode == MULTICAST else "off",
            **({} if mode == MULTICAST else {"fallback": f"allgather={mode}"}),
        }
        record = weft.run_jobs(
            [job],
            fabric=TESTBED,
            traffic=_traffic(work, load, draw) if load else None,
            privatize=False,
            cfg={"smpi/auto-shared-malloc-thresh": 1, "smpi/shared-malloc": "local"},
        )
    record.check()
    (row,) = (row for row in record.collectives if row.collective == "allgather")
    ended = MULTICAST if mode == MULTICAST else RING
    assert row.way == ended, f"asked for {ended}, found {row.way}"
    times = [float(line.split()[2]) for line in record.output.splitlines()]
    received = SIZE * (RANKS - 1) / (float(np.mean(times)) * 1e-6)
    return [
        {
            "mode": mode,
            "load": str(load),
            "draw": str(draw),
            "receive_Bps": f"{received:.6g}",
        }
    ]


def _traffic(work: Path, load: int, draw: int) -> str:
    path = work / "traffic.toml"
    path.write_text(
        f'[[traffic]]\npattern = "permutation"\nload = "{load}%"\nseed = {draw}\nbytes = "256KiB"\n'
    )
    return str(path)


def rates(rows: Table, mode: str, load: int) -> list[float]:
    """Return the throughput in each draw."""
    wanted = (mode, str(load))
    return [float(row["receive_Bps"]) for row in rows if (row["mode"], row["load"]) == wanted]


def spread(values: list[float]) -> float:
    """Return the difference between maximum and minimum, relative to the median."""
    return (max(values) - min(values)) / float(np.median(values))


def draw_rates(rows: Table, figure: Figure) -> None:
    """Draw a point for each draw."""
    axes = figure.subplots()
    for number, mode in enumerate(MODES):
        style = look(number)
        for load in LOADS:
            values = [rate / 2**30 for rate in rates(rows, mode, load)]
            places = np.linspace(load - 4, load + 4, len(values)) + 10 * (number - 0.5)
            label = mode if load == LOADS[0] else None
            axes.plot(places, values, label=label, **{**style, "linestyle": "none"})
    axes.set_xticks(LOADS, [f"{load} %" for load in LOADS])
    axes.set_ylim(bottom=0)
    axes.set_xlabel("load of the permutations of the other half of the hosts; a point per draw")
    axes.set_ylabel("received by a process, GiB/s")
    axes.set_title(f"Allgather of {RANKS} ranks on random hosts", loc="left")
    axes.legend(frameon=False)


def table(rows: Table) -> Iterator[str]:
    """Yield medians and spreads."""
    yield "| load | mode | median, GiB/s | least to most, GiB/s | spread over draws |"
    yield "|---:|---|---:|---:|---:|"
    for load, mode in product(LOADS, MODES):
        values = [rate / 2**30 for rate in rates(rows, mode, load)]
        yield (
            f"| {load} % | {mode} | {np.median(values):.2f} | {min(values):.2f} to "
            f"{max(values):.2f} | {spread(values):.1%} |"
        )


STUDY = make_study("others", "an Allgather beside others' traffic", measure, draw_rates, table)
