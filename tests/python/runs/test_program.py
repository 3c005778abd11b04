# SPDX-License-Identifier: LGPL-2.1-only
"""Lookup and checks of the program."""

import shutil
from pathlib import Path

import pytest

from weft.base.errors import WeftError
from weft.runs.program import check_program, find_program
from weft.runs.toolchain import compile_c

SOURCE = (
    "#include <mpi.h>\nint main(int c, char** v) { MPI_Init(&c, &v); MPI_Finalize(); return 0; }\n"
)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("program")
    (directory / "empty.c").write_text(SOURCE)
    compile_c(directory / "empty.c", directory / "empty")
    return directory / "empty"


def refused(path: Path) -> str:
    with pytest.raises(WeftError) as error:
        check_program(path)
    return str(error.value)


def test_what_the_compilers_make_passes(program: Path) -> None:
    check_program(program)


def test_a_program_is_found_as_a_shell_finds_it(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(program.parent)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_program("./empty").samefile(program)
    with pytest.raises(WeftError, match=r"'empty' is not in PATH.*write \./empty"):
        find_program("empty")
    with pytest.raises(WeftError, match="'nothing' is not in PATH and not in this directory"):
        find_program("nothing")
    with pytest.raises(WeftError, match=r"cannot find \./nothing \(No such file"):
        find_program("./nothing")
    with pytest.raises(WeftError, match=r"cannot find empty/x \(Not a directory"):
        find_program("empty/x")
    monkeypatch.setenv("PATH", str(program.parent))
    assert find_program("empty").samefile(program)


def test_a_directory_is_no_program(tmp_path: Path) -> None:
    assert refused(tmp_path) == f"program: {tmp_path} is a directory; name the program in it"


def test_a_script_is_no_program(tmp_path: Path) -> None:
    script = tmp_path / "run.sh"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    assert "is a script" in refused(script)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.py", b"from mpi4py import MPI\n"),
        ("x.py", b"#!/usr/bin/env python3\n"),
        ("solver", b"#!/usr/bin/env -S python3.11 -u\n"),
        ("solver", b"#!/opt/bin/pypy3\nimport mpi4py\n"),
        ("python3", b"\x7fELF"),
        ("python3.11", b"#!/bin/bash\n"),
    ],
)
def test_python_is_told_that_it_cannot_run(name: str, content: bytes, tmp_path: Path) -> None:
    """Previously, the advice was to compile the script with `weft cc`."""
    script = tmp_path / name
    script.write_bytes(content)
    script.chmod(0o755)
    said = refused(script)
    assert said.startswith(
        f"program: {script} is a Python script; Python programs (mpi4py) cannot run"
    )
    assert said.endswith("with `weft replay` (`weft help traces`)")
    assert "\n" not in said


@pytest.mark.parametrize("content", [b"", b"int main", b"\x7fEL"])
def test_a_file_of_another_kind_is_no_program(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "program.c"
    path.write_bytes(content)
    assert "is not a compiled program" in refused(path)
    assert "weft cc" in refused(path)


def test_a_program_must_be_executable(program: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copyfile(program, tmp_path / "copy"))
    copy.chmod(0o644)
    assert "is not executable" in refused(copy)


@pytest.mark.parametrize("size", [16, 100, 3000])
def test_a_program_must_be_whole(program: Path, tmp_path: Path, size: int) -> None:
    cut = tmp_path / "cut"
    cut.write_bytes(program.read_bytes()[:size])
    cut.chmod(0o755)
    assert "is damaged" in refused(cut)


def test_a_program_of_another_compiler_is_told_from_ours() -> None:
    found = shutil.which("true")
    assert found is not None
    message = refused(Path(found))
    assert (
        "was not compiled for SMPI (it does not use SimGrid); compile it with `weft cc`" in message
    )


def test_a_library_without_a_main_program_is_refused(tmp_path: Path) -> None:
    (tmp_path / "part.c").write_text("int part(void) { return 0; }\n")
    compile_c(tmp_path / "part.c", tmp_path / "part")
    assert "it has no main function that SMPI can call" in refused(tmp_path / "part")


def test_a_compiler_error_is_shown_with_its_command(tmp_path: Path) -> None:
    (tmp_path / "bad.c").write_text("int main( {\n")
    with pytest.raises(
        WeftError, match=r"compiler: .*smpicc .*bad\.c .* ended with status 1:\n.*error"
    ):
        compile_c(tmp_path / "bad.c", tmp_path / "bad")
