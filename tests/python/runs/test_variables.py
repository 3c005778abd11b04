# SPDX-License-Identifier: LGPL-2.1-only
"""Programs without per-rank state are shared by all ranks; all other programs are copied."""

import subprocess
from pathlib import Path

import pytest

from tests.support.compiled import example as compiled_example
from weft.base import paths
from weft.runs import launch
from weft.runs.privatization.variables import program_may_be_shared
from weft.runs.request import Request
from weft.runs.simgrid import SimGrid

MAIN = """
    #include <mpi.h>
    {before}
    int main(int n, char** v) {{ MPI_Init(&n, &v); {body} return MPI_Finalize(); }}
"""
COMMON = {
    "nothing": ("", ""),
    "constants": ('static const int table[] = {1, 2}; const char* const names[] = {"a"};', ""),
    "local": ("", "int x[64] = {0}; x[n] = 1;"),
}
OWN = {
    "global": ("int counter;", "counter++;"),
    "initialised": ("double scale = 2;", "scale++;"),
    "static": ("", "static volatile char once; once++;"),
    "thread-local": ("static __thread volatile int mine;", "mine++;"),
    "before-main": ("__attribute__((constructor)) void begin(void) { MPI_Wtime(); }", ""),
    "after-main": ("__attribute__((destructor)) void end(void) { MPI_Wtime(); }", ""),
    "loaded-library": ("#include <dlfcn.h>", "dlopen(v[0], RTLD_LAZY);"),
    # A local label of the assembler is not a symbol.
    "unnamed": ('__asm__(".section .bss\\n.Lhidden: .zero 64\\n.text");', ""),
}


def compiled(folder: Path, parts: tuple[str, str], *options: str) -> Path:
    source, program = folder / "program.c", folder / "program"
    source.write_text(MAIN.format(before=parts[0], body=parts[1]))
    compiler = str(SimGrid().compiler("smpicc"))
    subprocess.run([compiler, "-O1", *options, str(source), "-o", str(program)], check=True)
    return program


@pytest.mark.parametrize("name", COMMON)
def test_a_program_without_variables_is_shared(name: str, tmp_path: Path) -> None:
    assert program_may_be_shared(compiled(tmp_path, COMMON[name]))


@pytest.mark.parametrize("name", OWN)
def test_a_program_with_something_of_a_ranks_own_is_copied(name: str, tmp_path: Path) -> None:
    assert not program_may_be_shared(compiled(tmp_path, OWN[name]))


def test_a_program_whose_symbols_are_gone_is_copied(tmp_path: Path) -> None:
    assert not program_may_be_shared(compiled(tmp_path, COMMON["nothing"], "-s"))


@pytest.mark.parametrize("name", ["allreduce_latency", "halo_exchange"])
def test_examples_of_many_ranks_are_shared_however_they_are_compiled(
    name: str, tmp_path: Path
) -> None:
    source = paths.example(f"{name}.c")
    subprocess.run(
        [str(SimGrid().compiler("smpicc")), "-O0", str(source), "-o", tmp_path / name], check=True
    )
    assert program_may_be_shared(tmp_path / name)


@pytest.mark.parametrize(("own", "setting"), [(False, "no"), (True, "dlopen")])
def test_simgrid_is_told_so(own: bool, setting: str, tmp_path: Path) -> None:
    program = compiled(tmp_path, OWN["global"] if own else COMMON["nothing"])
    plan = launch.prepare(Request.of(fabric="tofino-4", ranks=2, program=str(program)))
    assert f"--cfg=smpi/privatization:{setting}" in launch.build_command(plan, tmp_path)


@pytest.mark.parametrize("name", ["allreduce_latency"])
def test_examples_that_are_run_with_many_ranks_are_shared(name: str) -> None:
    assert program_may_be_shared(compiled_example(name))
