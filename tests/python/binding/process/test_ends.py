# SPDX-License-Identifier: LGPL-2.1-only
"""Ends of ranks from inside libraries (libgfortran, err(), argp), and by their own signals."""

import re
from pathlib import Path

import pytest

from tests.support.simulated import Run

SOURCE = "input_errors.f90"


@pytest.mark.parametrize(
    ("kind", "place", "error"),
    [
        ("missing", "(unit = 11)", "Cannot open file 'no-such-input': No such file or directory"),
        ("new", "(unit = 11)", "Cannot open file 'exists.txt': File exists"),
        ("integer", "(unit = 10, file = 'input.txt')", "Bad integer for item 1 in list input"),
        ("end", "(unit = 10, file = 'input.txt')", "End of file"),
        ("format", "(unit = 10, file = 'input.txt')", "Unexpected end of format string"),
        ("type", "(unit = 10, file = 'input.txt')", "Expected INTEGER for item 1"),
        ("readonly", "(unit = 11, file = 'exists.txt')", "Cannot write to file opened for READ"),
        ("record", "(unit = 11, file = 'direct.dat')", "Non-existing record number"),
        ("backspace", "(unit = 11, file = 'stream.dat')", "Cannot BACKSPACE a file opened for"),
        ("close", "(unit = 10, file = 'input.txt')", "Bad STATUS parameter in CLOSE statement"),
        ("newunit", "", "End of file"),
        ("internal", "", "Bad integer for item 1 in list input"),
        ("recursive", "(unit = 6)", "Recursive I/O: the unit is in use by the statement at line"),
    ],
)
def test_an_error_of_a_fortran_statement_ends_its_rank(
    run: Run, tmp_path: Path, kind: str, place: str, error: str
) -> None:
    (tmp_path / "exists.txt").touch()
    result = run(SOURCE, kind, cwd=tmp_path, status=2)
    assert re.search(
        rf"At line \d+ of file (\S*/)?{SOURCE}{re.escape(place and ' ' + place)}\n"
        rf"Fortran runtime error: .*{re.escape(error)}",
        result.stderr,
    ), result.stderr
    says = "weft: rank 0 ended with exit status 2 before it called MPI_Finalize"
    assert result.messages[-1:] == [says]
    assert result.record["outcome"]["kind"] == "early-exit"


def test_stop_in_the_list_of_a_statement_ends_its_rank(run: Run, tmp_path: Path) -> None:
    result = run(SOURCE, "stop", cwd=tmp_path, status=3)
    says = "weft: rank 0 ended with exit status 3 before it called MPI_Finalize"
    assert result.messages[-1:] == [says]


def test_errors_that_a_program_catches_end_nothing(run: Run, tmp_path: Path) -> None:
    (tmp_path / "exists.txt").write_text("1\nx\n")
    result = run(SOURCE, "caught", cwd=tmp_path)
    lines = [line.strip() for line in result.stdout.splitlines()]
    missing = "Cannot open file 'no-such-input': No such file or directory"
    assert lines == [missing, "bad", "bad", "end", "2"]


def test_procedures_of_defined_output_use_the_unit_of_their_statement(
    run: Run, tmp_path: Path
) -> None:
    result = run(SOURCE, "derived", cwd=tmp_path)
    assert result.stdout.split() == ["point", "7"]
    assert (tmp_path / "input.txt").read_text().split() == ["point", "7"]


def test_a_program_that_only_opens_files_runs(run: Run, tmp_path: Path) -> None:
    """The program calls nothing else of libgfortran, so the linker omits the rest."""
    result = run("only_open.f90", cwd=tmp_path, status=2)
    assert "Cannot open file 'no-such-input'" in result.stderr
    assert (tmp_path / "written.txt").exists()


@pytest.mark.parametrize(
    ("how", "status", "says"),
    [
        ("err", 3, "library_ends: input: No such file or directory"),
        ("errx", 4, "library_ends: input 1"),
        ("error", 5, r"\S*/library_ends: input: No such file or directory"),
        ("error_at_line", 6, r"\S*/library_ends:file:7: input"),
        ("argp", 64, r"\S*: unrecognized option '--no-such-option'"),
        ("exit", 3, ""),
    ],
)
def test_the_c_library_s_ends_are_a_rank_s(run: Run, how: str, status: int, says: str) -> None:
    result = run("library_ends.c", how, status=status)
    assert re.search(f"^{says}", result.stderr, re.MULTILINE), result.stderr
    assert result.messages[-1:] == [
        f"weft: rank 1 ended with exit status {status} before it called MPI_Finalize"
    ]
    assert result.lines == ["exit handler"]  # of the rank that ended


def test_warnings_begin_with_the_program_s_name(run: Run) -> None:
    result = run("library_ends.c", "warn")
    assert "library_ends: input: No such file or directory\n" in result.stderr
    assert result.lines == ["exit handler"] * 4


def test_every_rank_ends_that_calls_errx_after_finalize(run: Run) -> None:
    result = run("library_ends.c", "late", status=7)
    assert result.stderr.count("library_ends: input\n") == 4
    assert result.record["outcome"]["kind"] == "exit"


def test_help_is_printed_by_each_rank_and_is_a_success(run: Run) -> None:
    result = run("library_ends.c", "help")
    assert result.stdout.count("Usage: library_ends [OPTION...]") == 4


def test_a_failed_assertion_names_the_condition(run: Run) -> None:
    result = run("library_ends.c", "assert", status=134)
    assert re.search(
        r"^library_ends: \S*library_ends.c:\d+: end: Assertion `how == NULL' failed",
        result.stderr,
        re.MULTILINE,
    ), result.stderr
    assert result.record["outcome"]["rank"] == 1


@pytest.mark.parametrize("how", ["raise", "kill", "pthread_kill", "sigqueue"])
def test_an_interrupt_that_a_rank_sends_itself_ends_it(run: Run, how: str) -> None:
    """weft starts the simulation with SIGINT blocked."""
    result = run("library_ends.c", how, "2", status=130)
    outcome = result.record["outcome"]
    assert (outcome["kind"], outcome["signal"], outcome["rank"]) == ("signal", "SIGINT", 1)


def test_a_rank_s_handler_of_an_interrupt_is_called(run: Run) -> None:
    result = run("library_ends.c", "raise", "2", "handled")
    assert result.lines == ["caught 2", *["exit handler"] * 4]
