# SPDX-License-Identifier: LGPL-2.1-only
"""Traces of other tools as workloads: SimGrid's time-independent traces, and schedules in GOAL."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import weft as api
from tests.support.places import TESTS
from tests.support.simulated import (
    STAR,
    Program,
    read_record,
    run_command,
    smpirun_command,
    weft,
)
from weft.runs.simgrid import SimGrid

PARTS = ("ring", "row", "any", "pingpong", "collectives", "uneven", "nonblocking", "waits")
HAND_WRITTEN = """\
{rank} init
{rank} compute 2e9
{first}
{second}
{rank} alltoall 10 10 1 1
{rank} allreduce 16 0 1
{rank} finalize
"""
PAIR = "num_ranks 2\nrank 0 {\nl1: calc 1000\nl2: send 65536b to 1 tag 5\nl2 requires l1\n}\n" + (
    "rank 1 {\nl1: recv 65536b from 0 tag 5\nl2: calc 2000\nl2 requires l1\n}\n"
)


def traced(program: Path, *arguments: str, into: Path) -> Path:
    """Return the index of a trace written by SimGrid's own tracer."""
    index, platform = into / "ti.txt", into / "star.xml"
    platform.write_text(STAR.read_text().replace("1Gf", "76.8Gf"))  # the hosts of tofino-4
    settings = ("tracing/smpi/sleeping:yes",)
    command = smpirun_command(platform, program, *arguments, settings=settings)
    result = run_command([command[0], "-trace-ti", "-trace-file", str(index), *command[1:]])
    assert result.status == 0, result.stderr
    return index


def replayed(trace: Path, *options: str, fabric: str = "tofino-4") -> dict[str, Any]:
    """Return the record of a replay."""
    target = trace.parent / "replayed.json"
    result = weft("replay", str(trace), "-q", "--json", str(target), "--fabric", fabric, *options)
    assert result.status == 0, result.stderr
    return read_record(target)


def refused(trace: Path) -> str:
    """Return the only error about a path that cannot be replayed."""
    result = weft("replay", str(trace), "-q", "--fabric", "tofino-4")
    assert (result.status, result.stdout) == (2, "")
    (message,) = result.stderr.splitlines()
    return message


@pytest.fixture
def hand_written(tmp_path: Path) -> Path:
    """Return a trace as in Batsim's workloads: an index, and lines without datatypes."""
    folder = tmp_path / "smpi"
    folder.mkdir()
    steps = {0: ("0 send 1 0 1000000", "0 recv 1 0 1e6"), 1: ("1 recv 0 0 1e6", "1 send 0 0 1e6")}
    for rank, (first, second) in steps.items():
        text = HAND_WRITTEN.format(rank=rank, first=first, second=second)
        (folder / f"actions{rank}.txt").write_text(text)
    (folder / "traces.txt").write_text("actions0.txt\nactions1.txt\n")
    return folder


# ---- SimGrid's ----


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("offload", ["stream", "off"])
def test_simgrids_trace_takes_the_programs_time(
    program: Program, tmp_path: Path, part: str, offload: str
) -> None:
    regular, own = program("regular.c"), tmp_path / "run.json"
    options = ("--fabric", "tofino-4", "--offload", offload)
    ran = weft("run", "-q", *options, "-n", "4", "--json", str(own), "--", str(regular), part)
    assert ran.status == 0, ran.stderr
    again = replayed(traced(regular, part, into=tmp_path), "--offload", offload)
    expected = read_record(own)
    assert again["simulated_time_s"] == pytest.approx(expected["simulated_time_s"], rel=1e-3)
    kinds = ("collective", "path", "reason", "calls")
    assert _counted(again, kinds) == _counted(expected, kinds)


def _counted(record: dict[str, Any], kinds: tuple[str, ...]) -> list[tuple[Any, ...]]:
    return sorted(tuple(row[kind] for kind in kinds) for row in record["collectives"])


def test_a_trace_without_datatypes(hand_written: Path) -> None:
    """Sizes are bytes, as in SimGrid's replayer; users name the index or its directory."""
    record = replayed(hand_written)
    assert (record["ranks"], record["program"], record["ppn"]) == (2, "smpi", 1)
    rows = {row["collective"]: row for row in record["collectives"]}
    assert (rows["allreduce"]["bytes"], rows["allreduce"]["path"]) == (64, "stream")
    assert rows["alltoall"]["bytes"] == 80
    assert replayed(hand_written / "traces.txt")["simulated_time_s"] == record["simulated_time_s"]


