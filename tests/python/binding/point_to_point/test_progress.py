# SPDX-License-Identifier: LGPL-2.1-only
"""`[mpi] progress` and `rendezvous`: start times of messages whose ranks compute."""

import pytest

from tests.support.simulated import Run

HALO = 1 << 22
EAGER = 1 << 10
COMPUTE_US = 1000
# fabrics/star-8.toml: two links and a switch; the fraction of the bandwidth that a message gets.
TRANSFER_US = 2.3205 * (2 * 0.94 + 0.4955) + (HALO + 16) / (12.5e3 * 0.961934)
LATER_US = 50
REQUEST_US = 0.9902 * (2 * 0.94 + 0.4955)


def times(
    run: Run, mode: str, *settings: str, size: int = HALO, compute: int = COMPUTE_US, tests: int = 0
) -> tuple[float, float]:
    """Return the time in us at which each rank has completed its requests."""
    options = [word for setting in settings for word in ("--set", f"mpi.{setting}")]
    result = run(
        "overlapped.c",
        mode,
        *map(str, (size, compute, tests)),
        on="star-8",
        ranks=2,
        options=("--cfg", "smpi/test:1e-9", *options),
    )
    first, second = map(float, result.lines[0].split())
    return first, second


THREAD, CALLS, PUT = "progress=thread", "progress=calls", "rendezvous=put"


@pytest.mark.parametrize("scheme", ["get", "put"])
def test_a_halo_is_not_hidden_without_calls(run: Run, scheme: str) -> None:
    ends = times(run, "both", f"rendezvous={scheme}")
    assert ends == pytest.approx((COMPUTE_US + TRANSFER_US,) * 2, rel=1e-9)


def test_without_computation_it_takes_what_it_does_with_a_thread(run: Run) -> None:
    for settings in ((THREAD,), (CALLS,), (CALLS, PUT)):
        assert times(run, "both", *settings, compute=0) == pytest.approx(
            (TRANSFER_US,) * 2, rel=1e-9
        )


def test_a_thread_hides_it(run: Run) -> None:
    assert times(run, "both", THREAD) == pytest.approx((COMPUTE_US,) * 2, rel=1e-9)


def test_eager_messages_need_no_calls(run: Run) -> None:
    ends = times(run, "both", CALLS, size=EAGER)
    assert ends == pytest.approx(times(run, "both", THREAD, size=EAGER), rel=1e-9)
    assert max(ends) < COMPUTE_US + REQUEST_US


@pytest.mark.parametrize("tests", [1, 3])
def test_the_first_test_starts_it(run: Run, tests: int) -> None:
    ends = times(run, "both", tests=tests)
    started = COMPUTE_US / (tests + 1)
    assert ends == pytest.approx((max(COMPUTE_US, started + TRANSFER_US),) * 2, abs=0.01)


@pytest.mark.parametrize(("scheme", "tests"), [("get", 0), ("put", 0), ("put", 3)])
def test_the_sender_takes_part_only_if_it_writes(run: Run, scheme: str, tests: int) -> None:
    first, second = times(run, "sender", f"rendezvous={scheme}", tests=tests)
    started = 0.0 if scheme == "get" else COMPUTE_US / (tests + 1)
    assert second == pytest.approx(started + TRANSFER_US, abs=0.01 * tests, rel=1e-9)
    assert first == pytest.approx(max(COMPUTE_US, started + TRANSFER_US), abs=0.01, rel=1e-9)


def test_what_comes_inside_a_call_is_answered_there(run: Run) -> None:
    """Rank 1 leaves MPI_Recv and computes once the data is in flight."""
    first, second = times(run, "waiting")
    assert first == pytest.approx(TRANSFER_US, abs=0.01)  # the flag shares the link
    assert LATER_US + COMPUTE_US < second < LATER_US + COMPUTE_US + 2 * REQUEST_US


def test_a_request_that_is_still_on_its_way_has_not_been_seen(run: Run) -> None:
    """Rank 1 is in MPI_Recv when rank 0 sends, but leaves before the request arrives."""
    _, second = times(run, "early")
    assert second == pytest.approx(REQUEST_US + COMPUTE_US + TRANSFER_US, abs=0.5)


def test_a_receive_starts_what_an_earlier_call_has_seen(run: Run) -> None:
    for mode in ("probed", "passed"):
        _, second = times(run, mode)
        assert LATER_US + COMPUTE_US <= second < LATER_US + COMPUTE_US + 2 * REQUEST_US


def test_a_receive_does_not_look_for_requests(run: Run) -> None:
    _, second = times(run, "unseen")
    assert second == pytest.approx(LATER_US + COMPUTE_US + TRANSFER_US, rel=1e-9)
