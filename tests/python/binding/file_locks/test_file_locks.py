# SPDX-License-Identifier: LGPL-2.1-only
"""File locks exclude ranks as they exclude processes; waiting for a lock lets other ranks run."""

from pathlib import Path

import pytest

from tests.support.simulated import Run

WAYS = ("fcntl", "lockf", "flock", "ofd")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("way", WAYS)
def test_a_lock_excludes_other_ranks_until_it_is_given_up(run: Run, way: str) -> None:
    assert run("file_locks.c", "exclude", way, ranks=2).lines == [
        "given up: granted",
        "held: refused",
    ]


def test_parts_of_a_file_are_locked_apart(run: Run) -> None:
    """Rank 0 has locked bytes 0 to 9 and 20 to 29, and bytes 100 to 109 for reading."""
    assert run("file_locks.c", "parts", ranks=2).stdout.splitlines() == [
        "unlocked part: granted",
        "before it: refused",
        "after it: refused",
        "reading: granted",
        "writing: refused",
        "behind all: Invalid argument",
        "held: 1 at 20, 10 bytes, by rank 0: 1",
        "of the description: 1 at 20, 10 bytes, by rank 0: 1",
        "tested: refused",
        "tested behind: refused",
        "tested reading: granted",
    ]


@pytest.mark.parametrize("way", WAYS)
def test_ranks_take_turns_in_simulated_time(run: Run, way: str) -> None:
    """Four ranks each hold the lock three times, for a millisecond each."""
    assert run("file_locks.c", "count", way).lines == ["counted 12, in 0.012 s"]


@pytest.mark.parametrize("way", WAYS)
def test_threads_lock_as_their_rank(run: Run, way: str) -> None:
    assert run("file_locks.c", "thread", way).lines == ["counted 4"]


@pytest.mark.parametrize("way", ["close", "close_range", "closefrom"])
def test_closing_a_file_gives_up_the_own_record_locks(run: Run, way: str) -> None:
    assert run("file_locks.c", "closing", way, ranks=2).stdout.splitlines() == [
        "of rank 0: refused",
        "of rank 1: granted",
        "of rank 0: granted",
    ]


@pytest.mark.parametrize("way", WAYS)
def test_a_rank_that_ends_gives_up_its_locks(run: Run, way: str) -> None:
    result = run("file_locks.c", "ending", way, ranks=2)
    assert result.lines == ["after the end: granted"]
    assert 2 < result.record["simulated_time_s"] < 2.1


@pytest.mark.parametrize("way", ["fcntl", "lockf"])
def test_a_record_lock_that_would_never_come_is_a_deadlock(run: Run, way: str) -> None:
    assert run("file_locks.c", "crossing", way, ranks=2).lines == [
        "rank 0: a deadlock",
        "rank 1: granted",
    ]


@pytest.mark.parametrize("way", ["flock", "ofd"])
def test_other_locks_that_never_come_are_reported(run: Run, way: str, tmp_path: Path) -> None:
    result = run("file_locks.c", "crossing", way, ranks=2, status=1)
    assert result.record["outcome"]["kind"] == "deadlock"
    (message,) = result.messages
    assert f" Rank 0 waits for a lock of {tmp_path / 'b'}, which rank 1 has locked." in message
    assert f" Rank 1 waits for a lock of {tmp_path / 'a'}, which rank 0 has locked." in message


def test_a_rank_may_exclude_itself(run: Run, tmp_path: Path) -> None:
    """Uses two descriptors: record locks belong to the process, flock locks to the descriptor."""
    assert run("file_locks.c", "twice", "fcntl", ranks=2).lines == ["again: granted"]
    (message,) = run("file_locks.c", "twice", "flock", ranks=2, status=1).messages
    assert f" Rank 0 waits for a lock of {tmp_path / 'twice'}, which rank 0 has locked." in message


@pytest.mark.parametrize("way", WAYS)
def test_locks_of_other_processes_exclude_ranks(run: Run, way: str) -> None:
    """A child process holds the lock, and writes a byte before releasing it."""
    assert run("file_locks.c", "outside", way, ranks=2).lines == [
        "at once: refused",
        "later: granted, 1 byte",
    ]
