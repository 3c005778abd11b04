# SPDX-License-Identifier: LGPL-2.1-only
"""Threads of ranks that call MPI at the same time (MPI_THREAD_MULTIPLE)."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support import compiled, simulated
from tests.support.places import TESTS


def program() -> Path:
    return compiled.program(TESTS / "smpi" / "concurrent_threads.cpp", ("-O1", "-std=c++20"))


def regions() -> Path:
    return compiled.program(TESTS / "smpi" / "concurrent_regions.c", ("-O1", "-fopenmp"))


def run_twice(path: Path, *arguments: str, ranks: int, options: Sequence[str] = ()) -> list[str]:
    """Return the sorted output, which must not depend on the machine's scheduling."""
    command = simulated.weft_command(path, *arguments, on="star-8", ranks=ranks, options=options)
    first = simulated.run_command(command)
    assert first.status == 0, first.stderr
    assert sorted(simulated.run_command(command).lines) == sorted(first.lines)
    return sorted(first.lines)


def test_collectives_of_two_threads_are_in_flight_at_once() -> None:
    (line,) = run_twice(program(), "allreduce", ranks=4)
    found = re.fullmatch(r"at once (\S+) in turn (\S+)", line)
    assert found
    at_once, in_turn = map(float, found.groups())
    assert 0.5 * in_turn <= at_once < 0.99 * in_turn


@pytest.mark.parametrize("ranks", [1, 2, 4])
@pytest.mark.parametrize("what", ["progress", "requests", "spin"])
def test_threads_complete_what_other_threads_have_begun(what: str, ranks: int) -> None:
    assert len(run_twice(program(), what, ranks=ranks)) == ranks


def test_folders_with_names_of_libraries_do_not_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "libweft.so" / "weft-malloc.so"
    folder.mkdir(parents=True)
    monkeypatch.setenv("TMPDIR", str(folder))
    assert len(run_twice(program(), "spin", ranks=2)) == 2


@pytest.mark.parametrize("options", [(), ("--messages", "smpi"), ("--offload", "stream")])
def test_threads_wait_for_each_other_in_simulated_time(options: tuple[str, ...]) -> None:
    lines = run_twice(program(), "locks", ranks=2, options=options)
    assert lines == [f"rank {rank} after 0.011" for rank in range(2)]


@pytest.mark.parametrize("ranks", [1, 3])
def test_members_of_openmps_teams_call_mpi(ranks: int) -> None:
    lines = run_twice(regions(), ranks=ranks)
    neighbours = [(rank - 1) % ranks for rank in range(ranks)]
    right = [
        f"rank {rank} level 1 sum {2 * 5 * (4 * neighbour + 6)} reduced {2 * 6 * ranks}"
        f" critical {2 * 5 * 4} "
        for rank, neighbour in enumerate(neighbours)
    ]
    assert [line.partition("at")[0] for line in lines] == right


@pytest.mark.parametrize(
    ("how", "status", "message"),
    [
        ("alive", 0, ""),
        ("exit", 5, "rank 1 ended with exit status 5"),
        ("abort", 4, "rank 1 called MPI_Abort with error code 4"),
        ("stuck", 1, "3 threads of the program wait for others"),
    ],
)
def test_threads_end_with_their_rank(how: str, status: int, message: str) -> None:
    command = simulated.weft_command(program(), how, on="star-8", ranks=3)
    result = simulated.run_command(command)
    assert result.status == status, result.stderr
    assert message in result.stderr
