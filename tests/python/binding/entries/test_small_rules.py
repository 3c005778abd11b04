# SPDX-License-Identifier: LGPL-2.1-only
"""Arguments and data that SMPI, contrary to MPI, accepts, refuses or loses."""

import subprocess
import sysconfig
from pathlib import Path

import pytest

from tests.support.simulated import Run


@pytest.mark.parametrize("messages", ["weft", "smpi"])
def test_arguments_and_contents(run: Run, messages: str) -> None:
    assert run("small_rules.c", ranks=4, options=("--messages", messages)).lines == ["right"]


def test_datatypes_say_how_they_were_made(run: Run) -> None:
    """SMPI reports the simpler constructors that it uses internally, and loses empty types."""
    assert run("type_contents.c", ranks=2).lines == ["right"]


@pytest.mark.parametrize("source", ["object_names.c", "object_names.f90"])
def test_names_of_objects(run: Run, source: str) -> None:
    """SMPI returns no name for unnamed objects, and C names for Fortran types."""
    result = run(source, ranks=2, options=("-q",))
    assert (result.lines, result.stderr) == (["right"] * 2, "")


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_complex_products(run: Run, ranks: int) -> None:
    """SMPI multiplies the real and imaginary parts of Fortran complex numbers separately."""
    assert run("complex_products.c", ranks=ranks, options=("-q",)).status == 0


@pytest.mark.parametrize("ppn", [2, 4])
def test_mpi_4_and_errors_that_the_program_handles(run: Run, ppn: int) -> None:
    """weft prints nothing about errors that are passed to the program's handler."""
    result = run("mpi_4.c", options=("-q", "--ppn", str(ppn)))
    assert (result.lines, result.stderr) == (["right"] * 4, "")


@pytest.mark.parametrize("standard", ["4_0", "4_1", "5_0"])
def test_changes_of_a_standard(run: Run, standard: str) -> None:
    """The test covers lines of docs/mpi-changes.csv that no other test covers."""
    result = run(f"mpi_{standard}_changes.c", options=("-q", "--ppn", "2"))
    assert (result.lines, result.stderr) == (["right"] * 4, "")


def test_cmake_finds_mpi_4(tmp_path: Path) -> None:
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.16)\nproject(x C)\n"
        "find_package(MPI 4.1 REQUIRED COMPONENTS C)\n"
    )
    scripts = Path(sysconfig.get_path("scripts"))
    compiler = f"-DCMAKE_C_COMPILER={scripts / 'weft-cc'}"
    command = [str(scripts / "cmake"), "-S", ".", "-B", "build", compiler]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    assert 'suitable version "4.1"' in found.stdout
