# SPDX-License-Identifier: LGPL-2.1-only
"""The benchmarks run, and their page matches the measurements."""

import importlib
import json
from pathlib import Path

import pytest

from studies import performance
from studies.study import ROOT, read_table

REPORT = {
    "cases": [
        {
            "benchmark": name,
            "mode": "stream",
            "ranks": ranks,
            "ppn": 64,
            "peak_memory_MiB": memory,
            "rounds_us": rounds,
        }
        for name, ranks, memory, rounds in (
            ("allreduce, 1 KiB", 4096, 100.0, [1.0, 3.0, 2.0]),
            ("allreduce, 16 KiB", 4096, 200.0, [4.0, 8.0, 4.0]),
            ("bcast, 16 KiB", 4096, 100.0, [2.0, 2.0, 3.0]),
            ("allreduce, 1 KiB, all-collectives", 4096, 100.0, [0.5, 1.0, 0.5]),
            ("iallreduce, 1 KiB, all-collectives", 4096, 150.0, [0.75, 2.0, 0.5]),
            ("barrier, 0 B, tofino-64x256", 16384, 50.0, [100.0]),
            ("a route", 4096, 80.0, [0.5]),
        )
    ],
    "standards": [
        {"what": "a route", "figure": 0.5, "limit": 2, "unit": " us", "at_most": True, "met": True},
        {"what": "a / b", "figure": 3.0, "limit": 4, "unit": "", "at_most": False, "met": False},
    ],
}


def test_the_page_says_what_was_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(performance, "CASES", tmp_path / "cases.csv")
    monkeypatch.setattr(performance, "STANDARDS", tmp_path / "standards.csv")
    measured = tmp_path / "bench.json"
    measured.write_text(json.dumps(REPORT))
    performance.take(measured)
    texts = performance.texts(read_table(performance.CASES), read_table(performance.STANDARDS))
    lines = {name: text.splitlines()[2:] for name, text in texts.items()}
    assert lines == {
        "table: standards": [
            "| a route | 0.5 us | at most 2 us | held |",
            "| a / b | 3 | at least 4 | **missed** |",
        ],
        "table: allreduce": [
            "| allreduce, 1 KiB | `stream` | 64 x 64 | 2 us | 1 us | 3 us | 100 MiB |"
        ],
        "table: side by side": [
            "| allreduce | 16.4 ms | 4 us | 1.00 | 1.00 | 1.00 | 200 MiB | 1.00 |",
            "| bcast | 8.2 ms | 2 us | 0.50 | 0.25 | 0.75 | 100 MiB | 0.50 |",
            "| allreduce, 1 KiB | 2.0 ms | 0.5 us | 1.00 | 1.00 | 1.00 | 100 MiB | 1.00 |",
            "| iallreduce, 1 KiB | 3.1 ms | 0.75 us | 1.50 | 1.00 | 2.00 | 150 MiB | 1.50 |",
        ],
        "table: very crowded": ["| barrier | 0 B | 1.64 s | 50 MiB |"],
        "table: other costs": [
            "| a route | `stream` | 64 x 64 | 0.5 us | 0.5 us | 0.5 us | 80 MiB |"
        ],
    }


def test_routes_between_hosts_are_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SimGrid creates only hosts with ranks, so the benchmark needs a rank on each host."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    large_fabrics = importlib.import_module("large_fabrics")
    case = large_fabrics.routes(tmp_path)[large_fabrics.ROUTE]
    assert case.run(case.few).outcome.kind == "completed"
