# SPDX-License-Identifier: LGPL-2.1-only
"""Memory shared by ranks (smpi/auto-shared-malloc-thresh), for all callers of the allocator.

GCC combines malloc and memset to calloc, and gfortran calls malloc for ALLOCATE: macros and renamed
functions miss these calls.
"""

import subprocess
import sysconfig
from pathlib import Path

import pytest

from tests.support import simulated
from tests.support.places import TESTS

SCRIPTS = Path(sysconfig.get_path("scripts"))
RANKS = 8
ARRAY = 4 << 20
BLOCK = 1 << 20
"""Bytes shared by all ranks, of which each rank's share is measured once."""
FUNCTIONS = (
    *("malloc", "calloc", "malloc+memset", "realloc", "realloc-smaller", "reallocarray"),
    *("aligned_alloc", "posix_memalign", "posix_memalign-2MiB", "memalign", "valloc"),
    *("new", "new[]", "new-nothrow", "new-aligned", "new-aligned-nothrow", "vector"),
    *("make_unique", "pointer"),
)
STATEMENTS = ("allocate", "zero", "assign", "source", "pointer")
FOLDING = ("--cfg", "smpi/auto-shared-malloc-thresh:1000000")
LOCAL = ("--cfg", "smpi/shared-malloc:local")
LEVELS = ("-O0", "-O1", "-O2", "-O3", "-O2 -flto")


def program(command: str, source: str, level: str, here: Path) -> Path:
    path = here / "program"
    words = [str(SCRIPTS / command), *level.split(), str(TESTS / "smpi" / source), "-o", str(path)]
    result = subprocess.run(words, text=True, capture_output=True, check=False, cwd=here)
    assert result.returncode == 0, result.stderr
    return path


def bytes_of_a_rank(path: Path, *arguments: str, options: tuple[str, ...]) -> dict[str, int]:
    command = simulated.weft_command(path, *arguments, ranks=RANKS, options=options)
    lines = simulated.run_command(command).lines
    assert not [line for line in lines if "WRONG" in line]
    return {name: int(size) for name, size in (line.split() for line in lines)}


@pytest.mark.parametrize("level", LEVELS)
def test_all_functions_give_shared_memory(level: str, tmp_path: Path) -> None:
    path = program("weft-cxx", "folded.cpp", level, tmp_path)
    sizes = bytes_of_a_rank(path, *FUNCTIONS, options=FOLDING)
    assert sizes.keys() == set(FUNCTIONS)
    assert {name: size for name, size in sizes.items() if size > 2 * BLOCK // RANKS} == {}
    bytes_of_a_rank(path, options=FOLDING)


@pytest.mark.parametrize("level", LEVELS)
def test_allocate_gives_shared_memory(level: str, tmp_path: Path) -> None:
    path = program("weft-f90", "folded.f90", level, tmp_path)
    sizes = bytes_of_a_rank(path, options=FOLDING)
    assert sizes.keys() == set(STATEMENTS)
    assert {name: size for name, size in sizes.items() if size > 2 * BLOCK // RANKS} == {}


def test_memory_is_a_ranks_own_without_the_option(tmp_path: Path) -> None:
    path = program("weft-cxx", "folded.cpp", "-O2", tmp_path)
    sizes = bytes_of_a_rank(path, *FUNCTIONS, options=())
    assert {name: size for name, size in sizes.items() if abs(size - ARRAY) > BLOCK} == {}
    bytes_of_a_rank(path, options=())


def test_whole_arrays_of_a_place_are_shared(tmp_path: Path) -> None:
    """All ranks share one array; each allocation site of the program has its own array."""
    path = program("weft-cxx", "folded.cpp", "-O2", tmp_path)
    sizes = bytes_of_a_rank(path, *FUNCTIONS, options=(*FOLDING, *LOCAL))
    assert {name: size for name, size in sizes.items() if size > (ARRAY + BLOCK) // RANKS} == {}
    bytes_of_a_rank(path, options=(*FOLDING, *LOCAL))
