# SPDX-License-Identifier: LGPL-2.1-only
"""Process state of libraries: each rank has its own state, like a process."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.support import compiled, simulated
from tests.support.places import TESTS

RANKS = 4
COMPILERS = {".c": ["gcc", "-lm"], ".cpp": ["g++"], ".f90": ["gfortran", "-cpp"]}


def of_rank(text: str, rank: int) -> list[str]:
    return [line for line in text.splitlines() if line.startswith(f"rank {rank}:")]


def alone(source: Path, rank: int, folder: Path, environment: dict[str, str]) -> list[str]:
    """Return the output of a separate process without MPI, given its rank."""
    compiler, *libraries = COMPILERS[source.suffix]
    command = [compiler, "-DALONE", "-O1", str(source), *libraries]
    program = compiled.made(f"{source.stem}-alone", [source], command)
    words = [str(program), str(rank)]
    ended = subprocess.run(
        words,
        cwd=folder,
        env={**os.environ, **environment},
        text=True,
        capture_output=True,
        check=True,
    )
    return of_rank(ended.stdout, rank)


@pytest.mark.parametrize("source", ["own_state.c", "own_state.cpp", "own_state.f90"])
@pytest.mark.parametrize("compilers", ["simgrid", "weft"])
def test_each_rank_has_the_state_of_a_process(source: str, compilers: str, tmp_path: Path) -> None:
    path = TESTS / "smpi" / source
    flags = ["-O1", "-g", *(["-cpp"] if path.suffix == ".f90" else [])]
    if compilers == "weft":
        name = {".c": "cc", ".cpp": "cxx", ".f90": "f90"}[path.suffix]
        program = tmp_path / "program"
        made = simulated.weft(name, *flags, str(path), "-o", str(program), "-lm")
        assert made.status == 0, made.stderr
    else:
        program = compiled.program(path, flags)
    environment = {"OWN_COMMON": "common"}
    simulation, process = tmp_path / "simulation", tmp_path / "process"
    for folder in (simulation, process):
        folder.mkdir()
    command = simulated.weft_command(program, ranks=RANKS, options=("-q",))
    result = simulated.run_command(command, environment, cwd=simulation)
    assert result.status == 0, result.stderr
    for rank in range(RANKS):
        expected = alone(path, rank, process, environment)
        assert len(expected) > 3
        assert of_rank(result.stdout, rank) == expected
