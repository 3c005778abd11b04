# SPDX-License-Identifier: LGPL-2.1-only
"""Times of NCCL collectives on H100 and H200: measured, and simulated with NCCL's schedules."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from statistics import mean

from studies.study import DOCS, ROOT, Study, Table, markdown, read_table, write_table
from weft import _core
from weft.base.measured import log_error
from weft.base.units import format_size
from weft.study.bench.nccl_tests import BUS

TIMES = DOCS / "nccl-times.csv"
LIBRARY = "nccl-2.29"
_BLOCKS = ("allgather", "reduce_scatter_block", "alltoall")
_CROSSED = {"allreduce": BUS["all_reduce"], "allgather": BUS["all_gather"]}
_CROSSED |= {"reduce_scatter_block": BUS["reduce_scatter"], "alltoall": BUS["alltoall"]}
MOST = 4 * 1024**3
LEAST = 32e6
"""Smallest size: 32 MiB in whole blocks; the latencies of most measured machines are unknown."""
POLARIS = "nccl-2.18"
LEFT_OUT = DOCS / "nccl-left-out.csv"
FACTS: dict[str, tuple[float, ...]] = {
    "ring_copies": (0, 0.5, 1, 1.5, 2),
    "nvls_stages": (0, 1, 2, 3, 4),
    "ring_slices": (1, 2, 4),
}
"""Fitted keys of [nccl], with the values tried."""
SHIPPED: tuple[float, ...] = (1, 2, 2)
FIT_MOST = 1024**3


@dataclass(frozen=True)
class Measured:
    """Table of data/, and the fabric that models its machine."""

    table: str
    title: str
    fabric: str
    most: float = math.inf
    """Largest size in bytes; larger sizes have the same errors, but take most of the time."""
    library: str = LIBRARY
    least: float = LEAST
    """Smallest size in bytes."""


TABLES = (
    Measured("nccl_h100_1x4", "H100, 1 node x 4 GPUs", "dgx-h100"),
    Measured("nccl_h100_1x8", "H100, 1 node x 8 GPUs", "dgx-h100"),
    Measured("nccl_h100_10x1", "H100, 10 nodes x 1 GPU", "h100-ndr-10", MOST),
    Measured("nccl_h100_10x2", "H100, 10 nodes x 2 GPUs", "h100-ndr-10x2", MOST),
    Measured("nccl_h200_nvls", "H200, 1 node x 4 to 8 GPUs", "dgx-h100"),
    Measured("nccl_polaris_2x4", "A100, 2 nodes x 4 GPUs (Polaris)", "polaris-8", MOST, POLARIS, 1),
    Measured("nccl_polaris_8x4", "A100, 8 nodes x 4 GPUs (Polaris)", "polaris-8", MOST, POLARIS, 1),
)


def call_of(collective: str, ranks: int, size: int) -> tuple[str, int, int, int, float]:
    """Return a call for `_core.predicted_times`, in bytes, with one rank per GPU."""
    return (collective, ranks, 1, size // ranks if collective in _BLOCKS else size, 1.0)


_ERRORS = ("fitted_error", "fitted_worst", "shipped_error")


def measured_us(row: dict[str, str]) -> float:
    """Return the measured time, computed from the bus bandwidth if the table contains that."""
    if "time_us" in row:
        return float(row["time_us"])
    ranks = int(row["ranks"])
    crossed = _CROSSED[row["collective"]] * (ranks - 1) / ranks
    return int(row["bytes"]) * crossed / float(row["busbw_GBps"]) / 1e3


def simulated(one: Measured, rows: Table, facts: Iterable[str] = ()) -> list[dict[str, object]]:
    """Simulate the rows of a table whose runs used the same NCCL variables.

    `facts` are fabric keys with other values.
    """
    found: list[dict[str, object]] = []
    for nvls in dict.fromkeys(row.get("nvls", "auto") for row in rows):
        some = [row for row in rows if row.get("nvls", "auto") == nvls]
        changes = [*facts, *(["nccl.NCCL_ALGO=^nvls"] if nvls == "off" else [])]
        fabric = _core.load_fabric(one.fabric, changes)
        calls = [call_of(r["collective"], int(r["ranks"]), int(r["bytes"])) for r in some]
        times = _core.predicted_times(fabric, one.library, calls)
        names = _core.selected_algorithms(fabric, one.library, calls)
        for row, time, name in zip(some, times, names, strict=True):
            found.append(
                {
                    "table": one.table,
                    "collective": row["collective"],
                    "ranks": row["ranks"],
                    "nvls": nvls,
                    "bytes": row["bytes"],
                    "measured_us": f"{measured_us(row):.6g}",
                    "simulated_us": f"{time * 1e6:.6g}",
                    "algorithm": name,
                }
            )
    return found


def measure() -> None:
    """Simulate all tables."""
    rows = []
    for one in TABLES:
        table = read_table(ROOT / "data" / f"{one.table}.csv")
        rows += simulated(one, [row for row in table if one.least <= int(row["bytes"]) <= one.most])
    write_table(TIMES, rows, "# studies/nccl.py: times of NCCL's collectives, simulated by weft\n")
    write_table(LEFT_OUT, list(left_out()), "# studies/nccl.py: facts fitted without one table\n")


def facts_of(values: Iterable[float]) -> list[str]:
    """Return the fabric keys for these values of FACTS."""
    return [f"nccl.{name}={value}" for name, value in zip(FACTS, values, strict=True)]


class FittedTable:
    """Errors of a table's rows by values of FACTS."""

    def __init__(self, one: Measured) -> None:
        """Read the rows used in the fit."""
        self.one = one
        self.rows = [
            row
            for row in read_table(ROOT / "data" / f"{one.table}.csv")
            if one.least <= int(row["bytes"]) <= FIT_MOST and row["collective"] != "alltoall"
        ]
        self._errors: dict[tuple[float, ...], list[tuple[bool, float]]] = {}

    def _simulated(self, values: tuple[float, ...]) -> list[tuple[bool, float]]:
        """Return, for each row, whether NVLS executes it, and its logarithmic error."""
        if values not in self._errors:
            self._errors[values] = [
                (
                    str(row["algorithm"]).startswith("nccl_nvls"),
                    abs(math.log(float(str(row["simulated_us"])) / float(str(row["measured_us"])))),
                )
                for row in simulated(self.one, self.rows, facts_of(values))
            ]
        return self._errors[values]

    def errors(self, values: tuple[float, ...]) -> list[float]:
        """Return the errors; NVLS depends only on `nvls_stages`, rings only on the other keys."""
        copies, stages, slices = values
        of_rings = self._simulated((copies, SHIPPED[1], slices))
        of_nvls = self._simulated((SHIPPED[0], stages, SHIPPED[2]))
        pairs = zip(of_rings, of_nvls, strict=True)
        return [nvls[1] if ring[0] else ring[1] for ring, nvls in pairs]


