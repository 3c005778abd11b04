# SPDX-License-Identifier: LGPL-2.1-only
"""Replays of weft's and SimGrid's traces take the program's time; invalid traces are refused."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.places import TESTS
from tests.support.simulated import WEFT, Program, Result, read_record, run_command, weft
from weft.trace.actions import UnfitError
from weft.trace.survey import Survey

Record = Callable[..., Path]
TRACES = TESTS / "traces"
PARTS = ("ring", "row", "any", "pingpong", "collectives", "uneven", "nonblocking", "waits")


def replay(trace: Path, *options: str, status: int = 0) -> dict[str, Any]:
    target = trace.parent / "replayed.json"
    result = weft("replay", str(trace), "-q", "--json", str(target), *options)
    assert result.status == status, result.stderr
    return read_record(target)


@pytest.fixture
def record(program: Program, tmp_path: Path) -> Record:
    """Record a program of tests/smpi; its own record is next to the trace."""

    def recorded(
        source: str,
        part: str,
        *options: str,
        on: str = "tofino-16",
        ranks: int = 4,
        status: int = 0,
    ) -> Path:
        result = weft(
            *("run", "--fabric", on, "-n", str(ranks), "--record", str(tmp_path / "trace")),
            *("-q", "--json", str(tmp_path / "run.json"), *options),
            *("--", str(program(source)), part),
        )
        assert result.status == status, result.stderr
        assert status or not result.messages
        return tmp_path / "trace"

    return recorded


@pytest.fixture
def of_simgrid(tmp_path: Path) -> Callable[[str], Path]:
    """Copy a trace of regular.c with 4 ranks that earlier versions converted from SimGrid's."""
    return lambda part: Path(shutil.copytree(TRACES / part, tmp_path / "trace"))


@pytest.mark.parametrize("offload", ["stream", "message", "off"])
@pytest.mark.parametrize("part", PARTS)
@pytest.mark.slow
def test_simgrids_trace_takes_the_programs_time(
    of_simgrid: Callable[[str], Path], program: Program, tmp_path: Path, part: str, offload: str
) -> None:
    where = ("--fabric", "tofino-16", "--offload", offload)
    run = ("run", "-q", *where, "-n", "4", "--json", str(tmp_path / "run.json"))
    assert weft(*run, "--", str(program("regular.c")), part).status == 0
    ran = read_record(tmp_path / "run.json")
    again = replay(of_simgrid(part), *where)
    assert again["simulated_time_s"] == pytest.approx(ran["simulated_time_s"], rel=0.01)
    assert ran["simulated_time_s"] > 0


def test_a_replay_elsewhere_takes_the_time_that_the_program_takes_there(record: Record) -> None:
    elsewhere = record("regular.c", "collectives", "--offload", "off", on="tofino-4")
    expected = read_record(elsewhere.parent / "run.json")["simulated_time_s"]
    trace = record("regular.c", "collectives", on="fat-tree-1024")
    there = read_record(trace.parent / "run.json")["simulated_time_s"]
    again = replay(trace, "--fabric", "tofino-4", "--offload", "off")
    assert again["simulated_time_s"] == pytest.approx(expected, rel=1e-9)
    assert abs(there / expected - 1) > 0.01


@pytest.mark.parametrize("offload", ["stream", "message"])
def test_an_alltoall_is_replayed_on_switches_that_do_it(
    program: Program, tmp_path: Path, offload: str
) -> None:
    on = ("--fabric", "fat-tree-1024-radix-32", "--offload", offload)
    words = ("alltoall", "1000", "0")
    trace, target = tmp_path / "trace", tmp_path / "run.json"
    result = weft(
        *("run", *on, "-n", "8", "--record", str(trace), "-q", "--json", str(target)),
        *("--", str(program("collectives.c")), *words),
    )
    assert result.status == 0, result.stderr
    again = replay(trace, *on)["collectives"]
    assert [(row["collective"], row["path"], row["bytes"]) for row in again] == [
        ("alltoall", offload, 8 * 4 * 1000)
    ]
    assert again[0]["total_time_s"] == pytest.approx(
        read_record(target)["collectives"][0]["total_time_s"], rel=1e-9
    )


