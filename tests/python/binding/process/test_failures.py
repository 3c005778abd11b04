# SPDX-License-Identifier: LGPL-2.1-only
"""Failing programs: one error message, a nonzero status, a record, and no leftovers."""

import json
import os
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support import compiled, simulated
from tests.support.simulated import Program, Result


@dataclass(frozen=True)
class Failure:
    """Expected result of one failure mode of tests/smpi/failures.c."""

    status: int
    kind: str
    says: tuple[str, ...]


# Numbers follow the order in which ranks leave the exchange of colours; the other half leaves
# first.
WORLD, HALF = "on MPI_COMM_WORLD", "on communicator 1 (of 2 ranks)"
INT_SUM = "MPI_Allreduce(1 x MPI_INT, MPI_SUM)"
RULE = "All ranks of a communicator must call the same collectives in the same order."


def mismatch(where: str, number: int, *calls: str) -> Failure:
    says = f"collective number {number} is not the same call at all ranks"
    return Failure(1, "mismatch", (where, says, *calls, RULE))


def ended(call: str) -> Failure:
    says = f" called {call} as collective number 2, and rank 1 has ended without it"
    return Failure(1, "mismatch", (f"{WORLD}, rank ", says, RULE))


def early(status: int) -> Failure:
    says = f"rank 1 ended with exit status {status} before it called MPI_Finalize"
    return Failure(status, "early-exit", (says,))


FATAL = "MPI_ERRORS_ARE_FATAL ends the program"

FAILURES = {
    # Any rank may enter first, because all ranks leave the previous call at the same time.
    "other-collective": mismatch(WORLD, 2, f" called {INT_SUM}", "rank 1 called MPI_Barrier()"),
    "other-count": mismatch(
        WORLD,
        2,
        f" called {INT_SUM}",
        "rank 1 called MPI_Allreduce(2 x MPI_INT, MPI_SUM)",
    ),
    "other-op": mismatch(
        WORLD,
        2,
        f"rank 0 called {INT_SUM}",
        "rank 1 called MPI_Allreduce(1 x MPI_INT, MPI_MAX)",
    ),
    "other-type": mismatch(
        WORLD,
        2,
        f"rank 0 called {INT_SUM}",
        "rank 1 called MPI_Allreduce(1 x MPI_DOUBLE, MPI_SUM)",
    ),
    "other-root": mismatch(
        WORLD,
        2,
        "rank 0 called MPI_Bcast(4 bytes, root 0)",
        "rank 1 called MPI_Bcast(4 bytes, root 1)",
    ),
    "other-size-of-bcast": mismatch(
        WORLD,
        2,
        "rank 0 called MPI_Bcast(4 bytes, root 0)",
        "rank 1 called MPI_Bcast(8 bytes, root 0)",
    ),
    "other-part": mismatch(
        WORLD, 2, "rank 0 called MPI_Allgatherv(16 bytes)", "rank 1 called MPI_Allgatherv(20 bytes)"
    ),
    "other-parts-of-the-same-sum": mismatch(
        WORLD,
        2,
        "rank 0 called MPI_Reduce_scatter(4 x MPI_INT, MPI_SUM)",
        "rank 1 called MPI_Reduce_scatter(4 x MPI_INT, MPI_SUM)",
        "the part of rank 1 has 4 bytes at one, 8 at the other",
    ),
    "other-form": mismatch(WORLD, 2, "rank 0 called MPI_Barrier()", "rank 1 called MPI_Ibarrier()"),
    "other-root-later": mismatch(
        WORLD, 3, "rank 3 called MPI_Ireduce(1 x MPI_INT, MPI_SUM, root 1)", "MPI_SUM, root 0)"
    ),
    "skipped-ibarrier": ended("MPI_Ibarrier()"),
    "other-order-in-half": mismatch(
        HALF, 1, f"rank 0 called {INT_SUM}", "rank 1 called MPI_Barrier()"
    ),
    "skipped-allreduce": ended(INT_SUM),
    "late-allreduce": ended(INT_SUM),
    "skipped-barrier": ended("MPI_Barrier()"),
    "receive-without-send": Failure(
        1,
        "deadlock",
        ("deadlock at", "no rank can proceed", "Ranks that have not ended: 1.", "receive without"),
    ),
    "crossed": Failure(
        1,
        "deadlock",
        (
            f"On MPI_COMM_WORLD, {INT_SUM} holds ranks 0, 2, 3 and waits for 1.",
            "Ranks that have not ended: 0, 1, 2, 3.",
        ),
    ),
    "segmentation-fault": Failure(139, "signal", ("rank 1 crashed (SIGSEGV)",)),
    "abort": Failure(134, "signal", ("rank 1 crashed (SIGABRT)",)),
    "exit": early(3),
    "exit-while-others-wait": early(3),
    "return": Failure(5, "exit", ("rank 1 ended with exit status 5",)),
    "return-early": early(7),
    "mpi-abort": Failure(4, "abort", ("rank 1 called MPI_Abort with error code 4",)),
    "truncate": Failure(1, "error", ("a receive of rank 1 failed with MPI_ERR_TRUNCATE", FATAL)),
    "wrong-root": Failure(1, "error", ("called MPI_Bcast, which failed with MPI_ERR_ROOT", FATAL)),
    "spawned": Failure(
        1,
        "error",
        ("rank 1 called MPI_Comm_spawn, which failed with MPI_ERR_SPAWN", "program other ", FATAL),
    ),
    "other-thread": Failure(
        1,
        "unsupported",
        ("a thread created by the program called MPI_Send", "less than MPI_THREAD_SERIALIZED"),
    ),
    "file": Failure(
        1,
        "unsupported",
        (
            "rank 1 called MPI_File_open, and the fabric",
            "has no storage",
            "add a table [storage]",
        ),
    ),
    "endless-memory": Failure(
        1, "memory", ("rank 1 asked for more shared memory", "vm.overcommit_memory=1")
    ),
}