def test_one_file_of_all_ranks(hand_written: Path, tmp_path: Path) -> None:
    whole = replayed(hand_written)["simulated_time_s"]
    merged = tmp_path / "merged.txt"
    texts = [(hand_written / f"actions{rank}.txt").read_text() for rank in (0, 1)]
    merged.write_text("# both\n\n" + "".join(texts))
    assert replayed(merged)["simulated_time_s"] == whole
    (hand_written / "traces.txt").unlink()
    assert replayed(hand_written)["simulated_time_s"] == whole


def test_default_datatypes_and_missing_arguments(tmp_path: Path) -> None:
    """`init` with an argument makes doubles the default type; a missing root is 0."""
    for name, init in (("bytes", "init"), ("doubles", "init 1")):
        lines = [f"{rank} {line}" for rank in range(3) for line in (init, "bcast 100", "finalize")]
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    (row,) = replayed(tmp_path / "bytes")["collectives"]
    (other,) = replayed(tmp_path / "doubles")["collectives"]
    assert (row["bytes"], other["bytes"]) == (100, 800)


def test_an_alltoallv_with_sizes_of_buffers(tmp_path: Path) -> None:
    counts = ("3 1 2 0 2 1 0 1", "3 0 1 2 3 2 1 0", "3 1 0 2 4 0 2 2")
    lines = [
        f"{rank} {line}"
        for rank, its in enumerate(counts)
        for line in ("init", f"alltoallv {its} 1 1", "reducescatter 1 2 3 5e3 1", "finalize")
    ]
    (tmp_path / "one").write_text("\n".join(lines) + "\n")
    rows = {row["collective"]: row for row in replayed(tmp_path / "one")["collectives"]}
    assert rows["alltoallv"]["calls"] == rows["reduce_scatter"]["calls"] == 1


def test_simgrids_lines_beside_a_manifest(hand_written: Path, tmp_path: Path) -> None:
    """A hand-written manifest may omit ppn."""
    whole = replayed(hand_written)["simulated_time_s"]
    trace = tmp_path / "by-hand"
    trace.mkdir()
    texts = [(hand_written / f"actions{rank}.txt").read_text() for rank in (0, 1)]
    (trace / "actions.txt").write_text("".join(texts))
    manifest = json.loads((TESTS / "traces" / "ring" / "manifest.json").read_text())
    del manifest["ppn"]
    (trace / "manifest.json").write_text(json.dumps(manifest | {"ranks": 2}))
    assert replayed(trace)["simulated_time_s"] == whole
    (trace / "manifest.json").write_text(json.dumps(manifest | {"ranks": 3}))
    assert "manifest.json states 3 ranks, and actions.txt has 2; correct" in refused(trace)


def test_the_api_takes_them(hand_written: Path, tmp_path: Path) -> None:
    (tmp_path / "two.goal").write_text(PAIR)
    ended = api.replay(tmp_path / "two.goal", fabric="tofino-4")
    assert ended.schedule
    assert ended.schedule.rank_ends_s[1] == ended.schedule.end_s
    compared = api.compare(hand_written / "traces.txt", fabric="tofino-4", intervals=False)
    assert (compared.speed_up or 0) > 0


def test_receives_of_unknown_size_and_source(tmp_path: Path) -> None:
    """A negative size means any; -333 means any source if a message arrives, otherwise none."""
    lines = (
        *("0 init", "0 send 1 7 5000", "0 isend 1 8 100", "0 wait 0 1 8", "0 finalize"),
        *("1 init", "1 recv -333 7 -1", "1 irecv -333 8 100", "1 irecv -333 9 100"),
        *("1 wait -333 1 8", "1 wait -333 1 9", "1 finalize"),
    )
    (tmp_path / "one").write_text("\n".join(lines) + "\n")
    assert replayed(tmp_path / "one")["simulated_time_s"] > 0


