# SPDX-License-Identifier: LGPL-2.1-only
"""Persistent collectives: results equal the blocking forms' results (tests/smpi/persistent.c)."""

from pathlib import Path

import pytest

from tests.support import simulated
from tests.support.simulated import Run

ROUNDS = 10


@pytest.mark.parametrize("ranks", [1, 2, 7, 8])
@pytest.mark.parametrize("offload", ["stream", "message", "off"])
def test_results_are_those_of_blocking_calls(run: Run, ranks: int, offload: str) -> None:
    options = ("--offload", offload, "--messages", "weft" if ranks == 7 else "smpi")
    result = run("persistent.c", "5", str(ROUNDS), ranks=ranks, options=options)
    assert result.lines == ["right"] * ranks
    if ranks > 1:
        started = [
            row for row in result.rows(collective="iallreduce") if row["datatype"] == "MPI_INT"
        ]
        assert sum(row["calls"] for row in started) == ROUNDS
        assert {row["path"] for row in started} == {"fallback" if offload == "off" else offload}


def test_a_trace_replays_starts(run: Run, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    recorded = run("persistent.c", "1", "5", ranks=4, options=("--record", str(trace)))
    record = tmp_path / "replayed.json"
    replayed = simulated.weft(
        "replay", str(trace), "--fabric", "tofino-4", "--json", str(record), "--quiet"
    )
    assert replayed.status == 0, replayed.stderr
    again = simulated.read_record(record)
    assert again["simulated_time_s"] == pytest.approx(recorded.record["simulated_time_s"], rel=0.02)


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--offload", "off"),
        ("--offload", "off", "--fallback", "smpi:ompi"),
        ("--host-speed", "auto"),
    ],
)
def test_later_starts_are_planned(run: Run, options: tuple[str, ...]) -> None:
    """Later starts skip argument checks; results still follow the program's data."""
    result = run("planned.c", ranks=4, options=options)
    assert result.stdout.count("is right") == 4
