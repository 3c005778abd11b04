# SPDX-License-Identifier: LGPL-2.1-only
"""Rank stacks: sizes, guard pages, and the report of an overflow."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.support import simulated
from tests.support.simulated import Program, Result
from weft.base import paths

STACK_KIB = 64
TOUCHES_THE_LAST_PAGE_KIB = 63
"""The function's frames are slightly smaller, because its callers also need stack."""


def run(
    program: Program,
    place: Path,
    *arguments: str,
    guards: str = "",
    stack_kib: int | None = STACK_KIB,
    options: tuple[str, ...] = (),
    ranks: int = 4,
) -> Result:
    size = () if stack_kib is None else ("--cfg", f"contexts/stack-size:{stack_kib}")
    command = simulated.weft_command(
        program("stack.c"),
        *arguments,
        ranks=ranks,
        options=("-q", "--json", str(place / "r.json"), *size, *options),
    )
    result = simulated.run_command(command, {"WEFT_STACK_GUARDS": guards} if guards else {})
    record = json.loads((place / "r.json").read_text())
    return Result(result.status, result.stdout, result.stderr, record)


@pytest.mark.parametrize("guards", ["", "mappings"])
@pytest.mark.parametrize("arguments", [("100",), ("64", "jump")])
def test_an_overflow_is_told_with_the_size_that_was_too_small(
    program: Program, tmp_path: Path, guards: str, arguments: tuple[str, ...]
) -> None:
    result = run(program, tmp_path, *arguments, guards=guards)
    assert result.status == 139
    assert result.messages == [
        "weft: stack overflow: rank 1 needs more stack than the"
        f" {STACK_KIB} KiB that it has (SIGSEGV):"
        f" give each rank more, for example --cfg contexts/stack-size:{8 * STACK_KIB} (in KiB)"
    ]
    assert result.record["outcome"]["kind"] == "stack-overflow"
    assert result.record["outcome"]["rank"] == 1


C_ARRAY = """
#include <mpi.h>
static int far(void) { volatile char array[BYTES]; array[0] = 1; return array[0]; }
int main(int argc, char** argv)
{
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == ranks - 1) far();
  MPI_Finalize();
  return 0;
}
"""
FORTRAN_ARRAY = """
program main
use mpi
integer rank, ranks, error
call MPI_Init(error)
call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
call MPI_Barrier(MPI_COMM_WORLD, error)
if (rank == ranks - 1) call far(BYTES)
call MPI_Finalize(error)
end program
subroutine far(bytes)
integer, intent(in) :: bytes
integer(1), volatile :: array(bytes)
array(1) = 1
end subroutine
"""


@pytest.mark.parametrize("guards", ["", "mappings"])
@pytest.mark.parametrize("mib", [16, 1024])
@pytest.mark.parametrize(
    ("word", "name", "source"),
    [("cc", "far.c", C_ARRAY), ("cxx", "far.cpp", C_ARRAY), ("f90", "far.F90", FORTRAN_ARRAY)],
)
def test_an_array_that_only_its_far_end_is_touched_of_does_not_jump_over_the_guard(
    word: str, name: str, source: str, mib: int, guards: str, tmp_path: Path
) -> None:
    """The far end lies in the stack of another rank, which has enough space for it."""
    (tmp_path / name).write_text(source)
    options = [f"-DBYTES={mib << 20}", "-O2", *(["-fstack-arrays"] if word == "f90" else [])]
    command = [*simulated.WEFT, word, *options, name, "-o", "far"]
    subprocess.run(command, cwd=tmp_path, check=True)
    result = simulated.run_command(
        simulated.weft_command(tmp_path / "far", ranks=64, on="tofino-64x64", options=("-q",)),
        {"WEFT_STACK_GUARDS": guards} if guards else {},
    )
    assert result.status == 139
    assert result.messages == [
        "weft: stack overflow: rank 63 needs more stack than the 8 MiB that it has (SIGSEGV):"
        " give each rank more, for example --cfg contexts/stack-size:65536 (in KiB)"
    ]


def test_a_stack_that_is_large_enough_serves(program: Program, tmp_path: Path) -> None:
    result = run(program, tmp_path, "100", stack_kib=8 * STACK_KIB)
    assert (result.status, result.stdout) == (0, "4 ranks are well\n")
    assert result.record["stacks"] == {"bytes": 512 * 1024, "number": 4, "unguarded": 0}


def test_a_stack_has_eight_mebibytes(program: Program, tmp_path: Path) -> None:
    result = run(program, tmp_path, "8000", stack_kib=None)
    assert (result.status, result.record["stacks"]["bytes"]) == (0, 8 << 20)
    over = run(program, tmp_path, "9000", stack_kib=None)
    assert over.record["outcome"]["kind"] == "stack-overflow"
    assert "than the 8 MiB that it has" in over.record["outcome"]["message"]


@pytest.mark.parametrize(("ranks", "kib"), [(1024, 8192), (1025, 2048), (32769, 256)])
def test_many_ranks_have_smaller_ones(
    program: Program, tmp_path: Path, ranks: int, kib: int
) -> None:
    latency, record = program(str(paths.example("allreduce_latency.c"))), tmp_path / "r.json"
    options = ("-q", "--no-privatize", "--json", str(record))
    command = simulated.weft_command(
        latency, "8", "1", ranks=ranks, on="fat-tree-65536", options=options
    )
    assert simulated.run_command(command).status == 0
    assert simulated.read_record(record)["stacks"]["bytes"] == kib << 10


@pytest.mark.parametrize("guards", ["none", "by the user"])
def test_what_no_guard_notices_is_told_at_the_end(
    program: Program, tmp_path: Path, guards: str
) -> None:
    by_user = guards == "by the user"
    result = run(
        program,
        tmp_path,
        str(TOUCHES_THE_LAST_PAGE_KIB),
        guards="" if by_user else guards,
        options=("--cfg", "contexts/guard-size:0") if by_user else (),
    )
    assert (result.status, result.stdout) == (1, "4 ranks are well\n")
    *once, said = result.messages
    assert said == (
        "weft: rank 1 overflowed its stack and may have overwritten data of other ranks; its"
        " stack has 64 KiB: give each rank a larger one, for example"
        " --cfg contexts/stack-size:512 (KiB)"
    )
    assert [line.startswith("weft: stacks: 4 of the 4 ranks have no guard") for line in once] == (
        [] if by_user else [True]
    )
    assert result.record["outcome"]["kind"] == "stack-overflow"
    assert result.record["stacks"]["unguarded"] == 4


def test_another_way_to_switch_between_ranks_keeps_simgrids_stacks(
    program: Program, tmp_path: Path
) -> None:
    chosen = ("--cfg", "contexts/factory:thread")
    result = run(program, tmp_path, "10", stack_kib=None, options=chosen)
    assert (result.status, result.stdout) == (0, "4 ranks are well\n")
    assert "stacks" not in result.record


def test_stacks_of_actors_that_come_and_go_are_used_again(program: Program, tmp_path: Path) -> None:
    result = run(program, tmp_path, "1", "actors")
    assert (result.status, result.stdout) == (0, "4 ranks are well\n")
    assert 4 < result.record["stacks"]["number"] < 50
