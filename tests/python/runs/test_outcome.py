# SPDX-License-Identifier: LGPL-2.1-only
"""Outcomes of runs, derived from the files and the exit status of the process."""

import signal
from dataclasses import replace
from pathlib import Path

import pytest

from weft.base.errors import WeftError
from weft.base.process import ChildExit
from weft.runs.outcome import CRASHED, judge, read_raw_record
from weft.runs.record_data import OutcomePart

COMPLETED = OutcomePart(kind="completed")


def ended(returncode: int, *, timed_out: bool = False) -> ChildExit:
    return ChildExit(returncode, timed_out, 1.0, 1.0, 1)


def test_want_of_memory_is_told_with_both_numbers(tmp_path: Path) -> None:
    starved = replace(
        ended(-signal.SIGKILL),
        peak_memory_bytes=90 << 30,
        starved="this machine had 9 MiB left",
        starved_bytes=3 << 30,
    )
    outcome, status = judge(OutcomePart(kind="unfinished"), starved, tmp_path, None)
    assert (outcome.kind, outcome.signal, status) == ("signal", "SIGKILL", 137)
    assert "it used 3 GiB, and this machine had 9 MiB left; use fewer ranks" in outcome.message


def test_a_good_end_is_completed(tmp_path: Path) -> None:
    assert judge(COMPLETED, ended(0), tmp_path, None) == (COMPLETED, 0)


def test_an_exit_status_is_passed_on(tmp_path: Path) -> None:
    outcome, status = judge(COMPLETED, ended(3), tmp_path, None)
    assert (outcome.kind, outcome.message, status) == (
        "exit",
        "the program ended with exit status 3",
        3,
    )


@pytest.mark.parametrize(
    ("signum", "hint"),
    [
        (signal.SIGSEGV, "contexts/stack-size"),
        (signal.SIGABRT, "above"),
        (signal.SIGKILL, "memory"),
        (signal.SIGFPE, ""),
    ],
)
def test_a_signal_is_128_and_its_number(tmp_path: Path, signum: signal.Signals, hint: str) -> None:
    outcome, status = judge(OutcomePart(kind="unfinished"), ended(-signum), tmp_path, None)
    assert status == 128 + signum
    assert outcome.kind == "signal"
    assert outcome.message.startswith(f"the program crashed ({signum.name})")
    assert hint in outcome.message


@pytest.mark.parametrize("kind", ["deadlock", "mismatch"])
def test_what_the_simulation_found_is_exit_status_1(tmp_path: Path, kind: str) -> None:
    found = OutcomePart(kind=kind, message="rank 0 waits")
    assert judge(found, ended(1), tmp_path, None) == (found, 1)
    assert judge(found, ended(0), tmp_path, None) == (found, 1)


@pytest.mark.parametrize(
    "kind", ["exit", "early-exit", "abort", "error", "unsupported", "stack-overflow"]
)
def test_what_a_rank_did_is_told_with_its_status(tmp_path: Path, kind: str) -> None:
    found = OutcomePart(kind=kind, message="rank 1 did it")
    assert judge(found, ended(42), tmp_path, None) == (found, 42)


def test_a_crash_names_the_rank_where_one_ran(tmp_path: Path) -> None:
    (tmp_path / CRASHED).write_text("12")
    outcome, _ = judge(OutcomePart(kind="unfinished"), ended(-signal.SIGFPE), tmp_path, None)
    assert outcome.message == "rank 12 crashed (SIGFPE)"
    assert (outcome.signal, outcome.rank) == ("SIGFPE", 12)


def test_a_stack_that_is_too_small_is_said_with_its_size(tmp_path: Path) -> None:
    (tmp_path / CRASHED).write_text("12 262144")
    outcome, status = judge(OutcomePart(kind="unfinished"), ended(-signal.SIGSEGV), tmp_path, None)
    assert outcome.message == (
        "stack overflow: rank 12 needs more stack than the 256 KiB that it has (SIGSEGV):"
        " give each rank more, for example --cfg contexts/stack-size:2048 (in KiB)"
    )
    assert (outcome.kind, outcome.signal, outcome.rank) == ("stack-overflow", "SIGSEGV", 12)
    assert status == 139


def test_a_crash_without_mappings_left_is_want_of_memory(tmp_path: Path) -> None:
    (tmp_path / CRASHED).write_text("12 mappings")
    outcome, status = judge(OutcomePart(kind="unfinished"), ended(-signal.SIGABRT), tmp_path, None)
    assert (outcome.kind, outcome.rank, status) == ("memory", 12, 1)
    assert "vm.max_map_count is " in outcome.message
    assert "--cfg smpi/shared-malloc-blocksize:" in outcome.message


def test_leaving_without_the_simulation_is_said(tmp_path: Path) -> None:
    outcome, status = judge(OutcomePart(kind="unfinished"), ended(0), tmp_path, None)
    assert (outcome.kind, status) == ("unfinished", 1)
    assert "MPI_Finalize" in outcome.message


def test_what_the_library_said_is_not_said_again(tmp_path: Path) -> None:
    with pytest.raises(WeftError) as error:
        judge(OutcomePart(kind="unfinished"), ended(2), tmp_path, None)
    assert (str(error.value), error.value.exit_status) == ("", 2)


def test_a_timeout_wins_over_the_signal_that_it_sent(tmp_path: Path) -> None:
    outcome, status = judge(COMPLETED, ended(-9, timed_out=True), tmp_path, 2.5)
    assert (outcome.kind, status) == ("timeout", 124)
    assert "2.5 s" in outcome.message


def test_a_raw_record_is_there_or_not_or_cut_by_a_full_disk(tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    assert read_raw_record(path) is None
    path.write_text('{"schema": "weft-')
    with pytest.raises(WeftError, match=r"temporary directory: .* the disk may be full"):
        read_raw_record(path)


def test_a_library_of_another_version_is_said_to_be_one(tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    path.write_text('{"schema": "weft-run/1", "weft": 1}')
    with pytest.raises(WeftError, match=r"different versions: in the record, 'weft' is 1, but mu"):
        read_raw_record(path)
