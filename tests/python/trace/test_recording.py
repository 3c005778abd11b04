# SPDX-License-Identifier: LGPL-2.1-only
"""weft's own traces: the whole program is recorded, and replays in the same time."""

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.simulated import Program, read_record, weft
from weft import _core
from weft.trace.calls import CALLS, pack
from weft.trace.datatypes import DATATYPES, OPERATIONS

Record = Callable[..., Path]
EXACT = 1e-6
"""Tolerance of a replay on the recording's network; sleeps are replayed to the nanosecond."""


def replay(trace: Path, *options: str) -> dict[str, Any]:
    target = trace.parent / "replayed.json"
    result = weft("replay", str(trace), "-q", "--json", str(target), *options)
    assert result.status == 0, result.stderr
    return read_record(target)


def lines_of(trace: Path) -> list[str]:
    return gzip.decompress((trace / CALLS).read_bytes()).decode().splitlines()


@pytest.fixture
def record(program: Program, tmp_path: Path) -> Record:
    """Record a program of tests/smpi; its own record is next to the trace."""

    def recorded(
        source: str,
        part: str,
        *options: str,
        on: str = "tofino-16",
        ranks: int = 8,
        more: tuple[str, ...] = (),
    ) -> Path:
        result = weft(
            *("run", "--fabric", on, "-n", str(ranks), "--record", str(tmp_path / "trace")),
            *("-q", "--json", str(tmp_path / "run.json"), *options),
            *("--", str(program(source)), part, *more),
        )
        assert result.status == 0, result.stderr
        assert not result.messages
        return tmp_path / "trace"

    return recorded


def check_replay(trace: Path, *options: str) -> dict[str, Any]:
    """Replay on the recorded fabric: same time, same calls."""
    ran, again = read_record(trace.parent / "run.json"), replay(trace, *options)
    assert again["simulated_time_s"] == pytest.approx(ran["simulated_time_s"], rel=EXACT)
    assert ran["simulated_time_s"] > 0
    assert len(again["collectives"]) == len(ran["collectives"])
    for mine, theirs in zip(again["collectives"], ran["collectives"], strict=True):
        for key in ("collective", "path", "calls", "bytes", "op", "datatype", "communicator_size"):
            assert mine[key] == theirs[key]
    return again


PARTS = (
    *("waitany", "waitsome", "testall", "testany", "testsome", "probes", "persistent"),
    *("communicators", "derived", "collectives", "between", "windows"),
)


@pytest.mark.parametrize("part", ["sweep", "replies"])
@pytest.mark.parametrize("ppn", ["1", "4"])
def test_a_replay_of_polling_loops_takes_the_programs_time(
    record: Record, part: str, ppn: str
) -> None:
    options = ("--ppn", ppn)
    trace = record("polls.c", part, *options, ranks=16, more=("test", "10"))
    check_replay(trace, "--fabric", "tofino-16", *options)


@pytest.mark.parametrize("part", PARTS)
def test_a_replay_on_the_same_fabric_is_the_program(record: Record, part: str) -> None:
    check_replay(record("recorded.c", part), "--fabric", "tofino-16")


IRREGULAR = (
    *("split", "waitany", "waitsome", "waitpart", "profiled", "derived", "sendrecv"),
    *("persistent", "nonblocking", "poll", "operations", "communicators", "clocks", "window"),
)


@pytest.mark.slow
@pytest.mark.parametrize("part", IRREGULAR)
def test_irregular_programs_replay_too(record: Record, part: str) -> None:
    check_replay(record("unfit.c", part, on="tofino-4", ranks=4), "--fabric", "tofino-4")


REGULAR = ("ring", "row", "any", "pingpong", "collectives", "uneven", "nonblocking", "waits")


@pytest.mark.slow
@pytest.mark.parametrize("part", REGULAR)
@pytest.mark.parametrize("offload", ["stream", "off"])
def test_regular_programs_replay_too(record: Record, part: str, offload: str) -> None:
    trace = record("regular.c", part, "--offload", offload, ranks=16)
    check_replay(trace, "--fabric", "tofino-16", "--offload", offload)


@pytest.mark.parametrize("part", ["communicators", "waitany", "testany"])
def test_a_replay_elsewhere_takes_the_time_that_the_program_takes_there(
    record: Record, part: str
) -> None:
    """The calls of this program do not depend on times, except for the number of tests."""
    there = record("recorded.c", part, "--offload", "off")
    expected = read_record(there.parent / "run.json")["simulated_time_s"]
    trace = record("recorded.c", part, on="fat-tree-1024")
    again = replay(trace, "--fabric", "tofino-16", "--offload", "off")
    assert again["simulated_time_s"] == pytest.approx(expected, rel=0.02)


def test_computation_that_was_timed_is_replayed(program: Program, tmp_path: Path) -> None:
    target, run = tmp_path / "trace", tmp_path / "run.json"
    result = weft(
        *("run", "-q", "--fabric", "tofino-4", "-n", "4", "--ppn", "2", "--record", str(target)),
        *("--host-speed", "1Gf", "--json", str(run), "--", str(program("loaded.c"))),
    )
    assert result.status == 0, result.stderr
    again = replay(target, "--fabric", "tofino-4")
    assert any(" compute " in line for line in lines_of(target))
    ran = read_record(run)["simulated_time_s"]
    assert again["simulated_time_s"] == pytest.approx(ran, rel=1e-3)


def test_a_recording_is_the_same_each_time(record: Record) -> None:
    first = (record("recorded.c", "communicators") / CALLS).read_bytes()
    assert (record("recorded.c", "communicators") / CALLS).read_bytes() == first


