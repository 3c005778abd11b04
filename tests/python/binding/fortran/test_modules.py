# SPDX-License-Identifier: LGPL-2.1-only
"""The modules mpi_f08 and mpi: procedures, and programs that must not compile."""

import os
import re
import subprocess
import sysconfig
from pathlib import Path

import pytest
from mpi import fortran_modules, tables

from studies import mpi_functions
from tests.support.places import ROOT, TESTS
from tests.support.simulated import Program, Result, Run, run_command, weft_command

F90 = Path(sysconfig.get_path("scripts"), "weft-f90")
TABLES = ROOT / "src"
GROUPS = {
    "environment": 7,
    "point to point": 20,
    "sections": 7,
    "collectives": 17,
    "non-blocking collectives": 9,
    "communicators": 16,
    "datatypes": 17,
    "operations": 5,
    "attributes": 9,
    "windows": 10,
    "topologies": 5,
    "neighbours": 12,
    "matched probes": 5,
    "persistent requests": 8,
    "infos": 5,
    "error handlers": 6,
    "generalized requests": 1,
}


LARGE_GROUPS = {
    "messages": 7,
    "statuses": 3,
    "collectives": 11,
    "vectors": 7,
    "non-blocking": 3,
    "persistent": 4,
    "neighbours": 3,
    "datatypes": 10,
    "packing": 4,
    "buffers": 1,
    "operations": 2,
    "windows": 4,
    "sections": 2,
    "profiled": 2,
}


def compiled(source: Path, *flags: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [str(F90), *flags, str(source)],
        text=True,
        capture_output=True,
        cwd=source.parent,
        env={**os.environ, "LC_ALL": "C"},
        check=False,
    )


def errors(source: Path, text: str) -> list[str]:
    """Return gfortran's errors about a program with these lines."""
    source.write_text(text)
    result = compiled(source, "-c", "-o", str(source.with_suffix(".o")))
    return re.findall(r"^(?:Error: |weft f90: )(.*)$", result.stderr, re.MULTILINE)


# ---- mpi_f08 ----


@pytest.mark.parametrize(("ranks", "offload"), [(4, "stream"), (6, "message"), (8, "off")])
def test_all_groups_of_procedures_are_right(run: Run, ranks: int, offload: str) -> None:
    result = run("fortran_2008.f90", ranks=ranks, options=("--offload", offload))
    assert result.stdout.splitlines() == [
        *(f"{group}: right {number}" for group, number in GROUPS.items()),
        "ended: T T",
    ]
    sums = result.row(collective="iallreduce", datatype="MPI_INT")
    assert sums["path"] == ("fallback" if offload == "off" else offload)


@pytest.mark.parametrize(("ranks", "offload"), [(2, "stream"), (7, "off")])
def test_procedures_with_large_counts_are_right(run: Run, ranks: int, offload: str) -> None:
    result = run("large_counts_2008.f90", ranks=ranks, options=("--offload", offload))
    expected = [f"{group}: right {number}" for group, number in LARGE_GROUPS.items()]
    assert result.stdout.splitlines() == expected


def test_one_source_uses_both_modules_and_mpif_h(run: Run) -> None:
    result = run("three_interfaces.f90", ranks=4)
    assert result.stdout.splitlines() == ["mpi_f08: right", "mpi: right", "mpif.h: right"]


def test_attributes_are_shared_with_c(run: Run) -> None:
    lines = run("shared_attributes.f90", ranks=1).stdout.splitlines()
    assert len(lines) == 18
    assert [line for line in lines if not line.endswith(": right")] == []


@pytest.mark.parametrize("offload", ["stream", "off"])
def test_both_modules_give_the_same_results_and_times(
    tmp_path: Path, program: Program, offload: str
) -> None:
    def outcome(*flags: str) -> Result:
        target = tmp_path / f"twin{len(flags)}"
        source = TESTS / "smpi" / "fortran_twins.F90"
        built = compiled(source, *flags, "-o", str(target))
        assert built.returncode == 0, built.stderr
        options = ("--offload", offload)
        return run_command(weft_command(target, ranks=6, options=options))

    old, new = outcome(), outcome("-DF08")
    assert old.status == new.status == 0
    assert old.lines == new.lines
    assert len(new.lines) == 24
    assert [line.split()[-1] for line in new.lines if "Sendrecv" in line] == ["0.00"] * 6
    assert {float(line.split()[-1]) for line in new.lines if "half" in line} == {0.0}


def test_wrong_arguments_are_named(tmp_path: Path) -> None:
    found = errors(
        tmp_path / "wrong.f90",
        "program wrong\n  use mpi_f08\n  implicit none\n  real :: x\n  integer :: n, world\n"
        "  call MPI_Send(x, 1.0, MPI_REAL, 0, 0, MPI_COMM_WORLD)\n"
        "  call MPI_Send(x, 1, MPI_REAL, 0, 0, world)\n"
        "  call MPI_Comm_size(MPI_COMM_WORLD)\n"
        "  call MPI_Waitall(1, MPI_REQUEST_NULL, MPI_STATUSES_IGNORE)\n"
        "  n = MPI_COMM_WORLD\n"
        "end program\n",
    )
    assert found == [
        "Type mismatch in argument 'count' at (1); passed REAL(4) to INTEGER(4)",
        "Type mismatch in argument 'comm' at (1); passed INTEGER(4) to TYPE(mpi_comm)",
        "Missing actual argument for argument 'size' at (1)",
        "Rank mismatch in argument 'array_of_requests' at (1) (rank-1 and scalar)",
        "Cannot convert TYPE(mpi_comm) to INTEGER(4) at (1)",
    ]