def test_a_replay_offloads_what_the_program_did(record: Record) -> None:
    trace = record("regular.c", "collectives")
    ran = read_record(trace.parent / "run.json")
    again = replay(trace, "--fabric", "tofino-16")
    assert again["collectives"] == ran["collectives"]
    assert sum(row["calls"] for row in again["collectives"] if row["path"] == "stream") == 5
    assert (again["program"], again["arguments"]) == (ran["program"], ran["arguments"])
    assert (again["replayed"], ran["replayed"]) == (str(trace), "")


def test_computation_is_replayed_as_operations(record: Record) -> None:
    # The last of four ranks computes 4 x 10 us five times, which is longer than its messages take.
    trace = record("regular.c", "ring", "--offload", "off")
    again = replay(trace, "--fabric", "tofino-16", "--offload", "off")
    # In addition, the hosts spend a little time on each message.
    assert 200e-6 <= again["simulated_time_s"] < 220e-6


def test_several_ranks_a_host_stay_together(record: Record) -> None:
    trace = record("regular.c", "collectives", "--ppn", "4", ranks=16)
    ran = read_record(trace.parent / "run.json")
    again = replay(trace, "--fabric", "tofino-16")
    assert (again["ppn"], again["hosts_used"]) == (4, 4)
    assert again["simulated_time_s"] == pytest.approx(ran["simulated_time_s"], rel=0.01)


def test_the_traces_own_ranks_per_host_are_not_blamed_on_an_option(record: Record) -> None:
    trace = record("regular.c", "collectives", "--ppn", "4", ranks=16)
    small = ("--fabric", "tofino-16", "--set", "host.cores=2")
    found = "found 4; fabric tofino-16 has 16 hosts of 2 cores, so that 16 ranks need from 1 to 2"
    said = weft("replay", str(trace), *small)
    assert (said.status, said.messages) == (
        2,
        [
            f"weft: trace {trace}, recorded with ranks per host: {found} ranks per host;"
            " give one of these as --ppn"
        ],
    )
    asked = weft("replay", str(trace), *small, "--ppn", "3")
    assert asked.messages[0].startswith("weft: --ppn: found 3;")
    assert replay(trace, *small, "--ppn", "2")["ppn"] == 2


def test_a_replay_has_a_timeline(record: Record) -> None:
    trace = record("regular.c", "collectives")
    target = trace.parent / "timeline.json"
    replay(trace, "--fabric", "tofino-16", "--trace", str(target))
    assert len(json.loads(target.read_text())["traceEvents"]) > 100


# ---- Unrecorded calls ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("part", "status", "reason"),
    [
        ("crashing", 134, "was not written: the program did not finish"),
        ("failing", 3, "was not written: the program did not finish"),
    ],
)
def test_a_program_that_does_not_end_leaves_no_trace(
    program: Program, tmp_path: Path, part: str, status: int, reason: str
) -> None:
    result = try_to_record(program, tmp_path, part)
    assert result.status == status
    assert reason in result.messages[-1]
    assert list(tmp_path.iterdir()) == []


def test_a_program_may_end_with_any_status(record: Record) -> None:
    trace = record("unfit.c", "status", status=3)
    assert replay(trace, "--fabric", "tofino-16")["outcome"]["kind"] == "completed"


def try_to_record(program: Program, directory: Path, part: str) -> Result:
    return weft(
        *("run", "-q", "--fabric", "tofino-4", "-n", "4"),
        *("--record", str(directory / "trace"), "--", str(program("unfit.c")), part),
    )


# ---- Bad input -----------------------------------------------------------------------------------


def refused(*words: str) -> str:
    result = weft(*words)
    assert result.status == 2, result.stderr
    (message,) = result.messages
    return message


