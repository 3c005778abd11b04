# SPDX-License-Identifier: LGPL-2.1-only
"""Point-to-point messages with weft's own transport: data and times equal SMPI's.

SimGrid's shortcuts are off: SimGrid merges events that are less than 1 ns apart, and its lazy
updates leave some flows with an outdated rate.
"""

import os
import re

import pytest

from tests.support.simulated import Result, Run

PROGRAM = "random_messages.c"
LINE = re.compile(r"(\d+): (\d+) wrong, sum (\d+), clocks (.*)")
ROUNDING = 1e-9
PRECISELY = (
    *("--cfg", "network/optim:Full", "--cfg", "precision/timing:1e-13"),
    *("--set", "mpi.progress=thread"),  # SMPI's messages do not wait for computing ranks
)
PLACEMENTS = {
    "one rank a host": ("star-8", 4, ()),
    "eager": ("hdr100-8", 8, ("--ppn", "2")),
    "rendezvous": ("star-8", 8, ("--ppn", "2")),
    "eager and detached": (
        "fat-tree-8",
        16,
        ("--ppn", "2", "--offload", "off", "--cfg", "smpi/async-small-thresh:8192"),
    ),
    "collectives of SMPI": ("tofino-4", 4, ("--offload", "off", "--fallback", "smpi:ompi")),
}
# `WEFT_RANDOM_PROGRAMS=10000 pytest …/test_transport.py -k programs` runs that many programs.
PROGRAMS = int(os.environ.get("WEFT_RANDOM_PROGRAMS", "200")) // len(PLACEMENTS)
AT_ONCE = 100
"""Programs per simulation."""
MOST_TIES = 1


def clocks(result: Result) -> dict[str, tuple[str, list[float]]]:
    """Return the checksum and the clocks of each rank, after a check that all data was correct."""
    assert result.status == 0, result.stderr
    found = [match for line in result.lines if (match := LINE.match(line))]
    assert {match[2] for match in found} == {"0"}
    return {match[1]: (match[3], [float(one) for one in match[4].split()]) for match in found}


def differing(run: Run, placement: str, *arguments: str) -> list[str]:
    """Run the program with both transports, and check that data and statuses are equal.

    Returns the programs whose times differ.
    """
    fabric, ranks, options = PLACEMENTS[placement]
    theirs, ours = (
        run(
            PROGRAM,
            *arguments,
            ranks=ranks,
            on=fabric,
            options=(*options, *PRECISELY, "--messages", transport),
        )
        for transport in ("smpi", "weft")
    )
    assert ours.record["messages"] == "weft"
    expected, found = clocks(theirs), clocks(ours)
    assert {key: one[0] for key, one in found.items()} == {
        key: one[0] for key, one in expected.items()
    }
    return [
        key
        for key, (_, times) in found.items()
        if times != pytest.approx(expected[key][1], rel=ROUNDING)
    ]


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_random_messages_take_the_times_of_smpi(run: Run, placement: str) -> None:
    assert differing(run, placement, "7", "6") == []


@pytest.mark.parametrize("scheme", ["get", "put"])
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_random_messages_arrive_where_they_wait_for_ranks(
    run: Run, placement: str, scheme: str
) -> None:
    """All data arrives, with the same statuses as for messages that do not wait for ranks."""
    fabric, ranks, options = PLACEMENTS[placement]
    options = (*options, *PRECISELY[:-2], "--set", f"mpi.rendezvous={scheme}")
    late = run(PROGRAM, "1", "2", "programs", "40", ranks=ranks, on=fabric, options=options)
    assert late.record["progress"] == "calls"
    assert late.record["rendezvous"]["delayed"] > 0
    assert late.record["rendezvous"]["scheme"] == scheme
    options = (*options, *PRECISELY[-2:])
    early = run(PROGRAM, "1", "2", "programs", "40", ranks=ranks, on=fabric, options=options)
    assert "rendezvous" not in early.record
    expected, found = clocks(early), clocks(late)
    assert {key: one[0] for key, one in found.items()} == {
        key: one[0] for key, one in expected.items()
    }


@pytest.mark.parametrize("seed", range(1, PROGRAMS + 1, AT_ONCE))
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_random_programs_take_the_times_of_smpi(run: Run, placement: str, seed: int) -> None:
    """Earlier programs influence some of SMPI's ties; in separate runs, times are equal."""
    programs = min(AT_ONCE, PROGRAMS + 1 - seed)
    ties = differing(run, placement, str(seed), "2", "programs", str(programs))
    assert len(ties) <= MOST_TIES
    for tie in ties:
        assert differing(run, placement, tie, "2", "programs", "1") == []


@pytest.mark.parametrize("seed", range(1, 5))
def test_what_smpi_crashes_of(run: Run, seed: int) -> None:
    """The program cancels receives, restarts requests of types with gaps, and sends to itself."""
    clocks(
        run(PROGRAM, str(seed), "8", "alone", ranks=6, options=("--ppn", "2", "--messages", "weft"))
    )


@pytest.mark.parametrize("what", ["tests", "alone", "partial", "status"])
def test_completion_of_inactive_requests(run: Run, what: str) -> None:
    result = run("inactive.c", what, ranks=2, options=("--messages", "weft"))
    assert result.lines == ["right"]


@pytest.mark.parametrize("messages", [0, 1, 9])
def test_cancelled_persistent_receives(run: Run, messages: int) -> None:
    options = ("--messages", "weft")
    assert run("inactive.c", "cancel", str(messages), ranks=3, options=options).lines == ["right"]


def test_sends_that_are_outstanding_together(run: Run) -> None:
    assert run("many_sends.c", ranks=2, on="star-8").lines == ["right"]


def test_a_message_to_a_rank_that_has_ended(run: Run) -> None:
    result = run("gone.c", ranks=2, options=("--messages", "weft"), status=134)
    assert "simgrid: Actor pid=2 is gone??" in result.stderr


def test_other_network_models_need_smpi(run: Run) -> None:
    result = run("pingpong.c", "8", "1", ranks=2, options=("--messages", "weft"))
    assert result.record["messages_reason"] == ""
    result = run(
        "pingpong.c",
        "8",
        "1",
        ranks=2,
        options=("--messages", "weft", "--cfg", "network/crosstraffic:yes"),
    )
    assert (result.record["messages"], "network model" in result.record["messages_reason"]) == (
        "smpi",
        True,
    )


def test_another_actor_of_a_rank_may_wait(run: Run) -> None:
    result = run("waiting_thread.c", ranks=2, on="star-8", options=("--messages", "weft"))
    assert result.record["messages"] == "weft"
    assert "received 42 at 1 s" in result.lines