def test_wrong_arguments_beside_large_counts_are_named(tmp_path: Path) -> None:
    found = errors(
        tmp_path / "wrong.f90",
        "program wrong\n  use mpi_f08\n  implicit none\n  real :: x(3)\n"
        "  integer(MPI_COUNT_KIND) :: n = 3\n  integer :: counts(3), places(3)\n"
        "  call MPI_Send(x, n, MPI_REAL, 0, 0, MPI_COMM_WORLD)\n"
        "  call MPI_Gatherv(x, &\n    n, MPI_REAL, x, &\n    counts, places, MPI_REAL, &\n"
        "    0, MPI_COMM_WORLD)\n"
        "  call MPI_Recv(x, n, MPI_REAL, 0, 0, MPI_COMM_WORLD)\n"
        "  call MPI_Recv(x, 3, MPI_REAL, 0, 0, MPI_COMM_WORLD)\n"
        "  call MPI_Type_size(MPI_REAL, x(1))\n"
        "end program\n",
    )
    assert found == [
        "Type mismatch in argument 'recvcounts' at (1); passed INTEGER(4) to INTEGER(8)",
        "Missing actual argument for argument 'status' at (1)",
        "Missing actual argument for argument 'status' at (1)",
        "Type mismatch in argument 'size' at (1); passed REAL(4) to INTEGER(4)",
    ]


# ---- mpi ----

SLOPPY = """\
program sloppy
  use mpi
  implicit none
  integer :: code, request, status(MPI_STATUS_SIZE), one, two(2), place, rank
  real(8) :: x, cube(2, 2, 2)
  character(len=10) :: text
  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Isend(cube(1, 1, 1), 8, MPI_REAL8, rank, 0, MPI_COMM_WORLD, request, code)
  call MPI_Recv(cube, 8, MPI_REAL8, rank, 0, MPI_COMM_WORLD, status, code)
  call MPI_Waitall(1, request, status, code)
  call MPI_Waitany(1, request, place, MPI_STATUS_IGNORE, code)
  call MPI_Gatherv(rank, 1, MPI_INTEGER, one, 1, 0, MPI_INTEGER, 0, MPI_COMM_SELF, code)
  call MPI_Allreduce(MPI_IN_PLACE, x, 1, MPI_REAL8, MPI_SUM, MPI_COMM_SELF, code)
  call MPI_Bcast(text, 10, MPI_CHARACTER, 0, MPI_COMM_SELF, code)
  call MPI_Type_extent(MPI_REAL8, two(1), code)
  call MPI_Type_struct(1, 1, 0, MPI_INTEGER, one, code)
  if (place == MPI_UNDEFINED .and. two(1) == 8) print '(a)', 'right'
  call MPI_Finalize(code)
end program
"""


def test_scalars_stand_for_arrays_of_one_element(tmp_path: Path) -> None:
    source = tmp_path / "sloppy.f90"
    source.write_text(SLOPPY)
    built = compiled(source, "-O1", "-o", str(tmp_path / "sloppy"))
    assert built.returncode == 0, built.stderr
    assert run_command(weft_command(tmp_path / "sloppy", ranks=2)).lines == ["right"] * 2


def test_the_old_module_finds_wrong_arguments_too(tmp_path: Path) -> None:
    found = errors(
        tmp_path / "wrong.f90",
        "program wrong\n  use mpi\n  real :: x\n  integer :: code\n"
        "  call MPI_Send(x, 1.0, MPI_REAL, 0, 0, MPI_COMM_WORLD, code)\n"
        "  call MPI_Barrier(MPI_COMM_WORLD)\n"
        "end program\n",
    )
    assert found == [
        "Type mismatch in argument 'count' at (1); passed REAL(4) to INTEGER(4)",
        "Missing actual argument for argument 'ierror' at (1)",
    ]


# ---- The tables ----


def test_the_table_has_calls_of_mpi_each_once() -> None:
    text = (ROOT / "src" / "compilers" / "mpi-calls").read_text(encoding="utf-8")
    lines = [line.rpartition(":")[2] for line in text.splitlines() if not line.startswith("#")]
    listed = {name.removeprefix("-") for line in lines for name in line.split()}
    rows = [row for row in tables.procedures(TABLES / "mpi" / "procedures") if row.mark != "="]
    names = [row.name for row in rows if row.chapter not in (tables.REMOVED, tables.LARGE)]
    of_fortran = {"Sizeof", "F_sync_reg"}
    assert len(names) == len(set(names)) > 420
    assert set(names) - listed <= of_fortran


def test_the_table_marks_what_is_missing() -> None:
    assert (ROOT / "src" / "compilers" / "mpi-calls").read_text("utf-8") == mpi_functions.marked()


def test_lines_of_the_modules_and_of_mpif_h_fit() -> None:
    rows = tables.procedures(TABLES / "mpi" / "procedures")
    constants = tables.constants(TABLES / "binding" / "fortran" / "constants")
    for text in (
        fortran_modules.f08(tables.with_large_forms(rows), constants),
        fortran_modules.mpi(rows, constants),
    ):
        assert max(map(len, text.splitlines())) <= 132
    assert max(map(len, fortran_modules.include_file(constants).splitlines())) <= 72
