# SPDX-License-Identifier: LGPL-2.1-only
"""Whether `--offload auto` chooses well: its choices beside the simulated times of both ways.

Six collectives, sizes from 4 B to 1 MiB, on three fabrics with two switches that do all of them.
The hosts' time is taken twice: with the algorithm that a run takes by default, and with the best of
well-known ones. Times are simulated and the same on
every machine.
"""

import csv
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from allreduce import checked
from rich.table import Table

from weft.base import paths
from weft.base.output import whole_file
from weft.runs import launch
from weft.runs.report import new_table
from weft.runs.request import Offload, Request
from weft.runs.toolchain import compile_c

SIZES = tuple(4**k for k in range(1, 11))

# Four algorithms of each collective.
_ALGORITHMS = {
    "allreduce": ("recursive_doubling", "ring", "rabenseifner", "nonoverlapping"),
    "reduce": ("binomial", "rabenseifner", "mpich_binomial", "linear"),
    "bcast": ("binomial", "scatter_allgather", "scatter_allgather_ring", "knomial"),
    "barrier": ("recursive_doubling", "bruck", "tree", "double_ring"),
    "allgather": ("recursive_doubling", "bruck", "ring", "neighbor"),
    "reduce_scatter": ("recursive_halving", "pairwise", "ring", "butterfly"),
}
_HOST_RUNS = 4

_ALL = """
[[switch.offload]]
collectives = ["all"]
datatypes = ["all"]
operations = ["all"]
"""


@dataclass(frozen=True)
class Place:
    """A shipped fabric, changed, and the ranks on it; its messages are the testbed's."""

    name: str
    shipped: str
    ranks: int
    ppn: int = 1
    changes: tuple[tuple[str, str], ...] = ()


PLACES = (
    Place("star of 4", "tofino-4", 4),
    Place("star of 4, 4 ranks per host", "tofino-4", 16, ppn=4),
    Place("star of 16", "tofino-16", 16),
    Place(
        "fat tree of 64",
        "fat-tree-1024",
        64,
        changes=(("[8, 8, 16]", "[8, 8]"), ("[1, 8, 8]", "[1, 8]")),
    ),
)
SWITCHES = ("tofino", "sharp")

Call = tuple[str, int]
"""Collective and bytes."""


@dataclass(frozen=True)
class Choice:
    """One call, both ways, and the way that was chosen."""

    switch: str
    fabric: str
    collective: str
    bytes: int
    stream_us: float
    default_us: float
    best_us: float
    offloaded: bool

    def regret(self, host_us: float) -> float:
        """Return by what part the chosen way takes longer than the better one."""
        chosen = self.stream_us if self.offloaded else host_us
        return chosen / min(self.stream_us, host_us) - 1


def measure(work: Path) -> list[Choice]:
    """Simulate all calls both ways and with `auto`."""
    program = work / "one_call"
    compile_c(Path(__file__).with_name("one_call.c"), program)
    return [
        choice
        for switch in SWITCHES
        for place in PLACES
        for choice in _choices(switch, place, _runner(program, _fabric(work, switch, place), place))
    ]


def _fabric(work: Path, switch: str, place: Place) -> Path:
    text = paths.installed("fabrics", f"{place.shipped}.toml").read_text(encoding="utf-8")
    for old, new in (*place.changes, ('preset = "tofino"', f'preset = "{switch}"')):
        text = text.replace(old, new)
    file = work / f"{switch}-{place.shipped}.toml"
    file.write_text(text + _ALL, encoding="utf-8")
    return file


Run = Callable[[Offload, str | None], Mapping[Call, float]]


def _runner(program: Path, fabric: Path, place: Place) -> Run:
    def run(offload: Offload, fallback: str | None) -> Mapping[Call, float]:
        request = Request.of(
            fabric=str(fabric),
            ranks=place.ranks,
            program=str(program),
            arguments=tuple(map(str, SIZES)),
            ppn=place.ppn,
            offload=offload,
            fallback=fallback,
            config=("smpi/wtime:0",),
            privatize=False,
        )
        lines: list[str] = []
        checked(launch.run(launch.prepare(request), lines.append))
        calls = (line.split() for line in lines)
        return {(name, int(size)): float(seconds) * 1e6 for name, size, seconds in calls}

    return run


def _choices(switch: str, place: Place, run: Run) -> Iterator[Choice]:
    stream, chosen, default = (run(mode, None) for mode in ("stream", "auto", "off"))
    hosts = [default, *(run("off", _algorithms(number)) for number in range(_HOST_RUNS))]
    for call, stream_us in stream.items():
        # A run has one time of each call, which is that of one way or the other.
        offloaded = abs(chosen[call] - stream_us) < abs(chosen[call] - default[call])
        best_us = min(host[call] for host in hosts)
        yield Choice(switch, place.name, *call, stream_us, default[call], best_us, offloaded)


def _algorithms(number: int) -> str:
    return ",".join(f"{collective}={names[number]}" for collective, names in _ALGORITHMS.items())


def table(choices: Sequence[Choice]) -> Table:
    """Return shares of right choices and regrets, by switch and fabric, and of all."""
    names = ("switch", "fabric", "calls", "hosts faster")
    told = ("right", "mean regret", "worst")
    shown = new_table(
        (*names, *(f"{name}{of}" for of in ("", ", best") for name in told)), names[:2]
    )
    for switch in SWITCHES:
        for place in PLACES:
            part = [one for one in choices if (one.switch, one.fabric) == (switch, place.name)]
            shown.add_row(switch, place.name, *_figures(part))
    shown.add_row("both", "all", *_figures(choices))
    return shown


def _figures(choices: Sequence[Choice]) -> Iterator[str]:
    yield str(len(choices))
    yield str(sum(one.best_us < one.stream_us for one in choices))
    for regrets in (
        [one.regret(one.default_us) for one in choices],
        [one.regret(one.best_us) for one in choices],
    ):
        yield f"{sum(regret == 0 for regret in regrets) / len(regrets):.1%}"
        yield f"{statistics.mean(regrets):.1%}"
        yield f"{max(regrets):.1%}"


def write(choices: Sequence[Choice], path: Path) -> None:
    """Write every call."""
    with whole_file("bench", path) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Choice.__annotations__)
        for one in choices:
            times = (f"{us:.4f}" for us in (one.stream_us, one.default_us, one.best_us))
            writer.writerow(
                (one.switch, one.fabric, one.collective, one.bytes, *times, one.offloaded)
            )
