# SPDX-License-Identifier: LGPL-2.1-only
"""File names, shared by MPI I/O and all other interfaces; the directory in which ranks run."""

import json
from pathlib import Path

import pytest

from tests.support import campaign_files
from tests.support.simulated import Program, Result, weft

STORED = ("--set", "disk.read_bandwidth=3GBps", "--set", "disk.write_bandwidth=2GBps")
SERVED = (
    "--set",
    'storage.hosts=["host-3"]',
    *(word.replace("disk", "storage") for word in STORED),
)


def run(
    directory: Path, program: Path | str, *words: str, options: tuple[str, ...] = STORED
) -> Result:
    """Run a program on two ranks in a directory."""
    command = ("run", "-q", "--fabric", "tofino-4", "-n", "2", *options, "--", str(program), *words)
    return weft(*command, cwd=directory)


@pytest.mark.parametrize("source", ["file_names.c", "file_names.cpp", "file_names.f90"])
@pytest.mark.parametrize("options", [STORED, SERVED], ids=["disk", "storage"])
def test_mpi_sees_the_files_that_others_see(
    program: Program, tmp_path: Path, source: str, options: tuple[str, ...]
) -> None:
    result = run(tmp_path, program(source), options=options)
    assert result.stdout == "0 wrong\n", result.stdout + result.stderr


def test_a_directory_of_files_is_that_of_all_interfaces(program: Program, tmp_path: Path) -> None:
    """The program's own name is relative to the current directory."""
    (tmp_path / "program").symlink_to(program("file_names.c"))
    options = ("--files", "made/here", *STORED)
    result = run(tmp_path, "./program", options=options)
    assert result.stdout == "0 wrong\n", result.stdout + result.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["made", "program"]
    assert (tmp_path / "made" / "here" / "below" / "second").read_text() == "also"


def test_a_failed_open_names_the_file_and_the_reason(program: Program, tmp_path: Path) -> None:
    result = run(tmp_path, program("file_open.c"), "no/such/directory/file", options=STORED)
    assert result.status == 1
    expected = (
        f"MPI_ERR_NO_SUCH_FILE ({tmp_path}/no/such/directory/file: No such file or directory)"
    )
    assert expected in result.stderr


def test_the_record_names_files_from_the_directory_of_the_run(
    program: Program, tmp_path: Path
) -> None:
    (tmp_path / "below").mkdir()
    outside = tmp_path / "outside"
    for where, name in [(tmp_path, "./below/../inside"), (tmp_path / "below", str(outside))]:
        options = ("--json", "record.json", *STORED)
        assert run(where, program("file_open.c"), name, options=options).status == 0
        record = json.loads((where / "record.json").read_text())
        assert [row["name"] for row in record["files"]] == [name if name[0] == "/" else "inside"]


def test_many_files_may_be_open(program: Program, tmp_path: Path) -> None:
    """The number exceeds a process's limit, which applies to all ranks here."""
    assert run(tmp_path, program("file_open.c"), "file", "1500").status == 0
    assert len(list(tmp_path.iterdir())) == 2 * 1500


def test_runs_of_a_comparison_see_the_files_that_were_there(
    program: Program, tmp_path: Path
) -> None:
    """The program reads an input, and creates a file that must not exist before."""
    (tmp_path / "input").write_text("given")
    options = ("--compare", *STORED)
    result = run(tmp_path, program("file_exclusive.c"), options=options)
    assert result.status == 0, result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["input"]
    assert (tmp_path / "input").read_text() == "given"


def test_runs_of_a_campaign_do_not_share_what_they_make(program: Program, tmp_path: Path) -> None:
    (tmp_path / "input").write_text("given")
    text = f"""
[campaign]
name = "stored"
[programs.exclusive]
path = "{program("file_exclusive.c")}"
[[runs]]
program = "exclusive"
fabric = "tofino-4"
ranks = 2
disk.read_bandwidth = "3GBps"
disk.write_bandwidth = ["1GBps", "2GBps", "4GBps"]
"""
    campaign_files.written(tmp_path, text)
    result = campaign_files.weft("run", "small.toml", cwd=tmp_path)
    assert result.status == 0, result.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"input", "small.runs", "small.toml"}