@dataclass(frozen=True)
class Place:
    """Working directory of a run, to detect leftover files."""

    work: Path
    temporary: Path

    @property
    def record(self) -> Path:
        return self.work / "record.json"

    def environment(self) -> dict[str, str]:
        return {**os.environ, "TMPDIR": str(self.temporary)}

    def left(self) -> set[str]:
        assert list(self.temporary.iterdir()) == []
        return {path.name for path in self.work.iterdir()}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    found = Place(tmp_path / "work", tmp_path / "tmp")
    found.work.mkdir()
    found.temporary.mkdir()
    return found


def fail(program: Program, place: Place, way: str, *options: str) -> Result:
    command = simulated.weft_command(
        program("failures.c"), way, options=(*options, "--json", "record.json")
    )
    result = simulated.run_command(command, place.environment(), cwd=place.work)
    return Result(result.status, result.stdout, result.stderr, simulated.read_record(place.record))


@pytest.mark.parametrize("way", FAILURES)
def test_a_failure_is_one_message_a_status_and_a_record(
    program: Program, place: Place, way: str
) -> None:
    expected = FAILURES[way]
    result = fail(program, place, way)
    assert result.status == expected.status
    (said,) = result.messages
    for words in expected.says:
        assert words in said
    assert "Traceback" not in result.stderr

    outcome = result.record["outcome"]
    assert outcome["kind"] == expected.kind
    assert said == f"weft: {outcome['message']}"
    assert result.record["exit_status"] == expected.status
    assert place.left() == {"record.json"}


@pytest.mark.parametrize("offload", ["message", "off"])
@pytest.mark.parametrize(
    "way",
    [
        "other-collective",
        "other-count",
        "skipped-allreduce",
        "late-allreduce",
        "receive-without-send",
        "crossed",
    ],
)
def test_it_is_the_same_failure_however_it_is_offloaded(
    program: Program, place: Place, way: str, offload: str
) -> None:
    expected = FAILURES[way]
    result = fail(program, place, way, "--offload", offload)
    assert result.status == expected.status
    (said,) = result.messages
    for words in expected.says:
        assert words in said
    assert result.record["outcome"]["kind"] == expected.kind


def test_shared_memory_in_too_many_blocks_names_blocks_that_do(
    program: Program, place: Place
) -> None:
    blocks = "smpi/shared-malloc-blocksize"
    result = fail(program, place, "shared-memory", "--cfg", f"{blocks}:4096")
    assert (result.status, result.record["outcome"]["kind"]) == (1, "memory")
    (said,) = result.messages
    assert "blocks of 4096 B (vm.max_map_count is " in said
    assert f"--cfg {blocks}:65536," in said

    larger = fail(program, place, "shared-memory", "--cfg", f"{blocks}:65536")
    assert (larger.status, larger.messages) == (0, [])


