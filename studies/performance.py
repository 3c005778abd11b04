# SPDX-License-Identifier: LGPL-2.1-only
"""Cost of the simulator: `make bench`, and most of docs/performance.md.

The programs in benchmarks/ measure; the study converts their results in build/bench to tables of
docs/.
"""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from studies.rounds import Spread, spread
from studies.study import DOCS, OPTION, ROOT, Study, Table, markdown, read_table, write_table
from weft.base.errors import WeftError

CASES, STANDARDS = DOCS / "bench.csv", DOCS / "bench-standards.csv"
_MEASURED = ROOT / "build" / "bench" / "bench.json"
_ALLREDUCE = "allreduce, 1 KiB"
# Suffixes of benchmarks that are compared with the first benchmark, and suffixes of their table
# rows.
_SIDE_BY_SIDE = {", 16 KiB": "", ", 1 KiB, all-collectives": ", 1 KiB"}
_VERY_CROWDED = "tofino-64x256"
Row = Mapping[str, str]


def write() -> None:
    """Run the benchmarks, and write their measurements into tables."""
    command = [sys.executable, str(ROOT / "benchmarks" / "run.py")]
    ended = subprocess.run(command, check=False)
    if ended.returncode != 0:
        raise WeftError(f"{OPTION}: the benchmarks ended with status {ended.returncode}")
    take(_MEASURED)


def take(measured: Path) -> None:
    """Write the tables from the benchmarks' results."""
    report = json.loads(measured.read_text(encoding="utf-8"))
    write_table(CASES, [_case(one) for one in report["cases"]])
    write_table(STANDARDS, report["standards"])


def _case(one: Mapping[str, Any]) -> dict[str, object]:
    names = ("benchmark", "mode", "ranks", "ppn", "peak_memory_MiB")
    rounds = " ".join(f"{value:.4f}" for value in one["rounds_us"])
    return {**{name: one[name] for name in names}, "rounds_us": rounds}


def _rounds(row: Row) -> list[float]:
    return [float(value) for value in row["rounds_us"].split()]


def _cost(row: Row) -> Spread:
    return spread(_rounds(row))


def _us(value: float) -> str:
    return f"{value:.3g} us" if value < 100 else f"{value:,.0f} us"


def _memory(row: Row) -> str:
    return f"{float(row['peak_memory_MiB']):,.0f} MiB"


def cases(rows: Sequence[Row]) -> str:
    """Return the cost per rank and call of each case."""
    heads = ("", "by", "ranks", "median", "least", "most", "peak memory")
    lines = [
        (row["benchmark"], f"`{row['mode']}`", _ranks(row), *map(_us, _cost(row)), _memory(row))
        for row in rows
    ]
    return markdown(heads, lines, left=2)


def _ranks(row: Row) -> str:
    ranks, of_host = int(row["ranks"]), int(row["ppn"])
    return f"{ranks // of_host:,} x {of_host}"


def side_by_side(rows: Table) -> str:
    """Return the cost of each in-network collective, with that of an equal-sized Allreduce."""
    heads = ("", "all ranks", "per rank", "ratio", "least", "most", "peak memory", "ratio")
    lines = []
    for ending, shown in _SIDE_BY_SIDE.items():
        found = [row for row in rows if row["benchmark"].endswith(ending)]
        lines += [
            (row["benchmark"].removesuffix(ending) + shown, *_beside(row, found[0]))
            for row in found
        ]
    return markdown(heads, lines)


def _beside(row: Row, first: Row) -> tuple[str, ...]:
    median = _cost(row).median
    ratios = [one / other for one, other in zip(_rounds(row), _rounds(first), strict=True)]
    memory = float(row["peak_memory_MiB"]) / float(first["peak_memory_MiB"])
    return (
        f"{median * int(row['ranks']) / 1e3:.1f} ms",
        _us(median),
        *(f"{ratio:.2f}" for ratio in spread(ratios)),
        _memory(row),
        f"{memory:.2f}",
    )


def very_crowded(rows: Table) -> str:
    """Return the cost of collectives with 256 ranks per host."""
    heads = ("collective", "vector per rank", "CPU per call", "peak memory")
    return markdown(
        heads,
        [
            (*row["benchmark"].split(", ")[:2], _in_all(row), _memory(row))
            for row in rows
            if row["benchmark"].endswith(_VERY_CROWDED)
        ],
        left=2,
    )


def _in_all(row: Row) -> str:
    return f"{_cost(row).median * int(row['ranks']) / 1e6:.2f} s"


def standards(rows: Table) -> str:
    """Return all performance targets of weft, with their limits."""
    return markdown(("standard", "figure", "limit", ""), [_standard(row) for row in rows])


def _standard(row: Row) -> tuple[str, ...]:
    at_most = "at most" if row["at_most"] == "True" else "at least"
    limit = f"{at_most} {float(row['limit']):g}{row['unit']}"
    held = "held" if row["met"] == "True" else "**missed**"
    return row["what"], f"{float(row['figure']):.4g}{row['unit']}", limit, held


def texts(rows: Table, held: Table) -> dict[str, str]:
    """Return the texts of the page."""
    elsewhere = (*_SIDE_BY_SIDE, _VERY_CROWDED)
    each = [row for row in rows if not row["benchmark"].endswith(elsewhere)]
    allreduces = [row for row in each if row["benchmark"].startswith(_ALLREDUCE)]
    return {
        "table: standards": standards(held),
        "table: allreduce": cases(allreduces),
        "table: side by side": side_by_side(rows),
        "table: very crowded": very_crowded(rows),
        "table: other costs": cases([row for row in each if row not in allreduces]),
    }


STUDY = Study(
    name="performance",
    about="what the simulator costs: calls, messages, large fabrics, campaigns, pages",
    measure=write,
    page=DOCS / "performance.md",
    texts=lambda: texts(read_table(CASES), read_table(STANDARDS)),
)
