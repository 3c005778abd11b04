# SPDX-License-Identifier: LGPL-2.1-only
"""`[mpi] progress`: progress of non-blocking collectives on the hosts."""

from pathlib import Path

import pytest

from tests.support import fabrics
from tests.support.simulated import Program, Run, run_command, weft_command

RANKS, ROUNDS = 16, 4
SHORT, LONG = 1024, 1 << 18
COMPUTE_US = 3600  # an integer number of us between up to six tests
SWITCHED_OFF = ("--offload", "off", "--fallback", "allreduce=recursive_doubling")


def times(
    run: Run, tmp_path: Path, progress: str, size: int, tests: int = 0, *, offload: bool = False
) -> tuple[float, float, bool]:
    """Return an Allreduce's time in us, alone and with computation, and true if a test ended it."""
    made = fabrics.make(tmp_path, "star", None, "ideal" if offload else "l2")
    path = fabrics.with_free_hosts(tmp_path, str(made))
    if progress:
        path.write_text(path.read_text() + f'[mpi]\nprogress = "{progress}"\n')
    options = ("--cfg", "smpi/test:1e-9", *(() if offload else SWITCHED_OFF))
    arguments = (str(size), str(COMPUTE_US), str(tests))
    result = run("progress.c", *arguments, on=str(path), ranks=RANKS, options=options)
    alone, together, found = result.lines[0].split()
    return float(alone), float(together), found == "1"


@pytest.mark.parametrize("progress", ["", "thread"])
@pytest.mark.parametrize("size", [SHORT, LONG])
def test_with_a_thread_it_is_done_while_the_rank_computes(
    run: Run, tmp_path: Path, progress: str, size: int
) -> None:
    alone, together, _ = times(run, tmp_path, progress, size)
    assert 0 < alone < COMPUTE_US
    assert together == pytest.approx(COMPUTE_US, abs=0.01)


def test_in_calls_the_first_round_travels_and_the_others_wait(run: Run, tmp_path: Path) -> None:
    alone, together, _ = times(run, tmp_path, "calls", SHORT)
    assert together == pytest.approx(COMPUTE_US + (ROUNDS - 1) / ROUNDS * alone, rel=1e-6)


def test_in_calls_long_messages_wait_for_their_receivers(run: Run, tmp_path: Path) -> None:
    alone, together, _ = times(run, tmp_path, "calls", LONG)
    assert together == pytest.approx(COMPUTE_US + alone, rel=1e-6)


@pytest.mark.parametrize("size", [SHORT, LONG])
def test_each_test_gets_it_further(run: Run, tmp_path: Path, size: int) -> None:
    """Each test advances one round; with long messages, the first test starts the first round."""
    for tests in range(1, ROUNDS + 2):
        alone, together, found = times(run, tmp_path, "calls", size, tests)
        done = min(ROUNDS, tests if size == LONG else tests + 1)
        left = (ROUNDS - done) / ROUNDS * alone
        assert together == pytest.approx(COMPUTE_US + left, abs=0.3)  # cost of the tests
        # The last test finds all messages that have arrived since the previous one.
        assert found == (tests >= (ROUNDS + 1 if size == LONG else ROUNDS))


def test_what_switches_do_needs_no_calls(run: Run, tmp_path: Path) -> None:
    _, together, _ = times(run, tmp_path, "calls", SHORT, offload=True)
    assert together == pytest.approx(COMPUTE_US, abs=0.01)


@pytest.mark.parametrize("progress", ["thread", "calls"])
def test_the_table_and_the_record_say_which(run: Run, tmp_path: Path, progress: str) -> None:
    path = fabrics.make(tmp_path, "star", None, "l2")
    path.write_text(path.read_text() + f'[mpi]\nprogress = "{progress}"\n')
    arguments = (str(SHORT), "100", "0")
    result = run("progress.c", *arguments, on=str(path), ranks=4, options=SWITCHED_OFF)
    assert result.record["progress"] == progress
    (line,) = [
        line
        for line in (result.stdout + result.stderr).splitlines()
        if line.startswith("on the hosts")
    ]
    where = {"thread": "beside the program, as with", "calls": "only inside MPI calls"}[progress]
    assert line.startswith(f"on the hosts iallreduce advances {where}")
    assert line.endswith(f'([mpi] progress = "{progress}")')


def test_a_comparison_says_which_the_hosts_have(program: Program, tmp_path: Path) -> None:
    path = fabrics.make(tmp_path, "star", None, "ideal")
    path.write_text(path.read_text() + '[mpi]\nprogress = "calls"\n')
    options = ("--compare", "--fallback", "allreduce=recursive_doubling")
    arguments = (str(SHORT), "100", "0")
    command = weft_command(
        program("progress.c"), *arguments, on=str(path), ranks=4, options=options
    )
    result = run_command(command)
    assert result.status == 0
    assert result.stderr.count("on the hosts iallreduce advances only inside MPI calls") == 1


def test_what_is_no_way_to_go_on_is_refused(program: Program, tmp_path: Path) -> None:
    path = fabrics.make(tmp_path, "star")
    path.write_text(path.read_text() + '[mpi]\nprogress = "thraed"\n')
    result = run_command(weft_command(program("progress.c"), "8", "0", "0", on=str(path)))
    assert result.status == 2
    (message,) = result.messages
    assert '[mpi] progress: found "thraed"; ' in message and "thread, calls" in message


@pytest.mark.parametrize("message", ["", "message"])
@pytest.mark.parametrize("offload", ["stream", "message", "off"])
def test_waiting_for_all_at_once_takes_what_waiting_for_each_does(
    run: Run, tmp_path: Path, offload: str, message: str
) -> None:
    """MPI_Waitall sleeps if it waits only for collectives; otherwise, SimGrid waits."""
    options = ("--offload", offload, "--cfg", "smpi/test:0")
    on = str(fabrics.with_free_hosts(tmp_path, "tofino-4"))
    printed = {
        how: run("waited.c", how, message, on=on, ranks=4, options=options).lines[0]
        for how in ("wait", "all", "some", "tested")
    }
    assert set(printed.values()) == {printed["wait"]}, printed
    results, _ = printed["wait"].split()
    assert int(results) == 4 * (6 + 42) + (6 if message else 0)


@pytest.mark.parametrize("offload", ["stream", "message", "off"])
def test_requests_are_smpis_however_they_are_used(run: Run, offload: str) -> None:
    """With smpi/pedantic, SMPI itself creates, executes and completes all requests."""
    options = ("--offload", offload, "--cfg", "smpi/test:1e-9")
    lines = run("request_uses.c", on="tofino-4", ranks=4, options=options).lines
    theirs = (*options, "--cfg", "smpi/pedantic:yes")
    assert lines == run("request_uses.c", on="tofino-4", ranks=4, options=theirs).lines
    assert {
        "wait: source -333, tag -4446, error 0, count 0",
        "bcast: source -333, tag -3335, error 0, count 0",
        "barrier: source -333, tag -779, error 0, count 0",
    } < set(lines)
