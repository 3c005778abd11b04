# SPDX-License-Identifier: LGPL-2.1-only
"""Ranks that wait for each other outside MPI end the run; other waits do not."""

import fcntl
from pathlib import Path

import pytest

from tests.support.simulated import Run
from weft.base import blocked

WAYS = {
    **{way: way for way in ("accept", "recv", "poll")},
    **{"pipe": "read", "inotify": "read", "fifo": "open"},
    **{"sem_wait": "a wait for another thread", "condition": "a wait for another thread"},
}


@pytest.fixture(autouse=True)
def impatience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocked, "LIMIT_S", 1)
    monkeypatch.setattr(blocked, "_LOOK_S", 0.2)


@pytest.mark.parametrize("way", WAYS)
def test_a_rank_that_blocks_all_others_ends_the_run(
    run: Run, way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("blocked.c", way, ranks=2, status=1)
    (message,) = result.messages
    assert f"rank 0 has been in {WAYS[way]}" in message
    assert " for 1 s of real time, and no other rank can run" in message
    assert result.record["outcome"]["kind"] == "blocked"
    assert result.record["exit_status"] == 1


@pytest.mark.parametrize("way", ["flock", "fcntl"])
def test_a_lock_that_another_process_holds_ends_the_run(
    run: Run, way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with Path("lock").open("w") as file:
        (fcntl.flock if way == "flock" else fcntl.lockf)(file, fcntl.LOCK_EX)
        result = run("blocked.c", way, ranks=2, status=1)
    assert result.messages == [
        f"weft: rank 0 has been in {way} for 1 s of real time, and no other rank can run: a process"
        " outside the simulation holds a lock of the file; let it release the lock"
    ]
    assert result.record["outcome"]["kind"] == "blocked"


@pytest.mark.parametrize("way", ["thread", "child"])
def test_a_rank_that_waits_for_something_else_goes_on(run: Run, way: str) -> None:
    assert run("blocked.c", way, ranks=2).lines == ["ended"]