def left_out() -> Iterator[dict[str, object]]:
    """Fit the facts to all H100 and H200 tables except one, and simulate that one."""
    tables = [FittedTable(one) for one in TABLES if one.library == LIBRARY]
    for own in tables:
        others = [table for table in tables if table is not own]

        def error_of_others(values: tuple[float, ...], some: list[FittedTable] = others) -> float:
            return mean(mean(table.errors(values)) for table in some)

        best = min(product(*FACTS.values()), key=error_of_others)
        fitted, shipped = own.errors(best), own.errors(SHIPPED)
        yield {
            "table": own.one.table,
            **dict(zip(FACTS, best, strict=True)),
            "rows": len(fitted),
            "fitted_error": f"{math.expm1(mean(fitted)):.4f}",
            "fitted_worst": f"{math.expm1(max(fitted)):.4f}",
            "shipped_error": f"{math.expm1(mean(shipped)):.4f}",
        }


def error_of(rows: Iterable[dict[str, str]]) -> tuple[int, float, float]:
    """Return the number of rows, and their mean and largest logarithmic error."""
    pairs = [(float(row["simulated_us"]), float(row["measured_us"])) for row in rows]
    found = log_error(
        {at: one for at, (one, _) in enumerate(pairs)},
        {at: other for at, (_, other) in enumerate(pairs)},
    )
    return len(pairs), found.mean, found.worst


def texts() -> dict[str, str]:
    """Return the table of errors."""
    rows = read_table(TIMES)
    lines = []
    for one in TABLES:
        own = [row for row in rows if row["table"] == one.table]
        for collective in dict.fromkeys(row["collective"] for row in own):
            some = [row for row in own if row["collective"] == collective]
            number, mean, worst = error_of(some)
            names = ", ".join(dict.fromkeys(row["algorithm"] for row in some)).replace("nccl_", "")
            sizes = [int(row["bytes"]) for row in some]
            span = f"{format_size(min(sizes))} to {format_size(max(sizes))}"
            figures = (str(number), f"{100 * mean:.1f} %", f"{100 * worst:.1f} %")
            lines.append((one.title, collective, span, names.replace("_", " "), *figures))
        number, mean, worst = error_of(own)
        figures = (str(number), f"{100 * mean:.1f} %", f"{100 * worst:.1f} %")
        lines.append((f"**{one.title}**", "all", "", "", *figures))
    heads = ("measured", "collective", "bytes", "executed", "rows", "mean error", "worst")
    return {"table: nccl-accuracy": markdown(heads, lines, 4), "table: nccl-left-out": _left_out()}


def _left_out() -> str:
    """Return the table of machines left out."""
    titles = {one.table: one.title for one in TABLES}
    lines = [
        (
            titles[row["table"]],
            *(f"{float(row[name]):g}" for name in FACTS),
            row["rows"],
            *(f"{100 * float(row[name]):.1f} %" for name in _ERRORS),
        )
        for row in read_table(LEFT_OUT)
    ]
    heads = ("table left out", *(f"`{name}`" for name in FACTS), "rows")
    return markdown((*heads, "mean error", "worst", "with shipped facts"), lines, 1)


STUDY = Study(
    "nccl",
    "NCCL's collectives: measured and simulated",
    measure,
    page=DOCS / "nccl.md",
    texts=texts,
)
