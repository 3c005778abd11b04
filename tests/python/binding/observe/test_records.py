# SPDX-License-Identifier: LGPL-2.1-only
"""Records and timelines of runs: reproducible, and consistent with each other."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support import compiled, simulated
from tests.support.simulated import Program, Run
from weft.runs import launch
from weft.runs.request import Request

# Fields that depend on the machine and the moment.
NOT_SIMULATED = {"wall_time_s", "cpu_time_s", "peak_memory_bytes"}

Event = dict[str, Any]


# ---- Determinism ----


@pytest.mark.parametrize("offload", ["stream", "message"])
def test_two_runs_leave_the_same_record(program: Program, tmp_path: Path, offload: str) -> None:
    texts = []
    for number in range(2):
        directory = tmp_path / str(number)
        directory.mkdir()
        command = simulated.weft_command(
            program("reductions.c"),
            *("5", "30"),
            ranks=7,
            options=("--offload", offload, "--json", "record.json"),
        )
        result = simulated.run_command(command, cwd=directory)
        assert result.status == 0, result.stderr
        text = (directory / "record.json").read_text()
        lines = [line for line in text.splitlines() if line.split('"')[1:2] != []]
        assert {line.split('"')[1] for line in lines} >= NOT_SIMULATED
        texts.append([line for line in lines if line.split('"')[1] not in NOT_SIMULATED])
    assert len(texts[0]) > 100
    assert texts[0] == texts[1]


def test_the_record_says_what_was_run(run: Run, program: Program) -> None:
    record = run(
        "latency.c",
        *("1024,4096", "1", "5"),
        on="tofino-16",
        ranks=6,
        options=("--ppn", "2", "--fallback", "ring", "--cfg", "contexts/stack-size:1024"),
    ).record
    assert record["schema"] == "weft-run/1"
    assert record["program"] == str(program("latency.c"))
    assert record["arguments"] == ["1024,4096", "1", "5"]
    assert record["command"][:2] == ["weft", "run"]
    assert (record["ranks"], record["ppn"], record["hosts_used"]) == (6, 2, 3)
    assert record["fallback"] == "ring"
    assert record["config"] == ["smpi/wtime:0", "contexts/stack-size:1024"]
    assert record["fabric"]["name"] == "tofino-16"
    assert Path(record["fabric"]["file"]).is_file()
    assert record["outcome"] == {"kind": "completed", "message": ""}
    assert record["exit_status"] == 0


def test_links_carry_what_the_switch_adds_up(run: Run) -> None:
    record = run("latency.c", "1024", ranks=3).record
    bytes_on = {link["name"]: link["bytes"] for link in record["links"]}
    wire = 1024 + 4 * 82  # four packets with their overhead
    assert bytes_on == {f"host-{host}.{way}": wire for host in range(3) for way in ("up", "down")}
    for link in record["links"]:
        capacity = link["bandwidth_Bps"] * record["simulated_time_s"]
        assert link["utilisation"] == pytest.approx(link["bytes"] / capacity)


# ---- Timelines ----


def timeline(run: Run, path: Path, *program: str, **options: Any) -> tuple[list[Event], Any]:
    """Return the events and the record of a run."""
    more = options.pop("options", ())
    result = run(*program, options=(*more, "--trace", str(path)), **options)
    data = json.loads(path.read_text())
    return data["traceEvents"], result.record


def tracks(events: list[Event]) -> dict[tuple[int, int], str]:
    """Return the name of each track by process and thread."""
    return {
        (event["pid"], event["tid"]): event["args"]["name"]
        for event in events
        if event["ph"] == "M" and event["name"] == "thread_name"
    }


def on_track(events: list[Event], name: str) -> list[Event]:
    ids = {place for place, its_name in tracks(events).items() if its_name == name}
    assert len(ids) == 1, (name, tracks(events))
    return [event for event in events if event["ph"] != "M" and (event["pid"], event["tid"]) in ids]


@pytest.mark.parametrize("offload", ["stream", "message"])
def test_a_timeline_has_a_track_a_rank_and_a_track_a_switch(
    run: Run, tmp_path: Path, offload: str
) -> None:
    events, record = timeline(
        run,
        tmp_path / "trace.json",
        *("latency.c", "4,1024,65536", "2", "30"),
        ranks=6,
        options=("--offload", offload),
    )
    assert sorted(tracks(events).values()) == [*(f"rank {rank}" for rank in range(6)), "switch"]
    for rank in range(6):
        calls = [event["name"] for event in on_track(events, f"rank {rank}")]
        assert calls == ["MPI_Init", *["MPI_Allreduce"] * 3, "MPI_Finalize"]
    assert len(on_track(events, "switch")) == len(record["events"]) == 3


def test_a_timeline_agrees_with_the_record(run: Run, tmp_path: Path) -> None:
    events, record = timeline(run, tmp_path / "trace.json", "latency.c", "4,1024,65536", "2", "30")
    nanosecond_us = 1.001e-3  # times are in us, with three decimals
    for shown, recorded in zip(on_track(events, "switch"), record["events"], strict=True):
        assert shown["ts"] == pytest.approx(recorded["start_s"] * 1e6, abs=nanosecond_us)
        end = shown["ts"] + shown["dur"]
        assert end == pytest.approx(recorded["end_s"] * 1e6, abs=nanosecond_us)
        assert shown["args"]["bytes"] == recorded["bytes"]
    last_ends = max(event["ts"] + event["dur"] for event in events if event["ph"] == "X")
    assert last_ends == pytest.approx(record["simulated_time_s"] * 1e6, abs=nanosecond_us)
    spent = sum(
        event["dur"]
        for rank in range(4)
        for event in on_track(events, f"rank {rank}")
        if event["name"] == "MPI_Allreduce"
    )
    (row,) = record["collectives"]
    assert spent == pytest.approx(row["total_time_s"] * 1e6, abs=12 * nanosecond_us)


def test_events_of_one_track_nest(run: Run, tmp_path: Path) -> None:
    """Viewers drop events that partially overlap an earlier event of their track."""
    program = ("reductions.c", "1", "40")
    events, record = timeline(run, tmp_path / "trace.json", *program, ranks=8)
    assert any(crosses(a, b) for a in record["events"] for b in record["events"])
    by_track: dict[tuple[int, int], list[tuple[float, float]]] = {}
    for event in events:
        if event["ph"] == "X":
            span = (event["ts"], event["ts"] + event["dur"])
            by_track.setdefault((event["pid"], event["tid"]), []).append(span)
    for spans in by_track.values():
        assert_nested(spans)


def crosses(a: Event, b: Event) -> bool:
    """Return true if b begins within a and ends after it."""
    return bool(a["start_s"] < b["start_s"] < a["end_s"] < b["end_s"])


def assert_nested(spans: list[tuple[float, float]]) -> None:
    rounding_us = 1e-6
    open_ends: list[float] = []
    for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        while open_ends and open_ends[-1] <= start + rounding_us:
            open_ends.pop()
        assert not open_ends or end <= open_ends[-1] + rounding_us
        open_ends.append(end)


# ---- Scale ----


@pytest.mark.parametrize("offload", ["stream", pytest.param("message", marks=pytest.mark.slow)])
def test_4096_ranks_on_a_full_switch(tmp_path: Path, offload: str) -> None:
    """The benchmark checks the result of every rank."""
    command = simulated.weft_command(
        compiled.example("allreduce_latency"),
        *("1024", "1"),
        on="tofino-64x64",
        ranks=4096,
        options=("--no-privatize", "--offload", offload, "--json", str(tmp_path / "record.json")),
    )
    result = simulated.run_command(command)
    assert result.status == 0, result.stderr
    record = simulated.read_record(tmp_path / "record.json")
    assert (record["ranks"], record["hosts_used"]) == (4096, 64)
    (row,) = [row for row in record["collectives"] if row["collective"] == "allreduce"]
    assert (row["path"], row["communicator_size"]) == (offload, 4096)
    assert record["switches"][0]["bytes_reduced"] == row["calls"] * 4096 * 1024


def test_of_a_large_fabric_simgrid_has_what_ranks_use(program: Program) -> None:
    request = Request.of(
        fabric="fat-tree-65536",
        ranks=64,
        ppn=16,
        program=str(program("latency.c")),
        arguments=("1024", "1", "2"),
    )
    record = launch.run(launch.prepare(request), lambda _line: None)
    assert record.outcome.kind == "completed"
    assert len(record.links) == 8  # to and from each host
    assert record.peak_memory_bytes < 250e6  # 840 MB with all hosts and links in SimGrid