def test_a_trace_moves_with_its_index(program: Program, tmp_path: Path) -> None:
    """SimGrid writes file names relative to the directory in which it ran."""
    first = tmp_path / "first"
    first.mkdir()
    index = traced(program("regular.c"), "ring", into=first)
    time = replayed(index)["simulated_time_s"]
    moved = tmp_path / "moved"
    shutil.move(first, moved)
    (moved / "replayed.json").unlink()
    assert replayed(moved / "ti.txt")["simulated_time_s"] == time
    assert replayed(moved / "ti.txt_files")["simulated_time_s"] == time
    assert replayed(moved)["simulated_time_s"] == time


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("0 ponder 5", "found 'ponder' of rank 0, which cannot be replayed"),
        ("0 Win_fence", "found 'Win_fence' of rank 0, which cannot be replayed"),
        ("0 bcast 100 0 -1", "rank 0 uses a derived datatype, whose size SimGrid does not trace"),
        ("0 bcast x", "found '0 bcast x', which is no call of 2 ranks as SimGrid writes it"),
        ("0 alltoallv 5 1 2", "found '0 alltoallv 5 1 2', which is no call of 2 ranks"),
        ("0 send 2 0 100", "found the rank 2 in 'send'; the last is 1"),
        ("0 bcast 100 0 99", "found the datatype 99, which has no data"),
        ("0 finalize\n0 barrier", "found 'barrier' of rank 0 after its 'finalize'"),
    ],
)
def test_wrong_lines_are_named(hand_written: Path, line: str, said: str) -> None:
    file = hand_written / "actions0.txt"
    file.write_text(file.read_text().replace("0 alltoall 10 10 1 1", line))
    message = refused(hand_written)
    number = 5 + line.count("\n")
    assert message.startswith(f"weft: trace: {file}: line {number}: {said}")


def test_collectives_that_only_some_ranks_call(hand_written: Path) -> None:
    file = hand_written / "actions0.txt"
    file.write_text(file.read_text().replace("0 allreduce 16 0 1\n", ""))
    assert "rank 0 calls 'allreduce' 0 times and rank 1 1 times" in refused(hand_written)


def test_an_index_that_names_no_file(hand_written: Path) -> None:
    with (hand_written / "traces.txt").open("a") as index:
        index.write("actions2.txt\n")
    said = f"weft: trace: {hand_written / 'traces.txt'}: line 3: found 'actions2.txt', which is no"
    assert refused(hand_written).startswith(said)


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("fabric.toml", b"[fabric]\n", "it is a TOML file, such as a fabric or a jobs file"),
        ("run.json", b'{"schema": "weft-run/1"}', "it is the record of a run"),
        ("other.json", b'{"a": 1}', "it is a JSON file"),
        ("trace.def", b"OTF2\x00", "it is a part of an OTF2 trace; name its .otf2 file"),
        ("trace.paje", b"%EventDef PajeX 0\n", "it is a timeline in Paje's form"),
        ("notes.txt", b"hello world\n", "it is text that begins with 'hello world'"),
        ("calls.gz", b"\x1f\x8b\x08", "it is a file compressed by gzip"),
        ("bytes", b"\x01\x00\x02", "it is a binary file"),
        ("empty", b"", "it is empty"),
        ("schedule.bin", b"\x01\x00", "it is a binary file; of GOAL, weft reads the text form"),
    ],
)
def test_what_is_no_trace_is_named(tmp_path: Path, name: str, content: bytes, kind: str) -> None:
    (tmp_path / name).write_bytes(content)
    assert refused(tmp_path / name) == (
        f"weft: trace: {tmp_path / name} is not a trace: {kind}; docs/trace-files.md lists what"
        " weft replays"
    )


def test_programs_and_directories_are_named(program: Program, tmp_path: Path) -> None:
    assert "it is a compiled program or library" in refused(Path(shutil.which("ls") or ""))
    (tmp_path / "none").mkdir()
    assert "it is an empty directory" in refused(tmp_path / "none")
    (tmp_path / "none" / "readme").write_text("text\n")
    assert "a directory with neither the manifest.json" in refused(tmp_path / "none")
    assert SimGrid().launcher.exists()


# ---- GOAL ----


def test_a_schedule_is_replayed_to_its_end(tmp_path: Path) -> None:
    file = tmp_path / "two.goal"
    file.write_text(PAIR)
    record = replayed(file)
    schedule = record["schedule"]
    first, last = schedule["rank_ends_s"]
    assert (record["ranks"], schedule["operations"], schedule["end_s"]) == (2, 4, last)
    assert last == pytest.approx(record["simulated_time_s"], rel=1e-9)
    assert last == pytest.approx(first + 2e-6, rel=1e-6)


