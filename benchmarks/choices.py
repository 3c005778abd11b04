# SPDX-License-Identifier: LGPL-2.1-only
"""Choices of `--offload auto`, compared with the simulated times of both alternatives.

The cases are six collectives, sizes from 4 B to 1 MiB, and 2 to 64 ranks (powers of two and
others), on six fabrics with two switches that support all of the collectives. A call is simulated
alone and in a sequence of ten, each until its last rank has left. The time on the hosts is measured
twice: with the default algorithms of a run, and with the best of several well-known algorithms.
Times are simulated, and therefore the same on every machine.
"""

import csv
import re
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from allreduce import checked
from rich.table import Table

from weft.base import paths
from weft.base.output import whole_file
from weft.base.tables import new_table
from weft.runs import launch
from weft.runs.request import Request
from weft.runs.toolchain import compile_c

SIZES = tuple(4**k for k in range(1, 11))

# Four algorithms per collective.
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
    """Shipped fabric with changes, and the numbers of ranks to simulate on it."""

    name: str
    shipped: str
    ranks: tuple[int, ...]
    ppn: int = 1
    changes: tuple[tuple[str, str], ...] = ()


PLACES = (
    Place("hdr100-8", "hdr100-8", (2, 3, 5, 6, 7, 8)),
    Place("star-8", "star-8", (3, 5, 6, 7, 8)),
    Place("star of 4", "tofino-4", (3, 4)),
    Place("star of 4, 4 ranks per host", "tofino-4", (12, 16), ppn=4),
    Place("star of 16", "tofino-16", (3, 5, 7, 11, 12, 16)),
    Place(
        "fat tree of 64",
        "fat-tree-1024",
        (12, 36, 48, 64),
        changes=(("[8, 8, 16]", "[8, 8]"), ("[1, 8, 8]", "[1, 8]")),
    ),
)
SWITCHES = ("tofino", "sharp")

Call = tuple[str, int]
"""Collective and size in bytes."""


WAYS = ("stream", "auto", "hosts", "best")
"""`hosts` uses the default algorithms; `best` is the fastest of the default and four other
algorithms.
"""
ALLOWED = 0.02
"""Tolerance: a correct choice may be slower than the better alternative by this fraction."""


@dataclass(frozen=True)
class Times:
    """Simulated times of a call; each ends when the last rank leaves."""

    single_us: float
    row_us: float
    """Time per call in a sequence of ten."""


@dataclass(frozen=True)
class Choice:
    """Times of a call with each alternative and with `auto`."""

    switch: str
    fabric: str
    ranks: int
    collective: str
    bytes: int
    times: Mapping[str, Times]
    """Times by the names in WAYS."""

    def us(self, way: str, measure: str) -> float:
        """Return a field of Times for an entry of WAYS."""
        value: float = getattr(self.times[way], measure)
        return value

    def regret(self, measure: str, hosts: str = "hosts") -> float:
        """Return the fraction by which `auto` takes longer than the better alternative."""
        better = min(self.us("stream", measure), self.us(hosts, measure))
        return max(0.0, self.us("auto", measure) / better - 1)


def measure(work: Path) -> list[Choice]:
    """Simulate all calls with both alternatives and with `auto`."""
    program = work / "one_call"
    compile_c(Path(__file__).with_name("one_call.c"), program)
    return [
        choice
        for switch in SWITCHES
        for place in PLACES
        for ranks in place.ranks
        for choice in _choices(
            switch, place, ranks, _runner(program, _fabric(work, switch, place), place, ranks)
        )
    ]


def _fabric(work: Path, switch: str, place: Place) -> Path:
    text = paths.installed("fabrics", f"{place.shipped}.toml").read_text(encoding="utf-8")
    for old, new in place.changes:
        text = text.replace(old, new)
    text = re.sub(r'(\[switch\]\npreset = )"[^"]*"', rf'\1"{switch}"', text)
    file = work / f"{switch}-{place.shipped}.toml"
    file.write_text(text + _ALL, encoding="utf-8")
    return file


Run = Callable[[str, str | None], Mapping[Call, Times]]


def _runner(program: Path, fabric: Path, place: Place, ranks: int) -> Run:
    def run(offload: str, fallback: str | None) -> Mapping[Call, Times]:
        request = Request.of(
            fabric=str(fabric),
            ranks=ranks,
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
        return {
            (name, int(size)): Times(*(float(seconds) * 1e6 for seconds in times))
            for name, size, *times in calls
        }

    return run


def _choices(switch: str, place: Place, ranks: int, run: Run) -> Iterator[Choice]:
    stream, chosen, default = (run(mode, None) for mode in ("stream", "auto", "off"))
    hosts = [default, *(run("off", _algorithms(number)) for number in range(_HOST_RUNS))]
    for call in stream:
        best = Times(
            min(host[call].single_us for host in hosts), min(host[call].row_us for host in hosts)
        )
        times = dict(zip(WAYS, (stream[call], chosen[call], default[call], best), strict=True))
        yield Choice(switch, place.name, ranks, *call, times)


def _algorithms(number: int) -> str:
    return ",".join(f"{collective}={names[number]}" for collective, names in _ALGORITHMS.items())


def table(choices: Sequence[Choice]) -> Table:
    """Return the fraction of correct choices and the regrets, by switch and fabric and in total."""
    names = ("switch", "fabric", "ranks", "calls", "hosts faster")
    told = ("right", "mean regret", "worst")
    of = (", single", ", row", ", best, row")
    shown = new_table((*names, *(f"{name}{which}" for which in of for name in told)), names[:3])
    for switch in SWITCHES:
        for place in PLACES:
            part = [one for one in choices if (one.switch, one.fabric) == (switch, place.name)]
            shown.add_row(switch, place.name, ", ".join(map(str, place.ranks)), *_figures(part))
    shown.add_row("both", "all", "", *_figures(choices))
    return shown


def _figures(choices: Sequence[Choice]) -> Iterator[str]:
    yield str(len(choices))
    yield str(sum(one.us("hosts", "row_us") < one.us("stream", "row_us") for one in choices))
    for regrets in (
        [one.regret("single_us") for one in choices],
        [one.regret("row_us") for one in choices],
        [one.regret("row_us", "best") for one in choices],
    ):
        yield f"{sum(regret <= ALLOWED for regret in regrets) / len(regrets):.1%}"
        yield f"{statistics.mean(regrets):.1%}"
        yield f"{max(regrets):.1%}"


def write(choices: Sequence[Choice], path: Path) -> None:
    """Write a row for every call."""
    with whole_file("bench", path) as file:
        writer = csv.writer(file, lineterminator="\n")
        measures = ("single_us", "row_us")
        which = [(way, measure) for way in WAYS for measure in measures]
        columns = [f"{way}_{measure}" for way, measure in which]
        writer.writerow(("switch", "fabric", "ranks", "collective", "bytes", *columns))
        for one in choices:
            times = (f"{one.us(way, measure):.4f}" for way, measure in which)
            writer.writerow((one.switch, one.fabric, one.ranks, one.collective, one.bytes, *times))
