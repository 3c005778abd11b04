# SPDX-License-Identifier: LGPL-2.1-only
"""Cost of crowds: CPU time and memory by pattern, fabric, and number of messages in flight."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from studies.crowds.simulated import Crowd, compiled, run
from studies.study import DOCS, read_table, write_table

COSTS = DOCS / "crowd-costs.csv"
GROWTH = DOCS / "crowd-growth.csv"
CROWDS = (
    Crowd("fat tree", 256, ("messages", "random", "128", "100000", "1")),
    Crowd("fat tree", 512, ("messages", "random", "16", "100000", "1")),
    Crowd("fat tree", 512, ("messages", "random", "128", "8", "1")),
    Crowd("fat tree", 512, ("messages", "shifts", "128", "100000", "1")),
    Crowd("fat tree", 512, ("messages", "random", "128", "100000", "1")),
    Crowd("fat tree", 1024, ("alltoallv", "8", "9", "1")),
    Crowd("fat tree, 4:1", 512, ("messages", "random", "128", "100000", "1")),
    Crowd("fat tree, 4:1", 512, ("messages", "random", "128", "8", "1")),
    Crowd("dragonfly", 256, ("messages", "random", "256", "100000", "1")),
    Crowd("dragonfly", 256, ("messages", "random", "256", "8", "1")),
    Crowd("torus", 256, ("messages", "random", "256", "100000", "1")),
    Crowd("torus", 256, ("messages", "random", "256", "8", "1")),
)
BY_SMPI = 3
"""Number of crowds, from the first, also measured with SMPI's messages, which take minutes for the
rest.
"""
SIZES = {"100 kB": "100000", "8 B": "8"}
IN_FLIGHT = tuple(1 << power for power in range(10, 21))
_GROWING = 1024  # ranks


@dataclass(frozen=True)
class Cost:
    """Cost of a run without start-up and end."""

    fabric: str
    ranks: int
    words: str
    transport: str
    """`weft`, `smpi` (SMPI's messages), or `no contention`."""
    messages: int
    cpu_s: float
    peak_MiB: float  # noqa: N815 - as in other tables

    @property
    def message_us(self) -> float:
        """CPU time per message in microseconds."""
        return self.cpu_s / self.messages * 1e6


_OPTIONS: dict[str, dict[str, object]] = {
    "weft": {},
    "smpi": {"point_to_point": "smpi"},
    "no contention": {"contention": False},
}


def measure() -> None:
    """Measure all crowds with weft's and SMPI's messages, and the growth of the cost."""
    with compiled() as program:
        rows = [_cost(program, crowd, "weft") for crowd in CROWDS]
        rows += [_cost(program, crowd, "smpi") for crowd in CROWDS[:BY_SMPI]]
        write_table(COSTS, [asdict(row) for row in rows])
        write_table(GROWTH, [asdict(row) for row in _growth(program)])


def _growth(program: Path) -> Iterator[Cost]:
    for size in SIZES.values():
        for in_flight in IN_FLIGHT:
            words = ("messages", "shifts", str(in_flight // _GROWING), size, "1")
            for transport in ("weft", "no contention"):
                yield _cost(program, Crowd("fat tree", _GROWING, words), transport)


def _cost(program: Path, crowd: Crowd, transport: str) -> Cost:
    options = _OPTIONS[transport]
    empty = Crowd(crowd.fabric, crowd.ranks, ("messages", "shifts", "0", "8", "1"))
    start = run(program, empty, **options).record.cpu_time_s
    if crowd.words[0] == "alltoallv":
        options = {**options, "fallback": "alltoallv=basic_linear"}
        messages = crowd.ranks * (crowd.ranks - 1)
    else:
        messages = crowd.ranks * int(crowd.words[2])
    record = run(program, crowd, **options).record
    peak = record.peak_memory_bytes / 2**20
    cpu = record.cpu_time_s - start
    words = " ".join(crowd.words)
    return Cost(crowd.fabric, crowd.ranks, words, transport, messages, round(cpu, 3), round(peak))


def read(table: Path) -> list[Cost]:
    """Read one of the tables."""
    return [
        Cost(
            row["fabric"],
            int(row["ranks"]),
            row["words"],
            row["transport"],
            int(row["messages"]),
            float(row["cpu_s"]),
            float(row["peak_MiB"]),
        )
        for row in read_table(table)
    ]
