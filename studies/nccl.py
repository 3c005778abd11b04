# SPDX-License-Identifier: LGPL-2.1-only
"""Times of NCCL's collectives on H100 and H200: measured, and simulated by NCCL's schedules."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from studies.study import DOCS, ROOT, Study, Table, markdown, read_table, write_table
from weft import _core
from weft.base.measured import log_error
from weft.base.units import format_size
from weft.study.bench.nccl_tests import BUS

TIMES = DOCS / "nccl-times.csv"
LIBRARY = "nccl-2.29"
_BLOCKS = ("allgather", "reduce_scatter_block")
_CROSSED = {"allreduce": BUS["all_reduce"], "allgather": BUS["all_gather"]}
_CROSSED["reduce_scatter_block"] = BUS["reduce_scatter"]
MOST = 4 * 1024**3
LEAST = 32e6
"""Smallest size: 32 MiB in whole blocks; latencies on the measured machines are not known."""


@dataclass(frozen=True)
class Measured:
    """Table of data/, and the fabric that stands for its machine."""

    table: str
    title: str
    fabric: str
    most: float = math.inf
    """Largest size in bytes; errors of larger ones are the same, and take most of the time."""


TABLES = (
    Measured("nccl_h100_1x4", "H100, 1 node x 4 GPUs", "dgx-h100"),
    Measured("nccl_h100_1x8", "H100, 1 node x 8 GPUs", "dgx-h100"),
    Measured("nccl_h100_10x1", "H100, 10 nodes x 1 GPU", "h100-ndr-10", MOST),
    Measured("nccl_h100_10x2", "H100, 10 nodes x 2 GPUs", "h100-ndr-10x2", MOST),
    Measured("nccl_h200_nvls", "H200, 1 node x 4 to 8 GPUs", "dgx-h100"),
)


def call_of(collective: str, ranks: int, size: int) -> tuple[str, int, int, int, float]:
    """Return a call of `_core.predicted_times`, in bytes; one rank a GPU."""
    return (collective, ranks, 1, size // ranks if collective in _BLOCKS else size, 1.0)


def measured_us(row: dict[str, str]) -> float:
    """Return the measured time; of a bus bandwidth, where a table has that."""
    if "time_us" in row:
        return float(row["time_us"])
    ranks = int(row["ranks"])
    crossed = _CROSSED[row["collective"]] * (ranks - 1) / ranks
    return int(row["bytes"]) * crossed / float(row["busbw_GBps"]) / 1e3


def simulated(one: Measured, rows: Table) -> list[dict[str, object]]:
    """Simulate the rows of a table whose runs had the same variables of NCCL."""
    found: list[dict[str, object]] = []
    for nvls in dict.fromkeys(row.get("nvls", "auto") for row in rows):
        some = [row for row in rows if row.get("nvls", "auto") == nvls]
        changes = ["nccl.NCCL_ALGO=^nvls"] if nvls == "off" else []
        fabric = _core.load_fabric(one.fabric, changes)
        calls = [call_of(r["collective"], int(r["ranks"]), int(r["bytes"])) for r in some]
        times = _core.predicted_times(fabric, LIBRARY, calls)
        names = _core.selected_algorithms(fabric, LIBRARY, calls)
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
        rows += simulated(one, [row for row in table if LEAST <= int(row["bytes"]) <= one.most])
    write_table(TIMES, rows, "# studies/nccl.py: times of NCCL's collectives, simulated by weft\n")


def error_of(rows: Iterable[dict[str, str]]) -> tuple[int, float, float]:
    """Return number of rows, mean and worst logarithmic error."""
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
    return {"table: nccl-accuracy": markdown(heads, lines, 4)}


STUDY = Study(
    "nccl",
    "NCCL's collectives: measured and simulated",
    measure,
    page=DOCS / "nccl.md",
    texts=texts,
)
