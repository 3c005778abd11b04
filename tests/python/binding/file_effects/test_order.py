# SPDX-License-Identifier: LGPL-2.1-only
"""File effects of ranks follow simulated time, or a note names the overwritten effect."""

from pathlib import Path

import pytest

from tests.support.simulated import Program, Result, weft

TIMED = ("--host-speed", "1Gf")
NOTE = "weft: note: rank 1 {} the file {}, in which rank 0 has written"


def run(directory: Path, program: Path, *words: str, options: tuple[str, ...] = ()) -> Result:
    """Run a program on three ranks in a directory."""
    command = ("run", "-q", "--fabric", "tofino-4", "-n", "3", *options, "--", str(program), *words)
    result = weft(*command, cwd=directory)
    assert result.status == 0, result.stderr
    return result


@pytest.mark.parametrize("source", ["file_order.c", "file_order.cpp", "file_order.f90"])
@pytest.mark.parametrize("options", [(), TIMED], ids=["untimed", "timed"])
def test_ranks_that_open_a_file_together_do_so_before_one_of_them_writes(
    program: Program, tmp_path: Path, source: str, options: tuple[str, ...]
) -> None:
    result = run(tmp_path, program(source), "result", options=options)
    assert (result.stdout, result.messages) == ("computed\n", [])


@pytest.mark.parametrize("what", ["append", "write", "children"])
def test_writes_come_in_simulated_order(program: Program, tmp_path: Path, what: str) -> None:
    result = run(tmp_path, program("file_order.c"), what, options=TIMED)
    assert result.stdout == "rank 2\nrank 1\nrank 0\n"


def test_names_change_in_simulated_order(program: Program, tmp_path: Path) -> None:
    """A rank sees all earlier effects of other ranks, and no later ones."""
    (tmp_path / "there").write_text("")
    result = run(tmp_path, program("file_order.c"), "names", options=TIMED)
    assert sorted(result.stdout.split("\n")) == sorted(
        ["made: 1", "size: 4", "there: 1", "late: 0", "renamed: 0", ""]
    )


@pytest.mark.parametrize(
    ("how", "verb"),
    [
        ("open", "empties"),
        ("fopen", "empties"),
        ("truncate", "empties"),
        ("unlink", "removes"),
        ("rename", "replaces"),
    ],
)
def test_a_note_names_what_a_rank_undoes(
    program: Program, tmp_path: Path, how: str, verb: str
) -> None:
    """No message has informed the rank of the other rank's write."""
    (line,) = run(tmp_path, program("file_order.c"), how).messages
    assert line.startswith(NOTE.format(verb, "written"))
    assert line.endswith("--host-speed times it")
    assert run(tmp_path, program("file_order.c"), how, "told").messages == []
