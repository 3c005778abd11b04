# SPDX-License-Identifier: LGPL-2.1-only
"""`--fallback best`: the fastest algorithm for each call, so that no library is faster."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.support import compiled, simulated
from tests.support.places import ROOT, TESTS
from tests.support.simulated import Run
from weft import _core
from weft.base.units import format_ratio
from weft.benchmarks.measured import Call, machine_of
from weft.study.bench.benchmarks import BENCHMARKS
from weft.study.bench.gains import gains
from weft.study.bench.micro_benchmarks import Study, Time
from weft.study.bench.modes import Way
from weft.study.comparison.certainty import of_call

PROGRAM = TESTS / "smpi" / "timed_collectives.c"
# UCC is not an MPI library, so its algorithms are not candidates.
LIBRARIES = [row["name"] for row in _core.selections() if row["name"] != "ucc-1"]
SIZES = ("8", "2048", "65536", "524288")
ROW = 10  # consecutive calls of the program
STAR = """
[fabric]
name = "star"
[topology]
kind = "star"
hosts = {hosts}
[host]
preset = "xeon-8360"
memory_bandwidth = "12GBps"
message_overhead = "300ns"
reduction_rate = "6GBps"
[nic]
preset = "connectx-6-dx"
[link]
bandwidth = "100Gbps"
latency = "0.94us"
[switch]
preset = "ideal"
"""
Times = dict[tuple[str, str], tuple[float, float]]
"""Time of a single call and per call in a sequence, by collective and size in bytes."""


def times(on: str, ranks: int, ppn: int, fallback: str, sizes: tuple[str, ...] = SIZES) -> Times:
    program = compiled.program(PROGRAM)
    options = (
        "-q",
        "--offload",
        "off",
        "--fallback",
        fallback,
        "--ppn",
        str(ppn),
        "--no-privatize",
    )
    command = simulated.weft_command(program, *sizes, on=on, ranks=ranks, options=options)
    result = simulated.run_command(command)
    assert result.status == 0, result.stderr
    lines = (line.split() for line in result.lines)
    return {(name, size): (float(single), float(row)) for name, size, single, row in lines}


@pytest.mark.parametrize(("ranks", "ppn"), [(2, 1), (5, 1), (8, 1), (6, 2), (16, 4), (7, 3)])
def test_no_library_is_faster_than_the_best(tmp_path: Path, ranks: int, ppn: int) -> None:
    fabric = tmp_path / "star.toml"
    fabric.write_text(STAR.format(hosts=-(-ranks // ppn)))
    best = times(str(fabric), ranks, ppn, "best")
    for library in LIBRARIES:
        for call, (single, row) in times(str(fabric), ranks, ppn, library).items():
            assert best[call][0] <= 1.01 * single, (library, call, best[call][0], single)
            # The first call of a sequence is not known to be one: it uses the fastest algorithm for
            # a single call, after which ranks enter the later calls at different times.
            most = 1.01 * row + 1.5 * best[call][0] / ROW
            assert best[call][1] <= most, (library, call, best[call][1], row)


ONE_CALL = ROOT / "benchmarks" / "one_call.c"


def one_calls(*options: str) -> Times:
    program = compiled.program(ONE_CALL)
    words = ("-q", "--no-privatize", *options)
    command = simulated.weft_command(
        program, "8", "4096", "65536", "524288", on="hdr100-8", ranks=6, options=words
    )
    result = simulated.run_command(command)
    assert result.status == 0, result.stderr
    lines = (line.split() for line in result.lines)
    return {(name, size): (float(single), float(row)) for name, size, single, row in lines}


def test_auto_decides_against_the_best() -> None:
    hosts = one_calls("--offload", "off", "--fallback", "best")
    stream = one_calls("--offload", "stream", "--fallback", "best")
    for call, (single, _) in one_calls("--offload", "auto", "--fallback", "best").items():
        by_row = min(hosts[call], stream[call], key=lambda times: times[1])
        assert single <= 1.01 * by_row[0], call


def test_best_needs_a_fabric() -> None:
    program = compiled.program(ONE_CALL)
    options = ("run", "--platform", str(simulated.STAR), "-n", "4", "--fallback", "best")
    result = simulated.weft(*options, "--offload", "off", "--", str(program), "8")
    assert result.status == 2
    (message,) = result.messages
    assert message.startswith('weft: --fallback: found "best" on a platform of SimGrid\'s')


@pytest.mark.parametrize("fallback", ["best", "ring,bcast=best"])
def test_best_is_for_links_that_contend(fallback: str) -> None:
    program = compiled.program(ONE_CALL)
    options = ("run", "--fabric", "tofino-4", "-n", "4", "--no-contention", "--offload", "off")
    result = simulated.weft(*options, "--fallback", fallback, "--", str(program), "8")
    assert result.status == 2
    (message,) = result.messages
    assert message.startswith("weft: --no-contention: found together with --fallback best")


def test_best_can_be_asked_for_one_collective(run: Run) -> None:
    result = run("compared.c", on="tofino-4", options=("--offload", "off", "--fallback", "best"))
    best = {row["algorithm"] for row in result.rows(collective="allreduce")}
    one = run(
        *("compared.c",),
        on="tofino-4",
        options=("--offload", "off", "--fallback", "basic_linear,bcast=best"),
    )
    assert {row["algorithm"] for row in one.rows(collective="allreduce")} == {"basic_linear"}
    assert "basic_linear" not in best
    assert result.record["fallback"] == "best"


def test_a_bench_says_the_gain_over_the_default_and_over_the_best() -> None:
    found = {
        "stream": {8: 2.0, 1024: 4.0},
        "message": {8: 1.0, 1024: 1.0},
        "openmpi-5.0": {8: 3.0, 1024: 8.0},
        "best": {8: 1.0, 1024: 4.0},
    }
    executors = {"openmpi-5.0": "recursive_doubling", "best": "nbc_ring"}
    rows = [
        Time(
            "allreduce",
            mode,
            4,
            1,
            size,
            {"latency_us": time},
            way=Way(executors.get(mode, mode), label=mode),
        )
        for mode, points in found.items()
        for size, time in points.items()
    ]
    fallen = Way("knomial", label="knomial for message")
    rows = [replace(row, way=fallen) if row.mode == "message" else row for row in rows]
    study = Study(BENCHMARKS["allreduce"], "tofino-4", [4], [1], [8, 1024], list(found))
    machine = machine_of(_core.load_fabric("tofino-4"))
    calls = [Call("allreduce", size, 4, 1, 1) for size in (8, 1024)]
    at = [of_call(1.0, machine, call, "stream", "recursive_doubling") for call in calls]
    best = [of_call(1.0, machine, call, "stream", "nbc_ring") for call in calls]
    assert at[0].low < 1 < at[0].high < best[0].high < 1.5  # this algorithm was never measured
    (said,) = gains(study, rows)
    assert said == (
        f"stream: 1.50 to 2.00 times as fast as openmpi-5.0 ({format_ratio(1.5 * at[0].low)} to"
        f" {format_ratio(2 * at[1].high)}, 80 %),"
        f" 0.500 to 1.00 times as fast as best ({format_ratio(0.5 * best[0].low)} to"
        f" {format_ratio(best[1].high)}, 80 %; cannot tell at 1 KiB)"
    )
    assert gains(study, [row for row in rows if row.mode != "best"]) == []
    faster = replace(study, changes=("link.bandwidth=200Gbps",))
    lines = gains(faster, rows)
    assert len(lines) == 2
    assert lines[1] == (
        "not measured: switches: cable host-0 of 200 Gb/s (a port of tofino (Ethernet) has"
        " 100 Gb/s); switches: cables of 200 Gb/s (up to 100 Gb/s); hosts: cables of 200 Gb/s (up"
        " to 100 Gb/s)"
    )
