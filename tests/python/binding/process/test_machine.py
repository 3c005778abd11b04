# SPDX-License-Identifier: LGPL-2.1-only
"""Ranks see the names, addresses and processors of their simulated hosts."""

import os
from pathlib import Path

import pytest

from tests.python.binding.process.test_clocks import by_weft, run
from tests.support import simulated

CORES = 72
"""Cores per host of the test fabric."""


def facts(line: str) -> dict[str, str]:
    """Return the word pairs after the rank and its host."""
    words = line.split()[3:]
    return dict(zip(words[::2], words[1::2], strict=True))


@pytest.fixture(scope="module")
def in_c() -> Path:
    return by_weft("simulated_machine.c", "-fopenmp")


def test_a_rank_has_the_name_the_address_and_the_processors_of_its_host(in_c: Path) -> None:
    lines = run(in_c, ranks=3).lines
    assert [line.split()[:3] for line in lines] == [
        ["rank", f"{rank}:", f"host-{rank}"] for rank in range(3)
    ]
    found = [facts(line) for line in lines]
    for rank, of_rank in enumerate(found):
        assert of_rank.pop("address") == f"127.1.0.{rank}"
        of_rank.pop("id")
        assert of_rank == {"names": "4", "processors": f"{CORES}", "binds": "1", "threads": "3"}


def test_ranks_of_one_host_agree_and_those_of_others_differ(in_c: Path) -> None:
    command = simulated.weft_command(
        in_c, ranks=4, options=("-q", "--ppn", "2", "--set", "host.cores=8")
    )
    result = simulated.run_command(command)
    assert result.status == 0, result.stderr
    found = [facts(line) for line in result.lines]
    assert [one["address"][-1] for one in found] == ["0", "0", "1", "1"]
    assert [one["processors"] for one in found] == ["8"] * 4
    ids = [one["id"] for one in found]
    assert ids[0] == ids[1] != ids[2] == ids[3]


def test_a_rank_listens_at_its_hosts_address(in_c: Path) -> None:
    assert run(in_c, "sockets").lines == ["accepted 1", "connected 0"]


def test_cxx_and_its_threads_learn_the_same() -> None:
    lines = run(by_weft("simulated_machine.cpp")).lines
    assert lines == [f"rank {rank}: host-{rank} host-{rank} {CORES} {CORES}" for rank in range(2)]


def test_fortran_learns_the_same() -> None:
    lines = run(by_weft("simulated_machine.f90")).lines
    assert lines == [f"rank {rank}: host-{rank} host-{rank} 0 T" for rank in range(2)]


def test_files_of_the_system_describe_the_host_and_the_program() -> None:
    program = by_weft("machine_files.cpp", "-std=c++20")
    cores = f"{CORES}|0-{CORES - 1}"
    names = "|".join([program.name] * 3)
    assert run(program).lines == [
        f"host-{rank}|host-{rank}|{cores}|{names}|{program.name[:15]}|{program}|0"
        for rank in range(2)
    ]


def test_libraries_that_make_threads_see_the_processors_of_this_machine(tmp_path: Path) -> None:
    (tmp_path / "threads.c").write_text(
        "#include <unistd.h>\nlong workers(void) { return sysconf(_SC_NPROCESSORS_ONLN); }\n"
    )
    (tmp_path / "main.c").write_text(
        "#include <mpi.h>\n#include <stdio.h>\n#include <unistd.h>\nlong workers(void);\n"
        "int main(int argc, char** argv)\n{\n"
        "  MPI_Init(&argc, &argv);\n"
        '  printf("%ld %ld\\n", sysconf(_SC_NPROCESSORS_ONLN), workers());\n'
        "  MPI_Finalize();\n  return 0;\n}\n"
    )
    library, program = tmp_path / "libopenblas-test.so", tmp_path / "program"
    for arguments in (
        ("-shared", str(tmp_path / "threads.c"), "-o", str(library)),
        (str(tmp_path / "main.c"), str(library), f"-Wl,-rpath,{tmp_path}", "-o", str(program)),
    ):
        assert simulated.weft("cc", *arguments).status == 0
    assert run(program, ranks=1).lines == [f"{CORES} {os.sysconf('SC_NPROCESSORS_ONLN')}"]