def test_a_recording_says_who_is_in_a_communicator(record: Record) -> None:
    lines = lines_of(record("unfit.c", "split", on="tofino-4", ranks=4))
    assert lines[0] == "weft-calls 2 4"
    named = [line.split()[1:] for line in lines if line.startswith("communicator")]
    numbers = {members: number for number, members in named}
    assert numbers.keys() == {"0,2", "1,3"}
    assert sorted(numbers.values()) == ["1", "2"]  # in the order in which their ranks reached them
    assert f"3 Comm_split 0 1 0 {numbers['1,3']}" in lines
    assert f"3 Allreduce {numbers['1,3']} 8 MPI_INT MPI_SUM" in lines
    assert lines[-1] == f"end {len(lines) - 4}"


def test_a_trace_is_recorded_beside_a_timeline(record: Record, tmp_path: Path) -> None:
    timeline = tmp_path / "timeline.json"
    record("unfit.c", "split", "--trace", str(timeline), on="tofino-4", ranks=4)
    assert len(json.loads(timeline.read_text())["traceEvents"]) > 4


# ---- Unrecorded calls, and invalid traces --------------------------------------------------------


def test_memory_by_address_is_refused(program: Program, tmp_path: Path) -> None:
    result = weft(
        *("run", "-q", "--fabric", "tofino-4", "-n", "4", "--record", str(tmp_path / "trace")),
        *("--", str(program("recorded.c")), "dynamic"),
    )
    assert result.status == 2
    (message,) = result.messages
    refused = r"was not written: rank \d calls MPI_Win_create_dynamic, which traces do not support"
    assert re.search(refused, message)
    assert list(tmp_path.iterdir()) == []


WHOLE = """weft-calls 2 2
0 Isend 0 4 MPI_INT 1 7 0
communicator 1 0-1
0 Comm_dup 0 1
0 Waitall 0,-1
0 Allgatherv 1 4 MPI_INT 4*2 MPI_INT
0 Finalize
1 compute 1e6
1 Recv 0 4 MPI_INT any any
1 Comm_dup 0 1
1 Allgatherv 1 in-place 4,4 MPI_INT
1 Finalize
end 10
"""


def checked(text: str, ranks: int = 2) -> int:
    check = _core.CallCheck(ranks, set(DATATYPES) - {""}, set(OPERATIONS))
    for at in range(0, len(text), 7):
        check.add(text[at : at + 7].encode())
    return check.end()


def test_whole_lines_pass() -> None:
    assert checked(WHOLE) == 10


@pytest.mark.parametrize(
    ("found", "instead", "said"),
    [
        ("weft-calls 2", "weft-calls 9", "line 1: found 'weft-calls 9 2'; allowed is 'weft-calls"),
        ("0 Isend", "2 Isend", "line 2: found '2'; allowed is a number from 0 to 1"),
        ("0 Isend", "0 Yield", "line 2: found the call 'Yield', which traces do not have"),
        ("4 MPI_INT 1 7 0", "4 MPI_INTS 1 7 0", "line 2: found the datatype 'MPI_INTS' in 'Isend'"),
        ("MPI_INT 1 7 0", "MPI_INT 2 7 0", "line 2: found the rank 2 in 'Isend'"),
        ("4 MPI_INT 1 7 0", "-4 MPI_INT 1 7 0", "line 2: found '-4' in 'Isend'"),
        ("1 7 0", "1 7", "line 2: found the end of the line in 'Isend'"),
        ("1 7 0", "1 7 0 5", "line 2: found '5' after"),
        ("Waitall 0,-1", "Waitall 3,-1", "line 5: found the request 3 in 'Waitall'; rank 0 has"),
        ("0 Allgatherv 1", "0 Allgatherv 4", "line 6: found the communicator '4', of which rank 0"),
        ("4*2", "4*3", "line 6: found a list of 3 in 'Allgatherv', whose communicator has 2"),
        ("4*2", "4*9999999999", "line 6: found '9999999999' in 'Allgatherv'"),
        ("1e6", "nan", "line 8: found 'nan' in 'compute'; allowed is a number from 0 to 1e30"),
        ("0 Finalize", "0 Finalize\n0 Barrier 0", "after its 'Finalize'"),
        ("end 10", "end 8", "found 'end 8'; there are"),
        ("end 10\n", "", "it is truncated"),
        ("end 10\n", "end", "it is truncated"),
    ],
)
def test_wrong_lines_are_told(found: str, instead: str, said: str) -> None:
    with pytest.raises(_core.UserError) as error:
        checked(WHOLE.replace(found, instead, 1))
    assert said in str(error.value)


def test_a_damaged_file_is_refused(record: Record) -> None:
    trace = record("unfit.c", "split", on="tofino-4", ranks=4)
    packed = trace / CALLS
    whole = packed.read_bytes()

    def said() -> str:
        result = weft("replay", str(trace), "--fabric", "tofino-16")
        assert result.status == 2, result.stderr
        (message,) = result.messages
        return message

    packed.write_bytes(whole[:-9])
    assert f"{CALLS}: it is damaged (" in said()
    packed.write_bytes(whole[:40] + bytes([whole[40] ^ 255]) + whole[41:])
    assert f"{CALLS}: " in said()
    packed.write_bytes(b"0 Finalize\n")
    assert "it is damaged (Not a gzipped file" in said()
    packed.unlink()
    assert f"{CALLS} cannot be read: No such file" in said()
    raw = trace.parent / "raw"
    raw.write_text("weft-calls 2 4\n0 Barrier 0\n")
    with pytest.raises(Exception, match="it is truncated"):
        pack(raw, 4, packed)
