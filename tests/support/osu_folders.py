# SPDX-License-Identifier: LGPL-2.1-only
"""Folders of OSU outputs, in the benchmarks' own format, from tables of measurements."""

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path

_TITLES = {
    "latency": "Latency",
    "bw": "Bandwidth",
    "allgather": "Allgather Latency",
    "allreduce": "Allreduce Latency",
    "alltoall": "All-to-All Personalized Exchange Latency",
    "barrier": "Barrier Latency",
    "bcast": "Broadcast Latency",
    "gather": "Gather Latency",
    "reduce": "Reduce Latency",
    "reduce_scatter_block": "Reduce_scatter_block Latency",
    "scatter": "Scatter Latency",
}
_COLUMNS = {
    "latency": "# Size          Latency (us)",
    "bw": "# Size      Bandwidth (MB/s)",
    "barrier": "# Avg Latency(us)",
}


def osu_text(benchmark: str, rows: Iterable[tuple[int, object]], version: str = "5.6.2") -> str:
    """Return an output with sizes and values."""
    columns = _COLUMNS.get(benchmark, "# Size       Avg Latency(us)")
    lines = [f"\n# OSU MPI {_TITLES[benchmark]} Test v{version}", columns]
    sized = benchmark != "barrier"
    lines += [f"{size:<10}{value:>18}" if sized else f"{value:>18}" for size, value in rows]
    return "\n".join(lines) + "\n"


def write_osu(
    folder: Path, series: Mapping[tuple[str, int, int], Iterable[tuple[int, object]]]
) -> None:
    """Write a file per benchmark, ranks and ranks per host, in folders named accordingly."""
    for number, ((benchmark, ranks, ppn), rows) in enumerate(series.items()):
        path = folder / f"{ranks // ppn}x{ppn}" / f"osu_{benchmark}.{number}.out"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(osu_text(benchmark, rows))


def write_cluster(folder: Path, data: Path, network: str) -> None:
    """Write the outputs behind the tables of one network of the alaska cluster."""
    series: dict[tuple[str, int, int, str], list[tuple[int, object]]] = {}
    for row in _rows(data / f"alaska_{network}_openmpi4.csv"):
        key = (row["collective"], int(row["ranks"]), int(row["ppn"]), row["run"])
        series.setdefault(key, []).append((int(row["bytes"]), row["time_us"]))
    series["latency", 2, 1, "1"] = [
        (int(row["bytes"]), row["latency_us"]) for row in _rows(data / f"p2p_alaska_{network}.csv")
    ]
    series["bw", 2, 1, "1"] = [
        (int(row["bytes"]), f"{1000 * float(row['stream_GBps']):.2f}")
        for row in _rows(data / f"bw_alaska_{network}.csv")
    ]
    for (benchmark, ranks, ppn, run), rows in series.items():
        write_osu(folder / f"run-{run}", {(benchmark, ranks, ppn): rows})


def _rows(table: Path) -> list[dict[str, str]]:
    lines = [line for line in table.read_text().splitlines() if not line.startswith("#")]
    return [*csv.DictReader(lines)]