def test_a_trace_takes_no_place_of_something_else(program: Program, tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("mine")
    run = ("run", "--fabric", "tofino-4", "-n", "4", "--record")
    arguments = ("--", str(program("regular.c")), "ring")
    assert "is not a trace" in refused(*run, str(tmp_path), *arguments)
    file = str(tmp_path / "notes")
    assert "is not a trace" in refused(*run, file, *arguments)
    assert "there is no directory" in refused(*run, str(tmp_path / "no" / "trace"), *arguments)
    assert "cannot write /proc/trace" in refused(*run, "/proc/trace", *arguments)
    assert [path.name for path in tmp_path.iterdir()] == ["notes"]


def test_a_trace_replaces_a_trace(record: Record) -> None:
    record("regular.c", "ring")
    trace = record("regular.c", "pingpong")
    assert "pingpong" in (trace / "manifest.json").read_text()


def test_a_trace_replaces_the_directory_in_which_one_is(record: Record, program: Program) -> None:
    trace = record("regular.c", "ring")
    run = ("run", "-q", "--fabric", "tofino-4", "-n", "4", "--record", ".", "--")
    again = run_command([*WEFT, *run, str(program("regular.c")), "pingpong"], cwd=trace)
    assert again.status == 0, again.stderr
    assert not again.messages
    assert "pingpong" in (trace / "manifest.json").read_text()
    assert [path.name for path in trace.parent.iterdir() if path.name.startswith(".")] == []


def test_what_is_no_trace_is_refused(of_simgrid: Callable[[str], Path], tmp_path: Path) -> None:
    def said() -> str:
        return refused("replay", str(trace), "--fabric", "tofino-16")

    trace = tmp_path / "nothing"
    assert "is not a trace (manifest.json cannot be read: No such file" in said()
    trace = of_simgrid("ring")
    actions, manifest = trace / "actions.txt", trace / "manifest.json"
    whole, kept = actions.read_text(), manifest.read_text()

    actions.write_text(whole[: len(whole) // 2].rsplit(" ", 1)[0])
    number = len(actions.read_text().splitlines())
    assert f"actions.txt: line {number}: found " in said()
    actions.write_text("\n".join(whole.splitlines()[:-4]) + "\n")
    assert "it is truncated: there is no 'finalize' of rank" in said()
    actions.write_text(whole.replace("MPI_DOUBLE", "MPI_DUBBLE"))
    assert "found MPI_DUBBLE in 'irecv'" in said()
    actions.write_text(whole.replace(" compute ", " ponder "))
    assert "found the action 'ponder'" in said()
    actions.unlink()
    assert "actions.txt cannot be read: No such file" in said()
    actions.write_text(whole)
    manifest.write_text(kept.replace("weft-trace/1", "weft-trace/9"))
    assert "'weft-trace/9'; allowed are 'weft-trace/1' and 'weft-trace/2'" in said()
    manifest.write_text(kept[:40])
    assert "manifest.json is not valid JSON" in said()
    manifest.write_text(kept.replace('"ranks"', '"rangs"'))
    assert "manifest.json is wrong: 'ranks' is missing" in said()


def test_a_trace_has_to_fit_on_the_fabric(record: Record) -> None:
    trace = record("regular.c", "ring", on="fat-tree-1024", ranks=300)
    short = refused("replay", str(trace), "--fabric", "tofino-4")
    assert short.startswith(f"weft: trace {trace}: found 300 ranks; fabric tofino-4 has 4 hosts")
    assert "name the network" in refused("replay", str(trace))


def test_a_trace_moves_with_its_directory(record: Record, tmp_path: Path) -> None:
    trace = record("regular.c", "ring")
    moved = tmp_path / "else where"
    shutil.move(trace, moved)
    assert replay(moved, "--fabric", "tofino-16")["simulated_time_s"] > 0


# ---- SimGrid's lines -----------------------------------------------------------------------------


END = ("0 finalize", "1 finalize")


@pytest.mark.parametrize(
    "lines",
    [
        ("1 send 0 4 1 MPI_INT",),
        ("1 send 0 4 1 MPI_INT", "0 recv 1 5 1 MPI_INT"),
        ("0 irecv -333 4 1 MPI_INT", "0 irecv -333 4 1 MPI_INT", "1 send 0 4 1 MPI_INT"),
        ("0 wait 1 0 4",),
        ("0 finalize", "0 barrier"),
    ],
)
def test_what_does_not_fit_together_is_unfit(lines: tuple[str, ...]) -> None:
    found = Survey(2)
    with pytest.raises(UnfitError):
        for line in (*lines, *END):
            found.add(line.split())
        found.check()
