# SPDX-License-Identifier: LGPL-2.1-only
"""Conversion of Paje traces to timelines."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.python.runs.test_record import raw
from tests.support.simulated import Run
from weft.runs.faults.spans import Event, Learning, spans
from weft.runs.record import Record
from weft.runs.record_data import CollectivePart, EventPart, FaultsPart
from weft.runs.timeline import PajeReader, is_complete, read_ranks, write_timeline

# Two ranks. SimGrid numbers actors from 1; an actor that is not a rank was created between them.
TRACE = """\
#This file was generated using SimGrid-4.1.0
%EventDef PajePushState 12
%       Time date
%EndEventDef
0 1 0 MPI
2 2 1 MPI_STATE
6 0.000000000 1 1 0 "rank-1"
6 0.000000000 2 1 0 "rank-3"
5 6 2 PMPI_Init "0 1 0"
5 7 2 computing "0 1 1"
5 8 2 PMPI_Allreduce "1 0 1"
12 0.000000000 2 1 6
13 0.000000000 2 1
12 0.000001000 2 1 8 256
12 0.000002000 2 2 7 12.5
13 0.000003000 2 2
12 0.000003000 2 2 8 256
15 0.000003500 3 0 PTP 1 1_2_0_1
13 0.000010000 2 2
13 0.000011000 2 1
7 0.000011000 1 1
7 0.000011000 1 2
"""


def states(text: str) -> list[tuple[str, str, float, float | None]]:
    found = PajeReader().states(text.splitlines())
    return [(state.container, state.name, state.start_s, state.end_s) for state in found]


def timeline(tmp_path: Path, text: str, record: Record) -> list[dict[str, Any]]:
    (tmp_path / "trace.paje").write_text(text)
    write_timeline(tmp_path / "trace.paje", record, tmp_path / "timeline.json")
    events: list[dict[str, Any]] = json.loads((tmp_path / "timeline.json").read_text())[
        "traceEvents"
    ]
    return events


def record_of_two() -> Record:
    record = Record.from_json(raw())
    record.ranks = 2
    record.events = [
        EventPart(
            switch="switch",
            communicator=-1,
            collective="allreduce",
            ranks=2,
            bytes=1024,
            start_s=3e-6,
            end_s=9.5e-6,
        )
    ]
    return record


def test_states_come_in_the_order_of_their_start() -> None:
    assert states(TRACE) == [
        ("1", "PMPI_Init", 0, 0),
        ("1", "PMPI_Allreduce", 1e-6, 11e-6),
        ("2", "computing", 2e-6, 3e-6),
        ("2", "PMPI_Allreduce", 3e-6, 10e-6),
    ]


def test_what_lasts_when_the_program_crashes_ends_with_the_trace() -> None:
    cut = TRACE[: TRACE.index("13 0.000010000") + 9]
    assert states(cut)[1:] == [
        ("1", "PMPI_Allreduce", 1e-6, 3e-6),
        ("2", "computing", 2e-6, 3e-6),
        ("2", "PMPI_Allreduce", 3e-6, 3e-6),
    ]


def test_a_state_within_another_comes_after_it_and_ends_before_it() -> None:
    nested = '5 6 2 A ""\n5 7 2 B ""\n12 1 2 1 6\n12 1 2 1 7\n13 2 2 1\n13 3 2 1\n'
    assert states(nested) == [("1", "A", 1, 3), ("1", "B", 1, 2)]


@pytest.mark.parametrize("line", ["13 1.0 2 1", "12 1.0", "", "12 1.0 2", "99 1 2 3"])
def test_odd_lines_do_no_harm(line: str) -> None:
    assert states(line) == []


def test_ranks_are_counted_in_the_order_of_their_actors(tmp_path: Path) -> None:
    (tmp_path / "trace").write_text(TRACE)
    assert read_ranks(tmp_path / "trace", 2) == {"1": 0, "2": 1}
    assert read_ranks(tmp_path / "trace", 4) == {"1": 0, "2": 2}
    assert read_ranks(tmp_path / "none", 4) == {}


def test_a_trace_is_complete_when_every_rank_has_gone(tmp_path: Path) -> None:
    path = tmp_path / "trace"
    path.write_text(TRACE)
    assert is_complete(path)
    path.write_text(TRACE[:-12])
    assert not is_complete(path)
    assert not is_complete(tmp_path / "none")


def test_a_timeline_has_a_track_for_every_rank_and_switch(tmp_path: Path) -> None:
    events = timeline(tmp_path, TRACE, record_of_two())
    names = {
        (event["pid"], event["tid"], event["name"]): event["args"]["name"]
        for event in events
        if event["ph"] == "M"
    }
    assert names == {
        (1, 0, "process_name"): "ranks",
        (1, 0, "thread_name"): "rank 0",
        (1, 1, "thread_name"): "rank 1",
        (2, 0, "process_name"): "switches",
        (2, 0, "thread_name"): "switch",
    }


def test_a_timeline_is_ordered_and_in_microseconds(tmp_path: Path) -> None:
    events = timeline(tmp_path, TRACE, record_of_two())
    shown = [
        (event["pid"], event["tid"], event["name"], event["ts"], event["dur"], event["args"])
        for event in events
        if event["ph"] == "X"
    ]
    assert shown == [
        (1, 0, "MPI_Init", 0, 0, {}),
        (1, 0, "MPI_Allreduce", 1, 10, {"count": 256, "way": "stream"}),
        (1, 1, "computing", 2, 1, {}),
        (1, 1, "MPI_Allreduce", 3, 7, {"count": 256, "way": "stream"}),
        (2, 0, "allreduce 1 KiB", 3, 6.5, {"bytes": 1024, "ranks": 2, "communicator": -1}),
    ]


def test_a_timeline_says_what_the_hosts_did_in_place_of_the_switches(tmp_path: Path) -> None:
    record = record_of_two()
    fallen = {"path": "fallback", "reason": "datatype", "algorithm": "ompi"}
    record.collectives += [CollectivePart.from_json({**raw()["collectives"][0], **fallen})]
    events = timeline(tmp_path, TRACE, record)
    names = [event["args"]["name"] for event in events if event["name"] == "process_name"]
    assert names == ["ranks", "switches; by the hosts: allreduce (datatype)"]
    ways = [event["args"]["way"] for event in events if event["name"] == "MPI_Allreduce"]
    assert ways == ["stream or ompi (datatype)"] * 2
    record.offload = "off"
    events = timeline(tmp_path, TRACE, record)
    assert "switches" in [event["args"].get("name") for event in events]


def test_a_run_that_left_no_trace_has_an_empty_timeline(tmp_path: Path) -> None:
    record = record_of_two()
    write_timeline(tmp_path / "none", record, tmp_path / "timeline.json")
    events = json.loads((tmp_path / "timeline.json").read_text())["traceEvents"]
    assert [event["name"] for event in events if event["ph"] == "X"] == ["allreduce 1 KiB"]


def test_the_hosts_calls_say_algorithm_messages_and_rounds(run: Run, tmp_path: Path) -> None:
    target = tmp_path / "timeline.json"
    hosts = ("--offload", "off", "--fallback", "allreduce=recursive_doubling")
    options = (*hosts, "--trace", str(target))
    result = run("progress.c", "1024", "100", "0", ranks=4, options=options)
    events = json.loads(target.read_text())["traceEvents"]
    for name in ("MPI_Allreduce", "MPI_Iallreduce"):
        calls = [event["args"] for event in events if event["name"] == name]
        assert len(calls) == 4
        for call in calls:
            assert (call["way"], call["messages"], call["rounds"]) == ("recursive_doubling", 2, 2)
            assert "segment_bytes" not in call
    assert len(result.record["host_calls"]) == 8


def test_the_hosts_calls_say_what_they_cut_messages_into(run: Run, tmp_path: Path) -> None:
    """Segments are 64 KiB between the leaders of hosts, and within the hosts."""
    target = tmp_path / "timeline.json"
    options = ("--offload", "off", "--ppn", "2", "--trace", str(target))
    run("progress.c", str(1 << 20), "100", "0", ranks=4, options=options)
    events = json.loads(target.read_text())["traceEvents"]
    calls = [event["args"] for event in events if event["name"] == "MPI_Allreduce"]
    assert [call["way"] for call in calls] == ["han"] * 4
    assert {call["segment_bytes"] for call in calls} == {1 << 16}
    assert all(call["messages"] >= 16 for call in calls)


def test_faults_are_spans(tmp_path: Path) -> None:
    record = record_of_two()
    record.simulated_time_s = 100e-6
    record.faults = FaultsPart.from_json(
        {
            "events": [
                {"at_s": 10e-6, "what": "link host-0 down"},
                {"at_s": 20e-6, "what": "switch tofino loses its state"},
                {"at_s": 30e-6, "what": "link host-0 up"},
                {"at_s": 40e-6, "what": "link host-1 has 0.25 of its bandwidth"},
                {"at_s": 45e-6, "what": "link host-1 has its bandwidth again"},
                {"at_s": 50e-6, "what": "link host-2 down"},
                {"at_s": 50e-6, "what": "link host-3 down"},
            ],
            "detection_s": 2e-6,
            "convergence_s": 3e-6,
            "calls": [
                {
                    "hit_s": 10e-6,
                    "went_on_s": 15e-6,
                    "collective": "allreduce",
                    "communicator": 0,
                    "what": "rebuilt",
                }
            ],
            **dict.fromkeys(
                (
                    *("left_events", "cut", "lost", "resumed", "given_up", "waited_s"),
                    *("longest_waiting_s", "resent_calls", "rebuilt_calls", "calls_on_hosts"),
                    *("broken_calls", "lost_in_calls_s"),
                ),
                0,
            ),
        }
    )
    events = timeline(tmp_path, TRACE, record)
    tracks = {
        event["tid"]: event["args"]["name"]
        for event in events
        if event["name"] == "thread_name" and event["pid"] == 4
    }
    shown = [
        (tracks[event["tid"]], event["name"], event["ts"], event["dur"])
        for event in events
        if event.get("cat") == "fault"
    ]
    assert sorted(shown) == [
        ("collectives hit", "allreduce rebuilt", 10, 5),
        ("link host-0", "down", 10, 20),
        ("link host-1", "has 0.25 of its bandwidth", 40, 5),
        ("link host-2", "down", 50, 50),
        ("link host-3", "down", 50, 50),
        ("routing", "convergence: 2 changes", 52, 3),
        ("routing", "convergence: link host-0 down", 12, 3),
        ("routing", "convergence: link host-0 up", 32, 3),
        ("routing", "detection: 2 changes", 50, 2),
        ("routing", "detection: link host-0 down", 10, 2),
        ("routing", "detection: link host-0 up", 30, 2),
        ("switch tofino", "loses its state", 20, 0),
    ]


def test_faults_that_overlap_are_spans() -> None:
    events = [
        Event(10, "link host-0 has 0.1 of its bandwidth", hidden=False),
        Event(20, "link host-0 down", hidden=False),
        Event(25, "link host-0 still has 0.1 of its bandwidth", hidden=False),
        Event(30, "link host-0 still down", hidden=True),
        Event(32, "nic host-0 down", hidden=True),
        Event(34, "nic host-0 up", hidden=True),
        Event(35, "link host-0 has 0.5 of its bandwidth", hidden=False),
        Event(40, "link host-0 up", hidden=False),
        Event(50, "link host-0 has its bandwidth again", hidden=False),
    ]
    shown = [
        (span.track, span.name, span.start_s, span.end_s)
        for span in spans(events, Learning(1, 0), 100)
    ]
    assert sorted(shown) == [
        ("link host-0", "down", 20, 40),
        ("link host-0", "has 0.1 of its bandwidth", 10, 35),
        ("link host-0", "has 0.5 of its bandwidth", 35, 50),
        ("nic host-0", "down", 32, 34),
        ("routing", "detection: link host-0 down", 20, 21),
        ("routing", "detection: link host-0 up", 40, 41),
    ]


def test_a_run_without_faults_has_no_such_process(tmp_path: Path) -> None:
    assert not [one for one in timeline(tmp_path, TRACE, record_of_two()) if one["pid"] == 4]
