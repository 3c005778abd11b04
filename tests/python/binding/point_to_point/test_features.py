# SPDX-License-Identifier: LGPL-2.1-only
"""Features of runs other than messages: equal data and times with both transports.

SimGrid's shortcuts are off, as in test_transport.py.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.places import ROOT
from tests.support.simulated import Program, Result, Run, read_record, weft

ROUNDING = 1e-9
PRECISELY = (
    *("--cfg", "network/optim:Full", "--cfg", "precision/timing:1e-13"),
    *("--set", "mpi.progress=thread"),  # SMPI's messages do not wait for computing ranks
)
TRANSPORTS = ("smpi", "weft")
OS_NOISE = """
[[noise.host]]
interval = "20us"
intervals = "exponential"
detour = "1us"
distribution = "fixed"
"""
JITTER = """
[[noise.link]]
jitter = "100ns"
distribution = "exponential"
"""
CACHES = """
[switch.forwarding]
kind = "cache"
entries = 4
hit_latency = "10ns"
tcam_latency = "200ns"
"""
FEATURES = {
    "OS noise": ("hdr100-8", OS_NOISE, ()),
    "jitter": ("hdr100-8", JITTER, ()),
    "forwarding caches": ("torus-3x3", CACHES, ()),
    "progress engines": ("fdr-188", "", ("--offload", "multicast")),
    "streams": ("tofino-4", "", ("--offload", "stream")),
    "no contention": ("hdr100-8", "", ("--no-contention", "--offload", "off")),
    "collectives of SMPI": ("hdr100-8", "", ("--offload", "off", "--fallback", "smpi:mpich")),
}
SEED_AND_ROUNDS = ("5", "4")
"""This program has no ties; in other programs, jitter may draw its numbers in another order."""
MEASURED = ("wall_time_s", "cpu_time_s", "peak_memory_bytes", "command", "messages", "profile")


def is_close(one: object, other: Any) -> bool:
    """Return true if two records are equal except for rounding."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(is_close(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(is_close, one, other))
    if isinstance(one, float):
        return bool(abs(other - one) <= 1e-13 + ROUNDING * abs(one))
    return bool(one == other)


def numbers(result: Result) -> Iterator[float]:
    """Yield the clocks printed by random_messages.c, after a check that all data was correct."""
    for line in result.lines:
        told, _, clocks = line.partition(", clocks ")
        assert " 0 wrong" in told
        yield from map(float, clocks.split())


@pytest.mark.parametrize("feature", FEATURES)
def test_records_and_times_are_equal(run: Run, tmp_path: Path, feature: str) -> None:
    fabric, table, options = FEATURES[feature]
    path = tmp_path / "fabric.toml"
    path.write_text((ROOT / "fabrics" / f"{fabric}.toml").read_text() + table)
    theirs, ours = (
        run(
            "random_messages.c",
            *SEED_AND_ROUNDS,
            on=str(path),
            ranks=4 if fabric == "tofino-4" else 8,
            options=(*options, *PRECISELY, "--messages", transport),
        )
        for transport in TRANSPORTS
    )
    assert (theirs.record["messages"], ours.record["messages"]) == TRANSPORTS
    assert list(numbers(ours)) == pytest.approx(list(numbers(theirs)), rel=ROUNDING)
    for key in theirs.record.keys() - set(MEASURED):
        assert is_close(theirs.record[key], ours.record[key]), key


def test_timelines_are_equal(run: Run, tmp_path: Path) -> None:
    events = []
    for transport in TRANSPORTS:
        path = tmp_path / f"{transport}.json"
        options = (*PRECISELY, "--ppn", "2", "--trace", str(path), "--messages", transport)
        result = run("random_messages.c", "3", "2", on="hdr100-8", ranks=8, options=options)
        assert result.record["messages"] == transport
        events.append(json.loads(path.read_text())["traceEvents"])
    theirs, ours = events
    assert [(one["name"], one.get("tid")) for one in sorted(ours, key=by_rank)] == [
        (one["name"], one.get("tid")) for one in sorted(theirs, key=by_rank)
    ]
    times = [
        [one["ts"] + one["dur"] for one in sorted(its, key=by_rank) if "ts" in one]
        for its in events
    ]
    assert times[1] == pytest.approx(times[0], abs=0.0011)  # the file contains three digits


def by_rank(event: dict[str, Any]) -> tuple[int, float]:
    return event.get("tid", -1), event.get("ts", -1)


def test_a_recorded_program_replays_alike(program: Program, tmp_path: Path) -> None:
    """Computation is recorded once, since its measured time differs between runs."""
    halo = str(program("random_messages.c"))
    trace = tmp_path / "trace"
    recorded = weft(
        *("run", "-q", "--fabric", "hdr100-8", "-n", "8", "--host-speed", "1Gf"),
        *("--record", str(trace), "--", halo, "3", "3"),
    )
    assert recorded.status == 0, recorded.stderr
    records = []
    for transport in TRANSPORTS:
        path = tmp_path / f"{transport}.json"
        options = ("--json", str(path), "--messages", transport, *PRECISELY)
        result = weft("replay", "-q", "--fabric", "hdr100-8", *options, str(trace))
        assert result.status == 0, result.stderr
        records.append(read_record(path))
    assert [one["messages"] for one in records] == list(TRANSPORTS)
    times = [one["simulated_time_s"] for one in records]
    assert times[1] == pytest.approx(times[0], rel=ROUNDING)


def test_coalesced_messages_take_the_times_of_single_ones(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = []
    for flows in ("", "unfolded"):
        monkeypatch.setenv("WEFT_HOST_FLOWS", flows)
        arguments = ("../../examples/halo_exchange.c", "2", "65536")
        options = ("-q", "--ppn", "4", "--messages", "weft")
        result = run(*arguments, on="fat-tree-1024", ranks=256, options=options)
        times.append(result.record["simulated_time_s"])
    assert times[0] == pytest.approx(times[1], rel=ROUNDING)