def test_a_schedule_takes_the_time_of_its_mpi_calls(program: Program, tmp_path: Path) -> None:
    """A ping-pong is a chain of sends and receives."""
    chain = {rank: [f"rank {rank} {{"] for rank in (0, 1)}
    for step in range(20):
        for rank in (0, 1):
            sends = step % 2 == rank
            what = f"send 4096b to {1 - rank}" if sends else f"recv 4096b from {1 - rank}"
            chain[rank].append(f"l{step}: {what} tag {step}")
            if step > 0:
                chain[rank].append(f"l{step} requires l{step - 1}")
    text = "num_ranks 2\n" + "\n".join("\n".join([*chain[rank], "}"]) for rank in (0, 1)) + "\n"
    file = tmp_path / "pingpong.goal"
    file.write_text(text)
    lines = [
        f"{rank} {'send' if step % 2 == rank else 'recv'} {1 - rank} {step} 4096"
        for rank in (0, 1)
        for step in range(20)
    ]
    (tmp_path / "actions").write_text("\n".join([*lines, "0 finalize", "1 finalize"]) + "\n")
    by_messages = replayed(tmp_path / "actions")["simulated_time_s"]
    assert replayed(file)["simulated_time_s"] == pytest.approx(by_messages, rel=0.05)


def test_computations_on_several_cpus_overlap(tmp_path: Path) -> None:
    file = tmp_path / "cpus.goal"
    texts = ("a: calc 3000\nb: calc 5000", "a: calc 3000\nb: calc 5000 cpu 1")
    ends = []
    for text in texts:
        file.write_text(f"num_ranks 1\nrank 0 {{\n{text}\n}}\n")
        ends.append(replayed(file)["schedule"]["end_s"])
    assert ends == pytest.approx([8e-6, 5e-6], rel=1e-6)


def test_irequires_waits_for_the_start(tmp_path: Path) -> None:
    file = tmp_path / "start.goal"
    file.write_text("num_ranks 1\nrank 0 {\na: calc 3000\nb: calc 5000 cpu 1\nb irequires a\n}\n")
    assert replayed(file)["schedule"]["end_s"] == pytest.approx(5e-6, rel=1e-6)


def test_the_last_line_tells_when_ranks_end(tmp_path: Path) -> None:
    file = tmp_path / "two.goal"
    file.write_text(PAIR)
    result = weft("replay", str(file), "--fabric", "tofino-4")
    last = result.stderr.splitlines()[-1]
    assert "; the schedule ended: rank 0 at " in last
    assert ", rank 1 at " in last


def test_traces_of_other_tools_are_jobs(hand_written: Path, tmp_path: Path) -> None:
    (tmp_path / "two.goal").write_text(PAIR)
    jobs = tmp_path / "jobs.toml"
    jobs.write_text(
        '[[jobs]]\nname = "schedule"\ntrace = "two.goal"\n'
        f'[[jobs]]\nname = "actions"\ntrace = "{hand_written.name}"\n'
    )
    target = tmp_path / "run.json"
    result = weft("run", "--fabric", "tofino-4", "--jobs", str(jobs), "--json", str(target))
    assert result.status == 0, result.stderr
    schedule, actions = read_record(target)["jobs"]
    assert len(schedule["schedule"]["rank_ends_s"]) == schedule["ranks"] == 2
    assert "schedule" not in actions
    assert "the schedule of schedule ended: rank 0 at " in result.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "it is empty"),
        ("num_ranks 1\nrank 0 {\na: calc x\n}\n", "line 3: found 'a: calc x'"),
        ("num_ranks 2\nrank 0 {\na: send 5b to 2\n}\n", "line 3: found rank 2 of 2 ranks"),
        (
            "num_ranks 1\nrank 0 {\na: calc 1\nb: calc 1\na requires b\nb requires a\n}\n",
            "rank 0: operations require each other, and never start",
        ),
    ],
)
def test_wrong_schedules_are_refused(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "wrong.goal").write_text(text)
    assert refused(tmp_path / "wrong.goal").startswith(
        f"weft: trace: {tmp_path / 'wrong.goal'}: {said}"
    )
