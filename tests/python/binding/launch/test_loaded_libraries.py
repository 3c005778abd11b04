# SPDX-License-Identifier: LGPL-2.1-only
"""Libraries loaded with dlopen: each rank gets its own copy, which sees the rank's program."""

from pathlib import Path

import pytest

from tests.support import simulated
from tests.support.places import TESTS

SOURCES = TESTS / "smpi" / "plugins"
RANKS = 3


def compiled(source: str, output: Path, *flags: str) -> None:
    compiler = "cxx" if source.endswith(".cpp") else "cc"
    made = simulated.weft(compiler, str(SOURCES / source), "-o", str(output), *flags)
    assert made.status == 0, made.stderr


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Compile the program and its libraries, and return the ranks' output."""
    folder = tmp_path_factory.mktemp("plugins")
    (folder / "parts").mkdir()
    shared = ("-shared", "-fPIC")
    compiled("part.c", folder / "parts" / "libpart.so", *shared)
    needs = (f"-L{folder / 'parts'}", "-lpart", "-Wl,-rpath,$ORIGIN:$ORIGIN/parts")
    compiled("plugin.cpp", folder / "plugin.so", *shared, *needs)
    (folder / "second.so").write_bytes((folder / "plugin.so").read_bytes())
    compiled("nested.c", folder / "nested.so", *shared)
    compiled("broken.c", folder / "broken.so", *shared)
    compiled("loads_plugins.c", folder / "program", "-ldl")
    command = simulated.weft_command(folder / "program", ranks=RANKS, options=("-q",))
    result = simulated.run_command(command, cwd=folder)
    assert result.status == 0, result.stderr
    return result.stdout


def expected(rank: int) -> list[str]:
    """Return the output of a separate process that loads the libraries."""
    first = 101 * rank
    return [
        "loaded before 0",
        f"constructed {first}",
        *("calls 1", "calls 2"),
        *("parts 1", "parts 2"),
        f"offset {100 * rank}",
        f"offset by the program {100 * rank}",
        "same handle 1",
        "same without loading 1",
        "named 1",
        "calls by another 4",
        "global 1",
        "cosine of a system library 1",
        "broken 0",
        "told again 0",
        "missing 0",
        *(["calls in a child 1"] if rank == 1 else []),
        f"constructed {first}",
        "calls of a second 1",
        "calls after the first close 2",
        f"destroyed {rank}",
        "loaded after the last close 0",
        f"constructed {first}",
        "calls after opening 1",
        *(f"destroyed {rank}", f"destroyed {rank}"),
    ]


@pytest.mark.parametrize("rank", range(RANKS))
def test_a_rank_loads_libraries_as_a_process_does(output: str, rank: int) -> None:
    prefix = f"rank {rank}: "
    own = [line.removeprefix(prefix) for line in output.splitlines() if line.startswith(prefix)]
    assert own == expected(rank)


def test_errors_name_the_programs_files(output: str) -> None:
    assert [line for line in output.splitlines() if not line.startswith("rank ")] == [
        "./broken.so: undefined symbol: nobody_has_this",
        "./missing.so: cannot open shared object file: No such file or directory",
    ]