def test_what_was_done_before_stands_in_the_record(program: Program, place: Place) -> None:
    result = fail(program, place, "other-count")
    assert result.row(path="stream")["calls"] == 1
    assert result.switch["offloaded"] == 1
    assert result.record["simulated_time_s"] == pytest.approx(7.18688e-6, rel=1e-9)


def test_a_failed_run_leaves_the_old_record_only_where_it_writes_a_new_one(
    program: Program, place: Place
) -> None:
    place.record.write_text("old")
    fail(program, place, "exit")
    assert json.loads(place.record.read_text())["exit_status"] == 3


# ---- Interruption ----


def start(program: Program, place: Place) -> "subprocess.Popen[str]":
    """Start a run that never ends by itself, and wait until its ranks are running."""
    command = simulated.weft_command(
        program("failures.c"), "run-for-ever", options=("--json", "record.json")
    )
    process = subprocess.Popen(
        # nohup ignores SIGHUP, and children inherit the disposition
        ["env", "--default-signal=HUP", *command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=place.work,
        env=place.environment(),
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "running\n"
    return process


def session_members(session: int) -> list[str]:
    """Return the processes of a session; children cannot leave it unnoticed."""
    found = []
    for directory in Path("/proc").iterdir():
        if directory.name.isdigit():
            try:
                name, rest = (directory / "stat").read_text().rsplit(")", 1)
            except OSError:
                continue
            state, _, _, its_session = rest.split()[:4]
            if int(its_session) == session and state != "Z":
                found.append(name)
    return found


@pytest.mark.parametrize(
    ("stop", "signum"),
    [
        (os.kill, signal.SIGINT),
        (os.killpg, signal.SIGINT),
        (os.kill, signal.SIGTERM),
        (os.killpg, signal.SIGTERM),
        (os.kill, signal.SIGHUP),
    ],
)
def test_an_interrupted_run_says_so_and_leaves_nothing(
    program: Program, place: Place, stop: object, signum: int
) -> None:
    """Ctrl-C signals the process group, `kill` only weft."""
    process = start(program, place)
    assert len(session_members(process.pid)) == 2
    assert callable(stop)
    stop(process.pid, signum)
    _, errors = process.communicate(timeout=simulated.TIMEOUT_S)
    assert process.returncode == 128 + signum
    assert errors == "weft: interrupted\n"
    assert session_members(process.pid) == []
    assert place.left() == set()


def test_a_timeout_ends_the_run(program: Program, place: Place) -> None:
    result = fail(program, place, "run-for-ever", "--timeout", "0.5")
    assert result.status == 124
    assert len(result.messages) == 1
    assert result.record["outcome"]["kind"] == "timeout"
    assert place.left() == {"record.json"}


def test_a_second_finalize_is_said(program: Program, tmp_path: Path) -> None:
    source = tmp_path / "twice.c"
    for calls, said in (
        ("MPI_Init(0, 0); MPI_Finalize(); MPI_Finalize();", " called MPI_Finalize twice"),
        ("MPI_Init(0, 0); MPI_Finalize(); MPI_Barrier(MPI_COMM_WORLD);", " called MPI_Barrier"),
        ("MPI_Init(0, 0); MPI_Init(0, 0);", " called MPI_Init"),
        ("MPI_Finalize();", " called MPI_Finalize"),
    ):
        source.write_text(f"#include <mpi.h>\nint main(void) {{ {calls} return 0; }}\n")
        made = compiled.program(source)
        result = simulated.weft("run", "-q", "--fabric", "tofino-4", "-n", "2", str(made))
        assert result.status == 1, (calls, result.stderr)
        assert said in result.stderr, result.stderr
        assert "std::" not in result.stderr
        assert result.stderr.count("\n") == 1


def test_ranks_that_end_without_finalize_are_counted(tmp_path: Path) -> None:
    source = tmp_path / "unfinished.c"
    source.write_text(
        "#include <mpi.h>\nint main(void) { int rank; MPI_Init(0, 0);"
        " MPI_Comm_rank(MPI_COMM_WORLD, &rank); if (rank == 0) MPI_Finalize(); return 0; }\n"
    )
    made = compiled.program(source)
    result = simulated.weft("run", "--fabric", "tofino-4", "-n", "3", str(made))
    assert result.status == 0
    assert "warning: 2 ranks ended without MPI_Finalize, which MPI requires" in result.stderr
